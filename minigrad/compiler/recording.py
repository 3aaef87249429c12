"""Watch a step that runs, and write down its program.

An op becomes an instruction that calls its forward function; a node of the backward pass one that
calls its rules, and the sum of what has arrived before. A function that changes what lives longer
than the step (`minigrad._effects`) becomes one that calls it again. An array that none of these has
made is the state of the program, such as a weight, or a constant. A second recording tells them
apart: state is the same tensor, a constant has equal numbers, and everything else is refused.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from types import FunctionType, MethodType
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import numpy as np

from minigrad._checks import fitted
from minigrad._dtypes import operand, promote
from minigrad._scope import ancestry
from minigrad._sums import unbroadcast
from minigrad._tensor import Tensor
from minigrad.autograd import engine
from minigrad.autograd.call import convert, take_arrays
from minigrad.autograd.events import Call, Observer, Pull
from minigrad.autograd.mode import state
from minigrad.autograd.node import Leaf, Node, Output, Variable
from minigrad.autograd.plan import Plan
from minigrad.autograd.primitive import Primitive, registry
from minigrad.compiler.arrays import Arrays
from minigrad.compiler.program import CaptureError, Instruction, Program, Value, values_in
from minigrad.ops.searching import argwhere, flatnonzero, nonzero
from minigrad.ops.statistics import bincount
from minigrad.trace.lines import user_line
from minigrad.transforms.structure import mapped

__all__ = ["Recording", "add_to_grad", "read"]

_COUNTING = (bincount.op, nonzero.op, flatnonzero.op, argwhere.op, registry["unique"])
_FUNCTIONS = (FunctionType, MethodType, functools.partial)


class Recording(Observer):
    """Writes down what runs while it is entered.

    Args:
        tensors: The tensors that are passed to the step.

    Attributes:
        program: The program so far.
        modules: The modules that ops ran in.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.program = Program([], [], None)
        self.modules: dict[int, Any] = {}
        self._arrays = Arrays()
        self._drawn: dict[int, tuple[Any, Value]] = {}  # numbers that an effect returned, by id
        self._written: set[Value] = set()  # what stands for a tensor that was written to
        # What the rules of a node can read, as long as it is alive.
        self._calls: WeakKeyDictionary[Node, dict[str, Any]] = WeakKeyDictionary()
        self._pending: dict[Any, Value] = {}
        self._tensors = tensors
        self._read: list[np.ndarray] = []  # from tensors, since the last effect
        self._effect: Instruction | None = None
        self._depth = 0
        for tensor in tensors:
            if isinstance(tensor._node, (Node, Output)):
                self._refuse("an argument is the result of an op: pass it detached")
            self.program.arguments.append(self._arrays.outside(tensor._data))

    # What is told ------------------------------------------------------------------------------

    def ran(self, call: Call) -> None:
        """Write down the call of an op."""
        if self._depth:
            return
        op, arguments, result, node = call.op, call.arguments, call.result, call.node
        values = self._converted(op, list(arguments))
        if self._counts(op, values):
            self._refuse(
                f"the shape of what {op.name} returns depends on the values of a tensor, and a "
                f"program has fixed shapes: multiply by a mask, or use where"
            )
        results = result if op.multiple_outputs else (result,)
        outputs = [self._arrays.value(part._data) for part in results]
        residuals = [self._arrays.value() for _ in op.residuals]
        if node is not None:
            self._find_residuals(op, node, residuals, [*values_in(values), *outputs])
            out: Any = tuple(outputs) if op.multiple_outputs else outputs[0]
            names = (*op.params, "out", *op.residuals)
            self._calls[node] = dict(zip(names, (*values, out, *residuals), strict=True))
        if op.variadic:
            args, rest = tuple(values[0]), dict(zip(op.params[1:], values[1:], strict=True))
        else:
            n = op.positional
            args, rest = tuple(values[:n]), dict(zip(op.params[n:], values[n:], strict=True))
        several = op.multiple_outputs or bool(residuals)
        both = op.multiple_outputs and bool(residuals)
        forward = _flat(op.forward) if both else op.forward
        self._write(op.name, "forward", forward, args, (*outputs, *residuals), rest, several)

    def pulled(self, pull: Pull) -> None:
        """Write down the rules of a node, and the sums of what they contribute."""
        if self._depth:
            return
        node, cotangent, parts = pull.node, pull.cotangent, pull.parts
        op, plan = node.plan.op, node.plan
        if node not in self._calls:
            self._refuse(f"the backward pass reaches {op.name}, which ran before the step")
        if isinstance(cotangent, Variable) or any(isinstance(part, Variable) for part in parts):
            self._refuse("create_graph=True")
        if node in engine.watched:
            self._refuse(f"a hook on the output of {op.name}, or its retain_grad()")
        at_end = state.get().at_end
        if at_end is None:
            self._refuse("autograd.grad: call backward()")
        if self._deliver not in at_end:
            at_end.append(self._deliver)
        if op.multiple_outputs:
            g: Any = tuple(map(self._arrived, node.outputs, cotangent))
        else:
            g = self._arrived(node, cotangent)
        results = self._rules(node, plan, g, parts)
        for edge, part, value in zip(node.edges, parts, results, strict=True):
            if value is not None:
                self._accumulate(edge, part, value)

    def effect(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Generator[None, Any, None]:
        """Write down the call of a function that changes what lives longer than the step."""
        refused = {
            "_grad_of": "the step reads .grad",
            "_call_hook": "a hook on a leaf or an output",
        }
        if function.__name__ in refused and not self._depth:
            self._refuse(refused[function.__name__])
        if function.__name__ == "_add_to_grad" and not self._depth:  # `_deliver` writes it down
            yield
            return
        self._depth += 1
        try:
            if self._depth == 1:
                self._began(function, args, kwargs)
            result = yield
            if self._depth == 1 and self._effect is not None:
                self._ended(result)
        finally:
            self._depth -= 1

    def _began(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if any(isinstance(part, _FUNCTIONS) for part in (*args[1:], *kwargs.values())):
            self._refuse(f"{function.__qualname__} with a function, such as a closure")
        args, kwargs = (self._in_effect(part) for part in (args, kwargs))
        self._effect = self._write(function.__qualname__, "effect", function, args, (), kwargs)
        self._effect.effect = True
        self._arrays.let_go({value.memory for value in self._effect.reads})

    def _ended(self, result: Any) -> None:
        """Take what such a function returned as a value of the program."""
        assert self._effect is not None
        for array in self._read:  # it may have replaced the array of a tensor
            self._arrays.forget(array)
        self._read = []
        if isinstance(result, (Tensor, np.ndarray)):
            array = result._data if isinstance(result, Tensor) else result
            self._effect.outputs = (self._arrays.value(array),)
        elif isinstance(result, float) or (isinstance(result, int) and result > 1 << 30):
            value = self._arrays.value()
            self._drawn[id(result)] = result, value
            self._effect.outputs = (value,)
        elif result is not None and not isinstance(result, (bool, int)):
            self._refuse(f"{self._effect.name} returns {type(result).__name__}")

    def left(self, tensor: Variable, door: str) -> None:
        """Refuse a value that Python sees: what it does with it would not be repeated."""
        if not self._depth:
            self._refuse(
                f"the step looks at the values of a tensor ({door}), which a replay does not do; "
                f"return the tensor, and look at it outside"
            )

    def wrote(self, tensor: Variable, result: Any) -> None:
        """Let a tensor that the step made stand for what was written into it."""
        if self._depth:
            return
        if not isinstance(result, Variable) or np.shares_memory(result._data, tensor._data):
            self._refuse("a write in place to a tensor that the step did not make, or to a view")
        array = tensor._data
        value, written = self._arrays.known(array), self._arrays.known(result._data)
        assert written is not None
        own = value is not None and (value.fresh or value in self._written)
        if value is None or not own or not self._arrays.alone(array, value):
            self._refuse("a write in place to a tensor that the step did not make, or to a view")
        if (written.dtype, written.strides) != (array.dtype, array.strides):
            whole = self._arrays.value(np.empty_like(array))
            self._write("copy", "forward", _copied_like, (value, written), (whole,))
            written = whole
        written.fresh = False  # views of the tensor do not know that this is its memory now
        self._written.add(written)
        self._arrays.know(array, written)

    # Values ------------------------------------------------------------------------------------

    def _array(self, array: np.ndarray) -> Any:
        """The value of an array; one that nothing is known of is a constant."""
        return self._seen(array) or array

    def _tensor(self, tensor: Variable) -> Value:
        """The value of a tensor; one that nothing is known of is read when the program runs."""
        known = self._seen(tensor._data)
        if known is None:
            known = self._arrays.outside(tensor._data)
            self._read.append(tensor._data)
            self._write("read", "read", read, (tensor,), (known,))
        return known

    def _seen(self, array: np.ndarray) -> Value | None:
        """The value of an array, or of a view of all of it as `detach` gives; None if unknown."""
        known = self._arrays.seen(array)
        if known is None and self._arrays.part_of_made(array):
            self._refuse("a part of a tensor's memory that no op of the step took")
        return known

    def _any(self, thing: Any) -> Any:
        """An argument of an op: values in the place of tensors, arrays and drawn numbers."""
        if isinstance(thing, Variable):
            return self._tensor(thing)
        if isinstance(thing, np.ndarray):
            return self._array(thing)
        if isinstance(thing, (tuple, list)) and not hasattr(thing, "_fields"):
            parts = [self._any(part) for part in thing]
            return tuple(parts) if isinstance(thing, tuple) else parts
        return self._number(thing)

    def _number(self, thing: Any) -> Any:
        """The value of a number that an effect returned, and anything else as it is."""
        drawn = isinstance(thing, (float, int)) and self._drawn.get(id(thing))
        return drawn[1] if drawn else thing

    def _in_effect(self, thing: Any) -> Any:
        """An argument of an effect: results of ops are values, and other tensors are themselves."""
        if isinstance(thing, Tensor):
            value = self._seen(thing._data)
            stays = any(thing._data is array for array in self._read)
            return thing if value is None or stays or isinstance(thing._node, Leaf) else value
        if isinstance(thing, dict):
            return {key: self._in_effect(part) for key, part in thing.items()}
        if isinstance(thing, (tuple, list)):
            return tuple([self._in_effect(part) for part in thing])
        return self._number(thing)

    def _converted(self, op: Primitive, arguments: list[Any]) -> list[Any]:
        """What the forward function gets: the same conversions as in the call of an op."""
        before = [list(part) if isinstance(part, list) else part for part in arguments]
        given: list[Any] = list(before[0]) if op.variadic else before
        values = [self._any(part) for part in given]
        arrays = [part._data if isinstance(part, Variable) else part for part in given]
        if op.arrays == 2 == len(op.params) and not (op.residuals or op.variadic or op.promote):
            operands = [operand(part, op.name) for part in arrays]
            changed = promote(operands, op.float_inputs, op.compares)
        else:
            changed = list(arrays)
            take_arrays(op, changed)
            convert(op, changed, ())
        for i, (array, old) in enumerate(zip(changed, arrays, strict=True)):
            if isinstance(values[i], Value) and isinstance(array, np.ndarray):
                if values[i].dtype is not None and array.dtype != values[i].dtype:
                    values[i] = self._cast(values[i], array.dtype)
            elif isinstance(array, np.ndarray) and array is not old:
                values[i] = array
        return [values, *[self._any(part) for part in before[1:]]] if op.variadic else values

    def _counts(self, op: Primitive, values: list[Any]) -> bool:
        """Whether the shape of the result depends on the values of an argument."""
        if op is registry["getitem"]:
            return any(value.dtype == bool for value in values_in(values[1]))
        given = values_in(values[1:]) if op is registry["repeat"] else ()
        return op in _COUNTING or any(True for _ in given)

    def _find_residuals(
        self, op: Primitive, node: Node, residuals: list[Value], given: list[Value]
    ) -> None:
        """Learn the shapes of the residuals that the rules read."""
        for name, array in zip(node.plan.saved_names, node.saved, strict=True):
            if name not in op.residuals:
                continue
            if isinstance(array, np.ndarray):
                self._arrays.describe(residuals[op.residuals.index(name)], array)
            else:  # it may hold any of the arrays
                self._arrays.let_go({each.memory for each in given})

    # The backward pass -------------------------------------------------------------------------

    def _arrived(self, edge: Any, cotangent: np.ndarray) -> Any:
        """The sum of what has arrived at an output; at the root, the cotangent given."""
        value = self._pending.pop(edge, None)
        if value is not None:
            return value
        if edge.__class__ is Output and not cotangent.any():
            return np.zeros_like(cotangent)  # that of an output that nothing used
        known = self._array(cotangent)
        if not isinstance(known, Value) and (cotangent != 1).any():
            self._refuse("backward(gradient) with one that no op of the step computed")
        self._arrays.borrow(cotangent)  # rules may return it: it is not theirs to change
        return known

    def _rules(self, node: Node, plan: Plan, g: Any, parts: Sequence[Any]) -> list[Any]:
        """Write down the rules that gave `parts`; their values, None where nothing was wanted."""
        op, known = plan.op, self._calls[node]

        def given(name: str) -> Any:
            if name in known:
                thing = known[name]
                return tuple(thing) if isinstance(thing, list) else thing
            thing = known[name.removesuffix("_shape")]
            if op.variadic and isinstance(thing, list):
                return tuple([part.shape for part in thing])
            return thing.shape if hasattr(thing, "shape") else np.shape(thing)

        values = [None if part is None else self._part(part) for part in parts]
        if op.joint is None:
            names = op.params[:1] * len(parts) if op.variadic else plan.slot_names
            for name, value in zip(names, values, strict=True):
                if value is not None:
                    rule = op.rule(name)
                    args = (g, *map(given, rule.needs))
                    self._write(f"{op.name}.{name}", "backward", rule.function, args, (value,))
            return values
        size = plan.slots[-1] + 1 if op.variadic else len(op.joint_slots)
        outputs: list[Value | None] = [None] * size
        for slot, value in zip(plan.slots, values, strict=True):
            outputs[slot if op.variadic else op.joint_slots.index(slot)] = value
        needed = tuple([value is not None for value in outputs])
        args = (g, needed, *map(given, op.joint.needs))
        self._write(
            f"{op.name}.{'all' if op.variadic else ', '.join(plan.slot_names)}", "backward",
            op.joint.function, args, tuple(outputs), several=True,
        )  # fmt: skip
        return values

    def _part(self, part: Any) -> Value:
        """The value of what a rule returned: an array, or an `Update` of a part of one."""
        value = self._arrays.value()
        if isinstance(part, np.ndarray):
            self._arrays.describe(value, part)
        return value

    def _accumulate(self, edge: Any, part: Any, value: Value) -> None:
        """The same steps as the engine's `accumulate`."""
        first = edge not in self._pending
        if isinstance(part, engine.Update):
            before = (edge.shape, edge.dtype) if first else self._pending[edge]
            function: Callable[..., Any] = _updated_zeros if first else _updated
            known = None if first else self._pending[edge]
            self._pending[edge] = self._arrays.like(known or value, edge.shape, edge.dtype)
            self._write("update", "backward", function, (before, value), (self._pending[edge],))
            return
        if part.shape != edge.shape:
            part = unbroadcast(part, edge.shape)
            whole = self._arrays.like(value, edge.shape, part.dtype)
            whole.strides = part.strides
            whole.memory, whole.fresh = value.memory, value.fresh  # it may be a view
            self._write("unbroadcast", "backward", unbroadcast, (value, edge.shape), (whole,))
            value = whole
        if part.dtype != edge.dtype:
            value = self._cast(value, edge.dtype, "backward")
        if not first:
            known = self._pending[edge]
            total = self._arrays.like(known, edge.shape, edge.dtype)
            function = np.add if known.strides == value.strides == total.strides else _added
            self._write("add", "backward", function, (known, value), (total,))
            value = total
        self._pending[edge] = value

    def _cast(self, value: Value, dtype: Any, phase: str = "forward") -> Value:
        cast = self._arrays.like(value, value.shape or (), dtype)
        self._write("cast", phase, _cast, (value, np.dtype(dtype)), (cast,))
        return cast

    def _deliver(self) -> None:
        """Write down that the backward pass adds to the ``.grad`` of the leaves."""
        for edge, value in self._pending.items():
            if not isinstance(edge, Leaf) or edge.tensor is None:
                continue
            if edge.hooks or edge.post_hooks:
                self._refuse(f"a hook on {edge.name or 'a leaf'}")
            target = next((i for i, t in enumerate(self._tensors) if t is edge.tensor), edge.tensor)
            written = self._write("add_to_grad", "backward", add_to_grad, (target, value), ())
            written.effect = True
        self._pending = {}

    # Writing it down ---------------------------------------------------------------------------

    def _write(
        self, name: str, phase: str, function: Callable[..., Any], args: tuple[Any, ...],
        outputs: tuple[Value | None, ...], keywords: dict[str, Any] | None = None,
        several: bool = False,
    ) -> Instruction:  # fmt: skip
        scope = state.get().scope
        for call in ancestry(scope):
            self.modules[id(call.module)] = call.module
        instruction = Instruction(
            name, phase, function, args, keywords or {}, outputs, several,
            path=scope.path if scope else "", line=user_line(),
            where=(scope.path or scope.kind) if scope else "",
            place=len(self.program.instructions),
        )  # fmt: skip
        self.program.instructions.append(instruction)
        return instruction

    def finish(self, result: Any) -> Program:
        """The program, once the step has returned `result`."""

        def returned(leaf: Any) -> Any:
            return self._tensor(leaf) if isinstance(leaf, Tensor) else self._any(leaf)

        self.program.result = mapped(returned, result)
        return self.program

    def _refuse(self, what: str) -> NoReturn:
        raise CaptureError(f"capture: {what} (at {user_line()})")


@functools.cache
def _flat(forward: Callable[..., Any]) -> Callable[..., Any]:
    """The forward of an op with several outputs and residuals, which gives them in one row."""

    @functools.wraps(forward)
    def call(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        outputs, *residuals = forward(*args, **kwargs)
        return (*outputs, *residuals)

    return call


def read(tensor: Any) -> np.ndarray:
    """The array that a tensor has when the program comes to this instruction."""
    array: np.ndarray = tensor._data
    return array


def add_to_grad(tensor: Any, array: np.ndarray) -> None:
    """Add a gradient to a leaf as a backward pass does; the array becomes the leaf's own."""
    known = tensor._grad
    grad = Tensor.__new__(Tensor)
    grad._data = np.asarray(array if known is None else known._data + array)
    tensor._grad = grad


def _cast(array: Any, dtype: Any) -> np.ndarray:
    return fitted(np.asarray(array), dtype)


def _copied_like(before: np.ndarray, result: np.ndarray) -> np.ndarray:
    """What was written over an array: it keeps its dtype and its layout."""
    copy = np.empty_like(before)
    np.copyto(copy, result, casting="same_kind")
    return copy


def _added(known: np.ndarray, part: np.ndarray) -> np.ndarray:
    """A sum in the layout of its first part, as the engine makes it."""
    return np.add(known, part, out=np.empty_like(known))


def _updated_zeros(kind: Any, update: Any) -> np.ndarray:
    """A part of an array, and zeros elsewhere."""
    array = np.zeros(*kind)
    update.add_to(array)
    return array


def _updated(array: np.ndarray, update: Any) -> np.ndarray:
    array = np.array(array)
    update.add_to(array)
    return array
