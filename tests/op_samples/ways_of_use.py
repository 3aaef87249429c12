"""How a derivative uses the engine: the features that failed calls may share."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.events import Observer, Pull
from minigrad.autograd.node import Edge, Variable
from minigrad.checking.finite_differences import Probe, moved_tensors
from minigrad.checking.gradient_checks import of_the_gradient

SUMMED = "a tensor is used more than once"
BROADCAST = "a tensor is broadcast"
CAST = "a gradient is cast to another dtype"
PART = "a part of a tensor is read"
SEVERAL = "an op has several outputs"
RECORDED = "the backward pass is recorded (create_graph=True)"
EMPTY = "an array has no elements"
SCALAR = "an array has no axes"


class _Ways(Observer):
    """The special contributions in a backward pass, and in one that is recorded."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self._reached: set[tuple[bool, Edge]] = set()

    def begin(self, outputs: Sequence[Any]) -> None:
        """The last pass begins at these tensors, which is a contribution to each."""
        for output in outputs:
            if (False, output._node) in self._reached:
                self.found.add(SUMMED)
            self._reached.add((False, output._node))

    def pulled(self, pull: Pull) -> None:
        node, cotangent, parts = pull.node, pull.cotangent, pull.parts
        several = isinstance(cotangent, tuple)
        recorded = isinstance(cotangent[0] if several else cotangent, Variable)
        seen = {SEVERAL: several, RECORDED: recorded}
        for edge, part in zip(node.edges, parts, strict=True):
            if part is None:
                continue
            seen |= {EMPTY: 0 in edge.shape, SCALAR: not edge.shape}
            seen[SUMMED] = (recorded, edge) in self._reached
            self._reached.add((recorded, edge))
            array = part._data if isinstance(part, Variable) else part
            if isinstance(array, np.ndarray):
                seen[BROADCAST] = array.shape != edge.shape
                seen[CAST] = array.dtype != edge.dtype
            else:
                seen[PART] = True
            self.found |= {way for way, true in seen.items() if true}


def ways_of_use(
    function: Callable[..., Any], inputs: Sequence[Any], second: bool
) -> frozenset[str]:
    """The special features of a first or second derivative of a function, as in `gradcheck`."""
    probe = Probe(function, inputs, moved_tensors(function, inputs))
    if second:
        _, probe = of_the_gradient(probe, 1)
    with _Ways() as seen:
        outputs = probe.outputs()
        seen.begin(outputs)
        probe.pull(outputs)
    return frozenset(seen.found)
