"""The costs of a step: time and memory, op by op.

One observer records each op and each backward step. All tables and the curve of the memory are made
from its events, and from the births and deaths of their arrays.
"""

import weakref
from collections import Counter
from time import perf_counter
from typing import Any, Self

import numpy as np

from minigrad.autograd.events import Call, Observer, Pull
from minigrad.autograd.mode import state
from minigrad.autograd.node import Leaf, Node, Variable, data_of
from minigrad.autograd.scope import LOOP, FunctionCall
from minigrad.autograd.views import owner
from minigrad.debugging.memory import arrays, readable
from minigrad.debugging.tables import REST, By, Event, Text, aligned, table, time_text
from minigrad.support.tree import mapped
from minigrad.tracing.lines import line_of, lines_of_nodes, user_frame

OWNERS = 10
"""The number of owners of the peak that are printed."""

LEAF = "leaf"
"""The label of a parameter or a buffer, which stays alive without the graph."""


class _Memory(weakref.ref[np.ndarray]):
    """The memory of an array: who made it, and what it is."""

    __slots__ = ("address", "event", "nbytes", "saver", "what")

    address: int
    event: Event  # which made it, or read it first
    nbytes: int
    what: str
    saver: Event | None  # which saved it first for a backward pass


class Profile(Observer):
    """The costs of the ops of a block, printed as tables.

    The time of an op is that since the op before, so it includes the Python code between the two;
    the work of the profile itself is not counted. The memory is that of all arrays that ops and
    their rules return and of all that is saved for a backward pass, from their birth to their end;
    and of data and masks, from when an op reads them. Not counted are leaves, frozen parameters and
    buffers: they stay alive without the graph. The block may be entered again: the next step is
    added.

    Attributes:
        events: The calls of ops and the steps of backward passes, in order.

    Example:
        >>> from minigrad import nn, ones
        >>> from minigrad.debugging import Profile
        >>> model, x = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 8)), ones(16, 64)
        >>> with Profile() as profile:
        ...     model(x).sum().backward()
        >>> profile.peak  # most of it is the gradient of the first weight, and x
        15368
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changes: list[tuple[float, _Memory, int]] = []  # time, and 1 for a birth, -1 an end
        self._alive: dict[int, _Memory] = {}  # by the id of the array that owns the memory
        self._nodes = weakref.WeakKeyDictionary[Node, Event]()
        self._leaves: set[Leaf] = set()  # of a pass whose gradients were not looked at yet
        self._lines: dict[tuple[Any, int], str] = {}
        # The clock stops outside of the block, and while the profile works.
        self._stopped = self._lost = self._end = 0.0
        self._running = False

    # Recording ----------------------------------------------------------------------------------

    def __enter__(self) -> Self:
        super().__enter__()
        self._start_clock()
        return self

    def __exit__(self, *exc: object) -> None:
        now = self._stop_clock()
        super().__exit__(*exc)
        self._look_at_gradients()
        self._add(REST, False, None, "", now)

    def ran(self, call: Call) -> None:
        """Record an op."""
        now, frame = self._stop_clock(), user_frame()
        self._look_at_gradients()
        place = frame.f_code, frame.f_lineno
        if place not in self._lines:
            self._lines[place] = line_of(frame)
        looped = isinstance(call.frame, FunctionCall) and call.frame.name == LOOP
        name = f"{call.op.name}, in a loop of vmap" if looped else call.op.name
        event = self._add(name, False, state.get().scope, self._lines[place], now)
        for each in call.given:
            leaf = isinstance(each, Variable) and (each.of_module or isinstance(each._node, Leaf))
            self._hold(each, event, LEAF if leaf else "input")
        self._hold(call.result, event)
        node = call.node
        if node is not None:
            self._nodes[node] = event
            lines_of_nodes[node] = event.line
            self._save(node, event)
        self._start_clock()

    def wrote(self, tensor: Variable, values: Any) -> None:  # noqa: ARG002
        """Look again at what an op in place saved: it copies the values that it overwrites."""
        self._stop_clock()
        node = values._node if isinstance(values, Variable) else None
        if isinstance(node, Node) and node in self._nodes:
            event = self._nodes[node]
            for memory in self._alive.values():
                if memory.saver is event:
                    memory.saver, memory.what = None, "result"
            event.saved = 0
            self._save(node, event)
        self._start_clock()

    def pulled(self, pull: Pull) -> None:
        """Record a step of a backward pass."""
        node, cotangent = pull.node, pull.cotangent
        now = self._stop_clock()
        line = lines_of_nodes.get(node, "")
        event = self._add(node.plan.op.name, True, node.scope, line, now)
        self._hold((cotangent, *pull.parts), event, "gradient")
        self._leaves.update(edge for edge in node.edges if isinstance(edge, Leaf))
        self._start_clock()

    def _stop_clock(self) -> float:
        self._stopped, self._running = perf_counter(), False
        return self._stopped - self._lost

    def _start_clock(self) -> None:
        self._lost += perf_counter() - self._stopped
        self._running = True

    def _add(self, op: str, backward: bool, scope: Any, line: str, now: float) -> Event:
        event = Event(op, backward, scope, line, self._end, now - self._end)
        self._end = now
        self.events.append(event)
        return event

    def _hold(self, value: Any, event: Event, what: str = "result") -> list[_Memory]:
        """Follow the memory of the arrays in a value until it is freed."""
        found = []
        for array in arrays(mapped(data_of, value)):
            memory = owner(array)
            known = self._alive.get(id(memory))
            if known is None:
                known = _Memory(memory, self._freed)
                known.address, known.nbytes = id(memory), memory.nbytes
                known.event, known.what, known.saver = event, what, None
                self._alive[id(memory)] = known
                if what != LEAF:
                    last = self._changes[-1][0] if self._changes else 0.0
                    self._changes.append((max(self._end, last), known, 1))
            elif what == LEAF and known.what == "input":  # the forward of a Function has read it
                self._changes = [change for change in self._changes if change[1] is not known]
                known.what = LEAF
            found.append(known)
        return found

    def _save(self, node: Node, event: Event) -> None:
        """Note what a node saved; a `saved_tensors_hooks` may keep it elsewhere."""
        if node.saved.__class__ is tuple:
            for name, value in zip(node.plan.saved_names, node.saved, strict=True):
                for memory in self._hold(value, event):
                    if memory.saver is None and memory.what != LEAF:
                        memory.saver, memory.what = event, f"saved by {event.op} as {name}"
                        event.saved += memory.nbytes

    def _look_at_gradients(self) -> None:
        """Follow the gradients of leaves, which may be copies of what the rules returned."""
        for leaf in self._leaves:
            gradient = None if leaf.tensor is None else leaf.tensor._grad
            self._hold(gradient, self.events[-1], f"gradient of {leaf.name or 'a leaf'}")
        self._leaves.clear()

    def _freed(self, memory: Any) -> None:
        del self._alive[memory.address]
        if memory.what != LEAF:
            now = perf_counter() if self._running else self._stopped
            self._changes.append((now - self._lost, memory, -1))

    # Results ------------------------------------------------------------------------------------

    @property
    def peak(self) -> int:
        """The most bytes that were alive at a time."""
        return sum(memory.nbytes for memory in self._at_peak()[1])

    def table(self, by: By = "module") -> Text:
        """Add up what the block cost.

        Args:
            by: ``"module"``, where a row includes the modules within it; ``"line"`` of the program;
                or ``"op"``.

        Returns:
            A row for each: its calls, the time of its forward and its backward ops, the
            bytes that it saved for the backward pass, and the bytes that it made and that were
            alive at the peak.

        Raises:
            ValueError: `by` is not one of the three.
        """
        for event in self.events:
            event.peak = 0
        for memory in self._at_peak()[1]:
            memory.event.peak += memory.nbytes
        return table(self.events, by)

    def owners(self) -> Text:
        """List the arrays that were alive at the peak, with their op, module and line.

        Returns:
            A row for each op, kind of array, module and line, the largest first.
        """
        count, nbytes = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
        for memory in self._at_peak()[1]:
            event = memory.event
            what = memory.what + " of the backward step" * (event.backward and memory.saver is None)
            key = (f"{event.op}: {what}", event.module, event.line)
            count[key] += 1
            nbytes[key] += memory.nbytes
        rows = [[*key, str(count[key]), readable(n)] for key, n in nbytes.most_common()]
        return aligned([["alive at the peak", "module", "line", "arrays", "bytes"], *rows], 3)

    def memory(self, by: By = "module") -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the memory that was alive, over time, by what made it.

        Args:
            by: ``"module"``, the innermost one, ``"line"`` or ``"op"``.

        Returns:
            The times of all changes, in seconds, and for each owner the bytes after each of them.
        """
        curves: dict[str, np.ndarray] = {}
        for i, (_, memory, sign) in enumerate(self._changes):
            name = getattr(memory.event, by)
            curve = curves.setdefault(name, np.zeros(len(self._changes), np.int64))
            curve[i] = sign * memory.nbytes
        times = np.array([at for at, _, _ in self._changes])
        return times, {name: curve.cumsum() for name, curve in curves.items()}

    def _at_peak(self) -> tuple[Event | None, list[_Memory]]:
        """The event that reached the peak, and the arrays that were alive then."""
        sizes = np.cumsum([0] + [sign * memory.nbytes for _, memory, sign in self._changes])
        until = self._changes[: int(sizes.argmax())]
        alive: dict[int, _Memory] = {}
        for _, memory, sign in until:
            if sign > 0:
                alive[id(memory)] = memory
            else:
                del alive[id(memory)]
        return until[-1][1].event if until else None, [*alive.values()]

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from minigrad.viz.page.notebook import mimebundle

        return mimebundle(self)

    def __str__(self) -> str:
        last, where = self._at_peak()[0], ""
        if last is not None and last.line:
            step = "the backward step of " * last.backward
            where = f", after {step}{last.op} at {last.line}"
        backward = sum(event.backward for event in self.events)
        forward = len(self.events) - backward - sum(event.op == REST for event in self.events)
        rows = self.owners().split("\n")
        owners = "\n".join(rows[: OWNERS + 1] + ["..."] * (len(rows) > OWNERS + 1))
        return (
            f"{forward} ops and {backward} backward steps in "
            f"{time_text(sum(event.seconds for event in self.events))}; "
            f"peak of the memory: {readable(self.peak)}{where}\n\n{self.table()}\n\n{owners}"
        )
