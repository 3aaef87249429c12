"""Where a NaN or an infinity came from: the op, the module, and the line of the user's program.

A NaN in the result of an op is always an anomaly: the op made it, or it came with an input, which
the error then names. An infinity is one if all inputs are finite, so a mask of -inf may be passed
on purpose. Results of ops and of the steps of a backward pass are checked in the same way.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any, ClassVar, Self

import numpy as np

from minigrad.autograd.events import Call, Observer, Pull
from minigrad.autograd.mode import State, located
from minigrad.autograd.node import Node, Variable, data_of
from minigrad.autograd.primitives import Primitive
from minigrad.autograd.scope import Scope
from minigrad.debugging.memory import saved_arrays
from minigrad.support.checks import check_flag
from minigrad.support.decorators import Decorator
from minigrad.support.tree import leaves
from minigrad.tracing.lines import lines_of_nodes, user_line


class detect_anomaly(Observer, Decorator):
    """Raise an error at the first op in the block that makes a NaN or an infinity.

    A step of a backward pass that makes one raises an error too; it names the line of the forward
    pass. A warning tells of each rule that takes an infinite slope times 0 as 0, and of its line.
    Every result is checked, which costs time. The block has effect in its own thread only; as
    a decorator it has effect in each call.

    Args:
        check_nan: Whether anything is checked at all.

    Raises:
        FloatingPointError: From the op or the pass: the op, the module path, the line, and the
            shapes and ranges of what came.

    Example:
        >>> import minigrad
        >>> x = minigrad.tensor([1.0, 0.0], requires_grad=True)
        >>> with minigrad.detect_anomaly():
        ...     y = minigrad.log(x).sum()  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        FloatingPointError: log: its output float32 (2,) has 1 -inf, first at (1,), while its
        inputs are finite: x float32 (2,) from 0 to 1...
    """

    def __init__(self, check_nan: bool = True) -> None:
        super().__init__()
        self._check_nan = check_flag("detect_anomaly", "check_nan", check_nan)
        self._errstates: list[np.errstate] = []

    def _recreate_cm(self) -> Self:
        # A decorated function may run in several threads and recurse: a fresh manager each call.
        return type(self)(self._check_nan)

    def __enter__(self) -> Self:
        before = np.geterr()
        try:
            quiet = np.errstate(all="ignore")  # the error says more than NumPy's warning
            quiet.__enter__()
            self._errstates.append(quiet)
            return super().__enter__()
        except BaseException:  # interrupted: `with` will not call __exit__
            np.seterr(**before)
            raise

    def __exit__(self, *exc: Any) -> None:
        try:
            Observer.__exit__(self)  # not through super(), where an interrupt could come first
        finally:
            self._errstates[-1].__exit__(*exc)
            del self._errstates[-1]

    def _state_inside(self, outer: State) -> State:
        return super()._state_inside(outer) if self._check_nan else outer

    def ran(self, call: Call) -> None:
        """Check the result of an op."""
        line, outputs = user_line(), call.outputs
        inputs = list(_named_arguments(call.op, call.arguments))
        for i, output in enumerate(outputs):
            what = "its output" if len(outputs) == 1 else f"its output {i}"
            _check(f"{call.op.name}: {what}", output._data, inputs, line)
        if call.node is not None:
            lines_of_nodes[call.node] = line

    def pulled(self, pull: Pull) -> None:
        """Check what a step of a backward pass returned."""
        node, line = pull.node, lines_of_nodes.get(pull.node, "")
        inputs = [("the gradient of its output", array) for array in _arrays(pull.cotangent)]
        for name, array in saved_arrays(node):
            inputs.append((f"saved {'output' if name == 'out' else name}", array))
        for slot, part in zip(node.plan.slot_names, pull.parts, strict=True):
            what = f"{node.plan.op.name}: the gradient of its argument {slot}"
            for array in _arrays(part):
                _check(what, array, inputs, line, node.scope)

    def guarded(self, node: Any, where: Any) -> None:
        """Warn of slopes that count as 0."""
        if not isinstance(node, Node):
            return
        line = lines_of_nodes.get(node, "")
        found = f" ({_counted(where, 'of its elements', where)})" if where.ndim else ""
        message = (
            f"{node.plan.op.name}: its slope is not finite where the gradient that comes is 0"
            f"{found}; their product counts as 0. That is right after an op that selects, such as "
            "where, and perhaps not where a later op is flat, as in sqrt(x) ** 2 at 0"
            f"{f'; at {line}' if line else ''}"
        )
        warnings.warn(located(message, node.scope), RuntimeWarning, stacklevel=2)


class set_detect_anomaly(ExitStack):
    """Turn `detect_anomaly` on or off: for a block with ``with``, otherwise from this call on.

    Args:
        mode: True for on.
        check_nan: As for `detect_anomaly`.

    Example:
        >>> import minigrad
        >>> with minigrad.autograd.set_detect_anomaly(True):
        ...     minigrad.log(minigrad.tensor([1.0])).tolist()
        [0.0]
    """

    _running: ClassVar[ExitStack | None] = None

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        super().__init__()
        if set_detect_anomaly._running is not None:
            set_detect_anomaly._running.close()
        set_detect_anomaly._running = self if mode else None
        if mode:
            self.enter_context(detect_anomaly(check_nan))


def _check(
    what: str, array: Any, inputs: Sequence[tuple[str, Any]], line: str, scope: Scope | None = None
) -> None:
    """Raise an error for an anomaly of an array that did not come in with an infinity."""
    if trouble := _trouble(array, inputs):
        shown = "; ".join(f"{name} {_range(value)}" for name, value in inputs)
        place = f"; at {line}" if line else ""
        message = f"{what} {array.dtype} {tuple(array.shape)} has {trouble}: {shown}{place}"
        raise FloatingPointError(located(message, scope))


def _trouble(array: Any, inputs: Sequence[tuple[str, Any]]) -> str:
    """The anomaly of an array, in words; empty if there is none."""
    if not _is_float(array) or np.isfinite(array).all():
        return ""
    floats = [(name, np.asarray(x)) for name, x in inputs if _is_float(x)]
    if np.isnan(array).any():
        found = _counted(array, "NaN", np.isnan(array))
        origins = [name for name, x in floats if np.isnan(x).any()]
        if origins:
            return f"{found}, which came in with {origins[0]}"
        return f"{found}, and none of its inputs has"
    if any(not np.isfinite(x).all() for _, x in floats):
        return ""
    kinds = [("inf", np.isposinf(array)), ("-inf", np.isneginf(array))]
    found = " and ".join(_counted(array, name, where) for name, where in kinds if where.any())
    return f"{found}, while its inputs are finite"


def _counted(array: np.ndarray, name: str, where: np.ndarray) -> str:
    first = tuple(int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))
    return f"{int(where.sum())} {name}, first at {first}" if array.ndim else name


def _range(value: Any) -> str:
    """Dtype, shape and range of an array, and its count of NaN and infinities; or a number."""
    if not isinstance(value, np.ndarray):
        return f"{value!r}"
    parts = [f"{value.dtype} {tuple(value.shape)}"]
    known = value[np.isfinite(value)]
    if known.size:
        parts.append(f"from {known.min():.6g} to {known.max():.6g}")
    counts = {"NaN": np.isnan(value), "inf": np.isposinf(value), "-inf": np.isneginf(value)}
    bad = ", ".join(f"{where.sum()} {name}" for name, where in counts.items() if where.any())
    return " ".join([*parts, f"with {bad}"] if bad else parts)


def _is_float(value: Any) -> bool:
    return isinstance(value, float | np.floating) or (
        isinstance(value, np.ndarray) and value.dtype.kind == "f"
    )


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The float arrays in a cotangent; an update only moves numbers, so it needs no check."""
    for part in leaves(value, (Variable, np.ndarray)):
        yield data_of(part)


def _named_arguments(op: Primitive, arguments: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The arrays and numbers among the arguments of an op, by name."""
    for name, value in zip(op.params, arguments, strict=True):
        several = value if op.variadic and name == op.params[0] else [value]
        for i, one in enumerate(several):
            array = data_of(one)
            if isinstance(array, np.ndarray) or _is_float(array):
                yield (f"{name}[{i}]" if op.variadic else name), array
