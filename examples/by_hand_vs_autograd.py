"""Compute the gradients of one transformer encoder block in three ways, and compare them.

By hand: with the backward pass that `minigrad.nn.by_hand` derives, step by step. By autograd. And
by finite differences, which need no derivative at all.

    python examples/by_hand_vs_autograd.py --help
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import time
from collections.abc import Callable
from typing import Any, NamedTuple

# For matrices this small, one BLAS thread is fastest. NumPy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from _command_line import Parser, run, whole

import minigrad
from minigrad import nn
from minigrad.nn import by_hand
from minigrad.nn.source_documents.blocks import BY_HAND

SEQUENCES = 2

# The block


class Case(NamedTuple):
    """A block, its input and its mask, all in float64."""

    num_heads: int
    params: dict[str, np.ndarray]
    x: np.ndarray  # (N, L, d_model)
    mask: np.ndarray | None  # (L, L), True = attend

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Everything that has a gradient: the parameters and the input."""
        return {**self.params, "x": self.x}


def draw(d_model: int, num_heads: int, length: int, masked: bool, seed: int) -> Case:
    """Draw a random block; no parameter is 0 or 1, because these could hide errors."""
    rng = np.random.default_rng(seed)
    params = {}
    for name, fresh in by_hand.TransformerEncoderBlock(d_model, num_heads).get_params().items():
        noise = rng.normal(size=fresh.shape)
        params[name] = noise / len(fresh) ** 0.5 if fresh.ndim == 2 else fresh + 0.1 * noise
    x = rng.normal(size=(SEQUENCES, length, d_model))
    return Case(num_heads, params, x, by_hand.create_causal_mask(length) if masked else None)


# The three ways to compute gradients. The loss is the sum of the squares of the block's output.

Gradients = dict[str, np.ndarray]


def hand_made(case: Case) -> by_hand.TransformerEncoderBlock:
    """The block in plain NumPy."""
    block = by_hand.TransformerEncoderBlock(case.x.shape[-1], case.num_heads)
    block.set_params(case.params)
    return block


def gradients_by_hand(case: Case) -> tuple[float, Gradients]:
    """The loss, and its gradients by the hand-derived backward pass."""
    block = hand_made(case)
    output = block.forward(case.x, case.mask)  # (N, L, d_model)
    grad_x, grads = block.backward(2 * output)  # the derivative of y² is 2y
    return float((output**2).sum()), {**grads, "x": grad_x}


def gradients_by_autograd(case: Case) -> tuple[float, Gradients]:
    """The loss, and its gradients by autograd."""
    block = nn.TransformerEncoderBlock(case.x.shape[-1], case.num_heads).double()
    block.load_state_dict(case.params)
    x = minigrad.tensor(case.x, requires_grad=True)
    loss = (block(x, case.mask) ** 2).sum()
    loss.backward()
    leaves = {name: block.get_parameter(BY_HAND[name]) for name in case.params} | {"x": x}
    grads = {name: np.asarray(leaf.grad) for name, leaf in leaves.items()}
    # Its weights have shape (out, in), those by hand (in, out).
    return loss.item(), {name: grad.T if grad.ndim == 2 else grad for name, grad in grads.items()}


def safe_step(case: Case) -> float:
    """The step of finite differences: so small that no hidden unit crosses the kink of ReLU."""
    block = hand_made(case)
    block.forward(case.x, case.mask)
    assert block.cache is not None
    sums = block.cache["normed2"] @ block.W1 + block.b1  # (N, L, d_ff)
    return min(1e-5, float(np.abs(sums).min()) / 30)


def slopes_by_differences(case: Case, name: str, entries: np.ndarray, step: float) -> np.ndarray:
    """The slopes of the loss along some entries of an array: (L(p + h) - L(p - h)) / 2h.

    Args:
        case: The block. Its array is changed and restored.
        name: The array.
        entries: The flat indices of the entries.
        step: h.

    Returns:
        A slope for each entry.
    """
    block, flat = hand_made(case), case.arrays[name].reshape(-1)  # a view

    def output(i: int, value: float) -> np.ndarray:
        flat[i] = value
        block.set_params(case.params)
        return block.forward(case.x, case.mask)

    slopes = []
    for i in entries:
        kept = flat[i]
        up, down = output(i, kept + step), output(i, kept - step)
        flat[i] = kept
        slopes.append((up**2 - down**2).sum() / (2 * step))  # (N, L, d_model) -> ()
    return np.array(slopes)


# The comparison

ROUNDING, TRUNCATION = 1e-10, 1e-6
"""The tolerance between two exact ways, and between one of them and finite differences."""


class Row(NamedTuple):
    """The result for one array: its gradient, and the differences of the three ways."""

    gradient: np.ndarray
    checked: int  # entries compared with finite differences
    hand_to_autograd: float
    hand_to_differences: float
    autograd_to_differences: float

    @property
    def to_differences(self) -> float:
        """The larger of the two differences from finite differences."""
        return float(np.maximum(self.hand_to_differences, self.autograd_to_differences))

    @property
    def fault(self) -> str:
        """The message for a disagreement; empty if all three agree."""
        hand = self.hand_to_differences <= TRUNCATION
        autograd = self.autograd_to_differences <= TRUNCATION
        if hand != autograd:
            return "by hand is wrong" if autograd else "autograd is wrong"  # by majority
        if not self.hand_to_autograd <= ROUNDING:  # a NaN is not below anything
            return "by hand and autograd differ" if hand else "no two agree"
        return "" if hand else "finite differences say otherwise"


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference of two gradients, relative to the largest entry, or to 1."""
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def compare(
    case: Case, hand: Gradients, autograd: Gradients, step: float, most: int, seed: int
) -> dict[str, Row]:
    """Compare the first two, and both with up to `most` finite differences for each array."""
    rng = np.random.default_rng([seed, 1])
    rows = {}
    for name, array in case.arrays.items():
        entries = np.sort(rng.permutation(array.size)[:most])
        slopes = slopes_by_differences(case, name, entries, step)
        rows[name] = Row(
            hand[name], len(entries), difference(autograd[name], hand[name]),
            difference(hand[name].reshape(-1)[entries], slopes),
            difference(autograd[name].reshape(-1)[entries], slopes),
        )  # fmt: skip
    return rows


# Output

WIDTH = 96
WAY_BACK = {
    "The feed-forward network": (
        "Y = X W has grad_X = grad_Y Wᵀ and grad_W = Xᵀ grad_Y; ReLU lets a gradient pass where it "
        "let its input pass.",
        ("W2", "b2", "W1", "b1"),
    ),
    "The second normalization": (
        "n = (x - mean) / std has grad_x = (g - mean(g) - n mean(g n)) / std: whatever shifts or "
        "stretches all features of a position alike is lost on the way forward, and so on the way "
        "back.",
        ("gamma2", "beta2"),
    ),
    "The attention": (
        "w = softmax(s) has grad_s = w (grad_w - Σ w grad_w): a score matters as far as its value "
        "differs from the mean that the query takes.",
        ("W_O", "W_V", "W_K", "W_Q"),
    ),
    "The first normalization, and the input": (
        "Queries, keys and values are made of one array, so their three gradients add up; so do "
        "the two ways around a residual sum y = x + f(x).",
        ("gamma1", "beta1", "x"),
    ),
}
"""The parts of the block in the order in which gradients reach them, with what they do to it."""


def explain(text: str) -> None:
    print(textwrap.fill(text, WIDTH, initial_indent="   ", subsequent_indent="   "))


def timed(way: Callable[..., Any], *args: Any, runs: int = 1) -> tuple[Any, float]:
    """The result of a function, and the milliseconds of the fastest of some runs."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        found = way(*args)
        times.append(1000 * (time.perf_counter() - start))
    return found, min(times)


def print_table(rows: dict[str, Row]) -> None:
    """Print one line for each array, in the order of the backward pass."""
    print(
        f"{'':<13}{'':<11}{'norm of the':>12}{'by hand to':>14}{'to finite':>14}{'entries':>18}\n"
        f"{'gradient of':<13}{'shape':<11}{'gradient':>12}{'autograd':>14}{'differences':>14}"
        f"{'checked':>18}"
    )
    for part, (explanation, names) in WAY_BACK.items():
        print(f"\n{part}")
        explain(explanation)
        for name in names:
            row, size = rows[name], rows[name].gradient.size
            count = f"all {size:,}" if row.checked == size else f"{row.checked:,} of {size:,}"
            print(
                f"  {name:<11}{row.gradient.shape!s:<11}{np.linalg.norm(row.gradient):>12.4g}"
                f"{row.hand_to_autograd:>14.1e}{row.to_differences:>14.1e}{count:>18}"
                f"{'   <- ' + row.fault if row.fault else ''}"
            )


def main() -> None:
    """Compute the gradients in three ways, print them side by side, and whether they agree."""
    args = arguments()
    case = draw(args.d_model, args.heads, args.length, args.mask, args.seed)
    step = safe_step(case)
    (loss, hand), by_hand_ms = timed(gradients_by_hand, case, runs=5)
    (same_loss, autograd), autograd_ms = timed(gradients_by_autograd, case, runs=5)
    rows, differences_ms = timed(compare, case, hand, autograd, step, args.entries, args.seed)

    count = sum(array.size for array in case.params.values())
    causal = "causal: a position attends to itself and to those before it"
    print(
        f"The gradients of one pre-norm transformer encoder block, three ways\n\n"
        f"block  d_model {args.d_model}, heads {args.heads}, d_ff {4 * args.d_model}: "
        f"{count:,} parameters, in float64\n"
        f"input  x, {SEQUENCES} sequences of {args.length} positions\n"
        f"mask   {causal if args.mask else 'none: a position attends to all'}\n"
        f"loss   the sum of the squares of the output\n"
    )
    print(f"1. By hand: loss {loss:.10f}, {by_hand_ms:.1f} ms")
    explain(
        "Every step forward has a step backward, derived on paper and written down; they run in "
        "reverse order, from the gradient of the output, 2 · output, to that of x."
    )
    print(f"2. By autograd: loss {same_loss:.10f}, {autograd_ms:.1f} ms")
    explain(
        "Nobody wrote a backward pass for the block: the ops of the forward pass were recorded, "
        "and backward() applies the rule of each, the youngest first."
    )
    print(f"3. By finite differences: steps of ±{step:.0e}, {differences_ms:,.0f} ms")
    explain(
        f"A number is moved up and down, and the change of the loss divided by the distance: that "
        f"needs no derivative, but two forward passes a number, here "
        f"{2 * sum(row.checked for row in rows.values()):,}."
    )
    print("\nThe way back, from the output to x. Differences are relative to the largest entry.\n")
    print_table(rows)
    faults = [f"{name}: {row.fault}" for name, row in rows.items() if row.fault]
    if faults:
        print(f"\nverdict: they disagree: {'; '.join(faults)}")
        sys.exit(1)
    exact = max(row.hand_to_autograd for row in rows.values())
    near = max(row.to_differences for row in rows.values())
    print(
        f"\nverdict: all three agree, by hand and autograd to {exact:.0e}, "
        f"finite differences with both to {near:.0e}"
    )


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        description="Find the gradients of a transformer encoder block by hand, by autograd and by "
        "finite differences, and compare them. Takes about 2 seconds; with --smoke, about 1.",
        allow_abbrev=False,
    )
    parser.add_argument("--d-model", type=whole(4), default=16, help="width of the block: 16")
    parser.add_argument("--heads", type=whole(1), default=4, help="attention heads: 4")
    parser.add_argument("--length", type=whole(2), default=6, help="sequence length: 6")
    parser.add_argument(
        "--mask", action=argparse.BooleanOptionalAction, default=True, help="causal attention: on"
    )
    parser.add_argument("--seed", type=whole(0), default=0, help="random seed: 0")
    parser.add_argument(
        "--smoke", dest="entries", action="store_const", const=20, default=1024,
        help="check at most 20 entries of each array with finite differences, not 1,024",
    )  # fmt: skip
    args = parser.parse_args()
    if args.d_model % args.heads:
        parser.error(f"--heads {args.heads} does not divide --d-model {args.d_model}")
    return args


if __name__ == "__main__":
    run(main)
