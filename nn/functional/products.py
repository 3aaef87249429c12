"""Linear maps, similarities and distances of vectors, and probabilities of scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad import ops, random
from minigrad.autograd.errors import refuse_shapes, type_error
from minigrad.linalg import vector_norm
from minigrad.nn.functional.framing import framed
from minigrad.ops.argument_errors import Arguments, checked
from minigrad.ops.casting import floating
from minigrad.support.checks import check_number
from minigrad.tensors import functions
from minigrad.tensors.tensor import Tensor

__all__ = [
    "bilinear", "cosine_similarity", "gumbel_softmax", "linear", "log_softmax", "pairwise_distance",
    "pdist", "softmax", "softmin",
]  # fmt: skip


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Apply an affine map to the last axis: ``input @ weight.T + bias``.

    Args:
        input: A tensor of shape (..., I).
        weight: Shape (O, I); or (I,) without a bias, for a result without the last axis.
        bias: Shape (O,), or None.

    Returns:
        Shape (..., O), or (...).

    Raises:
        ValueError: The shapes do not fit.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.linear(ones(2, 3), ones(4, 3), ones(4)).tolist()
        [[4.0, 4.0, 4.0, 4.0], [4.0, 4.0, 4.0, 4.0]]
        >>> nn.functional.linear(ones(2, 3), ones(3)).tolist()
        [3.0, 3.0]
    """
    try:
        if bias is None and weight.ndim == 1:
            return ops.matmul(input, weight)
        return ops.linear(input, weight, bias)
    except AttributeError as error:
        Arguments(linear).explain((input, weight, bias), {}, error)


@framed
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Apply the bilinear map :math:`y_o = x_1^\top W_o\, x_2 + b_o` to the last axes.

    Args:
        input1: A tensor of shape (..., I).
        input2: A tensor of shape (..., J), with the same leading axes.
        weight: W, of shape (O, I, J).
        bias: b, of shape (O,), or None.

    Example:
        >>> from minigrad import nn, ones
        >>> nn.functional.bilinear(ones((5, 4)), ones((5, 3)), ones((2, 4, 3))).shape
        minigrad.Size([5, 2])
    """
    first, second = input1.shape, input2.shape
    wrong = not first or not second or first[:-1] != second[:-1]
    wrong = wrong or weight.ndim != 3 or weight.shape[1:] != (first[-1], second[-1])
    wanted = "inputs (..., I) and (..., J) with equal leading axes, and a weight (O, I, J)"
    refuse_shapes(wrong, "bilinear", wanted, input1, input2, weight)
    out: Tensor = ops.einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


@checked
@framed
def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    r"""Compute the cosine of the angle between vectors: :math:`x_1 \cdot x_2 / (\|x_1\| \|x_2\|)`.

    Args:
        x1: A tensor.
        x2: A tensor that broadcasts with it.
        dim: The axis along which the vectors lie; the second by default.
        eps: The lower bound of each norm; a zero vector has similarity 0.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([3.0, 4.0]), tensor([4.0, 3.0])
        >>> round(nn.functional.cosine_similarity(x, y, dim=0).item(), 4)
        0.96
    """
    x1, x2 = functions.broadcast_tensors(x1, x2)
    check_number("cosine_similarity", "eps", eps, 0.0)
    return ops.sum(_direction(x1, dim, eps) * _direction(x2, dim, eps), axis=dim)


@checked
@framed
def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Tensor:
    r"""Compute the distance of vectors along the last axis: :math:`\|x_1 - x_2 + \epsilon\|_p`.

    Args:
        x1: A tensor of shape (..., D).
        x2: A tensor that broadcasts with it.
        p: The p of the p-norm; inf for the largest absolute value.
        eps: Added to each difference.
        keepdim: Whether to keep the last axis, with size 1.

    Example:
        >>> from minigrad import nn, tensor
        >>> x, y = tensor([[1.0, 2.0]]), tensor([[4.0, 6.0]])
        >>> nn.functional.pairwise_distance(x, y, eps=0.0).tolist()
        [5.0]
    """
    check_number("pairwise_distance", "p", p, above=0.0, infinite=True)
    check_number("pairwise_distance", "eps", eps, 0.0)
    return vector_norm(floating(x1) - x2 + eps, ord=p, dim=-1, keepdim=keepdim)


@framed
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Compute the distance of each row to each later one, as one row of n · (n - 1) / 2 numbers.

    Args:
        input: n vectors, of shape (n, D).
        p: The p of the p-norm; inf for the largest absolute value.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.pdist(tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])).tolist()
        [5.0, 1.0, 4.242640495300293]
    """
    return functions.pdist(input, p)


def _direction(x: Tensor, axis: int, eps: float) -> Tensor:
    """Normalize the vectors to length 1."""
    return x / ops.maximum(ops.norm(x, axis=axis, keepdims=True), eps)


@checked
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Compute weights that sum to 1 along an axis, ``exp(x) / sum(exp(x))``, without overflow.

    Args:
        input: x, a tensor of any shape; a row of -inf becomes zeros.
        dim: The axis. It may be left out for one and two axes: then it is the last one.
        _stacklevel: Not used.
        dtype: The dtype of the result, to which x is converted first; that of x by default.

    Raises:
        TypeError: There are more than two axes, and `dim` is missing.
        ValueError: The axis does not exist.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softmax(tensor([1000.0, 1000.0, 0.0]), dim=-1).tolist()
        [0.5, 0.5, 0.0]
    """
    return ops.softmax(*_scores("softmax", input, dim, dtype))


@checked
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Compute the logarithm of `softmax`, without overflow; the arguments are the same.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.log_softmax(tensor([1000.0, 0.0]), dim=-1).tolist()
        [0.0, -1000.0]
    """
    return ops.log_softmax(*_scores("log_softmax", input, dim, dtype))


@checked
@framed
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None
) -> Tensor:
    """Compute the `softmax` of -x; the arguments are the same.

    Example:
        >>> from minigrad import nn, tensor
        >>> nn.functional.softmin(tensor([0.0, 0.0, 1000.0]), dim=-1).tolist()
        [0.5, 0.5, 0.0]
    """
    scores, axis = _scores("softmin", input, dim, dtype)
    return ops.softmax(-floating(scores), axis)


def _scores(owner: str, x: Tensor, dim: int | None, dtype: Any) -> tuple[Tensor, int]:
    """The scores in their dtype, and the axis: by default the last of two, as in PyTorch."""
    if dim is None and np.ndim(x) > 2:
        theirs = "first" if x.ndim == 3 else "second"
        what = f"an input of shape {tuple(x.shape)} has more than two axes: write dim=-1"
        raise type_error(f"{owner}: {what} for the last one (PyTorch takes the {theirs})")
    return x if dtype is None else ops.astype(x, dtype), -1 if dim is None else dim


@checked
@framed
def gumbel_softmax(
    logits: Tensor, tau: float = 1.0, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    r"""Draw from the Gumbel-softmax distribution, :math:`\mathrm{softmax}((x + g) / \tau)`.

    Source: Jang, Gu and Poole, "Categorical reparameterization with Gumbel-softmax", 2017.

    Args:
        logits: x, unnormalized log-probabilities, a tensor of any shape.
        tau: The temperature τ; positive.
        hard: Whether to return one-hot vectors, with the gradient of the soft ones.
        eps: Not used, as in PyTorch.
        dim: The axis of the classes.

    Example:
        >>> from minigrad import nn, zeros
        >>> nn.functional.gumbel_softmax(zeros(2, 5), hard=True).sum(1).tolist()
        [1.0, 1.0]
    """
    check_number("gumbel_softmax", "tau", tau, above=0.0)
    del eps  # PyTorch has it and does not use it
    noise = random.drawn("gumbel", size=logits.shape, dtype=logits.dtype)
    soft = ops.softmax((logits + noise) / tau, dim)
    if not hard or soft.numel() < 2:  # a single class has weight 1
        return soft
    best = ops.argmax(soft, dim, True)
    after = soft.ndim - 1 - dim % soft.ndim
    places = np.arange(soft.shape[dim]).reshape(-1, *(1,) * after)
    return soft - soft.detach() + ops.astype(best == places, soft.dtype)
