"""Every layer: what its constructor and its call refuse, in the layer's own name."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import layer_table
import numpy as np
import pytest

import minigrad
from minigrad import nn

FIRST = {line.kind: line for line in reversed(layer_table.LAYERS)}
"""A way to make each layer that needs arguments."""
OF_EINOPS = ("EinMix", "Rearrange", "Reduce")

OWNERS = dict.fromkeys(("UpsamplingBilinear2d", "UpsamplingNearest2d"), "Upsampling.*")
LAYERS = [
    pytest.param(name, marks=layer_table.needs_of(name))
    for name in sorted(nn.__all__)
    if inspect.isclass(getattr(nn, name)) and issubclass(getattr(nn, name), nn.Module)
]


def arguments(name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    line = FIRST.get(name, layer_table.layer(name))
    return tuple(map(layer_table.made, line.sizes)), line.options


def made(name: str, **options: Any) -> Any:
    sizes, needed = arguments(name)
    return getattr(nn, name)(*sizes, **{**needed, **options})


@pytest.mark.parametrize("name", [p for p in LAYERS if p.values[0] != "Identity"])
def test_an_unknown_keyword_is_reported_in_the_layers_own_name(name: str) -> None:
    error = Exception if name in OF_EINOPS else TypeError  # there, keywords are lengths of axes
    own = OWNERS.get(name, getattr(nn, name).__name__)  # Swish is SiLU
    with pytest.raises(error, match=f"(?s)^{own}:.*wrong_one"):
        made(name, wrong_one=1)


def test_an_argument_too_many_or_few_is_reported_in_the_layers_own_name() -> None:
    class Mine(nn.BatchNorm1d):
        def __init__(self) -> None:
            super().__init__(3, wrong_one=1)  # type: ignore[call-arg]

    for call, message in (
        (lambda: nn.BatchNorm1d(), "BatchNorm1d: missing a required argument: 'num_features'"),
        (lambda: nn.ReLU(True, 2, 3), "ReLU: too many positional arguments"),
        (lambda: nn.Linear(3, 4)(), "Linear: missing a required argument: 'input'; forward takes"),
        (lambda: nn.Linear(3, 4)(minigrad.ones(3), 1), "Linear: too many positional arguments"),
        (Mine, "BatchNorm1d: got an unexpected keyword argument 'wrong_one'"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
            call()


@pytest.mark.parametrize("name", [p for p in LAYERS if p.values[0] not in (*OF_EINOPS, "Identity")])
def test_the_device_may_be_the_cpu(name: str) -> None:
    assert repr(made(name, device="cpu")) == repr(made(name))
    with pytest.raises(ValueError, match="minigrad runs on the CPU"):
        made(name, device="cuda")


PASS_ANYTHING = {"Identity", "Sequential"}
HAVE_NO_FORWARD = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
TAKE_A_NUMBER = {
    "CELU", "Dropout", "ELU", "Embedding", "GELU", "Hardshrink", "Hardsigmoid",
    "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax", "Mish", "RReLU", "ReLU",
    "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softplus", "Softshrink", "Softsign",
    "Swish", "Tanh", "Tanhshrink",
}  # fmt: skip
"""Layers to which a number is a tensor without axes."""
WITH_AN_INPUT = [p for p in LAYERS if p.values[0] not in PASS_ANYTHING | HAVE_NO_FORWARD]


@pytest.mark.parametrize("name", WITH_AN_INPUT)
@pytest.mark.parametrize("wrong", [None, 1, "x", [1.0, 2.0]], ids=repr)
def test_what_is_no_tensor_is_reported_in_the_layers_own_name(name: str, wrong: Any) -> None:
    layer = made(name)
    name = type(layer).__name__
    wanted = inspect.signature(layer.forward).parameters.values()
    given = [wrong for p in wanted if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    if name in TAKE_A_NUMBER and isinstance(wrong, (int, list)):
        array = wrong if name == "Embedding" or wrong == 1 else np.asarray(wrong, np.float32)
        if np.asarray(array).dtype.kind != "f" or name != "Embedding":
            layer(array)
            return
    with pytest.raises(TypeError, match=rf"^{name}: \w+ .*Tensor.* {type(wrong).__name__}"):
        layer(*given)


def test_an_error_within_a_model_keeps_its_own_words() -> None:
    class Model(nn.Module):
        def forward(self, x: minigrad.Tensor, mask: minigrad.Tensor = None) -> Any:  # type: ignore
            raise ValueError("of the model's own")

    for given in ((minigrad.ones(3),), (minigrad.ones(3), None), ([minigrad.ones(3)],)):
        with pytest.raises(ValueError, match="of the model's own"):
            Model()(*given)
    with pytest.raises(TypeError, match="Model: x .*Tensor.* str"):
        Model()("text")


NUMBERS = [float("nan"), float("inf"), -float("inf"), -1, -0.5, None, "x", 1j]
NEGATIVE, INFINITE = (-1, -0.5), (float("inf"),)
MEANT = {
    # any slope and any curve is one
    **dict.fromkeys([
        "ELU.alpha", "LeakyReLU.negative_slope", "PReLU.init", "Hardtanh.min_val",
        "Hardtanh.max_val", "MarginRankingLoss.margin", "CosineEmbeddingLoss.margin",
        "Hardtanh.min_value", "Hardtanh.max_value", "Softplus.beta", "Softplus.threshold",
        "Threshold.threshold", "Threshold.value", "Hardshrink.lambd", "RReLU.lower", "RReLU.upper",
        "HingeEmbeddingLoss.margin", "MultiMarginLoss.margin", "LocalResponseNorm.alpha",
        "LocalResponseNorm.beta", "LocalResponseNorm.k", "PairwiseDistance.eps",
        "TripletMarginWithDistanceLoss.margin", "PoissonNLLLoss.eps",
        "ScaledDotProductAttention.scale",
    ], NEGATIVE),
    # removes elements, or is counted from the end
    **dict.fromkeys([
        "ZeroPad1d.padding", "ZeroPad2d.padding", "ConstantPad1d.padding", "ConstantPad2d.padding",
        "EmbeddingBag.padding_idx", "Flatten.start_dim", "Flatten.end_dim", "LogSoftmax.dim",
        "GLU.dim", "CosineSimilarity.dim", "Softmax.dim", "Softmin.dim", "Unflatten.dim",
        "Embedding.padding_idx", "CrossEntropyLoss.ignore_index", "NLLLoss.ignore_index",
    ], (-1,)),
    # the largest absolute value
    **dict.fromkeys(["EmbeddingBag.norm_type", "Embedding.norm_type", "TripletMarginLoss.p",
                     "PairwiseDistance.p", "LPPool1d.norm_type", "LPPool2d.norm_type"],
                    INFINITE),
}  # fmt: skip
"""Odd numbers that mean something. None does where the annotation says so."""


NUMERIC = re.compile(r"(int|float|Count|NonNegative|NormType|Positive|Probability|Sizes)\b")


def called(function: Any, sizes: Any, needed: Any, option: str, value: Any) -> None:
    bound = inspect.signature(function).bind_partial(*sizes, **needed)
    bound.arguments[option] = value
    function(*bound.args, **bound.kwargs)


def errors(
    function: Any, sizes: Any, needed: Any, meant: Any, numeric: Any = NUMERIC,
    error: Any = (TypeError, ValueError),
) -> Iterator[tuple[str, str, str]]:  # fmt: skip
    """For each odd value of each number: what and the error, which there must be."""
    for option in inspect.signature(function).parameters.values():
        kind = str(option.annotation)
        if option.kind is option.VAR_KEYWORD or not numeric.match(kind):
            continue
        for value in NUMBERS:
            if value in meant(option.name):
                called(function, sizes, needed, option.name, value)
            if value in meant(option.name) or (value is None and "None" in kind):
                continue
            with pytest.raises(error) as caught:  # noqa: PT012  # it says which
                called(function, sizes, needed, option.name, value)
                pytest.fail(f"{option.name}={value} is taken")
            yield option.name, f"{option.name}={value}: {caught.value}", str(caught.value)


@pytest.mark.parametrize("name", LAYERS)
def test_a_number_without_sense_is_refused_where_it_is_given(name: str) -> None:
    meant = lambda option: MEANT.get(f"{name}.{option}", ())
    for option, which, text in errors(getattr(nn, name), *arguments(name), meant):
        owner, *_ = text.partition(":")
        assert hasattr(nn, owner), which
        assert (option if owner == name else "must be") in text, which  # a part speaks for itself


def test_a_flag_is_true_or_false() -> None:
    """The word "False" counts as true."""
    for name, option in (("Linear", "bias"), ("Conv2d", "bias"), ("LSTM", "bidirectional")):
        for value in ("False", 0.5, float("nan"), 2):
            with pytest.raises(TypeError, match=f"{name}: {option} .*True or False"):
                made(name, **{option: value})
    assert nn.Linear(3, 4, bias=np.bool_(False)).bias is None  # type: ignore[arg-type]


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
    **functions("functional", "alpha_dropout drop_path dropout dropout1d celu elu gumbel_softmax "
                "hardshrink hardtanh leaky_relu normalize rotary_pos_embedding softshrink", W),
    "functional.rrelu": (W, -9.0, 9.0),
    **functions("functional", "cosine_similarity hinge_embedding_loss huber_loss pairwise_distance "
                "poisson_nll_loss smooth_l1_loss", W, W),
    **functions("functional", "gaussian_nll_loss margin_ranking_loss triplet_margin_loss "
                "triplet_margin_with_distance_loss", W, W, W),
    "functional.batch_norm": (W, None, None, None, None, True),
    "functional.local_response_norm": (IMAGES, 2),
    "functional.lp_pool1d": (IMAGES[0], 2.0, 2),
    "functional.lp_pool2d": (IMAGES, 2.0, 2),
    "functional.multi_margin_loss": (W, [0, 1]),
    **functions("functional", "layer_norm rms_norm", W, 2),
    "functional.cosine_embedding_loss": (W, W, [1, -1]),
    "functional.cross_entropy": (W, [0, 1]),
    "functional.dropout2d": (IMAGES,),
    "functional.embedding": ([1], weight()),
    "functional.embedding_bag": ([[1]], weight()),
    "functional.group_norm": (W, 1),
    "functional.instance_norm": (W[None],),
    **functions("init", "kaiming_normal kaiming_normal_ kaiming_uniform kaiming_uniform_ normal "
                "normal_ orthogonal orthogonal_ trunc_normal trunc_normal_ uniform uniform_ "
                "xavier_normal xavier_normal_ xavier_uniform xavier_uniform_", weight()),
    "init.calculate_gain": ("leaky_relu",),
    **functions("init", "sparse sparse_", weight(), 0.5),
    **functions("utils", "clip_grad_norm clip_grad_norm_ clip_grad_value clip_grad_value_",
                gradient(), 1.0),
    "utils.clip_grads_with_norm_": (gradient(), 1.0, 5.0),
    **functions("utils", "get_total_norm grad_norm", gradient()),
    "utils.spectral_norm": (nn.Linear(2, 2),),
}  # fmt: skip
ELSEWHERE = {
    "init.constant": "fills with any number, NaN too",
    "init.constant_": "fills with any number, NaN too",
    "functional.pad": "writes any number, -inf too",
    "functional.softplus": "an op, with the number as its argument",
    "functional.pdist": "an op of norms, with the number as its argument",
    "functional.threshold": "writes any number, -inf too",
    **{
        f"functional.{name}_": "as the function without _"
        for name in ("celu", "elu", "hardtanh", "leaky_relu", "rrelu", "threshold")
    },
    "functional.apply_attention_mask": "writes any number, -inf too",
    "functional.scaled_dot_product_attention": "an op, with the scale as its argument",
}


def test_every_function_with_a_number_is_walked() -> None:
    found = set()
    for part in ("functional", "init", "utils"):
        room = getattr(nn, part)
        for name in room.__all__:
            parameters = inspect.signature(getattr(room, name)).parameters.values()
            if any(str(p.annotation).startswith("float") for p in parameters):
                found.add(f"{part}.{name}")
    assert found == FUNCTIONS.keys() | ELSEWHERE.keys()


MEANT_BY_FUNCTIONS = {
    **dict.fromkeys([
        "elu.alpha", "leaky_relu.negative_slope", "uniform.a", "normal.mean", "trunc_normal.mean",
        "trunc_normal.a", "trunc_normal.b", "orthogonal.gain", "calculate_gain.param",
        "kaiming_normal.a", "kaiming_uniform.a", "uniform_.a", "normal_.mean", "trunc_normal_.mean",
        "trunc_normal_.a", "trunc_normal_.b", "orthogonal_.gain", "kaiming_normal_.a",
        "kaiming_uniform_.a", "hardtanh.min_val", "hardtanh.max_val",
        "cosine_embedding_loss.margin", "margin_ranking_loss.margin", "hardshrink.lambd",
        "hinge_embedding_loss.margin", "multi_margin_loss.margin", "rrelu.lower", "rrelu.upper",
        "gumbel_softmax.eps",
    ], NEGATIVE),
    **dict.fromkeys([
        "embedding.norm_type", "embedding_bag.norm_type", "clip_grad_norm.max_norm",
        "clip_grad_norm.norm_type", "clip_grad_value.clip_value", "clip_grad_norm_.max_norm",
        "clip_grad_norm_.norm_type", "clip_grad_value_.clip_value",
        "clip_grads_with_norm_.max_norm", "get_total_norm.norm_type",
        "grad_norm.norm_type", "normalize.p", "pairwise_distance.p", "triplet_margin_loss.p",
    ], INFINITE),
}  # fmt: skip


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_function_refuses_a_number_without_sense(path: str) -> None:
    part, _, name = path.partition(".")
    function = getattr(getattr(nn, part), name)
    others = {"max_norm": 1.0} if name.startswith("embedding") else {}
    if path.startswith("init.kaiming"):
        others["nonlinearity"] = "leaky_relu"
    meant = lambda option: MEANT_BY_FUNCTIONS.get(f"{name}.{option}", ())
    for _, which, text in errors(
        function, FUNCTIONS[path], others, meant, re.compile("float"), ValueError
    ):
        assert re.match(r"\w+: \w+ must be ", text), which
