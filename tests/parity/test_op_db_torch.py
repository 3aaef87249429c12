"""The samples of PyTorch's op database, for every op that both have, in float64.

Values, gradients, gradients of infinite cotangents, and second derivatives. `op_db_calls` says what
an op is called here, and where results differ for a reason.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from op_db_calls import (
    CALLS,
    EXCUSED,
    INVARIANT,
    NOT_COMPARED,
    REFUSED,
    RENAMED,
    Elsewhere,
    call_of,
)

from minigrad import Tensor
from minigrad.autograd import grad

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

PARTS = ("value", "gradient", "infinite", "second")


def ours_of(value: Any, leaves: list[tuple[Any, Any]]) -> Any:
    """An argument with tensors of ours; `leaves` gets the pairs that receive a gradient."""
    if isinstance(value, torch.Tensor):
        known = [mine for theirs, mine in leaves if theirs is value]
        if known:
            return known[0]
        mine = Tensor(value.detach().numpy(), requires_grad=value.requires_grad)
        if value.requires_grad:
            leaves.append((value, mine))
        return mine
    if isinstance(value, (list, tuple)):
        return type(value)([ours_of(part, leaves) for part in value])
    return value


def parts_of(result: Any) -> Iterator[Any]:
    """The outputs, however they are nested."""
    if isinstance(result, (list, tuple)):
        for part in result:
            yield from parts_of(part)
    else:
        yield result


def array(value: Any) -> np.ndarray:
    return np.asarray(
        value.numpy(force=True)
        if isinstance(value, torch.Tensor)
        else getattr(value, "_data", value)
    )


def agree(ours: Any, theirs: Any, rtol: float) -> None:
    """The same up to rounding, relative to the largest element."""
    one, other = array(ours), array(theirs)
    assert one.shape == other.shape, f"shapes {one.shape} and {other.shape}"
    finite = np.abs(other[np.isfinite(other)]).max(initial=1.0) if other.dtype.kind == "f" else 1.0
    np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * float(finite))


def agree_where_a_number(ours: Any, theirs: Any) -> None:
    """Where PyTorch has a number, it is ours too; its NaN may be the 0 of a branch not taken."""
    one, other = array(ours), array(theirs)
    number = ~np.isnan(other)
    agree(one[number], other[number], 1e-7)


class Sample:
    """One call, here and there."""

    def __init__(self, op: Any, name: str, sample: Any) -> None:
        given = (sample.input, *sample.args)
        self.leaves: list[tuple[Any, Any]] = []
        args = ours_of(given, self.leaves)
        keywords = {key: ours_of(value, self.leaves) for key, value in sample.kwargs.items()}
        same = INVARIANT.get(name, lambda out: out)
        call = call_of(name)
        assert call is not None
        self.theirs = list(parts_of(same(op.op(*given, **sample.kwargs))))
        self.ours = list(parts_of(same(call(*args, **keywords))))

    def value(self) -> None:
        assert len(self.ours) == len(self.theirs)
        for one, other in zip(self.ours, self.theirs, strict=True):
            agree(one, other, 1e-9)

    def gradients(
        self, cotangent: Callable[[np.ndarray], np.ndarray], create_graph: bool = False
    ) -> tuple[list[Any], list[Any]]:
        """Those of the outputs that have a history in both, for each leaf."""
        pairs = [
            (one, other)
            for one, other in zip(self.ours, self.theirs, strict=True)
            if getattr(other, "requires_grad", False)
        ]
        if not pairs:
            return [], []
        ours, theirs = zip(*pairs, strict=True)
        weights = [cotangent(array(out)) for out in theirs]
        there = torch.autograd.grad(
            theirs, [leaf for leaf, _ in self.leaves], [torch.tensor(w) for w in weights],
            create_graph=create_graph, retain_graph=True, allow_unused=True,
        )  # fmt: skip
        known = [k for k, out in enumerate(ours) if getattr(out, "requires_grad", False)]
        here = grad(
            [ours[k] for k in known], [leaf for _, leaf in self.leaves],
            [weights[k] for k in known], create_graph=create_graph, retain_graph=True,
            allow_unused=True,
        ) if known else [None] * len(self.leaves)  # fmt: skip
        zeros = [np.zeros(leaf.shape) for _, leaf in self.leaves]
        return (
            [zero if g is None else g for g, zero in zip(here, zeros, strict=True)],
            [torch.tensor(zero) if g is None else g for g, zero in zip(there, zeros, strict=True)],
        )

    def gradient(self) -> None:
        for one, other in zip(*self.gradients(waves), strict=True):
            agree(one, other, 1e-8)

    def infinite(self) -> None:
        for one, other in zip(*self.gradients(lambda out: np.full(out.shape, np.inf)), strict=True):
            agree_where_a_number(one, other)

    def second(self) -> None:
        try:
            here, there = self.gradients(waves, create_graph=True)
            there = [g for g in there if g.requires_grad]
            found = torch.autograd.grad(
                there, [leaf for leaf, _ in self.leaves],
                [torch.tensor(waves(array(g))) for g in there], allow_unused=True,
            ) if there else [None] * len(self.leaves)  # fmt: skip
        except (NotImplementedError, RuntimeError) as error:
            if "is not implemented" in str(error) or "not differentiable" in str(error):
                return
            raise
        here = [g for g in here if getattr(g, "requires_grad", False)]
        mine = [leaf for _, leaf in self.leaves]
        ours = (
            grad(here, mine, [waves(array(g)) for g in here], allow_unused=True)
            if here else [None] * len(mine)
        )  # fmt: skip
        for one, other, leaf in zip(ours, found, mine, strict=True):
            zero = np.zeros(leaf.shape)
            agree(zero if one is None else one, zero if other is None else other, 1e-7)


def waves(out: np.ndarray) -> np.ndarray:
    return np.asarray(np.cos(np.arange(out.size)).reshape(out.shape))


def run(name: str, op: Any, most: int | None, counts: Counter[str]) -> list[str]:
    """Compare samples of an op, at most so many; what differs without an excuse."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002  # some samples are drawn so
    # Not `op.sample_inputs`: it sets seeds for each sample, and reads the source of every caller.
    samples = list(op.sample_inputs_func(op, "cpu", torch.float64, op.supports_autograd))
    wrong = []
    for number in range(0, len(samples), -(-len(samples) // most) if most and samples else 1):
        counts["samples"] += 1
        excuses, kind = [], "call"
        try:
            sample = Sample(op, name, samples[number])
            for kind in PARTS if op.supports_gradgrad else PARTS[:-1]:
                try:
                    getattr(sample, kind)()
                except AssertionError:
                    if (name, kind) not in EXCUSED:
                        raise
                    excuses.append(EXCUSED[name, kind])
        except Elsewhere as reason:
            excuses.append(str(reason))
        except Exception as error:  # noqa: BLE001  # listed as wrong
            refused = [
                why for words, why in REFUSED.items() if kind == "call" and words in str(error)
            ]
            if not refused:
                text = " ".join(str(error).split())
                wrong.append(f"{name}, sample {number}, {kind}: {type(error).__name__}: {text}")
                continue
            excuses += refused
        counts["excused" if excuses else "agreeing"] += 1
        counts.update(f"{name}: {excuse}" for excuse in excuses)
    return wrong


def compare(most: int | None) -> Counter[str]:
    """Compare all ops; print how many samples agree, and why the others need not."""
    methods = pytest.importorskip("torch.testing._internal.common_methods_invocations")
    counts, wrong, names = Counter[str](), [], set()
    for op in methods.op_db:
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        names.add(name)
        if call_of(name) is not None and op.supports_dtype(torch.float64, "cpu"):
            counts["ops"] += 1
            wrong += run(name, op, most, counts)
    assert not wrong, "\n".join(wrong)
    assert not {*CALLS, *RENAMED, *NOT_COMPARED, *(name for name, _ in EXCUSED)} - names
    for what, count in counts.most_common():
        print(f"{count:6} {what}")
    return counts


@pytest.fixture(autouse=True)
def random_state(global_random: None) -> Iterator[None]:  # noqa: ARG001
    """Samples are drawn from the global generators of Python, NumPy and PyTorch."""
    state = random.getstate()
    with torch.random.fork_rng():
        yield
    random.setstate(state)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_some_samples_of_every_op_agree() -> None:
    counts = compare(most=2)
    assert counts["ops"] > 250
    assert counts["agreeing"] > 400
    assert counts["agreeing"] > 8 * counts["excused"]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_all_samples_agree() -> None:
    """And every excuse is needed."""
    counts = compare(most=None)
    assert counts["agreeing"] > 6000
    unused = {f"{name}: {why}" for (name, _), why in EXCUSED.items() if call_of(name)} - {*counts}
    unused |= {
        why
        for words, why in REFUSED.items()
        if (": " not in words or call_of(f"nn.functional.{words.partition(':')[0]}"))
        and not any(why in what for what in counts)
    }
    assert not unused
