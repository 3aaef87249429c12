"""Containers do what lists and dicts do, stay in order, and have each name once."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn

SEEDS = range(20)


def pickled(module: Any) -> Any:
    return pickle.loads(pickle.dumps(module))


class Tag(nn.Module):
    """Appends its tag to what it is given."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag, self.scale = tag, nn.Parameter([1.0])

    def forward(self, said: str) -> str:
        return said + self.tag


def children(module: nn.Module) -> list[str]:
    return [name for name, _ in module._children()]


def parameters(module: nn.Module) -> list[str]:
    return [name for name, _ in module.named_parameters()]


def assert_whole(container: Any) -> None:
    """All views of a container agree, and nothing is there twice."""
    named = list(container._children())
    if isinstance(container, nn.ParameterList | nn.ParameterDict):
        named = list(container.named_parameters(remove_duplicate=False))
    keys = [name for name, _ in named]
    assert len(keys) == len({*keys})
    for name, value in named:
        assert getattr(container, name) is value
        assert hasattr(container, name)
        kind = "submodule" if isinstance(value, nn.Module) else "parameter"
        assert getattr(container, f"get_{kind}")(name) is value
    if isinstance(container, nn.ModuleDict | nn.ParameterDict):
        assert list(container.items()) == named
        assert list(container) == list(container.keys()) == keys
        assert list(container.values()) == [value for _, value in named]
        assert len(container) == len(keys)
    else:
        assert [*container] == [value for _, value in named]
        assert [container[i] for i in range(len(container))] == [*container]
        assert keys == [str(i) for i in range(len(container))]
    if isinstance(container, nn.Sequential):
        assert container("") == "".join(each.tag for each in container)
    tensors = list(container.named_parameters(remove_duplicate=False))
    assert list(container.state_dict()) == [name for name, _ in tensors]


SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
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
    "register by name": ("set", lambda c, at, new: getattr(
        c, "register_parameter" if isinstance(c, nn.ParameterList) else "add_module")(
            str(at), new)),
}  # fmt: skip
"""Changes of a list, and the same by name."""


@pytest.mark.parametrize("kind", SEQUENCES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_position_is_a_name_whatever_is_done(kind: str, seed: int) -> None:
    """Random changes, by position and by name, are those of a list."""
    rng = np.random.default_rng(seed)
    plain = [item(kind, i) for i in range(rng.integers(5))]
    container = SEQUENCES[kind](plain)
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
        assert not {id(p) for p in twin.parameters()} & {id(p) for p in container.parameters()}


DICT: dict[str, Callable[[Any, str, Any], Any]] = {
    "set": lambda c, key, new: c.__setitem__(key, new),
    "update": lambda c, key, new: c.update({key: new}),
    "update by keyword": lambda c, key, new: c.update(left=new),
    "delete": lambda c, key, new: c.__delitem__(key) if key in c else None,
    "pop": lambda c, key, new: c.pop(key, None),
    "clear": lambda c, key, new: c.clear() if key == "right" else None,
}
ATTRIBUTE: dict[str, tuple[str, Callable[[Any, str, Any], Any]]] = {
    "set by name": ("set", lambda c, key, new: setattr(c, key, new)),
    "delete by name": ("delete", lambda c, key, new: delattr(c, key) if key in c else None),
}


@pytest.mark.parametrize("kind", ["ModuleDict", "ParameterDict"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_key_is_a_name_whatever_is_done(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    container, plain = getattr(nn, kind)(), dict[str, Any]()
    for step in range(30):
        new, key = item(kind, step), str(rng.choice(["0", "1", "left", "right"]))
        change = str(rng.choice([*DICT, "set", "set", *ATTRIBUTE]))
        if step % 9 == 8:
            container = copy.copy(container)
        same, done = ATTRIBUTE[change] if change in ATTRIBUTE else (change, DICT[change])
        done(container, key, new)
        DICT[same](plain, key, new)
        assert dict(container) == plain
        assert container.get(key) is plain.get(key)
        assert_whole(container)
    for twin in (copy.deepcopy(container), pickled(container)):
        assert_whole(twin)
        assert [*twin] == [*plain]


def test_named_entries_keep_their_names() -> None:
    steps = nn.Sequential({"0": Tag("a"), "head": Tag("b"), "2": Tag("c")})
    steps.head = Tag("x")
    setattr(steps, "2", Tag("y"))
    assert steps("") == "axy"
    assert steps.get_submodule("head") is steps[1]
    assert children(steps) == ["0", "head", "2"]
    assert children(steps[:2]) == ["0", "head"]
    with pytest.raises(AttributeError, match="no child '1'"):
        steps.get_submodule("1")
    assert nn.Sequential(dict(steps.named_children()))("") == "axy"
    assert children(steps[::-2]) == ["2", "0"]
    assert children(nn.ModuleList(steps)[1:]) == ["0", "1"]
    assert children(nn.Sequential({"-1": Tag("a"), "0": Tag("b"), "9": Tag("c")})[1:]) == ["0", "9"]
    steps[1] = Tag("z")
    steps.append(Tag("d"))
    assert steps("") == "azyd"
    assert children(steps) == ["0", "head", "2", "3"]
    del steps.head
    assert steps("") == "ayd"
    assert children(steps) == ["0", "2", "3"]
    steps.append(Tag("e"))  # its number was taken
    assert children(steps) == ["0", "1", "2", "3"]
    again = nn.Sequential()
    again.add_module("body", Tag("a"))
    again.add_module("body", Tag("b"))
    again.add_module("1", Tag("c"))
    assert again("") == "bc"
    again.later = None
    again.later = Tag("d")
    assert again.later is again[2]
    assert again("") == "bcd"


REFUSED: list[tuple[Callable[[Any, Any], Any], Any, str]] = [
    (lambda c, new: c.append(len), TypeError, "(Module|Parameter).*builtin_function"),
    (lambda c, new: c.__setitem__(0, "x"), TypeError, "(Module|Parameter).*str"),
    (lambda c, new: c[4], IndexError, "index out of range"),
    (lambda c, new: c.__delitem__(-5), IndexError, "index out of range"),
    (lambda c, new: c.insert(-3, new), IndexError, "insert before -2 to 2.*got -3"),
    (lambda c, new: setattr(c, "0", 3), TypeError, "(got|a) int"),
    (lambda c, new: delattr(c, "9"), AttributeError, "'9'"),
    (lambda c, new: c.register_buffer("0", minigrad.ones(1)), ValueError, "'0'"),
]


OF_MODULES: list[tuple[Callable[[Any, Any], Any], Any, str]] = [
    (lambda c, new: c.extend([new, 3]), TypeError, "Module.*int"),
    (lambda c, new: c["0"], TypeError, "integers or slices"),
    (lambda c, new: c.insert(0, c), ValueError, "part of itself"),
    (lambda c, new: c.append(nn.ModuleList([c])), ValueError, "part of itself"),
]
OF_PARAMETERS: list[tuple[Callable[[Any, Any], Any], Any, str]] = [
    (lambda c, new: c.insert(0, c), TypeError, "got ParameterList"),
    (lambda c, new: c.extend(minigrad.ones(2, 1)), TypeError, "a list expected, got Tensor"),
]
CASES = [(kind, *row) for kind in ("Sequential", "ModuleList") for row in REFUSED + OF_MODULES]
CASES += [("ParameterList", *row) for row in REFUSED + OF_PARAMETERS]


@pytest.mark.parametrize(("kind", "attempt", "error", "message"), CASES)
def test_refusals_change_nothing(kind: str, attempt: Any, error: Any, message: str) -> None:
    container = SEQUENCES[kind]([item(kind, i) for i in range(2)])
    before = [*container]
    with pytest.raises(error, match=message):
        attempt(container, item(kind, 1))
    assert [*container] == before
    assert_whole(container)


KEYS: list[tuple[str, Any, str]] = [
    *[(kind, *row) for kind in ("ModuleDict", "ParameterDict") for row in (
        ("a.b", "has a dot"), ("", "'' cannot"), ("keys", "one of its methods"),
        ("training", "an attribute"), ("_forward_hooks", "an attribute"),
    )],
    *[("Sequential", name, "cannot be a name") for name in ("", "a.b", 3)],
    *[("Sequential", name, f"'{name}'") for name in ("training", "_forward_hooks", "forward")],
]  # fmt: skip


@pytest.mark.parametrize(("kind", "key", "message"), KEYS)
def test_what_is_no_key(kind: str, key: Any, message: str) -> None:
    container, new = getattr(nn, kind)(), item(kind, 1)
    with pytest.raises(ValueError, match=f"{kind}: .*{message}"):
        nn.Sequential({key: new}) if kind == "Sequential" else container.update({key: new})
    assert len(container) == 0


@pytest.mark.parametrize("kind", ["ModuleDict", "ParameterDict"])
def test_what_a_dict_refuses(kind: str) -> None:
    container = getattr(nn, kind)({"a": item(kind, 1)})
    with pytest.raises(KeyError, match=r"'b'.*\['a'\]"):
        container["b"]
    with pytest.raises(KeyError, match="'b'"):
        del container["b"]
    with pytest.raises(TypeError, match="(Module|Parameter).*int"):
        container["x"] = 3
    assert list(container) == ["a"]
    assert container != getattr(nn, kind)({"a": container["a"]})
    assert len({container, getattr(nn, kind)(), container}) == 2


@pytest.mark.parametrize("key", ["_entries", 'a<&">\n|{}', "1"])
def test_any_text_is_a_key_of_modules(key: str) -> None:
    modules = nn.ModuleDict({key: nn.Linear(1, 1)}).eval()
    assert list(modules.keys()) == [key]
    assert modules.get_submodule(key) is modules[key]
    assert list(modules.state_dict()) == [f"{key}.weight", f"{key}.bias"]
    assert not modules.training
    assert not modules[key].training


def test_none_is_an_entry_but_of_a_chain() -> None:
    layers = nn.ModuleList([nn.Identity(), None, nn.Identity()])  # type: ignore[list-item]
    assert [layer is None for layer in layers] == [False, True, False]
    setattr(layers, "0", None)
    assert layers[0] is None
    assert children(layers) == ["2"]
    setattr(layers, "0", layers[2])
    assert layers[0] is layers[2]
    assert len(layers) == 3
    heads = nn.ModuleDict({"a": None})
    assert (heads["a"], [*heads], repr(heads)) == (None, ["a"], "ModuleDict(\n  (a): None\n)")
    scales = nn.ParameterList([None, minigrad.ones(1)])
    assert (len(scales), scales[0], [*scales.state_dict()]) == (2, None, ["1"])
    with pytest.raises(TypeError, match="Module.*NoneType"):
        nn.Sequential(nn.Identity(), None)  # type: ignore[arg-type]
    container = nn.Sequential(nn.Identity())
    with pytest.raises(TypeError, match="got NoneType"):
        setattr(container, "0", None)
    assert len(container) == 1


def test_a_subclass_of_sequential() -> None:
    class Model(nn.Sequential):
        def __init__(self, width: int) -> None:
            super().__init__({"body": nn.Linear(width, width)})
            self.head = nn.Linear(width, 1)

    model = Model(2)
    assert parameters(model) == ["body.weight", "body.bias", "head.weight", "head.bias"]
    assert type(model[:1]) is nn.Sequential
    assert model.get_submodule("head") is model.head is model[1]
    assert model(minigrad.ones(3, 2)).shape == (3, 1)
    model.body = nn.Identity()
    assert [*model] == [model.body, model.head]
    with pytest.raises(TypeError, match="must be a Module, got NoneType"):
        model.head = None  # type: ignore[assignment]
    with pytest.raises(ValueError, match="is one of its methods"):
        model.append = nn.Identity()  # type: ignore[method-assign, assignment]
    del model.head
    assert len(model) == 1


def test_tensors_become_parameters() -> None:
    one, two = nn.Parameter(minigrad.ones(2)), minigrad.zeros(3)
    several = nn.ParameterList([one])
    several.append(two)
    several += [minigrad.ones(4)]
    several.insert(0, minigrad.ones(5))
    assert [p.shape for p in several] == [(5,), (2,), (3,), (4,)]
    assert several[-3] is one
    assert one in several
    assert two not in several
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in several)
    listed = (
        "ParameterList(\n    (0): Parameter containing: [minigrad.float32 of size 2]\n"
        "    (1): Parameter containing: [minigrad.float32 of size 3]\n)"
    )
    assert repr(several[1:3]) == listed


def test_a_chain_times_a_number_repeats_its_modules() -> None:
    chain = nn.Sequential(nn.ReLU(), nn.Tanh())
    twice = chain * 2
    assert [*twice] == [*chain, *chain]
    assert [*(2 * chain)] == [*twice]
    kept = chain
    chain *= 3
    assert chain is kept
    assert len(chain) == 6
    for times in (0, -1):
        with pytest.raises(ValueError, match="Sequential: times must be at least 1"):
            chain * times
