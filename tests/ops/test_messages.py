"""Errors name the op, what came, and what was expected: one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops


def t(*shape: int) -> Tensor:
    return Tensor(np.ones(shape), requires_grad=True)


MESSAGES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # Element by element
    "add": (
        lambda: t(2, 3) + t(2),
        ValueError,
        r"^add: shapes \(2, 3\) and \(2,\) do not broadcast",
    ),
    "array + tensor": (lambda: np.ones(3) + t(2), ValueError, r"^add: .*\(3,\) and \(2,\)"),
    "multiply": (lambda: t(2, 3) * t(3, 2), ValueError, r"^multiply: .*\(2, 3\) and \(3, 2\)"),
    "divide": (lambda: t(4) / t(3), ValueError, r"^divide: .*\(4,\) and \(3,\)"),
    "power": (lambda: t(4) ** t(3), ValueError, r"^power: .*\(4,\) and \(3,\)"),
    "integer power": (lambda: Tensor([2]) ** -1, ValueError, r"^power: .*negative"),
    "maximum": (lambda: ops.maximum(t(4), t(3)), ValueError, r"^maximum: .*\(4,\) and \(3,\)"),
    "less": (lambda: t(4) < t(3), ValueError, r"^less: .*\(4,\) and \(3,\)"),
    "where": (
        lambda: ops.where(np.ones(2, bool), t(3), t(3)),
        ValueError,
        r"^where: .*\(2,\).*\(3,\)",
    ),
    "clip": (lambda: ops.clip(t(4), t(3), t(4)), ValueError, r"^clip: .*\(4,\).*\(3,\)"),
    "text": (lambda: t(2) + "a", TypeError, r"add: .*(str|U1)"),
    "None": (lambda: t(2) * None, TypeError, r"multiply: .*(None|object)"),
    "complex": (lambda: t(2) * 1j, TypeError, r"multiply: .*complex"),
    "bitwise_and of floats": (lambda: t(2) & t(2), TypeError, r"^bitwise_and: .*(float|bool)"),
    "invert of floats": (lambda: ~t(2), TypeError, r"^invert: .*(float|bool)"),
    "masked_fill mask": (
        lambda: ops.masked_fill(t(2), np.ones(2), 0.0),
        TypeError,
        r"^masked_fill: the mask must hold bools, got float64",
    ),
    "masked_fill value": (
        lambda: ops.masked_fill(t(2), np.ones(2, bool), np.ones(2)),
        ValueError,
        r"^masked_fill: value must be one number, got shape \(2,\)",
    ),
    "masked_fill shape": (
        lambda: ops.masked_fill(t(2), np.ones(3, bool), 0.0),
        ValueError,
        r"^masked_fill: .*\(2,\).*\(3,\)|^masked_fill: .*\(3,\).*\(2,\)",
    ),
    "gelu": (
        lambda: ops.gelu(t(2), "exact"),
        ValueError,
        r"^gelu: approximate must be \"none\" or \"tanh\", got 'exact'",
    ),
    "dropout": (lambda: ops.dropout(t(2), 1.5, 1), ValueError, r"^dropout: p must be .*got 1\.5"),
    # Reductions
    "sum axis": (lambda: t(2, 3).sum(axis=2), ValueError, r"^sum: axis 2 is out of bounds"),
    "sum axes": (lambda: t(2, 3).sum(axis=(0, 0)), ValueError, r"^sum: .*(duplicate|repeated)"),
    "mean axis": (lambda: t(2, 3).mean(axis=-3), ValueError, r"^mean: axis -3 is out of bounds"),
    "var axis": (lambda: t(2, 3).var(axis=5), ValueError, r"^var: axis 5 is out of bounds"),
    "max of nothing": (lambda: t(0, 3).max(), ValueError, r"^max: "),
    "argmax of nothing": (lambda: t(0).argmax(), ValueError, r"^argmax: "),
    "softmax axis": (lambda: ops.softmax(t(2), axis=1), ValueError, r"^softmax: axis 1 is out of"),
    "logsumexp axis": (lambda: ops.logsumexp(t(2), axis=1), ValueError, r"^logsumexp: axis 1"),
    "norm order": (lambda: ops.norm(t(2), 0.5), ValueError, r"^norm: ord must be .*got 0\.5"),
    "norm order text": (lambda: ops.norm(t(2), "fro"), ValueError, r"^norm: ord .*got 'fro'"),
    # Shapes
    "reshape": (
        lambda: t(2, 3).reshape(4),
        ValueError,
        r"^reshape: 6 elements of shape \(2, 3\) .* \(4,\)",
    ),
    "transpose": (lambda: t(2, 3).transpose(0, 0), ValueError, r"^transpose: .*(repeated|axes)"),
    "transpose rank": (lambda: t(2, 3).transpose(0, 1, 2), ValueError, r"^transpose: .*axes"),
    "swapaxes": (lambda: t(2, 3).swapaxes(0, 2), ValueError, r"^swapaxes: .*axis2?: ?(axis )?2"),
    "squeeze": (lambda: t(2, 3).squeeze(0), ValueError, r"^squeeze: .*size|^squeeze: .*\(2, 3\)"),
    "expand_dims": (lambda: t(2).expand_dims(3), ValueError, r"^expand_dims: axis 3"),
    "broadcast_to": (
        lambda: t(2, 3).broadcast_to(2, 4),
        ValueError,
        r"^broadcast_to: .*\(2, ?3\).*\(2, ?4\)",
    ),
    "concatenate nothing": (lambda: ops.concatenate([]), ValueError, r"^concatenate: at least one"),
    "concatenate": (
        lambda: ops.concatenate([t(2, 3), t(2, 4)]),
        ValueError,
        r"^concatenate: .*\(2, 3\).*\(2, 4\)|^concatenate: .*3 .*4",
    ),
    "stack nothing": (lambda: ops.stack([]), ValueError, r"^stack: at least one"),
    "stack": (lambda: ops.stack([t(2), t(3)]), ValueError, r"^stack: .*shape"),
    "split": (lambda: ops.split(t(5), 2), ValueError, r"^split: length 5 .*2 equal parts"),
    "split axis": (lambda: ops.split(t(4), 2, axis=1), ValueError, r"^split: axis 1 .*\(4,\)"),
    "astype": (lambda: t(2).astype("complex64"), TypeError, r"complex64"),
    # Products
    "matmul": (
        lambda: t(2, 3) @ t(4, 5),
        ValueError,
        r"^matmul: \(2, 3\) @ \(4, 5\): the last axis of a \(3\) and the second-last of b "
        r"\(4\) must match$",
    ),
    "matmul vector": (
        lambda: t(2, 3) @ t(4),
        ValueError,
        r"^matmul: \(2, 3\) @ \(4,\): .*\(3\) and the only of b \(4\) must match",
    ),
    "matmul batch": (
        lambda: t(2, 3, 4) @ t(5, 4, 3),
        ValueError,
        r"^matmul: .*leading axes \(2,\) and \(5,\) do not broadcast",
    ),
    "matmul number": (
        lambda: t(2) @ 3.0,
        ValueError,
        r"^matmul: \(2,\) @ \(\): .*at least one axis",
    ),
    "matmul text": (lambda: t(2) @ "ab", TypeError, r"matmul: .*(str|U2)"),
    "linear": (
        lambda: ops.linear(t(2, 3), t(4, 5)),
        ValueError,
        r"^linear: the input has shape \(2, 3\), its last axis must be 5 .*\(4, 5\)",
    ),
    "linear weight": (
        lambda: ops.linear(t(2, 3), t(3)),
        ValueError,
        r"^linear: the weight must have shape \(out, in\), got \(3,\)",
    ),
    "linear bias": (
        lambda: ops.linear(t(2, 3), t(4, 3), t(5)),
        ValueError,
        r"^linear: a bias of shape \(5,\) does not fit 4 outputs",
    ),
    "einsum count": (
        lambda: ops.einsum("ij,jk", t(2, 3)),
        ValueError,
        r"^einsum: 'ij,jk' names 2 operands, got 1",
    ),
    "einsum rank": (
        lambda: ops.einsum("ijk", t(2, 3)),
        ValueError,
        r"^einsum: 'ijk' .*operand 0 of shape \(2, 3\)",
    ),
    "einsum length": (
        lambda: ops.einsum("ij,jk", t(2, 3), t(4, 2)),
        ValueError,
        r"^einsum: .*ij: \(2, 3\), jk: \(4, 2\)",
    ),
    "einsum output": (lambda: ops.einsum("ij->k", t(2, 3)), ValueError, r"^einsum: .*output"),
    "einsum diagonal": (lambda: ops.einsum("ii", t(2, 3)), ValueError, r"^einsum: .*\(2, 3\)"),
    "einsum labels": (
        lambda: ops.einsum("i1", t(2, 3)),
        ValueError,
        r"^einsum: labels are letters",
    ),
    # Fused
    "layer_norm": (
        lambda: ops.layer_norm(t(2, 3), t(4)),
        ValueError,
        r"^layer_norm: .*\(2, 3\), so weight must have shape \(3,\), got \(4,\)",
    ),
    "layer_norm bias": (
        lambda: ops.layer_norm(t(2, 3), t(3), t(2, 3)),
        ValueError,
        r"^layer_norm: .*so bias must have shape \(3,\), got \(2, 3\)",
    ),
    "layer_norm ndim": (
        lambda: ops.layer_norm(t(3), ndim=2),
        ValueError,
        r"^layer_norm: .*\(3,\), at least 2 axes",
    ),
    "cross_entropy target": (
        lambda: ops.cross_entropy(t(3, 4), np.zeros((3, 4), int)),
        ValueError,
        r"^cross_entropy: .*\(3, 4\) need a target of shape \(3,\), got \(3, 4\)",
    ),
    "cross_entropy floats": (
        lambda: ops.cross_entropy(t(3, 4), np.zeros((3, 4))),
        TypeError,
        r"^cross_entropy: .*class indices .*float64 .*argmax",
    ),
    "cross_entropy class": (
        lambda: ops.cross_entropy(t(2, 4), [0, 4]),
        IndexError,
        r"^cross_entropy: target 4 is outside of 0 to 3.*ignore_index=4",
    ),
    "cross_entropy negative": (
        lambda: ops.cross_entropy(t(2, 4), [0, -100]),
        IndexError,
        r"^cross_entropy: target -100 .*ignore_index=-100",
    ),
    "cross_entropy weight": (
        lambda: ops.cross_entropy(t(2, 4), [0, 1], np.ones(3)),
        ValueError,
        r"^cross_entropy: weight must have shape \(4,\), got \(3,\)",
    ),
    "cross_entropy reduction": (
        lambda: ops.cross_entropy(t(2, 4), [0, 1], reduction="avg"),
        ValueError,
        r"^cross_entropy: reduction must be .*'avg'",
    ),
    "cross_entropy smoothing": (
        lambda: ops.cross_entropy(t(2, 4), [0, 1], label_smoothing=2.0),
        ValueError,
        r"^cross_entropy: label_smoothing .*2\.0",
    ),
    "cross_entropy weight grad": (
        lambda: ops.cross_entropy(t(2, 4), [0, 1], t(4)),
        TypeError,
        r"cross_entropy .*'weight'.*detach",
    ),
    "embedding": (
        lambda: ops.embedding(np.array([3]), t(3, 2)),
        IndexError,
        r"^embedding: index 3 is outside of a table with 3 rows \(0 to 2\)",
    ),
    "embedding negative": (
        lambda: ops.embedding(np.array([-1]), t(3, 2)),
        IndexError,
        r"^embedding: index -1 is outside",
    ),
    "embedding floats": (
        lambda: ops.embedding(np.array([1.0]), t(3, 2)),
        TypeError,
        r"^embedding: the indices must be integers, got float64",
    ),
    "attention widths": (
        lambda: ops.attention(t(2, 3), t(4, 5), t(4, 2)),
        ValueError,
        r"^attention: query \(2, 3\), key \(4, 5\).*widths .*\(3\).*\(5\)",
    ),
    "attention lengths": (
        lambda: ops.attention(t(2, 3), t(4, 3), t(5, 2)),
        ValueError,
        r"^attention: .*lengths of key \(4\) and value \(5\)",
    ),
    "attention leading": (
        lambda: ops.attention(t(2, 2, 3), t(3, 4, 3), t(4, 2)),
        ValueError,
        r"^attention: .*leading axes do not broadcast",
    ),
    "attention vector": (
        lambda: ops.attention(t(3), t(4, 3), t(4, 2)),
        ValueError,
        r"^attention: .*length and a width",
    ),
    "attention bias": (
        lambda: ops.attention(t(2, 3), t(4, 3), t(4, 2), t(3, 4)),
        ValueError,
        r"^attention: .*bias of shape \(3, 4\) does not broadcast to \(2, 4\)",
    ),
    "attention keep": (
        lambda: ops.attention(t(2, 3), t(4, 3), t(4, 2), None, np.ones((2, 4))),
        ValueError,
        r"^attention: keep must hold bools .*got float64",
    ),
    "attention keep shape": (
        lambda: ops.attention(t(2, 3), t(4, 3), t(4, 2), None, np.ones((4, 2), bool)),
        ValueError,
        r"^attention: .*keep of shape \(4, 2\) does not broadcast to \(2, 4\)",
    ),
    "rms_norm": (
        lambda: ops.rms_norm(t(2, 3), t(2)),
        ValueError,
        r"^rms_norm: .*weight must have shape \(3,\), got \(2,\)",
    ),
    # Arguments
    "unknown keyword": (lambda: ops.sum(t(2), axs=0), TypeError, r"axs"),
    "missing argument": (lambda: ops.linear(t(2)), TypeError, r"weight"),
    "too many": (lambda: ops.exp(t(2), 3), TypeError, r"exp|argument"),
    # Tensors
    "requires_grad": (
        lambda: Tensor([1, 2], requires_grad=True),
        TypeError,
        r"only floats .*int64",
    ),
    "ragged": (lambda: Tensor([[1.0], [1.0, 2.0]]), ValueError, r"rectangular.*different lengths"),
    "bool of many": (lambda: bool(t(2)), ValueError, r"\(2,\) is ambiguous"),
    "item of many": (lambda: t(2).item(), ValueError, r"^item: .*\(2,\)"),
    "backward": (lambda: t(2).backward(), RuntimeError, r"^backward: .*\(2,\).*\.sum\(\)"),
    "shape": (lambda: minigrad.zeros(2.5), TypeError, r"^zeros: .*2\.5"),
    "negative shape": (lambda: minigrad.ones((2, -1)), TypeError, r"^ones: .*-1"),
    "int += float": (
        lambda: Tensor([1]).__iadd__(1.5),
        TypeError,
        r"__iadd__: .*float32.*int64|__iadd__: .*int64.*float32",
    ),
}


@pytest.mark.parametrize(("call", "kind", "message"), MESSAGES.values(), ids=MESSAGES)
def test_message(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_an_error_names_the_module_it_happened_in() -> None:
    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(x)

    with pytest.raises(ValueError, match=r"^linear: .*\(2, 4\).*\[in inner\.1\]$"):
        Block()(minigrad.zeros(2, 3))


@pytest.mark.filterwarnings("error")
def test_warnings_turned_into_errors_stay_warnings() -> None:
    """NumPy's own RuntimeWarning, when the user asked for it, is not disguised as another error."""
    with pytest.raises(RuntimeWarning, match="divide by zero"):
        ops.log(Tensor(0.0))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        ops.log(Tensor(0.0))


def test_the_original_error_of_a_forward_is_kept() -> None:
    """A user's own op: an unexpected error comes as it is, or carries its cause."""

    @minigrad.autograd.primitive
    def my_lookup(x: Any) -> Any:
        return {}["missing"]

    with pytest.raises(Exception, match="missing") as caught:
        my_lookup(1.0)
    assert isinstance(caught.value, KeyError) or isinstance(caught.value.__cause__, KeyError)
