"""A walk through an explorer page: a text at each of some boxes and steps."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

from minigrad.viz.record.fold import all_boxes
from minigrad.viz.record.model import Diagram
from minigrad.viz.record.selection import similar
from minigrad.viz.record.steps import Step, final_gradients

SHOWN = 5
"""The number of names that an error lists."""


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop of a walk through an explorer page: a text, and the box or the step that it is about.

    A box is named as in the address of the page, ``"MultiHeadAttention/k_proj/k_proj.bias"``, or by
    the end of that, ``"k_proj.bias"`` or ``"attention/softmax"``. Of several boxes that are called
    the same, ``"matmul~1"`` is the first.

    Args:
        title: A few words, best a question; words in backticks are set as code.
        text: The text, in the same way.
        box: The box to show.
        gradient: Instead, a box that gets a gradient in the backward pass, which the text is about.
        step: Instead, a step of the backward pass: its number, or the op whose rule runs; of
            several passes the first.
        optional: Whether the stop is left out of pages without such a box or step.
        zero: With `gradient`, leave the stop out unless this gradient is zero up to rounding; or,
            if False, unless it is not.

    Raises:
        ValueError: None of `box`, `gradient` and `step` is given, or several.

    Example:
        >>> from minigrad import viz
        >>> viz.Stop("Where does the loss begin?", "At the sum.", step="sum").step
        'sum'
    """

    title: str
    text: str
    _: KW_ONLY
    box: str | None = None
    gradient: str | None = None
    step: str | int | None = None
    optional: bool = False
    zero: bool | None = None

    def __post_init__(self) -> None:
        given = [one for one in (self.box, self.gradient, self.step) if one is not None]
        if len(given) != 1:
            raise ValueError(
                f"Stop {self.title!r}: give one of box, gradient and step, got {len(given)}"
            )


def places(diagram: Diagram, walk: Sequence[Stop]) -> list[dict[str, Any]]:
    """The stops of a walk as the page reads them: each with the tab to show, and what in it."""
    if not walk:
        return []
    boxes, steps = _boxes(diagram), diagram.steps
    gradients, found = final_gradients(steps), []
    for number, stop in enumerate(walk, 1):
        try:
            if stop.step is not None:
                where = {"tab": "step", "at": _step(stop.step, boxes, steps)}
            else:
                name = stop.box if stop.box is not None else stop.gradient
                box = _box(str(name), boxes)
                if stop.gradient is not None and box not in gradients:
                    raise ValueError(f"{name!r} gets no gradient here")
                if stop.zero not in (None, box in gradients and gradients[box].is_zero):
                    continue
                where = {"tab": "box", "at": box}
        except ValueError as error:
            if stop.optional:
                continue
            raise ValueError(f"explore: walk, stop {number}, {stop.title!r}: {error}") from None
        found.append({"title": stop.title, "text": stop.text, **where})
    if not found:
        raise ValueError("explore: walk: this graph has the box or the step of none of its stops")
    return found


def _boxes(diagram: Diagram) -> dict[str, list[str]]:
    """The ids of all boxes by the names around each and its own, as the page's address has them."""
    around, boxes = diagram.enclosing(), all_boxes(diagram)
    found: dict[str, list[str]] = defaultdict(list)

    def add(box: str, name: str, group: str | None) -> None:
        outer = [one.name or one.module for one in reversed(around[group])]
        found["/".join([*outer, name])].append(box)

    for node in diagram.nodes:
        add(node.id, node.label, node.group)
    for group in diagram.groups:
        box = boxes[group.id]
        named = group.module and box.kind == "module"
        add(group.id, group.path or group.module if named else box.label, group.parent)
    return found


def _box(name: str, boxes: dict[str, list[str]]) -> str:
    """The id of the box of this name."""
    if name in boxes:
        return boxes[name][0]  # a whole address
    found = {
        f"{path}~{at}" if len(same) > 1 else path: box
        for path, same in boxes.items()
        for at, box in enumerate(same, 1)
        if _ends(path, name) or _ends(f"{path}~{at}", name)
    }
    if len(found) == 1:
        return next(iter(found.values()))
    if found:
        listed = ", ".join([*found][:SHOWN]) + ", ..." * (len(found) > SHOWN)
        raise ValueError(f"{name!r} is the name of {len(found)} boxes: {listed}")
    known = {path.split("/")[-1] for path in boxes} | {*boxes}
    raise ValueError(f"no box is called {name!r}{similar(name, known, SHOWN)}")


def _ends(path: str, name: str) -> bool:
    return path == name or path.endswith((f"/{name}", f".{name}"))


def _step(wanted: str | int, boxes: dict[str, list[str]], steps: Sequence[Step]) -> int:
    """The number of a step."""
    if isinstance(wanted, int):
        if not 1 <= wanted <= len(steps):
            raise ValueError(f"there is no step {wanted}; the backward pass has {len(steps)}")
        return wanted
    box = _box(wanted, boxes)
    for number, step in enumerate(steps, 1):
        if step.node == box:
            return number
    raise ValueError(f"{wanted!r} has no step in the backward pass")
