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
STACKS = {
    "TransformerDecoder": lambda: (nn.TransformerDecoderLayer(4, 2), 2),
    "TransformerEncoder": lambda: (nn.TransformerEncoderLayer(4, 2), 2),
}
"""Those whose arguments are layers."""
OF_EINOPS = ("EinMix", "Rearrange", "Reduce")

LAYERS = [
    pytest.param(name, marks=layer_table.needs_of(name))
    for name in sorted(nn.__all__)
    if inspect.isclass(getattr(nn, name)) and issubclass(getattr(nn, name), nn.Module)
]


def arguments(name: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if name in STACKS:
        return STACKS[name](), {}
    line = FIRST.get(name, layer_table.layer(name))
    return line.sizes, line.options


def made(name: str, **options: Any) -> Any:
    sizes, needed = arguments(name)
    return getattr(nn, name)(*sizes, **needed, **options)


@pytest.mark.parametrize("name", LAYERS)
def test_an_unknown_keyword_is_reported_in_the_layers_own_name(name: str) -> None:
    error = Exception if name in OF_EINOPS else TypeError  # there, keywords are lengths of axes
    own = getattr(nn, name).__name__  # Swish is SiLU
    with pytest.raises(error, match=f"(?s)^{own}:.*wrong_one"):
        made(name, wrong_one=1)


def test_an_argument_too_many_or_few_is_reported_in_the_layers_own_name() -> None:
    class Mine(nn.BatchNorm1d):
        def __init__(self) -> None:
            super().__init__(3, wrong_one=1)  # type: ignore[call-arg]

    for call, message in (
        (lambda: nn.BatchNorm1d(), "BatchNorm1d: missing a required argument: 'num_features'"),
        (lambda: nn.ReLU(1, 2, 3), "ReLU: too many positional arguments"),
        (lambda: nn.Linear(3, 4)(), "Linear: missing a required argument: 'input_'; forward takes"),
        (lambda: nn.Linear(3, 4)(minigrad.ones(3), 1), "Linear: too many positional arguments"),
        (Mine, "BatchNorm1d: got an unexpected keyword argument 'wrong_one'"),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
            call()


@pytest.mark.parametrize("name", [p for p in LAYERS if p.values[0] not in OF_EINOPS])
def test_the_device_may_be_the_cpu(name: str) -> None:
    assert repr(made(name, device="cpu")) == repr(made(name))
    with pytest.raises(ValueError, match="minigrad runs on the CPU"):
        made(name, device="cuda")


PASS_ANYTHING = {"Identity", "Sequential"}
HAVE_NO_FORWARD = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
TAKE_A_NUMBER = {
    "CELU", "ELU", "GELU", "HardSigmoid", "HardSwish", "LeakyReLU", "LogSoftmax", "Mish", "ReLU",
    "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softplus", "Swish", "Tanh", "Dropout",
    "Embedding", "Hardtanh", "LogSigmoid", "Softsign",
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

    with pytest.raises(ValueError, match="of the model's own"):
        Model()(minigrad.ones(3))
    with pytest.raises(ValueError, match="of the model's own"):
        Model()(minigrad.ones(3), None)
    with pytest.raises(ValueError, match="of the model's own"):
        Model()([minigrad.ones(3)])
    with pytest.raises(TypeError, match="Model: x .*Tensor.* str"):
        Model()("text")


NUMBERS = [float("nan"), float("inf"), -float("inf"), -1, -0.5, None, "x", 1j]
MEANT: dict[tuple[str, str], Any] = {
    # any slope and any curve is one
    ("ELU", "alpha"): (-1, -0.5),
    ("LeakyReLU", "negative_slope"): (-1, -0.5),
    ("PReLU", "init"): (-1, -0.5),
    ("Hardtanh", "min_val"): (-1, -0.5),
    ("Hardtanh", "max_val"): (-1, -0.5),
    ("ZeroPad1d", "padding"): (-1,),  # removes elements
    ("ZeroPad2d", "padding"): (-1,),
    ("ConstantPad1d", "padding"): (-1,),
    ("ConstantPad2d", "padding"): (-1,),
    ("EmbeddingBag", "padding_idx"): (-1,),
    ("EmbeddingBag", "norm_type"): (float("inf"),),
    ("MarginRankingLoss", "margin"): (-1, -0.5),
    ("CosineEmbeddingLoss", "margin"): (-1, -0.5),
    ("TripletMarginLoss", "p"): (float("inf"),),
    # counted from the end
    ("Flatten", "start_axis"): (-1,),
    ("Flatten", "end_axis"): (-1,),
    ("LogSoftmax", "axis"): (-1,),
    ("GLU", "axis"): (-1,),
    ("CosineSimilarity", "axis"): (-1,),
    ("Softmax", "axis"): (-1,),
    ("Softplus", "beta"): (-1, -0.5),
    ("Unflatten", "axis"): (-1,),
    ("Embedding", "padding_idx"): (-1,),
    ("Embedding", "norm_type"): (float("inf"),),  # the largest absolute value
    ("ScaledDotProductAttention", "scale"): (-1, -0.5),
    ("CrossEntropyLoss", "ignore_index"): (-1,),
    ("NLLLoss", "ignore_index"): (-1,),
}
"""Odd numbers that mean something. None does where the annotation says so."""


def options() -> Iterator[tuple[str, str, Any]]:
    for param in LAYERS:
        name = str(param.values[0])
        for option in inspect.signature(getattr(nn, name)).parameters.values():
            kind = str(option.annotation)
            if option.kind is option.VAR_KEYWORD or not re.match(
                r"(int|float|Count|NonNegative|NormType|Positive|Probability|Sizes)\b", kind
            ):
                continue
            for value in NUMBERS:
                meant = value is None and "None" in kind
                if not meant and not any(
                    value is m or value == m for m in MEANT.get((name, option.name), ())
                ):
                    yield name, option.name, value


@pytest.mark.parametrize("name", LAYERS)
def test_a_number_without_sense_is_refused_where_it_is_given(name: str) -> None:
    kind, (sizes, needed) = getattr(nn, name), arguments(name)
    accepted = []
    for _, option, value in [case for case in options() if case[0] == name]:
        bound = inspect.signature(kind).bind_partial(*sizes, **needed)
        bound.arguments[option] = value
        try:
            kind(*bound.args, **bound.kwargs)
        except (TypeError, ValueError) as error:
            owner, *_ = str(error).partition(":")
            spoken = option if owner == name else "must be"  # a part speaks for itself
            assert hasattr(nn, owner), f"{option}={value}: {error}"
            assert spoken in str(error), f"{option}={value}: {error}"
        else:
            accepted.append((option, value))
    assert not accepted
    for owner, option in MEANT:
        if owner == name:
            for value in MEANT[owner, option]:
                bound = inspect.signature(kind).bind_partial(*sizes, **needed)
                bound.arguments[option] = value
                kind(*bound.args, **bound.kwargs)


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


FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "functional.batch_norm": (weight(),),
    "functional.cosine_similarity": (weight(), weight()),
    "functional.cosine_embedding_loss": (weight(), weight(), [1, -1]),
    "functional.cross_entropy": (weight(), [0, 1]),
    "functional.drop_path": (weight(),),
    "functional.dropout": (weight(),),
    "functional.dropout1d": (weight(),),
    "functional.dropout2d": (weight()[None, None],),
    "functional.celu": (weight(),),
    "functional.elu": (weight(),),
    "functional.embedding": ([1], weight()),
    "functional.embedding_bag": ([[1]], weight()),
    "functional.gaussian_nll_loss": (weight(), weight(), weight()),
    "functional.group_norm": (weight(), 1),
    "functional.gumbel_softmax": (weight(),),
    "functional.hardtanh": (weight(),),
    "functional.huber_loss": (weight(), weight()),
    "functional.instance_norm": (weight()[None],),
    "functional.layer_norm": (weight(), 2),
    "functional.leaky_relu": (weight(),),
    "functional.margin_ranking_loss": (weight(), weight(), weight()),
    "functional.normalize": (weight(),),
    "functional.pairwise_distance": (weight(), weight()),
    "functional.rms_norm": (weight(), 2),
    "functional.rotary_pos_embedding": (weight(),),
    "functional.smooth_l1_loss": (weight(), weight()),
    "functional.triplet_margin_loss": (weight(), weight(), weight()),
    "init.calculate_gain": ("leaky_relu",),
    "init.kaiming_normal": (weight(),),
    "init.kaiming_uniform": (weight(),),
    "init.normal": (weight(),),
    "init.orthogonal": (weight(),),
    "init.sparse": (weight(), 0.5),
    "init.trunc_normal": (weight(),),
    "init.uniform": (weight(),),
    "init.xavier_normal": (weight(),),
    "init.xavier_uniform": (weight(),),
    "utils.clip_grad_norm": (gradient(), 1.0),
    "utils.clip_grad_value": (gradient(), 1.0),
    "utils.get_total_norm": (gradient(),),
    "utils.grad_norm": (gradient(),),
    "utils.spectral_norm": (nn.Linear(2, 2),),
}
ELSEWHERE = {
    "init.constant": "fills with any number, NaN too",
    "functional.pad": "writes any number, -inf too",
    "functional.softplus": "an op, with the number as its argument",
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


MEANT_BY_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "elu.alpha": (-1, -0.5), "leaky_relu.negative_slope": (-1, -0.5), "uniform.a": (-1, -0.5),
    "normal.mean": (-1, -0.5), "trunc_normal.mean": (-1, -0.5), "trunc_normal.a": (-1, -0.5),
    "trunc_normal.b": (-1, -0.5), "orthogonal.gain": (-1, -0.5),
    "calculate_gain.param": (-1, -0.5), "kaiming_normal.a": (-1, -0.5),
    "kaiming_uniform.a": (-1, -0.5), "embedding.norm_type": (float("inf"),),
    "embedding_bag.norm_type": (float("inf"),),
    "clip_grad_norm.max_norm": (float("inf"),), "clip_grad_norm.norm_type": (float("inf"),),
    "clip_grad_value.clip_value": (float("inf"),), "get_total_norm.norm_type": (float("inf"),),
    "grad_norm.norm_type": (float("inf"),), "normalize.p": (float("inf"),),
    "pairwise_distance.p": (float("inf"),), "triplet_margin_loss.p": (float("inf"),),
    "hardtanh.min_val": (-1, -0.5), "hardtanh.max_val": (-1, -0.5),
    "cosine_embedding_loss.margin": (-1, -0.5), "margin_ranking_loss.margin": (-1, -0.5),
}  # fmt: skip


@pytest.mark.parametrize("path", FUNCTIONS)
def test_a_function_refuses_a_number_without_sense(path: str) -> None:
    part, _, name = path.partition(".")
    function = getattr(getattr(nn, part), name)
    others = {"max_norm": 1.0} if name.startswith("embedding") else {}
    if path.startswith("init.kaiming"):
        others["nonlinearity"] = "leaky_relu"
    accepted = []
    for option in inspect.signature(function).parameters.values():
        if not str(option.annotation).startswith("float"):
            continue
        meant = MEANT_BY_FUNCTIONS.get(f"{name}.{option.name}", ())
        for value in NUMBERS:
            if value in meant or (value is None and "None" in str(option.annotation)):
                continue
            bound = inspect.signature(function).bind_partial(*FUNCTIONS[path], **others)
            bound.arguments[option.name] = value
            try:
                function(*bound.args, **bound.kwargs)
            except ValueError as error:
                assert re.match(r"\w+: \w+ must be ", str(error)), f"{option.name}={value}: {error}"
            else:
                accepted.append((option.name, value))
    assert not accepted
