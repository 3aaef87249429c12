"""Example inputs of other sizes and values, derived from the given ones.

Runs that differ in sizes and values show what depends on either. Sizes for which the model raises
are left out. An axis is dynamic if at least three other sizes work.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.autograd.events import Call, Observer
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.node import Variable
from minigrad.onnx.runs import flat
from minigrad.support.signatures import signature_of
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor

Axes = Mapping[str, Mapping[int, str]]
"""For each input, its dynamic axes and the names of their sizes."""

ENOUGH = 3
RUNS = "runs too"
ELEMENTS = 1 << 24
"""The maximum number of elements that a model may compute in a trial."""


class Examples:
    """The example inputs of a model, `arrays` by name, and variants of them.

    `given` are the arguments of its forward: one tensor, a tuple of arguments, or a dict by name.
    Tensors and arrays are inputs, also within tuples, lists and dicts; anything else is passed on
    unchanged. `names` are the names of the first inputs.
    """

    def __init__(self, model: Any, given: Any, names: Sequence[str] = ()) -> None:
        self._model = model
        signature = signature_of(model.forward)
        try:
            if isinstance(given, Mapping):
                self._bound = signature.bind(**given)
            else:
                self._bound = signature.bind(*(given if isinstance(given, tuple) else (given,)))
        except TypeError as error:
            raise TypeError(
                f"onnx.export: the example inputs do not fit {type(model).__name__}.forward"
                f"{signature}: {error}"
            ) from None
        variable = inspect.Parameter.VAR_KEYWORD
        self._given: dict[str, Any] = {}  # with the names of inputs in their place
        found: dict[str, np.ndarray] = {}

        def named(name: str, value: Any) -> _Input:
            if name in found:
                raise ValueError(f"onnx.export: two inputs are called {name}; see input_names")
            found[name] = np.array(value)
            return _Input(name)

        for name, value in self._bound.arguments.items():
            several = signature.parameters[name].kind is variable
            self._given[name] = _mapped(named, value, "" if several else name)
        if not found:
            raise ValueError("onnx.export: no tensor or array among the example inputs")
        for name, value in self._given.items():
            if not _is_plain(value):
                raise TypeError(
                    f"onnx.export: {name} is a {type(value).__name__}; the arguments of an "
                    f"exported model are tensors, arrays, numbers, strings, bools and None"
                )
        self._names = dict(zip(found, renamed("input_names", [*found], names), strict=True))
        self.arrays = {self._names[name]: array for name, array in found.items()}

    def bound(self, arrays: Mapping[str, np.ndarray]) -> tuple[Any, dict[str, Tensor]]:
        """The bound arguments of a call, and the tensors among them."""
        tensors = {name: tensor(array) for name, array in arrays.items()}

        def filled(_: str, value: Any) -> Any:
            return tensors[self._names[value.name]]

        for name, value in self._given.items():
            self._bound.arguments[name] = _mapped(filled, value, name)
        return self._bound, tensors

    def accepted(self, arrays: Mapping[str, np.ndarray]) -> Exception | None:
        """Run the model; return None if it accepts these inputs, else the error."""
        try:
            self._called(arrays)
        except (AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            return error
        return None

    def outputs(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs of the model by name."""
        return {name: tensor._data for name, tensor in flat(self._called(arrays))}

    def _called(self, arrays: Mapping[str, np.ndarray]) -> Any:
        bound, _ = self.bound(arrays)
        with no_grad():
            return self._model(*bound.args, **bound.kwargs)

    def tried(self, axes: Axes, sizes: Mapping[str, int]) -> str | None:
        """The model's result, described, at the given sizes; None if it raises."""
        elements = 0
        for name, array in self.arrays.items():
            symbols = axes.get(name, {})
            elements += math.prod(
                sizes[symbols[axis]] if axis in symbols else n for axis, n in enumerate(array.shape)
            )
        if elements > ELEMENTS:
            return "is too large to be tried"
        try:
            with _Bounded():
                refused = self.accepted(self.resized(axes, sizes))
        except _TooLarge:
            return "runs on, and is too large to be tried to its end"
        return None if refused else RUNS

    def resized(self, axes: Axes, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """The inputs, cut or repeated from the start to the given sizes of symbols."""
        arrays = dict(self.arrays)
        for name, symbols in axes.items():
            for axis, symbol in symbols.items():
                places = np.arange(sizes[symbol]) % max(arrays[name].shape[axis], 1)
                arrays[name] = arrays[name].take(places, axis)
        return arrays

    def checked(self, axes: Axes) -> dict[str, int]:
        """The size of each symbol in the example."""
        found: dict[str, int] = {}
        for name, symbols in axes.items():
            if name not in self.arrays:
                raise ValueError(
                    f"onnx.export: dynamic_axes names {name!r}; the inputs are "
                    f"{', '.join(self.arrays)}"
                )
            shape = self.arrays[name].shape
            for axis, symbol in symbols.items():
                if not 0 <= axis < len(shape):
                    raise ValueError(
                        f"onnx.export: dynamic_axes: {name} of shape {shape} has no axis {axis}"
                    )
                if found.setdefault(symbol, shape[axis]) != shape[axis]:
                    raise ValueError(
                        f"onnx.export: dynamic_axes: {symbol!r} is {found[symbol]} and, on axis "
                        f"{axis} of {name}, {shape[axis]}"
                    )
        return found

    def choices(self, axes: Axes, symbol: str) -> tuple[list[int], Exception | None]:
        """Other sizes of one symbol that the model accepts, and the last error."""
        sizes = self.checked(axes)
        n = sizes[symbol]
        found: list[int] = []
        why = None
        for size in dict.fromkeys([n + 1, n - 1, n + 3, n - 2, n + 2, n - 3, 2 * n, 3 * n, 4 * n]):
            if size >= 2 and size != n and len(found) < ENOUGH:
                refused = self.accepted(self.resized(axes, {**sizes, symbol: size}))
                if refused is None:
                    found.append(size)
                why = refused or why
        return found, why

    def find_axes(self) -> dict[str, dict[int, str]]:
        """Find the dynamic axes by trying: each axis alone, then with those of equal size."""
        axes: dict[str, dict[int, str]] = {name: {} for name in self.arrays}
        left: dict[int, list[tuple[str, int]]] = {}
        for name, array in self.arrays.items():
            for axis, size in enumerate(array.shape):
                if size > 1 and self._changes([(name, axis)]):
                    axes[name][axis] = _symbol(name, axis)
                else:
                    left.setdefault(size, []).append((name, axis))
        for size, places in left.items():
            if len(places) > 1 or size == 1:
                if not self._changes(places):
                    continue
                names = [name for name, _ in places]
                if len(set(names)) < len(names):
                    raise ValueError(
                        f"onnx.export: axes {places} all have size {size} and only change "
                        f"together; give an example whose sizes differ, or name them in "
                        f"dynamic_axes"
                    )
                first, axis = places[0]
                for name, other in places:
                    axes[name][other] = _symbol(first, axis)
        return {name: found for name, found in axes.items() if found}

    def _changes(self, places: Sequence[tuple[str, int]]) -> bool:
        axes: dict[str, dict[int, str]] = {}
        for name, axis in places:
            axes.setdefault(name, {})[axis] = "size"
        return len(self.choices(axes, "size")[0]) >= ENOUGH

    def draw(self, arrays: Mapping[str, np.ndarray], rng: np.random.Generator) -> Any:
        """Random values in the same range and with the same sign."""
        return {name: _drawn(array, self.arrays[name], rng) for name, array in arrays.items()}


class _Input(NamedTuple):
    """The name of an input, in its place among the arguments."""

    name: str


def _mapped(function: Callable[[str, Any], Any], value: Any, name: str) -> Any:
    """A nested argument with a function of the name and value in the place of each input."""
    if isinstance(value, (Variable, np.ndarray, _Input)):
        return function(name, value)
    if isinstance(value, Mapping):
        named = {key: f"{name}_{key}" if name else str(key) for key in value}
        return {key: _mapped(function, part, named[key]) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        parts = [_mapped(function, part, f"{name}_{i}") for i, part in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def renamed(what: str, found: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that were found, the first of them replaced by those that were given."""
    if isinstance(names, str) or len(names) > len(found) or len({*names}) < len(names):
        raise ValueError(
            f"onnx.export: {what}: at most {len(found)} different names expected, for "
            f"{', '.join(found)}; got {names!r}"
        )
    return [*names, *found[len(names) :]]


def named_axes(given: Mapping[str, Any], outputs: Sequence[str]) -> dict[str, dict[int, str]]:
    """The dynamic axes of inputs: a list of axes gets names; those of outputs follow from them."""
    return {
        name: dict(axes) if isinstance(axes, Mapping) else {n: _symbol(name, n) for n in axes}
        for name, axes in given.items()
        if name not in outputs
    }


class _TooLarge(Exception):
    """A model computes more elements than the limit for trials."""


class _Bounded(Observer):
    """Stops a model that computes too many elements."""

    left_over = ELEMENTS

    def ran(self, call: Call) -> None:
        self.left_over -= sum(math.prod(part.shape) for part in call.outputs)
        if self.left_over < 0:
            raise _TooLarge


def _is_plain(value: Any) -> bool:
    """Whether an argument is the same in every run, and holds no tensor."""
    if isinstance(value, _Input):
        return True
    if isinstance(value, Mapping):
        return all(map(_is_plain, value.values()))
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return value is None or isinstance(
        value, (bool, int, float, str, np.generic, np.dtype, dtype, type)
    )


def _symbol(name: str, axis: int) -> str:
    """The symbol of an axis: src_1, input_0 for input_."""
    return f"{name.strip('_')}_{axis}"


def _drawn(array: np.ndarray, example: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if array.dtype.kind == "b":
        return rng.random(array.shape) < 0.5
    if not example.size:
        return array
    least, most = example.min(), example.max()
    if array.dtype.kind != "f":
        if least == most:  # other values, to find what depends on values
            least, most = min(least, 0), max(most, 1)
        return rng.integers(least, most, array.shape, array.dtype, endpoint=True)
    if least == most:
        return (array + rng.random(array.shape)).astype(array.dtype)
    return (rng.choice(example.ravel(), array.shape) * rng.uniform(0.5, 1.5, array.shape)).astype(
        array.dtype
    )


def several(
    choices: Mapping[str, Sequence[int]], base: Mapping[str, int], count: int,
    rng: np.random.Generator,
) -> Iterable[dict[str, int]]:  # fmt: skip
    """Sizes of all symbols for some runs, if possible all different."""
    for i in range(count):
        sizes: dict[str, int] = {}
        for symbol, found in choices.items():
            turn = (i + len(sizes)) % ENOUGH
            order = [*found[turn:], *found[:turn]]
            if i >= ENOUGH:
                order = [*rng.permutation([*found, base[symbol]])]
            free = [int(size) for size in order if int(size) not in sizes.values()]
            sizes[symbol] = free[0] if free else int(order[0])
        yield sizes


def largest(limit: int, least: int, accepts: Callable[[int], bool]) -> int:
    """The largest accepted number up to a limit; `least` is accepted."""
    if accepts(limit):
        return limit
    while limit - least > 1:
        middle = (least + limit) // 2
        if accepts(middle):
            least = middle
        else:
            limit = middle
    return least
