"""What ``.grad`` of each leaf held in the course of a trace, event by event."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
        >>> from minigrad import nn, ones, optim, viz
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


class _Event(NamedTuple):
    held: Held
    grad: Any  # the tensor, weakly; None for None
    stamp: int  # the latest write
    entry: Any  # that the pass reached, if it is one


class Gradients:
    """The log of the ``.grad`` of each tensor that is watched."""

    def __init__(self) -> None:
        self._events: dict[Variable, list[_Event]] = {}

    def note(self, tensor: Variable, event: str = "", entry: Any = None) -> None:
        """Note what the ``.grad`` of a tensor holds from an event on, such as a pass."""
        grad = tensor._grad
        value, known = (None, None) if grad is None else (summary(grad._data), weakref.ref(grad))
        events = self._events.setdefault(tensor, [])
        if event or not events:
            events.append(_Event(Held(event, value), known, mutation.latest, entry))

    def look(self, event: str, exactly: bool = False) -> None:
        """Note which gradients are new, or were written, since the last look: by an event.

        With `exactly` their numbers are compared, which finds writes by NumPy too.
        """
        for tensor, events in self._events.items():
            grad, last = tensor._grad, events[-1]
            known = None if last.grad is None else last.grad()
            same = known is grad and (last.grad is None) == (grad is None)
            if same and grad is not None:
                same = not mutation.written_since(grad._data, last.stamp)
                same = same and not (exactly and last.held.value != summary(grad._data))
            if not same:
                self.note(tensor, event)

    def of(self, tensor: Variable, entry: Any) -> tuple[Held, ...]:
        """What is told at an entry: from the last pass of another one on, to the next one."""
        events = self._events.get(tensor, [])
        own = [at for at, one in enumerate(events) if one.entry is entry]
        if not own:
            return ()
        others = [at for at, one in enumerate(events) if one.entry not in (None, entry)]
        begin = max((at for at in others if at < own[0]), default=0)
        end = min((at for at in others if at > own[-1]), default=len(events))
        before = Held("", events[begin].held.value)
        after = [Held(OTHER, events[-1].held.value)] * (end < len(events))
        told = [one.held for one in events[begin + 1 : end]]
        return (*[before] * (before.value is not None), *told, *after)
