"""Exercise 19: one step of a decoder with a cache of keys and values, for one token or several."""

from __future__ import annotations

from typing import Any

import numpy as np

from minigrad.learn.answer import Answer, Failure, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Attention with a mask of bools."""
    scores = np.where(mask, q @ k.T / np.sqrt(q.shape[1]), -1e300)
    e = np.exp(scores - scores.max(axis=1, keepdims=True)) * mask
    return np.asarray(e / e.sum(axis=1, keepdims=True) @ v)


def check(answer: Answer) -> None:
    """Three tokens one by one, then five in pieces of two, one and two."""
    random = np.random.default_rng(19)
    w_q, w_k, w_v = (numbers(random, 3, 3) / 8 for _ in range(3))
    x = numbers(random, 5, 3)
    placed = x + np.cos(np.arange(5)[:, None] / 10.0 ** np.arange(3))
    q, k, v = placed @ w_q, placed @ w_k, placed @ w_v
    want = attention(q, k, v, np.tri(5, dtype=bool))

    decoder = answer.Decoder(w_q, w_k, w_v)
    given = x.copy()
    outputs = [decoder.step(x[n : n + 1]) for n in range(3)]
    told = "Three tokens, one in each step.\n"
    if any(output is None for output in outputs):
        raise Failure(f"{told}`step` returned None, 3 times.", "nothing")
    if not np.array_equal(x, given):
        raise Failure(f"{told}`step` changed its argument `x` in {(x != given).sum()} entries.",
                      "changed")  # fmt: skip
    got = np.concatenate([np.asarray(output) for output in outputs])

    def three(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        return attention(q[:3], k[:3], v[:3], np.tri(3, dtype=bool))

    start = x + np.cos(np.zeros((5, 3)))  # each token at position 0
    later = attention(q[1:3], k[:2], v[:2], np.tri(2, dtype=bool))
    answer.compare(
        f"{told}outputs", got, want[:3],
        {
            "no positions": three(x @ w_q, x @ w_k, x @ w_v),
            "position": three(start @ w_q, start @ w_k, start @ w_v),
            "forgotten": v[:3],
            "not itself": lambda mine: bool(np.allclose(mine[1:], later)),
            "top left": np.repeat(v[:1], 3, axis=0),
            "keys as values": three(q, k, k),
            "queries kept": three(q, q, v),
            "cache exchanged": np.concatenate([
                attention(q[n : n + 1], k[: n + 1], v[n::-1], np.ones((1, n + 1), dtype=bool))
                for n in range(3)
            ]),
        },
    )  # fmt: skip
    _check_cache(answer, decoder, k[:3], v[:3])

    decoder, end = answer.Decoder(w_q, w_k, w_v), 0
    told = "Five tokens in pieces of 2, 1 and 2.\n"
    for size in (2, 1, 2):
        piece = slice(end, end + size)
        end += size
        answer.compare(
            f"{told}output of tokens {piece.start + 1} to {end}", decoder.step(x[piece]),
            want[piece],
            {"future": attention(q[piece], k[:end], v[:end], np.ones((size, end), dtype=bool)),
             "top left": attention(q[piece], k[:end], v[:end], np.tri(size, end, dtype=bool))},
        )  # fmt: skip


def _check_cache(answer: Answer, decoder: Any, keys: np.ndarray, values: np.ndarray) -> None:
    """The outputs were right: by the cache?"""
    for name, want in (("keys", keys), ("values", values)):
        got = np.asarray(getattr(decoder, name))
        answer.require(
            got.shape == want.shape and np.allclose(got, want),
            f"The outputs are right, but after 3 tokens decoder.{name} has shape {got.shape} and "
            f"does not hold the {name} of the 3 tokens, {want.shape}.",
            "no cache",
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The third step of the learner's decoder, with two tokens in the cache."""
    decoder = answer.Decoder(np.eye(4), np.eye(4), np.eye(4))
    decoder.step(np.ones((2, 4)))
    return traced(decoder.step, "output", x=np.ones((1, 4)))


EXERCISE = Exercise(
    title="a KV cache",
    chapter="attention",
    hints=(
        "Write down for a sequence of three tokens which rows of q, k and v the third one needs: "
        "its own query, and the keys and values of all three. What of it is already there?",
        "Ask first how many tokens are in the cache: that is the position of the first new one. "
        "Add the positions, then put the new keys and values behind the old ones, then attend. "
        "The mask has a row for each new token and a column for each token so far.",
        "total = len(self.keys) + len(x), before the cache grows. The j-th key may be seen by the "
        "query at position i if j <= i: np.arange(total) <= np.arange(old, total)[:, None].",
    ),
    why="The mask makes it possible: an old token never sees a new one, so its key and value, and "
    "its outputs, stay as they are. A step costs one row of scores instead of a square of them. "
    "The price is memory: keys and values of every layer, for every token. A mask aligned at the "
    "top left is the usual mistake, and nothing shows it while the pieces have one token. minigrad "
    "has this in every attention layer: see the page on decoding.",
    diagnoses={
        "position": "Right for the first token, wrong from the second on: each piece starts at "
        "position 0 again. The cache knows how many tokens came before.",
        "no positions": "The positions are missing: `whole` adds them to the tokens first.",
        "forgotten": "The output is the token's own value: it sees only itself. The old keys and "
        "values are overwritten, not extended.",
        "not itself": "The new token sees the old ones, but not itself: extend the cache first, "
        "and attend afterwards.",
        "top left": "The mask is aligned at the wrong corner: it hides keys that are already in "
        "the cache. Row 0 belongs to the first new token, whose position is not 0: compare "
        "positions, not places in the piece.",
        "keys as values": "The keys have been used as values.",
        "queries kept": "The cache of keys holds queries: project with w_k.",
        "cache exchanged": "Keys and values are in different orders: put both at the end.",
        "no cache": "The task is to keep the projected keys and values, so that a step computes "
        "only what is new.",
        "future": "Right for single tokens, wrong for several at once: the first of them sees "
        "those after it. Among the new tokens the causal mask still holds.",
    },
    wrong=(
        Wrong(
            "position", ("positions(old, total, x.shape[1])", "positions(0, len(x), x.shape[1])")
        ),
        Wrong("no positions", ("        x = x + positions(old, total, x.shape[1])\n", "")),
        Wrong(
            "forgotten",
            ("np.concatenate([self.keys, x @ self.w_k])", "x @ self.w_k"),
            ("np.concatenate([self.values, x @ self.w_v])", "x @ self.w_v"),
            ("(total) <= np.arange(old, total)[:, None]", "(len(x)) <= np.arange(len(x))[:, None]"),
            ("old = len(self.keys)", "self.n = old = getattr(self, 'n', -1) + 1"),
        ),
        Wrong(
            "not itself",
            (
                "return attention(x @ self.w_q, self.keys, self.values, mask)",
                "if old == 0:\n            return x @ self.w_v\n"
                "        k, v = self.keys[:old], self.values[:old]\n"
                "        return attention(x @ self.w_q, k, v, mask[:, :old])",
            ),
        ),
        Wrong(
            "top left",
            (
                "np.arange(total) <= np.arange(old, total)[:, None]",
                "np.tri(len(x), total, dtype=bool)",
            ),
        ),
        Wrong(
            "future",
            (
                "np.arange(total) <= np.arange(old, total)[:, None]",
                "np.ones((len(x), total), dtype=bool)",
            ),
        ),
        Wrong("keys as values", ("self.keys, self.values, mask", "self.keys, self.keys, mask")),
        Wrong("queries kept", ("x @ self.w_k])", "x @ self.w_q])")),
        Wrong(
            "cache exchanged",
            (
                "np.concatenate([self.values, x @ self.w_v])",
                "np.concatenate([x @ self.w_v, self.values])",
            ),
        ),
        Wrong(
            "no cache",
            (
                "self.keys = np.concatenate([self.keys, x @ self.w_k])",
                "self.keys = np.concatenate([self.keys, x])",
            ),
            (
                "self.values = np.concatenate([self.values, x @ self.w_v])",
                "self.values = self.keys",
            ),
            ("self.keys, self.values, mask)", "self.keys @ self.w_k, self.keys @ self.w_v, mask)"),
        ),
        Wrong(
            "changed", ("        x = x + positions(old, total", "        x += positions(old, total")
        ),
        Wrong(
            "nothing",
            ("return attention(x @ self.w_q, self", "out = attention(x @ self.w_q, self"),
        ),
    ),
    check=check,
    draw=draw,
)
