"""The relation of the ``.grad`` of a leaf to the sum of its shares."""

from minigrad.viz.record.model import Diagram, Node


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
