"""Models as they are mostly written: masks of the model, inputs in structures, PyTorch's names.

Each file is run by onnxruntime at other sizes and values than those of the example.
"""

import functools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from custom_functions import Cube
from onnx_cases import Model
from test_onnx_layers import difference, run

import minigrad
from minigrad import Tensor, nn, ops, tensor, torch
from minigrad.autograd import checkpoint
from minigrad.nn import functional as F
from minigrad.onnx import export
from minigrad.tensors.inplace import assign

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

BATCH = {0: "batch", 1: "length"}


class Encoder(nn.Module):
    """Words, an encoder under a padding mask that is made in the model, and several poolings."""

    def __init__(self, mask: Callable[[Tensor, Tensor], Any], causal: Any = None) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), 2)
        self.mask, self.causal = mask, causal

    def forward(self, ids: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        padding = self.mask(ids, lengths)
        causal = None if self.causal is None else self.causal(ids.shape[1])
        x = self.encoder(self.words(ids), src_mask=causal, src_key_padding_mask=padding)
        real = (~padding)[..., None]
        return {
            "hidden": x.masked_fill(padding[..., None], 0.0),
            "mean": (x * real).sum(1) / real.sum(1),
            "last": x[minigrad.arange(x.shape[0]), (~padding).sum(1) - 1],
            "largest": ops.where(real, x, -np.inf).amax(1),
        }


PADDING: dict[str, Callable[[Any, Any], Any]] = {
    "ids == 0": lambda ids, lengths: ids == 0,
    "ids.eq(0)": lambda ids, lengths: ids.eq(0),
    "not ids > 0": lambda ids, lengths: ~(ids > 0),
    "arange": lambda ids, lengths: minigrad.arange(ids.shape[1])[None] >= lengths[:, None],
    "arange of NumPy": lambda ids, lengths: np.arange(ids.shape[1])[None] >= lengths[:, None],
    "create_padding_mask": lambda ids, lengths: ~F.create_padding_mask(lengths, ids.shape[1]),
    "both": lambda ids, lengths: (ids == 0)
    | (minigrad.arange(ids.shape[1])[None] >= lengths[:, None]),
}  # fmt: skip
CAUSAL: dict[str, Callable[[int], Any]] = {
    "": lambda n: None,
    "create_causal_mask": F.create_causal_mask,
    "tril": lambda n: minigrad.tril(minigrad.ones(n, n)) > 0,
    "tri": lambda n: np.tri(n, dtype=bool),
    "floats": lambda n: minigrad.triu(minigrad.full((n, n), -np.inf), 1),
    "filled": lambda n: minigrad.zeros(n, n).masked_fill(~np.tri(n, dtype=bool), -np.inf),
}


def words(n: int, length: int) -> dict[str, np.ndarray]:
    rng = minigrad.random.generator()
    lengths = rng.integers(1, length + 1, n)
    real = np.arange(length) < lengths[:, None]
    return {"ids": np.where(real, rng.integers(1, 20, (n, length)), 0), "lengths": lengths}


@pytest.mark.parametrize(("mask", "causal"), [
    *((mask, "") for mask in PADDING), *(("arange", causal) for causal in CAUSAL if causal),
])  # fmt: skip
def test_masks_made_in_the_model(mask: str, causal: str, tmp_path: Path) -> None:
    model = Encoder(PADDING[mask], CAUSAL[causal]).eval()
    axes = {"ids": BATCH, "lengths": {0: "batch"}}
    given = words(2, 5)
    given["lengths"] = np.array([5, 3])
    if "ids" in mask:  # then lengths are of no use
        given["ids"][:, 0] = 1
    written = export(model, given, tmp_path / "m.onnx", dynamic_axes=axes)
    for size in ((3, 9), (1, 1)):
        inputs = {k: tensor(v) for k, v in words(*size).items()}
        assert difference(model, written.path, inputs) <= 1e-5


def test_masks_of_pytorchs_attention(tmp_path: Path) -> None:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(16, 4, batch_first=True)

        def forward(self, x: Tensor) -> Any:
            hidden = ~np.tri(x.shape[1], dtype=bool)
            return self.attention(x, x, x, key_padding_mask=x[..., 0] > 1.5, attn_mask=hidden)[0]

    model = Masked().eval()
    x = minigrad.randn(2, 5, 16)
    written = export(model, x, tmp_path / "m.onnx", dynamic_axes={"x": BATCH})
    for size in ((2, 5), (3, 9), (1, 2)):
        assert difference(model, written.path, {"x": minigrad.randn(*size, 16)}) <= 1e-5


class Several(nn.Module):
    def forward(self, *inputs: Tensor) -> Tensor:
        return functools.reduce(operator.add, inputs)


class Named(nn.Module):
    def forward(self, x: Tensor, **more: Tensor) -> Tensor:
        return x + more["y"] * 2


def test_any_number_of_inputs(tmp_path: Path) -> None:
    x, y = minigrad.randn(2, 5), minigrad.randn(2, 5)
    written = export(Several(), (x, y, x), tmp_path / "m.onnx")
    assert [*written.inputs] == ["inputs_0", "inputs_1", "inputs_2"]
    (found,) = run(written.path, {"inputs_0": x, "inputs_1": y, "inputs_2": y})
    np.testing.assert_allclose(found, (x + y + y).numpy(), rtol=1e-6)
    assert [*export(Named(), {"x": x, "y": y}, tmp_path / "m.onnx").inputs] == ["x", "y"]


def test_inputs_in_structures(tmp_path: Path) -> None:
    model = nn.LSTM(4, 3, batch_first=True).eval()
    x, h, c = minigrad.randn(2, 5, 4), minigrad.randn(1, 2, 3), minigrad.randn(1, 2, 3)
    written = export(model, (x, (h, c)), tmp_path / "m.onnx")
    names = [*written.inputs]
    assert [name[-2:] for name in names[1:]] == ["_0", "_1"]
    found = run(written.path, dict(zip(names, (x, h * 2, c * 3), strict=True)))
    with minigrad.no_grad():
        wanted, (last, _) = model(x, (h * 2, c * 3))
    np.testing.assert_allclose(found[0], wanted.numpy(), atol=1e-6)
    np.testing.assert_allclose(found[1], last.numpy(), atol=1e-6)


def test_the_keywords_of_pytorch(tmp_path: Path) -> None:
    model = nn.MultiHeadAttention(16, 4).eval()
    x = minigrad.randn(2, 5, 16)
    written = export(
        model, {"query": x, "key": x, "value": x, "need_weights": True}, tmp_path / "m.onnx",
        input_names=["q", "k"], output_names=["out"], opset_version=20,
        dynamic_axes={"q": [0, 1], "k": {0: "q_0", 1: "size"}, "value": {0: "q_0", 1: "size"},
                      "out": {0: "batch"}},
    )  # fmt: skip
    assert written.inputs == {
        "q": ("q_0", "q_1", 16), "k": ("q_0", "size", 16), "value": ("q_0", "size", 16),
    }  # fmt: skip
    assert written.outputs == {"out": ("q_0", "q_1", 16), "output_1": ("q_0", 4, "q_1", "size")}
    assert [one.name for one in onnx.load(written.path).graph.output] == ["out", "output_1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opset_version": 17}, "opset_version=17: files are written in opset 20; .*convert"),
        ({"input_names": ["a", "b"]}, "input_names: at most 1 different names .* for input; got"),
        ({"output_names": ["a", "b"]}, "output_names: at most 1"),
        ({"output_names": "out"}, "output_names: at most 1"),
        ({"dynamic_axes": {"out": [0]}}, "names 'out'; the inputs are input"),
    ],
)
def test_keywords_that_do_not_fit(options: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        export(nn.ReLU(), minigrad.ones(2, 3), tmp_path / "m.onnx", **options)


# What is composed, and what is written


def into_zeros(m: Any, x: Tensor) -> Tensor:
    out = minigrad.zeros(x.shape[0], x.shape[1], 4)
    out[:, 1:] = x[:, :-1]
    out[:, 0] = m.linear(x[:, 0])
    return out


def into_the_input(_m: Any, x: Tensor) -> Tensor:
    before = x * 2
    x[:, -1] += 1
    return before + x


def shifted(_m: Any, x: Tensor) -> Tensor:
    rows = x * 1
    first, rest = rows[:, :1], rows[:, 1:]
    rest -= first
    first.mul_(2)
    return rows


COMPOSED: dict[str, Callable[[Any, Tensor], Any]] = {
    "a Function": lambda m, x: Cube.apply(x) + m.linear(Cube.apply(x)),
    "a checkpoint": lambda m, x: checkpoint(m.linear, x) * 2,
    "detached": lambda m, x: x.detach() * 2 + x,
    "written into zeros": into_zeros, "written into the input": into_the_input,
    "written through views": shifted,
    "a number of a size": lambda m, x: x * minigrad.tensor(x.shape[1]),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPOSED)
def test_what_is_composed_or_written(name: str, tmp_path: Path) -> None:
    model = Model(COMPOSED[name]).eval()
    written = export(model, minigrad.randn(2, 5, 4), tmp_path / "m.onnx", dynamic_axes={"x": BATCH})
    for size in ((2, 5), (3, 9), (1, 2)):
        x = minigrad.randn(*size, 4)
        (found,) = run(written.path, {"x": x})
        np.testing.assert_allclose(found, model(x).numpy(), rtol=1e-5, atol=1e-5)


def counting(m: Any, x: Tensor) -> Tensor:
    with minigrad.no_grad():
        m.count += 1
    return x * m.count


def test_a_state_that_lives_longer_than_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="the model writes to count"):
        export(Model(counting), minigrad.randn(2, 5, 4), tmp_path / "m.onnx")
    model = Model(lambda m, x: (assign(m.count, x[0, 0], "count"), x + m.count)[1])
    assert export(model, minigrad.randn(2, 5, 4), tmp_path / "m.onnx").difference == 0
