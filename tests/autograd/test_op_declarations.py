"""What an op is, it declares: no name of an op or of an argument decides anything.

Every name that is in the library as a string is given to an op of a program and to its
arguments. Whatever is then done with the op must come out as for a name that is nowhere.
"""

import ast
import functools
import keyword
import math
import pickle
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, ops, tensor, viz
from minigrad.autograd import grad, gradcheck, primitive
from minigrad.autograd.events import Call
from minigrad.autograd.primitives import by_numpy, registry
from minigrad.viz.record.rerun import checked

ROOT = Path(minigrad.__file__).parent
PLAIN = "zz_plain"
RESERVED = {"g", "out", "needed", "q9"}
"""Names that a rule reads, and one that the test calls arguments by that are called otherwise."""


ENGINE = ("_*.py", "autograd/*.py", "compiler/*.py", "debugging/*.py", "viz/record/*.py")
"""Who calls ops, and looks at those of a program."""

EVERYWHERE = ("**/*.py", "../nn/**/*.py")


@functools.cache
def names(where: tuple[str, ...]) -> list[str]:
    """Every identifier that is a string, or a parameter, somewhere in the library."""
    found: set[str] = set()
    for path in [path for pattern in where for path in ROOT.glob(pattern)]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.arg):
                found.add(node.arg)
    return sorted(filter(possible, found))


def possible(name: str) -> bool:
    plain = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return plain and name not in RESERVED and not name.startswith("__")


def outcome(function: Callable[[], Any]) -> str:
    """What a call gives or raises, as text without what no name decides."""
    try:
        text = str(function())
    except Exception as error:  # noqa: BLE001  # what it is, is compared
        text = f"{type(error).__name__}: {error}"
    text = re.sub(r",\s+grad_fn=<[\w.]+>", "", text)  # the name of the op, as PyTorch writes it
    return re.sub(r" at 0x\w+|\s+", " ", text).replace(f"{__name__}.", "")


def outcomes(*calls: Callable[[], Any]) -> list[str]:
    return list(map(outcome, calls))


ENVIRONMENT: dict[str, Any] = {"zz_sin": np.sin, "zz_cos": np.cos, "zz_len": len}


def written(signature: str, result: str) -> Any:
    return eval(f"lambda {signature}: {result}", dict(ENVIRONMENT))


def op_with(signature: str, result: str, name: str = "zz_op", **options: Any) -> Any:
    forward = written(signature, result)
    forward.__name__, forward.__module__ = name, __name__
    return primitive(**options)(forward)


def static_argument(name: str) -> list[str]:
    """What an op does whose static argument has the name."""
    op = op_with(f"zz_x, {name}=3", f"zz_sin(zz_x) * zz_len({name})", arrays=1)
    rule = written(f"g, zz_x, {name}", f"g * zz_cos(zz_x) * zz_len({name})")
    op.defvjp(zz_x=rule)
    x = tensor(np.array([0.5, 1.0]), requires_grad=True)
    given = op_with(f"zz_x, {name}", f"zz_x * ({name} == [1, 2])", arrays=1)

    def notes() -> Any:
        with viz.trace() as traced:
            op(x, "ab").sum().backward()
        return [node.notes for node in traced.graph(y=x).nodes]

    called = Call(op.op, (x, "ab"), (x._data, "ab"), (x,), (), None, None)
    return outcomes(
        lambda: given(x, [1, 2]),
        lambda: given(x, **{name: [1, 2]}),
        lambda: op(x, Tensor([1.0, 2.0])),
        lambda: op(x, q9="ab"),
        lambda: grad(op(x, **{name: "abc"}).sum(), x),
        notes,
        lambda: checked(called, 0, [np.ones(2)], np.ones(2)),
    )


def array_argument(name: str) -> list[str]:
    """What an op does whose second array has the name."""
    op = op_with(f"zz_x, {name}", f"zz_x * {name}")
    op.defvjp(zz_x=written(f"g, {name}", f"g * {name}"), **{name: lambda g, zz_x: g * zz_x})
    x, y = (tensor(np.array(v), requires_grad=True) for v in ([1.0, 2.0], [[3.0], [4.0]]))

    def boxes() -> Any:
        with viz.trace() as traced:
            op(x, y).sum().backward()
        graph = traced.graph()
        return [node.label for node in graph.nodes if node.kind == "op"], len(graph.edges)

    return outcomes(
        lambda: op(x, **{name: y}),
        lambda: op(x, [1.0, 2.0]),
        lambda: op(x),
        lambda: op(x, y, y),
        lambda: op(Tensor([1.0, 2.0, 3.0]), y.reshape(2)),
        lambda: grad(op(x, y).sum(), [x, y]),
        boxes,
    )


def named_op(name: str) -> list[str]:
    """What an op of the name does."""
    op = op_with("zz_x, zz_n=2", "zz_sin(zz_x) * zz_n", name, arrays=1)
    op.defvjp(zz_x=lambda g, zz_x, zz_n: g * np.cos(zz_x) * zz_n)
    two = op_with("zz_a, zz_b", "zz_a * zz_b[:, :1]", name)
    x = tensor(np.array([0.5, 1.0]), requires_grad=True)
    shapes = x, tensor(np.ones((2, 2))), 0, 1

    step = minigrad.capture(lambda x: op(x * 1.0, zz_n=3).sum())
    of_number = minigrad.capture(lambda x: two(2.0, x * np.ones((2, 2))).sum())

    def captured() -> str:
        assert of_number(x.detach()).item() == of_number(x.detach()).item()
        values = [step(x.detach()).item() for _ in range(3)]
        assert values[0] == values[-1]
        return str(step.program)

    return outcomes(
        *(functools.partial(op, *shapes[:n]) for n in (0, 2, 3, 4)),
        *(functools.partial(two, *shapes[:n]) for n in (1, 2, 3)),
        lambda: two(x, x),
        lambda: two([[1.0]], 2, q9=0),
        *(functools.partial(op, x, **{key: 1}) for key in ("q9", "other", "zz_n", "p")),
        lambda: grad(op(x).sum(), x),
        captured,
    )


def offenders(given_to: Callable[[str], list[str]], candidates: Iterable[str]) -> dict[str, str]:
    """The names that decide something, and what."""
    plain, wrong = given_to(PLAIN), {}
    assert PLAIN in " ".join(plain)
    for name in candidates:
        for found, text in zip(given_to(name), plain, strict=True):
            expected = text.replace(PLAIN, name.strip("_") if given_to is named_op else name)
            if found != expected:
                wrong[name] = f"{found}, expected {expected}"
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("given_to", [static_argument, array_argument])
def test_the_name_of_an_argument_decides_nothing(given_to: Callable[[str], list[str]]) -> None:
    assert {"axis", "call", "key", "self"} <= {*names(ENGINE)}
    assert not offenders(given_to, names(ENGINE))


@pytest.mark.slow
def test_the_name_of_an_op_decides_nothing() -> None:
    assert not offenders(named_op, [*registry, *names(("compiler/*.py",))])


@pytest.mark.long
@pytest.mark.parametrize("given_to", [static_argument, array_argument, named_op])
def test_no_name_decides_anything(given_to: Callable[[str], list[str]]) -> None:
    assert not offenders(given_to, names(EVERYWHERE))


# Declarations ------------------------------------------------------------------------------------


def test_axes_are_declared() -> None:
    op = op_with("x, along=None", "x.sum(along)", axes=("along",))
    x = tensor(np.ones((2, 3)))
    assert op(x, [0, 1]).item() == op(x, along=[0, 1]).item() == 6.0
    with pytest.raises(TypeError, match="zz_op: a tensor with axes cannot be an axis"):
        op(x, Tensor([1.0, 2.0]))
    for option in ("axes", "random_keys", "promote"):
        with pytest.raises(TypeError, match="zz_op has no argument 'other'"):
            op_with("x, along=None", "x", **{option: ("other",)})


def test_the_ops_of_the_library_declare_theirs() -> None:
    """The test for names is of ops of a program; these have had names that decided."""
    for op in registry.values():
        assert op.side_effects == ("call" in op.params), op
        keys = {"dropout_key"} if "query" in op.params else {"key", "dropout_key"}
        assert {*op.random_keys} == keys & {*op.params}, op
    assert ops.sum(tensor(np.ones((2, 3))), axis=[0, 1]).item() == 6.0  # type: ignore[arg-type]


def test_random_keys_are_not_drawn() -> None:
    x = tensor(np.ones(3), requires_grad=True)
    op = op_with("x, seed=0", "x * 1", arrays=1, random_keys=("seed",))
    op.defvjp(x=lambda g: g)
    with viz.trace() as traced:
        op(x, 5).sum().backward()
    assert not [node.notes for node in traced.graph(x=x).nodes if node.notes]


def test_an_op_with_side_effects_is_not_run_again() -> None:
    runs: list[int] = []

    @primitive(side_effects=True)
    def counted(x: Any) -> Any:
        runs.append(1)
        return x * 2

    counted.defvjp(x=lambda g: g * 2)
    x = tensor(np.ones(3), requires_grad=True)
    with viz.trace() as traced:
        counted(x).sum().backward()
    traced.graph()
    assert len(runs) == 1
    call = Call(counted.op, (x,), (x,), (x,), (), None, None)
    assert checked(call, 0, [np.ones(3)], np.ones(3)).relative is None


# What a forward function may be ---------------------------------------------------------------


class Scale:
    """A callable object."""

    op = "a field, which is not the record of the op"

    def __init__(self) -> None:
        self.factor = 2.0

    def __call__(self, x: Any) -> Any:
        return x * self.factor

    def method(self, x: Any) -> Any:
        return x * self.factor

    @staticmethod
    def static(x: Any) -> Any:
        return x * 2.0

    @classmethod
    def of_class(cls, x: Any) -> Any:
        return x * 2.0


def scaled(x: Any, factor: float = 1.0) -> Any:
    """Multiply by a factor."""
    return x * factor


@functools.wraps(scaled)
def wrapped(x: Any, factor: float = 1.0) -> Any:
    return scaled(x, factor)


FORWARDS: dict[str, list[Callable[..., Any]]] = {
    "scaled": [
        functools.partial(scaled, factor=2.0),
        functools.partial(functools.partial(scaled), factor=2.0),
        functools.partial(wrapped, factor=2.0),
    ],
    "Scale": [Scale(), functools.partial(Scale())],
    "method": [Scale().method],
    "static": [Scale.static],
    "of_class": [Scale.of_class],
    "<lambda>": [lambda x: x * 2.0],
}
"""Partial functions, objects, methods: by the name of the op."""


@pytest.mark.parametrize(("name", "forward"), [(n, f) for n in FORWARDS for f in FORWARDS[n]])
@pytest.mark.parametrize("bare", [True, False])
def test_any_callable_is_a_forward_function(name: str, forward: Any, bare: bool) -> None:
    op: Any = primitive(forward) if bare else primitive(arrays=1)(forward)
    op.defvjp(x=lambda g: g * 2.0)
    assert op.op.name == op.__name__ == name
    x = tensor(np.array([1.0, 2.0]), requires_grad=True)
    assert op(x).tolist() == op(x=x).tolist() == [2.0, 4.0]
    assert gradcheck(op, x)
    assert repr(op.op) == f"Primitive({name}{op.__signature__})"
    assert "factor" not in vars(op)
    with pytest.raises(TypeError, match=name):
        op(x, 1.0, 2.0, 3.0)
    viz.graph(op(x).sum()).to_json()
    viz.formulas(op)


REFUSED: dict[str, tuple[Any, str]] = {
    "two functions": (lambda: primitive(scaled, wrapped), r"positional argument"),
    "a number": (lambda: primitive(3), r"callable|function"),
    "no argument": (lambda: op_with("", "0"), r"zz_op: .*at least one argument"),
    "**keywords": (lambda: op_with("x, **rest", "x"), r"zz_op: .*\*\*rest"),
    "*tensors behind": (lambda: op_with("x, *rest", "x"), r"zz_op: .*\*rest"),
}


@pytest.mark.parametrize(("define", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_a_forward_function_is_refused(define: Any, message: str) -> None:
    before = dict(by_numpy)
    with pytest.raises(TypeError, match=message):
        define()
    assert by_numpy == before


def test_an_op_answers_for_several_numpy_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    for function in (np.i0, np.angle):
        monkeypatch.delitem(by_numpy, function, raising=False)
        monkeypatch.setitem(by_numpy, function, None)
    op = op_with("x", "x * 2", numpy=(np.i0, np.angle))
    op.defvjp(x=lambda g: g * 2)
    x = tensor(np.array([1.0]), requires_grad=True)
    for numpy_function in (np.i0, np.angle):
        assert grad(numpy_function(x).sum(), x)[0].tolist() == [2.0]


def test_ops_made_of_named_functions_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(module_op)) is module_op
    assert math.isclose(module_op(1.0).item(), 2.0)


@primitive
def module_op(x: Any) -> Any:
    return x * 2.0
