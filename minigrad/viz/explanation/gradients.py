"""What ``.grad`` holds in the end; and why a box has no gradient.

That is the first place where its connection to the loss is lost.
The diagram of a trace has every op: those that were not recorded, have no rules, require no
gradient, or lead nowhere, too.
"""

from collections import defaultdict
from collections.abc import Mapping

from minigrad.viz.record.held import PASS
from minigrad.viz.record.model import Cause, Diagram, Node

GIVEN = (
    "It requires no gradient: it is data, a mask or a number. With requires_grad=True a tensor "
    "gets one."
)
DISCRETE = "It holds {}, which have no gradient: they cannot change a little."
CAUSES: Mapping[Cause, str] = {
    "given": GIVEN,
    "frozen": "It is frozen: with requires_grad=False it gets no gradient.",
    "shared": "Its values were read without its history, as .data and .numpy() give them.",
    "detach": "{door} cuts the graph here: the values go on without their history.",
    "no_grad": "It ran under no_grad(): the engine kept no record of it.",
    "underivable": "{label} has no derivative: what it returns does not change smoothly.",
    "discrete": "{label} returned {discrete}, which have no gradient.",
    "constant": "Nothing that it reads requires a gradient, so there is nothing to pass on.",
}
"""What keeps gradients from a box. Each is a fact that the trace noted when the box was made."""

NOT_ASKED = (
    "A path leads from it to the loss, but no gradient was sent along it: the pass was asked for "
    "those of other tensors, or a rule returned None."
)
RUN_AGAIN = "A checkpoint keeps no graph of it: the backward pass runs it again, as other boxes."
UNREACHED = "The backward pass began at tensors that do not depend on it."
NO_PASS = "No backward pass has run yet."
FAILED = "The forward pass ended here with an error."


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
    made = f"what the hook {hooks[-1].split()[1]} made of it" if hooks else PASS
    events = [made if one.since == PASS else one.since for one in node.grads]
    norms = [None if one.value is None else f"{one.value.norm:.4g}" for one in node.grads]
    match events:
        case [] if node.cause == "frozen":
            return "No .grad was written: it was frozen after the ops had read it."
        case []:
            return f"No .grad was written{f'; {made} was returned' if hooks else ''}."
        case [only] if only == made:
            return f".grad holds {made}{f', of norm {norms[0]}' if hooks else ''}."
        case [first, last] if first in ("", made) and last == made:
            return f".grad held a gradient of norm {norms[0]}; {made} was added: now {norms[1]}."
    told = [
        f"{'None' if norm is None else f'norm {norm}'} {f'after {event}' if event else 'before'}"
        for event, norm in zip(events, norms, strict=True)
    ]
    return f".grad changed several times: {'; '.join(told)}."


def missing_gradients(diagram: Diagram) -> dict[str, str]:
    """Say in a sentence or two why each box of a trace without a gradient has none, by its id."""
    nodes = {node.id: node for node in reversed(diagram.nodes)}
    readers: dict[str, list[str]] = defaultdict(list)
    for edge in diagram.edges:
        readers[edge.source].append(edge.target)
    stepped = {step.node for step in diagram.steps}
    reached = stepped | {part.target for step in diagram.steps for part in step.parts}
    lost: dict[str, str] = {}  # of each box that leads to a loss: where its path to it is cut

    def lost_at(reader: str) -> str:
        """Where a path to a loss is lost that begins at a reader; empty if it leads to none."""
        node, further = nodes[reader], lost.get(reader, "")
        if reader in stepped:
            return RUN_AGAIN if node.label == "checkpoint" else NOT_ASKED
        if not further or not node.cause:
            return further
        at = f"{node.label} ({node.line})" if node.line else node.label
        return f"Its path to the loss is cut at {at}. {_own(node)}"

    reasons = {}
    for box, node in nodes.items():
        if found := list(filter(None, map(lost_at, readers[box]))):
            lost[box] = NOT_ASKED if NOT_ASKED in found else found[0]
        if box not in reached and node.kind != "output":
            other = lost.get(box, UNREACHED) if stepped else NO_PASS
            reasons[box] = FAILED if node.error else _own(node) if node.cause else other
    return reasons


def _own(node: Node) -> str:
    """What keeps gradients from a box, in a sentence."""
    discrete = "bools" if node.dtype == "bool" else "integers"
    if node.cause == "given" and node.dtype[:3] in ("int", "uin", "boo"):
        return DISCRETE.format(discrete)
    door = next(iter(node.notes), "detach()")
    return CAUSES[node.cause].format(label=node.label, door=door, discrete=discrete)
