"""PyTorch's databases of ops and modules: every sample gives the same here and there.

The same results and dtypes, gradients, gradients of infinite cotangents, and second derivatives.
Where an op of the database is a function of others, PyTorch itself finds ours: `__torch_function__`
is its protocol for the tensors of other libraries.
"""

import functools
import itertools
import math
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from string import ascii_lowercase
from typing import Any

import numpy as np
import pytest
from side_by_side import randomise, torch
from torch.utils._pytree import tree_leaves, tree_map

import minigrad.torch as door
from minigrad import Tensor
from minigrad.autograd import grad

pytest.importorskip("expecttest")

EXCUSES: list[tuple[str, str, str]] = [
    ("value", "draws other numbers",
     "bernoulli multinomial normal normal.number_mean rand_like randint_like randn_like "
     "F.alpha_dropout F.dropout F.dropout2d F.multi_head_attention_forward F.rrelu "
     "F.scaled_dot_product_attention"),
    ("value", "a copy is given, without the memory around it", "as_strided.partial_views"),
    ("value", "is not filled", "empty empty_like new_empty"),
    ("form", "no tensor of ours is among the arguments: PyTorch answers itself",
     "empty_strided normal.number_mean randint randn"),
    ("descriptor '", "the samples ask PyTorch's own class for the method",
     "cauchy exponential geometric item log_normal normal.in_place uniform"),
    ("'torch.", "the samples give a method dtypes of PyTorch's",
     "new_empty new_full new_ones new_zeros to"),
    ("must be a Module", "the samples give it a layer of PyTorch's", "nn.TransformerEncoder"),
    ("uninitialized", "its weights come with the first call", "nn.Lazy*"),
    # Derivatives
    ("infinite", "infinite parts of both signs meet, as the formula is composed of others here",
     "lerp linalg.lstsq linalg.lstsq.grad_oriented linalg.multi_dot mvlgamma.* F.bilinear "
     "F.binary_cross_entropy F.binary_cross_entropy_with_logits F.grid_sample F.hardswish "
     "F.huber_loss F.layer_norm F.mish F.smooth_l1_loss nn.BCELoss nn.BCEWithLogitsLoss "
     "nn.Bilinear nn.CosineEmbeddingLoss nn.Hardswish nn.HuberLoss nn.Mish nn.SmoothL1Loss"),
    ("infinite", "a product with a zero among its factors is a computed 0, and inf * 0 is NaN",
     "cumprod prod"),
    ("infinite", "a share that is too small is a computed 0, and inf * 0 is NaN", "logcumsumexp"),
    ("infinite", "LAPACK's solver multiplies zeros by infinity",
     "linalg.lu_solve linalg.solve_triangular triangular_solve"),
    ("gradient|infinite", "the last of several at one place counts; there all get its gradient",
     "F.max_unpool1d F.max_unpool2d"),
    ("gradient|second", "0 at 0, to every order; there other subgradients, or NaN",
     "linalg.norm.subgradients_at_zero nn.LPPool1d nn.LPPool2d"),
    ("nan", "a NaN passes on, as in PyTorch's loop over single elements; its vectors lose it",
     "F.hardshrink F.hardsigmoid F.hardtanh F.relu6 F.softshrink"),
    ("gradient|infinite", "its own; there what log_softmax takes out is added",
     "F.ctc_loss nn.CTCLoss"),
    ("nan", "its own; there what log_softmax takes out is added", "F.ctc_loss"),
    ("gradient|second", "with respect to the triangle that is read", "linalg.pinv.hermitian"),
    ("second", "the sample's weights are float32, and rounded elsewhere", "cov"),
    # Gradients where an input is NaN
    ("nan", "to the NaN itself; PyTorch has NaN in all of the row",
     "amax amin aminmax index_reduce.amax index_reduce.amin scatter_reduce.amax "
     "scatter_reduce.amin"),
    ("nan", "0; there 0 or 1, by whether an element is computed with its neighbours", "clamp"),
    ("nan", "the slope at a NaN is the product of the others; PyTorch divides by the NaN",
     "cumprod index_reduce.prod prod scatter_reduce.prod"),
    ("nan", "NaN; there the slope of one side, or 0",
     "renorm F.pdist F.poisson_nll_loss"),
    ("nan", "0 in a row of NaN alone too; PyTorch has an infinite share there", "nanmean"),
    ("nan", "NaN reaches other elements of the solution", "linalg.lu_solve linalg.solve "
     "linalg.solve_ex linalg.solve_triangular triangular_solve"),
    ("nan", "0; a matrix without a factor is a constant", "linalg.cholesky_ex"),
    ("nan", "draws other numbers",
     "F.multi_head_attention_forward F.rrelu F.scaled_dot_product_attention"),
    ("finite numbers expected", "a mean is a number", "normal"),
    # What is refused, by words of the error
    ("p must be a number above", "norms only", "F.normalize F.pairwise_distance"),
    ("must be a number", "such an eps or momentum is refused",
     "F.batch_norm F.group_norm F.instance_norm F.layer_norm F.rms_norm"),
    ("an input of shape (N, C, ...)", "no input without channels", "F.batch_norm"),
    ("input of shape", "no volumes", "F.grid_sample F.interpolate.* F.upsample_nearest"),
    ("mode must be", "no such mode", "F.grid_sample F.interpolate.trilinear"),
    ("full_matrices=True", "the further vectors have no derivative", "linalg.svd svd"),
    ("must match in number and length", "an axis of length 1 is not repeated", "tensordot"),
    ("loss: input and target of one", "the target has the shape of the input",
     "F.gaussian_nll_loss"),
    ("loss: an input and a var of one shape", "the variance has the shape of the input",
     "nn.GaussianNLLLoss"),
    ("would lose the gradient", "the target receives no gradient", "F.cosine_embedding_loss"),
    ("no derivative with respect to 'q'", "q receives no gradient", "quantile"),
    ("reach beyond the", "a recorded view has no others", "as_strided.partial_views"),
    ("same number of axes", "an empty index has axes too", "gather"),
    ("axis 0 does not exist", "a number has no axis; there it has one", "unfold"),
    ("an axis of numbers", "a number has no axis; there it has one", "linalg.vander"),
    ("negative integer powers", "an integer has no such power", "__rpow__"),
    ("must hold probabilities", "0 is the least probability", "nn.KLDivLoss"),
    ("a batch axis", "a number is not a batch", "nn.KLDivLoss"),
    # Integers and truth values
    ("form of torch.int64", "floats, where PyTorch computes with integers",
     "addbmm addmv baddbmm F.local_response_norm"),
    ("form of torch.bool", "other numbers for truth values",
     "addr"),
    ("value of torch.int64", "rounded at another place",
     "linspace linspace.tensor_overload F.local_response_norm"),
    ("value of torch.int64", "which of equal elements it is, is not defined", "kthvalue mode topk"),
    ("value of torch.bool", "which of equal elements it is, is not defined", "argsort mode sort"),
    # Not mended yet
    ("form", "of another shape or dtype", "quantile"),
]  # fmt: skip
"""Parts of the comparison, or words of our error; the reason; and of which ops and modules."""
EXCUSED = {
    (name.replace("F.", "nn.functional."), kind): reason
    for kinds, reason, names in EXCUSES
    for kind in kinds.split("|")
    for name in names.split()
}
PARTS = ("form", "value", "gradient", "infinite", "second")


class Absent(Exception):
    """There is nothing to compare: we have no such function, or PyTorch refuses the sample."""


def found(place: Any, name: str) -> Any:
    try:
        return operator.attrgetter(name)(place)
    except AttributeError as error:
        raise Absent(str(error)) from None


def ours_of(op: Any) -> Callable[..., Any]:
    """Our function of an op's name; or its own, which calls others of PyTorch."""
    for theirs, ours in ((torch, door), (torch.Tensor, door.Tensor)):
        try:
            if operator.attrgetter(op.name)(theirs) is not op.op:
                continue
        except AttributeError:
            continue
        function = found(ours, op.name)
        return lambda *args, **kw: function(*here(args), **here(kw))
    return op.op


def handed_over(_cls: Any, function: Any, _types: Any, args: Any = (), kw: Any = None) -> Any:
    """What PyTorch does with a function of its own that is called with a tensor of ours."""
    name = torch.overrides.resolve_name(function) or function.__name__
    call = found(door, re.sub(r"^torch\.|_with_indices$", "", name))
    given = {key: value for key, value in (kw or {}).items() if key != "out"}
    return call(*here(args), **here(given))


def here(value: Any) -> Any:
    """An argument with our dtypes in the place of PyTorch's."""
    theirs = (torch.dtype, torch.layout, torch.memory_format)
    ours = lambda part: found(door, str(part).removeprefix("torch."))
    return tree_map(lambda part: ours(part) if isinstance(part, theirs) else part, value)


def ours_for(value: Any, leaves: list[tuple[Any, Any]]) -> Any:
    """An argument with tensors of ours; `leaves` gets the pairs that receive a gradient."""

    def ours(part: Any) -> Any:
        known = [mine for theirs, mine in leaves if theirs is part]
        if known or not isinstance(part, torch.Tensor):
            return known[0] if known else part
        if part.layout != torch.strided:
            raise Absent(f"{part.layout}")
        mine = door.tensor(part.detach().numpy().copy(), requires_grad=part.requires_grad)
        if part.requires_grad:
            leaves.append((part, mine))
        return mine

    return tree_map(ours, value)


def array(value: Any) -> np.ndarray:
    return np.asarray(
        value.numpy(force=True)
        if isinstance(value, torch.Tensor)
        else getattr(value, "_data", value)
    )


def forms(results: Sequence[Any], tensor: type) -> list[Any]:
    """The shape and the dtype of tensors, the class of anything else."""
    return [
        (*array(part).shape, str(array(part).dtype)) if isinstance(part, tensor) else type(part)
        for part in results
    ]


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


def waves(out: np.ndarray) -> np.ndarray:
    return np.asarray(np.cos(np.arange(out.size)).reshape(out.shape))


def derived(
    ours: Any, theirs: Any, leaves: Any, cotangent: Any, create_graph: bool = False
) -> tuple[list[Any], list[Any]]:
    """The gradients of results that have a history in PyTorch, for each leaf, here and there."""
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if getattr(b, "requires_grad", 0)]
    if not pairs:
        return [], []
    weights = [cotangent(array(other)) for _, other in pairs]
    there = torch.autograd.grad(
        [other for _, other in pairs], [leaf for leaf, _ in leaves],
        [torch.tensor(w) for w in weights],
        create_graph=create_graph, retain_graph=True, allow_unused=True,
    )  # fmt: skip
    known = [
        (a, w) for (a, _), w in zip(pairs, weights, strict=True) if getattr(a, "requires_grad", 0)
    ]
    here = grad(
        [a for a, _ in known], [leaf for _, leaf in leaves], [w for _, w in known],
        create_graph=create_graph, retain_graph=True, allow_unused=True,
    ) if known else [None] * len(leaves)  # fmt: skip
    zeros = [np.zeros(leaf.shape) for _, leaf in leaves]
    return (
        [zero if g is None else g for g, zero in zip(here, zeros, strict=True)],
        [torch.tensor(zero) if g is None else g for g, zero in zip(there, zeros, strict=True)],
    )


class Sample:
    """The results of one call, here and there.

    Args:
        ours: Our results.
        theirs: PyTorch's.
        leaves: The pairs of tensors that receive a gradient.
    """

    def __init__(self, ours: Any, theirs: Any, leaves: list[tuple[Any, Any]]) -> None:
        ours = [*ours] if isinstance(ours, door.Size) else ours  # PyTorch's tree knows its own
        self.ours, self.theirs, self.leaves = tree_leaves(ours), tree_leaves(theirs), leaves

    def form(self) -> None:
        """The same shapes and dtypes."""
        ours, theirs = forms(self.ours, Tensor), forms(self.theirs, torch.Tensor)
        assert ours == theirs, f"{ours} and {theirs}"

    def value(self) -> None:
        for one, other in zip(self.ours, self.theirs, strict=True):
            agree(one, other, 1e-5 if array(other).dtype == np.float32 else 1e-9)

    def gradients(self, cotangent: Any, create_graph: bool = False) -> tuple[Any, Any]:
        """Those of the results, for each leaf."""
        return derived(self.ours, self.theirs, self.leaves, cotangent, create_graph)

    def gradient(self) -> None:
        for one, other in zip(*self.gradients(waves), strict=True):
            agree(one, other, 1e-8)

    def infinite(self) -> None:
        for one, other in zip(*self.gradients(lambda out: np.full(out.shape, np.inf)), strict=True):
            agree_where_a_number(one, other)

    def nan(self) -> None:
        """The gradients, where an input is NaN."""
        for one, other in zip(*self.gradients(waves), strict=True):
            agree(one, other, 1e-6)

    def second(self) -> None:
        try:
            first = self.gradients(waves, create_graph=True)
            found = derived(*first, self.leaves, waves)
        except (NotImplementedError, RuntimeError) as error:
            if "is not implemented" in str(error) or "not differentiable" in str(error):
                return
            raise
        for one, other in zip(*found, strict=True):
            agree(one, other, 1e-7)


def called(op: Any, sample: Any) -> Sample:
    """The results of an op."""
    leaves: list[tuple[Any, Any]] = []
    args, kw = ours_for(((sample.input, *sample.args), sample.kwargs), leaves)
    same = sample.output_process_fn_grad  # what the sign of a vector does not change
    try:
        theirs = op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:  # noqa: BLE001  # a NaN, or no GPU
        raise Absent(str(error)) from None
    return Sample(same(ours_of(op)(*args, **kw)), same(theirs), leaves)


def with_nan(sample: Any) -> Iterator[Any]:
    """The sample with a NaN in the middle of one of its leaves, for each of them."""
    for leaf in tree_leaves((sample.input, sample.args, sample.kwargs)):
        dense = torch.is_tensor(leaf) and leaf.layout == torch.strided
        if dense and leaf.requires_grad and leaf.numel():
            values = leaf.detach().numpy().copy()
            values.reshape(-1)[leaf.numel() // 2] = math.nan
            new = torch.tensor(values, requires_grad=True)
            yield sample.transform(lambda x, leaf=leaf, new=new: new if x is leaf else x)


def built(kind: Any, sample: Any) -> Sample:
    """The results of a module that has PyTorch's weights."""
    made, given = sample.constructor_input, sample.forward_input
    theirs = randomise(kind.module_cls(*made.args, **made.kwargs))
    args, kw = here(ours_for((made.args, made.kwargs), []))
    ours = found(door.nn, kind.module_cls.__name__)(*args, **kw).double()
    ours.load_state_dict(theirs.state_dict())
    leaves = [*zip(theirs.parameters(), ours.parameters(), strict=True)]
    args, kw = ours_for((given.args, given.kwargs), leaves)
    return Sample(ours(*args, **kw), theirs(*given.args, **given.kwargs), leaves)


def differences(make: Callable[[], Sample], parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The parts of a sample that are not the same, and what is said of them."""
    try:
        sample = make()
    except (Absent, NotImplementedError) as error:
        yield "absent", str(error)
        return
    except Exception as error:  # noqa: BLE001  # told as a difference
        text = " ".join(str(error).split())
        yield (
            "absent" if "has no attribute '" in text else "call",
            f"{type(error).__name__}: {text}",
        )
        return
    for part in parts:
        try:
            getattr(sample, part)()
        except Exception as error:  # noqa: BLE001  # told as a difference
            yield part, f"{type(error).__name__}: {' '.join(str(error).split())}"
            if part in ("form", "value"):
                return


class Run:
    """A comparison of many samples.

    Args:
        most: At most so many samples of an op with derivatives, one of integers, one of truth
            values, and none of float32.
    """

    def __init__(self, most: int | None = None) -> None:
        self.most = most
        self.counts: Counter[Any] = Counter()
        self.wrong: list[str] = []

    def op(self, op: Any) -> None:
        """Compare an op."""
        name = f"{op.name}.{op.variant_test_name}" if op.variant_test_name else op.name
        try:
            ours_of(op)
        except Absent:  # before samples are made
            return
        dtypes = (torch.float64, torch.int64, torch.bool, torch.float32)
        for dtype in dtypes[: None if self.most is None else 3]:
            if op.supports_dtype(dtype, "cpu"):
                derived = op.supports_autograd and dtype == torch.float64
                orders = 1 + op.supports_gradgrad if derived else 0
                seed()
                # Not `op.sample_inputs`: it sets seeds and reads the source of callers.
                made = op.sample_inputs_func(op, "cpu", dtype, orders > 0)
                samples = list(itertools.islice(made, None if self.most is None else 60))
                for sample in self.some(samples, orders > 0):
                    parts = PARTS[: [2, 4, 5][orders]]
                    self.compare(name, dtype, parts, functools.partial(called, op, sample))
                    # Of the first alone: PyTorch's grid_sample crashes at a NaN of a later one.
                    for nan in with_nan(sample) if orders and sample is samples[0] else ():
                        self.compare(name, dtype, ("nan",), functools.partial(called, op, nan))

    def module(self, kind: Any) -> None:
        """Compare a module, in training."""
        if not hasattr(door.nn, kind.module_cls.__name__):
            return
        seed()
        samples = kind.module_inputs_func(kind, "cpu", torch.float64, True, True)
        for sample in self.some(samples, 2):
            make = functools.partial(built, kind, sample)
            parts = PARTS if kind.supports_gradgrad else PARTS[:-1]
            self.compare(f"nn.{kind.module_cls.__name__}", torch.float64, parts, make)

    def some(self, samples: list[Any], share: int) -> list[Any]:
        """Samples from everywhere in the list: all, `share` times the limit, or one."""
        most = len(samples) if self.most is None else self.most * share or 1
        return samples[:: -(-len(samples) // most)] if samples else []

    def compare(self, name: str, dtype: Any, parts: Sequence[str], make: Any) -> None:
        """Compare what a call gives: it agrees, is excused, or is wrong."""
        excuses = []
        for part, text in differences(make, parts):
            said = f"{part} of {dtype}: {text}"
            absent = part == "absent" or text.endswith(f"no attribute '{name}'")
            excuse = "absent" if absent else excuse_for(name, said)
            if excuse is None:
                self.wrong.append(f"{name}, {said}")
                return
            excuses.append(excuse)
        self.counts.update(excuses or ["agreeing"])


def excuse_for(name: str, said: str) -> tuple[str, str] | None:
    """The entry of the table for what is said of an op."""
    for pattern, kind in EXCUSED:
        matching = said.startswith(kind) or (said.startswith("call") and kind in said)
        if matching and fnmatchcase(name, pattern):
            return pattern, kind
    return None


def seed() -> None:
    """Some samples are drawn by the global generators."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


@pytest.fixture(autouse=True)
def random_state(global_random: None) -> Iterator[None]:  # noqa: ARG001
    """Samples are drawn from the global generators of Python, NumPy and PyTorch."""
    state = random.getstate()
    with torch.random.fork_rng():
        yield
    random.setstate(state)


@pytest.fixture
def database(by_initial: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The comparison of each op and module by its initial; PyTorch's functions find ours."""
    monkeypatch.setattr(door.Tensor, "__torch_function__", classmethod(handed_over), raising=False)
    return by_initial


@pytest.fixture(scope="module")
def by_initial() -> dict[str, list[tuple[Any, Any]]]:
    """The import takes seconds."""
    methods = pytest.importorskip("torch.testing._internal.common_methods_invocations")
    modules = pytest.importorskip("torch.testing._internal.common_modules")
    return {
        letter: [
            *((Run.op, op) for op in methods.op_db if initial(op.name) == letter),
            *((Run.module, kind) for kind in modules.module_db if initial(kind.name) == letter),
        ]
        for letter in ascii_lowercase
    }


def initial(name: str) -> str:
    return name.rpartition(".")[2].strip("_")[0].lower()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("letter", ascii_lowercase)
def test_some_samples_of_every_op_agree(letter: str, database: Any) -> None:
    run = Run(most=2)
    for compare, what in database[letter]:
        compare(run, what)
    assert not run.wrong, "\n".join(run.wrong)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_all_samples_agree(database: Any) -> None:
    """And every excuse is needed."""
    run = Run()
    for compare, what in itertools.chain(*database.values()):
        compare(run, what)
    assert not run.wrong, "\n".join(run.wrong)
    assert run.counts["agreeing"] > 10000
    assert EXCUSED.keys() - run.counts == set()
