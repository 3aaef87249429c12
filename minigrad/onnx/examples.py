"""The example inputs of a model by name, and inputs of other sizes and values made from them."""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from minigrad.autograd.dtype_class import dtype
from minigrad.autograd.grad_mode import no_grad
from minigrad.autograd.node import Variable
from minigrad.onnx.runs import flat
from minigrad.support.signatures import signature_of
from minigrad.support.tree import mapped, paths
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor

Axes = Mapping[str, Mapping[int, str]]
"""For each input, its dynamic axes and the names of their sizes."""

OTHERS = 3
"""The number of other sizes at which a model must run, for each name."""

INPUTS = (Variable, np.ndarray)
PLAIN = (bool, int, float, str, np.generic, np.dtype, dtype, type, type(None))


class Examples:
    """The example inputs of a model, `arrays` by name, and variants of them.

    `given` are the arguments of its forward: one tensor, a tuple of arguments, or a dict by name.
    Tensors and arrays are inputs, also within tuples, lists and dicts; anything else is passed on
    unchanged. `names` are the names of the first inputs, `axes` the dynamic ones; `sizes` are those
    of the symbols in the example.
    """

    def __init__(self, model: Any, given: Any, names: Sequence[str], axes: Axes) -> None:
        self._model, self._axes = model, axes
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
        self._given = dict(self._bound.arguments)
        found: dict[str, np.ndarray] = {}
        for (first, *rest), value in paths(self._given):
            keywords = signature.parameters[first].kind is inspect.Parameter.VAR_KEYWORD
            name = "_".join(map(str, rest if keywords else (first, *rest)))
            if isinstance(value, INPUTS):
                if name in found:
                    raise ValueError(f"onnx.export: two inputs are called {name}; see input_names")
                found[name] = np.array(value)
            elif not isinstance(value, PLAIN):
                raise TypeError(
                    f"onnx.export: {name} is a {type(value).__name__}; the arguments of an "
                    f"exported model are tensors, arrays, numbers, strings, bools and None"
                )
        if not found:
            raise ValueError("onnx.export: no tensor or array among the example inputs")
        listed = renamed("input_names", [*found], names)
        self.arrays = dict(zip(listed, found.values(), strict=True))
        self.sizes = self._sizes()

    def bound(self, arrays: Mapping[str, np.ndarray]) -> tuple[Any, dict[str, Tensor]]:
        """The bound arguments of a call, and the tensors among them."""
        tensors = {name: tensor(array) for name, array in arrays.items()}
        in_order = iter([tensors[name] for name in self.arrays])
        filled = mapped(lambda _: next(in_order), self._given, INPUTS)
        self._bound.arguments.update(filled)
        return self._bound, tensors

    def refused(self, arrays: Mapping[str, np.ndarray]) -> Exception | None:
        """Run the model; return its error, or None if it accepts these inputs."""
        try:
            self.run(arrays)
        except (AssertionError, LookupError, RuntimeError, TypeError, ValueError) as error:
            return error
        return None

    def outputs(self, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs of the model by name."""
        return {name: tensor._data for name, tensor in flat(self.run(arrays))}

    def run(self, arrays: Mapping[str, np.ndarray]) -> Any:
        """What the model returns."""
        bound, _ = self.bound(arrays)
        with no_grad():
            return self._model(*bound.args, **bound.kwargs)

    def resized(self, sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
        """The inputs, cut or repeated from the start to the given sizes of symbols."""
        arrays = dict(self.arrays)
        for name, symbols in self._axes.items():
            for axis, symbol in symbols.items():
                places = np.arange(sizes[symbol]) % max(arrays[name].shape[axis], 1)
                arrays[name] = arrays[name].take(places, axis)
        return arrays

    def _sizes(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, symbols in self._axes.items():
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

    def other_sizes(self, symbol: str) -> list[int]:
        """Other sizes of one symbol, from 2, at which the model runs."""
        n, why = self.sizes[symbol], None
        found: list[int] = []
        for size in dict.fromkeys([n + 1, n - 1, n + 3, n - 2, n + 2, n - 3, 2 * n, 3 * n, 4 * n]):
            if size >= 2 and size != n:
                refused = self.refused(self.resized({**self.sizes, symbol: size}))
                if refused is None:
                    found.append(size)
                why = refused or why
            if len(found) == OTHERS:
                return found
        raise ValueError(
            f"onnx.export: dynamic_axes: the model does not run with other sizes of {symbol!r} "
            f"than {n}: {why}"
        )


def renamed(what: str, found: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that were found, the first of them replaced by those that were given."""
    if isinstance(names, str) or len(names) > len(found) or len({*names}) < len(names):
        raise ValueError(
            f"onnx.export: {what}: at most {len(found)} different names expected, for "
            f"{', '.join(found)}; got {names!r}"
        )
    return [*names, *found[len(names) :]]


def named_axes(
    given: Mapping[str, Any] | None, outputs: Sequence[str]
) -> dict[str, dict[int, str]]:
    """The dynamic axes of inputs: a list of axes gets names; those of outputs follow from them."""
    return {
        name: dict(axes)
        if isinstance(axes, Mapping)
        else {n: f"{name.strip('_')}_{n}" for n in axes}  # src_1, input_0 for input_
        for name, axes in (given or {}).items()
        if name not in outputs
    }
