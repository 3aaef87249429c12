"""One call of a function for a transform: the first step of every function transform.

The function is called with recording on, and with variables of its own instead of the arguments.
Each variable is an alias of its argument: it has the history of the argument, but a node that no
other transform shares. So nested derivatives are not confused with one another.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.api import grad
from minigrad.autograd.call import wrap
from minigrad.autograd.dtypes import to_array
from minigrad.autograd.engine import alias
from minigrad.autograd.grad_mode import enable_grad, is_grad_enabled
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Leaf, Variable, clock, nodes_behind
from minigrad.autograd.views import read_only
from minigrad.support.checks import check_function
from minigrad.transforms.structure import flatten, mapped, rebuilt

Table = Sequence[Sequence[Any]]
"""For each output and each variable the gradient; None where it does not depend on it."""


class Evaluation:
    """One call of a function of structures of tensors, for the transform `name`.

    Errors call the positional arguments `around`. The keyword arguments are never differentiated;
    if `argnums` is None, all others are.

    Attributes:
        variables: The tensors that are differentiated, in order.
        outputs: The tensors that the function returned, in order.
        output: What the function returned, as a structure of `outputs`.
        recorded: Whether derivatives must be recorded: grad mode was on around the call, and the
            outputs depend on tensors from outside that have a history.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], args: tuple[Any, ...],
        kwargs: dict[str, Any], argnums: int | tuple[int, ...] | None, has_aux: bool,
        around: str = "args",
    ) -> None:  # fmt: skip
        check_function(name, function)
        self.name = name
        self._enabled = is_grad_enabled()
        self._born = next(clock)
        places = _places(name, range(len(args)) if argnums is None else argnums, len(args))
        self._arguments = tuple(args[i] for i in places)
        self._single = isinstance(argnums, int | np.integer)
        named = [leaf for i in places for leaf in flatten(args[i], f"{around}[{i}]")]
        with enable_grad():
            self.variables = [_variable(name, path, leaf) for path, leaf in named]
            values, leaves = list(args), iter(self.variables)
            for i in places:
                values[i] = rebuilt(args[i], leaves)
            result = function(*values, **kwargs)
        if has_aux and (not isinstance(result, tuple) or len(result) != 2):
            wanted = "with has_aux the function must return a pair (output, auxiliary)"
            raise TypeError(f"{name}: {wanted}, got {_shown(result)}")
        self.output, *auxiliary = result if has_aux else (result,)
        self.outputs = [_output(name, path, leaf) for path, leaf in flatten(self.output, "output")]
        self.recorded = self._reach_beyond(self.outputs)
        self._auxiliary = mapped(self._outside, auxiliary)

    def returned(self, *results: Any) -> Any:
        """The result of the transform: the results, and the auxiliary output if there is one."""
        every = (*results, *self._auxiliary)
        return every if len(every) > 1 else every[0]

    @property
    def value(self) -> Any:
        """The result of the function, as the caller sees it."""
        return mapped(self._outside, self.output)

    def _outside(self, leaf: Any) -> Any:
        """A result without its history, if that lies within this call."""
        return leaf if not has_history([leaf]) or self._reach_beyond([leaf]) else wrap(leaf._data)

    def table(self, outputs: Sequence[Any] | None = None) -> Table:
        """The gradients of some outputs, or of all."""
        return [
            pulled([output], self.variables, [np.ones_like(output._data)], True, fill=False)
            for output in (self.outputs if outputs is None else outputs)
        ]

    def _reach_beyond(self, tensors: Sequence[Any]) -> bool:
        """Whether a history leads to a node from before the call, or to a leaf from outside."""
        own = {variable._node for variable in self.variables}
        return self._enabled and any(
            node.stamp < self._born
            or (isinstance(node, Leaf) and node not in own and node.tensor is not None)
            for node in nodes_behind(*map(history, tensors), since=self._born)
        )

    def records(self, given: Iterable[Any]) -> bool:
        """Whether derivatives in these directions are recorded."""
        return is_grad_enabled() and (self.recorded or has_history(given))

    def gradient(self, create: bool) -> list[Any]:
        """The gradient of a function that returns one number: a tensor for each variable."""
        output = self.output
        if not isinstance(output, Variable) or output._data.size != 1:
            given = f"{_shown(output)}; vjp and jacrev take functions of any shape"
            raise RuntimeError(f"{self.name}: the function must return one number, got {given}")
        return pulled([output], self.variables, [np.ones_like(output._data)], create)

    def structured(self, values: Iterable[Any]) -> Any:
        """One value for each variable in the structure of the arguments."""
        like = self._arguments[0] if self._single else self._arguments
        return rebuilt(like, iter(values))


def _places(name: str, argnums: Any, count: int) -> tuple[int, ...]:
    """The positions of the arguments to differentiate, checked."""
    wanted = (argnums,) if isinstance(argnums, int | np.integer) else argnums
    places = tuple([int(i) % count for i in wanted if -count <= i < count])
    if len({*places}) != len(wanted):
        given = f"the function was called with {count} positional arguments"
        raise ValueError(f"{name}: argnums={argnums!r} must name arguments, each once; {given}")
    return places


def _variable(name: str, path: str, value: Any) -> Any:
    """A variable with the value of an argument, and with its history if it has one."""
    if not isinstance(value, Variable):
        value = wrap(to_array(value, name=f"{name}: {path}"))
    if value._data.dtype.kind != "f":
        every = path.startswith(("inputs", "primals"))
        remedy = "close over it" if every else "leave it out of argnums"
        what = f"{path} holds {value._data.dtype}"
        raise TypeError(f"{name}: {what}, and only floats have derivatives: {remedy}")
    if history(value) is not None:
        variable = alias(value)
        variable._data = read_only(variable._data)
        return variable
    variable = wrap(read_only(value._data))  # a function must not write to its arguments
    variable._node = Leaf(variable)
    return variable


def _output(name: str, path: str, value: Any) -> Any:
    if not isinstance(value, Variable):
        what = "tensors, or tuples, lists and dicts of tensors"
        raise TypeError(f"{name}: the function must return {what}; got {_shown(value)} as {path}")
    if value._data.dtype.kind != "f":
        what = f"the function's {path} holds {value._data.dtype}, which has no derivative"
        raise TypeError(f"{name}: {what}: return it with has_aux=True")
    return value


def _shown(value: Any) -> str:
    shape = f" of shape {value._data.shape}" if isinstance(value, Variable) else ""
    return f"{type(value).__name__}{shape}"


def has_history(values: Iterable[Any]) -> bool:
    """Whether one of the values is a tensor with a history."""
    return any(isinstance(value, Variable) and history(value) is not None for value in values)


def pulled(
    outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], create: bool,
    retain: bool = False, fill: bool = True,
) -> list[Any]:  # fmt: skip
    """The cotangents of `inputs`; zeros, or None without `fill`, for one that no output needs."""
    pairs = [x for x in zip(outputs, cotangents, strict=True) if history(x[0]) is not None]
    found: Sequence[Any] = [None] * len(inputs)
    if pairs and inputs:
        roots, given = zip(*pairs, strict=True)
        options = {"retain_graph": retain or create, "create_graph": create}
        found = grad(roots, inputs, given, allow_unused=True, **options)
    each = zip(found, inputs, strict=True)
    return [wrap(np.zeros_like(x._data)) if g is None and fill else g for g, x in each]


def check_dependence(
    name: str, output: str, by: str, gradients: Sequence[Any], constant: bool = False
) -> None:
    """A RuntimeError if all gradients are missing; if `constant`, also if none has a history."""
    known = [gradient for gradient in gradients if gradient is not None]
    if not known:
        raise RuntimeError(f"{name}: {output} does not depend on {by}, which strict=True refuses")
    if constant and not has_history(known):
        what = f"the derivative of {output} by {by} is constant"
        raise RuntimeError(f"{name}: {what}, which strict=True refuses with create_graph=True")


def directions(
    name: str, like: Any, tensors: Sequence[Any], given: Any, like_path: str, path: str
) -> list[Any]:
    """Tangents or cotangents for `tensors`, the leaves of `like`, each of its shape and dtype.

    They are `given` as tensors, arrays or numbers in the same structure; the keys of a dict may be
    in any order. Errors name the transform, `name`, and call the structures `like_path` and `path`.
    """
    wanted, found = [place for place, _ in flatten(like, path)], dict(flatten(given, path))
    missing = [place for place in wanted if place not in found]
    unexpected = [place for place in found if place not in wanted]
    if missing or unexpected:
        missed, more = ", ".join(missing) or "none", ", ".join(unexpected) or "none"
        what = f"{path} must have the structure of {like_path}"
        raise ValueError(f"{name}: {what}: missing {missed}, unexpected {more}")
    checked = []
    for tensor, (other, _), place in zip(tensors, flatten(like, like_path), wanted, strict=True):
        value, dtype, shape = found[place], tensor._data.dtype, tensor._data.shape
        if not isinstance(value, Variable):
            weak = isinstance(value, np.generic) or not hasattr(value, "dtype")
            value = wrap(to_array(value, dtype if weak else None, name=f"{name}: {place}"))
        if value._data.shape != shape:
            raise ValueError(f"{name}: {place} has shape {value._data.shape}, {other} has {shape}")
        if value._data.dtype != dtype:
            raise TypeError(f"{name}: {place} holds {value._data.dtype}, {other} holds {dtype}")
        checked.append(value)
    return checked
