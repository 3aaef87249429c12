"""Random programs of assignments leave a module with the same parts as PyTorch's."""

from typing import Any

import numpy as np
import pytest

from minigrad import Tensor, nn

torch = pytest.importorskip("torch")

NAMES = ["a", "b", "c"]
SEEDS = [range(0, 150, 2), range(1, 150, 2)]


def parts(module: Any) -> dict[str, list[str]]:
    return {
        "parameters": [name for name, _ in module.named_parameters(remove_duplicate=False)],
        "buffers": [name for name, _ in module.named_buffers()],
        "children": [name for name, _ in module.named_children()],
        "state": sorted(module.state_dict()),
    }


def done(module: Any, library: Any, tensor: Any, change: str, name: str) -> bool:
    """Whether a change was accepted."""
    values = {
        "parameter": lambda: library.Parameter(tensor([1.0])),
        "buffer": lambda: library.Buffer(tensor([1.0])),
        "passing buffer": lambda: library.Buffer(tensor([1.0]), persistent=False),
        "module": lambda: library.Linear(1, 1), "tensor": lambda: tensor([1.0]),
        "none": lambda: None, "number": lambda: 3,
    }  # fmt: skip
    changes = {
        "delete": lambda: delattr(module, name),
        "register buffer": lambda: module.register_buffer(name, tensor([1.0])),
        "register passing buffer": lambda: module.register_buffer(name, None, persistent=False),
        "register no parameter": lambda: module.register_parameter(name, None),
        "register module": lambda: module.add_module(name, library.Linear(1, 1)),
    }
    verb, _, kind = change.partition(" ")
    try:
        if change in changes:
            changes[change]()
        elif verb == "hide":
            object.__setattr__(module, name + "_hidden", values[kind]())
        else:
            setattr(module, name, values[change]())
    except (AttributeError, KeyError, TypeError, ValueError):
        return False
    return True


CHANGES = [
    "parameter", "parameter", "buffer", "passing buffer", "module", "module", "tensor", "none",
    "none", "number", "delete", "register buffer", "register passing buffer",
    "register no parameter", "register module", "hide parameter", "hide module",
]  # fmt: skip


def differs(ours: Any, change: str, name: str) -> bool:
    """What PyTorch does otherwise, and knowingly."""
    kind, there = ours._registered.get(name), name in vars(ours)
    return (
        # A child may be replaced by anything.
        (kind == "module" and change in ("tensor", "number", "buffer", "passing buffer"))
        # An attribute may become a parameter that is None, a child, or a buffer.
        or (there and change in ("register no parameter", "register module"))
        or (there and kind is None and change in ("buffer", "passing buffer"))
    )


@pytest.mark.parametrize("seeds", SEEDS, ids=str)
def test_programs_of_assignments(seeds: range) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        ours, theirs = nn.Module(), torch.nn.Module()
        for step in range(25):
            change, name = str(rng.choice(CHANGES)), str(rng.choice(NAMES))
            if differs(ours, change, name):
                continue
            where = seed, step, change, name
            accepted = done(ours, nn, Tensor, change, name)
            assert accepted == done(theirs, torch.nn, torch.tensor, change, name), where
            assert parts(ours) == parts(theirs), where
