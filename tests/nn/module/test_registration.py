"""What belongs to a module is what was assigned to it, and each thing belongs to it once."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn


class Identity(nn.Module):
    def forward(self, x: Any) -> Any:
        return x


def pickled(module: Any) -> Any:
    return pickle.loads(pickle.dumps(module))


def names(module: nn.Module) -> dict[str, list[str]]:
    """Everything that a module says it has."""
    return {
        "parameters": [name for name, _ in module.named_parameters(remove_duplicate=False)],
        "buffers": [name for name, _ in module.named_buffers(remove_duplicate=False)],
        "modules": [name for name, _ in module.named_modules(remove_duplicate=False)],
        "state": list(module.state_dict()),
    }


# What is set around `Module.__setattr__`


AROUND = [
    object.__setattr__, lambda module, name, value: module.__dict__.update({name: value}),
    lambda module, name, value: vars(module).__setitem__(name, value),
]  # fmt: skip
around = pytest.mark.parametrize("hide", AROUND)
EVERY: dict[str, Callable[[], nn.Module]] = {
    "Module": lambda: nn.Linear(2, 2),
    "Sequential": lambda: nn.Sequential(nn.Linear(2, 2)),
    "ModuleList": lambda: nn.ModuleList([nn.Linear(2, 2)]),
    "ModuleDict": lambda: nn.ModuleDict({"one": nn.Linear(2, 2)}),
    "ParameterList": lambda: nn.ParameterList([minigrad.ones(2)]),
    "ParameterDict": lambda: nn.ParameterDict({"one": minigrad.ones(2)}),
    "weight_norm": lambda: nn.utils.weight_norm(nn.Linear(2, 2)),
    "RNN": lambda: nn.LSTM(2, 2),
}
every = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


@around
@every
@pytest.mark.parametrize("copied", [lambda m: m, copy.copy, copy.deepcopy, pickled])
def test_what_is_hidden_is_no_part(make: Any, hide: Any, copied: Any) -> None:
    module = make()
    before, parameters, text = names(module), list(module.parameters()), repr(module)
    teacher = nn.Linear(2, 2)
    for name, value in [
        ("teacher", teacher), ("target", nn.Parameter([1.0])), ("table", nn.Buffer([1.0])),
        ("0x", teacher), ("7", nn.Parameter([1.0])), ("8", teacher),
    ]:  # fmt: skip
        hide(module, name, value)
    twin = copied(module)
    assert names(twin) == names(module) == before
    assert repr(twin) == repr(module) == text
    assert all(a is b for a, b in zip(module.parameters(), parameters, strict=True))
    twin.eval()
    twin.to(np.float64)
    twin.requires_grad_(False)
    assert twin.teacher.training
    assert twin.teacher.weight.dtype == np.float32
    assert all(p.requires_grad for p in twin.teacher.parameters())
    assert twin.target.dtype == np.float32
    assert twin.target.requires_grad
    assert twin.count_parameters() == sum(p.numel() for p in parameters)


@around
def test_a_child_may_know_its_parent(hide: Any) -> None:
    parent, child = nn.Sequential(Identity()), Identity()
    hide(child, "parent", parent)
    parent.append(child)
    assert child.parent is parent
    assert [*parent.modules()] == [parent, parent[0], child]
    assert [name for name, _ in parent.named_modules()] == ["", "0", "1"]
    assert "Sequential" not in repr(child)
    for twin in (copy.deepcopy(parent), pickled(parent)):
        assert twin[1].parent is twin
    parent.train(False).apply(lambda module: None)
    assert parent(3) == 3


@around
def test_what_is_put_under_a_registered_name_is_that_part(hide: Any) -> None:
    """`functional_call` does that; the name belongs to the module, whatever is there now."""
    module, weight = nn.Linear(2, 2), minigrad.ones(2, 2)
    hide(module, "weight", weight)
    assert module.state_dict(keep_vars=True)["weight"] is weight
    hide(module, "weight", None)
    assert [name for name, _ in module.named_parameters()] == ["bias"]
    del vars(module)["bias"]
    assert not names(module)["parameters"]


def test_a_module_that_is_not_made_yet_has_nothing() -> None:
    class Late(nn.Module):
        def __init__(self) -> None:
            assert not list(self.modules())[1:]
            assert not list(self.parameters())
            self.before = 3
            with pytest.raises(AttributeError, match=r"Late: call super\(\).__init__\(\)"):
                self.register_parameter("weight", None)
            super().__init__()

    assert Late().before == 3


def test_a_copy_has_registers_of_its_own() -> None:
    for make in EVERY.values():
        module = make()
        twin = copy.copy(module)
        before = names(module)
        assert type(twin) is type(module)
        assert names(twin) == before
        twin.another = Identity()
        assert names(module) == before
        assert not hasattr(module, "another")
        twin.register_forward_hook(lambda *_: None)
        assert not module._forward_hooks
        if isinstance(twin, nn.Sequential | nn.ModuleList | nn.ParameterList):
            del twin[0]
            assert names(module) == before
