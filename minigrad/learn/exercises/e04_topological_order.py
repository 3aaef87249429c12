"""Exercise 4: an order in which each gradient is complete before it is passed on."""

from __future__ import annotations

from typing import Any

from minigrad.learn.answer import Answer, Failure
from minigrad.learn.drawing import of_values
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

SHORTCUT = {"c": ["b"], "x": [], "y": ["x", "c"], "a": ["x"], "b": ["a"]}
SQUARE = {"x": [], "y": ["a", "b"], "b": ["x"], "a": ["x", "x"]}
GRAPHS = [
    {"x": [], "y": ["a", "x"], "a": ["x", "x"]},  # y in the middle: no order has it there
    SHORTCUT,
    SHORTCUT | {"y": ["c", "x"]},
    {"b": ["a"], "a": ["x"], "y": ["a", "b"], "x": []},
    {"b": ["a"], "a": ["x"], "y": ["b", "a"], "x": []},
    {"x": [], "a": ["x"], "y": ["x", "a", "b"], "b": ["x", "a"]},
    SQUARE,
    SQUARE | {"y": ["b", "a"]},
    {"z": ["y", "w"], "x": [], "w": ["x"], "y": ["a", "x"], "a": ["x"]},
]


class Counting(dict[str, list[str]]):
    """A graph that ends a walk along every path: in a ladder of 40 steps there are 2⁴⁰."""

    looked_up = 0

    def __getitem__(self, name: str) -> list[str]:
        self.looked_up += 1
        if self.looked_up > 100 * len(self):
            raise Failure(
                f"In a graph of {len(self)} values, `parents` has been looked up more than "
                f"{100 * len(self):,} times.",
                "paths",
            )
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self[name]
        return super().get(name, default)


def of_the_dictionary(answer: Answer) -> bool:
    """Whether each order is that of the dictionary, forwards or backwards."""
    for graph in GRAPHS:
        order, names = answer.names["backward_order"](dict(graph), "y"), list(graph)
        used = [name for name in names if name in order]
        if order not in (names, names[::-1], used, used[::-1]):
            return False
    return True


def of_the_names(answer: Answer) -> bool:
    """Whether each order is that of the alphabet, forwards or backwards."""
    for graph in GRAPHS:
        order = answer.names["backward_order"](dict(graph), "y")
        if order not in (sorted(order), sorted(order)[::-1]):
            return False
    return True


def cause(answer: Answer, seen: str, graph: dict[str, list[str]]) -> str:
    """Why an order is wrong: what was seen may have a cause that the other graphs tell."""
    if of_the_dictionary(answer):
        return "of-the-dictionary"
    if of_the_names(answer):
        return "of-the-names"
    if seen == "lost" and graph is GRAPHS[-1]:
        return "uses-of-others"
    if seen == "early" and (graph is GRAPHS[-2] or graph is GRAPHS[-3]):
        return "counted-once"
    return seen


def check(answer: Answer) -> None:
    for graph in GRAPHS:
        order = answer.backward_order(Counting(graph), "y")
        listed(answer, order)
        wanted = {"x", "y", "a", "b", "c"} & {*graph}
        shown = f"The order is {', '.join(map(str, order))}."
        twice = [name for name in order if order.count(name) > 1]
        answer.require(not twice, f"{shown} {''.join(twice[:1])} comes more than once.", "twice")
        extra = [name for name in order if name not in wanted]
        answer.require(
            not extra,
            f"{shown} y was not computed from {''.join(extra[:1])}.",
            "unused" if not extra else cause(answer, "unused", graph),
        )
        lost = sorted(wanted - {*order})
        answer.require(
            not lost,
            f"{shown} {''.join(lost[:1])} is not in it.",
            "lost" if not lost else cause(answer, "lost", graph),
        )
        place = {name: index for index, name in enumerate(order)}
        early = [
            (parent, name)
            for name in order
            for parent in graph[name]
            if place[parent] < place[name]
        ]
        if len(early) == sum(len(graph[name]) for name in order):
            raise Failure(answer.after(shown), cause(answer, "forward", graph))
        for parent, name in early:
            facts = f"{shown} {parent} comes before {name}, although {name} was computed from it."
            raise Failure(answer.after(facts), cause(answer, "early", graph))
    ladder: dict[str, list[str]] = {"v0": []} | {f"v{n + 1}": [f"v{n}", f"v{n}"] for n in range(40)}
    order = answer.backward_order(Counting(ladder), "v40")
    listed(answer, order)
    answer.require(
        order == [*ladder][::-1], f"40 times y = y + y: got {len(order)} values, not 41.", "twice"
    )
    chain: dict[str, list[str]] = {"v0": []} | {f"v{n + 1}": [f"v{n}"] for n in range(5000)}
    try:
        order = answer.backward_order(chain, "v5000")
    except RecursionError:
        raise Failure("A chain of 5,000 values ends in a RecursionError.", "deep") from None
    answer.require(order == [*chain][::-1], "Wrong on a chain of 5,000 values.", "lost")


def listed(answer: Answer, order: Any) -> None:
    answer.require(isinstance(order, list), f"It should return a list; got {order!r}.", "form")


def draw(answer: Answer) -> Graph:
    """The second graph, each value with its place in the learner's order."""
    order = answer.backward_order(dict(SHORTCUT), "y")
    return of_values(
        "y",
        SHORTCUT.__getitem__,
        label=lambda name: name,
        notes=lambda name: (f"backward: number {order.index(name) + 1}",),
    )


EXERCISE = Exercise(
    title="topological order",
    chapter="accumulation",
    hints=(
        "It is not enough to walk back from the output and to list what you meet: a value can be "
        "met early, along a short path, while a longer path to it is still open. What must have "
        "happened before a value may be listed?",
        "Count the uses. First find all that the output was computed from, and count for each "
        "value how often it is used (2 for x in x * x). Then start with the output; whenever a "
        "value is listed, subtract 1 from each use of its parents. A parent at 0 is ready.",
        "Two loops. `for value in found: for parent in parents[value]: uses[parent] += 1`, where "
        "a new parent is also appended to `found`. Then `while ready: value = ready.pop()`, list "
        "it, and for each parent: `uses[parent] -= 1`, and if that is 0, `ready.append(parent)`.",
    ),
    why="A value is listed when the last value that uses it has been listed, so all contributions "
    "to its gradient have arrived. Each value and each use is visited once, so the cost grows with "
    "the size of the graph, and not with the number of paths: 40 times y = y + y has 2⁴⁰ paths. "
    "minigrad gives each op a number as it runs. Its backward pass takes the largest number first, "
    "since a value is always computed after its parents.",
    diagnoses={
        "early": "Is it listed as soon as it is met? A longer path to it is still open, and "
        "brings another contribution after its turn.",
        "of-the-dictionary": "This is the order of the dictionary, which says nothing. Only "
        "the lists of parents say what comes after what.",
        "of-the-names": "This is the order of the alphabet. Only the lists of parents say what "
        "comes after what.",
        "uses-of-others": "Right where the output needs everything. Here z and w use y and x, but "
        "y does not need them. Are their uses counted? They never have a turn.",
        "counted-once": "Here a = x * x uses x twice. Is that one use where uses are counted, and "
        "two where they are subtracted?",
        "forward": "This is an order of the forward pass: parents first. Backward is the other "
        "way round.",
        "twice": "A value that is used twice still has one turn, after both contributions.",
        "unused": "Start from the output and walk back. What you do not meet has no gradient.",
        "lost": "Every value that the output was computed from has a gradient, also the inputs.",
        "paths": "Each path is walked again. A value that was met before needs no second walk.",
        "deep": "The order is right, but each value calls the function once more, and Python "
        "allows about 1,000 nested calls. A loop with a list of what is still to do has no limit.",
    },
    wrong=(
        Wrong(
            "early",
            (
                "    order = []\n    ready = [output]\n",
                "    return found\n    order, ready = [], []\n",
            ),
        ),
        Wrong(
            "forward",
            ("    return order\n", "    return order[::-1]\n"),
        ),
        Wrong(
            "twice",
            ("            if uses[parent] == 0:  # the last contribution has arrived\n", ""),
            ("                ready.append(parent)", "            ready.append(parent)"),
        ),
        Wrong(
            "unused",
            (
                "    return order\n",
                "    return order + [name for name in parents if name not in uses]\n",
            ),
        ),
        Wrong(
            "lost",
            (
                "        order.append(value)\n",
                "        if parents[value]:\n            order.append(value)\n",
            ),
        ),
        Wrong(
            "lost",
            (
                "            uses[parent] += 1\n",
                "            uses[parent] += 1\n        uses[output] = 1\n",
            ),
            (
                "            if uses[parent] == 0:",
                "            if uses[parent] == 0 and parents[parent]:",
            ),
        ),
        Wrong(
            "paths",
            code="""
            def walk(value):
                for parent in parents[value]:
                    walk(parent)
                if value not in order:
                    order.append(value)

            order = []
            walk(output)
            return order[::-1]
            """,
        ),
        Wrong(
            "deep",
            code="""
            def walk(value):
                if value not in seen:
                    seen.add(value)
                    for parent in parents[value]:
                        walk(parent)
                    order.append(value)

            seen, order = set(), []
            walk(output)
            return order[::-1]
            """,
        ),
        Wrong(
            "early",
            code="""
            order, stack = [], [output]
            while stack:
                value = stack.pop()
                if value not in order:
                    order.append(value)
                    stack += parents[value]
            return order
            """,
        ),
        Wrong("of-the-dictionary", code="return list(parents)[::-1]"),
        Wrong("of-the-names", code="return sorted(parents, reverse=True)"),
        Wrong(
            "uses-of-others",
            (
                "    for value in found:  #",
                "    uses = dict.fromkeys(parents, 0)\n    for value in parents:  #",
            ),
            (
                "            if parent not in uses:\n                uses[parent] = 0\n"
                "                found.append(parent)\n",
                "",
            ),
        ),
        Wrong(
            "counted-once",
            (
                "        for parent in parents[value]:\n            if parent not in uses:",
                "        for parent in {*parents[value]}:\n            if parent not in uses:",
            ),
        ),
        Wrong("form", ("    return order\n", "    return reversed(order[::-1])\n")),
        Wrong("NameError", ("    order = []\n", "    ordered = []\n")),
    ),
    check=check,
    draw=draw,
)
