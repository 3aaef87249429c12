"""`minigrad.lucid` means what Lucid 3 means: where that differs from PyTorch, and what is refused.

Lucid 3 runs on macOS only; its answers are those of its signatures and docstrings, by NumPy.
"""

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
from minigrad.lucid.absent import ABSENT

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
    "max": (lambda x: Lucid.max(x, dim=1), X.max(1)),
    "max of several axes": (lambda x: Lucid.max(x, dim=(0, 1), keepdim=True), [[5.0]]),
    "min": (lambda x: Lucid.min(x, 0), X.min(0)),
    "max of all": (lambda x: Lucid.max(x), 5.0),
    "argmax is of the last axis": (lambda x: Lucid.argmax(x), X.argmax(-1)),
    "argmin": (lambda x: Lucid.argmin(x, dim=0, keepdim=True), X.argmin(0)[None]),
    "sort": (lambda x: Lucid.sort(x), np.sort(X)),
    "kthvalue": (lambda x: Lucid.kthvalue(x, 2), [2.0, 4.0]),
    "cumsum": (lambda x: Lucid.cumsum(x), X.cumsum(-1)),
    "cumprod": (lambda x: Lucid.cumprod(x), X.cumprod(-1)),
    "cummax": (lambda x: Lucid.cummax(x), np.maximum.accumulate(X, -1)),
    "cummin": (lambda x: Lucid.cummin(x, 0), np.minimum.accumulate(X, 0)),
    "var, whose third is keepdim": (
        lambda x: Lucid.var(x, 1, True), X.var(1, ddof=1, keepdims=True)),
    "std": (lambda x: Lucid.std(x, 0, correction=0), X.std(0)),
    "std of a population": (lambda x: Lucid.std(x, dim=1, unbiased=False), X.std(1)),
    "var_mean": (lambda x: Lucid.var_mean(x, 1, 0, True)[0], X.var(1, keepdims=True)),
    "std_mean": (lambda x: Lucid.std_mean(x, 1, 0)[1], X.mean(1)),
    "gather": (lambda x: Lucid.gather(x, lucid.tensor([[2, 0], [1, 1]]), dim=1), [[2, 3], [5, 5]]),
    "scatter": (
        lambda x: Lucid.scatter(x, 1, lucid.tensor([[0], [2]]), lucid.ones(2, 1), "add"),
        X + np.array([[1, 0, 0], [0, 0, 1]])),
    "take": (lambda x: Lucid.take(x, indices=lucid.tensor([4])), [5.0]),
    "transpose reverses": (lambda x: Lucid.transpose(BOX), SQUARE.T),
    "flatten": (lambda x: Lucid.flatten(BOX, start_axis=1, end_axis=2), SQUARE.reshape(2, 9)),
    "diagonal": (lambda x: Lucid.diagonal(BOX), np.diagonal(SQUARE, 0, -2, -1)),
    "tril": (lambda x: Lucid.tril(x, k=-1), np.tril(X, -1)),
    "triu": (lambda x: Lucid.triu(x, k=1), np.triu(X, 1)),
    "tile": (lambda x: Lucid.tile(x, reps=(2, 1)), np.tile(X, (2, 1))),
    "broadcast_to": (lambda x: Lucid.broadcast_to(x, shape=(2, 2, 3)), np.stack([X, X])),
    "expand": (lambda x: Lucid.expand(x, 2, -1, -1), np.stack([X, X])),
    "view": (lambda x: Lucid.view(x, 3, 2), X.reshape(3, 2)),
    "repeat repeats each": (lambda x: Lucid.repeat(x, 2), np.repeat(X, 2, 0)),
    "pad": (lambda x: Lucid.pad(x, padding=(1, 0), value=7.0), np.insert(X, 0, 7.0, axis=1)),
    "F.pad": (lambda x: F.pad(x, (1, 0), value=7.0), np.insert(X, 0, 7.0, axis=1)),
    "equal is elementwise": (lambda x: Lucid.equal(x, x), np.ones_like(X, bool)),
    "where": (lambda x: Lucid.where(cond=x > 2, x=x, y=0.0), np.where(X > 2, X, 0)),
    "softmax": (lambda x: Lucid.softmax(x), np.exp(X) / np.exp(X).sum(-1, keepdims=True)),
    "softmax of a box": (
        lambda x: Lucid.softmax(BOX)[0, 0], np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()),
    "F.softmax is of the last axis": (
        lambda x: F.softmax(x=BOX)[0, 0], np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()),
    "F.softmin": (lambda x: F.softmin(-BOX)[0, 0], np.exp([0, 1, 2]) / np.exp([0, 1, 2]).sum()),
    "LogSoftmax": (
        lambda x: nn.LogSoftmax()(BOX)[0, 0], [0, 1, 2] - np.log(np.exp([0, 1, 2]).sum())),
    "logsumexp": (lambda x: Lucid.logsumexp(x), np.log(np.exp(X).sum())),
    "searchsorted": (lambda x: Lucid.searchsorted(EDGES, values=EDGES[1:], right=True), [2]),
    "bucketize": (lambda x: Lucid.bucketize(EDGES[1:], EDGES), [1]),
    "cov": (lambda x: Lucid.cov(x, 0), np.cov(X, ddof=0)),
    "addcmul": (lambda x: Lucid.addcmul(x, t1=x, t2=x, value=2.0), X + 2 * X * X),
    "addcdiv": (lambda x: Lucid.addcdiv(x, x, t2=x + 1), X + X / (X + 1)),
    "relu by keyword": (lambda x: F.relu(x=x - 2), np.maximum(X - 2, 0)),
    "gelu by keyword": (lambda x: F.gelu(x=x * 0), X * 0),
    "F.rms_norm": (lambda x: F.rms_norm(x * 1e-5, (3,))[0, 0], 3e-5 / (14e-10 / 3 + 1e-8) ** 0.5),
    "RMSNorm": (lambda x: nn.RMSNorm(3)(x * 1e-5)[0, 0], 3e-5 / (14e-10 / 3 + 1e-8) ** 0.5),
    "F.bilinear": (lambda x: F.bilinear(x1=x, x2=x, weight=lucid.ones(1, 3, 3)),
                   X.sum(1, keepdims=True) ** 2),
    "F.gumbel_softmax": (lambda x: F.gumbel_softmax(x, 1.0, True, 0).sum(0), np.ones(3)),
    "bernoulli of a number": (lambda x: Lucid.bernoulli(1.0, size=(2, 2)), np.ones((2, 2))),
    "normal": (lambda x: Lucid.normal(3.0, 0.0, size=(2, 2)), np.full((2, 2), 3.0)),
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
LOG_ODDS, SIGNS = lucid.tensor(2.0), lucid.tensor([1.0, -1.0])
LX, LY = lucid.tensor(X), lucid.tensor(Y)
ALIKE = (X * Y).sum(1) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))
LOSSES: list[tuple[str, str, Any, Any, Any, Any]] = [
    # the function, the layer, what both are called with, options of both, and what they give
    ("mse_loss", "MSELoss", (LX, LY), ("sum",), ("sum",), ((X - Y) ** 2).sum()),
    ("l1_loss", "L1Loss", (LX, LY), ("none",), ("none",), abs(X - Y)),
    ("smooth_l1_loss", "SmoothL1Loss", (LX, LY), (9.0, "sum"), ("sum", 9.0),
     ((X - Y) ** 2 / 18).sum()),
    ("huber_loss", "HuberLoss", (LX, LY), (9.0, "sum"), ("sum", 9.0), ((X - Y) ** 2 / 2).sum()),
    ("cross_entropy", "CrossEntropyLoss", (LX, CLASSES), (None, 1, "sum"), (None, 1, "sum"),
     np.log(np.exp(X[0] - 3).sum())),
    ("nll_loss", "NLLLoss", (LX, CLASSES), (None, 1, "sum"), (None, 1, "sum"), -3.0),
    ("kl_div", "KLDivLoss", (LX, LY), (None, "sum"), ("sum",),
     (Y * (np.log(np.where(Y > 0, Y, 1)) - X)).sum()),
    ("binary_cross_entropy", "BCELoss", (LY * 0.5 + 0.2, LY), (None, "sum"), (None, "sum"),
     -(Y * np.log(Y * 0.5 + 0.2) + (1 - Y) * np.log(0.8 - Y * 0.5)).sum()),
    ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss", (LX, LY), (None, LOG_ODDS, "sum"),
     (None, "sum", LOG_ODDS), (2 * Y * np.log1p(np.exp(-X)) + (1 - Y) * np.log1p(np.exp(X))).sum()),
    ("triplet_margin_loss", "TripletMarginLoss", (LX, LY, LX), (1.0, 1.0, 1e-6, False, "none"),
     (1.0, 1.0, 1e-6, False, "none"), abs(X - Y + 1e-6).sum(1) + 1.0 - 3e-6),
    ("margin_ranking_loss", "MarginRankingLoss", (LX[:, 0], LY[:, 0], SIGNS), (0.5, "none"),
     (0.5, "none"), np.maximum(0, -np.array([1, -1]) * (X[:, 0] - Y[:, 0]) + 0.5)),
    ("cosine_embedding_loss", "CosineEmbeddingLoss", (LX, LY, SIGNS), (0.5, "sum"), (0.5, "sum"),
     1 - ALIKE[0] + max(0.0, ALIKE[1] - 0.5)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "layer", "tensors", "given", "made", "wanted"), LOSSES)
def test_losses(name: str, layer: str, tensors: Any, given: Any, made: Any, wanted: Any) -> None:
    for found in (getattr(F, name)(*tensors, *given), getattr(nn, layer)(*made)(*tensors)):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4)


def test_keywords_and_layers_of_losses() -> None:
    found = F.margin_ranking_loss(x1=LX[:, 0], x2=LY[:, 0], y=SIGNS, margin=0.5, reduction="none")
    assert found.shape == (2,)
    loss = nn.GaussianNLLLoss(False, 1e-6, "none")(LX, LY, lucid.ones(2, 3))
    np.testing.assert_allclose(loss.numpy(), (X - Y) ** 2 / 2, rtol=1e-5)


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


def test_names_without_the_last_underscore() -> None:
    for module, name in (
        (nn.utils, "clip_grad_norm"), (nn.init, "kaiming_uniform"), (nn.init, "kaiming_normal"),
        (nn.init, "normal"), (nn.init, "xavier_uniform"), (nn.init, "constant"),
    ):  # fmt: skip
        assert getattr(module, name) is getattr(module, f"{name}_"), name
    assert optim.StepLR is optim.lr_scheduler.StepLR


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
    plateau = optim.ReduceLROnPlateau(optimizer, "min", 0.1, 0, False, 0.0)
    plateau.step(1.0)
    plateau.step(2.0)
    np.testing.assert_allclose(optimizer.param_groups[0]["lr"], 0.1)
    cyclic = optim.CyclicLR(optim.SGD([weight], 0.1), 0.1, 0.5, 2, "triangular")
    cyclic.step()
    np.testing.assert_allclose(cyclic.get_last_lr(), [0.3])
    with pytest.raises(NotImplementedError, match="eta_min=0.1 .*ends at 0"):
        optim.PolynomialLR(optimizer, eta_min=0.1)


SCHEDULES: list[tuple[str, tuple[Any, ...], float]] = [
    ("StepLR", (1, 0.5, -1), 0.5), ("MultiStepLR", ([1], 0.5, -1), 0.5),
    ("ExponentialLR", (0.5, -1), 0.5), ("CosineAnnealingLR", (2, 0.0, -1), 0.5),
    ("CosineAnnealingWarmRestarts", (2, 1, 0.0, -1), 0.5),
    ("LambdaLR", (lambda n: 0.5**n, -1), 0.5), ("MultiplicativeLR", (lambda n: 0.5, -1), 0.5),
    ("LinearLR", (0.5, 1.0, 2, -1), 0.75), ("ConstantLR", (0.5, 2, -1), 0.5),
    ("PolynomialLR", (2, 1.0, 0.0, -1), 0.5), ("NoamScheduler", (4, 1, -1), 2**-1.5),
    ("CyclicLR", (0.1, 0.5, 2, "triangular", 1.0, -1), 0.3),
    ("OneCycleLR", (1.0, 4, 0.5, "cos", 25.0, 1e4, -1), 1.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "rate"), SCHEDULES)
def test_schedules_take_verbose_last(name: str, given: tuple[Any, ...], rate: float) -> None:
    for last, named in (((), {}), ((True,), {}), ((), {"verbose": True})):
        optimizer = optim.SGD([nn.Parameter(lucid.ones(2))], 1.0)
        schedule = getattr(optim.lr_scheduler, name)(optimizer, *given, *last, **named)
        optimizer.step()
        schedule.step()
        np.testing.assert_allclose(optimizer.param_groups[0]["lr"], rate, rtol=1e-6)
    optimizer = optim.SGD([nn.Parameter(lucid.ones(2))], 1.0)
    assert optim.StepLR(optimizer=optimizer, step_size=2).gamma == 0.1


def test_there_is_one_tensor_and_one_module() -> None:
    assert lucid.Tensor is minigrad.Tensor
    layer = nn.RMSNorm(3)
    assert isinstance(layer, nn.Module)
    model = nn.Sequential(nn.Linear(3, 4), torch.nn.ReLU(), nn.Softmax())
    assert isinstance(model, nn.Module)
    assert model(lucid.ones(2, 3)).shape == (2, 4)
    assert type(pickle.loads(pickle.dumps(layer))) is nn.RMSNorm
    assert F.relu.__doc__ == torch.nn.functional.relu.__doc__


PAGE = (Path(__file__).parents[2] / "docs/from_lucid3.md").read_text(encoding="utf-8")
METHODS = re.findall(r"^\| `x\.(\w+)\(", PAGE, flags=re.MULTILINE)


def test_the_page_lists_the_methods_that_differ() -> None:
    """They are minigrad's; the function of the same name is Lucid's."""
    assert len(METHODS) == len({*METHODS}) == 26
    for name in METHODS:
        assert callable(getattr(lucid.Tensor, name)), name
        own = getattr(lucid, name) is not getattr(lucid.Tensor, name)
        assert own or name == "logsumexp", name  # which means the same here


@pytest.mark.needs("safetensors")
def test_files(tmp_path: Path) -> None:
    state = nn.Linear(2, 3).state_dict()
    lucid.save_safetensors(state, tmp_path / "w.safetensors")
    lucid.save(state, tmp_path / "w.pt")
    loaded = lucid.load_safetensors(tmp_path / "w.safetensors"), lucid.load(tmp_path / "w.pt")
    for found in loaded:
        np.testing.assert_array_equal(found["weight"].numpy(), state["weight"].numpy())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Lucid.diffeq, "minigrad.lucid has no 'diffeq': it is Lucid 3's own"),
        (lambda: Lucid.stft, "minigrad.lucid has no 'stft': there is no Fourier transform"),
        (lambda: Lucid.imag, "minigrad.lucid has no 'imag': there are no complex numbers"),
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


def test_nothing_that_is_here_is_called_absent() -> None:
    modules = (lucid, nn, F, nn.init, nn.utils, optim, Lucid.utils)
    assert not [n for n in ABSENT if any(n in vars(module) for module in modules)]


def test_the_gpu_is_refused() -> None:
    with pytest.raises(ValueError, match="CPU"):
        lucid.set_default_device("metal")
    with pytest.raises(ValueError, match="CPU"):
        lucid.zeros(2, device="metal")
    lucid.set_default_device("cpu")
    with pytest.raises(ValueError, match="CPU"):
        lucid.load_safetensors("w.safetensors", device="metal")
    with pytest.raises(NotImplementedError, match="metadata=.* tensors only"):
        lucid.save_safetensors({}, "w.safetensors", metadata={"format": "pt"})
