"""Formulas for the page, which computes them: terms as JSON.

A name is text, a number a number, and a call a list of the function's name in the page
(static/numbers.js) and its arguments. What depends on no array is computed here. Of a function that
the page does not have, such as an index, it is written where each entry goes, and with which
factor. It must be declared that it is linear: in the list here, by `moves`, or as what a comment
explains in a written formula. Such an expression takes sizes, or moves entries: it is tried which.
"""

import math
import operator
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.engine import DETACH, Update
from minigrad.autograd.primitives import Primitive, registry
from minigrad.ops.convolutions import convolution_weight
from minigrad.ops.indexing import IndexUpdate
from minigrad.support.signatures import signature_of
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
    np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.isnan: "isnan",
    np.isfinite: "isfinite", np.fmax: "fmax", np.fmin: "fmin",
    registry["floor"]: "floor", registry["ceil"]: "ceil", registry["trunc"]: "trunc",
    ops.erf.op: "erf", ops.sigmoid.op: "sigmoid",
    convolution_weight.op: "convolution_weight", ops.convolution.op: "convolution",
    ops.convolution_transpose.op: "convolution_transpose",
}  # fmt: skip
"""Functions whose arguments are written as they are."""

COMPOSED: Mapping[Any, Callable[..., Any]] = {
    np.square: lambda x: ["pow", x, 2],
    np.reciprocal: lambda x: ["div", 1, x],
    np.exp2: lambda x: ["pow", 2, x],
    np.sort: lambda x, axis: ["take_along", x, ["order", x, axis, False], axis],
    operator.floordiv: lambda a, b: ["floor", ["div", a, b]],
    operator.mod: lambda a, b: ["sub", a, ["mul", b, ["floor", ["div", a, b]]]],
    DETACH: lambda x: x,
    ops.softmax.op: lambda x, axis: ["div", ["exp", x], ["sum", ["exp", x], axis, True]],
}
"""Functions that are written as calls of others."""

SUMS: Mapping[Any, tuple[str, bool]] = {
    added: ("sum", True), averaged: ("mean", True), np.sum: ("sum", False),
    np.mean: ("mean", False), np.max: ("highest", False), np.min: ("lowest", False),
}  # fmt: skip
"""Reductions, and whether they always keep their axes."""

LINEAR = frozenset({
    float, operator.getitem, np.atleast_2d, np.broadcast_to, np.cumsum, np.deg2rad,
    np.diagonal, np.expand_dims, np.flip, np.moveaxis, np.rad2deg, np.repeat, np.reshape, np.roll,
    np.rot90, np.squeeze, np.take, np.tile, np.trace, np.transpose, np.tril, np.triu,
    *(registry[name] for name in (
        "bincount", "concatenate", "diagonal", "embedding", "expand", "flatten", "getitem",
        "index_add", "pad", "reshape", "scatter", "scatter_add", "scatter_diagonal",
        "scatter_index", "setitem", "stack", "sum_parts", "sum_pool", "sum_pool_transpose",
        "tril", "triu",
    )),
})  # fmt: skip
"""Functions that are linear in their one array, and ops that are in all of theirs together."""

SIZES = frozenset({np.ndim, np.shape, np.zeros_like, np.ones_like, len})
"""Functions of which the numbers in an array change nothing."""


class Unwritable(Exception):
    """Raised for what the page cannot compute."""


def _back(x: np.ndarray, axis: int, indices: Any) -> Any:
    return ["put_along", "g", indices, ["row", *x.shape], axis]


def _along(x: np.ndarray, indices: np.ndarray, axis: int) -> str:
    """The name of the indices, if they are not broadcast."""
    if np.delete(x.shape, axis).tolist() != np.delete(indices.shape, axis).tolist():
        raise Unwritable
    return "indices"


def _first(k: int, axis: int, largest: bool, ordered: bool) -> Any:
    if not ordered:
        raise Unwritable
    return ["order", "x", axis, largest, k]


def _cast(dtype: Any) -> Any:
    return {"f": "x", "b": ["ne", "x", 0]}.get(np.dtype(dtype).kind, ["trunc", "x"])


CHOOSING: Mapping[tuple[Primitive, str], Callable[..., Any]] = {
    (registry["argsort"], "out"): lambda axis, descending: ["order", "x", axis, descending],
    (registry["topk"], "out"): lambda k, axis, largest, ordered: _first(k, axis, largest, ordered),
    (registry["sort"], "x"): lambda x, axis, descending: _back(
        x, axis, ["order", "x", axis, descending]
    ),
    (registry["take_along_axis"], "out"): lambda x, indices, axis: (
        ["take_along", "x", _along(x, indices, axis), axis]
    ),
    (registry["take_along_axis"], "x"): lambda x, indices, axis: _back(
        x, axis, _along(x, indices, axis)
    ),
    (registry["astype"], "out"): _cast,
}
"""Ops, and rules, whose terms take the places in an array from numbers in another one."""

LARGEST = 4096
"""The most numbers of a constant array or of places that are written."""

PROBED = 1024
"""The most entries of an array of which it is tried what a function makes of each."""


def written_forward(op: Primitive, values: Mapping[str, Any]) -> dict[str, Any]:
    """The computation of an op, as a term for ``out`` and for each residual, as far as possible."""
    found = {}
    for name in ("out", *op.residuals):
        reading = forward_reading(op, name, _unchanging(values))
        if (op, name) in CHOOSING:
            found[name] = _tried(partial(_chosen, op, name, values))
        else:
            found[name] = reading and _tried(partial(_written, reading, op, values))
    if found["out"] is None and (op in FUNCTIONS or op in COMPOSED or op in LINEAR):
        found["out"] = _tried(lambda: _written(_called(op, values), op, values))
    return {name: term for name, term in found.items() if term is not None}


def written_rule(op: Primitive, argument: str, values: Mapping[str, Any]) -> Any:
    """The rule of an argument as a term; None if the page cannot compute it."""
    if (op, argument) in CHOOSING:
        return _tried(partial(_chosen, op, argument, values))
    name, _, place = argument.partition("[")
    values = {**values, "i": int(place[:-1])} if place else values
    return _tried(lambda: _written(reading_of(op, name, _unchanging(values)), op, values, name))


def _chosen(op: Primitive, name: str, values: Mapping[str, Any]) -> Any:
    write = CHOOSING[op, name]
    return [write(**{one: values[one] for one in signature_of(write).parameters}), {}]


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


def _written(reading: Reading, op: Primitive, values: Mapping[str, Any], argument: str = "") -> Any:
    """A term, the terms of the names that it uses, and the names of arrays that it takes as fixed.

    Of a rule, `argument` is the name of the argument whose gradient it computes.
    """
    writer = _Writer(op, reading, values)
    if argument and argument in op.rules:
        writer.linear |= {op.rules[argument].function}  # in g, and it may read nothing else
    term = writer.term(reading.value)
    return [term, writer.defined, *filter(None, [sorted(writer.fixed)])]


class _Writer:
    """Writes the terms of one formula."""

    def __init__(self, op: Primitive, reading: Reading, values: Mapping[str, Any]) -> None:
        self.defined: dict[str, Any] = {}
        self.fixed: set[str] = set()
        self.linear: frozenset[Any] = LINEAR
        self._given, self._names = values, Values(values, reading.definitions)
        self._definitions = {
            one.names[0]: one for one in reading.definitions if len(one.names) == 1
        }
        known = (*op.params, *op.residuals, "g", "out", *(name for name in values if "[" in name))
        self._arrays = {name for name in known if _holds(values.get(name), "fbiu")}
        self._others = {name for name in known if _holds(values.get(name), "biu")}
        self._numbers = {name for name in op.params if _is_number(op, name, values.get(name))}

    def term(self, term: Term) -> Any:
        """A term as JSON."""
        match term:
            case Call(operator.getitem, (Constant(int() | float() as number), _)):
                return number  # the index of a number in the place of an array adds axes
        if not self._depends(term):
            return self._as_it_is(term)
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
            case Call(function, (x, index, shape)) if function is IndexUpdate:
                return self._put(x, index, shape)
            case Call(np.clip, (x, low, high)):
                for bound, limit in ((low, np.maximum), (high, np.minimum)):
                    if bound.evaluate(self._names) is not None:
                        x = Call(limit, (x, bound))
                return self.term(x)
            case Call(operator.add, (x, y), ()) if self._others and self._is_bool(term):
                return ["or", self.term(x), self.term(y)]
            case Call(operator.and_ | operator.or_ | operator.invert) if not self._is_bool(term):
                raise Unwritable
            case Call(function, args, ()) if _plain(function) in COMPOSED:
                return COMPOSED[_plain(function)](*map(self.term, args))
            case Call(function, args, ()) if _plain(function) in FUNCTIONS:
                return [FUNCTIONS[_plain(function)], *map(self.term, args)]
            case Call(function, args, keywords):
                return self._moved(function, args, keywords)
        raise Unwritable

    def _put(self, x: Term, index: Term, shape: Term) -> Any:
        """Entries that go to where an index says; several to one place add up."""
        changed = [index.evaluate(names) for names in self._changed()]
        if not all(_equal(changed[0], other) for other in changed[1:]):
            raise Unwritable
        self._fix(index)
        whole = self._static(shape)
        places = np.arange(math.prod(whole[1:])).reshape(whole[1:])[changed[0]]
        return ["put", self.term(x), _places(places), whole]

    def _as_it_is(self, term: Term) -> Any:
        """The value of a term that does not change with the numbers in arrays of floats."""
        self._fix(term)
        return _constant(term.evaluate(self._names))

    def _fix(self, *terms: Term) -> None:
        """Note the arrays of integers and bools that are taken as they are."""
        self.fixed |= {
            name for name in self._others if any(self._depends(term, {name}) for term in terms)
        }

    def _moved(self, function: Any, args: Sequence[Term], keywords: Any) -> Any:
        """A call of a function that the page does not have."""
        whole = Call(function, tuple(args), keywords)
        plain, explained = _plain(function), hasattr(function, "explained")
        if plain in SIZES:
            return self._as_it_is(whole)
        if any(self._depends(one) for _, one in keywords):
            raise Unwritable
        given, *others = ([one.evaluate(names) for one in args] for names in self._changed())

        def called(put: Sequence[Any]) -> Any:
            return Call(function, tuple(map(Constant, put)), keywords).evaluate(self._names)

        places = [
            i for i in range(len(args)) if not all(_equal(given[i], other[i]) for other in others)
        ]
        if explained:  # perhaps it reads nothing but a shape of it
            value = called(given)

            def unread(i: int) -> bool:
                put = ([*given[:i], other[i], *given[i + 1 :]] for other in others)
                return all(_equal(value, one) for one in map(called, put))

            places = [i for i in places if not unread(i)]
        if not places:
            return self._as_it_is(whole)
        moves = hasattr(plain, "moves")
        together = moves or isinstance(plain, Primitive)
        linear = moves or explained or plain in self.linear
        if not linear or (len(places) > 1 and not together):
            raise Unwritable
        self._fix(*(arg for i, arg in enumerate(args) if i not in places))
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
            changed = {name: _changed(self._given[name], seed) for name in self._arrays}
            yield Values({**self._given, **changed}, self._definitions.values())

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

    def _is_bool(self, term: Term) -> bool:
        return bool(self._array(term).dtype == bool)

    def _static(self, term: Term | None) -> Any:
        return None if term is None else _constant(term.evaluate(self._names))


def _plain(function: Any) -> Any:
    """The op of a function that is one."""
    return getattr(function, "op", function)


def _holds(value: Any, kinds: str) -> bool:
    """Whether a value has an array of these kinds."""
    return any(array.dtype.kind in kinds for array in leaves(value, np.ndarray))


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
        marks = array.dtype.kind == "f"
        return _marks(seed, array.size).reshape(array.shape) if marks else array

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
