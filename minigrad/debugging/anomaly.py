"""Where did the NaN come from: the op, the module, and the user's line that first produced it.

An op *produces* an infinity if all of its inputs are finite; so a mask of -inf that a user passes
on purpose is no anomaly. A NaN in a result is one always: either the op produced it, or it came in
from outside, and then the error says with which input. The first one found is the origin. The same
is asked of each step of a backward pass.
"""

from __future__ import annotations

import linecache
import os
import sys
import weakref
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np

from minigrad._decorators import Decorator
from minigrad.autograd.engine import Update
from minigrad.autograd.mode import located
from minigrad.autograd.node import Node, Variable, node_of
from minigrad.autograd.primitive import Primitive
from minigrad.debugging.observer import Observer

__all__ = ["detect_anomaly", "user_line"]


class detect_anomaly(Observer, Decorator):
    """Within the block, the first op that makes a NaN or an infinity raises an error at once.

    So does the first step of a backward pass that makes one, with the line of the forward pass
    that recorded it, and a pass that meets saved values which were rewritten through ``.data``
    since. It costs time: every result is looked through. It holds for the thread that enters it.

    Raises:
        FloatingPointError: From the op or the pass: the op, the module path, the line, and the
            shapes and ranges of what came.
        RuntimeError: From the pass: saved values were rewritten around the graph.

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

    def __init__(self) -> None:
        self._origins: weakref.WeakKeyDictionary[Node, _Origin] = weakref.WeakKeyDictionary()
        self._errstates: list[np.errstate] = []

    def _recreate_cm(self) -> Self:
        # A decorated function may run in several threads and recurse: a fresh manager each call.
        return type(self)()

    def __enter__(self) -> Self:
        before = np.geterr()
        try:
            quiet = np.errstate(all="ignore")  # an error is better than a warning without a place
            quiet.__enter__()
            self._errstates.append(quiet)
            return super().__enter__()
        except BaseException:  # an interrupt; then `with` does not call __exit__
            np.seterr(**before)
            raise

    def __exit__(self, *exc: Any) -> None:
        try:
            Observer.__exit__(self)  # at once: behind super() an interrupt may come
        finally:
            self._errstates[-1].__exit__(*exc)
            del self._errstates[-1]

    def ran(self, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        """Look through the result of an op."""
        line = user_line()
        inputs = list(_named_arguments(op, arguments))
        outputs = result if isinstance(result, tuple) else (result,)
        for i, output in enumerate(outputs):
            name = "its output" if len(outputs) == 1 else f"its output {i}"
            trouble = _trouble(output._data, inputs)
            if trouble:
                message = _message(op.name, name, output._data, trouble, inputs, line)
                raise FloatingPointError(located(message))
        node = node_of(outputs[0]._node)
        if isinstance(node, Node):
            self._origins[node] = _Origin(line, [_fingerprint(a) for _, a in _named_saved(node)])

    def pulled(self, node: Node, cotangent: Any, parts: Sequence[Any]) -> None:
        """Look through what a step of a backward pass read and returned."""
        name, origin = node.plan.op.name, self._origins.get(node)
        line = origin.line if origin else ""
        saved = list(_named_saved(node))
        if origin is not None:
            for (what, array), before in zip(saved, origin.fingerprints, strict=True):
                if _fingerprint(array) != before:
                    message = (
                        f"{name}: its {what} of shape {array.shape} was rewritten through .data "
                        f"after it was saved for the backward pass{line and f', at {line}'}; write "
                        f"to a copy, or run the forward pass again"
                    )
                    raise RuntimeError(located(message, node.scope))
        came = [("the gradient of its output", array) for array in _arrays(cotangent)]
        inputs = [*came, *saved]
        for slot, part in zip(node.plan.slot_names, parts, strict=True):
            for array in _arrays(part):
                trouble = _trouble(array, inputs)
                if trouble:
                    what = f"the gradient of its argument {slot}"
                    message = _message(name, what, array, trouble, inputs, line)
                    raise FloatingPointError(located(message, node.scope))


class _Origin:
    """What is remembered of a node: the line that made it, and what its saved values were."""

    __slots__ = ("fingerprints", "line")

    def __init__(self, line: str, fingerprints: list[int]) -> None:
        self.line = line
        self.fingerprints = fingerprints


def user_line() -> str:
    """The innermost line of the program that runs that is not of minigrad itself.

    Returns:
        Such as ``train.py:31: loss = x.log().sum()``; the path is relative to the working
        directory where it lies below it.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module = frame.f_globals.get("__name__", "")
        if module != "minigrad" and not module.startswith("minigrad."):
            break
        frame = frame.f_back
    path, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(path, number, frame.f_globals).strip()
    if os.path.isabs(path):
        relative = os.path.relpath(path)
        path = path if relative.startswith(os.pardir) else relative
    return f"{path}:{number}{text and f': {text}'}"


def _trouble(array: Any, inputs: Sequence[tuple[str, Any]]) -> str:
    """What an array has that its inputs do not explain, in words; empty if nothing."""
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


def _message(
    op: str, what: str, array: Any, trouble: str, inputs: Sequence[tuple[str, Any]], line: str
) -> str:
    shown = "; ".join(f"{name} {_range(value)}" for name, value in inputs)
    place = f"; at {line}" if line else ""
    return f"{op}: {what} {array.dtype} {array.shape} has {trouble}: {shown}{place}"


def _range(value: Any) -> str:
    """Dtype, shape and range of an array, and how many NaN and infinities; a number as it is."""
    if not isinstance(value, np.ndarray):
        return f"{value!r}"
    parts = [f"{value.dtype} {value.shape}"]
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
    """The float arrays in a cotangent; an update only moves numbers, so it is let through."""
    if isinstance(value, Variable):
        yield value._data
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _arrays(part)
    elif isinstance(value, np.ndarray) and not isinstance(value, Update):
        yield value


def _named_arguments(op: Primitive, arguments: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """The arrays and numbers among the arguments of an op, by name."""
    for name, value in zip(op.params, arguments, strict=True):
        several = value if op.variadic and name == op.params[0] else [value]
        for i, one in enumerate(several):
            array = one._data if isinstance(one, Variable) else one
            if isinstance(array, np.ndarray) or _is_float(array):
                yield (f"{name}[{i}]" if op.variadic else name), array


def _named_saved(node: Node) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays that a node saved, by what they are."""
    for name, saved in zip(node.plan.saved_names, node.saved, strict=True):
        what = "saved output" if name == "out" else f"saved {name}"
        for array in saved if isinstance(saved, tuple) else (saved,):
            if isinstance(array, np.ndarray):
                yield what, array


def _fingerprint(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).data)
