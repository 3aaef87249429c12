"""What Hypothesis draws: shapes, axes, indices, and arrays of any dtype in any layout of memory.

The numbers in an array come from one drawn seed: what a test is about is their shape and strides,
and these are what a failing example is made simple in.
"""

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from minigrad import Tensor

FLOATS = [np.float64, np.float32, np.float16]
INTEGERS = [np.int64, np.int32, np.int8, np.uint8]
DTYPES: list[Any] = [*FLOATS, *INTEGERS, np.bool_]

seeds = st.integers(0, 2**32 - 1)
floats = st.sampled_from(FLOATS)
dtypes = floats | st.sampled_from(DTYPES)


@st.composite
def shapes(
    draw: Any, min_dims: int = 0, max_dims: int = 4, min_side: int = 0, max_side: int = 4
) -> tuple[int, ...]:
    """Shapes with 0-d, lengths 0 and lengths 1 among them, though mostly larger ones."""
    dims = [n for n in (1, 2, 3, 2, 3, 4, 0) if min_dims <= n <= max_dims]
    sides = [n for n in (1, 2, 3, 4, 2, 3, 4, 2, 3, 0) if min_side <= n <= max_side]
    return tuple(draw(st.sampled_from(sides)) for _ in range(draw(st.sampled_from(dims))))


def axis(ndim: int) -> Any:
    """One axis, counted from either end."""
    return st.integers(-ndim, ndim - 1)


def axes(ndim: int) -> Any:
    """None, one axis, or a tuple of different ones in any order, the empty one too."""
    several = hnp.valid_tuple_axes(ndim)
    return st.none() | several if not ndim else st.none() | axis(ndim) | several


def broadcastable(count: int = 2, signature: str | None = None) -> Any:
    """Shapes that broadcast together, lengths 0 now and then; or that fit a ufunc's signature."""
    how: dict[str, Any] = {"num_shapes": count} if signature is None else {"signature": signature}
    how |= {"min_dims": 0, "max_dims": 3 if signature is None else 2, "max_side": 3}
    return (
        st.sampled_from([1, 1, 1, 0])
        .flatmap(lambda least: hnp.mutually_broadcastable_shapes(min_side=least, **how))
        .map(lambda shapes: shapes.input_shapes)
    )


def numbers(seed: int, shape: tuple[int, ...], dtype: Any, special: bool = False) -> np.ndarray:
    """Small numbers of both signs; among special ones are ties, zeros, infinities and NaN."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind != "f":
        low, high = {"b": (0, 2), "u": (0, 6), "i": (-5, 6)}[kind]
        return rng.integers(low, high, shape).astype(dtype)
    drawn = np.asarray(rng.standard_normal(shape))
    if special:
        extremes = rng.choice([0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan], shape)
        drawn = np.where(rng.random(shape) < 0.4, extremes, drawn)
    return drawn.astype(dtype)


@st.composite
def arrays(
    draw: Any, shape: Any = None, dtype: Any = None, special: bool = False, stretch: bool = True
) -> np.ndarray:
    """An array whose memory may be reversed, permuted, full of gaps, or seen several times.

    Args:
        draw: Hypothesis's.
        shape: Its shape, or a strategy for it; any if None.
        dtype: Its dtype, any if None.
        special: Whether ties, zeros, infinities and NaN are among its numbers.
        stretch: Whether axes may have stride 0.
    """
    if not isinstance(shape, tuple):
        shape = draw(shapes() if shape is None else shape)
    dtype = draw(dtypes) if dtype is None else dtype
    steps = [draw(st.sampled_from([1, -1, 2, -2, *[0] * stretch])) for _ in shape]
    base = tuple(
        min(n, 1) if step == 0 else n * abs(step) for n, step in zip(shape, steps, strict=True)
    )
    order = draw(st.permutations(range(len(shape))))
    drawn = numbers(draw(seeds), tuple(base[a] for a in order), dtype, special)
    view = drawn.transpose(np.argsort(order).astype(int))
    view = view[tuple(slice(None, None, step or 1) for step in steps)]
    return np.broadcast_to(view, shape)


@st.composite
def laid_out(draw: Any, values: np.ndarray) -> np.ndarray:
    """The same values in another layout of memory."""
    steps = [draw(st.sampled_from([1, -1, 2, -2])) for _ in values.shape]
    order = draw(st.permutations(range(values.ndim)))
    lengths = [n * abs(step) for n, step in zip(values.shape, steps, strict=True)]
    memory = np.zeros([lengths[a] for a in order], values.dtype)
    view = memory.transpose(np.argsort(order).astype(int))
    view = view[(*(slice(None, None, step) for step in steps), ...)]
    view[...] = values
    return view


def over(array: np.ndarray, requires_grad: bool = False) -> Tensor:
    """A tensor on an array as it lies in memory, where the constructor would copy it."""
    tensor = Tensor(0.0)
    tensor.data = array
    if requires_grad:
        tensor.requires_grad = True
    return tensor


@st.composite
def indices(draw: Any, shape: tuple[int, ...]) -> Any:
    """Ints, slices of any step, None, Ellipsis; beside them int arrays with repeats, or a mask."""
    kind = draw(st.sampled_from(["basic", "arrays", "arrays", "mask"]))
    common = draw(st.sampled_from([(2,), (3,), (5,), (2, 3), (3, 1), (), (0,)]))
    count = draw(st.integers(min(len(shape), kind == "arrays"), len(shape)))
    parts: list[Any] = []
    for n in shape[:count]:
        part = draw(st.sampled_from(["slice", "int", *["array"] * 3 * (kind == "arrays")]))
        if n and part == "array":
            parts.append(np.random.default_rng(draw(seeds)).integers(-n, n, common))
        elif n and part == "int":
            parts.append(draw(st.integers(-n, n - 1)))
        else:
            parts.append(draw(st.slices(n)))
    if kind == "mask" and count < len(shape):
        stop = draw(st.integers(count + 1, len(shape)))
        parts.append(numbers(draw(seeds), shape[count:stop], np.bool_))
    if draw(st.booleans()):
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.booleans()):
        parts.append(...)
    return parts[0] if len(parts) == 1 and draw(st.booleans()) else tuple(parts)
