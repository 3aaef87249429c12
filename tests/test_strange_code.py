"""Programs that Python knows little about: no module, no names, no source file, no function at all.

Such is code from `exec`, from a debugger, a template or a decorator. Every tool meets a program of
each kind, and must do what it does for an ordinary one.
"""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, func, nn, tensor, viz
from minigrad.autograd import GradientError, checkpoint, detect_anomaly, gradcheck, why_no_grad
from minigrad.debugging import Profile, Statistics, graph_memory
from minigrad.func import functional_call

SOURCE = """
from minigrad import nn, ops
from minigrad.autograd import Function, primitive

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        if not hasattr(x, "shape"):
            raise ValueError(f"got {x!r}")
        return ops.tanh(self.linear(x)) * double(x[:, :2])

@primitive
def double(x):
    if x.ndim != 2:
        raise ValueError("two axes expected")
    return x * 2

double.defvjp(x=lambda g: g * 2)

class Twice(Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2

def loss(x): return (model(x) * 2).sum()
def whole(x): return (model(x) * Twice.apply(x[:, :2])).sum()
def step(x):
    y = loss(x)
    y.backward()
    return y

model = Model()
"""


class Program:
    """The functions of the source, made strange."""

    model: Any
    double: Any
    Twice: Any
    Model: Any
    loss: Callable[[Any], Any]
    step: Callable[[Any], Any]
    whole: Callable[[Any], Any]

    def __init__(self, **names: Any) -> None:
        exec(compile(SOURCE, "<made>", "exec"), names)
        vars(self).update(names)

    @property
    def functions(self) -> list[Any]:
        of_classes = [self.Model.forward, self.Model.__init__, self.Twice.forward]
        ops = [self.double, self.double.op.forward]
        return [*of_classes, *ops, self.loss, self.step, self.whole]


def without(*attributes: str, value: Any) -> Program:
    """A program whose functions and classes have something else for these attributes."""
    program = Program(__name__="made")
    for thing in (*program.functions, program.Model, program.Twice):
        for attribute in attributes:
            setattr(thing, attribute, value)
    return program


def with_forward(made: Callable[[Any, Any], Any]) -> Program:
    program = Program(__name__="made")
    program.model.forward = made(program.Model.forward, program.model)
    return program


class Calls:
    """A callable object."""

    def __init__(self, function: Any, model: Any) -> None:
        self.call = functools.partial(function, model)

    def __call__(self, x: Any) -> Any:
        return self.call(x)


PROGRAMS: dict[str, Callable[[], Program]] = {
    "ordinary": lambda: Program(__name__="made"),
    "no globals": lambda: Program(),
    "a module called None": lambda: Program(__name__=None),
    "a module called 3": lambda: Program(__name__=3),
    "no modules": lambda: without("__module__", value=None),
    "no names": lambda: without("__name__", "__qualname__", value=""),
    "a partial forward": lambda: with_forward(functools.partial),
    "a forward that is an object": lambda: with_forward(Calls),
    "a forward that is a lambda": lambda: with_forward(lambda f, model: lambda x: f(model, x)),
}


def x(dtype: Any = np.float32) -> Tensor:
    values = np.random.default_rng(0).normal(size=(4, 3))
    return tensor(values.astype(dtype), requires_grad=True)


def errors(program: Program, _folder: Path) -> None:
    with pytest.raises(ValueError, match="^got 3$"):
        program.model(3)
    with pytest.raises(ValueError, match=r"linear.*\(4, 5\)"):
        program.model(minigrad.ones(4, 5))
    with pytest.raises(ValueError, match="two axes expected"):
        program.double(x()[0])
    for call in (lambda: program.model(x(), x()), lambda: program.model(y=x())):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(RuntimeError, match=r"detach\(\)"):
        exec("import numpy as np\nnp.array(x)", {"x": x(), "__name__": None})


def anomalies(program: Program, _folder: Path) -> None:
    with detect_anomaly():
        program.whole(x()).backward()
    bad = tensor(np.full((4, 3), np.nan, np.float32))
    with pytest.raises(FloatingPointError, match="linear"), detect_anomaly():
        program.whole(bad)


def tools(program: Program, _folder: Path) -> None:
    with Profile() as profile:
        program.whole(x()).backward()
    assert str(profile)
    assert str(graph_memory(program.whole(x())))
    with Statistics(program.model) as statistics:
        program.whole(x()).backward()
        statistics.step()
    assert "detach" in why_no_grad(program.whole(x().detach()), x())
    assert repr(program.model)
    assert repr(program.whole(x()))


def captures(program: Program, _folder: Path) -> None:
    for step in (program.loss, program.step, program.model):
        captured: Any = minigrad.capture(step)
        for _ in range(4):
            captured(x())
        assert str(captured.program)


def drawings(program: Program, folder: Path) -> None:
    viz.graph(program.whole(x())).to_json()
    viz.graph(program.model, x()).to_json()
    viz.explain(program.whole(x()))
    viz.formulas(program.double)
    with viz.trace() as traced:
        program.whole(x()).backward()
    assert traced.graph().to_json()
    viz.explore(program.model, x(), path=folder / "page.html")


def checks(program: Program, _folder: Path) -> None:
    assert gradcheck(program.double, x(np.float64))
    program.double.defvjp(x=lambda g: g * 3)
    with pytest.raises(GradientError, match="analytic 3.*numeric 2"):
        gradcheck(lambda x: program.double(x)[:1, :1], x(np.float64))


def derivatives(program: Program, _folder: Path) -> None:
    expected = func.grad(program.whole)(x())
    for run in (lambda x: checkpoint(program.whole, x), lambda x: program.whole(x)):
        given = x()
        run(given).backward()
        np.testing.assert_array_equal(given.grad.numpy(), expected.numpy())
    functional_call(program.model, dict(program.model.named_parameters()), (x(),))
    y = program.whole(x())
    y.backward()
    with pytest.raises(RuntimeError, match="backward"):
        y.backward()


def modules(program: Program, folder: Path) -> None:
    model = program.model
    model.register_forward_hook(lambda *_: None)
    model.register_full_backward_hook(lambda *_: None)
    model.add_module("inner", program.Model())
    program.whole(x()).backward()
    model.load_state_dict(model.state_dict())
    minigrad.save(model.state_dict(), folder / "model.npz")
    assert isinstance(nn.Sequential(model)(x()), Tensor)


USES = [errors, anomalies, tools, captures, drawings, checks, derivatives, modules]


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", PROGRAMS)
def test_a_tool_meets_a_strange_program(
    kind: str, use: Callable[[Program, Path], None], tmp_path: Path
) -> None:
    use(PROGRAMS[kind](), tmp_path)
