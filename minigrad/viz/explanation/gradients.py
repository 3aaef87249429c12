"""What ``.grad`` holds in the end; and why a box has no gradient.

That is the first place where its connection to the loss is lost.
The diagram of a trace has every op: those that were not recorded, have no rules, require no
gradient, or lead nowhere, too.
"""

from collections import defaultdict
from collections.abc import Iterator

from minigrad.viz.record.model import Diagram, Node

FROZEN = "It is frozen: a parameter with requires_grad=False gets no gradient."
GIVEN = (
    "It was given from outside and requires no gradient: data, a mask, a number. "
    "With requires_grad=True a tensor gets one."
)
DISCRETE = "It holds {}, which have no gradient: they cannot change a little."
NOT_ASKED = "What reads it ran its rules, but this gradient was not asked for."
RUN_AGAIN = "A checkpoint keeps no graph of it: the backward pass runs it again, as other boxes."
DETACHED = "detach() cuts the graph here: the values go on without their history."
UNREACHED = "The backward pass began at tensors that do not depend on it."


def held(diagram: Diagram) -> dict[str, str]:
    """Say what ``.grad`` holds of each leaf that got a gradient, by its id."""
    reached = {part.target for step in diagram.steps for part in step.parts}
    return {
        node.id: _held(node)
        for node in diagram.nodes
        if node.id in reached and node.kind in ("input", "parameter")
    }


def _held(node: Node) -> str:
    hooks = [n for n in node.notes if n.startswith("hook ") and n.endswith("changed its gradient")]
    made = f"what the hook {hooks[-1].split()[1]} made of it" if hooks else "this sum"
    if not node.grads:
        return f"No .grad was written{f'; {made} was returned' if hooks else ''}."
    after = f"{node.grads[-1].norm:.4g}"
    if len(node.grads) > 1:
        before = f"{node.grads[0].norm:.4g}"
        return f".grad held a gradient of norm {before}; {made} was added: now {after}."
    return f".grad holds {made}{f', of norm {after}' if hooks else ''}."


def missing_gradients(diagram: Diagram) -> dict[str, str]:
    """Say in a sentence or two why each box of a trace without a gradient has none, by its id."""
    return dict(_Search(diagram).reasons())


class _Search:
    def __init__(self, diagram: Diagram) -> None:
        self.nodes = {node.id: node for node in reversed(diagram.nodes)}
        self.readers: dict[str, list[str]] = defaultdict(list)
        self.into = diagram.into()
        for edge in diagram.edges:
            self.readers[edge.source].append(edge.target)
        self.stepped = {step.node for step in diagram.steps}
        parts = [part for step in diagram.steps for part in step.parts]
        self.reached = self.stepped | {part.target for part in parts}
        self.cuts: dict[str, str] = {}  # where the connection of each box to the loss is lost

    def reasons(self) -> Iterator[tuple[str, str]]:
        """The boxes without a gradient, the last one first, and why they have none."""
        for box, node in self.nodes.items():
            self.cuts[box] = self._cut(box)
            if box not in self.reached and node.kind != "output":
                yield box, self._reason(box, node)

    def _cut(self, box: str) -> str:
        for reader in self.readers[box]:
            node = self.nodes[reader]
            if node.label == "checkpoint" and reader in self.stepped:
                return RUN_AGAIN
            if node.kind != "output" and not node.recorded:
                at = f"{node.label} ({node.line})" if node.line else node.label
                return f"Its path to the loss is cut at {at}. {self._unrecorded(node)}"
        return next((self.cuts[r] for r in self.readers[box] if self.cuts[r]), "")

    def _reason(self, box: str, node: Node) -> str:
        if node.error:
            return "The forward pass ended here with an error."
        if node.kind == "op" and not node.recorded:
            return self._unrecorded(node)
        if node.kind == "parameter" and not node.recorded:
            return FROZEN
        if node.kind != "op" and node.dtype[:3] in ("int", "uin", "boo"):
            return DISCRETE.format("bools" if node.dtype == "bool" else "integers")
        if node.kind in ("constant", "buffer"):
            return GIVEN
        if not self.stepped:
            return "No backward pass has run yet."
        if self.stepped.intersection(self.readers[box]):  # their steps ran, but sent it nothing
            given = node.kind != "op"
            return self.cuts[box] or (GIVEN if given else NOT_ASKED)
        return self.cuts[box] or UNREACHED

    def _unrecorded(self, node: Node) -> str:
        """Why an op is in no graph."""
        op = node.primitive
        if op is None and node.label == "detach":
            return DETACHED
        if op is not None and not op.differentiable:
            return f"{node.label} has no derivative: what it returns does not change smoothly."
        carry = {self._carries(edge.source) for edge in self.into[node.id]}
        if True in carry:
            return "It ran under no_grad(): the engine kept no record of it."
        if None in carry:
            return "It ran under no_grad(), or nothing that it reads requires a gradient."
        return "Nothing that it reads requires a gradient, so there is nothing to pass on."

    def _carries(self, box: str) -> bool | None:
        """Whether a gradient can pass through a box; None if the diagram does not tell."""
        node = self.nodes[box]
        if node.kind in ("constant", "buffer"):
            return False
        if node.kind != "input":
            return node.recorded
        return True if box in self.reached else None
