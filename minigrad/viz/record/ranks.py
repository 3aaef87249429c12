"""Collectives in drawings: what one rank sends where, and the graphs of all ranks as one."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any

from minigrad.autograd.primitive import Primitive, registry
from minigrad.distributed.communicators import Call, world
from minigrad.viz.record.model import AnyDiagram, Edge, Group, Node

CALL = "call "


def call_notes(op: Primitive, call: Call, arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Which call of a collective it is, and to and from which ranks of its group arrays go."""
    comm = call.comm
    rank, size = comm.rank, comm.size
    pairs = [(s, t) for s in range(size) for t in range(size) if s != t]
    if op is registry["ppermute"]:
        pairs = [(s, t) for s, t in arguments["perm"] if s != t]
    elif op is registry["broadcast"]:
        pairs = [(s, t) for s, t in pairs if s == arguments["root"]]
    elif op is registry["reduce_to_root"]:
        pairs = [(s, t) for s, t in pairs if t == arguments["root"]]
    elif op is registry["ring_attention"]:
        pairs = [(s, t) for s, t in pairs if t == (s + 1) % size]
    elif op is registry["copy_to_parts"]:
        pairs = []  # in the backward pass only
    to, origin = [t for s, t in pairs if s == rank], [s for s, t in pairs if t == rank]
    sent = [f"to {', '.join(map(str, to))}"] * bool(to)
    sent += [f"from {', '.join(map(str, origin))}"] * bool(origin)
    members = ", ".join(map(str, comm.world_ranks))
    return f"{CALL}{call.number} of ranks {members}", *sent


def all_ranks(graph: AnyDiagram) -> AnyDiagram:
    """Join the graphs of all ranks; each collective is one box. All ranks call this.

    The ops of a rank between two collectives stand in a group with its number.

    Args:
        graph: This rank's graph, of a small program.

    Returns:
        The graph of all ranks, on every rank.

    Example:
        >>> from minigrad import distributed, ones, viz
        >>> x = ones(2, requires_grad=True)
        >>> y = distributed.all_reduce(x * x)
        >>> len(viz.all_ranks(viz.graph(y, x=x)).nodes)  # on two ranks: 7, with one all_reduce
        4
    """
    texts = world().all_gather_object(graph.to_json())
    boxes: dict[Any, Node] = {}
    edges: list[tuple[Any, Any, Edge]] = []
    before: dict[Any, list[Any]] = defaultdict(list)
    for rank, other in enumerate(map(type(graph).from_json, texts)):
        notes = [(node.id, note) for node in other.nodes for note in node.notes]
        calls = {box: note for box, note in notes if note.startswith(CALL)}
        for node in other.nodes:
            boxes.setdefault(calls.get(node.id, (rank, node.id)), node)
        for edge in other.edges:
            source, target = (calls.get(end, (rank, end)) for end in (edge.source, edge.target))
            name = f"rank {rank}" if edge.target in calls else edge.name
            edges.append((source, target, replace(edge, name=name)))
            before[target].append(source)
    order = [*TopologicalSorter({key: before[key] for key in boxes}).static_order()]
    stages: dict[Any, int] = {}  # how many collectives come before a box, one after the other
    for key in order:
        stages[key] = max((stages[end] + isinstance(end, str) for end in before[key]), default=0)
    for key in order:  # what is given stands beside its first use
        if not before[key]:
            stages[key] = min(stages[target] for source, target, _ in edges if source == key)
    parts = sorted({(stages[key], key[0]) for key in order if not isinstance(key, str)})
    groups = {part: Group(f"g{i}", f"rank {part[1]}", "", "") for i, part in enumerate(parts)}
    ids = {key: f"n{i}" for i, key in enumerate(order)}
    nodes = [
        replace(boxes[key], id=ids[key], group=None, notes=_alike(boxes[key]))
        if isinstance(key, str)
        else replace(boxes[key], id=ids[key], group=groups[stages[key], key[0]].id)
        for key in order
    ]
    drawn = [replace(edge, source=ids[a], target=ids[b]) for a, b, edge in edges]
    return type(graph)(tuple(nodes), tuple(drawn), tuple(groups.values()), graph.dtype)


def _alike(collective: Node) -> tuple[str, ...]:
    """The notes that are the same on all ranks that take part."""
    return tuple(note for note in collective.notes if not note.startswith(("to ", "from ")))
