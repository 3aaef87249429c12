"""The backward pass of a graph as text, step by step, in the engine's order.

For a tensor it is a plan of what would run; for a trace it is a report with numbers.
"""

import math
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

from minigrad.autograd.mutation import history
from minigrad.autograd.node import Node as Record
from minigrad.autograd.node import node_of
from minigrad.autograd.primitives import Primitive, registry
from minigrad.debugging.memory import readable
from minigrad.debugging.tables import Text
from minigrad.tensors.tensor import Tensor
from minigrad.transforms.batching import RULES, elementwise
from minigrad.viz.explanation.explanations import argument_sources, summed_axes
from minigrad.viz.formula import Formula, formula_of
from minigrad.viz.formula import notation as n
from minigrad.viz.formula.printers import latex, prose
from minigrad.viz.record.assembly import assemble
from minigrad.viz.record.build import leaf_names, why_not
from minigrad.viz.record.entries import edges_of, read
from minigrad.viz.record.model import Diagram, Group, Node
from minigrad.viz.record.steps import Part, Step, Summary, number_arrivals
from minigrad.viz.record.tracing import Trace
from minigrad.viz.record.writing import counted, printable, shape_text

Shape = tuple[int, ...]

SHOWN = 6
"""The most elements of an array that are written out."""

WIDTH = 100
"""Longer lines are wrapped."""

OWN, NEXT_ROW = r"\text{its own rule}", " \\\\\n"
"""In LaTeX, the sign for a rule without a formula; and the end of an equation."""

ELEMENTWISE = {op for op, rule in RULES.items() if rule is elementwise} - {
    registry[name] for name in ("solve_triangular", "vecdot")
} | {registry[name] for name in ("broadcast_to", "masked_fill")}
"""Ops whose rules return cotangents in the shape of the output, which the engine un-broadcasts."""


class Explanation(Text):
    r"""The result of `explain`: a text, also as LaTeX.

    Example:
        >>> from minigrad import tensor, viz
        >>> x = tensor([3.0, 4.0], requires_grad=True)
        >>> print(viz.explain(x.sin(), x=x).to_latex())
        In each step, $y$ is the output of the op, and $\bar{g}$ the gradient of $y$.
        \paragraph{Step 1: \texttt{sin}}
        x is \texttt{x}.
        \begin{align*}
        \bar{x} &= \bar{g} \odot \operatorname{cos}(x)
        \end{align*}
    """

    _latex: str

    def __new__(cls, text: str, latex: str = "") -> Self:
        made = super().__new__(cls, text)
        made._latex = latex
        return made

    def to_latex(self) -> str:
        r"""Write the formulas of the steps for a paper or a slide.

        Returns:
            The body of a document, in ASCII. The preamble needs
            ``\usepackage{amsmath, amssymb}``.
        """
        return self._latex


def explain(target: Any, /, **names: Any) -> Explanation:
    """Describe a backward pass step by step, in the engine's order.

    Each step names the op whose rule runs, its module, which of your tensors its arguments are (in
    backquotes), and what the op saved. For each argument it shows the formula of its gradient (ḡ is
    the gradient of the op's output y), where it is sent, and which of the contributions to its
    target it is. The gradient is summed over broadcast axes.

    Args:
        target: A tensor with a history: nothing is run or changed, and the text is the plan of
            ``target.backward()``. Or a trace, or its graph: the text is a report of the backward
            pass that was traced, with norms, values and checks.
        **names: What to call leaves: ``explain(loss, x=x)``.

    Returns:
        The text, which also shows itself at a prompt and in a notebook. Its `to_latex` is for
        papers.

    Raises:
        RuntimeError: The tensor has no graph, or no backward pass was traced.
        TypeError: `target` is not one of these.
        ValueError: A name is given to a tensor that is not a leaf of the graph.

    Example:
        >>> from minigrad import ones, tensor, viz
        >>> x = tensor([[1.0], [2.0]], requires_grad=True)
        >>> viz.explain((x * ones(3)).sum(), x=x)
        backward pass from sum: 2 steps, 1 leaf
        <BLANKLINE>
        step 1: sum
          ḡ: scalar
          x is the output of step 2 (multiply)
          x: spread(ḡ)
            2×3 to step 2 (multiply)
            rule: undo_reduction(g, x_shape, axis), minigrad/ops/reductions.py:...
            spread: repeated along the axes that were reduced
        <BLANKLINE>
        step 2: multiply
          ḡ: 2×3
          a is `x`, b is a constant
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
        return _Writer(target).explanation()
    if not isinstance(target, Tensor):
        raise TypeError(f"explain: expected a Tensor, Graph or Trace, not {type(target).__name__}")
    root = node_of(history(target))
    if not isinstance(root, Record):
        raise RuntimeError(f"explain: the tensor {why_not(target)}")
    return _Writer(*planned(root, names)).explanation()


def planned(root: Record, names: Mapping[str, Any]) -> tuple[Diagram, bool]:
    """Plan a backward pass from a node, the youngest node first.

    The second result says whether an earlier pass freed the saved arrays.
    """
    entries = read([root])
    leaves = leaf_names("explain", names, entries)
    diagram, ids = assemble(entries.values(), [("output", entries[root])], leaves)
    nodes: list[Any] = [node for node in entries if isinstance(node, Record)]
    nodes.sort(key=lambda node: node.stamp, reverse=True)
    steps = []
    for node in nodes:
        op, shape, dtype = node.plan.op, node.shape, node.dtype
        parts = tuple(
            Part(
                ids[entries[edge]], slot, name, Summary(edge.shape, edge.dtype.name),
                _raw_shape(op, name, shape, edge.shape),
            )
            for edge, slot, name in edges_of(node)
        )  # fmt: skip
        given = {} if node.freed else dict(zip(node.plan.saved_names, node.saved, strict=True))
        steps.append(Step(ids[entries[node]], op.name, Summary(shape, dtype.name), parts, given))
    freed = any(node.freed for node in nodes)
    return replace(diagram, steps=number_arrivals(steps)), freed


def _raw_shape(op: Primitive, name: str, out: Shape, argument: Shape) -> Shape:
    """The shape that a rule returns before un-broadcasting, as far as a plan can know it."""
    found = formula_of(op, name)
    if op in ELEMENTWISE or (found is not None and found.text in ("ḡ", "−ḡ")):
        return out
    matmul = op is registry["matmul"]
    if matmul and len(argument) == 1:
        return (*out[:-1], *argument)
    summed = name == "b" and len(argument) == 2  # the rule itself sums over a stack
    if matmul and len(argument) <= len(out) and not summed:
        return (*out[:-2], *argument[-2:])
    return argument


class _Writer:
    def __init__(self, diagram: Diagram, freed: bool = False) -> None:
        self.steps, self.freed = diagram.steps, freed
        self.sources = argument_sources(diagram)
        self.numbers: dict[str, list[int]] = defaultdict(list)  # of the steps of each box
        for number, step in enumerate(self.steps, 1):
            self.numbers[step.node].append(number)
        self.groups: dict[str | None, Group] = {group.id: group for group in diagram.groups}
        self.nodes: dict[str, Node] = {node.id: node for node in diagram.nodes}

    def next_step(self, box: str, after: int) -> int:
        """The number of the next step of a box; 0 if its gradient is complete."""
        return next((number for number in self.numbers[box] if number > after), 0)

    def explanation(self) -> Explanation:
        """The text in both forms; it keeps nothing of the graph."""
        return Explanation("\n".join(self.lines()), "\n".join(self.latex()))

    def lines(self) -> Iterator[str]:
        """All lines, an empty one before each step."""
        first = self.nodes[self.steps[0].node]
        leaves = {
            part.target
            for number, step in enumerate(self.steps, 1)
            for part in step.parts
            if not self.next_step(part.target, number)
        }
        counts = f"{counted(len(self.steps), 'step')}, {counted(len(leaves), 'leaf', 'leaves')}"
        yield f"backward pass from {printable(first.label)}: {counts}"
        if self.freed:
            yield "it cannot run again: an earlier pass freed what was saved"
        for number, step in enumerate(self.steps, 1):
            yield ""
            yield from self._step(number, step)

    def _step(self, number: int, step: Step) -> Iterator[str]:
        node = self.nodes[step.node]
        where = f" in {place}" if (place := self._place(node)) else ""
        line = f"  ({printable(node.line)})" if node.line else ""
        yield f"step {number}: {printable(node.label)}{where}{line}"
        yield f"  ḡ: {shape_text(step.cotangent.shape)}{_numbers(step.cotangent)}"
        if told := self._arguments(number, step):
            yield from _wrapped(told, "  ")
        if node.saved:
            saved = (f"{s.name} {shape_text(s.shape)}, {readable(s.nbytes)}" for s in node.saved)
            yield from _wrapped(f"saved: {'; '.join(saved)}", "  ")
        for part in step.parts:
            found = formula_of(node.primitive, part.name, step.given or {})
            value, *rule = _rule(found) if found is not None else ["its own rule"]
            yield from _wrapped(f"{part.name}: {value}", "  ")
            yield from _wrapped(self._sent(part, self.next_step(part.target, number)), "    ")
            if part.unchecked:
                what = "not checked" if part.check is None else "a finite difference"
                yield from _wrapped(f"{what}: {part.unchecked}", "    ")
            if part.check is not None:
                beside = "beside it, " if part.unchecked else ""
                yield f"    {beside}{part.check:.1e} from a finite difference"
            for line in rule:
                yield from _wrapped(line, "    ")

    def latex(self) -> Iterator[str]:
        """All steps with their formulas, as LaTeX."""
        yield r"In each step, $y$ is the output of the op, and $\bar{g}$ the gradient of $y$."
        for number, step in enumerate(self.steps, 1):
            node = self.nodes[step.node]
            label, place = prose(printable(node.label)), prose(self._place(node))
            where = rf" in \texttt{{{place}}}" if place else ""
            yield rf"\paragraph{{Step {number}: \texttt{{{label}}}{where}}}"
            if told := self._arguments(number, step):
                yield re.sub("`(.*?)`(?=, |$)", r"\\texttt{\1}", prose(told)) + "."
            rows, notes = [], dict[str, None]()
            for part in step.parts:
                axes = summed_axes(part.raw_shape, part.sent.shape)
                found = formula_of(node.primitive, part.name, step.given or {}, axes)
                rows.append(f"{_gradient(part.name)} &= {found.latex if found else OWN}")
                notes |= dict.fromkeys(found.notes if found else ())
            yield from (r"\begin{align*}", NEXT_ROW.join(rows), r"\end{align*}")
            if notes:
                yield prose("; ".join(notes)) + "."

    def _place(self, node: Node) -> str:
        """The module or function that an op ran in."""
        group = self.groups.get(node.group)
        return printable(group.place) if group is not None else ""

    def _arguments(self, number: int, step: Step) -> str:
        """Which of the reader's tensors the arguments of the rule are."""
        told = []
        for name, source in self.sources[step.node].items():
            node, made_in = self.nodes[source], self.next_step(source, number)
            what = "a constant" if node.kind == "constant" else f"`{printable(node.label)}`"
            if made_in:
                what = f"the output of step {made_in} ({printable(node.label)})"
            told.append(f"{name} is {what}")
        return ", ".join(told)

    def _sent(self, part: Part, step: int) -> str:
        """Shapes, un-broadcasting, the target and the place among its contributions."""
        target, raw, shape = self.nodes[part.target], part.raw_shape, part.sent.shape
        label = printable(target.label)
        to = f"step {step} ({label})" if step else f"the gradient of {label}"
        sums = _summed(raw, shape)
        text = f"{shape_text(raw)}{sums}{_numbers(part.sent)}{',' * bool(sums)} to {to}"
        if part.arrivals > 1:
            text += f", {part.arrival} of {part.arrivals}"
        if part.total is not None:
            text += f", together{_numbers(part.total)}"
        return text


def _gradient(name: str) -> str:
    """The gradient of an argument, such as ``tensors[2]``, as LaTeX."""
    argument, bracket, index = name.partition("[")
    return latex(n.Symbol(argument, bar=True)) + bracket + index


def _rule(found: Formula) -> Iterator[str]:
    """The formula of a rule, its source, and its notes."""
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
    axes = summed_axes(raw, shape)
    if not axes:
        return f", reshaped to {shape_text(shape)}"
    word = "axis" if len(axes) == 1 else "axes"
    return f", summed over {word} {', '.join(map(str, axes))} to {shape_text(shape)}"


def _numbers(numbers: Summary) -> str:
    """The values of a small array, the norm of a large one, and the counts of NaN and infinity."""
    if math.isnan(numbers.norm):  # a plan
        return ""
    if numbers.values is not None and len(numbers.values) <= SHOWN:
        flat = ", ".join(f"{value:.4g}" for value in numbers.values)
        return ", ".join([f" = {flat if not numbers.shape else f'[{flat}]'}", *numbers.remarks()])
    return f" ({', '.join([f'norm {numbers.norm:.4g}', *numbers.remarks()])})"
