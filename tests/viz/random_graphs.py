"""Graphs of every shape, for hypothesis: random modules that are run, and random diagrams."""

import hypothesis.strategies as st

import minigrad
from minigrad import Tensor, nn
from minigrad.viz import Edge, Graph, Group, Node

Plan = list[tuple[str, "Plan"]]


class Random(nn.Module):
    """A module that does what a plan says: an op, a call of a child, a residual around it."""

    def __init__(self, plan: Plan, width: int = 3) -> None:
        super().__init__()
        self.steps = [step for step, _ in plan]
        self.weight = nn.Parameter(minigrad.ones(width))
        self.children_ = nn.ModuleList([Random(below, width) for _, below in plan])

    def forward(self, x: Tensor, extra: Tensor) -> Tensor:
        start = x
        for step, child in zip(self.steps, self.children_, strict=True):
            if step == "call":
                x = child(x, start)
            elif step == "twice":
                x = child(child(x, start), extra)
            elif step == "residual":
                x = x + child(x, extra)
            elif step == "skip":
                x = x + start
            else:
                x = x * self.weight
        return x * extra


plans = st.recursive(
    st.just([]),
    lambda below: st.lists(
        st.tuples(st.sampled_from(["call", "twice", "residual", "skip", "op"]), below), max_size=3
    ),
    max_leaves=8,
)


@st.composite
def diagrams(draw: st.DrawFn, most: int = 16) -> Graph:
    """Nodes that read any of those before them, in groups within groups, each a run of nodes."""
    count = draw(st.integers(1, most))
    groups: list[Group] = []
    homes: list[str | None] = [None] * count

    def fill(start: int, end: int, parent: str | None, level: int) -> None:
        at = start
        while at < end:
            length = draw(st.integers(1, end - at))
            if level < 3 and draw(st.booleans()):
                group = Group(f"g{len(groups)}", f"m{len(groups)}", "", "Module", parent)
                groups.append(group)
                homes[at : at + length] = [group.id] * length
                fill(at, at + length, group.id, level + 1)
            at += length

    fill(0, count, None, 0)
    nodes, edges = [], []
    for index in range(count):
        sources = draw(st.lists(st.integers(0, index - 1), max_size=3)) if index else []
        leaf = draw(st.sampled_from(["input", "parameter", "constant"]))
        label = draw(st.sampled_from(["add", "matmul", "a_long_name_of_an_op"]))
        kind = "op" if sources else leaf
        home = None if kind == "input" else homes[index]
        nodes.append(Node(f"n{index}", kind, label, (2, 3), group=home))
        for slot, source in enumerate(sources):
            shape = (2, 3) if source % 2 else (1024, 2048, 4096)
            edges.append(Edge(f"n{source}", f"n{index}", slot, "abc"[slot], shape))
    held = {node.group for node in nodes}
    for group in reversed(groups):
        if group.id in held:
            held.add(group.parent)
    return Graph(tuple(nodes), tuple(edges), tuple(g for g in groups if g.id in held))
