"""The ops of neural networks: norms, losses, attention, convolution, pooling, recurrence."""

from itertools import product
from typing import Any

import numpy as np

from minigrad.ops._windows import Window
from op_samples.case import Case, Draw, case

_draw = Draw(6)
inside, normal, spaced = _draw.inside, _draw.normal, _draw.spaced

# Norms -------------------------------------------------------------------------------------------

_ROWS = normal(2, 4)


def _norms(shape: tuple[int, ...], ndim: int) -> list[Case]:
    x, weight, bias = normal(*shape), normal(*shape[-ndim:]), normal(*shape[-ndim:])
    return [
        case("layer_norm", x, weight, bias, ndim=ndim),
        case("layer_norm", x, ndim=ndim, eps=0.1),
        case("rms_norm", x, weight, ndim=ndim),
        case("rms_norm", x, ndim=ndim, eps=0.1),
    ]


def _batch_norms(shape: tuple[int, ...]) -> list[Case]:
    x, channels = normal(*shape), shape[1]
    affine = case("batch_norm", x, normal(channels), normal(channels))
    return [affine, case("batch_norm", x, eps=0.1)]


def _group_norms(shape: tuple[int, ...], groups: int) -> list[Case]:
    x, channels = normal(*shape), shape[1]
    affine = case("group_norm", x, normal(channels), normal(channels), groups=groups)
    return [affine, case("group_norm", x, groups=groups, eps=0.1)]


_NORMS = [
    *[
        found
        for call in (
            ((2, 5), 1), ((5,), 1), ((2, 3, 4), 1), ((2, 3, 4), 2), ((3, 4), 2), ((0, 4), 1),
        )
        for found in _norms(*call)
    ],
    Case("layer_norm", "weight only", lambda m, w, b: m.layer_norm(_ROWS, w, b),
         (normal(4), normal(4))),
    case("layer_norm", normal(2, 4), normal(4)),
    case("layer_norm", normal(2, 4), None, normal(4)),
    Case("rms_norm", "weight only", lambda m, w: m.rms_norm(_ROWS, w), (normal(4),)),
    *[found for shape in ((3, 2), (2, 3, 4), (2, 2, 3, 2), (0, 2, 3))
      for found in _batch_norms(shape)],
    *[found for call in (((2, 4), 2), ((2, 4, 3), 2), ((1, 3, 2, 2), 1), ((0, 2, 3), 2))
      for found in _group_norms(*call)],
    case("group_norm", np.cos(np.arange(6.0).reshape(3, 2)), groups=2, eps=0.1),
    Case("group_norm", "weight only", lambda m, w: m.group_norm(_ROWS, w, groups=2), (normal(4),)),
    case("batch_norm", normal(1, 2), eps=0.1),
    Case("batch_norm", "the output only", lambda m, x, w: m.batch_norm(x, w)[0],
         (normal(3, 2), normal(2))),
    Case("batch_norm", "the statistics only", lambda m, x: m.batch_norm(x)[1:], (normal(3, 2),)),
]  # fmt: skip

# Cross entropy ------------------------------------------------------------------------------------

_TARGETS = {
    (3, 4): np.array([1, 0, 2]),
    (4,): np.array(2),
    (2, 4, 3): np.array([[0, 1, 2], [2, 2, 0]]),
    (2, 4, 2, 1): np.array([[[1], [0]], [[2], [2]]]),
}
_WEIGHT = np.array([0.5, 2.0, 1.3, 0.0])
_CROSS_ENTROPIES = [
    *[
        case("cross_entropy", normal(*shape), target, reduction=reduction, weight=weight,
             label_smoothing=smoothing, ignore_index=ignore)
        for shape, target in _TARGETS.items()
        for reduction, weight, smoothing, ignore in product(
            ("mean", "sum", "none"), (None, _WEIGHT), (0.0, 0.2), (None, 2)
        )
        if target.ndim or ignore is None
    ],
    case("cross_entropy", normal(3, 4), np.array([1, -100, 2]), ignore_index=-100),
]  # fmt: skip

# Attention ----------------------------------------------------------------------------------------

_KEEP = np.array([[True, False, True, True, False], [False] * 5, [True] * 5])
_MASKS: list[dict[str, Any]] = [
    {"keep": _KEEP}, {"keep": _KEEP[:1]}, {"keep": _KEEP[:2, None]}, {"causal": True},
    {"causal": True, "keep": ~_KEEP}, {"scale": 0.3}, {"dropout": 0.4, "dropout_key": 3},
    {"keep": _KEEP, "causal": True, "scale": 0.7, "dropout": 0.3, "dropout_key": 9},
]  # fmt: skip


def _qkv(*leading: int) -> tuple[np.ndarray, ...]:
    return normal(*leading, 3, 4), normal(*leading, 5, 4), normal(*leading, 5, 2)


def _rotation(shape: tuple[int, ...], angles: tuple[int, ...], interleaved: bool) -> Case:
    cos, sin = np.cos(normal(*angles)), np.sin(normal(*angles))
    call = lambda m, x: m.rotate_pairs(x, cos, sin, interleaved)
    return Case("rotate_pairs", f"{shape} by {angles}, {interleaved}", call, (normal(*shape),))


_ATTENTIONS = [
    *[case("attention", *_qkv(*leading)) for leading in ((), (2,), (2, 2))],
    case("attention", normal(2, 2, 3, 4), normal(2, 1, 5, 4), normal(5, 2)),
    Case("attention", "q = k = v", lambda m, x: m.attention(x, x, x), (normal(2, 3, 4),)),
    *[case("attention", *_qkv(2), normal(*bias))
      for bias in ((3, 5), (1, 5), (2, 1, 1), (2, 3, 5), (), (3, 1))],
    *[case("attention", *_qkv(2), *bias, **mask)
      for mask in _MASKS for bias in ((), (normal(3, 5),))],
    case("attention", normal(1, 2), normal(1, 2), normal(1, 2)),
    case("attention", normal(0, 2), normal(3, 2), normal(3, 2)),
    case("attention", normal(2, 2), normal(0, 2), normal(0, 3)),
    *[case("attention_weights", normal(2, 3, 4), normal(2, 5, 4), normal(3, 5), **mask)
      for mask in ({}, {"keep": _KEEP}, {"causal": True})],
    *[_rotation(shape, angles, interleaved)
      for shape, angles in [((2, 6), (3,)), ((2, 3, 4), (3, 2)), ((4,), ()), ((0, 4), (2,))]
      for interleaved in (True, False)],
]  # fmt: skip

# Windows ------------------------------------------------------------------------------------------

# Size and kernel; and of the windows, stride, padding and dilation.
_LINES: list[Any] = [((1,), ((0, 0),), (1,)), ((2,), ((1, 1),), (1,)), ((3,), ((0, 2),), (2,))]
_PLANES: list[Any] = [
    ((1, 1), ((0, 0), (0, 0)), (1, 1)),
    ((2, 1), ((1, 1), (0, 1)), (1, 2)),
    ((3, 2), ((0, 2), (1, 1)), (2, 1)),
]
_WINDOWS: list[Any] = [
    *[((7,), Window((2,), *rest)) for rest in _LINES],
    *[((5, 6), Window((2, 3), *rest)) for rest in _PLANES],
]


def _convolutions(size: Any, window: Window, groups: int, images: int) -> list[Case]:
    x = normal(images, 2 * groups, *size)
    y = normal(images, 3 * groups, *window.counts(size))
    weight = normal(3 * groups, 2, *window.kernel)
    return [
        case("convolution", x, weight, normal(3 * groups), window, groups),
        case("convolution", x, weight, None, window, groups),
        case("convolution_transpose", y, weight, size, window, groups),
        case("convolution_weight", x, y, window, groups),
    ]


def _poolings(size: Any, window: Window) -> list[Case]:
    y = normal(2, 2, *window.counts(size))
    return [
        case("max_pool", spaced(2, 2, *size), window),
        case("sum_pool", normal(2, 2, *size), window),
        case("sum_pool_transpose", y, size, window),
    ]


def _with_itself(m: Any, x: Any) -> Any:
    return m.convolution(x, x, None, Window((3,), (1,), ((2, 2),), (1,)), 1)


_OVER_WINDOWS = [
    *[found
      for size, window in _WINDOWS for groups, images in ((1, 2), (2, 1), (1, 0))
      for found in _convolutions(size, window, groups, images)],
    Case("convolution", "with itself", _with_itself, (normal(1, 1, 3),)),
    case(
        "convolution",
        *(normal(1, 2, 3, 3, 3), normal(2, 2, 2, 2, 2), None),
        Window((2, 2, 2), (1, 2, 1), ((1, 0), (0, 0), (1, 1)), (1, 1, 2)), 1,
    ),
    *[found for window in _WINDOWS for found in _poolings(*window)],
    *[case(op, normal(0, 2, 3), Window((2,), (1,), ((0, 0),), (1,)))
      for op in ("max_pool", "sum_pool")],
    *[case("sum_parts", normal(2, 5, 3), axis, count)
      for axis, count in product((0, 1, 2), (1, 2, 3, 5))],
]  # fmt: skip

# Recurrence ---------------------------------------------------------------------------------------


def _recurrences(steps: int, batch: int, width: int) -> list[Case]:
    def given(gates: int) -> tuple[np.ndarray, np.ndarray]:
        return normal(steps, batch, gates * width), normal(gates * width, width)

    h, c, gru = normal(batch, width), normal(batch, width), given(3)
    return [
        case("lstm", *given(4), h, c),
        case("gru", *gru, normal(3 * width), h),
        case("gru", *gru, None, h),
        case("rnn", *given(1), h),
    ]


_RECURRENCES = [
    *[found for sizes in ((3, 2, 2), (1, 2, 3), (2, 1, 1), (2, 0, 2))
      for found in _recurrences(*sizes)],
    case("rnn", spaced(2, 2, 2), inside(2, 2) / 9, inside(2, 2) / 9, "relu"),
]  # fmt: skip

CASES: list[Case] = [*_NORMS, *_CROSS_ENTROPIES, *_ATTENTIONS, *_OVER_WINDOWS, *_RECURRENCES]
