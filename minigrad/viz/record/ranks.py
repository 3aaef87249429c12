"""Collectives in drawings: what one rank sends where, and the graphs of all ranks as one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter
from typing import Any

from minigrad.autograd.primitives import Primitive, registry
from minigrad.distributed.communicators import Call, world
from minigrad.viz.record.model import AnyDiagram, Diagram, Edge, Group, Node
from minigrad.viz.record.steps import Step

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
    elif op is registry["copy_to_parts"]:
        pairs = []  # in the backward pass only
    to, origin = [t for s, t in pairs if s == rank], [s for s, t in pairs if t == rank]
    sent = [f"to {', '.join(map(str, to))}"] * bool(to)
    sent += [f"from {', '.join(map(str, origin))}"] * bool(origin)
    members = ", ".join(map(str, comm.world_ranks))
    return f"{CALL}{call.number} of ranks {members}", *sent


def all_ranks(graph: AnyDiagram) -> AnyDiagram:
    """Join the graphs of all ranks; each collective is one box. All ranks call this.

    The ops of a rank between two collectives are in a group with its number. The ranks run their
    backward passes at the same time; the steps between two collectives are listed rank by rank, and
    a collective has a step of each rank.

    Args:
        graph: This rank's graph, of a small program; the backward pass is that of a trace.

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
    graphs = [type(graph).from_json(text) for text in texts]
    keys = [_keys(rank, other) for rank, other in enumerate(graphs)]
    boxes: dict[Any, Node] = {}
    edges: list[tuple[Any, Any, Edge]] = []
    before: dict[Any, list[Any]] = {}
    for rank, other in enumerate(graphs):
        for node in other.nodes:
            boxes.setdefault(keys[rank][node.id], node)
        for edge in other.edges:
            source, target = keys[rank][edge.source], keys[rank][edge.target]
            name = f"rank {rank}" if isinstance(target, str) else edge.name
            edges.append((source, target, replace(edge, name=name)))
            before.setdefault(target, []).append(source)
    stages = _stages({key: before.get(key, []) for key in boxes})
    for key in stages:  # an input is beside its first use
        if key not in before:
            stages[key] = min(stages[target] for source, target, _ in edges if source == key)
    parts = sorted({(stage, key[0]) for key, stage in stages.items() if not isinstance(key, str)})
    groups = {part: Group(f"g{i}", f"rank {part[1]}", "", "") for i, part in enumerate(parts)}
    ids = {key: f"n{i}" for i, key in enumerate(stages)}
    nodes = [
        replace(boxes[key], id=ids[key], group=None, notes=_alike(boxes[key]))
        if isinstance(key, str)
        else replace(boxes[key], id=ids[key], group=groups[stage, key[0]].id)
        for key, stage in stages.items()
    ]
    drawn = [replace(edge, source=ids[a], target=ids[b]) for a, b, edge in edges]
    called = [{name: ids[key] for name, key in own.items()} for own in keys]
    steps = _steps_of_all(graphs, keys, called)
    return type(graph)(tuple(nodes), tuple(drawn), tuple(groups.values()), graph.dtype, steps)


def _keys(rank: int, graph: Diagram) -> dict[str, Any]:
    """A key for each box; of a collective the note that says which it is, alike on all ranks."""
    return {
        node.id: next((note for note in node.notes if note.startswith(CALL)), (rank, node.id))
        for node in graph.nodes
    }


def _stages(before: Mapping[Any, Sequence[Any]]) -> dict[Any, int]:
    """How many collectives come before each key, one after the other; sources come first."""
    stages: dict[Any, int] = {}
    for key in TopologicalSorter(before).static_order():
        stages[key] = max((stages[end] + isinstance(end, str) for end in before[key]), default=0)
    return stages


def _steps_of_all(
    graphs: Sequence[Diagram], keys: Sequence[dict[str, Any]], ids: Sequence[dict[str, str]]
) -> tuple[Step, ...]:
    """The steps of all ranks in one order, with the ids of the joined graph."""
    steps: dict[Any, list[Step]] = defaultdict(list)
    before: dict[Any, list[Any]] = defaultdict(list)
    for rank, graph in enumerate(graphs):
        last = None
        for i, step in enumerate(graph.steps):
            key = keys[rank][step.node]
            key = f"{key}, pass {step.run}" if isinstance(key, str) else (rank, i)
            before[key] += [] if last is None else [last]
            parts = tuple(replace(part, target=ids[rank][part.target]) for part in step.parts)
            named = ids[rank][step.node]
            steps[key].append(replace(step, node=named, parts=parts, rank=rank))
            last = key
    stages = _stages(before)

    def place(key: Any) -> tuple[int, int, bool, Any]:
        return steps[key][0].run, stages[key], isinstance(key, str), key

    return tuple(step for key in sorted(stages, key=place) for step in steps[key])


def _alike(collective: Node) -> tuple[str, ...]:
    """The notes that are the same on all ranks that take part."""
    return tuple(note for note in collective.notes if not note.startswith(("to ", "from ")))
