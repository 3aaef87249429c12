"""Every op against PyTorch's, in values and gradients, float32 and float64.

The calls are those of tests/op_cases.py; `TORCH` spells our names and keywords with PyTorch's.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from op_cases import CASES, OURS, Case

from minigrad import Tensor
from minigrad.autograd import grad

torch = pytest.importorskip("torch")
F = torch.nn.functional


def array(value: Any) -> Any:
    """NumPy's arrays as PyTorch's; what is none stays what it is."""
    return torch.as_tensor(value.copy()) if isinstance(value, np.ndarray) else value


class Elsewhere(Exception):
    """PyTorch has no such call."""


class Torch:
    """PyTorch under our names."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(torch, name)
        return lambda *args: function(*map(array, args))

    alias = clone = staticmethod(lambda x: x * 1)
    negative = staticmethod(lambda x: -x)
    silu, relu = staticmethod(F.silu), staticmethod(F.relu)
    clip = staticmethod(lambda x, low=None, high=None: torch.clamp(x, low, high))
    gelu = staticmethod(lambda x, approximate="none": F.gelu(x, approximate=approximate))

    @staticmethod
    def binary(name: str, a: Any, b: Any) -> Any:
        like = a if torch.is_tensor(a) else b
        a, b = (v if torch.is_tensor(v) else torch.as_tensor(v, dtype=like.dtype) for v in (a, b))
        return getattr(torch, name)(a, b)

    def add(self, a: Any, b: Any) -> Any:
        return a + b

    def subtract(self, a: Any, b: Any) -> Any:
        return a - b

    def multiply(self, a: Any, b: Any) -> Any:
        return a * array(b)

    def divide(self, a: Any, b: Any) -> Any:
        return a / b

    def power(self, a: Any, b: Any) -> Any:
        return array(a) ** array(b)

    def maximum(self, a: Any, b: Any) -> Any:
        return self.binary("maximum", a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return self.binary("minimum", a, b)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return torch.where(torch.as_tensor(condition), a, b)

    def masked_fill(self, x: Any, mask: Any, value: Any) -> Any:
        if torch.is_tensor(value):
            value = value.reshape(())
        return torch.where(array(mask), value, x)

    # Reductions

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.sum(x, *self.dim(x, axis), keepdim=keepdims)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.mean(x, *self.dim(x, axis), keepdim=keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.amax(x, *self.dim(x, axis), keepdim=keepdims)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.amin(x, *self.dim(x, axis), keepdim=keepdims)

    def var(self, x: Any, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Any:
        return torch.var(x, *self.dim(x, axis), correction=ddof, keepdim=keepdims)

    def norm(self, x: Any, ord: float = 2, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.linalg.vector_norm(x, ord, *self.dim(x, axis), keepdim=keepdims)

    def logsumexp(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return torch.logsumexp(x, *self.dim(x, axis), keepdim=keepdims)

    @staticmethod
    def dim(x: Any, axis: Any) -> tuple[Any]:
        if isinstance(axis, tuple) and not axis:
            raise Elsewhere  # to PyTorch, no axes are all axes
        return (
            tuple(range(x.ndim)) if axis is None else int(axis) if np.ndim(axis) == 0 else axis,
        )

    def softmax(self, x: Any, axis: int = -1) -> Any:
        return torch.softmax(x, axis)

    def log_softmax(self, x: Any, axis: int = -1) -> Any:
        return torch.log_softmax(x, axis)

    # Shapes

    def reshape(self, x: Any, shape: Any) -> Any:
        return torch.reshape(x, (shape,) if isinstance(shape, int) else shape)

    def transpose(self, x: Any, axes: Any = None) -> Any:
        return torch.permute(x, tuple(range(x.ndim))[::-1] if axes is None else axes)

    def swapaxes(self, x: Any, axis1: int, axis2: int) -> Any:
        return torch.transpose(x, axis1, axis2)

    def squeeze(self, x: Any, axis: Any = None) -> Any:
        return torch.squeeze(x) if axis is None else torch.squeeze(x, axis)

    def expand_dims(self, x: Any, axis: Any) -> Any:
        if isinstance(axis, tuple):
            raise Elsewhere
        return torch.unsqueeze(x, axis)

    def broadcast_to(self, x: Any, shape: Any) -> Any:
        return torch.broadcast_to(x, shape)

    def concatenate(self, tensors: Any, axis: int | None = 0) -> Any:
        dtype = next(t.dtype for t in tensors if torch.is_tensor(t))
        tensors = [array(t).to(dtype) for t in tensors]
        if axis is None:
            tensors, axis = [t.reshape(-1) for t in tensors], 0
        return torch.cat(tensors, axis)

    def stack(self, tensors: Any, axis: int = 0) -> Any:
        dtype = next(t.dtype for t in tensors if torch.is_tensor(t))
        return torch.stack([array(t).to(dtype) for t in tensors], axis)

    def split(self, x: Any, cuts: Any, axis: int = 0) -> Any:
        return torch.tensor_split(x, cuts, axis)

    # Indexing

    def getitem(self, x: Any, index: Any) -> Any:
        return x[self.index(index)]

    def setitem(self, x: Any, index: Any, value: Any) -> Any:
        if repeats(x.shape, index):
            raise Elsewhere  # which write wins is not defined there
        out = array(x).clone()
        if torch.is_tensor(value):
            out = out.to(value.dtype)
        out[self.index(index)] = value
        return out

    def index(self, index: Any) -> Any:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(part, slice) and (part.step or 1) < 0 for part in parts):
            raise Elsewhere
        listed = (np.ndarray, list, tuple, range)
        advanced = any(isinstance(part, listed) for part in parts)

        def converted(part: Any) -> Any:
            if advanced and type(part) is int:
                part = [part]  # beside an array, NumPy takes an int for an array too
            if not isinstance(part, (*listed, np.integer)):
                return part
            values = np.asarray(part)
            return torch.as_tensor(values.astype(bool if values.dtype == bool else np.int64))

        made = tuple(map(converted, parts))
        return made if isinstance(index, tuple) else made[0]

    def scatter(self, value: Any, index: Any, shape: Any) -> Any:
        zero = torch.zeros(shape, dtype=value.dtype)
        if (isinstance(index, np.ndarray) and index.dtype != bool) or isinstance(index, tuple):
            parts = self.index(index if isinstance(index, tuple) else (index,))
            return zero.index_put(parts, value, accumulate=True)
        zero[self.index(index)] = value
        return zero

    def embedding(self, ids: Any, weight: Any, padding_idx: int | None = None) -> Any:
        return F.embedding(torch.as_tensor(ids.astype(int)), weight, padding_idx)

    # Products and fused ops

    def matmul(self, a: Any, b: Any) -> Any:
        return torch.matmul(a, b)

    def linear(self, x: Any, weight: Any, bias: Any = None) -> Any:
        return F.linear(x, weight, bias)

    def einsum(self, subscripts: str, *operands: Any) -> Any:
        dtype = next(o.dtype for o in operands if torch.is_tensor(o))
        return torch.einsum(subscripts, *[array(o).to(dtype) for o in operands])

    def layer_norm(
        self, x: Any, weight: Any = None, bias: Any = None, *, ndim: int = 1, eps: float = 1e-5
    ) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.layer_norm(x, x.shape[-ndim:], weight, bias, eps)

    def rms_norm(self, x: Any, weight: Any = None, *, ndim: int = 1, eps: float = 1e-6) -> Any:
        x = x if torch.is_tensor(x) else array(x).to(weight.dtype)
        return F.rms_norm(x, x.shape[-ndim:], weight, eps)

    def cross_entropy(
        self,
        logits: Any,
        target: Any,
        weight: Any = None,
        *,
        reduction: str = "mean",
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
    ) -> Any:
        weight = None if weight is None else array(weight).to(logits.dtype)
        return F.cross_entropy(
            logits,
            torch.as_tensor(target),
            weight,
            reduction=reduction,
            ignore_index=-100 if ignore_index is None else ignore_index,
            label_smoothing=label_smoothing,
        )

    def attention_weights(
        self,
        query: Any,
        key: Any,
        bias: Any = None,
        keep: Any = None,
        *,
        causal: bool = False,
        scale: float | None = None,
    ) -> Any:
        scores = query @ key.mT * (query.shape[-1] ** -0.5 if scale is None else scale)
        may = torch.as_tensor(True if keep is None else keep)
        if causal:
            may = may & torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        if not may.any(-1).all():
            raise Elsewhere  # a row without keys is NaN there
        scores = torch.where(may, scores + (0 if bias is None else bias), -math.inf)
        return torch.softmax(scores, -1)

    def attention(
        self,
        query: Any,
        key: Any,
        value: Any,
        bias: Any = None,
        keep: Any = None,
        *,
        causal: bool = False,
        scale: float | None = None,
        dropout: float = 0.0,
        dropout_key: int | None = None,
    ) -> Any:
        may = torch.ones((query.shape[-2], key.shape[-2]), dtype=torch.bool)
        may = may.tril() if causal else may
        may = may if keep is None else may & torch.as_tensor(keep)
        if dropout or not may.any(-1).all():
            raise Elsewhere  # its random numbers are others; a row without keys is NaN there
        mask = torch.where(may, torch.zeros((), dtype=query.dtype), -math.inf)
        mask = mask if bias is None else mask + bias
        return F.scaled_dot_product_attention(query, key, value, mask, scale=scale)

    def dropout(self, x: Any, p: float, key: int) -> Any:
        raise Elsewhere

    def rotate_pairs(self, *args: Any) -> Any:
        raise Elsewhere


def repeats(shape: tuple[int, ...], index: Any) -> bool:
    places = np.arange(math.prod(shape)).reshape(shape)[index]
    return len(np.unique(places)) != places.size


TORCH = Torch()
ONLY_OURS = {"dropout", "rotate_pairs"}  # no case of these can be compared


def outputs_of(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def compare(case: Case, dtype: Any) -> bool:
    """Values and gradients of one case; False where PyTorch has no such call."""
    theirs = [torch.tensor(a.astype(dtype), requires_grad=True) for a in case.inputs]
    try:
        expected = outputs_of(case.call(TORCH, *theirs))
    except Elsewhere:
        return False
    ours = [Tensor(a.astype(dtype), requires_grad=True) for a in case.inputs]
    outputs = outputs_of(case.on(OURS)(*ours))
    weights = [np.cos(np.arange(out.size)).reshape(out.shape).astype(out.dtype) for out in outputs]
    found = grad(outputs, ours, weights)
    wanted = torch.autograd.grad(
        expected,
        theirs,
        [torch.as_tensor(w).to(e.dtype) for w, e in zip(weights, expected, strict=True)],
    )
    tolerance = 1e-10 if dtype == np.float64 else 2e-5
    for one, other in zip([*outputs, *found], [*expected, *wanted], strict=True):
        reference = other.detach().numpy()
        assert one.shape == reference.shape
        scale = max(1.0, float(np.abs(reference).max(initial=0)))
        np.testing.assert_allclose(
            one.numpy(), reference, rtol=tolerance, atol=tolerance * scale, err_msg=str(case)
        )
    for g, x in zip(found, ours, strict=True):
        assert g.dtype == x.dtype == dtype
    return True


@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("op", dict.fromkeys(case.op for case in CASES))
def test_values_and_gradients(op: str, dtype: Any) -> None:
    errors, compared = [], 0
    for case in CASES:
        if case.op == op:
            try:
                compared += compare(case, dtype)
            except Exception as error:
                error.add_note(f"the case is {case}")
                errors.append(error)
    if errors:
        raise ExceptionGroup(f"{len(errors)} cases of {op}", errors)
    assert bool(compared) == (op not in ONLY_OURS)


# Corners where the promise is PyTorch's -----------------------------------------------------------


def slopes(ours: Any, theirs: Any, *values: Any) -> None:
    """The same gradients, in the same places NaN or infinite."""
    mine = [Tensor(np.array(v, float), requires_grad=True) for v in values]
    other = [torch.tensor(np.array(v, float), requires_grad=True) for v in values]
    with np.errstate(all="ignore"):
        ours(*mine).sum().backward()
    theirs(*other).sum().backward()
    for one, reference in zip(mine, other, strict=True):
        np.testing.assert_array_equal(one.grad.numpy(), reference.grad.numpy())


TIES = [[3.0, 1.0, 3.0], [3.0, 3.0, 0.0]]


@pytest.mark.parametrize(
    ("ours", "theirs", "values"),
    [
        (lambda x: OURS.max(x, axis=1), lambda x: x.amax(1), [TIES]),
        (lambda x: OURS.max(x), lambda x: x.amax(), [TIES]),
        (lambda x: OURS.min(x, axis=0), lambda x: x.amin(0), [TIES]),
        (OURS.maximum, torch.maximum, [[1.0, 2.0], [1.0, 3.0]]),
        (OURS.minimum, torch.minimum, [[1.0, 2.0], [1.0, 3.0]]),
        (OURS.relu, torch.relu, [[-1.0, 0.0, 1.0]]),
        (OURS.abs, torch.abs, [[-1.0, 0.0, 1.0]]),
        (
            lambda x: OURS.clip(x, 0.0, 1.0),
            lambda x: x.clamp(0.0, 1.0),
            [[-1.0, 0.0, 0.5, 1.0, 2.0]],
        ),
        (OURS.norm, torch.linalg.vector_norm, [[0.0, 0.0]]),
        (lambda x: OURS.norm(x, 1), lambda x: torch.linalg.vector_norm(x, 1), [[0.0, 2.0]]),
        (lambda x: x**0, lambda x: x**0, [[0.0, 1.0]]),
        (lambda x: x**1, lambda x: x**1, [[0.0, 1.0]]),
        (lambda x: x**2, lambda x: x**2, [[0.0, -1.0]]),
        (lambda x: x**0.5, lambda x: x**0.5, [[0.0, 4.0]]),
        (lambda a, b: a**b, lambda a, b: a**b, [[0.0, 0.0, 2.0], [0.0, 2.0, 0.0]]),
        (OURS.sqrt, torch.sqrt, [[0.0, 4.0]]),
        (OURS.log, torch.log, [[0.0, 4.0]]),
        (lambda x: 1 / x, lambda x: 1 / x, [[0.0, 4.0]]),
        (lambda x: OURS.var(x, ddof=1), lambda x: x.var(correction=1), [[2.0]]),
        (lambda x: OURS.logsumexp(x, axis=1), lambda x: x.logsumexp(1), [[[-math.inf, 1.0]]]),
    ],
)
@pytest.mark.filterwarnings("ignore:var.*degrees of freedom")
def test_corners(ours: Any, theirs: Any, values: list[Any]) -> None:
    slopes(ours, theirs, *values)


# Graphs -----------------------------------------------------------------------------------------


def test_a_small_network_trains_alike() -> None:
    rng = np.random.default_rng(0)
    shapes = [(8, 5), (8,), (3, 8), (3,)]
    weights = [rng.standard_normal(shape) for shape in shapes]
    x, target = rng.standard_normal((16, 5)), rng.integers(0, 3, 16)
    mine = [Tensor(w, requires_grad=True) for w in weights]
    other = [torch.tensor(w, requires_grad=True) for w in weights]
    for _ in range(20):
        h = OURS.linear(x, mine[0], mine[1]).tanh()
        loss = OURS.cross_entropy(OURS.linear(h, mine[2], mine[3]), target)
        loss.backward()
        reference = F.cross_entropy(
            F.linear(torch.tanh(F.linear(torch.tensor(x), other[0], other[1])), other[2], other[3]),
            torch.tensor(target),
        )
        reference.backward()
        np.testing.assert_allclose(loss.item(), reference.item(), rtol=1e-10)
        for one, two in zip(mine, other, strict=True):
            np.testing.assert_allclose(one.grad.numpy(), two.grad.numpy(), rtol=1e-8, atol=1e-12)
            one.data = one.data - 0.5 * one.grad.data
            two.data -= 0.5 * two.grad
            one.zero_grad()
            two.grad = None


def test_second_derivatives_alike() -> None:
    rng = np.random.default_rng(1)
    values, along = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))

    def ours(x: Any) -> Any:
        h = OURS.layer_norm(x)
        return OURS.cross_entropy(x + OURS.attention(h, h, h), [0, 1, 2])

    def theirs(x: Any) -> Any:
        h = F.layer_norm(x, (4,))
        weights = torch.softmax(h @ h.mT / 2, -1)
        return F.cross_entropy(x + weights @ h, torch.tensor([0, 1, 2]))

    x, y = Tensor(values, requires_grad=True), torch.tensor(values, requires_grad=True)
    first = grad(ours(x), x, create_graph=True)
    (reference,) = torch.autograd.grad(theirs(y), y, create_graph=True)
    np.testing.assert_allclose(first.numpy(), reference.detach().numpy(), rtol=1e-10, atol=1e-14)
    found = grad((first * along).sum(), x).numpy()
    (wanted,) = torch.autograd.grad((reference * torch.tensor(along)).sum(), y)
    np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-9, atol=1e-12)
