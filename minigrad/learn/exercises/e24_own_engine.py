"""Exercise 24: an engine in about 150 lines trains the digits model, beside minigrad."""

from __future__ import annotations

import inspect
import linecache
import sys
import time
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, Failure, numbers, show
from minigrad.learn.digits import OURS, digit_reader, digits, parameters, train
from minigrad.learn.drawing import of_values
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

FUNCTIONS = ("concatenate", "softmax", "layer_norm", "gelu", "cross_entropy")


def check(answer: Answer) -> None:
    """The pass, each op against minigrad, the model, and a training of both."""
    for name in ("Tensor", *FUNCTIONS):
        getattr(answer, name)  # a missing name is told here
    engine = SimpleNamespace(**answer.names)
    _check_pass(answer, engine)
    _check_ops(answer, engine)
    _check_model(answer, engine)
    if not answer.confirming:
        _train_both(answer, engine)


def _check_pass(answer: Answer, engine: Any) -> None:
    """Sums only: what is given is enough for them."""
    a, b = engine.Tensor([1.0, 2.0]), engine.Tensor([3.0, 5.0])
    (a + b).backward()
    _same(answer, "y = a + b: a.grad", a.grad, [1.0, 1.0])
    (a + b).backward()
    _same(answer, "y = a + b, backward twice: a.grad", a.grad, [2.0, 2.0], {"replaced": np.ones(2)})
    a = engine.Tensor([1.0, 2.0])
    (a + a).backward()
    _same(answer, "y = a + a: a.grad", a.grad, [2.0, 2.0], {"overwritten": np.ones(2)})
    a = engine.Tensor([1.0, 2.0])
    c = a + a
    ((c + a) + c).backward()
    _same(answer, "c = a + a; y = (c + a) + c: a.grad", a.grad, [5.0, 5.0],
          {"overwritten": lambda mine: bool((mine < 5).all()), "early": True})  # fmt: skip
    a, b = engine.Tensor(np.ones((2, 3))), engine.Tensor(np.ones(3))
    (a + b).backward()
    _same(answer, "y = a + b, with shapes (2, 3) and (3,): b.grad", b.grad, [2.0, 2.0, 2.0],
          {"not summed": lambda mine: mine.shape == (2, 3)})  # fmt: skip

    calls = 0

    def counted(rule: Callable[[Any], Any], told: str) -> Callable[[Any], Any]:
        def count(g: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls > 24:
                raise Failure(
                    f"{told}: 24 sums, but their rules are called more than 24 times.", "paths"
                )
            return rule(g)

        return count

    sums: dict[str, Callable[[Any, Any], Any]] = {
        "z + y": lambda z, y: z + y, "y + z": lambda z, y: y + z
    }  # fmt: skip
    for text, last in sums.items():
        x = y = engine.Tensor(1.0)
        calls, told = 0, f"12 times z = y + x; y = {text}"
        for _ in range(12):
            z = y + x
            y = last(z, y)
            for tensor in (z, y):
                if hasattr(tensor, "rule"):
                    tensor.rule = counted(tensor.rule, told)
        y.backward()
        _same(answer, f"{told}: x.grad", x.grad, 2.0**13 - 1)


def _check_ops(answer: Answer, engine: Any) -> None:
    """Each op with a gradient that differs from entry to entry."""
    random = np.random.default_rng(24)
    labels = np.array([2, 0, 2])

    def op(
        text: str, function: Callable[..., Any], *shapes: tuple[int, ...], **mistakes: Any
    ) -> None:
        """One expression; a mistake is a function of the arrays, of y and of its gradient g."""
        arrays = {name: numbers(random, *shape) for name, shape in zip("abc", shapes, strict=False)}
        told = f"y = {text}, with " + ", ".join(
            f"{name} of shape {array.shape}" for name, array in arrays.items()
        )
        ours = [OURS.Tensor(array) for array in arrays.values()]
        want = function(OURS, *ours)
        g = numbers(random, *want.shape)
        (want * g).sum().backward()
        known = SimpleNamespace(**arrays, g=g, y=want.numpy())
        expected = {key: {name: one(known) for name, one in mistakes.get(key, {}).items()}
                    for key in ("y", *arrays)}  # fmt: skip
        mine = [engine.Tensor(array) for array in arrays.values()]
        try:
            y = function(engine, *mine)
            if not isinstance(y, engine.Tensor):
                raise Failure(f"{told}: y is {show(y)}; it should be a Tensor.", "no tensor")
            _same(answer, f"{told}: y.data", y.data, known.y, expected["y"])
            parts = y.rule(g) if callable(getattr(y, "rule", None)) else []
            if isinstance(parts, np.ndarray):
                facts = f"{told}: its rule returns 1 array, of shape {parts.shape}."
                raise Failure(facts, "no list")
            (y * engine.Tensor(g)).backward()
        except ValueError as error:
            raise Failure(f"{told}:\n  ValueError: {error}", "shapes") from None
        for name, tensor, right in zip(arrays, mine, ours, strict=True):
            _same(answer, f"{told}: {name}.grad", tensor.grad, right.grad, expected[name])

    op("a * b", lambda _, a, b: a * b, (2, 3), (2, 3),
       a={"own factor": lambda k: k.y * k.a, "g forgotten": lambda k: k.b})  # fmt: skip
    op("a * 0.5", lambda _, a: a * 0.5, (2, 3))
    op("a @ b", lambda _, a, b: a @ b, (3, 3), (3, 3),
       a={"not transposed": lambda k: k.g @ k.b},
       b={"not transposed": lambda k: k.a @ k.g})  # fmt: skip
    op("a @ b", lambda _, a, b: a @ b, (2, 2, 3, 4), (2, 2, 4, 3))
    op("a @ b", lambda _, a, b: a @ b, (2, 3, 4), (4, 5))
    op("a.reshape(3, 2)", lambda _, a: a.reshape(3, 2), (2, 3))
    op("a.swapaxes(0, 1)", lambda _, a: a.swapaxes(0, 1), (3, 3),
       a={"not swapped back": lambda k: k.g})  # fmt: skip
    op("a.swapaxes(0, 2)", lambda _, a: a.swapaxes(0, 2), (2, 3, 4))
    op("a[:, 0]", lambda _, a: a[:, 0], (2, 3))
    op("a[[0, 2, 0]]", lambda _, a: a[[0, 2, 0]], (3,),
       a={"repeated": lambda k: [k.g[2], 0.0, k.g[1]]})  # fmt: skip
    op("concatenate([a, b], 0)", lambda e, a, b: e.concatenate([a, b], 0), (2, 2), (2, 2),
       a={"parts exchanged": lambda k: k.g[2:]})  # fmt: skip
    op("concatenate([a, b], 1)", lambda e, a, b: e.concatenate([a, b], 1), (2, 1), (2, 3))
    op("softmax(a)", lambda e, a: e.softmax(a), (3, 3),
       y={"wrong axis": lambda k: np.exp(k.a) / np.exp(k.a).sum(axis=0)},
       a={"softmax: no sum": lambda k: k.g * k.y,
          "softmax: diagonal": lambda k: k.g * k.y * (1 - k.y)})  # fmt: skip
    big = engine.softmax(engine.Tensor([1000.0, 1000.0])).data
    _same(answer, "softmax of 1000 and 1000", big, [0.5, 0.5],
          {"large scores": lambda mine: bool(np.isnan(mine).any())})  # fmt: skip
    op("layer_norm(a, b, c)", lambda e, a, b, c: e.layer_norm(a, b, c), (2, 4), (4,), (4,),
       y={"one less": lambda k: _normal(k.a, 1)[0] * k.b + k.c},
       a={"mean and std constant": lambda k: k.g * k.b / _normal(k.a)[1],
          "std constant": lambda k: _centred(k.g * k.b) / _normal(k.a)[1]},
       b={"weight: input": lambda k: (k.g * k.a).sum(axis=0)})  # fmt: skip
    op("gelu(a)", lambda e, a: e.gelu(a), (2, 3),
       y={"by tanh": lambda k: k.a / 2 * (1 + np.tanh(
           (2 / np.pi) ** 0.5 * (k.a + 0.044715 * k.a**3)))},
       a={"one factor": lambda k: k.g * k.y / k.a})  # fmt: skip
    op("cross_entropy(a, [2, 0, 2])", lambda e, a: e.cross_entropy(a, labels), (3, 3),
       y={"sum": lambda k: k.y * 3},
       a={"sum": lambda k: k.g * (_softmax(k.a) - np.eye(3)[labels]),
          "only probabilities": lambda k: k.g * _softmax(k.a) / 3,
          "g forgotten": lambda k: (_softmax(k.a) - np.eye(3)[labels]) / 3})  # fmt: skip


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x)
    return np.asarray(e / e.sum(axis=-1, keepdims=True))


def _centred(x: np.ndarray) -> np.ndarray:
    return np.asarray(x - x.mean(axis=-1, keepdims=True))


def _normal(x: np.ndarray, less: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The normalized rows and their standard deviation, divided by the width less some."""
    std = np.sqrt((_centred(x) ** 2).sum(axis=-1, keepdims=True) / (x.shape[-1] - less) + 1e-5)
    return _centred(x) / std, std


def _check_model(answer: Answer, engine: Any) -> None:
    """The loss and every gradient of the digits model in its full size."""
    images, labels = digits(6, 0)
    p = parameters(64, 2)
    losses, tensors = [], []
    for one in (engine, OURS):
        tensors.append({name: one.Tensor(value) for name, value in p.items()})
        losses.append(one.cross_entropy(digit_reader(one, tensors[-1], images, 4), labels))
        losses[-1].backward()
    told = "The digits model, width 64, 4 heads, 2 layers"
    _same(answer, f"{told}: the loss", losses[0].data, losses[1].numpy())
    for name in p:
        _same(answer, f"{told}: the gradient of {name}", tensors[0][name].grad,
              tensors[1][name].grad)  # fmt: skip


def _train_both(answer: Answer, engine: Any) -> None:
    """The same steps on both engines; what is printed here is shown to the learner."""
    seconds, histories = [], []
    for one in (engine, OURS):
        start = time.perf_counter()
        histories.append([*train(one)])
        seconds.append(time.perf_counter() - start)
    mine, ours = histories
    sys.stdout.write("step   your loss   minigrad's\n")
    for (step, one, _), (_, other, _) in zip(mine, ours, strict=True):
        if step % 10 == 0 or step == 1:
            sys.stdout.write(f"{step:4}   {one:9.6f}   {other:10.6f}\n")
        _same(answer, f"The loss of step {step}", one, other)
    sys.stdout.write(
        f"{100 * mine[-1][2]:.0f} % of the digits of the last step, all new to it, are read right\n"
        f"you: {seconds[0]:.1f} s, minigrad: {seconds[1]:.1f} s\n"
        f"your engine has {_lines(engine)} lines\n"
    )


def _lines(engine: Any) -> int:
    """The lines of the learner's file, from behind its imports."""
    file = next(
        one.__code__.co_filename
        for one in vars(engine.Tensor).values()
        if inspect.isfunction(one)
    )  # fmt: skip
    text = "".join(linecache.getlines(file)).split("if __name__ ==")[0]
    return len(text.rpartition("\nimport")[2].strip().splitlines())


def _same(
    answer: Answer, name: str, got: Any, want: Any, mistakes: Mapping[str, Any] | None = None
) -> None:
    """Compare, also where no gradient has arrived."""
    if got is None:
        raise Failure(f"{name} is None; it should have shape {np.shape(want)}.", "no gradient")
    answer.compare(name, got, want, mistakes)


def draw(answer: Answer) -> Graph:
    """The learner's graph of one attention head."""
    engine = SimpleNamespace(**answer.names)
    q, k, v = (engine.Tensor(np.ones((3, 4))) for _ in range(3))
    output = engine.softmax(q @ k.swapaxes(0, 1) * 0.5) @ v
    names = {id(q): "q", id(k): "k", id(v): "v"}

    def label(one: Any) -> str:
        return names.get(id(one), getattr(one, "op", "") or "constant")

    return of_values(output, lambda one: one.parents, label, shape=lambda one: one.shape)


EXERCISE = Exercise(
    title="your own engine runs the digits model",
    chapter="reading",
    hints=(
        "Go one gap at a time: after each, `check` tests it and names the next. Each rule is in an "
        "exercise before: * in 6, @ in 7, [] in 8, softmax in 11, layer_norm in 12, cross_entropy "
        "in 13. New is only that it becomes a function of g, kept in the Tensor.",
        "backward: a dict `pending` from tensors to gradients, at first {self: ones}. Take out the "
        "tensor with the largest stamp. A leaf adds what it got to its grad; any other calls its "
        "rule, and adds each part, unbroadcast to the shape of the parent, to pending. A rule may "
        "forget broadcasting: backward takes care of it.",
        "tensor = max(pending, key=lambda tensor: tensor.stamp); g = pending.pop(tensor); if "
        "tensor.rule is None, tensor.grad = g if tensor.grad is None else tensor.grad + g; else "
        "for parent, part in zip(tensor.parents, tensor.rule(g)): part = unbroadcast(part, "
        "parent.shape), and add it to what is pending for the parent.",
    ),
    why="That is all of it: what is left between your engine and a library is breadth, speed and "
    "care. minigrad has the same parts: a rule for each op, a stamp that gives the order, one "
    "place for broadcasting. It adds what you met on the way: it saves only what a rule reads, "
    "records rules for higher orders, refuses arrays that were changed, and works in float32, in "
    "blocks and threads. Next, read its engine in one sitting: the last chapter of the guide.",
    diagnoses={
        "no gradient": "No gradient has arrived: is this tensor among the parents, and does the "
        "rule return a gradient for it?",
        "no tensor": "An op returns a Tensor: Tensor(data, parents, rule).",
        "no list": "A rule returns a list or a tuple with a gradient for each parent, also where "
        "there is only one: [g], and not g.",
        "replaced": "The second pass has replaced the gradient of the first. They add: a batch in "
        "two halves must give the gradient of the whole.",
        "overwritten": "Right at one use of a tensor, wrong at two: contributions add. Is there "
        "`=` where the gradient that is already there should be added?",
        "early": "A tensor has handed its gradient on before all contributions had come, and so "
        "handed some of it on twice. Take the newest tensor first.",
        "paths": "The gradient is right, but rules run once for each path: the number of paths "
        "doubles with each step. Wait for all contributions to a tensor, then run its rule once.",
        "not summed": "The gradient has the shape of the result. NumPy has stretched this tensor, "
        "so each entry was used several times: unbroadcast the gradient.",
        "shapes": "The shapes do not fit. In a rule of a batch, exchange the last two axes only: "
        "`.T` reverses all. And each gradient has the shape of its parent.",
        "own factor": "Each factor gets its own value as its slope: it is the other one.",
        "g forgotten": "This is the slope alone. A rule multiplies it by g, the gradient that "
        "comes in.",
        "not transposed": "The other factor must be transposed: the sum runs over the other index.",
        "not swapped back": "The gradient still has the axes of the result: swap them back.",
        "repeated": "An entry that was taken twice got only one contribution: whole[index] = g, "
        "and += as well, write it once. np.add.at adds all.",
        "parts exchanged": "The parts of the gradient go to the wrong tensors: the first part "
        "belongs to the first one.",
        "wrong axis": "The softmax goes along the wrong axis: along the last.",
        "softmax: no sum": "The rule of softmax is y * (g - sum of g * y): the sum is missing.",
        "softmax: diagonal": "This is the slope of each output by its own score. Each score "
        "changes all outputs of the row.",
        "large scores": "NaN for scores of 1000: subtract the largest score of each row first.",
        "one less": "The variance divides by the width, not by the width less 1.",
        "mean and std constant": "Mean and standard deviation depend on x as well: two terms are "
        "missing in the gradient of x.",
        "std constant": "The standard deviation depends on x as well: the term with the mean of "
        "g * normal is missing.",
        "weight: input": "The weight multiplies the normalized x, not x.",
        "by tanh": "This is the approximation of gelu by tanh. Here erf is given.",
        "one factor": "gelu is x times a function of x: the product rule has two terms.",
        "sum": "The loss is the mean over the rows: divide by their number.",
        "only probabilities": "The term of the right class is missing: subtract 1 there.",
    },
    wrong=(
        Wrong(
            "replaced",
            ("tensor.grad = g if tensor.grad is None else tensor.grad + g", "tensor.grad = g"),
        ),
        Wrong("overwritten", ("pending[parent] + part if parent in pending else part", "part")),
        Wrong(
            "early",
            code="""
            self.grad = np.ones(self.shape)
            stack = [self]
            while stack:
                tensor = stack.pop()
                for parent, part in zip(tensor.parents, tensor.rule(tensor.grad)):
                    parent.grad = part if parent.grad is None else parent.grad + part
                    if parent.rule is not None:
                        stack.append(parent)
            """,
        ),
        Wrong(
            "paths",
            ("tensor = max(pending, key=lambda tensor: tensor.stamp)", "tensor = [*pending][0]"),
        ),
        Wrong(
            "paths",
            code="""
            def walk(tensor, g):
                if tensor.rule is None:
                    tensor.grad = g if tensor.grad is None else tensor.grad + g
                else:
                    for parent, part in zip(tensor.parents, tensor.rule(g)):
                        walk(parent, unbroadcast(part, parent.shape))

            walk(self, np.ones(self.shape))
            """,
        ),
        Wrong("not summed", ("                part = unbroadcast(part, parent.shape)\n", "")),
        Wrong("own factor", ("(g * b.data, g * a.data)", "(g * a.data, g * b.data)")),
        Wrong("g forgotten", ("(g * b.data, g * a.data)", "(b.data, a.data)")),
        Wrong(
            "no tensor",
            (
                'return Tensor(a.data * b.data, (a, b), lambda g: (g * b.data, g * a.data), "*")',
                "return a.data * b.data",
            ),
        ),
        Wrong(
            "no gradient",
            (
                "Tensor(a.data * b.data, (a, b), lambda g: (g * b.data, g * a.data)",
                "Tensor(a.data * b.data, (a,), lambda g: (g * b.data,)",
            ),
        ),
        Wrong("not transposed", ("g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g", "g @ b, a @ g")),
        Wrong("shapes", ("g @ b.swapaxes(-1, -2), a.swapaxes(-1, -2) @ g", "g @ b.T, a.T @ g")),
        Wrong("shape", ("[g.reshape(self.shape)]", "[g]")),
        Wrong("no list", ("[g.swapaxes(i, j)]", "g.swapaxes(i, j)")),
        Wrong("not swapped back", ("[g.swapaxes(i, j)]", "[g]")),
        Wrong("repeated", ("np.add.at(whole, index, g)", "whole[index] += g")),
        Wrong("parts exchanged", ("np.split(g, ends, axis)", "np.split(g, ends, axis)[::-1]")),
        Wrong(
            "wrong axis",
            ("y = e / e.sum(axis=-1, keepdims=True)", "y = e / e.sum(axis=0, keepdims=True)"),
            ("e = np.exp(x.data - x.data.max(axis=-1, keepdims=True))", "e = np.exp(x.data)"),
        ),
        Wrong("softmax: no sum", ("[y * (g - (g * y).sum(axis=-1, keepdims=True))]", "[y * g]")),
        Wrong(
            "softmax: diagonal",
            ("[y * (g - (g * y).sum(axis=-1, keepdims=True))]", "[g * y * (1 - y)]"),
        ),
        Wrong(
            "large scores",
            ("e = np.exp(x.data - x.data.max(axis=-1, keepdims=True))", "e = np.exp(x.data)"),
        ),
        Wrong(
            "one less",
            (
                "(centred**2).mean(axis=-1, keepdims=True)",
                "x.data.var(axis=-1, ddof=1, keepdims=True)",
            ),
        ),
        Wrong(
            "mean and std constant",
            ("(h - shift - normal * stretch) / std, g * normal", "h / std, g * normal"),
        ),
        Wrong(
            "std constant",
            ("(h - shift - normal * stretch) / std, g * normal", "(h - shift) / std, g * normal"),
        ),
        Wrong("weight: input", ("/ std, g * normal, g", "/ std, g * x.data, g")),
        Wrong(
            "by tanh",
            (
                "(1 + erf(x.data / math.sqrt(2))) / 2",
                "(1 + np.tanh(math.sqrt(2 / math.pi) * (x.data + 0.044715 * x.data**3))) / 2",
            ),
        ),
        Wrong("one factor", ("g * (part + x.data * bell)", "g * part")),
        Wrong("sum", ("-log_p[rows, labels].mean()", "-log_p[rows, labels].sum()")),
        Wrong("sum", ("[g * slope / len(labels)]", "[g * slope]")),
        Wrong("only probabilities", ("        slope[rows, labels] -= 1\n", "")),
        Wrong("g forgotten", ("[g * slope / len(labels)]", "[slope / len(labels)]")),
    ),
    check=check,
    draw=draw,
)
