"""Attention, encoders, decoders and whole transformers beside PyTorch, in values and gradients."""

from typing import Any

import numpy as np
import pytest
from side_by_side import compare, draw, randomise, torch

from minigrad import nn

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")

N, H, T, S, E = 2, 2, 4, 5, 6
SHAPES = {"src": (S, S), "tgt": (T, T), "mem": (T, S)}
PADDING = np.array([[0, 0, 0, 1, 0], [0, 1, 1, 0, 0]], bool)
KINDS = ["none", "bool", "float", "padding", "causal", "all"]


def masks_of(role: str, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Masks, and the same for PyTorch, whose bool masks say True where a key is hidden."""
    shape, name, padding = SHAPES[role], f"{role}_mask", f"{role}_key_padding_mask"
    keep = (draw(*shape) > -0.3) | (np.arange(shape[1]) == 0)
    causal, hidden = np.tri(*shape, dtype=bool), {padding: PADDING[:, : shape[1]]}
    pairs: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "none": ({}, {}),
        "bool": ({name: keep}, {name: ~keep}),
        "float": ({name: draw(*shape)}, {name: draw(*shape)}),
        "padding": (hidden, hidden),
        "causal": ({f"{role}_is_causal": True}, {name: ~causal}),
        "all": (
            {name: keep, f"{role}_is_causal": True, **hidden}, {name: ~(keep & causal), **hidden}
        ),
    }  # fmt: skip
    ours, theirs = pairs[kind]
    return ours, {k.replace("mem", "memory"): torch.tensor(v) for k, v in theirs.items()}


def layers(part: str, options: dict[str, Any]) -> tuple[Any, Any]:
    """A layer of an encoder or decoder: ours, and PyTorch's."""
    name = f"Transformer{part}Layer"
    return (
        getattr(nn, name)(E, H, 8, 0.0, **options),
        getattr(torch.nn, name)(E, H, 8, 0.0, batch_first=True, **options),
    )


def stacks(part: str, options: dict[str, Any], norm: bool = True) -> tuple[Any, Any]:
    ours, theirs = layers(part, options)
    name, more = f"Transformer{part}", {"enable_nested_tensor": False} if part == "Encoder" else {}
    return (
        getattr(nn, name)(ours, 2, nn.LayerNorm(E) if norm else None),
        getattr(torch.nn, name)(theirs, 2, torch.nn.LayerNorm(E) if norm else None, **more),
    )


MODELS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "encoder layer": (lambda options: layers("Encoder", options), ("src",)),
    "encoder": (lambda options: stacks("Encoder", options), ("src",)),
    "decoder layer": (lambda options: layers("Decoder", options), ("tgt", "mem")),
    "decoder": (lambda options: stacks("Decoder", options), ("tgt", "mem")),
    "decoder without a norm": (lambda options: stacks("Decoder", options, False), ("tgt", "mem")),
    "transformer": (
        lambda options: (
            nn.Transformer(E, H, 2, 3, 8, 0.0, **options),
            torch.nn.Transformer(E, H, 2, 3, 8, 0.0, batch_first=True, **options),
        ),
        ("src", "tgt", "mem"),
    ),
}


def check(name: str, ours: Any, theirs: Any, masks: Any, dtype: Any = np.float64) -> None:
    given, expected = masks
    shapes = [(N, S, E)] if "encoder" in name else [(N, T, E), (N, S, E)]
    if name == "transformer":
        shapes = shapes[::-1]
    if "encoder" in name:
        given = {k.replace("src_is", "is"): v for k, v in given.items()}
    if name == "encoder":
        expected = {k.replace("src_mask", "mask"): v for k, v in expected.items()}
    compare(
        ours.to(dtype), randomise(theirs).to(getattr(torch, np.dtype(dtype).name)),
        [draw(*shape).astype(dtype) for shape in shapes], lambda *x: ours(*x, **given),
        lambda *x: theirs(*x, **expected), 1e-9 if dtype is np.float64 else 5e-5,
    )  # fmt: skip


OTHER = {"norm_first": True, "activation": "gelu", "bias": False, "layer_norm_eps": 1e-2}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "role"), [(name, role) for name, (_, roles) in MODELS.items() for role in roles]
)
def test_masks(name: str, role: str, kind: str) -> None:
    check(name, *MODELS[name][0]({}), masks_of(role, kind))


@pytest.mark.parametrize("options", [{"norm_first": True}, OTHER], ids=["pre", "other"])
@pytest.mark.parametrize("name", MODELS)
def test_options(name: str, options: Any) -> None:
    build, roles = MODELS[name]
    check(name, *build(options), masks_of(roles[-1], "all"))


@pytest.mark.parametrize("name", MODELS)
def test_float32(name: str) -> None:
    check(name, *MODELS[name][0]({}), ({}, {}), np.float32)


ACTIVATIONS = [
    (nn.SiLU(), torch.nn.functional.silu),
    (nn.GELU("tanh"), torch.nn.GELU("tanh")),
    ("tanh", torch.tanh),
    (nn.functional.sigmoid, torch.sigmoid),
]


@pytest.mark.parametrize(
    ("mine", "other"), ACTIVATIONS, ids=["module", "module with an option", "name", "function"]
)
def test_activations(mine: Any, other: Any) -> None:
    ours = nn.TransformerEncoderLayer(E, H, 8, 0.0, mine)
    theirs = torch.nn.TransformerEncoderLayer(E, H, 8, 0.0, other, batch_first=True)
    check("encoder layer", ours, theirs, ({}, {}))


# Attention -------------------------------------------------------------------------------------


ATTENTION: dict[str, dict[str, Any]] = {
    "plain": {},
    "no bias": {"bias": False},
    "bias_kv": {"add_bias_kv": True},
    "zero_attn": {"add_zero_attn": True},
    "bias_kv, zero_attn": {"add_bias_kv": True, "add_zero_attn": True},
    "kdim, vdim": {"kdim": 3, "vdim": 4},
    "all": {"add_bias_kv": True, "add_zero_attn": True, "kdim": 3, "vdim": 4, "bias": False},
}
options = pytest.mark.parametrize("options", ATTENTION.values(), ids=ATTENTION)


def attend(
    options: Any, mask: Any = None, padding: Any = None, causal: bool = False, weights: bool = True
) -> None:
    """Compare attention. PyTorch's mask has the opposite meaning where it is bool, and one shape
    per head: it gets floats that say the same.
    """
    theirs = randomise(torch.nn.MultiheadAttention(E, H, batch_first=True, **options))
    ours = nn.MultiHeadAttention(E, H, **options).double()
    inputs = [draw(N, T, E), draw(N, S, ours.kdim), draw(N, S, ours.vdim)]
    inputs += [mask] if mask is not None and mask.dtype == float else []

    def run_ours(q: Any, k: Any, v: Any, bias: Any = mask) -> Any:
        return ours(q, k, v, padding, bias, causal, need_weights=weights)

    def run_theirs(q: Any, k: Any, v: Any, bias: Any = None) -> Any:
        hidden = ~np.tri(T, S, dtype=bool) if causal else np.zeros((T, S), bool)
        if bias is None:
            bias = torch.zeros(N, H, T, S).double()
            hidden = hidden if mask is None else hidden | ~mask
        given = bias.masked_fill(torch.tensor(hidden), -torch.inf).reshape(N * H, T, S)
        keys = torch.tensor(np.zeros((N, S), bool) if padding is None else padding)
        keys = torch.zeros(N, S).double().masked_fill(keys, -torch.inf)
        output, shares = theirs(q, k, v, keys, attn_mask=given, average_attn_weights=False)
        return (output, shares) if weights else output

    compare(ours, theirs, inputs, run_ours, run_theirs)


@options
@pytest.mark.parametrize("need_weights", [False, True])
def test_options_and_masks_of_keys(options: Any, need_weights: bool) -> None:
    attend(options, None, None, False, need_weights)
    attend(options, None, PADDING, not need_weights, need_weights)


@options
@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("rest", [(None, False), (PADDING, True)], ids=["alone", "with the others"])
def test_options_and_masks_of_pairs(options: Any, kind: str, rest: Any) -> None:
    """Everybody may attend to key 0."""
    mask = draw(N, H, T, S)
    attend(options, (mask > -0.3) | (np.arange(S) == 0) if kind == "bool" else mask, *rest)
