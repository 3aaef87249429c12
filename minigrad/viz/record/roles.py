"""The roles of tensors and ops: residual connections, and masks."""

from dataclasses import replace

from minigrad.viz.record.model import AnyDiagram, Diagram


def residuals(diagram: Diagram) -> set[int]:
    """Find residual connections: the positions of edges into an ``add`` that skip another operand.

    An input that is added elsewhere too is a bias instead, such as one that all steps of a loop
    share.
    """
    into = diagram.into()
    adds = [node.id for node in diagram.nodes if node.kind == "op" and node.label == "add"]
    added = [edge for add in adds for edge in into[add]]
    bit = {source: 1 << k for k, source in enumerate(dict.fromkeys(e.source for e in added))}
    above: dict[str, int] = {}  # bit k is set where the k-th source is an ancestor of the box
    for node in diagram.nodes:
        above[node.id] = 0
        for edge in into[node.id]:
            above[node.id] |= above[edge.source] | bit.get(edge.source, 0)
    leaves = {node.id for node in diagram.nodes if node.kind not in ("op", "module")}
    found, biases = set(), set()
    for edge in added:
        if any(above[other.source] & bit[edge.source] for other in into[edge.target]):
            found.add(edge)
        elif edge.source in leaves:
            biases.add(edge.source)
    found = {edge for edge in found if edge.source not in biases}
    return {index for index, edge in enumerate(diagram.edges) if edge in found}


def name_masks(diagram: AnyDiagram) -> AnyDiagram:
    """Call the constants masks that mask the scores of attention, or of a softmax."""
    labels = {node.id: node.label for node in diagram.nodes}
    softened = {edge.source for edge in diagram.edges if "softmax" in labels[edge.target]}
    masks = {
        edge.source
        for edge in diagram.edges
        if (edge.name in ("keep", "bias") and labels[edge.target] == "attention")
        or (labels[edge.target] == "add" and edge.target in softened)
        or (edge.name == "condition" and edge.target in softened)
    }
    nodes = (
        replace(node, label="mask") if node.id in masks and node.kind == "constant" else node
        for node in diagram.nodes
    )
    return replace(diagram, nodes=tuple(nodes))
