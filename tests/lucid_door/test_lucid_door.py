"""`minigrad.lucid` means what Lucid 3 means: where that differs from PyTorch, and what is refused.

Lucid 3 runs on macOS only; its answers are those of its signatures and docstrings, by NumPy.
"""

from __future__ import annotations

import importlib
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
import minigrad.lucid as lucid
from minigrad import torch as torch_door

Lucid: Any = lucid
torch: Any = torch_door
nn: Any = importlib.import_module("minigrad.lucid.nn")
F: Any = importlib.import_module("minigrad.lucid.nn.functional")
optim: Any = importlib.import_module("minigrad.lucid.optim")
X = np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]], np.float32)
SQUARE = np.arange(18.0, dtype=np.float32).reshape(2, 3, 3)
BOX, EDGES, CLASSES = Lucid.tensor(SQUARE), Lucid.tensor([1.0, 2.0]), Lucid.tensor([0, 1])


@pytest.mark.needs("einops")
def test_every_public_name_is_here_or_refused_in_a_sentence() -> None:
    """The names of Lucid 3.8's ``__all__``."""
    here, refused, path = 0, 0, ""
    for line in (Path(__file__).parent / "public_names.txt").read_text().splitlines():
        if line.startswith("["):
            path = f"minigrad.{line[1:-1]}"
            continue
        for name in line.split():
            try:
                getattr(importlib.import_module(path), name)
                here += 1
            except AttributeError as error:
                assert re.match(rf"{re.escape(path)} has no '{name}': \w.*\w", str(error))
                refused += 1
            except ModuleNotFoundError as error:
                assert error.name == path
                refused += 1
    assert here > 600
    assert here + refused > 900


VALUES: dict[str, tuple[Any, Any]] = {
    "max": (lambda x: x.max(dim=1), X.max(1)),
    "max of several axes": (lambda x: lucid.max(x, dim=(0, 1), keepdim=True), [[5.0]]),
    "min": (lambda x: Lucid.min(x, 0), X.min(0)),
    "max of all": (lambda x: x.max(), 5.0),
    "argmax is of the last axis": (lambda x: x.argmax(), X.argmax(-1)),
    "argmin": (lambda x: Lucid.argmin(x, dim=0, keepdim=True), X.argmin(0)[None]),
    "sort": (lambda x: Lucid.sort(x), np.sort(X)),
    "kthvalue": (lambda x: x.kthvalue(2), [2.0, 4.0]),
    "cumsum": (lambda x: x.cumsum(), X.cumsum(-1)),
    "cumprod": (lambda x: Lucid.cumprod(x), X.cumprod(-1)),
    "cummax": (lambda x: x.cummax(), np.maximum.accumulate(X, -1)),
    "var, whose third is keepdim": (lambda x: x.var(1, True), X.var(1, ddof=1, keepdims=True)),
    "std": (lambda x: Lucid.std(x, 0, correction=0), X.std(0)),
    "std of a population": (lambda x: x.std(dim=1, unbiased=False), X.std(1)),
    "var_mean": (lambda x: Lucid.var_mean(x, 1, 0, True)[0], X.var(1, keepdims=True)),
    "gather": (lambda x: x.gather(lucid.tensor([[2, 0], [1, 1]]), dim=1), [[2, 3], [5, 5]]),
    "scatter": (
        lambda x: x.scatter(1, lucid.tensor([[0], [2]]), lucid.ones(2, 1), reduce="add"),
        X + np.array([[1, 0, 0], [0, 0, 1]])),
    "transpose reverses": (lambda x: Lucid.transpose(BOX), SQUARE.T),
    "flatten": (lambda x: BOX.flatten(start_axis=1, end_axis=2), SQUARE.reshape(2, 9)),
    "diagonal": (lambda x: BOX.diagonal(), np.diagonal(SQUARE, 0, -2, -1)),
    "tril": (lambda x: Lucid.tril(x, k=-1), np.tril(X, -1)),
    "triu": (lambda x: x.triu(k=1), np.triu(X, 1)),
    "tile": (lambda x: Lucid.tile(x, reps=(2, 1)), np.tile(X, (2, 1))),
    "repeat as a function": (lambda x: Lucid.repeat(x, 2), np.repeat(X, 2, 0)),
    "repeat as a method": (lambda x: x.repeat(2, 1), np.tile(X, (2, 1))),
    "pad": (lambda x: Lucid.pad(x, (1, 0), value=7.0), np.insert(X, 0, 7.0, axis=1)),
    "equal is elementwise": (lambda x: Lucid.equal(x, x), np.ones_like(X, bool)),
    "where": (lambda x: Lucid.where(cond=x > 2, x=x, y=0.0), np.where(X > 2, X, 0)),
    "softmax": (lambda x: x.softmax(), np.exp(X) / np.exp(X).sum(-1, keepdims=True)),
    "F.softmax is of the last axis": (
        lambda x: F.softmax(BOX)[0, 0], np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()),
    "logsumexp": (lambda x: x.logsumexp(), np.log(np.exp(X).sum())),
    "searchsorted": (lambda x: Lucid.searchsorted(EDGES, EDGES[1:], right=True), [2]),
    "bucketize": (lambda x: Lucid.bucketize(EDGES[1:], EDGES), [1]),
    "addcmul": (lambda x: Lucid.addcmul(x, t1=x, t2=x, value=2.0), X + 2 * X * X),
    "relu by keyword": (lambda x: F.relu(x=x - 2), np.maximum(X - 2, 0)),
    "F.rms_norm": (lambda x: F.rms_norm(x * 1e-5, (3,))[0, 0], 3e-5 / (14e-10 / 3 + 1e-8) ** 0.5),
    "RMSNorm": (lambda x: nn.RMSNorm(3)(x * 1e-5)[0, 0], 3e-5 / (14e-10 / 3 + 1e-8) ** 0.5),
    "bernoulli of a number": (lambda x: Lucid.bernoulli(1.0, size=(2, 2)), np.ones((2, 2))),
    "einsum": (lambda x: Lucid.einops.einsum("ij,kj->ik", x, x), X @ X.T),
}  # fmt: skip


@pytest.mark.needs("einops")
@pytest.mark.parametrize("name", VALUES)
def test_lucids_own_meaning(name: str) -> None:
    call, wanted = VALUES[name]
    found = call(lucid.tensor(X))
    assert type(found) is lucid.Tensor
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5, atol=1e-6)


Y = np.array([[1.0, 1.0, 0.0], [0.5, 0.0, 1.0]], np.float32)
LOG_ODDS = lucid.tensor(2.0)
LOSSES: list[tuple[Any, Any, Any, Any]] = [
    ("mse_loss", "MSELoss", ("sum",), ((X - Y) ** 2).sum()),
    ("l1_loss", "L1Loss", ("none",), abs(X - Y)),
    ("smooth_l1_loss", "SmoothL1Loss", (9.0, "sum"), ((X - Y) ** 2 / 18).sum()),
    ("huber_loss", "HuberLoss", (9.0, "sum"), ((X - Y) ** 2 / 2).sum()),
    ("cross_entropy", "CrossEntropyLoss", (None, 1, "sum"), np.log(np.exp(X[0] - 3).sum())),
    ("nll_loss", "NLLLoss", (None, 1, "sum"), -3.0),
    ("binary_cross_entropy", "BCELoss", (None, "sum"),
     -(Y * np.log(Y * 0.5 + 0.2) + (1 - Y) * np.log(0.8 - Y * 0.5)).sum()),
    ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss", (None, LOG_ODDS, "sum"),
     (2 * Y * np.log1p(np.exp(-X)) + (1 - Y) * np.log1p(np.exp(X))).sum()),
]  # fmt: skip
OTHER_ORDER = {"SmoothL1Loss": ("sum", 9.0), "HuberLoss": ("sum", 9.0)}
OTHER_ORDER["BCEWithLogitsLoss"] = (None, "sum", LOG_ODDS)  # type: ignore[assignment]
"""Layers whose arguments have another order than those of the function."""


@pytest.mark.parametrize(("function", "layer", "given", "wanted"), LOSSES)
def test_losses_have_no_arguments_before_the_reduction(
    function: str, layer: str, given: Any, wanted: Any
) -> None:
    x, y = lucid.tensor(X), lucid.tensor(Y)
    if function in ("cross_entropy", "nll_loss"):
        y = CLASSES
    if function == "binary_cross_entropy":
        x = y * 0.5 + 0.2
    made = getattr(nn, layer)(*OTHER_ORDER.get(layer, given))
    for found in (getattr(F, function)(x, y, *given), made(x, y)):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)


def test_pooling_has_return_indices_before_ceil_mode() -> None:
    image = lucid.tensor(SQUARE[None])
    for found in (F.max_pool2d(image, 2, 1, 0, 1, True), nn.MaxPool2d(2, 1, 0, 1, True)(image)):
        assert len(found) == 2
        assert found[1].shape == (1, 2, 2, 2)
    assert nn.MaxPool2d(2, 2, 0, 1, False, True)(image).shape == (1, 2, 2, 2)


def test_transformer_layers() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, 0.25, "gelu", True)
    assert layer.self_attn.dropout == 0.25
    assert layer.dropout1.p == 0.0
    x = lucid.randn(3, 5, 8)
    assert layer(x).shape == (3, 5, 8)
    other = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", batch_first=True)
    other.load_state_dict(layer.state_dict())
    hidden = lucid.ones(5, 5).triu(1).bool()  # True: masked out
    layer.eval(), other.eval()
    found, wanted = layer(x, hidden), other(x, hidden)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)
    model = nn.Transformer(8, 2, 1, 1, 16, 0.0, 0.5, batch_first=True)
    assert model.decoder.layers[0].multihead_attn.dropout == 0.5


def test_attention_refuses_caches_and_groups() -> None:
    attention, x = nn.MultiheadAttention(8, 2), lucid.randn(5, 1, 8)
    output, weights = attention(x, x, x)
    assert output.shape == (5, 1, 8)
    assert weights.shape == (1, 5, 5)
    with pytest.raises(NotImplementedError, match=r"past_key_value=.* kv_cache="):
        attention(x, x, x, past_key_value=minigrad.nn.DynamicKVCache())
    with pytest.raises(NotImplementedError, match=r"use_cache=True .* kv_cache="):
        attention(x, x, x, use_cache=True)
    with pytest.raises(NotImplementedError, match=r"num_kv_heads=1 .*MultiHeadAttention"):
        nn.MultiheadAttention(8, 2, num_kv_heads=1)


def test_optimizers_and_schedules() -> None:
    weight = nn.Parameter(lucid.ones(2))
    group = optim.SGD([weight], 0.1, 0.9, 0.5, 0.01).param_groups[0]
    assert [group[k] for k in ("momentum", "dampening", "weight_decay")] == [0.9, 0.5, 0.01]
    with pytest.raises(TypeError, match="lr"):
        optim.SGD([weight])
    assert optim.LBFGS([weight]).param_groups[0]["line_search_fn"] == "strong_wolfe"
    optimizer = optim.Adam([weight], lr=1.0)
    schedule = optim.StepLR(optimizer, 1, 0.5, verbose=True)
    assert isinstance(schedule, minigrad.optim.lr_scheduler.StepLR)
    assert optim.lr_scheduler.StepLR is optim.StepLR
    plateau = optim.ReduceLROnPlateau(optimizer, "min", 0.1, 0, False, 0.0)
    plateau.step(1.0)
    plateau.step(2.0)
    np.testing.assert_allclose(optimizer.param_groups[0]["lr"], 0.1)
    cyclic = optim.CyclicLR(optim.SGD([weight], 0.1), 0.1, 0.5, 2, "triangular")
    cyclic.step()
    np.testing.assert_allclose(cyclic.get_last_lr(), [0.3])
    with pytest.raises(NotImplementedError, match="eta_min"):
        optim.PolynomialLR(optimizer, eta_min=0.1)


def test_all_tensors_are_lucids() -> None:
    """Of creation, ops, layers, gradients, loaders, buffers, hooks, and of other worlds."""
    x = lucid.randn(4, 3)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), torch.nn.Linear(4, 2))
    model.append(minigrad.nn.Linear(2, 1))
    seen: list[Any] = []
    out = model(x)
    out.register_hook(seen.append)
    out.sum().backward()
    (slope,) = Lucid.autograd.grad((x.requires_grad_() ** 2).sum(), x)
    batch = next(iter(Lucid.utils.data.DataLoader(Lucid.utils.data.TensorDataset(x.detach()))))
    made = (out, *seen, slope, batch[0], x.new_zeros(2), x.data, x.clone(), minigrad.ones(3) + x)
    made += (model[0].weight.grad, model[0].weight * 2, F.relu(minigrad.ones(2)), x.split(2)[0])
    for tensor in made:
        assert type(tensor) is lucid.Tensor, tensor
    for parameter in model.parameters():
        assert type(parameter) is nn.Parameter
        assert isinstance(parameter, lucid.Tensor)
    assert all(type(buffer) is lucid.Tensor for buffer in model.buffers())
    assert all(isinstance(module, nn.Module) for module in model.modules())
    assert model[0].weight.max(dim=1).shape == (4,)
    assert type(pickle.loads(pickle.dumps(model))[0]) is nn.Linear
    assert type(minigrad.ones(2) + 1) is minigrad.Tensor
    assert type(torch.ones(2)) is torch.Tensor


def test_a_function_of_ones_own() -> None:
    class Double(Lucid.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            assert all(type(t) is lucid.Tensor for t in (grad, *ctx.saved_tensors))
            return grad * 2

    x = lucid.ones(3).requires_grad_()
    out = Double.apply(x)
    out.sum().backward()
    assert type(out) is lucid.Tensor
    assert x.grad.tolist() == [2.0] * 3


@pytest.mark.needs("safetensors")
def test_files(tmp_path: Path) -> None:
    state = nn.Linear(2, 3).state_dict()
    lucid.save_safetensors(state, tmp_path / "w.safetensors")
    lucid.save(state, tmp_path / "w.pt")
    loaded = lucid.load_safetensors(tmp_path / "w.safetensors"), lucid.load(tmp_path / "w.pt")
    for found in loaded:
        np.testing.assert_array_equal(found["weight"].numpy(), state["weight"].numpy())
        assert type(found["weight"]) is lucid.Tensor


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Lucid.diffeq, "minigrad.lucid has no 'diffeq': it is Lucid 3's own"),
        (lambda: Lucid.fft, "minigrad.lucid has no 'fft': there are no complex numbers"),
        (lambda: Lucid.metal, "minigrad.lucid has no 'metal': "),
        (lambda: Lucid.nowhere, "minigrad.lucid has no 'nowhere': "),
        (lambda: nn.LazyConv3d, "minigrad.lucid.nn has no 'LazyConv3d': no layer has three"),
        (lambda: nn.GroupedQueryAttention, "minigrad.nn.MultiHeadAttention"),
        (lambda: F.conv3d, "minigrad.lucid.nn.functional has no 'conv3d': no layer has three"),
    ],
)
def test_what_is_not_here_says_why(call: Any, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        call()


def test_the_gpu_is_refused() -> None:
    with pytest.raises(RuntimeError, match="minigrad runs on the CPU"):
        lucid.ones(2).metal()
    with pytest.raises(ValueError, match="CPU"):
        lucid.set_default_device("metal")
    with pytest.raises(ValueError, match="CPU"):
        lucid.zeros(2, device="metal")
    lucid.set_default_device("cpu")
    assert not lucid.ones(2).is_metal


def test_a_model_trains_as_in_pytorchs_door() -> None:
    """The ported GPT-2, written for Lucid 3, through both doors from the same random numbers."""
    source = (Path(__file__).parents[1] / "ported/models/gpt2_lucid3.py").read_text()
    losses = []
    for door in ("lucid", "torch"):
        text = re.sub(r"^import lucid$", f"import minigrad.{door} as lucid", source, flags=re.M)
        text = re.sub(r"^(import|from) lucid\.", rf"\1 minigrad.{door}.", text, flags=re.M)
        own: dict[str, Any] = {"__name__": "gpt2"}
        exec(text, own)
        minigrad.random.seed(0)
        losses.append(trained(own, np.random.default_rng(0)))
    assert losses[0] == losses[1]
    assert losses[0][-1] < losses[0][0]


def trained(own: dict[str, Any], numbers: np.random.Generator) -> list[float]:
    """The losses of some steps."""
    model = own["build"]()
    optimizer = own["optim"].AdamW(model.parameters(), lr=5e-3)
    ids = own["lucid"].tensor(own["draw"](numbers)[0])
    found = []
    for _ in range(5):
        loss = own["F"].cross_entropy(model(ids)[:, :-1].reshape(-1, 17), ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found
