"""State dicts go from PyTorch to minigrad and back: every layer that both have."""

from inspect import signature
from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS, Layer, biased, cases, packed
from side_by_side import assert_close, compare, draw, run_theirs, their_class, theirs_of, torch

import minigrad
from minigrad import nn

OTHER_CALLS = (biased, packed)
"""Calls that only our layers take."""


def shaken(module: Any, seed: int) -> Any:
    """A PyTorch module whose every parameter and buffer depends on the seed."""
    generator = torch.Generator().manual_seed(seed)
    state = module.state_dict()
    for name, tensor in state.items():
        drawn = torch.rand(tensor.shape, generator=generator, dtype=torch.float64) + 0.1
        state[name] = drawn.to(tensor.dtype) if tensor.is_floating_point() else tensor + 3 + seed
    module.load_state_dict(state)
    return module


def shared(line: Layer) -> Layer:
    """The line with the options that PyTorch has too; without masks, which mean the opposite."""
    names = signature(their_class(line)).parameters
    if "kwargs" not in names:  # a recurrent layer hides the names of its options
        line = line._replace(options={k: v for k, v in line.options.items() if k in names})
    attends = line.kind.startswith(("MultiHeadAttention", "Transformer"))
    return line._replace(given={}) if attends else line


def to_pytorch(ours: Any) -> dict[str, np.ndarray]:
    """The state under PyTorch's names: those of its attention differ."""
    state = {name: tensor.numpy().copy() for name, tensor in ours.state_dict().items()}
    for name in [name for name in state if "q_proj." in name]:
        start, kind = name.split("q_proj.")
        parts = {f"{start}{part}_proj": state.pop(f"{start}{part}_proj.{kind}") for part in "qkv"}
        if kind == "bias" or len({part.shape for part in parts.values()}) == 1:
            state[f"{start}in_proj_{kind}"] = np.concatenate([*parts.values()])
        else:
            state |= {f"{part}_{kind}": array for part, array in parts.items()}
    return state


def outputs(result: Any) -> list[Any]:
    """Every tensor of a nested result."""
    if isinstance(result, tuple):
        return [tensor for part in result for tensor in outputs(part)]
    return [] if result is None else [result]


WITH_A_STATE = {
    str(line): line  # without their masks, some are the same
    for line in map(shared, filter(their_class, LAYERS))
    if not line.kind.startswith("Lazy")  # what it becomes at its first call is tested
    and line.make().state_dict()
}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # PyTorch, of its own speed
@pytest.mark.parametrize("line", cases(WITH_A_STATE.values()))
def test_there_and_back(line: Layer) -> None:
    ours = line.make().double().eval()
    first, second = (shaken(theirs_of(line).double().eval(), seed) for seed in (0, 1))
    assert not any(ours.load_state_dict(first.state_dict()))
    state = {key: torch.from_numpy(array) for key, array in to_pytorch(ours).items()}
    second.load_state_dict(state)
    for key, tensor in first.state_dict().items():
        assert state[key].shape == tensor.shape, key
        assert torch.equal(second.state_dict()[key], tensor), key
    if line.call in OTHER_CALLS:
        return
    arrays = [draw(*shape) for shape in line.shapes]
    mine = line.run(ours, *map(minigrad.tensor, arrays))
    theirs = outputs(run_theirs(line, first, *map(torch.tensor, arrays)))
    assert mine
    for one, other in zip(mine, theirs, strict=False):  # PyTorch's attention returns weights too
        assert_close(one, other)


@pytest.mark.filterwarnings("ignore:.*weight_norm.* is deprecated")
@pytest.mark.parametrize("axis", [0, 1, None])
def test_weight_norm(axis: int | None) -> None:
    theirs = torch.nn.utils.weight_norm(torch.nn.Conv2d(2, 3, 2).double(), dim=axis)
    ours = nn.utils.weight_norm(nn.Conv2d(2, 3, 2).double(), axis=axis)
    compare(ours, theirs, [draw(1, 2, 4, 4)], ours, theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    newer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Conv2d(2, 3, 2).double(), dim=axis)
    ours = nn.utils.parametrizations.weight_norm(nn.Conv2d(2, 3, 2).double(), axis=axis)
    compare(ours, newer, [draw(1, 2, 4, 4)], ours, newer)
    ours.load_state_dict(theirs.state_dict())
    assert_close(ours.weight, theirs.weight.detach())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_parameters_that_require_grad_and_any_dtype(dtype: str) -> None:
    """A float of another width is converted, also one that NumPy does not know."""
    theirs, ours = torch.nn.Linear(3, 2).to(getattr(torch, dtype)), nn.Linear(3, 2)
    for state in (theirs.state_dict(), dict(theirs.named_parameters())):
        ours.load_state_dict(state)
        np.testing.assert_array_equal(ours.weight.numpy(), theirs.weight.detach().float().numpy())
        ours.weight.data[...] = 0
