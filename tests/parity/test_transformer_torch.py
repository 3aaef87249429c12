"""Encoders, decoders and whole transformers against PyTorch, loaded from its state dicts."""

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
