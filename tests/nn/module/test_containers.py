"""Containers do what lists and dicts do, and stay in order."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import minigrad
from minigrad import nn


class Tag(nn.Module):
    """Appends its tag to what it is given."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag

    def forward(self, said: str) -> str:
        return said + self.tag

    def extra_repr(self) -> str:
        return self.tag


def said(container: Any) -> str:
    """The tags of a container in order, however it is asked."""
    by_iteration = "".join(module.tag for module in container)
    assert by_iteration == "".join(module.tag for _, module in container.named_children())
    assert by_iteration == "".join(container[i].tag for i in range(len(container)))
    assert [name for name, _ in container.named_children()] == [
        str(i) for i in range(len(container))
    ]
    if isinstance(container, nn.Sequential):
        assert container("") == by_iteration
    return by_iteration


@pytest.fixture(params=[nn.ModuleList, lambda modules: nn.Sequential(*modules)],
                ids=["ModuleList", "Sequential"])  # fmt: skip
def abcd(request: pytest.FixtureRequest) -> Any:
    return request.param([Tag(tag) for tag in "abcd"])


@pytest.mark.parametrize(
    ("attempt", "error", "message"),
    [
        (lambda c: c.append(len), TypeError, "Module.*builtin_function"),
        (lambda c: c.extend([Tag("x"), 3]), TypeError, "Module.*int"),
        (lambda c: c.__setitem__(0, "x"), TypeError, "Module.*str"),
        (lambda c: c[4], IndexError, "index 4 .*4 modules"),
        (lambda c: c.__delitem__(-5), IndexError, "index -5"),
        (lambda c: c["0"], TypeError, "int.*slice.*'0'"),
        (lambda c: c.insert(0, c), ValueError, "part of itself"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    abcd: Any, attempt: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        attempt(abcd)
    assert said(abcd) == "abcd"


class TestSequential:
    def test_empty(self) -> None:
        assert nn.Sequential()("as it is") == "as it is"

    def test_named(self) -> None:
        steps = nn.Sequential({"embed": Tag("a"), "head": Tag("b")})
        steps.append(Tag("c"))
        assert [name for name, _ in steps.named_children()] == ["embed", "head", "2"]
        assert steps.get_submodule("head") is steps[1]
        assert steps.get_submodule("2") is steps[2]
        steps[0] = Tag("x")
        assert steps("") == "xbc"
        assert [name for name, _ in steps[:2].named_children()] == ["embed", "head"]
        with pytest.raises(AttributeError, match="no child '0'"):
            steps.get_submodule("0")

    @pytest.mark.parametrize("name", ["1", "", "a.b", 3])
    def test_bad_names(self, name: Any) -> None:
        with pytest.raises(ValueError, match="cannot be a name"):
            nn.Sequential({name: Tag("a")})

    def test_a_subclass_is_sliced_to_a_plain_one(self) -> None:
        class Two(nn.Sequential):
            def __init__(self, width: int) -> None:
                super().__init__(nn.Linear(width, width), nn.ReLU())

        assert type(Two(3)[:1]) is nn.Sequential

    def test_gradients_pass(self) -> None:
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        model(minigrad.ones(2, 3)).sum().backward()
        assert all(p.grad is not None for p in model.parameters())


def test_a_subclass_may_have_modules_besides() -> None:
    class Model(nn.Sequential):
        def __init__(self) -> None:
            super().__init__({"body": nn.Linear(2, 2)})
            self.head = nn.Linear(2, 1)

    model = Model()
    assert [name for name, _ in model.named_parameters()] == [
        "body.weight", "body.bias", "head.weight", "head.bias",
    ]  # fmt: skip
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
    modules = nn.ModuleDict()
    modules.head = nn.Linear(1, 1)
    with pytest.raises(ValueError, match="ModuleDict: .*'head'"):
        modules["head"] = nn.Linear(1, 1)
    modules["body"] = nn.Linear(1, 1)
    modules.body = nn.Linear(1, 2)
    assert modules["body"] is modules.body
    assert modules.body.out_features == 2
    assert [name for name, _ in modules.named_children()] == ["body", "head"]


class TestModuleList:
    def test_is_not_called(self) -> None:
        with pytest.raises(NotImplementedError, match="ModuleList .*forward"):
            nn.ModuleList()()

    def test_none_keeps_a_place_free(self) -> None:
        layers = nn.ModuleList([nn.Identity(), None, nn.Identity()])  # type: ignore[list-item]
        assert [layer is None for layer in layers] == [False, True, False]
        assert [name for name, _ in layers.named_children()] == ["0", "2"]
        with pytest.raises(TypeError, match="Module.*NoneType"):
            nn.Sequential(nn.Identity(), None)  # type: ignore[arg-type]

    def test_takes_any_iterable(self) -> None:
        assert said(nn.ModuleList(Tag(tag) for tag in "xyz")) == "xyz"


class TestModuleDict:
    def test_is_a_dict(self) -> None:
        modules = nn.ModuleDict({"b": Tag("b"), "a": Tag("a")})
        modules["c"] = Tag("c")
        modules.update({"a": Tag("x")})
        assert list(modules) == list(modules.keys()) == ["b", "a", "c"]
        assert [m.tag for m in modules.values()] == ["b", "x", "c"]
        assert modules.pop("b").tag == "b"
        assert "b" not in modules
        assert modules.get("b") is None
        assert len(modules) == 2
        del modules["a"]
        assert [name for name, _ in modules.named_children()] == ["c"]
        modules.clear()
        assert not list(modules.children())

    @pytest.mark.parametrize("key", ["keys", "training", "forward", 'a<&">\n|{}', "1"])
    def test_any_key_is_a_key(self, key: str) -> None:
        modules = nn.ModuleDict({key: nn.Linear(1, 1)})
        assert list(modules.keys()) == [key]
        assert modules.get_submodule(key) is modules[key]
        assert list(modules.state_dict()) == [f"{key}.weight", f"{key}.bias"]

    def test_equality_and_hash_are_identity(self) -> None:
        first, second = nn.ModuleDict(), nn.ModuleDict()
        assert first != second
        assert len({first, second, first}) == 2

    @pytest.mark.parametrize(
        ("attempt", "error", "message"),
        [
            (lambda d: d["b"], KeyError, r"'b'.*\['a'\]"),
            (lambda d: d.__delitem__("b"), KeyError, "'b'"),
            (lambda d: d.__setitem__("x.y", Tag("x")), ValueError, "dot.*'x.y'"),
            (lambda d: d.__setitem__("", Tag("x")), ValueError, "not empty"),
            (lambda d: d.__setitem__(1, Tag("x")), ValueError, "string"),
            (lambda d: d.__setitem__("x", 3), TypeError, "'x' .*Module.*int"),
        ],
    )
    def test_refusals(self, attempt: Any, error: type[Exception], message: str) -> None:
        modules = nn.ModuleDict({"a": Tag("a")})
        with pytest.raises(error, match=message):
            attempt(modules)
        assert list(modules) == ["a"]


class TestParameterContainers:
    def test_a_list_is_a_list(self) -> None:
        one, two = nn.Parameter(minigrad.ones(2)), minigrad.zeros(3)
        several = nn.ParameterList([one])
        several.append(two)
        several += [minigrad.ones(4)]
        several.insert(0, minigrad.ones(5))
        assert [p.shape for p in several] == [(5,), (2,), (3,), (4,)]
        assert several[1] is one
        assert several[-3] is one
        assert one in several
        assert two not in several
        assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in several)
        assert [name for name, _ in several.named_parameters()] == ["0", "1", "2", "3"]
        del several[0]
        several[1] = minigrad.ones(7)
        assert several.pop().shape == (4,)
        assert [p.shape for p in several[::-1]] == [(7,), (2,)]
        assert {k: v.shape for k, v in several.state_dict().items()} == {"0": (2,), "1": (7,)}
        assert repr(several) == "ParameterList(0: float32 of (2,), 1: float32 of (7,))"
        for again in (copy.deepcopy(several), pickle.loads(pickle.dumps(several))):
            assert [p.shape for p in again] == [(2,), (7,)]
            assert again[0] is not one
        with pytest.raises(IndexError, match="ParameterList: index 2 is not one of 2 parameters"):
            several[2]
        with pytest.raises(TypeError, match="ParameterList: a Parameter or Tensor expected, got"):
            several[0] = 3  # type: ignore[call-overload]
        assert several[0] is one

    def test_a_dict_is_a_dict(self) -> None:
        one = nn.Parameter(minigrad.ones(2))
        several = nn.ParameterDict({"left": one})
        several.update(right=minigrad.zeros(3))
        assert list(several) == ["left", "right"]
        assert several["left"] is one
        assert len(several) == 2
        assert [name for name, _ in several.named_parameters()] == ["left", "right"]
        assert several.pop("right").shape == (3,)
        assert "right" not in several
        assert list(copy.deepcopy(several).state_dict()) == ["left"]
        with pytest.raises(KeyError, match="no parameter 'right'; it has \\['left'\\]"):
            several["right"]
        for key, message in (
            ("training", "not one of its attributes"), ("keys", "one of its methods"),
            ("a.b", "has a dot"), ("", "is empty"), (3, "3 cannot be a key"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=f"ParameterDict: .*{message}"):
                several[key] = one  # type: ignore[index]

    def test_they_train_within_a_model(self) -> None:
        class Model(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.scales = nn.ParameterList(minigrad.ones(2) for _ in range(2))
                self.named = nn.ParameterDict({"shift": minigrad.zeros(2)})

            def forward(self, x: Any) -> Any:
                for scale in self.scales:
                    x = x * scale
                return x + self.named["shift"]

        model = Model()
        assert [n for n, _ in model.named_parameters()] == ["scales.0", "scales.1", "named.shift"]
        model(minigrad.ones(2)).sum().backward()
        assert [p.grad.tolist() for p in model.parameters()] == [[1.0, 1.0]] * 3
        doubled = {"scales.0": minigrad.ones(2) * 2}
        assert nn.utils.functional_call(model, doubled, minigrad.ones(2)).tolist() == [2.0, 2.0]
