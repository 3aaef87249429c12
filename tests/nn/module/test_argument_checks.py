"""What layers and functions refuse: calls with the wrong arguments, numbers without sense."""

import inspect
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn

LAYERS = [
    nn.Linear(3, 4), nn.Conv2d(3, 4, 2), nn.LSTM(3, 4), nn.LayerNorm(3), nn.MaxPool1d(2),
    nn.TransformerEncoderLayer(4, 2), nn.PReLU(), nn.BatchNorm1d(3), nn.ZeroPad1d(1), nn.GELU(),
]  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
@pytest.mark.parametrize("wrong", [None, "x", [1.0, 2.0]], ids=repr)
def test_what_is_not_a_tensor_is_named(layer: nn.Module, wrong: Any) -> None:
    if isinstance(layer, nn.GELU | nn.Linear) and isinstance(wrong, list):
        return  # an op takes it
    name, came = type(layer).__name__, type(wrong).__name__
    with pytest.raises(TypeError, match=f"^{name}: the input must be a Tensor, got {came}"):
        layer(wrong)


def test_a_model_keeps_its_own_words() -> None:
    class Model(nn.Module):
        def forward(self, x: Any) -> Any:
            raise TypeError("of the model's own")

    for model in (Model(), nn.Sequential(Model())):
        with pytest.raises(TypeError, match="^of the model's own"):
            model(["a list"])


def test_a_constructor_may_be_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """What recipes do that skip the initialization (issue 45)."""
    plain = nn.Linear.__init__

    def wrapped(self: Any, *args: Any, **options: Any) -> None:
        plain(self, *args, **options)
        self.weight.data = minigrad.zeros(self.weight.shape)

    monkeypatch.setattr(nn.Linear, "__init__", wrapped)
    assert not nn.TransformerEncoderLayer(4, 2).linear1.weight.any()
    with pytest.raises(ValueError, match="Linear: in_features .*0"):
        nn.Linear(0, 3)


NUMBERS = [float("nan"), float("inf"), -float("inf"), -1, -0.5, None, "x", 1j]
NEGATIVE, INFINITE = (-1, -0.5), (float("inf"),)


def test_a_flag_may_be_numpys() -> None:
    assert nn.Linear(3, 4, bias=np.bool_(False)).bias is None


def weight() -> Any:
    return minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])


def gradient() -> Any:
    x = minigrad.tensor([3.0, 4.0], requires_grad=True)
    (x * x).sum().backward()
    return [x]


def functions(room: str, names: str, *arguments: Any) -> dict[str, tuple[Any, ...]]:
    return {f"{room}.{name}": arguments for name in names.split()}


W, IMAGES = weight(), weight()[None, None]
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    **functions("functional", "alpha_dropout drop_path dropout dropout1d celu normalize "
                "rotary_pos_embedding softshrink", W),
    **functions("functional", "cosine_similarity huber_loss pairwise_distance "
                "poisson_nll_loss smooth_l1_loss", W, W),
    **functions("functional", "gaussian_nll_loss triplet_margin_loss "
                "triplet_margin_with_distance_loss", W, W, W),
    "functional.batch_norm": (W, None, None, None, None, True),
    "functional.local_response_norm": (IMAGES, 2),
    "functional.lp_pool1d": (IMAGES[0], 2.0, 2),
    "functional.lp_pool2d": (IMAGES, 2.0, 2),
    **functions("functional", "layer_norm rms_norm", W, 2),
    "functional.cosine_embedding_loss": (W, W, [1, -1]),
    "functional.cross_entropy": (W, [0, 1]),
    "functional.dropout2d": (IMAGES,),
    "functional.embedding": ([1], weight()),
    "functional.embedding_bag": ([[1]], weight()),
    "functional.group_norm": (W, 1),
    "functional.instance_norm": (W[None],),
    **functions("init", "kaiming_normal kaiming_uniform normal orthogonal trunc_normal uniform "
                "xavier_normal xavier_uniform", weight()),
    "init.calculate_gain": ("leaky_relu",),
    "init.sparse": (weight(), 0.5),
    **functions("utils", "clip_grad_norm clip_grad_value", gradient(), 1.0),
    "utils.clip_grads_with_norm": (gradient(), 1.0, 5.0),
    **functions("utils", "get_total_norm grad_norm", gradient()),
    "utils.spectral_norm": (nn.Linear(2, 2),),
}  # fmt: skip
"""Each stands for the one with _ behind it, too."""
ANY_NUMBER = (
    "elu", "gumbel_softmax", "hardshrink", "hardtanh", "leaky_relu", "rrelu", "margin_ranking_loss",
    "hinge_embedding_loss", "multi_margin_loss",
)  # fmt: skip
ELSEWHERE = {
    **{f"functional.{name}": "NaN gives NaN" for name in ANY_NUMBER},
    "init.constant": "fills with any number, NaN too",
    "functional.pad": "writes any number, -inf too",
    "functional.softplus": "an op, with the number as its argument",
    "functional.pdist": "an op of norms, with the number as its argument",
    "functional.threshold": "writes any number, -inf too",
    "functional.apply_attention_mask": "writes any number, -inf too",
    "functional.scaled_dot_product_attention": "an op, with the scale as its argument",
}


def numbers_of(path: str) -> list[inspect.Parameter]:
    """The arguments of a function that are numbers."""
    part, _, name = path.partition(".")
    options = inspect.signature(getattr(getattr(nn, part), name)).parameters.values()
    return [option for option in options if str(option.annotation).startswith("float")]


WALKED = [
    path for part in ("functional", "init", "utils")
    for path in (f"{part}.{name}" for name in getattr(nn, part).__all__)
    if numbers_of(path) and path.rstrip("_") not in ELSEWHERE
]  # fmt: skip
MEANT_BY_FUNCTIONS = {
    **dict.fromkeys([
        "uniform.a", "normal.mean", "trunc_normal.mean", "trunc_normal.a", "trunc_normal.b",
        "orthogonal.gain", "calculate_gain.param", "kaiming_normal.a", "kaiming_uniform.a",
        "cosine_embedding_loss.margin",
    ], NEGATIVE),
    **dict.fromkeys([
        "embedding.norm_type", "embedding_bag.norm_type", "clip_grad_norm.max_norm",
        "clip_grad_norm.norm_type", "clip_grad_value.clip_value", "clip_grads_with_norm.max_norm",
        "get_total_norm.norm_type", "grad_norm.norm_type", "normalize.p", "pairwise_distance.p",
        "triplet_margin_loss.p",
    ], INFINITE),
}  # fmt: skip


@pytest.mark.parametrize("path", WALKED)
def test_a_function_refuses_a_number_without_sense(path: str) -> None:
    part, _, name = path.partition(".")
    function, plain = getattr(getattr(nn, part), name), name.rstrip("_")
    others = {"max_norm": 1.0} if name.startswith("embedding") else {}
    if path.startswith("init.kaiming"):
        others["nonlinearity"] = "leaky_relu"
    for option in numbers_of(path):
        meant = MEANT_BY_FUNCTIONS.get(f"{plain}.{option.name}", ())
        for value in NUMBERS:
            given = FUNCTIONS[f"{part}.{plain}"]
            bound = inspect.signature(function).bind_partial(*given, **others)
            bound.arguments[option.name] = value
            if value in meant:
                function(*bound.args, **bound.kwargs)
            elif value is not None or "None" not in str(option.annotation):
                with pytest.raises(ValueError, match=r"^\w+: \w+ must be "):  # noqa: PT012  # it says which
                    function(*bound.args, **bound.kwargs)
                    pytest.fail(f"{option.name}={value} is taken")
