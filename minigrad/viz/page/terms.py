"""Formulas for the page, which computes them: terms as JSON.

A name is text, a number a number, and a call a list of the function's name in the page
(static/numbers.js) and its arguments. What depends on no array is computed here. Of a function that
the page does not have, such as an index, it is written where each entry goes, and with which
factor, if it is linear: NumPy's functions and ops are listed, of helpers it is found out by trying.
"""

import math
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.engine import Update
from minigrad.autograd.primitives import Primitive, registry
from minigrad.ops.convolutions import convolution_weight
from minigrad.support.tree import leaves, mapped
from minigrad.viz.formula import forward_reading, reading_of
from minigrad.viz.formula.definitions import Reading, Values
from minigrad.viz.formula.signs import added, averaged, spread
from minigrad.viz.formula.terms import Call, Choice, Constant, Term, Variable, row

FUNCTIONS: Mapping[Any, str] = {
    operator.add: "add", operator.sub: "sub", operator.mul: "mul", operator.truediv: "div",
    operator.pow: "pow", operator.neg: "neg", operator.matmul: "matmul", operator.gt: "gt",
    operator.ge: "ge", operator.lt: "lt", operator.le: "le", operator.eq: "eq", operator.ne: "ne",
    operator.invert: "not", operator.and_: "and", operator.or_: "or", np.where: "where",
    np.exp: "exp", np.log: "log", np.log1p: "log1p", np.expm1: "expm1", np.sqrt: "sqrt",
    np.tanh: "tanh", np.sin: "sin", np.cos: "cos", np.absolute: "abs", np.sign: "sign",
    np.maximum: "max", np.minimum: "min",
    np.tan: "tan", np.arcsin: "asin", np.arccos: "acos", np.arctan: "atan", np.arctan2: "atan2",
    np.sinh: "sinh", np.cosh: "cosh", np.arcsinh: "asinh", np.arccosh: "acosh",
    np.arctanh: "atanh", np.cbrt: "cbrt", np.log2: "log2", np.log10: "log10", np.hypot: "hypot",
    np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc",
    ops.erf.op: "erf", ops.sigmoid.op: "sigmoid",
    convolution_weight.op: "convolution_weight", ops.convolution.op: "convolution",
    ops.convolution_transpose.op: "convolution_transpose",
}  # fmt: skip
"""Functions whose arguments are written as they are."""

COMPOSED: Mapping[Any, Callable[..., Any]] = {
    np.square: lambda x: ["pow", x, 2],
    np.reciprocal: lambda x: ["div", 1, x],
    ops.softmax.op: lambda x, axis: ["div", ["exp", x], ["sum", ["exp", x], axis, True]],
}
"""Functions that are written as calls of others."""

SUMS: Mapping[Any, tuple[str, bool]] = {
    added: ("sum", True), averaged: ("mean", True), np.sum: ("sum", False),
    np.mean: ("mean", False), np.max: ("highest", False), np.min: ("lowest", False),
}  # fmt: skip
"""Reductions, and whether they always keep their axes."""

LINEAR = frozenset({
    operator.getitem, np.broadcast_to, np.cumsum, np.deg2rad, np.diagonal, np.expand_dims, np.flip,
    np.moveaxis, np.rad2deg, np.repeat, np.reshape, np.roll, np.rot90, np.squeeze, np.take, np.tile,
    np.trace, np.transpose, np.tril, np.triu,
    *(registry[name] for name in (
        "bincount", "concatenate", "embedding", "expand", "flatten", "getitem", "index_add", "pad",
        "scatter", "scatter_add", "scatter_diagonal", "scatter_index", "setitem", "stack",
        "sum_parts", "sum_pool", "sum_pool_transpose", "tril", "triu",
    )),
})  # fmt: skip
"""Functions that are linear in their one array, and ops that are in all of theirs together."""

LARGEST = 4096
"""The most numbers of a constant array or of places that are written."""

PROBED = 1024
"""The most entries of an array of which it is tried what a function makes of each."""


class Unwritable(Exception):
    """Raised for what the page cannot compute."""


def written_forward(op: Primitive, values: Mapping[str, Any]) -> dict[str, Any]:
    """The computation of an op, as a term for ``out`` and for each residual, as far as possible."""
    found = {}
    for name in ("out", *op.residuals):
        reading = forward_reading(op, name, _unchanging(values))
        found[name] = None if reading is None else _tried(partial(_written, reading, op, values))
    if found["out"] is None and (op in FUNCTIONS or op in COMPOSED or op in LINEAR):
        found["out"] = _tried(lambda: _written(_called(op, values), op, values))
    return {name: term for name, term in found.items() if term is not None}


def written_rule(op: Primitive, argument: str, values: Mapping[str, Any]) -> Any:
    """The rule of an argument as a term; None if the page cannot compute it."""
    name, _, place = argument.partition("[")
    values = {**values, "i": int(place[:-1])} if place else values
    return _tried(lambda: _written(reading_of(op, name, _unchanging(values)), op, values))


def written_arguments(
    op: Primitive, values: Mapping[str, Any], sources: Container[str]
) -> dict[str, Any]:
    """The arrays and numbers among the arguments that come from no box."""
    arrays = {
        name: _tried(partial(_constant, values[name]))
        for name in op.params
        if name not in sources
        and (isinstance(values.get(name), np.ndarray) or _is_number(op, name, values.get(name)))
    }
    return {name: array for name, array in arrays.items() if array is not None}


def _unchanging(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values but for numbers that a reader may change: they keep their names."""
    return {name: value for name, value in values.items() if type(value) is not float}


def _called(op: Primitive, values: Mapping[str, Any]) -> Reading:
    """The reading of an op as one call; the tensors of a variadic op are called ``tensors[0]``."""
    arguments: list[Term] = [Variable(name) for name in op.params]
    if op.variadic:
        count = len(values[op.params[0]])
        arguments[0] = Call(row, tuple(Variable(f"{op.params[0]}[{i}]") for i in range(count)))
    return Reading(Call(op, tuple(arguments)))


def _tried(write: Callable[[], Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return write()
    except (Unwritable, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None


def _written(reading: Reading, op: Primitive, values: Mapping[str, Any]) -> Any:
    """A term, and the terms of the names that it uses."""
    writer = _Writer(op, reading, values)
    term = writer.term(reading.value)
    return [term, writer.defined]


class _Writer:
    """Writes the terms of one formula."""

    def __init__(self, op: Primitive, reading: Reading, values: Mapping[str, Any]) -> None:
        self.defined: dict[str, Any] = {}
        self._given, self._names = values, Values(values, reading.definitions)
        self._definitions = {
            one.names[0]: one for one in reading.definitions if len(one.names) == 1
        }
        known = (*op.params, *op.residuals, "g", "out", *(name for name in values if "[" in name))
        self._arrays = {name for name in known if _is_floating(values.get(name))}
        self._numbers = {name for name in op.params if _is_number(op, name, values.get(name))}

    def term(self, term: Term) -> Any:
        """A term as JSON."""
        match term:
            case Call(operator.getitem, (Constant(int() | float() as number), _)):
                return number  # the index of a number in the place of an array adds axes
        if not self._depends(term):
            return _constant(term.evaluate(self._names))
        match term:
            case Variable(name):
                return self._variable(name)
            case Choice(test, then, otherwise) if not self._depends(test, self._arrays):
                return self.term(then if test.evaluate(self._names) else otherwise)
            case Call(function, (x, *rest), keywords) if function in SUMS:
                name, always = SUMS[function]
                options = dict(zip(("axis", "keepdims"), rest, strict=False)) | dict(keywords)
                axis, keepdims = (self._static(options.get(one)) for one in ("axis", "keepdims"))
                return [name, self.term(x), axis, bool(always or keepdims)]
            case Call(np.swapaxes, (x, one, other)):
                return ["swapaxes", self.term(x), self._static(one), self._static(other)]
            case Call(function, (x, shape, *axis)) if function is spread:
                kept = ["row", *self._array(Call(added, (Call(np.empty, (shape,)), *axis))).shape]
                whole = ["row", *self._array(term).shape]
                return ["broadcast", ["reshape", self.term(x), kept], whole]
            case Call(np.clip, (x, low, high)):
                for bound, limit in ((low, np.maximum), (high, np.minimum)):
                    if bound.evaluate(self._names) is not None:
                        x = Call(limit, (x, bound))
                return self.term(x)
            case Call(function, args, ()) if _plain(function) in COMPOSED:
                return COMPOSED[_plain(function)](*map(self.term, args))
            case Call(function, args, ()) if _plain(function) in FUNCTIONS:
                return [FUNCTIONS[_plain(function)], *map(self.term, args)]
            case Call(function, args, keywords):
                return self._tried_out(function, args, keywords)
        raise Unwritable

    def _tried_out(self, function: Any, args: Sequence[Term], keywords: Any) -> Any:
        """A call of a function that the page does not have."""
        if any(self._depends(one) for _, one in keywords):
            raise Unwritable
        given, *others = ([one.evaluate(names) for one in args] for names in self._changed())

        def called(put: Sequence[Any]) -> Any:
            return Call(function, tuple(map(Constant, put)), keywords).evaluate(self._names)

        def with_one(place: int, x: Any) -> Any:
            return called([*given[:place], x, *given[place + 1 :]])

        value = called(given)
        if all(_equal(value, called(other)) for other in others):
            return _constant(value)
        places = [
            i
            for i in range(len(args))
            if not all(_equal(value, with_one(i, other[i])) for other in others)
        ]
        plain = _plain(function)
        known = isinstance(plain, Primitive | np.ufunc)
        known = known or getattr(function, "__module__", "").startswith("numpy")
        moves = not known or any(self._depends(args[place], {"g"}) for place in places)
        if plain not in LINEAR and (len(places) > 1 or not moves):
            raise Unwritable
        terms = [part for place in places for part in args[place].items()]
        arrays = [np.asarray(one) for place in places for one in leaves(given[place])]

        def with_arrays(put: Iterator[np.ndarray]) -> Any:
            new = {i: mapped(lambda _: next(put), given[i]) for i in places}
            return called([new.get(i, one) for i, one in enumerate(given)])

        written = [*map(self.term, terms)]
        return _linear(written[0] if len(written) == 1 else ["join", *written], with_arrays, arrays)

    def _changed(self) -> Iterator[Values]:
        """The names as they are, then with other numbers in the arrays."""
        yield self._names
        for seed in range(2):
            yield Values(
                {
                    name: _changed(value, seed) if name in self._arrays else value
                    for name, value in self._given.items()
                },
                self._definitions.values(),
            )

    def _variable(self, name: str) -> Any:
        definition = self._definitions.get(name)
        if definition is None:
            return name
        if definition.comment is not None:  # it needs no name of its own
            return self.term(definition.term)
        if name not in self.defined:
            self.defined[name] = None  # it is being written
            self.defined[name] = self.term(definition.term)
        return name

    def _depends(self, term: Term, names: Container[str] | None = None) -> bool:
        """Whether the value of a term depends on one of some names: all arrays and numbers."""
        names = self._arrays | self._numbers if names is None else names
        return any(
            self._depends(self._definitions[part.name].term, names)
            if part.name in self._definitions
            else part.name in names
            for part in term.walk()
            if isinstance(part, Variable)
        )

    def _array(self, term: Term) -> np.ndarray:
        return np.asarray(term.evaluate(self._names))

    def _static(self, term: Term | None) -> Any:
        return None if term is None else _constant(term.evaluate(self._names))


def _plain(function: Any) -> Any:
    """The op of a function that is one."""
    return getattr(function, "op", function)


def _is_floating(value: Any) -> bool:
    return any(array.dtype.kind == "f" for array in leaves(value, np.ndarray))


def _is_number(op: Primitive, name: str, value: Any) -> bool:
    """Whether an argument is a number that a reader may change."""
    array = name in op.params[: op.arrays]
    return type(value) is float or (array and isinstance(value, int | np.generic))


def _constant(value: Any) -> Any:
    """A value as JSON: a number, a row of numbers, or an array."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim):
        value = value.item()
    if isinstance(value, np.ndarray) and value.size <= LARGEST and value.dtype.kind in "fiub":
        return {"shape": value.shape, "values": [_constant(one) for one in value.ravel().tolist()]}
    if isinstance(value, tuple | list | range):
        return ["row", *map(_constant, value)]
    if isinstance(value, float) and not math.isfinite(value):
        return {"shape": (), "values": [str(value).replace("inf", "Infinity")]}
    if value is None or isinstance(value, bool | int | float):
        return value
    raise Unwritable


def _places(places: np.ndarray) -> Any:
    """Where entries come from or go to; -1 for a zero."""
    if places.size > LARGEST:
        raise Unwritable
    return ["row", *map(int, places.ravel())]


def _changed(value: Any, seed: int) -> Any:
    def changed(array: np.ndarray) -> np.ndarray:
        return _marks(seed, array.size).reshape(array.shape) if _is_floating(array) else array

    return mapped(changed, value, np.ndarray)


def _marks(seed: int, count: int) -> np.ndarray:
    """Different numbers of very different sizes: no bounds, steps or comparisons hide in them."""
    draw = np.random.default_rng(seed)
    marks: np.ndarray = draw.standard_normal(count) * 10.0 ** draw.uniform(-4, 8, count)
    return marks


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return np.array_equal(_dense(one), _dense(other))


def _dense(value: Any) -> Any:
    return value.dense() if isinstance(value, Update) else value


def _linear(
    x: Any, function: Callable[[Iterator[np.ndarray]], Any], arrays: Sequence[np.ndarray]
) -> Any:
    """A function of a term with these values, if it moves entries or is linear in all of them."""
    ends = [int(end) for end in np.cumsum([one.size for one in arrays])]
    shape, size = arrays[0].shape if len(arrays) == 1 else (ends[-1],), ends[-1]

    def called(entries: np.ndarray) -> np.ndarray:
        parts = zip(np.split(entries, ends[:-1]), arrays, strict=True)
        return np.asarray(_dense(function(part.reshape(one.shape) for part, one in parts)))

    marks, others = _marks(0, size), _marks(1, size)
    order = {mark: place for place, mark in enumerate(marks.tolist())} | {0.0: -1}
    moved = called(marks)
    for scale in (1e-12, 1e12):  # what is linear only between bounds is not
        if not np.allclose(called(scale * marks), scale * moved, rtol=1e-9, atol=0):
            raise Unwritable
    if order.keys() >= {*moved.ravel().tolist()}:
        places = np.array([order[mark] for mark in moved.ravel().tolist()], int)
        if np.array_equal(called(others).ravel(), np.append(others, 0.0)[places]):
            if places.tolist() != [*range(size)]:
                return ["take", x, ["row", *moved.shape], _places(places)]
            return x if moved.shape == shape else ["reshape", x, ["row", *moved.shape]]
    if size > PROBED:
        raise Unwritable
    matrix = np.stack([called(one).ravel() for one in np.eye(size)], axis=-1)  # (results, size)
    if not np.allclose(matrix @ marks, moved.ravel(), rtol=1e-9, atol=1e-6):
        raise Unwritable
    to, source = np.nonzero(matrix)
    factors = _constant(matrix[to, source])
    return ["weigh", x, factors, ["row", *moved.shape], _places(to), _places(source)]
