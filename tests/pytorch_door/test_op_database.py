"""PyTorch's own op database through the door: what runs gives PyTorch's numbers."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest")

import minigrad.torch as door  # noqa: E402

EXCUSED = {
    "nn.functional.scaled_dot_product_attention": "samples with dropout are random",
    "where": "its samples are those of the method: x.where(condition, other)",
}
RANDOM = (
    "rand", "empty", "bernoulli", "normal", "multinomial", "dropout", "uniform", "exponential",
    "geometric", "cauchy", "log_normal", "new_empty", "_", "alpha_dropout", "rrelu",
)  # fmt: skip
"""Ops whose results are random, or not filled."""
FACTORS = ("svd", "eig", "qr", "lu", "ormqr", "geqrf")
"""Ops whose results are unique only up to a sign or an order."""
SAMPLES = 6


def given(value: Any) -> Any:
    """An argument of a sample in minigrad's world."""
    if isinstance(value, torch.Tensor):
        return door.tensor(value.detach().numpy().copy())
    if isinstance(value, torch.dtype):
        return np.dtype(str(value).removeprefix("torch."))
    if isinstance(value, (list, tuple)):
        return type(value)(map(given, value)) if type(value) in (list, tuple) else tuple(value)
    if isinstance(value, dict):
        return {name: given(part) for name, part in value.items()}
    return value


def flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [part for each in value for part in flat(each)]
    return [value]


def same(found: Any, wanted: Any) -> bool:
    if not isinstance(wanted, torch.Tensor):
        return bool(found == wanted)
    one, other = found.detach().numpy(), wanted.detach().numpy()
    alike = one.shape == other.shape and one.dtype.kind == other.dtype.kind
    return alike and np.allclose(one, other, 1e-3, 1e-4, equal_nan=True)


def samples(op: Any) -> list[Any]:
    dtype = next((d for d in (torch.float32, torch.int64, torch.bool) if d in op.dtypes), None)
    try:
        return list(islice(op.sample_inputs("cpu", dtype), SAMPLES)) if dtype else []
    except Exception:  # noqa: BLE001  # some samples need a device
        return []


def found_in(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("global_random")
def test_what_runs_gives_pytorchs_numbers() -> None:
    database = pytest.importorskip("torch.testing._internal.common_methods_invocations")
    torch.manual_seed(0)
    counts: Counter[str] = Counter()
    wrong = []
    for op in database.op_db:
        last = op.name.split(".")[-1]
        function = found_in(door, op.name)
        other = op.variant_test_name in ("singular", "grad_oriented")  # functions of the op
        if function is None or other or last.startswith((*RANDOM, *FACTORS)):
            continue
        for sample in samples(op):
            try:
                wanted = flat(op.op(sample.input, *sample.args, **sample.kwargs))
            except Exception:  # noqa: BLE001  # a sample that PyTorch refuses
                continue
            try:
                arguments = [given(part) for part in (sample.input, *sample.args)]
                found = flat(function(*arguments, **given(sample.kwargs)))
            except Exception:  # noqa: BLE001  # counted
                counts["refused"] += 1
                continue
            agree = len(found) == len(wanted) and all(map(same, found, wanted))
            counts["same" if agree else "different"] += 1
            if not agree and op.name not in EXCUSED:
                shapes = [getattr(part, "shape", part) for part in (sample.input, *sample.args)]
                wrong.append(f"{op.name}: {shapes} {sample.kwargs}")
    assert not wrong, "\n".join(wrong)
    assert counts["same"] > 1300, counts
