"""A graph as plain data: boxes, the tensors between them, and the groups around them.

`Diagram` is the same in every process, and is written to JSON and read back without loss.
Everything that draws reads only this.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, fields
from functools import cache, partial
from types import NoneType
from typing import Any, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from minigrad.autograd.primitives import Primitive, registry
from minigrad.viz.record.heatmap import Heatmap
from minigrad.viz.record.held import Held
from minigrad.viz.record.steps import Step, Summary

Kind = Literal["op", "parameter", "buffer", "input", "constant", "output", "module"]

Cause = Literal["", "given", "frozen", "shared", "detach", "no_grad", "underivable", "discrete",
                "constant"]  # fmt: skip
"""What keeps gradients from a box; empty if nothing in it does."""

FORMAT = 6
"""Changes when old JSON can no longer be read."""

UNWRITTEN = ("primitive", "given")
"""Fields that are not written to JSON: objects of this process."""

LEAVES = ("parameter", "buffer", "constant")
"""The kinds of tensors that a module owns."""

NOT_KEPT = ": needs no gradient"
"""Ends a note on an argument of which the engine keeps nothing: it is all that is known of it."""


@dataclass(frozen=True, slots=True)
class Saved:
    """An array that an op keeps for its backward step.

    Attributes:
        name: What it is: the name of an argument, ``out``, or of a residual.
        shape: Its shape.
        dtype: Its dtype.
        nbytes: Its size in bytes.
        kept: For each backward pass the bytes that lived until then because of it, up to the last
            one that it lived for: none if it lived for none, since the op led to no loss or a
            checkpoint ran it again. 0 if an earlier op saved the same memory, or if it is that of a
            leaf; of a view, those of the whole array.
        numbers: What it held when it was saved, in a trace; None otherwise.

    Example:
        >>> from minigrad import exp, ones, viz
        >>> x = ones(3, requires_grad=True)
        >>> [op] = [node for node in viz.graph(exp(x)).nodes if node.kind == "op"]
        >>> op.saved
        (Saved(name='out', shape=(3,), dtype='float32', nbytes=12, kept=(12,)),)
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    nbytes: int
    kept: tuple[int, ...] = ()
    numbers: Summary | None = field(default=None, repr=False)

    @property
    def most(self) -> int:
        """The bytes that lived because of it, until the pass for which they were the most."""
        return max(self.kept, default=0)


@dataclass(frozen=True, slots=True)
class Node:
    """A box: an op, a tensor from outside, an output, or a closed module.

    Attributes:
        id: ``"n0"``, ``"n1"``, ... in order of creation; a closed module has the id of its group.
        kind: The kind of the box.
        label: The op's name, the parameter's full name, or the module's name for the input.
        shape: The shape of the tensor that comes out of the box.
        dtype: Its dtype.
        group: The id of the innermost group around the box, None at the top.
        notes: For a closed module, its parameters, one a line; for an op, its numbers and other
            static arguments. Without a trace only those that its rules saved are known.
        line: Where the program made it, such as ``"train.py:31: y = x.log()"``; empty if unknown.
        cause: What keeps gradients from it: it was given without requiring one, is frozen, shares
            the values of a parameter, was detached, ran under ``no_grad``, is of an op without a
            derivative, holds integers, or was computed from such boxes only. A leaf that was frozen
            after ops had read it is "frozen", too: a pass computes its gradient, and drops it.
        saved: What an op keeps for its backward step; empty once that has run: see `freed`.
        value: Its tensor in numbers, in a trace; of an op with several outputs the first. None if
            it is not known.
        born: ``"NaN"`` or ``"inf"`` if the op made the first: its output has it, its inputs do not;
            ``"NaN"`` for a tensor that brought it from outside.
        error: The message of the error that ended the forward pass in this op.
        grads: Of a leaf that got a gradient in a trace, what its ``.grad`` held, event by event.
        again: The id of the first box of its tensor, if there is an earlier one: it was written,
            frozen or thawed since.
        freed: Whether a backward pass has freed what the op saved.
        samples: How many of the first axes of the shape count the samples of `vmap`.
        primitive: The op itself; None for a box that is not an op, and for a user's op in a graph
            from another process.
        given: Copies of what an op without a step computed with, by name; None for large arrays,
            and in a graph from JSON. Of an op with steps these have it.

    Example:
        >>> from minigrad import ones, viz
        >>> x = ones(3, requires_grad=True)
        >>> [(node.kind, node.label) for node in viz.graph(x * x, x=x).nodes]
        [('input', 'x'), ('op', 'multiply'), ('output', 'output')]
    """

    id: str
    kind: Kind
    label: str
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    group: str | None = None
    notes: tuple[str, ...] = ()
    line: str = ""
    cause: Cause = ""
    saved: tuple[Saved, ...] = ()
    value: Summary | None = field(default=None, repr=False)
    born: str = ""
    error: str = ""
    grads: tuple[Held, ...] = field(default=(), repr=False)
    again: str = ""
    freed: bool = False
    samples: int = 0
    primitive: Primitive | None = field(default=None, compare=False, repr=False)
    given: dict[str, Any] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.primitive is None and self.kind == "op":
            object.__setattr__(self, "primitive", registry.get(self.label))

    @property
    def recorded(self) -> bool:
        """Whether an op is in the graph, unlike under ``no_grad``; False of what is frozen."""
        return self.cause in ("", "given")

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        """Pickle without the op: it is an object of this process."""
        names = [one.name for one in fields(self) if one.name not in UNWRITTEN]
        return partial(Node, **{name: getattr(self, name) for name in names}), ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A tensor on its way into one argument of an op: ``x * x`` has two edges.

    Attributes:
        source: The id of the node where the tensor comes from.
        target: The id of the node that it goes into.
        slot: Which argument it is; None where it enters a closed module.
        name: What the op calls that argument.
        shape: The shape of the tensor.
        dtype: Its dtype.
        output: For an output of a closed module, the id of the node inside that made it.
        samples: How many of the first axes of the shape count the samples of `vmap`.
        place: Which of the outputs of the source it is, from 0.

    Example:
        >>> from minigrad import ones, viz
        >>> x = ones(3, requires_grad=True)
        >>> [(edge.source, edge.target, edge.name) for edge in viz.graph(x * x).edges]
        [('n0', 'n1', 'a'), ('n0', 'n1', 'b'), ('n1', 'n2', '')]
    """

    source: str
    target: str
    slot: int | None = 0
    name: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = "float32"
    output: str = ""
    samples: int = 0
    place: int = 0


@dataclass(frozen=True, slots=True)
class Group:
    """One call of a module or of a function of several ops, such as a fused op that was opened.

    Attributes:
        id: ``"g0"``, ``"g1"``, ... in order of creation: a parent comes before its children.
        name: What the parent calls the module, empty at the top; the name of the function.
        path: The dotted names from the outermost call, empty at the top; of a function that of
            the module in which it ran.
        module: The module's class; empty for a function.
        parent: The id of the group around this one, None at the top.
        size: The number of parameter values in the module; None if the module is gone.
        call: Which call of the module this is, from 1.
        calls: How many calls of the module there are.
        samples: Of a call of `vmap`, how many samples it runs for; 0 otherwise.
        fused: Whether it is a fused op that was opened.
        kept: Of a fused op that was opened, for each backward pass the bytes that it keeps alive as
            one op: its parts count none.

    Example:
        >>> from minigrad import nn, ones, viz
        >>> layer = nn.Linear(4, 4)
        >>> twice = viz.graph(layer(layer(ones(2, 4))))
        >>> [(group.module, group.call, group.size) for group in twice.groups]
        [('Linear', 1, 20), ('Linear', 2, 20)]
    """

    id: str
    name: str
    path: str
    module: str
    parent: str | None = None
    size: int | None = None
    call: int = 1
    calls: int = 1
    samples: int = 0
    fused: bool = False
    kept: tuple[int, ...] = ()

    @property
    def function(self) -> bool:
        """Whether this is a call of a function."""
        return not self.module

    @property
    def title(self) -> str:
        """What a tooltip says of it: its path and class, or the function and where it ran."""
        return self.place if self.function else f"{self.path or 'the whole'}: {self.module}"

    @property
    def place(self) -> str:
        """Where an op in it is: the path of its module, after the function if it is in one."""
        if not self.function:
            return self.path or self.module
        return f"{self.name} in {self.path}" if self.path else self.name


@dataclass(frozen=True, slots=True)
class Diagram:
    """Boxes with their edges and groups; every edge leads to a later box.

    Attributes:
        nodes: The boxes.
        edges: The tensors between them.
        groups: The calls of modules and functions, parents before their children.
        dtype: The default dtype, which is not shown.
        steps: The backward pass, if one was traced.
        heatmaps: The weights of attention, if it was traced.
        left: Why the graph does not have all that the program computed, with the line: a value
            left it before other ops ran, or an op read a gradient that was not recorded. Empty if
            it has all.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...] = field(default=())
    dtype: str = "float32"
    steps: tuple[Step, ...] = ()
    heatmaps: tuple[Heatmap, ...] = ()
    left: str = ""

    def to_json(self) -> str:
        """Write the diagram as JSON.

        Returns:
            The text; equal diagrams give equal texts, in every process.

        Example:
            >>> from minigrad import ones, viz
            >>> x = ones(3, requires_grad=True)
            >>> drawing = viz.graph(x * x)
            >>> viz.Graph.from_json(drawing.to_json()) == drawing
            True
        """
        return json.dumps({"format": FORMAT, **_plain(self)}, default=_plain, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what `to_json` wrote.

        Args:
            text: The JSON text.

        Returns:
            A diagram equal to the one that was written.

        Raises:
            ValueError: The text is not JSON, or not a diagram, or of another version.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"from_json: not a graph that viz wrote: 'format' is not {FORMAT}")
        try:
            read: Self = _read(cls, {name: data[name] for name in data if name != "format"})
            return read
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"from_json: not a graph that viz wrote: {error}") from error

    def counts(self) -> Counter[str]:
        """How many ops ran, and how many boxes of the other kinds there are.

        A parameter that was updated is one.
        """
        found: Counter[str] = Counter(
            node.kind
            for node in self.nodes
            if not node.error and not (node.kind == "parameter" and node.again)
        )
        modules = [group for group in self.groups if not group.function]
        found.update(module=len(modules) - found["module"])
        return found

    def kept(self) -> Counter[str]:
        """The bytes that each box and group keeps until a backward pass, by its id.

        Each array counts once, for the op that saved it first. ``""`` has those of all. Of several
        passes it is the one for which the most is kept.
        """
        around = self.enclosing()
        kept = [(node.id, node.group, one.kept) for node in self.nodes for one in node.saved]
        kept += [(group.id, group.parent, group.kept) for group in self.groups]
        passes: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for box, home, sizes in kept:
            places = ("", box, *(group.id for group in around[home]))
            for number, nbytes in enumerate(sizes):
                passes[number].update(dict.fromkeys(places, nbytes))
        found = Counter[str]()
        for one in passes.values():
            found |= one
        return found

    def enclosing(self) -> dict[str | None, tuple[Group, ...]]:
        """The groups around a box, the innermost first, by the id of its own group."""
        found: dict[str | None, tuple[Group, ...]] = {None: ()}
        for group in self.groups:
            found[group.id] = (group, *found[group.parent])
        return found

    def into(self) -> defaultdict[str, list[Edge]]:
        """The edges into each box, in order, by its id."""
        found: defaultdict[str, list[Edge]] = defaultdict(list)
        for edge in self.edges:
            found[edge.target].append(edge)
        return found

    def ancestors(self) -> dict[str, tuple[str, ...]]:
        """The ids of each box and of the groups around it, the innermost first."""
        around = self.enclosing()
        return {n.id: (n.id, *(group.id for group in around[n.group])) for n in self.nodes}


AnyDiagram = TypeVar("AnyDiagram", bound=Diagram)


def _plain(record: Any) -> dict[str, Any]:
    names = (one.name for one in fields(record) if one.name not in UNWRITTEN)
    return {name: getattr(record, name) for name in names}


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of the fields that are written to JSON."""
    return {name: hint for name, hint in get_type_hints(kind).items() if name not in UNWRITTEN}


def _read(kind: Any, value: Any) -> Any:
    """A value of a type, from what `asdict` and JSON made of it."""
    options = get_args(kind)
    if get_origin(kind) is Literal:
        if value not in options:
            raise ValueError(f"from_json: {value!r} is not one of {', '.join(options)}")
        return value
    if NoneType in options:
        return None if value is None else _read(options[0], value)
    if get_origin(kind) is tuple:
        kinds = options[:1] * len(value) if options[-1] is ... else options
        return tuple(_read(one, part) for one, part in zip(kinds, value, strict=True))
    if hasattr(kind, "__dataclass_fields__"):
        hints = _hints(kind)
        return kind(**{name: _read(hints[name], part) for name, part in value.items()})
    return value
