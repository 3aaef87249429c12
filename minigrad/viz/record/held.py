"""What ``.grad`` of each leaf held in the course of a trace, event by event."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

from minigrad.autograd import mutation
from minigrad.autograd.node import Variable
from minigrad.viz.record.steps import Summary, summary

PASS = "this sum"
"""The event of a pass that reached the box; of other boxes of the same tensor it is `OTHER`."""

OTHER = "another pass"


@dataclass(frozen=True, slots=True)
class Held:
    """What ``.grad`` of a leaf held from an event to the next.

    Attributes:
        since: The event: `PASS`, `OTHER`, or what changed it, such as ``"SGD.zero_grad"``; empty
            for what it held before.
        value: The gradient; None if it was None.

    Example:
        >>> from minigrad import nn, optim, viz
        >>> from minigrad import ones
        >>> model = nn.Linear(2, 1, bias=False)
        >>> optimizer = optim.SGD(model.parameters(), lr=0.1)
        >>> with viz.trace() as traced:
        ...     model(ones(1, 2)).sum().backward()
        ...     optimizer.zero_grad()
        >>> [weight] = [node for node in traced.graph().nodes if node.kind == "parameter"]
        >>> [one.since for one in weight.grads]
        ['this sum', 'SGD.zero_grad']
    """

    since: str
    value: Summary | None = field(default=None, repr=False)


class Gradients:
    """The log of the ``.grad`` of each tensor that is watched."""

    def __init__(self) -> None:
        self._events: dict[Variable, list[tuple[Any, Held]]] = {}  # with the entry, of a pass
        self._states: dict[Variable, tuple[Any, int]] = {}

    def watch(self, tensor: Variable) -> None:
        """Note what the ``.grad`` of a tensor holds, unless it is watched already."""
        if tensor not in self._events:
            self._events[tensor] = [] if tensor._grad is None else [(None, _now("", tensor))]
            self._remember(tensor)

    def passed(self, tensor: Variable, entry: Any) -> None:
        """Note that a pass which reached an entry wrote the ``.grad`` of a tensor."""
        self.watch(tensor)
        self._events[tensor].append((entry, _now(PASS, tensor)))
        self._remember(tensor)

    def look(self, event: str, exactly: bool = False) -> None:
        """Note which gradients are new, or were written, since the last look: by an event.

        With `exactly` their numbers are compared, which finds writes by NumPy too.
        """
        for tensor, (reference, stamp) in self._states.items():
            grad, events = tensor._grad, self._events[tensor]
            same = (reference is None) if grad is None else (reference and reference() is grad)
            if same and grad is not None:
                same = not mutation.written_since(grad._data, stamp)
                same = same and not (exactly and events[-1][1].value != summary(grad._data))
            if not same:
                events.append((None, _now(event, tensor)))
                self._remember(tensor)

    def of(self, tensor: Variable, entry: Any) -> tuple[Held, ...]:
        """What is told at an entry: from the last pass of another one on, to the next one."""
        events = self._events.get(tensor, [])
        own = [at for at, (reached, _) in enumerate(events) if reached is entry]
        if not own:
            return ()
        others = [at for at, (reached, _) in enumerate(events) if reached not in (None, entry)]
        begin = max((at + 1 for at in others if at < own[0]), default=0)
        end = min((at for at in others if at > own[-1]), default=len(events))
        told = [held for _, held in events[begin:end]]
        before = [Held("", events[begin - 1][1].value)] * bool(begin)
        after = [Held(OTHER, events[-1][1].value)] * (end < len(events))
        return (*before, *told, *after)

    def _remember(self, tensor: Variable) -> None:
        grad = tensor._grad
        self._states[tensor] = None if grad is None else weakref.ref(grad), mutation.latest


def _now(event: str, tensor: Variable) -> Held:
    grad = tensor._grad
    return Held(event, None if grad is None else summary(grad._data))
