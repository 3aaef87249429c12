"""What belongs to a module is what was assigned to it, and each thing belongs to it once."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, optim

SEEDS = range(40)


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


def by_object(module: nn.Module, name: str, value: Any) -> None:
    object.__setattr__(module, name, value)


def by_dict(module: nn.Module, name: str, value: Any) -> None:
    module.__dict__[name] = value


def by_vars(module: nn.Module, name: str, value: Any) -> None:
    vars(module).update({name: value})


around = pytest.mark.parametrize("hide", [by_object, by_dict, by_vars])
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
    assert twin.count_parameters() == sum(p.size for p in parameters)


@around
def test_a_hidden_module_is_used_and_not_trained(hide: Any) -> None:
    class Student(nn.Module):
        def __init__(self, teacher: nn.Module) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)
            hide(self, "teacher", teacher)

        def forward(self, x: Any) -> Any:
            return ((self.linear(x) - self.teacher(x)) ** 2).sum()

    teacher = nn.Linear(2, 2)
    student, x = Student(teacher), minigrad.randn(3, 2)
    before = teacher.weight.numpy().copy()
    optimizer = optim.SGD(student.parameters(), lr=0.1, weight_decay=0.1)
    student(x).backward()
    optimizer.step()
    np.testing.assert_array_equal(teacher.weight.numpy(), before)
    assert list(student.state_dict()) == ["linear.weight", "linear.bias"]
    weights = {"linear.weight": teacher.weight.detach(), "linear.bias": teacher.bias.detach()}
    assert nn.utils.functional_call(student, weights, x).item() == 0
    student.load_state_dict(student.state_dict())


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
        assert not module._hooks
        if isinstance(twin, nn.Sequential | nn.ModuleList | nn.ParameterList):
            del twin[0]
            assert names(module) == before


# Containers


def assert_whole(container: Any) -> None:
    """All views of a container agree, and nothing is there twice."""
    named = list(container.named_children())
    if isinstance(container, nn.ParameterList | nn.ParameterDict):
        named = list(container.named_parameters(remove_duplicate=False))
    keys = [name for name, _ in named]
    assert len(keys) == len({*keys})
    for name, value in named:
        assert getattr(container, name) is value
        assert hasattr(container, name)
        if isinstance(value, nn.Module):
            assert container.get_submodule(name) is value
        else:
            assert container.get_parameter(name) is value
    if isinstance(container, nn.ModuleDict | nn.ParameterDict):
        assert list(container.items()) == named
    else:
        assert [*container] == [value for _, value in named]
        assert [container[i] for i in range(len(container))] == [*container]
        assert keys == [str(i) for i in range(len(container))]
    if isinstance(container, nn.Sequential):
        assert container("") == "".join(each.tag for each in container)
    tensors = list(container.named_parameters(remove_duplicate=False))
    assert list(container.state_dict()) == [name for name, _ in tensors]


class Tag(nn.Module):
    """Appends its tag to what it is given."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag, self.scale = tag, nn.Parameter([1.0])

    def forward(self, said: str) -> str:
        return said + self.tag


def sequences() -> dict[str, Callable[[list[Any]], Any]]:
    return {
        "Sequential": lambda items: nn.Sequential(*items),
        "from a dict": lambda items: nn.Sequential({str(i): x for i, x in enumerate(items)}),
        "ModuleList": nn.ModuleList,
        "ParameterList": nn.ParameterList,
    }


def item(kind: str, number: int) -> Any:
    return nn.Parameter([float(number)]) if kind.startswith("Parameter") else Tag(f"{number} ")


LIST: dict[str, Callable[[Any, int, Any], Any]] = {
    "append": lambda c, at, new: c.append(new),
    "extend": lambda c, at, new: c.extend([new, new]),
    "iadd": lambda c, at, new: c.__iadd__([new]),
    "insert": lambda c, at, new: c.insert(at, new),
    "insert from the end": lambda c, at, new: c.insert(-1, new),
    "set": lambda c, at, new: c.__setitem__(at, new),
    "set from the end": lambda c, at, new: c.__setitem__(at - len(c), new),
    "set a slice": lambda c, at, new: c.__setitem__(slice(at, at + 2), [new]),
    "delete": lambda c, at, new: c.__delitem__(at),
    "delete from the end": lambda c, at, new: c.__delitem__(at - len(c)),
    "delete a slice": lambda c, at, new: c.__delitem__(slice(at, None, 2)),
    "pop": lambda c, at, new: c.pop(),
    "pop one": lambda c, at, new: c.pop(at),
    "reverse": lambda c, at, new: c.reverse(),
    "remove": lambda c, at, new: c.remove(c[at]),
    "clear": lambda c, at, new: c.clear() if at == 2 else None,
}
BY_NAME: dict[str, tuple[str, Callable[[Any, int, Any], Any]]] = {
    "set by name": ("set", lambda c, at, new: setattr(c, str(at), new)),
    "append by name": ("append", lambda c, at, new: setattr(c, str(len(c)), new)),
    "delete by name": ("delete", lambda c, at, new: delattr(c, str(at))),
    "register by name": ("set", lambda c, at, new: getattr(
        c, "register_parameter" if isinstance(c, nn.ParameterList) else "add_module")(
            str(at), new)),
}  # fmt: skip
"""Changes of a list, and the same by name."""


@pytest.mark.parametrize("kind", sequences())
@pytest.mark.parametrize("seed", SEEDS)
def test_a_position_is_a_name_whatever_is_done(kind: str, seed: int) -> None:
    """Random changes, by position and by name, are those of a list."""
    rng = np.random.default_rng(seed)
    plain = [item(kind, i) for i in range(rng.integers(5))]
    container = sequences()[kind](plain)
    for step in range(30):
        new, at = item(kind, 10 + step), int(rng.integers(max(len(plain), 1)))
        change = str(rng.choice([*LIST, *BY_NAME]))
        if not plain:
            change = "append"
        if step % 9 == 8:
            container = copy.copy(container)
        same, done = BY_NAME[change] if change in BY_NAME else (change, LIST[change])
        done(container, at, new)
        LIST[same](plain, at, new)
        assert [*container] == plain
        assert_whole(container)
        part = container[at::-1]
        assert type(part) is type(container)
        assert [*part] == plain[at::-1]
    for twin in (copy.deepcopy(container), pickled(container)):
        assert_whole(twin)
        assert len(twin) == len(plain)


@pytest.mark.parametrize("kind", ["ModuleDict", "ParameterDict"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_key_is_a_name_whatever_is_done(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    container, plain = getattr(nn, kind)(), dict[str, Any]()
    for step in range(30):
        new, key = item(kind, step), str(rng.choice(["0", "1", "left", "right"]))
        change = rng.choice(["name", "item", "item", "delete name", "delete", "copy"])
        if change == "copy":
            container = copy.copy(container)
        elif change == "item":
            plain[key] = container[key] = new
        elif key in plain:
            if change == "name":
                plain[key] = new
                setattr(container, key, new)
            else:
                del plain[key]
                if change == "delete":
                    del container[key]
                else:
                    delattr(container, key)
        assert dict(container) == plain
        assert_whole(container)
    for twin in (copy.deepcopy(container), pickled(container)):
        assert_whole(twin)
        assert [*twin] == [*plain]


def test_named_entries_keep_their_names() -> None:
    steps = nn.Sequential({"0": Tag("a"), "head": Tag("b"), "2": Tag("c")})
    steps.head = Tag("x")
    setattr(steps, "2", Tag("y"))
    assert steps("") == "axy"
    assert [n for n, _ in steps.named_children()] == ["0", "head", "2"]
    assert nn.Sequential(dict(steps.named_children()))("") == "axy"
    del steps.head
    assert steps("") == "ay"
    assert [n for n, _ in steps.named_children()] == ["0", "1"]
    again = nn.Sequential()
    again.add_module("body", Tag("a"))
    again.add_module("body", Tag("b"))
    again.add_module("1", Tag("c"))
    assert again("") == "bc"
    again.later = None
    again.later = Tag("d")
    assert again.later is again[2]
    assert again("") == "bcd"


@pytest.mark.parametrize(
    ("attempt", "error", "message"),
    [
        (lambda c: setattr(c, "0", 3), TypeError, "got int"),
        (lambda c: setattr(c, "9", item(type(c).__name__, 1)), (ValueError, AttributeError), "'9'"),
        (lambda c: setattr(c, "01", item(type(c).__name__, 1)), (ValueError, AttributeError), "01"),
        (lambda c: delattr(c, "9"), AttributeError, "'9'"),
        (lambda c: c.register_buffer("0", minigrad.ones(1)), ValueError, "'0'"),
    ],
)
@pytest.mark.parametrize("kind", ["Sequential", "ModuleList", "ParameterList"])
def test_what_is_no_position_changes_nothing(
    kind: str, attempt: Any, error: Any, message: str
) -> None:
    container = sequences()[kind]([item(kind, i) for i in range(2)])
    before = [*container]
    with pytest.raises(error, match=message):
        attempt(container)
    assert [*container] == before
    assert_whole(container)


def test_none_is_no_entry_but_in_a_list_of_modules() -> None:
    layers = nn.ModuleList([Identity(), Identity()])
    setattr(layers, "0", None)
    assert layers[0] is None
    assert [name for name, _ in layers.named_children()] == ["1"]
    setattr(layers, "0", layers[1])
    assert layers[0] is layers[1]
    assert len(layers) == 2
    for container in (nn.Sequential(Identity()), nn.ParameterList([minigrad.ones(1)]),
                      nn.ModuleDict({"0": Identity()})):  # fmt: skip
        with pytest.raises(TypeError, match="got NoneType"):
            setattr(container, "0", None)
        assert len(container) == 1


@pytest.mark.parametrize("name", ["training", "_entries", "forward"])
def test_an_attribute_is_not_the_name_of_an_entry(name: str) -> None:
    with pytest.raises(ValueError, match=f"Sequential: .*'{name}'"):
        nn.Sequential({name: Identity()})
    modules = nn.ModuleDict({name: Identity()}).eval()
    assert not modules.training
    assert not modules[name].training
