"""Exercise 5: a scalar engine, with data and grad in each value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import minigrad
from minigrad.learn.answer import Answer, Failure, show
from minigrad.learn.drawing import of_values
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


class Counted(tuple[Any, ...]):
    """Parents that end a walk along every path."""

    looked_up = 0

    def __iter__(self) -> Iterator[Any]:
        Counted.looked_up += 1
        if Counted.looked_up > 3000:
            raise Failure(
                "After y = x and 30 times y = y + y, the backward pass has looked at `parents` "
                "more than 3,000 times.",
                "paths",
            )
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        return [*self][index]


def check(answer: Answer) -> None:
    product, power, tanh = single_ops(answer)
    gradients(
        answer, "y = a * b", product, 1.7, 3.0,
        {
            "a": {"own": 1.7, "restarted": 1.0, "added": 4.0},
            "b": {"own": 3.0, "restarted": 1.0, "added": 2.7},
        },
    )  # fmt: skip
    powers = {
        "power": 1.7**2,
        "exponent": 3 * 1.7**3,
        "linear": 3 * 1.7,
        "minus-last": 3 * 1.7**3 - 1,
        "exponential": 1.7**3 * math.log(1.7),
    }
    gradients(answer, "y = a ** 3", power, 1.7, None, {"a": powers})
    of_half = math.tanh(0.5)
    mistakes = {
        "square": 1 - of_half,
        "of-input": (1 - 0.25, 1 - 0.5),
        "out": of_half,
        "plus": 1 + of_half**2,
        "sigmoid": of_half * (1 - of_half),
    }
    gradients(answer, "y = a.tanh()", tanh, 0.5, None, {"a": mistakes})
    gradients(
        answer, "y = (a * b).tanh()", lambda a, b: (a * b).tanh(), 0.5, 2.0,
        {"a": {"local": 2.0}, "b": {"local": 0.5}},
    )  # fmt: skip
    gradients(
        answer, "y = a * a + a", lambda a, b: a * a + a, 3.0, None,
        {"a": {"overwritten": lambda mine: mine in (1.0, 3.0), "once": 4.0}},
    )  # fmt: skip
    several_passes(answer)
    shapes: list[tuple[str, Callable[[Any, Any], Any]]] = [
        ("c = a * b; y = c + (c * c) * c", lambda a, b: longer_right(a * b)),
        ("c = a * b; y = (c * c) * c + c", lambda a, b: longer_left(a * b)),
        ("c = a * b; y = (c * c) * (c + a)", lambda a, b: diamond(a * b, a)),
    ]
    for text, function in shapes:
        gradients(answer, text, function, 2.0, 0.5, {"a": {"early": True}, "b": {"early": True}})
    ladder = x = answer.Value(1.0)
    Counted.looked_up = 0
    for _ in range(30):
        ladder = ladder + ladder
        ladder.parents = Counted(ladder.parents)
    ladder.backward()
    answer.compare("After 30 times y = y + y: x.grad", x.grad, 2.0**30, {"early": True})
    chain = x = answer.Value(1.0)
    for _ in range(3000):
        chain = chain + 1.0
    try:
        chain.backward()
    except RecursionError:
        raise Failure("A chain of 3,000 values ends in a RecursionError.", "deep") from None
    answer.compare("After a chain of 3,000 values: x.grad", x.grad, 1.0)
    a = answer.Value(2.0)
    c = a * 3.0
    (c * 2.0).backward()
    (c * 3.0).backward()
    answer.compare(
        "For a = Value(2.0) and c = a * 3.0, after (c * 2.0).backward() and (c * 3.0).backward(): "
        "a.grad",
        a.grad, 15.0, {"mixed": 21.0},
    )  # fmt: skip


def several_passes(answer: Answer) -> None:
    """Each pass adds to the gradients that are there, and begins with 1."""
    a = answer.Value(2.0)
    (a * 3.0).backward()
    (a * a).backward()
    answer.compare(
        "For a = Value(2.0), after (a * 3.0).backward() and (a * a).backward(): a.grad",
        a.grad, 7.0, {"emptied": 4.0},
    )  # fmt: skip
    a, b = answer.Value(2.0), answer.Value(3.0)
    y = a * b
    y.backward()
    y.backward()
    answer.compare(
        "For a = Value(2.0), b = Value(3.0) and y = a * b, after y.backward() twice: a.grad",
        a.grad, 6.0, {"emptied": 3.0, "seed-added": 9.0},
    )  # fmt: skip


def longer_right(c: Any) -> Any:
    return c + (c * c) * c


def longer_left(c: Any) -> Any:
    return (c * c) * c + c


def diamond(c: Any, a: Any) -> Any:
    return (c * c) * (c + a)


def single_ops(answer: Answer) -> tuple[Callable[..., Any], ...]:
    """The forward values, and that each op remembers its parents."""
    ops: list[tuple[str, Callable[..., Any], float, int]] = [
        ("a * b", lambda a, b: a * b, 6.0, 2),
        ("a ** 3", lambda a, b: a**3, 8.0, 1),
        ("a.tanh()", lambda a, b: a.tanh(), math.tanh(2.0), 1),
    ]
    for text, function, value, parents in ops:
        a, b = answer.Value(2.0), answer.Value(3.0)
        y = function(a, b)
        facts = f"For a = Value(2.0) and b = Value(3.0), {text} is {y!r}"
        answer.require(isinstance(y, answer.Value), f"{facts}: it should be a Value.", "plain")
        answer.compare(f"For a = Value(2.0) and b = Value(3.0): ({text}).data", y.data, value)
        for name in ("parents", "slopes"):
            part = getattr(y, name)
            facts = f"({text}).{name} is {show(part)}"
            answer.require(
                isinstance(part, (tuple, list)), f"{facts}: it should be a tuple.", "comma"
            )
            want = f"it should have {parents} entr{'y' if parents == 1 else 'ies'}."
            answer.require(len(part) == parents, f"{facts}: {want}", "forgotten")
        numbers = all(isinstance(slope, (int, float)) for slope in y.slopes)
        facts = f"({text}).slopes has an entry of type {type(y.slopes[0]).__name__}."
        answer.require(numbers, facts, "slope-of-values")
        slopes = tuple(y.slopes)
        answer.require(slopes != (1.0, 1.0), f"({text}).slopes is {show(slopes)}.", "like-sum")
    a = answer.Value(2.0)
    names = {text: y.op for text, y in [("a + a", a + a), *((op[0], op[1](a, a)) for op in ops)]}
    for text, name in names.items():
        alone = name and [*names.values()].count(name) == 1
        answer.require(bool(alone), f"For a = Value(2.0): ({text}).op is {name!r}.", "op-name")
    return tuple(op[1] for op in ops)


def gradients(
    answer: Answer,
    text: str,
    function: Callable[[Any, Any], Any],
    a: float,
    b: float | None,
    mistakes: dict[str, dict[str, Any]],
) -> None:
    """Compare the gradients of one expression with minigrad's."""
    given = {"a": a} if b is None else {"a": a, "b": b}
    mine = {name: answer.Value(value) for name, value in given.items()}
    ours = {
        name: minigrad.tensor(value, dtype="float64", requires_grad=True)
        for name, value in given.items()
    }
    result = function(mine["a"], mine.get("b"))
    result.backward()
    function(ours["a"], ours.get("b")).backward()
    numbers = " and ".join(f"{name} = {value}" for name, value in given.items())
    nothing = all(value.grad == 0 for value in mine.values())
    one_step = all(parent in mine.values() for parent in result.parents)
    answer.require(
        not nothing,
        f"{text}, for {numbers}: y.grad is {result.grad:g}, and {' and '.join(given)} have none.",
        "start" if result.grad == 0 else "not-added" if one_step else "unreached",
    )
    for name in given:
        grad = ours[name].grad
        want = 0.0 if grad is None else grad.item()
        answer.compare(
            f"{text}, for {numbers}: {name}.grad", mine[name].grad, want, mistakes.get(name)
        )


def draw(answer: Answer) -> Graph:
    """A neuron on the learner's engine: each box has its number and its gradient."""
    x, w, b = answer.Value(2.0), answer.Value(-0.5), answer.Value(0.25)
    y = (x * w + b).tanh() ** 2
    y.backward()
    names = {x: "x", w: "w", b: "b"}
    return of_values(
        y,
        parents=lambda value: value.parents,
        label=lambda value: value.op or names.get(value, str(value.data)),
        notes=lambda value: (f"{value.data:.4g} | grad {value.grad:.4g}",),
    )


IN_GRAD = (
    ("        gradients = dict.fromkeys(found, 0.0)  # of this pass\n", ""),
    ("gradients[self] = 1.0", "SEED"),
    ("        for value, gradient in gradients.items():\n            value.grad += gradient\n", ""),
    ("gradients[parent] += slope * gradients[value]", "parent.grad += slope * value.grad"),
)
"""The solution with the gradients of a pass in `.grad`."""

EXERCISE = Exercise(
    title="a scalar engine in 60 lines",
    chapter="rules",
    hints=(
        "Look at `__add__`: a new Value gets its number, its parents, and one slope for each "
        "parent. How fast does a * b change when a changes? For `backward`, take your order of "
        "exercise 4.",
        "The slope of a * b with respect to a is the number of b, and the other way round. That of "
        "a ** n is n * a ** (n - 1). In `backward`: find the order first; keep the "
        "gradients of this pass in a dict, where that of self is 1.0; each value adds slope * its "
        "gradient to that of each parent. At the end, add what is in the dict to .grad.",
        "Value(self.data * other.data, (self, other), (other.data, self.data), '*'), and for tanh: "
        "y = math.tanh(self.data), with the slope 1 - y * y. In `backward`, the second loop of "
        "exercise 4 runs over zip(value.parents, value.slopes), and adds before it subtracts a "
        "use.",
    ),
    why="That is a whole engine. Everything that is added to it later is more ops (arrays, matrix "
    "products, softmax), each with its rule; `backward` stays the same. minigrad's engine differs "
    "in two points: it keeps what a rule needs instead of the slope, since the slope of an array "
    "with respect to an array would be a huge table; and it frees the graph after the pass.",
    diagnoses={
        "plain": "Without a Value around it the result remembers nothing: the graph ends there.",
        "forgotten": "Each op hands over its parents and one slope for each parent: backward "
        "walks along them.",
        "comma": "A tuple of one entry needs a comma: (slope,). (slope) is the number alone.",
        "slope-of-values": "A slope is a plain number: take .data of a Value.",
        "like-sum": "These are the slopes of a + b. How fast does a * b change when a changes?",
        "op-name": "`op` names what computed the value, for the drawing: each op has a name of its "
        "own, such as '*', '**3' and 'tanh'.",
        "restarted": "Does every value set its own gradient to 1 again? Only the result begins "
        "with 1: set it once, before the walk. Or is the slope left out? Each value passes on "
        "slope * its gradient.",
        "start": "Nothing has started the walk: the gradient of the result with respect to itself "
        "is 1.",
        "not-added": "The result has its gradient, but none arrives at a and b. Is it added there, "
        "with parent.grad += ...? (A product with the 0 that is there stays 0.)",
        "unreached": "Single ops are right, but nothing arrives two steps below the result. Does "
        "the walk go on, from each parent to its own parents? And does it begin at the result: is "
        "the order reversed?",
        "emptied": "A gradient that was there is lost. Another result may have brought it: "
        "backward adds, and sets no gradient to 0 first.",
        "mixed": "What the first pass left in the .grad of c was passed on once more by the "
        "second. Keep the gradients of a pass in a dict, and add them to .grad at its end.",
        "seed-added": "The second pass began with 2. The gradient of the result with respect to "
        "itself is 1, each time, whatever is in .grad.",
        "added": "The slope and the gradient are added. Along one path they are multiplied.",
        "minus-last": "Python takes the power first, and then subtracts 1 from all of it. Write "
        "a ** (n - 1), with parentheses.",
        "exponential": "This is the slope with respect to the exponent. Here a changes: the "
        "slope of a³ is 3a².",
        "plus": "The slope of tanh is 1 - tanh², with a minus.",
        "sigmoid": "y * (1 - y) is the slope of the sigmoid. That of tanh is 1 - y².",
        "own": "The slope of a * b with respect to a is b: the other factor, not a itself.",
        "power": "The exponent comes down as a factor: the slope of a³ is 3a².",
        "exponent": "The exponent becomes smaller by 1: the slope of a³ is 3a².",
        "linear": "The exponent becomes smaller by 1, but it does not go: the slope of a³ is 3a².",
        "square": "The slope of tanh is 1 - tanh², and here it is 1 - tanh.",
        "of-input": "1 - y² needs the output y = tanh(x). Here it is computed from the input.",
        "out": "This is tanh itself, not its slope, which is 1 - tanh².",
        "local": "This is the slope of one op alone. Multiply it by the gradient of the value that "
        "it leads to: slope * value.grad.",
        "overwritten": "Right at one use of a, wrong at several: only one contribution is "
        "left. Is = written where += should be?",
        "once": "In a * a the value a is used twice, and contributes twice.",
        "early": "The single ops are right, and so are two uses side by side. Here one path is "
        "longer than the other. Was a gradient passed on before it was complete, or more than "
        "once? Take the order of exercise 4.",
        "paths": "Each path is walked again: there are 2³⁰. Each value passes its gradient on "
        "once, when it is complete.",
        "deep": "The gradients are right, but a function calls itself for each value, and Python "
        "allows about 1,000 nested calls. Use a loop, as in exercise 4.",
    },
    wrong=(
        Wrong("plain", ('return Value(y, (self,), (1 - y * y,), "tanh")', "return y")),
        Wrong("forgotten", ('return Value(y, (self,), (1 - y * y,), "tanh")', "return Value(y)")),
        Wrong("comma", ("(n * self.data ** (n - 1),)", "(n * self.data ** (n - 1))")),
        Wrong("slope-of-values", ("(other.data, self.data)", "(other, self)")),
        Wrong(
            "restarted",
            code="""
            self.grad = 1.0
            for parent, slope in zip(self.parents, self.slopes):
                parent.grad += slope * self.grad
                parent.backward()
            """,
            gap=4,
        ),
        Wrong("like-sum", ("(other.data, self.data)", "(1.0, 1.0)")),
        Wrong("op-name", ('(other.data, self.data), "*")', '(other.data, self.data), "+")')),
        Wrong("not-added", ("gradients[parent] += slope", "gradients[parent] *= slope")),
        Wrong(
            "unreached",
            code="""
            self.grad = 1.0
            for parent, slope in zip(self.parents, self.slopes):
                parent.grad += slope * self.grad
            """,
            gap=4,
        ),
        Wrong("emptied", ("value.grad += gradient\n", "value.grad = gradient\n")),
        Wrong("mixed", *IN_GRAD, ("SEED", "self.grad = 1.0")),
        Wrong("seed-added", *IN_GRAD, ("SEED", "self.grad += 1.0")),
        Wrong("added", ("+= slope * gradients[value]", "+= slope + gradients[value]")),
        Wrong("minus-last", ("n * self.data ** (n - 1)", "n * self.data**n - 1")),
        Wrong("exponential", ("n * self.data ** (n - 1)", "self.data**n * math.log(self.data)")),
        Wrong("plus", ("(1 - y * y,)", "(1 + y * y,)")),
        Wrong("sigmoid", ("(1 - y * y,)", "(y * (1 - y),)")),
        Wrong("start", ("        gradients[self] = 1.0\n", "")),
        Wrong("own", ("(other.data, self.data)", "(self.data, other.data)")),
        Wrong("power", ("(n * self.data ** (n - 1),)", "(self.data ** (n - 1),)")),
        Wrong("exponent", ("(n * self.data ** (n - 1),)", "(n * self.data ** n,)")),
        Wrong("linear", ("(n * self.data ** (n - 1),)", "(n * self.data,)")),
        Wrong("square", ("(1 - y * y,)", "(1 - y,)")),
        Wrong("of-input", ("(1 - y * y,)", "(1 - self.data ** 2,)")),
        Wrong("out", ("(1 - y * y,)", "(y,)")),
        Wrong("local", ("+= slope * gradients[value]", "+= slope")),
        Wrong("overwritten", ("gradients[parent] += slope", "gradients[parent] = slope")),
        Wrong(
            "once",
            (
                "for parent, slope in zip(value.parents, value.slopes):",
                "for parent, slope in dict(zip(value.parents, value.slopes)).items():",
            ),
            (
                "                uses[parent] += 1\n",
                "            for parent in {*value.parents}:\n                uses[parent] += 1\n",
            ),
        ),
        Wrong(
            "early",
            code="""
            self.grad = 1.0
            found = [self]
            for value in found:
                for parent, slope in zip(value.parents, value.slopes):
                    parent.grad += slope * value.grad
                    if parent not in found:
                        found.append(parent)
            """,
            gap=4,
        ),
        Wrong(
            "early",
            code="""
            def walk(value):
                for parent, slope in zip(value.parents, value.slopes):
                    parent.grad += slope * value.grad
                    walk(parent)

            self.grad = 1.0
            walk(self)
            """,
            gap=4,
        ),
        Wrong(
            "paths",
            code="""
            def walk(value, grad):
                value.grad += grad
                for parent, slope in zip(value.parents, value.slopes):
                    walk(parent, slope * grad)

            walk(self, 1.0)
            """,
            gap=4,
        ),
        Wrong(
            "deep",
            code="""
            def sort(value):
                if value not in seen:
                    seen.add(value)
                    for parent in value.parents:
                        sort(parent)
                    order.append(value)

            seen, order = set(), []
            sort(self)
            self.grad = 1.0
            for value in reversed(order):
                for parent, slope in zip(value.parents, value.slopes):
                    parent.grad += slope * value.grad
            """,
            gap=4,
        ),
        Wrong("AttributeError", ("value.grad += gradient\n", "value.gradient += gradient\n")),
    ),
    check=check,
    draw=draw,
)
