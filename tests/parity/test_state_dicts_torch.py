"""State dicts go from PyTorch to minigrad and back: every layer that both have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, compare, draw, torch

from minigrad import Tensor, nn

THEIR_NAMES = {
    "MultiHeadAttention": "MultiheadAttention",
    "HardSwish": "Hardswish",
    "HardSigmoid": "Hardsigmoid",
}
NOT_LAYERS = {"Module", "ModuleDict", "ModuleList", "Parameter"}

STACK = {"num_layers": 2, "bidirectional": True}
WINDOW = {"kernel_size": 3, "stride": 2, "groups": 2}
LAYERS: list[tuple[str, tuple[Any, ...], dict[str, Any], list[tuple[int, ...]]]] = [
    ("Linear", (4, 3), {}, [(2, 4)]),
    ("Linear", (4, 3), {"bias": False}, [(2, 4)]),
    ("Embedding", (5, 3), {"padding_idx": 1}, []),
    ("EmbeddingBag", (5, 3), {"mode": "sum"}, []),
    ("LayerNorm", ((3, 4),), {}, [(2, 3, 4)]),
    ("LayerNorm", (4,), {"bias": False}, [(2, 4)]),
    ("RMSNorm", (4,), {}, [(2, 4)]),
    ("BatchNorm1d", (3,), {}, [(4, 3, 5)]),
    ("BatchNorm1d", (3,), {"affine": False}, [(4, 3)]),
    ("BatchNorm2d", (3,), {"momentum": None}, [(2, 3, 4, 5)]),
    ("GroupNorm", (2, 4), {}, [(2, 4, 3)]),
    ("InstanceNorm1d", (3,), {"affine": True}, [(4, 3, 5)]),
    ("InstanceNorm2d", (3,), {"track_running_stats": True}, [(2, 3, 4, 5)]),
    ("PReLU", (3,), {}, [(4, 3)]),
    ("Bilinear", (3, 4, 2), {}, [(5, 3), (5, 4)]),
    ("Conv1d", (4, 6), WINDOW, [(2, 4, 9)]),
    ("Conv2d", (4, 6), WINDOW | {"bias": False}, [(2, 4, 7, 9)]),
    ("ConvTranspose1d", (4, 6), WINDOW, [(2, 4, 5)]),
    ("ConvTranspose2d", (4, 6), WINDOW, [(2, 4, 3, 5)]),
    ("RNN", (3, 4), STACK, [(5, 2, 3)]),
    ("LSTM", (3, 4), STACK, [(5, 2, 3)]),
    ("GRU", (3, 4), STACK | {"bias": False}, [(5, 2, 3)]),
    ("RNNCell", (3, 4), {}, [(2, 3)]),
    ("LSTMCell", (3, 4), {}, [(2, 3)]),
    ("GRUCell", (3, 4), {"bias": False}, [(2, 3)]),
    ("MultiHeadAttention", (6, 2), {}, [(2, 4, 6), (2, 5, 6), (2, 5, 6)]),
    ("MultiHeadAttention", (6, 2), {"bias": False}, [(2, 4, 6), (2, 5, 6), (2, 5, 6)]),
    ("MultiHeadAttention", (6, 2), {"kdim": 3, "vdim": 4, "add_bias_kv": True},
     [(2, 4, 6), (2, 5, 3), (2, 5, 4)]),
    ("MultiHeadAttention", (6, 2), {"vdim": 4}, [(2, 4, 6), (2, 5, 6), (2, 5, 4)]),
    ("TransformerEncoderLayer", (6, 2, 8), {"norm_first": True}, [(2, 4, 6)]),
    ("TransformerDecoderLayer", (6, 2, 8), {"bias": False}, [(2, 4, 6), (2, 5, 6)]),
    ("Transformer", (6, 2, 2, 2, 8), {}, [(2, 4, 6), (2, 5, 6)]),
]  # fmt: skip
BATCH_FIRST = ("RNN", "LSTM", "GRU", "MultiHeadAttention", "Transformer")


def both(name: str, sizes: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Our layer, and two of PyTorch's with other weights, in evaluation mode and float64."""
    batch_first = name in BATCH_FIRST or name.startswith("Transformer")
    there = options | ({"batch_first": True} if batch_first else {})
    here = options | ({"batch_first": True} if name in BATCH_FIRST[:3] else {})
    kind = getattr(torch.nn, THEIR_NAMES.get(name, name))
    ours = getattr(nn, name)(*sizes, **here).double().eval()
    first, second = (shaken(kind(*sizes, **there).double().eval(), seed) for seed in (0, 1))
    return ours, first, second


def shaken(module: Any, seed: int) -> Any:
    """A PyTorch module whose every parameter and buffer depends on the seed."""
    generator = torch.Generator().manual_seed(seed)
    state = module.state_dict()
    for name, tensor in state.items():
        drawn = torch.rand(tensor.shape, generator=generator, dtype=torch.float64) + 0.1
        state[name] = drawn.to(tensor.dtype) if tensor.is_floating_point() else tensor + 3 + seed
    module.load_state_dict(state)
    return module


def outputs(result: Any) -> list[Any]:
    """Every tensor of a nested result."""
    if isinstance(result, tuple):
        return [tensor for part in result for tensor in outputs(part)]
    return [] if result is None else [result]


CASES = [pytest.param(*case, id=f"{case[0]}-{case[2]}") for case in LAYERS]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # PyTorch, of its own speed
@pytest.mark.parametrize(("name", "sizes", "options", "shapes"), CASES)
def test_there_and_back(
    name: str, sizes: tuple[Any, ...], options: dict[str, Any], shapes: list[tuple[int, ...]]
) -> None:
    ours, first, second = both(name, sizes, options)
    assert not any(ours.load_state_dict(first.state_dict()))
    state = nn.utils.to_pytorch(ours)
    expected = {key: tuple(tensor.shape) for key, tensor in first.state_dict().items()}
    assert {key: array.shape for key, array in state.items()} == expected
    second.load_state_dict({key: torch.from_numpy(array) for key, array in state.items()})
    arrays = [draw(*shape) for shape in shapes] or [np.array([[0, 1, 4], [2, 2, 3]])]
    mine = outputs(ours(*map(Tensor, arrays)))
    theirs, returned = (outputs(m(*map(torch.tensor, arrays))) for m in (first, second))
    assert mine
    for one, other in zip(theirs, returned, strict=True):
        np.testing.assert_array_equal(one.detach().numpy(), other.detach().numpy())
    for one, other in zip(mine, theirs, strict=False):  # PyTorch's attention returns weights too
        assert_close(one, other)


def test_every_layer_with_a_state_that_both_have_is_among_them() -> None:
    tested = {case[0] for case in LAYERS}
    stacks = {"TransformerEncoder", "TransformerDecoder", "Sequential"}  # tested within others
    for name in nn.__all__:
        there = getattr(torch.nn, THEIR_NAMES.get(name, name), None)
        if isinstance(there, type) and issubclass(there, torch.nn.Module):
            lazy = name.startswith("Lazy")  # what it becomes at its first call is tested
            stateless = lazy or name in NOT_LAYERS or not has_state(getattr(nn, name))
            assert stateless or name in tested | stacks, name


def has_state(kind: type[nn.Module]) -> bool:
    """Whether a layer has parameters or buffers: one that can be made without sizes has none."""
    try:
        return bool(kind().state_dict())
    except (TypeError, ValueError):
        stateless = (
            "ool1d", "ool2d", "Pad1d", "Pad2d", "Unflatten", "Fold", "PixelShuffle", "Unfold",
            "Upsample",
        )  # fmt: skip
        return not kind.__name__.endswith(stateless)


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated")
@pytest.mark.parametrize("axis", [0, 1, None])
def test_weight_norm(axis: int | None) -> None:
    theirs = torch.nn.utils.weight_norm(torch.nn.Conv2d(2, 3, 2).double(), dim=axis)
    ours = nn.utils.weight_norm(nn.Conv2d(2, 3, 2).double(), axis=axis)
    compare(ours, theirs, [draw(1, 2, 4, 4)], ours, theirs)


def test_the_arrays_are_copies() -> None:
    ours = nn.Linear(2, 3)
    nn.utils.to_pytorch(ours)["weight"][...] = 7.0
    assert not (ours.weight.data == 7.0).any()


def test_a_tied_weight_is_under_both_names() -> None:
    model = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5, bias=False))
    model[1].weight = model[0].weight
    theirs = torch.nn.Sequential(torch.nn.Embedding(5, 3), torch.nn.Linear(3, 5, bias=False))
    theirs[1].weight = theirs[0].weight
    model.load_state_dict(theirs.state_dict())
    state = nn.utils.to_pytorch(model)
    np.testing.assert_array_equal(state["0.weight"], state["1.weight"])
    theirs.load_state_dict({key: torch.from_numpy(array) for key, array in state.items()})


def test_what_pytorch_lacks_is_refused_by_path() -> None:
    layer = nn.TransformerEncoderLayer(8, 4, 16, num_kv_heads=2)
    refused = r"to_pytorch: layers\.0\.self_attn: PyTorch's attention has no num_kv_heads"
    with pytest.raises(ValueError, match=refused):
        nn.utils.to_pytorch(nn.TransformerEncoder(layer, 1))
    with pytest.raises(ValueError, match=r"to_pytorch: .*num_kv_heads"):
        nn.utils.to_pytorch(layer.self_attn)


def test_bfloat16_is_widened() -> None:
    theirs = torch.nn.Linear(3, 2).to(torch.bfloat16)
    ours = nn.Linear(3, 2)
    ours.load_state_dict(theirs.state_dict())
    np.testing.assert_array_equal(ours.weight.data, theirs.weight.detach().float().numpy())
