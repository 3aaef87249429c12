"""Exercise 28: the batching rules of softmax and of matmul, beside a loop over the samples."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from minigrad.learn.answer import Answer, Failure, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.exercises.e11_softmax import BOTH, FAR, LARGE, not_finite
from minigrad.learn.solutions import e28_batching_rules
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

Axis = int | None
Mistakes = dict[str, Any]
rules: Any = e28_batching_rules
"""`softmax_rule` and `matmul_rule`, written as a learner does, without types."""


def check(answer: Answer) -> None:
    """One operand first, then two."""
    random = np.random.default_rng(28)
    _check_softmax(answer, random)
    _check_matmul(answer, random)


def moved(x: np.ndarray, axis: Axis) -> np.ndarray:
    """An operand with its samples along the first axis."""
    return x if axis is None else np.moveaxis(x, axis, 0)


def samples_of(x: np.ndarray, axis: Axis, count: int) -> list[np.ndarray]:
    """The samples of an operand, one by one."""
    return [x if axis is None else np.take(x, i, axis=axis) for i in range(count)]


def elsewhere(want: np.ndarray) -> tuple[np.ndarray, ...]:
    """The right numbers, whose samples lie along another axis than the first."""
    return tuple(np.moveaxis(want, 0, axis) for axis in range(1, want.ndim))


def distinct(found: Mistakes, want: np.ndarray) -> Mistakes:
    """Mistakes that can be told apart: without what is right, and what has an earlier name.

    Args:
        found: By name, a tuple of arrays; None for one that could not be computed.
        want: The right array.

    Returns:
        The mistakes, and last, under "another shape", whatever has a wrong shape.
    """
    known, told = [want], Mistakes()
    for name, arrays in found.items():
        new = [
            one for one in arrays
            if one is not None and not any(_equal(one, other) for other in known)
        ]  # fmt: skip
        told[name] = tuple(new)
        known += new
    return told | {"another shape": lambda mine: mine.shape != want.shape}


def _equal(one: np.ndarray, other: np.ndarray) -> bool:
    return one.shape == other.shape and np.allclose(one, other)


# Softmax ---------------------------------------------------------------------------------------


def softmax(x: np.ndarray, total: Any, largest: Any = ()) -> np.ndarray:
    """The softmax along an axis or several; the maximum may be that along other ones."""
    largest = total if largest == () else largest
    e = np.exp(x - x.max(axis=largest, keepdims=True))
    return np.asarray(e / e.sum(axis=total, keepdims=True))


def _check_softmax(answer: Answer, random: np.random.Generator) -> None:
    """What can go wrong with one axis comes alone: samples in front, then 0, negative, moved."""
    cases: list[tuple[tuple[int, ...], int, int]] = [((3, 3, 3), 0, 1)]
    cases += [((2, 3, 4), 0, axis) for axis in (1, 0, -2, -1)]
    cases += [((3, 2, 4), 1, axis) for axis in (0, 1, -2, -1)]
    cases += [((3, 4, 2), 2, axis) for axis in (0, 1, -2, -1)]
    cases += [((2, 4), 0, 0), ((2, 4), 0, -1), ((4, 2), 1, 0), ((4, 2), 1, -1)]
    cases += [((3, 4, 2, 5), 2, axis) for axis in (0, 1, 2, -1, -2, -3)]
    for shape, x_axis, axis in cases:
        x = numbers(random, *shape)
        want = np.stack([softmax(one, axis) for one in samples_of(x, x_axis, shape[x_axis])])
        got = answer.softmax_rule(x, x_axis, axis)
        answer.compare("result", got, want, _mistakes_of_softmax(x, x_axis, axis, want))
    staged = [(LARGE, "large"), (BOTH, "one maximum"), (BOTH[None], "one maximum")]
    for x, mistake in [*staged, (FAR, "not the largest")]:
        got = answer.softmax_rule(x, 0, -1)
        answer.compare("result", got, softmax(x, -1), {mistake: not_finite})
    _check_calls(answer, "softmax_rule", lambda count: (np.ones((3, count)), 1, 0))


def _mistakes_of_softmax(x: np.ndarray, x_axis: int, axis: int, want: np.ndarray) -> Mistakes:
    """The parts that were right in the cases before, and can go wrong in this one."""
    place = axis % (x.ndim - 1) + 1
    found: Mistakes = {"samples elsewhere": elsewhere(want)}
    if x_axis:
        own = axis + 1 if axis >= 0 else axis
        early = softmax(x, own)
        found["unmoved"] = (early,)
        found["counted too early"] = (np.moveaxis(early, x_axis, 0),)
        found["over the samples"] = (softmax(moved(x, x_axis), 0),)
        found["reshaped"] = (softmax(x.reshape(want.shape), place),)
        found["exchanged"] = (softmax(x.swapaxes(0, x_axis), place),)
        found["other way"] = (softmax(np.moveaxis(x, 0, x_axis), place),)
    elif axis < 0:
        found["negative"] = (softmax(x, axis + 1), softmax(x, max(axis - 1, -x.ndim)))
    else:
        wrong = [one for one in range(x.ndim) if one != place]
        found["two axes"] = (
            *(softmax(x, place, one) for one in wrong), *(softmax(x, one, place) for one in wrong)
        )  # fmt: skip
        if axis == 0:
            found["axis 0"], found["always the last"] = (softmax(x, 0),), (softmax(x, -1),)
        else:
            found["uncounted"], found["over the samples"] = (softmax(x, axis),), (softmax(x, 0),)
            each = tuple(range(1, x.ndim))
            found["everything"] = tuple(
                softmax(x, all_of, largest) for all_of in (None, each) for largest in (None, place)
            )
            found["keepdims"] = _without_keepdims(x, place)
    return distinct(found, want)


def _without_keepdims(x: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
    """What comes without keepdims, where the shapes fit all the same."""
    if len({*x.shape}) > 1:
        return ()
    kept, lost = (np.exp(x - x.max(axis=axis, keepdims=keep)) for keep in (True, False))
    exponentials = (np.exp(x), kept, lost)
    return (*(e / e.sum(axis=axis) for e in exponentials), lost / lost.sum(axis, keepdims=True))


# Matmul ----------------------------------------------------------------------------------------


class _Product(NamedTuple):
    """Two operands, and the axis of each that counts the samples."""

    a: np.ndarray
    a_axis: Axis
    b: np.ndarray
    b_axis: Axis

    def by_rule(self) -> Any:
        """The product of all samples; None for shapes that do not fit."""
        try:
            return rules.matmul_rule(*self)
        except ValueError:
            return None

    def by_loop(self, count: int) -> np.ndarray:
        """The products of the samples, one after the other."""
        pairs = zip(
            samples_of(self.a, self.a_axis, count), samples_of(self.b, self.b_axis, count),
            strict=True,
        )  # fmt: skip
        return np.stack([a @ b for a, b in pairs])


def _check_matmul(answer: Answer, random: np.random.Generator) -> None:
    """All sizes equal first: there @ gives numbers for wrong shapes, and not an error.

    Axis 0 comes after the others: what goes wrong with it alone takes 0 for None.
    """
    for count, sizes in [(3, (3, 3, 3)), (2, (3, 4, 5)), (2, (1, 3, 1)), (1, (2, 3, 4))]:
        for ranks in [(2, 2), (1, 2), (2, 1), (1, 1)]:
            for axes in _axes(*ranks):
                product = _product(random, count, sizes, ranks, axes)
                want = product.by_loop(count)
                found = {"squeezed": (want.squeeze(),)}
                if count == max(sizes):
                    found = _mistakes_of_matmul(product, ranks, want)
                answer.compare("result", answer.matmul_rule(*product), want, distinct(found, want))
    ones = np.ones
    _check_calls(answer, "matmul_rule", lambda count: (ones((3, count)), 1, ones((3, 2)), None))
    _check_calls(answer, "matmul_rule", lambda count: (ones(3), None, ones((3, count)), 1))
    _check_calls(answer, "matmul_rule", lambda count: (ones((count, 2, 3)), 0, ones((3, count)), 1))


def _axes(a_rank: int, b_rank: int) -> list[tuple[Axis, Axis]]:
    """Every choice of axes for samples that have so many axes themselves."""
    every = itertools.product((None, *range(a_rank + 1)), (None, *range(b_rank + 1)))
    return sorted((pair for pair in every if pair != (None, None)), key=lambda pair: 0 in pair)


def _product(
    random: np.random.Generator, count: int, sizes: Sequence[int], ranks: tuple[int, int],
    axes: tuple[Axis, Axis],
) -> _Product:  # fmt: skip
    """Operands: a matrix of a is (n, k), one of b (k, m), and vectors have k numbers."""
    n, k, m = sizes
    a, b = [
        numbers(random, *(shape if axis is None else (*shape[:axis], count, *shape[axis:])))
        for shape, axis in zip([(n, k)[2 - ranks[0] :], (k, m)[: ranks[1]]], axes, strict=True)
    ]
    return _Product(a, axes[0], b, axes[1])


def _mistakes_of_matmul(product: _Product, ranks: tuple[int, int], want: np.ndarray) -> Mistakes:
    """What can go wrong with operands whose sizes are all equal."""
    a, a_axis, b, b_axis = product
    left, right = moved(a, a_axis), moved(b, b_axis)
    of_a, of_b = (None if axis is None else 0 for axis in (a_axis, b_axis))
    found: Mistakes = {"samples elsewhere": elsewhere(want)}
    if 1 in ranks:
        if 0 in (a_axis, b_axis):  # plain @ has gone wrong before
            none = _Product(a, a_axis or None, b, b_axis or None)
            found["0 is not None"] = (none.by_rule(), left @ right)
        whole = (left[..., None, :] if ranks[0] == 1 else left) @ (
            right[..., None] if ranks[1] == 1 else right
        )
        found["axis kept"] = (whole, whole[..., 0]) if ranks == (1, 1) else (whole,)
    if None not in (of_a, of_b):
        i, j = "i" * (ranks[0] - 1), "j" * (ranks[1] - 1)
        found["all pairs"] = tuple(
            np.einsum(f"p{i}k,qk{j}->{order}", left, right)
            for order in (f"pq{i}{j}", f"qp{i}{j}", f"p{i}q{j}")
        )
    elif min(left.ndim, right.ndim) > 1:
        found["not mapped"] = (_Product(left, 0, right, 0).by_rule(),)
    elementwise = ((left * right).sum(axis=0),) if ranks == (1, 1) else ()
    found["summed"] = (want.sum(axis=0), want.sum(), *elementwise)
    if 1 in ranks:
        found["vectors as a matrix"] = (left @ right,)
    else:
        found["order"] = (_Product(right, of_b, left, of_a).by_rule(),)
    changes: list[tuple[str, Callable[[np.ndarray, int], np.ndarray]]] = [
        ("unmoved", lambda x, axis: x),
        ("exchanged", lambda x, axis: x.swapaxes(0, axis)),
        ("other way", lambda x, axis: np.moveaxis(x, 0, axis)),
    ]
    for name, change in changes:
        one, other = change(a, a_axis or 0), change(b, b_axis or 0)
        found[name] = tuple(
            _Product(x, of_a, y, of_b).by_rule()
            for x, y in [(one, right), (left, other), (one, other)]
        )
    return found


# Loops -----------------------------------------------------------------------------------------


class _Counted(np.ndarray):
    """An array that counts what NumPy is asked to do with it, and with what comes of it."""

    calls: ClassVar[int] = 0
    inside: ClassVar[bool] = False  # a function of NumPy's: what it does within does not count

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        _Counted.calls += not _Counted.inside
        if "out" in options:
            options["out"] = tuple(map(_plain, options["out"]))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return result.view(_Counted) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        _Counted.calls += not _Counted.inside
        outer, _Counted.inside = _Counted.inside, True
        try:
            return super().__array_function__(function, types, args, kwargs)
        finally:
            _Counted.inside = outer

    def __getitem__(self, index: Any) -> Any:
        _Counted.calls += not _Counted.inside
        return super().__getitem__(index)


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, _Counted) else x


def _check_calls(answer: Answer, name: str, operands: Callable[[int], Sequence[Any]]) -> None:
    """More samples must not take more calls of NumPy: then there is no loop over them."""
    calls = []
    for count in (2, 6):
        given = [x.view(_Counted) if isinstance(x, np.ndarray) else x for x in operands(count)]
        _Counted.calls = 0
        answer.names[name](*given)
        calls.append(_Counted.calls)
    if calls[1] > calls[0]:
        facts = f"{name} uses NumPy {calls[0]} times for 2 samples, and {calls[1]} times for 6."
        raise Failure(facts, "loop")


def draw(answer: Answer) -> Graph:
    """The learner's product of vectors and matrices."""
    a, b = np.ones((4, 3)), np.ones((3, 4, 2))
    return traced(answer.matmul_rule, a=a, a_axis=1, b=b, b_axis=0)


EXERCISE = Exercise(
    title="batching rules",
    chapter="many_samples",
    hints=(
        "Write the shape of one sample, and below it the shape of all samples with their axis in "
        "front. Which axis of the array is axis 0 of a sample, which one is its axis -1? For "
        "matmul, do so for each pair of a vector or a matrix with a vector or a matrix.",
        "np.moveaxis(x, x_axis, 0) brings the samples to the front. From there on, each axis of a "
        "sample has a number that is larger by 1, if it is counted from the front. @ multiplies "
        "stacks of matrices, and repeats what has no axis of samples. It takes (samples, k) for "
        "one matrix: make a row (samples, 1, k) of each vector on the left, a column (samples, k, "
        "1) on the right, and take the axis of size 1 out of the result.",
        "axis = axis % (x.ndim - 1) + 1 for the softmax. For matmul, an operand has vectors if its "
        "number of axes, less the axis of the samples if it has one, is 1. Then a[..., None, :] "
        "and b[..., None] make rows and columns, and c[..., 0, :] and c[..., 0] undo it.",
    ),
    why="Each rule calls NumPy as often for a thousand samples as for two. So the time that Python "
    "needs for an op is paid once, and not once per sample. What is the same for all samples is "
    "not copied: @ and broadcasting repeat it. minigrad.vmap has such a rule for nearly every op, "
    "in minigrad/transforms/batching.py. Most rules serve several ops: sum, max and softmax all "
    "count an axis, so they share one.",
    diagnoses={
        "uncounted": "`axis` is used as it came. It is an axis of one sample. With the axis of the "
        "samples in front, axis 0 of a sample is axis 1 of the array.",
        "over the samples": "The softmax runs along the axis of the samples: the first numbers of "
        "all samples add up to 1. Each sample has a softmax of its own.",
        "axis 0": "Axis 1 was right, but for axis 0 the softmax runs along the axis of the "
        "samples. 0 is an axis like the others: is there an `axis > 0` or an `if axis`?",
        "always the last": "The softmax runs along the last axis. It should run along `axis`.",
        "negative": "An axis from 0 on was right. A negative one is counted from the end, and "
        "there the axis of the samples changes nothing: -1 stays -1. If you make it positive with "
        "%: one sample has x.ndim - 1 axes.",
        "everything": "The sum is taken over more than one axis. Each row along `axis` has a sum "
        "of its own.",
        "two axes": "The maximum and the sum are along different axes. Both belong to `axis`.",
        "keepdims": "A maximum or a sum has lost its axis, and is aligned with other entries: "
        "keepdims=True keeps the axis.",
        "counted too early": "The softmax was computed before the samples were moved. There the "
        "number of an axis depends on x_axis. First move the samples to the front, then count.",
        "unmoved": "The samples lie along another axis than the first, but the array is used as if "
        "they were in front. np.moveaxis(x, axis, 0) moves them there. (A reshape moves nothing: "
        "it reads the same numbers in the same order.)",
        "reshaped": "The shape is right, but the samples are mixed up. A reshape moves no axis: it "
        "reads the same numbers in the same order. np.moveaxis does move it.",
        "exchanged": "Two axes have changed places, so the axes of each sample are in another "
        "order. np.moveaxis(x, axis, 0) moves one axis, and the others keep their order.",
        "other way": "The first axis was moved to the place of the samples. The arguments of "
        "np.moveaxis are the array, from where, and to where: np.moveaxis(x, axis, 0).",
        "samples elsewhere": "The numbers are right, but the samples lie along another axis. They "
        "should lie along the first axis of the result.",
        "another shape": "The result should have the axis of the samples first, and then the "
        "axes that the result of one sample has.",
        "large": "exp of a number above 709 is inf, and inf / inf is NaN. Subtract the largest "
        "entry along `axis` first: the result stays the same.",
        "not the largest": "An exponential overflows: one entry is 3000 above the others. Is it "
        "the largest entry along `axis` that is subtracted, and not the mean or the smallest?",
        "one maximum": "One maximum is taken of several rows. In a row far below it every "
        "exponential is 0, and 0 / 0 is NaN. So one sample or row spoils another. Use "
        "x.max(axis=axis, keepdims=True).",
        "vectors as a matrix": "@ takes an array of vectors, (samples, k), for one matrix. Make a "
        "row (samples, 1, k) of each vector on the left, or a column (samples, k, 1) on the right.",
        "all pairs": "Each sample of a was multiplied with each sample of b. Sample i belongs to "
        "sample i only. (@ takes an array of vectors, (samples, k), for one matrix: make rows or "
        "columns of the vectors.)",
        "not mapped": "An operand whose axis is None is the same for all samples. Here its first "
        "axis was taken for an axis of samples.",
        "0 is not None": "Other axes were right, but with axis 0 an operand is treated as one "
        "without samples. 0 counts as false in an `if`: write `if a_axis is not None`.",
        "order": "The factors are exchanged: this is b @ a.",
        "summed": "The sum runs over the samples too. Each sample has a product of its own.",
        "axis kept": "The numbers are right, but an axis of size 1 is left over: the row or the "
        "column that was made of a vector. Take it out again, with c[..., 0, :] or c[..., 0].",
        "squeezed": "An axis of size 1 has been taken out that belongs to the result. squeeze() "
        "takes out every axis of size 1: name the one that you have added.",
        "loop": "That is a loop over the samples. One call can compute all of them: move the axis "
        "of the samples to the front, and let NumPy work on the whole array.",
    },
    wrong=(
        Wrong("uncounted", ("    axis = axis % (x.ndim - 1) + 1\n", "")),
        Wrong("over the samples", ("axis = axis % (x.ndim - 1) + 1", "axis = 0")),
        Wrong(
            "over the samples",
            code="""
            e = np.exp(x - x.max(axis=x_axis, keepdims=True))
            return np.moveaxis(e / e.sum(axis=x_axis, keepdims=True), x_axis, 0)
        """,
        ),
        Wrong("axis 0", ("axis % (x.ndim - 1) + 1", "axis + 1 if axis > 0 else axis")),
        Wrong("always the last", ("axis = axis % (x.ndim - 1) + 1", "axis = -1")),
        Wrong("negative", ("axis % (x.ndim - 1) + 1", "axis + 1")),
        Wrong("negative", ("axis % (x.ndim - 1) + 1", "axis % x.ndim + 1")),
        Wrong("negative", ("axis % (x.ndim - 1) + 1", "axis + 1 if axis >= 0 else axis - 1")),
        Wrong("everything", ("e.sum(axis=axis, keepdims=True)", "e.sum()")),
        Wrong(
            "everything",
            code="""
            x = np.moveaxis(x, x_axis, 0)
            rows = x.reshape(len(x), -1)
            e = np.exp(rows - rows.max(axis=1, keepdims=True))
            return (e / e.sum(axis=1, keepdims=True)).reshape(x.shape)
        """,
        ),
        Wrong("two axes", ("e.sum(axis=axis, keepdims=True)", "e.sum(axis=-1, keepdims=True)")),
        Wrong("two axes", ("x.max(axis=axis, keepdims=True)", "x.max(axis=0)")),
        Wrong("keepdims", ("e.sum(axis=axis, keepdims=True)", "e.sum(axis=axis)")),
        Wrong("keepdims", ("x.max(axis=axis, keepdims=True)", "x.max(axis=axis)")),
        Wrong("unmoved", ("    x = np.moveaxis(x, x_axis, 0)\n", "")),
        Wrong(
            "counted too early",
            ("    x = np.moveaxis(x, x_axis, 0)\n", ""),
            (
                "return e / e.sum(axis=axis, keepdims=True)",
                "return np.moveaxis(e / e.sum(axis=axis, keepdims=True), x_axis, 0)",
            ),
        ),
        Wrong(
            "reshaped",
            (
                "    x = np.moveaxis(x, x_axis, 0)\n",
                "    x = x.reshape(x.shape[x_axis], *x.shape[:x_axis], *x.shape[x_axis + 1 :])\n",
            ),
        ),
        Wrong(
            "exchanged", ("    x = np.moveaxis(x, x_axis, 0)\n", "    x = x.swapaxes(0, x_axis)\n")
        ),
        Wrong("other way", ("np.moveaxis(x, x_axis, 0)", "np.moveaxis(x, 0, x_axis)")),
        Wrong(
            "another shape",
            ("    x = np.moveaxis(x, x_axis, 0)\n", "    x = x.T if x_axis else x\n"),
        ),
        Wrong(
            "samples elsewhere",
            (
                "return e / e.sum(axis=axis, keepdims=True)",
                "return np.moveaxis(e / e.sum(axis=axis, keepdims=True), 0, x_axis)",
            ),
        ),
        Wrong(
            "samples elsewhere",
            code="""
            axis = axis % (x.ndim - 1)
            axis = axis if axis < x_axis else axis + 1
            e = np.exp(x - x.max(axis=axis, keepdims=True))
            return e / e.sum(axis=axis, keepdims=True)
        """,
        ),
        Wrong("large", ("x - x.max(axis=axis, keepdims=True)", "x")),
        Wrong("one maximum", ("x.max(axis=axis, keepdims=True)", "x.max()")),
        Wrong("not the largest", ("x.max(axis=axis", "x.mean(axis=axis")),
        Wrong(
            "one maximum",
            (
                "x.max(axis=axis, keepdims=True)",
                "x.max(axis=tuple(range(1, x.ndim)), keepdims=True)",
            ),
        ),
        Wrong(
            "changed",
            (
                "e = np.exp(x - x.max(axis=axis, keepdims=True))",
                "x -= x.max(axis=axis, keepdims=True)\n    e = np.exp(x)",
            ),
        ),
        Wrong(
            "loop",
            code="""
            results = []
            for sample in np.moveaxis(x, x_axis, 0):
                e = np.exp(sample - sample.max(axis=axis, keepdims=True))
                results.append(e / e.sum(axis=axis, keepdims=True))
            return np.stack(results)
        """,
        ),
        Wrong("unmoved", code="return a @ b", gap=2),
        Wrong("unmoved", ("    if b_axis is not None:\n", "    elif b_axis is not None:\n")),
        Wrong(
            "unmoved",
            (
                "        b = np.moveaxis(b, b_axis, 0)\n",
                "        size = b.shape[b_axis]\n"
                "        b = b.reshape(size, *b.shape[:b_axis], *b.shape[b_axis + 1 :])\n",
            ),
        ),
        Wrong("exchanged", ("b = np.moveaxis(b, b_axis, 0)", "b = b.swapaxes(0, b_axis)")),
        Wrong(
            "all pairs",
            ("a_is_vector = a.ndim - (a_axis is not None) == 1", "a_is_vector = a.ndim == 1"),
        ),
        Wrong(
            "vectors as a matrix",
            ("b_is_vector = b.ndim - (b_axis is not None) == 1", "b_is_vector = b.ndim == 1"),
        ),
        Wrong(
            "not mapped",
            ("a_is_vector = a.ndim - (a_axis is not None) == 1", "a_is_vector = a.ndim == 2"),
        ),
        Wrong(
            "not mapped",
            ("b_is_vector = b.ndim - (b_axis is not None) == 1", "b_is_vector = b.ndim == 2"),
        ),
        Wrong(
            "0 is not None",
            (
                "a_is_vector = a.ndim - (a_axis is not None) == 1",
                "a_is_vector = a.ndim - bool(a_axis) == 1",
            ),
        ),
        Wrong(
            "0 is not None",
            ("    if b_is_vector:\n        b = b", "    if b_axis and b_is_vector:\n        b = b"),
            ("    if b_is_vector:\n        c = c", "    if b_axis and b_is_vector:\n        c = c"),
        ),
        Wrong("other way", ("np.moveaxis(a, a_axis, 0)", "np.moveaxis(a, 0, a_axis)")),
        Wrong("order", ("c = a @ b", "c = b @ a")),
        Wrong("samples elsewhere", ("c = a @ b", "c = np.dot(a, b)")),
        Wrong(
            "all pairs",
            (
                "    c = a @ b\n",
                "    both = a_axis is not None and b_axis is not None\n"
                "    c = np.tensordot(a, b, (-1, -2)) if both else a @ b\n",
            ),
        ),
        Wrong(
            "all pairs",
            (
                "    c = a @ b\n",
                "    if a_is_vector and b_is_vector:\n"
                "        return a[..., 0, :] @ b[..., 0].T\n    c = a @ b\n",
            ),
        ),
        Wrong(
            "summed",
            (
                "    c = a @ b\n",
                "    if a_axis is not None and b_axis is not None:\n"
                "        return np.tensordot(a, b, ((0, -1), (0, -2)))\n    c = a @ b\n",
            ),
        ),
        Wrong(
            "summed",
            (
                "    c = a @ b\n",
                "    if a_is_vector and b_is_vector:\n"
                "        return (a[..., 0, :] * b[..., 0]).sum(axis=0)\n    c = a @ b\n",
            ),
        ),
        Wrong("axis kept", ("    if a_is_vector:\n        c = c[..., 0, :]\n", "")),
        Wrong("axis kept", ("    if b_is_vector:\n        c = c[..., 0]\n", "")),
        Wrong(
            "squeezed",
            (
                "    if a_is_vector:\n        c = c[..., 0, :]\n    if b_is_vector:\n"
                "        c = c[..., 0]\n    return c",
                "    return c.squeeze()",
            ),
        ),
        Wrong(
            "samples elsewhere", ("    return c\n", "    return np.moveaxis(c, 0, a_axis or 0)\n")
        ),
        Wrong("ValueError", ("b = b[..., None]", "b = b[:, None]")),
        Wrong(
            "loop",
            code="""
            count = a.shape[a_axis] if a_axis is not None else b.shape[b_axis]
            results = []
            for i in range(count):
                left = a if a_axis is None else np.take(a, i, axis=a_axis)
                right = b if b_axis is None else np.take(b, i, axis=b_axis)
                results.append(left @ right)
            return np.array(results)
        """,
            gap=2,
        ),
    ),
    check=check,
    draw=draw,
    staged=True,
)
