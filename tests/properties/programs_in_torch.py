"""Programs on PyTorch: the same steps, read and written by places in the flattened tensor."""

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from program_checks import all_close, assert_close, leaves, second_order
from programs import RECORDED, Program

from minigrad.autograd import grad

torch = pytest.importorskip("torch")
F = torch.nn.functional
KEYWORDS = {"axis": "dim", "keepdims": "keepdim"}


def array(value: Any) -> Any:
    """NumPy's arrays as PyTorch's; anything else unchanged."""
    return torch.as_tensor(value.copy()) if isinstance(value, np.ndarray) else value


def axes_of(x: Any, axis: Any) -> Any:
    """Axes as PyTorch takes them, where None is all of them."""
    if axis is None:
        return tuple(range(x.ndim))
    return axis if isinstance(axis, tuple) else (int(axis),)


def reduction(name: str, **defaults: Any) -> Any:
    """A function along axes."""

    def call(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return getattr(torch, name)(x, axes_of(x, axis), keepdim=keepdims, **defaults)

    return staticmethod(call)


class InTorch:
    """PyTorch under our names. What is written in place here is written into a copy there."""

    def __getattr__(self, name: str) -> Any:
        function = getattr(torch, name)
        return lambda *args, **options: function(
            *map(array, args), **{KEYWORDS.get(key, key): value for key, value in options.items()}
        )

    silu, gelu, softplus = staticmethod(F.silu), staticmethod(F.gelu), staticmethod(F.softplus)
    linear = staticmethod(F.linear)
    cbrt = staticmethod(lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3))
    add, subtract = staticmethod(operator.add), staticmethod(operator.sub)
    multiply = staticmethod(lambda a, b: a * array(b))
    divide, power = staticmethod(operator.truediv), staticmethod(operator.pow)
    sum, mean, logsumexp = reduction("sum"), reduction("mean"), reduction("logsumexp")
    max, min = reduction("amax"), reduction("amin")
    var, std = reduction("var", correction=0), reduction("std", correction=0)
    expand_dims, transpose = staticmethod(torch.unsqueeze), staticmethod(torch.permute)
    split = array_split = staticmethod(torch.tensor_split)
    expand = staticmethod(lambda x, *sizes: x.expand(*sizes))
    add_, mul_ = add, multiply
    div_, tanh_ = divide, staticmethod(torch.tanh)
    exp_, clip_ = staticmethod(torch.exp), staticmethod(torch.clamp)

    def maximum(self, a: Any, b: Any) -> Any:
        return torch.maximum(*(torch.as_tensor(v, dtype=torch.float64) for v in (a, b)))

    def masked_fill(self, x: Any, mask: Any, value: Any) -> Any:
        return torch.where(mask, value.reshape(()) if torch.is_tensor(value) else value, x)

    def prod(self, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        for a in sorted((a % x.ndim for a in axes_of(x, axis)), reverse=True):
            x = torch.prod(x, a, keepdim=keepdims)  # it takes one axis at a time
        return x

    def norm(self, x: Any, axis: Any, keepdims: bool) -> Any:
        return torch.linalg.vector_norm(x, 2, axes_of(x, axis), keepdim=keepdims)

    def reshape(self, x: Any, shape: Any) -> Any:
        return torch.reshape(x, (shape,) if isinstance(shape, int) else shape)

    def concatenate(self, tensors: Any, axis: int) -> Any:
        return torch.cat(tensors, axis)

    def flip(self, x: Any, axis: Any) -> Any:
        return torch.flip(x, axes_of(x, axis))

    def roll(self, x: Any, shift: int, axis: int | None) -> Any:
        return torch.roll(x, shift) if axis is None else torch.roll(x, shift, axis)

    def repeat(self, x: Any, repeats: Any, axis: int) -> Any:
        return torch.repeat_interleave(x, torch.as_tensor(repeats), axis)

    def tile(self, x: Any, reps: Any) -> Any:
        return torch.tile(x, reps if isinstance(reps, tuple) else (reps,))

    def pad(self, x: Any, width: Any, mode: str) -> Any:
        places = np.pad(np.arange(1, x.numel() + 1).reshape(x.shape), width, mode)
        return torch.cat([torch.zeros(1, dtype=x.dtype), x.reshape(-1)])[torch.as_tensor(places)]

    def getitem(self, x: Any, index: Any) -> Any:
        places = np.arange(x.numel()).reshape(x.shape)[index]
        return x.reshape(-1)[torch.as_tensor(np.array(places))]

    def setitem(self, x: Any, index: Any, value: Any) -> Any:
        places = np.arange(x.numel()).reshape(x.shape)[index]
        last = {int(place): k for k, place in enumerate(np.ravel(places))}  # the last one counts
        value = torch.as_tensor(value, dtype=x.dtype).broadcast_to(np.shape(places)).reshape(-1)
        flat = x.reshape(-1).clone()
        flat[list(last)] = value[list(last.values())]
        return flat.reshape(x.shape)

    write = setitem

    def take(self, x: Any, indices: Any, axis: int) -> Any:
        places = np.asarray(indices) % x.shape[axis]
        taken = torch.index_select(x, axis, torch.as_tensor(places.ravel()))
        return taken.unflatten(axis, places.shape) if places.ndim else taken.squeeze(axis)

    def take_along_axis(self, x: Any, indices: Any, axis: int) -> Any:
        return torch.take_along_dim(x, torch.as_tensor(indices % x.shape[axis]), axis)

    def scatter_add(self, x: Any, axis: int, index: Any, src: Any) -> Any:
        src = src[tuple(slice(n) for n in index.shape)]  # their gradient knows no longer ones
        return torch.scatter_add(x, axis, torch.as_tensor(index), src)

    def embedding(self, ids: Any, weight: Any) -> Any:
        return weight[torch.as_tensor(ids)]  # theirs takes matrices only

    def sort(self, x: Any, axis: int, descending: bool) -> Any:
        return torch.sort(x, axis, descending)[0]

    def median(self, x: Any, axis: int) -> Any:
        return torch.quantile(x, 0.5, axis)

    def vecdot(self, a: Any, b: Any) -> Any:
        return (a * b).sum(-1)

    def dot(self, a: Any, b: Any) -> Any:
        return torch.tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))

    def layer_norm(self, x: Any, weight: Any, bias: Any, *, ndim: int, eps: float) -> Any:
        if weight is None:  # with a bias alone, theirs cannot be differentiated twice
            weight = torch.ones(x.shape[-ndim:], dtype=x.dtype)
        return F.layer_norm(x, x.shape[-ndim:], weight, bias, eps)

    def rms_norm(self, x: Any, weight: Any, *, ndim: int, eps: float) -> Any:
        return F.rms_norm(x, x.shape[-ndim:], weight, eps)

    def cross_entropy(self, logits: Any, target: Any, reduction: str) -> Any:
        return F.cross_entropy(logits, torch.as_tensor(target), reduction=reduction)

    def attention(self, query: Any, key: Any, value: Any, *, causal: bool = False) -> Any:
        scores = query @ key.mT * query.shape[-1] ** -0.5  # theirs: once only
        if causal:
            may = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
            scores = torch.where(may, scores, -math.inf)
        return torch.softmax(scores, -1) @ value


IN_TORCH = InTorch()


def arrays(gradients: Sequence[Any]) -> list[Any]:
    return [None if g is None else g.numpy(force=True) for g in gradients]


def torch_leaves(program: Program) -> list[Any]:
    return [torch.tensor(array, requires_grad=True) for array in program.inputs]


def gradients_are_pytorchs(program: Program) -> None:
    """Values, the gradients of the inputs, and those of values on the way."""
    inputs, others = leaves(program), torch_leaves(program)
    values, theirs = program.values(RECORDED, inputs), program.values(IN_TORCH, others)
    loss, reference = program.result(RECORDED, values), program.result(IN_TORCH, theirs)
    assert_close(loss, reference.numpy(force=True), "the result", 1e-10)
    targets = [*range(len(inputs)), *on_the_way(program, theirs)]
    found = grad(loss, [values[i] for i in targets], allow_unused=True)
    wanted = torch.autograd.grad(reference, [theirs[i] for i in targets], allow_unused=True)
    all_close(found, arrays(wanted), f"of the values {targets}, the gradient of", 1e-8)


def on_the_way(program: Program, theirs: Sequence[Any]) -> list[int]:
    """Up to two values made by steps: differentiable, not overwritten, not an earlier one again."""
    known = program.overwritten()
    places = []
    for i in range(len(program.inputs), len(theirs)):
        again = any(theirs[i] is other for other in theirs[:i])
        if theirs[i].requires_grad and i not in known and not again:
            places.append(i)
    return [places[len(places) // 3], places[2 * len(places) // 3]] if places else []


def second_derivatives_are_pytorchs(program: Program) -> None:
    inputs, others = leaves(program), torch_leaves(program)
    first, second = second_order(program(*inputs), inputs)
    reference = program.result(IN_TORCH, program.values(IN_TORCH, others))
    wanted = torch.autograd.grad(reference, others, create_graph=True, allow_unused=True)
    all_close(first, arrays(wanted), "the gradient of", 1e-8)
    total = sum((g * torch.cos(torch.arange(g.numel(), dtype=g.dtype)).reshape(g.shape)).sum()
                for g in wanted if g is not None)  # fmt: skip
    again: Sequence[Any] = [None] * len(second)
    if torch.is_tensor(total) and total.requires_grad:
        again = torch.autograd.grad(total, others, allow_unused=True)
    all_close(second, arrays(again), "the second derivative of", 1e-7)


AGAINST_PYTORCH = [gradients_are_pytorchs, second_derivatives_are_pytorchs]
