"""A diagram as text for a terminal: a line for each op, in order, indented by module."""

from collections.abc import Iterator
from dataclasses import replace

from minigrad.debugging.tables import Text
from minigrad.viz.layout.labels import COMMUTATIVE, operand_name, title_of
from minigrad.viz.record.fold import collapse
from minigrad.viz.record.model import Diagram, Edge, Group, Node
from minigrad.viz.record.roles import residuals
from minigrad.viz.record.writing import Row, columns, printable, size_text

INDENT = "  "


def to_text(diagram: Diagram, depth: int | None = None) -> Text:
    """Write a diagram as text; `minigrad.viz.Graph.to_text` describes it."""
    return columns(_Writer(collapse(diagram, depth)).rows())


class _Writer:
    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.nodes = {node.id: node for node in diagram.nodes}
        self.enclosing = diagram.enclosing()
        self.into = diagram.into()
        self.residuals = {diagram.edges[index] for index in residuals(diagram)}
        # The tensors that come out of each box: of a closed module there may be several.
        self.made: dict[str, dict[str, Node]] = {
            node.id: {"": node} for node in diagram.nodes if node.kind in ("op", "module")
        }
        boxes = {node.id: node for node in diagram.nodes if node.kind == "module"}
        for edge in sorted(diagram.edges, key=lambda edge: int(edge.output[1:] or 0)):
            if edge.source in boxes:
                self.made[edge.source].pop("", None)
                tensor = replace(
                    boxes[edge.source], shape=edge.shape, dtype=edge.dtype, samples=edge.samples
                )
                self.made[edge.source][edge.output] = tensor
        every = ((box, output) for box, outputs in self.made.items() for output in outputs)
        self.numbers = {made: f"%{number}" for number, made in enumerate(every)}
        given = [node for node in diagram.nodes if node.kind == "constant"]
        self.constants = {node.id: f"const{number}" for number, node in enumerate(given)}

    def rows(self) -> Iterator[Row]:
        """All lines: inputs, ops within their modules, outputs."""
        for node in self.diagram.nodes:
            if node.kind == "input":
                yield printable(node.label), f"→ {self._tensor(node)}", "· input"
        open_: tuple[Group, ...] = ()
        entered: set[str] = set()
        for node in self.diagram.nodes:
            if node.id not in self.made:
                continue
            around = self.enclosing[node.group][::-1]
            kept = sum(a is b for a, b in zip(open_, around, strict=False))
            for level, group in enumerate(around[kept:], kept):
                yield self._heading(group, level, group.id in entered)
                entered.add(group.id)
            open_ = around
            yield self._line(node, INDENT * len(around))
        for node in self.diagram.nodes:
            if node.kind == "output":
                sources = ", ".join(self._source(edge, None) for edge in self.into[node.id])
                yield f"{printable(node.label)} = {sources}", f"→ {self._tensor(node)}"

    def _heading(self, group: Group, level: int, again: bool) -> Row:
        """The title above the ops of an open group."""
        size = title_of(group)[2].text
        facts = [size] * bool(size) + ["continued"] * again
        return (INDENT * level + "  · ".join([_called(group), *facts]), "")

    def _line(self, node: Node, indent: str) -> Row:
        read = self.into[node.id]
        home = next(iter(self.enclosing[node.group]), None)
        if node.kind == "module":
            called = _called(self.enclosing[node.id][0])
            arguments = list(dict.fromkeys(self._source(edge, home) for edge in read))
            remarks = node.notes
        else:
            called = printable(node.label)
            second = bool(read) and bool(read[0].slot)  # nothing is known of the first
            named = second or (len(read) > 1 and called not in COMMUTATIVE)
            arguments = [self._argument(edge, home, named) for edge in read]
            arguments += map(printable, node.notes)
            remarks = tuple(
                f"residual {self._source(e, home)}" for e in read if e in self.residuals
            )
            remarks += (f"✕ {printable(node.error)}",) if node.error else ()
            remarks += ("not recorded",) if not node.recorded else ()
        outputs = self.made[node.id]
        result = "" if node.error else f"→ {', '.join(map(self._tensor, outputs.values()))}"
        numbers = ", ".join(self.numbers[node.id, output] for output in outputs)
        left = f"{indent}{numbers} = {called}({', '.join(arguments)})"
        return (left, result, *(f"· {remark}" for remark in remarks))

    def _argument(self, edge: Edge, home: Group | None, named: bool) -> str:
        """The tensor that is read, with the name of the argument where the order matters."""
        source, name = self._source(edge, home), operand_name(edge.name)
        told = source.split(" ")[0].rpartition(".")[2] == name
        return source if told or not named or not name else f"{name} = {source}"

    def _source(self, edge: Edge, home: Group | None) -> str:
        """Where a tensor comes from: an op's number, or the name of an input."""
        outputs = self.made.get(edge.source)
        if outputs is not None:
            return self.numbers[edge.source, edge.output if edge.output in outputs else ""]
        node = self.nodes[edge.source]
        if node.kind == "constant":
            return f"{self.constants[node.id]} {size_text(node)}"
        prefix = f"{home.path}." if home is not None and home.path else ""
        name = printable(node.label.removeprefix(prefix))
        return name if node.kind == "input" else f"{name} {size_text(node)}"

    def _tensor(self, node: Node) -> str:
        """A shape, and the dtype if it is another than usual."""
        dtype = "" if node.dtype == self.diagram.dtype else f" {node.dtype}"
        return size_text(node) + dtype


def _called(group: Group) -> str:
    """The name and class of a module."""
    name, kind, _ = title_of(group)
    return f"{name.text}: {kind.text}" if kind.text else name.text
