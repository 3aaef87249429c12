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
        self._auxiliary: tuple[Any, ...] = ()
        if has_aux:
            if not isinstance(result, tuple) or len(result) != 2:
                raise TypeError(
                    f"{name}: with has_aux the function must return a pair (output, auxiliary), "
                    f"got {_shown(result)}"
                )
            result, auxiliary = result
            self._auxiliary = (auxiliary,)
        self.output = result
        self.outputs = [_output(name, path, leaf) for path, leaf in flatten(result, "output")]
        self.recorded = self._reach_beyond(self.outputs)
        self._auxiliary = mapped(self._outside, self._auxiliary)

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
            raise RuntimeError(
                f"{self.name}: the function must return one number, got {_shown(output)}; "
                f"vjp and jacrev take functions of any shape"
            )
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
        raise ValueError(
            f"{name}: argnums={argnums!r} must name arguments, each once, and the function was "
            f"called with {count} positional arguments"
        )
    return places


def _variable(name: str, path: str, value: Any) -> Any:
    """A variable with the value of an argument, and with its history if it has one."""
    if not isinstance(value, Variable):
        value = wrap(to_array(value, name=f"{name}: {path}"))
    if value._data.dtype.kind != "f":
        remedy = (
            "close over it" if path.startswith(("inputs", "primals")) else "leave it out of argnums"
        )
        raise TypeError(
            f"{name}: {path} holds {value._data.dtype}, and only floats have derivatives: {remedy}"
        )
    if history(value) is not None:
        variable = alias(value)
        variable._data = read_only(variable._data)
        return variable
    variable = wrap(read_only(value._data))  # a function must not write to its arguments
    variable._node = Leaf(variable)
    return variable


def _output(name: str, path: str, value: Any) -> Any:
    if not isinstance(value, Variable):
        raise TypeError(
            f"{name}: the function must return tensors, or tuples, lists and dicts of tensors; "
            f"got {_shown(value)} as its {path}"
        )
    if value._data.dtype.kind != "f":
        raise TypeError(
            f"{name}: the {path} of the function holds {value._data.dtype}, and only floats have "
            f"derivatives: return it with has_aux=True"
        )
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
    pairs = [
        (output, cotangent)
        for output, cotangent in zip(outputs, cotangents, strict=True)
        if history(output) is not None
    ]
    found: Sequence[Any] = [None] * len(inputs)
    if pairs and inputs:
        found = grad(
            [output for output, _ in pairs], inputs, [cotangent for _, cotangent in pairs],
            retain_graph=retain or create, create_graph=create, allow_unused=True,
        )  # fmt: skip
    missing = [wrap(np.zeros_like(x._data)) if fill else None for x in inputs]
    return [zeros if g is None else g for g, zeros in zip(found, missing, strict=True)]


def check_dependence(
    name: str, output: str, by: str, gradients: Sequence[Any], constant: bool = False
) -> None:
    """A RuntimeError if all gradients are missing; if `constant`, also if none has a history."""
    known = [gradient for gradient in gradients if gradient is not None]
    if not known:
        raise RuntimeError(f"{name}: {output} does not depend on {by}, which strict=True refuses")
    if constant and not has_history(known):
        raise RuntimeError(
            f"{name}: the derivative of {output} by {by} is constant, which strict=True refuses "
            f"with create_graph=True"
        )


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
        raise ValueError(
            f"{name}: {path} must have the structure of {like_path}: missing "
            f"{', '.join(missing) or 'none'}, unexpected {', '.join(unexpected) or 'none'}"
        )
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
