"""Programs on PyTorch: the same steps, read and written by places in the flattened tensor."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from program_checks import all_close, assert_close, leaves, second_order
from programs import RECORDED, Program
from torch_ops import Torch, torch

from minigrad.autograd import grad


class InTorch(Torch):
    """PyTorch under our names. What is written in place here is written into a copy there."""

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

    def embedding(self, ids: Any, weight: Any) -> Any:
        return weight[torch.as_tensor(ids)]  # theirs takes matrices only

    def vecdot(self, a: Any, b: Any) -> Any:
        return (a * b).sum(-1)

    def pad(self, x: Any, width: Any, mode: str) -> Any:
        places = np.pad(np.arange(1, x.numel() + 1).reshape(x.shape), width, mode)
        return torch.cat([torch.zeros(1, dtype=x.dtype), x.reshape(-1)])[torch.as_tensor(places)]

    def layer_norm(
        self, x: Any, weight: Any = None, bias: Any = None, *, ndim: int, eps: float
    ) -> Any:
        if weight is None:  # with a bias alone, theirs cannot be differentiated twice
            weight = torch.ones(x.shape[-ndim:], dtype=x.dtype)
        return super().layer_norm(x, weight, bias, ndim=ndim, eps=eps)

    def attention(self, query: Any, key: Any, value: Any, *, causal: bool = False) -> Any:
        return self.attention_weights(query, key, causal=causal) @ value  # theirs: once only

    add_, mul_ = staticmethod(operator.add), staticmethod(operator.mul)
    div_, tanh_ = staticmethod(operator.truediv), staticmethod(torch.tanh)
    exp_, clip_ = staticmethod(torch.exp), staticmethod(torch.clamp)


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
