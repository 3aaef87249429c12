"""Every op of the library against finite differences, as a table: ``python -m minigrad check``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from minigrad._tensor import Tensor
from minigrad.autograd.call import call_path
from minigrad.autograd.primitive import Primitive, registry
from minigrad.checking.gradient_checks import relative_errors
from minigrad.debugging.observer import Observer

__all__ = ["Outcome", "check_op", "checked_ops", "report"]

LIMIT = 1e-6
"""The largest relative error of a derivative that counts as right."""


class Draw:
    """Draws sample arguments; numbers lie between 0.1 and 0.9, away from kinks and poles."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def __call__(self, *shape: int, low: float = 0.1, high: float = 0.9) -> np.ndarray:
        """Evenly drawn numbers."""
        return self._rng.uniform(low, high, shape)

    def matrix(self, *shape: int) -> np.ndarray:
        """Matrices far from singular, with singular values far from one another."""
        n = min(shape[-2:])
        diagonal = np.zeros(shape)
        diagonal[..., range(n), range(n)] = np.arange(1, n + 1) * 2.0
        return diagonal + 0.3 * self._rng.normal(size=shape)

    def positive(self, n: int) -> np.ndarray:
        """A symmetric matrix with positive eigenvalues."""
        a = self.matrix(n, n)
        return a @ a.T


_OF_SYMMETRIC_MATRICES = ("cholesky", "eigh", "eigvalsh")  # they read one triangle only

_SLIDING = ((2, 1), ((1, 0), (0, 1)), (1, 2))  # stride, padding and dilation of windows

# What an op is called with, where numbers of shape (3, 4) for each array will not do.
_SAMPLES: dict[str, Callable[[Draw], Sequence[Any]]] = {
    "arccosh": lambda draw: [draw(3, 4, low=1.5, high=3.0)],
    "astype": lambda draw: [draw(3, 4), np.float64],
    "attention": lambda draw: [
        draw(2, 5, 4), draw(2, 6, 4), draw(2, 6, 3), draw(2, 5, 6),
        np.arange(30).reshape(5, 6) % 4 > 0, False, None, 0.25, 7,
    ],
    "batch_norm": lambda draw: [draw(5, 3), draw(3), draw(3)],
    "broadcast_to": lambda draw: [draw(3, 1), (2, 3, 4)],
    "cholesky": lambda draw: [draw.positive(3), False],
    "clip": lambda draw: [draw(3, 4), 0.3, 0.7],
    "concatenate": lambda draw: [[draw(2, 3), draw(4, 3)], 0],
    "convolution": lambda draw: [draw(2, 4, 5, 6), draw(6, 2, 2, 3), draw(6), *_SLIDING, 2],
    "convolution_transpose": lambda draw: [
        draw(2, 6, 3, 3), draw(6, 2, 2, 3), (5, 6), *_SLIDING, 2,
    ],
    "convolution_weight": lambda draw: [
        draw(2, 4, 5, 6), draw(2, 6, 3, 3), (2, 3), *_SLIDING, 2,
    ],
    "cross": lambda draw: [draw(4, 3), draw(4, 3)],
    "cross_entropy": lambda draw: [draw(4, 3), np.array([0, 2, 1, 2]), None, "mean", None, 0.1],
    "det": lambda draw: [draw.matrix(2, 3, 3)],
    "dropout": lambda draw: [draw(3, 4), 0.5, 7],
    "eigh": lambda draw: [draw.positive(3), "L"],
    "eigvalsh": lambda draw: [draw.positive(3)],
    "einsum": lambda draw: [[draw(3, 4), draw(4, 5)], ("ij", "jk"), "ik"],
    "embedding": lambda draw: [np.array([0, 2, 2]), draw(4, 3)],
    "expand": lambda draw: [draw(3, 1), (2, 3, 4)],
    "expand_dims": lambda draw: [draw(3, 4), 1],
    "gather": lambda draw: [draw(3, 4), np.array([[0, 1, 1], [2, 0, 0]]), 0],
    "getitem": lambda draw: [draw(3, 4), (slice(None, None, -1), np.array([0, 0, 2]))],
    "gru": lambda draw: [draw(3, 2, 6), draw(6, 2), draw(6), draw(2, 2)],
    "identity": lambda draw: [draw.matrix(3, 3)],
    "inv": lambda draw: [draw.matrix(2, 3, 3)],
    "layer_norm": lambda draw: [draw(2, 3, 4), draw(4), draw(4)],
    "linear": lambda draw: [draw(2, 3, 4), draw(5, 4), draw(5)],
    "lstm": lambda draw: [draw(3, 2, 8), draw(8, 2), draw(2, 2), draw(2, 2)],
    "masked_fill": lambda draw: [draw(3, 4), np.arange(12).reshape(3, 4) % 3 > 0, draw()],
    "matmul": lambda draw: [draw(2, 3, 4), draw(4, 5)],
    "max_pool": lambda draw: [draw(2, 3, 5, 6), (2, 3), *_SLIDING],
    "moveaxis": lambda draw: [draw(2, 3, 4), 0, -1],
    "pad": lambda draw: [draw(3, 4), ((1, 2), (0, 1)), "constant", 0.0],
    "pinv": lambda draw: [draw.matrix(4, 3)],
    "qr": lambda draw: [draw.matrix(4, 3)],
    "repeat": lambda draw: [draw(3, 4), np.array([2, 0, 1]), 0],
    "reshape": lambda draw: [draw(3, 4), (2, 6)],
    "rms_norm": lambda draw: [draw(2, 3, 4), draw(4)],
    "rnn": lambda draw: [draw(3, 2, 2), draw(2, 2), draw(2, 2)],
    "roll": lambda draw: [draw(3, 4), 2, 1],
    "rotate_pairs": lambda draw: [draw(2, 3, 4), draw(3, 2), draw(3, 2)],
    "scatter": lambda draw: [draw(3, 4), np.array([0, 2, 2]), (5, 4)],
    "scatter_add": lambda draw: [draw(3, 4), np.array([[0, 1, 1, 2]] * 2), draw(2, 4), 0],
    "scatter_diagonal": lambda draw: [draw(3), (3, 4)],
    "setitem": lambda draw: [draw(3, 4), draw(4), 1],
    "slogdet": lambda draw: [draw.matrix(2, 3, 3)],
    "solve": lambda draw: [draw.matrix(3, 3), draw(3, 2)],
    "sort": lambda draw: [draw(3, 4), -1, False],
    "squeeze": lambda draw: [draw(3, 1, 4)],
    "stack": lambda draw: [[draw(3, 4), draw(3, 4)], 1],
    "sum_parts": lambda draw: [draw(2, 5), 1, 3],
    "sum_pool": lambda draw: [draw(2, 3, 5, 6), (2, 3), *_SLIDING],
    "sum_pool_transpose": lambda draw: [draw(2, 3, 3, 3), (5, 6), (2, 3), *_SLIDING],
    "svd": lambda draw: [draw.matrix(3, 3)],
    "svdvals": lambda draw: [draw.matrix(4, 3)],
    "swapaxes": lambda draw: [draw(2, 3, 4), 0, 2],
    "take": lambda draw: [draw(3, 4), np.array([0, 2, 2]), 0, "raise"],
    "take_along_axis": lambda draw: [draw(3, 4), np.array([[0, 1, 1, 2]]), 0],
    "tensordot": lambda draw: [draw(3, 4), draw(4, 5), ((1,), (0,))],
    "tile": lambda draw: [draw(3, 4), (2, 1)],
    "vecdot": lambda draw: [draw(2, 4), draw(2, 4)],
    "where": lambda draw: [np.arange(12).reshape(3, 4) % 2 > 0, draw(3, 4), draw(3, 4)],
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """What the check of an op found.

    Attributes:
        name: The op.
        arguments: Those that have a derivative.
        first: The relative error of the first derivative.
        second: That of the second.
        through: The other ops that took part where it is wrong: those that its rules, or its
            composition, are made of.
    """

    name: str
    arguments: tuple[str, ...]
    first: float
    second: float
    through: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether both are within the limit."""
        return self.first <= LIMIT and self.second <= LIMIT  # a NaN is not


def checked_ops() -> list[str]:
    """The ops of the library that have a derivative, by name."""
    return sorted(name for name, op in registry.items() if op.differentiable)


def check_op(name: str, seed: int = 0) -> Outcome:
    """Compare the derivatives of one op with finite differences, at sample arguments.

    Args:
        name: One of `checked_ops`.
        seed: Chooses the arguments.

    Returns:
        The errors.

    Raises:
        KeyError: There is no such op.

    Example:
        >>> from minigrad.checking.self_check import check_op
        >>> check_op("matmul").right
        True
    """
    op, draw = registry[name], Draw(seed)
    sample = _SAMPLES[name](draw) if name in _SAMPLES else [draw(3, 4) for _ in range(op.arrays)]
    values = [*sample, *op.defaults[len(sample) :]]
    tensors = list(values[0]) if op.variadic else values
    slots = op.joint_slots if op.joint else tuple(map(op.params.index, op.rules))
    for i, value in enumerate(tensors):
        if (op.variadic or i in slots) and isinstance(value, np.ndarray):
            tensors[i] = Tensor(value, requires_grad=True)
    inputs = [value for value in tensors if isinstance(value, Tensor)]
    run = call_path(op)

    def function(*_: Any) -> Any:
        now = [_symmetric(x) if name in _OF_SYMMETRIC_MATRICES else x for x in tensors]
        return op.call_with(run, [now, *values[1:]] if op.variadic else now)

    with _Ran() as forward:
        function()
    with _Ran() as both:
        first, second = relative_errors(function, inputs)
    ran = both if first <= LIMIT else forward
    through = sorted(one.name for one in ran.ops if one is not op and one.differentiable)
    arguments = tuple(op.params[slot] for slot in sorted(slots))
    return Outcome(name, arguments, first, second, tuple(through))


class _Ran(Observer):
    """The ops that run, in a recorded backward pass too."""

    def __init__(self) -> None:
        self.ops: set[Primitive] = set()

    def ran(self, op: Primitive, arguments: Sequence[Any], result: Any) -> None:
        self.ops.add(op)


def _symmetric(x: Any) -> Any:
    return (x + x.mT) / 2 if isinstance(x, Tensor) else x


def report(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """The lines of the table, each as soon as its op was checked.

    Args:
        outcomes: What the checks found.

    Returns:
        A heading, a line an op, a summary, and what is wrong: by itself, or because of others.

    Example:
        >>> from minigrad.checking.self_check import check_op, report
        >>> for line in report([check_op("where")]):
        ...     print(line)  # doctest: +ELLIPSIS
        op                arguments                 1st order  2nd order
        where             a, b                          ...  right
        1 op, 1 right: relative errors against central differences, at most 1e-06 is right
    """
    yield f"{'op':18}{'arguments':24}{'1st order':>11}{'2nd order':>11}"
    checked: dict[str, Outcome] = {}
    for found in outcomes:
        checked[found.name] = found
        yield (
            f"{found.name:18}{', '.join(found.arguments):24}{found.first:11.0e}{found.second:11.0e}"
            f"  {'right' if found.right else 'WRONG'}"
        )
    wrong = [found for found in checked.values() if not found.right]
    count = len(checked)
    yield (
        f"{count} {'op' if count == 1 else 'ops'}, {count - len(wrong)} right: relative errors "
        f"against central differences, at most {LIMIT:.0e} is right"
    )
    because: dict[tuple[str, ...], list[str]] = {}
    for found in wrong:
        because.setdefault(_roots(found, checked), []).append(found.name)
    if () in because:
        yield f"wrong by itself: {', '.join(because.pop(()))}"
    for roots, names in because.items():
        yield f"wrong because composed of {', '.join(roots)}: {', '.join(names)}"


def _roots(found: Outcome, checked: dict[str, Outcome]) -> tuple[str, ...]:
    """The ops that make an op wrong which is composed of them, itself or through others."""
    causes = _causes(found, checked)
    roots = [name for name in causes if not _causes(checked[name], checked)]
    return tuple(roots or causes)


def _causes(found: Outcome, checked: dict[str, Outcome]) -> list[str]:
    """The wrong ops that an op is composed of, and that are not composed of it."""
    for name in found.through:
        if name not in checked:
            checked[name] = check_op(name)
    return [
        name
        for name in found.through
        if not checked[name].right and found.name not in checked[name].through
    ]
