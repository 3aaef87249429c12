"""The backward pass of a graph in words, step by step, in the order in which the engine goes.

Of a tensor this is a plan: what would run, read off the record without running it. Of a trace it is
a report, with the numbers that there were.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from minigrad._tensor import Tensor
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Node as Record
from minigrad.autograd.node import node_of
from minigrad.debugging.memory import readable
from minigrad.viz.drawing.labels import printable, shape_text
from minigrad.viz.drawing.text import Text
from minigrad.viz.formula import Formula
from minigrad.viz.record.build import leaf_names, why_not
from minigrad.viz.record.model import Diagram, Group, Node
from minigrad.viz.record.passes import PassPart, PassStep, formula, planned, traced
from minigrad.viz.record.steps import Summary
from minigrad.viz.record.tracing import Trace

__all__ = ["explain"]

Shape = tuple[int, ...]

SHOWN = 6
"""Arrays of up to this many elements are written out."""

WIDTH = 100
"""Longer formulas go on in the next line."""


def explain(target: Any, /, **names: Any) -> str:
    """Tell a backward pass step by step, in the engine's order.

    Each step says which op's rule runs and in which module, what the op saved for it, the
    formula of what each argument gets from ḡ, the gradient of the op's output y, where that goes,
    and which of the contributions to its target it is. What was broadcast in the forward pass is
    summed again.

    Args:
        target: A tensor with a history: then nothing is run or changed, and the text is the plan
            of ``target.backward()``. Or a traced graph, or the trace: then it tells of the
            backward pass that was traced, with norms, values and checks.
        **names: What to call leaves: ``explain(loss, x=x)``.

    Returns:
        The text, which also shows itself at a prompt and in a notebook.

    Raises:
        RuntimeError: The tensor has no graph, or no backward pass was traced.
        TypeError: `target` is none of these.
        ValueError: A name is given to a tensor that is no leaf of the graph.

    Example:
        >>> import minigrad
        >>> from minigrad import viz
        >>> x = minigrad.tensor([[1.0], [2.0]], requires_grad=True)
        >>> viz.explain((x * minigrad.ones(3)).sum(), x=x)
        backward pass from sum: 2 steps, 1 leaf
        <BLANKLINE>
        step 1: sum
          ḡ: scalar
          x: spread_axis(ḡ)
            2×3 to step 2 (multiply)
            rule: undo_reduction(g, x_shape, axis), minigrad/ops/reductions.py:...
            spread: repeated along the axes that were reduced
        <BLANKLINE>
        step 2: multiply
          ḡ: 2×3
          saved: b 3, 12 B
          a: ḡ ⊙ b
            2×3, summed over axis 1 to 2×1, to the gradient of x
            rule: g * b, minigrad/ops/elementwise.py:...
    """
    if isinstance(target, Trace):
        target, names = target.graph(**names), {}
    if isinstance(target, Diagram):
        if names:
            raise TypeError("explain: a graph has its names already; give them to its trace")
        if not target.steps:
            raise RuntimeError(
                "explain: no backward pass was traced; call loss.backward() within the block of "
                "viz.trace(), or explain(loss) for what would run"
            )
        return Text("\n".join(_Writer(target, list(traced(target))).lines()))
    if not isinstance(target, Tensor):
        raise TypeError(f"explain: expected a Tensor, Graph or Trace, not {type(target).__name__}")
    root = node_of(history(target))
    if not isinstance(root, Record):
        raise RuntimeError(f"explain: the tensor {why_not(target)}")
    diagram, steps, freed = planned(root, leaf_names(names))
    return Text("\n".join(_Writer(diagram, steps, freed).lines()))


class _Writer:
    def __init__(self, diagram: Diagram, steps: Sequence[PassStep], freed: bool = False) -> None:
        self.steps, self.freed = steps, freed
        self.groups: dict[str | None, Group] = {group.id: group for group in diagram.groups}
        fused = {group.id: group.op for group in diagram.groups if group.op is not None}
        self.nodes: dict[str, Node] = {node.id: node for node in diagram.nodes} | fused
        # For each step, the number of the step that each node it sends to runs in.
        self.next: list[dict[str, int]] = []
        coming: dict[str, int] = {}
        for number in range(len(steps), 0, -1):
            step = steps[number - 1]
            sent = {part.target for part in step.parts}
            self.next.append({target: coming[target] for target in sent if target in coming})
            coming[step.node] = number
        self.next.reverse()

    def lines(self) -> Iterator[str]:
        """All lines, an empty one before each step."""
        first = self.nodes[self.steps[0].node]
        leaves = {
            part.target
            for step, coming in zip(self.steps, self.next, strict=True)
            for part in step.parts
            if part.target not in coming
        }
        counts = f"{_count(len(self.steps), 'step')}, {_count(len(leaves), 'leaf', 'leaves')}"
        yield f"backward pass from {printable(first.label)}: {counts}"
        if self.freed:
            yield "it cannot run again: an earlier pass freed what was saved"
        for number, step in enumerate(self.steps, 1):
            yield ""
            yield from self._step(number, step)

    def _step(self, number: int, step: PassStep) -> Iterator[str]:
        node = self.nodes[step.node]
        group = self.groups.get(node.group)
        where = f" in {group.path or group.module}" if group is not None else ""
        line = f"  ({printable(node.line)})" if node.line else ""
        yield f"step {number}: {printable(node.label)}{printable(where)}{line}"
        yield f"  ḡ: {shape_text(step.shape)}{_numbers(step.numbers)}"
        if node.saved:
            saved = (f"{s.name} {shape_text(s.shape)}, {readable(s.nbytes)}" for s in node.saved)
            yield from _wrapped(f"saved: {'; '.join(saved)}", "  ")
        for part in step.parts:
            found = formula(node.primitive, part.name)
            value, *rule = _rule(found) if found is not None else ["its own rule"]
            yield from _wrapped(f"{part.name}: {value}", "  ")
            yield from _wrapped(self._sent(part, self.next[number - 1]), "    ")
            if part.check:
                yield f"    {part.check}"
            for line in rule:
                yield from _wrapped(line, "    ")

    def _sent(self, part: PassPart, coming: dict[str, int]) -> str:
        """Shapes, un-broadcasting, the target and the place among its contributions."""
        label = printable(self.nodes[part.target].label)
        to = (
            f"step {coming[part.target]} ({label})"
            if part.target in coming
            else (f"the gradient of {label}")
        )
        sums = _summed(part.raw_shape, part.shape)
        text = (
            f"{shape_text(part.raw_shape)}{sums}{_numbers(part.numbers)}{',' * bool(sums)} to {to}"
        )
        if part.arrivals > 1:
            text += f", {part.arrival} of {part.arrivals}"
        if part.total is not None:
            text += f", together{_numbers(part.total)}"
        return text


def _rule(found: Formula) -> Iterator[str]:
    """What a rule computes, what there is to say of it, and where it stands."""
    yield found.text
    source = " ".join(found.source.split())
    body = source.partition(": ")[2] if source.startswith("lambda") else ""
    if found.place:
        yield f"rule: {body}{', ' * bool(body)}{found.place}"
    yield from found.notes


def _wrapped(text: str, indent: str) -> list[str]:
    """A text as lines that fit a terminal."""
    deeper = indent + "    "
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent=deeper,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def _summed(raw: Shape, shape: Shape) -> str:
    """Which axes are summed to undo broadcasting."""
    if raw == shape:
        return ""
    added = len(raw) - len(shape)
    stretched = [i + added for i, n in enumerate(shape) if n == 1 != raw[i + added]]
    axes = [*range(added), *stretched]
    if not axes:
        return f", reshaped to {shape_text(shape)}"
    word = "axis" if len(axes) == 1 else "axes"
    return f", summed over {word} {', '.join(map(str, axes))} to {shape_text(shape)}"


def _numbers(numbers: Summary | None) -> str:
    """The values of a small array, the norm of a large one, and what is not finite."""
    if numbers is None:
        return ""
    if numbers.values is not None and len(numbers.values) <= SHOWN:
        flat = ", ".join(f"{value:.4g}" for value in numbers.values)
        return ", ".join([f" = {flat if not numbers.shape else f'[{flat}]'}", *numbers.remarks()])
    return f" ({', '.join([f'norm {numbers.norm:.4g}', *numbers.remarks()])})"


def _count(number: int, one: str, several: str = "") -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
