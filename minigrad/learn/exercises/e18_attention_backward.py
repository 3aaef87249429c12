"""Exercise 18: the backward pass of an encoder block by hand.

Its four parts are the modules of the Stage 15 specification.

The engine differentiates the forward functions of the learner's file: run on tensors, they record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import minigrad
from minigrad.autograd import grad
from minigrad.learn.answer import Answer, Failure, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph


def differentiate(
    forward: Callable[..., Any], g: np.ndarray, inputs: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The gradient of each input by the engine.

    Args:
        forward: A function of a dict of tensors.
        g: The gradient of its output.
        inputs: Its inputs by name.

    Returns:
        The gradients by name.
    """
    tensors = {name: minigrad.tensor(value, requires_grad=True) for name, value in inputs.items()}
    found = grad(forward(tensors), list(tensors.values()), g)
    return {name: one.numpy() for name, one in zip(inputs, found, strict=True)}


def check(answer: Answer) -> None:
    """The four parts, from the innermost to the outermost."""
    random = np.random.default_rng(18)
    _check_attention(answer, random)
    p = {name: numbers(random, 4, 4) / 4 for name in ("W_Q", "W_K", "W_V", "W_O")}
    _check_multi_head(answer, random, p)
    _check_positions(answer, random)
    p |= {"W1": numbers(random, 4, 6), "b1": numbers(random, 6), "W2": numbers(random, 6, 4),
          "b2": numbers(random, 4), "gamma1": numbers(random, 4), "beta1": numbers(random, 4),
          "gamma2": numbers(random, 4), "beta2": numbers(random, 4)}  # fmt: skip
    _check_block(answer, random, p)


def _check_attention(answer: Answer, random: np.random.Generator) -> None:
    """All sizes equal first: there a forgotten transpose gives numbers, and not an error."""
    attention = answer.names["attention"]
    for n, m, d, e, batch in [(3, 3, 3, 3, ()), (2, 3, 4, 5, (2,))]:
        Q, K, V, g = (numbers(random, *batch, *two) for two in [(n, d), (m, d), (m, e), (n, e)])
        inputs, root = {"Q": Q, "K": K, "V": V}, d**0.5
        want = differentiate(lambda t: attention(t["Q"], t["K"], t["V"])[0], g, inputs)
        weights = attention(Q, K, V)[1]
        got = answer.unpack(
            answer.attention_backward(g, Q, K, V, weights), "grad_Q", "grad_K", "grad_V"
        )
        slope = g @ V.swapaxes(-1, -2)
        scores = _softmax_backward(slope, weights)
        columns = _softmax_backward(slope.swapaxes(-1, -2), weights.swapaxes(-1, -2))
        of_q: dict[str, Any] = {
            "no scale": scores @ K, "scaled twice": (scores / d) @ K,
            "no mean": (weights * slope / root) @ K,
            "columns": (columns.swapaxes(-1, -2) / root) @ K, "no softmax": (slope / root) @ K,
        }  # fmt: skip
        of_k, of_v = {"no scale": scores.swapaxes(-1, -2) @ Q}, {}
        if not batch:
            of_q["V transposed"] = (_softmax_backward(g @ V, weights) / root) @ K
            of_k["scores transposed"] = (scores / root) @ Q
            of_v["weights transposed"] = weights @ g
        answer.compare("grad_V", got[2], want["V"], of_v)
        answer.compare("grad_Q", got[0], want["Q"], of_q)
        answer.compare("grad_K", got[1], want["K"], of_k)


def _softmax_backward(g: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The gradient of the scores of a softmax along the last axis."""
    return np.asarray(weights * (g - (g * weights).sum(axis=-1, keepdims=True)))


def _check_multi_head(
    answer: Answer, random: np.random.Generator, p: Mapping[str, np.ndarray]
) -> None:
    x, g = numbers(random, 3, 3, 4), numbers(random, 3, 3, 4)
    want = differentiate(lambda t: answer.names["multi_head"](t["x"], t, 2)[0], g, {"x": x, **p})
    cache = answer.names["multi_head"](x, p, 2)[1]
    back = g @ p["W_O"].T
    right, mixed, other = (
        _projected(answer, heads, cache)
        for heads in (
            back.reshape(3, 3, 2, 2).swapaxes(1, 2),
            back.reshape(3, 2, 3, 2),  # cut without the exchange of axes
            (g @ p["W_O"]).reshape(3, 3, 2, 2).swapaxes(1, 2),
        )
    )
    grad_x, grads = answer.unpack(answer.multi_head_backward(g, p, cache), "grad_x", "grads")
    answer.compare(
        'grads["W_O"]', _named(grads, "W_O"), want["W_O"],
        {"batch": cache["merged"].swapaxes(1, 2) @ g, "factor exchanged": want["W_O"].T},
    )  # fmt: skip
    for name in ("W_Q", "W_K", "W_V"):
        answer.compare(
            f'grads["{name}"]', _named(grads, name), want[name],
            {"batch": x.swapaxes(1, 2) @ right[name],
             "mixed heads": (x.swapaxes(1, 2) @ mixed[name]).sum(axis=0),
             "W transposed": (x.swapaxes(1, 2) @ other[name]).sum(axis=0)},
        )  # fmt: skip
    paths = [right[name] @ p[name].T for name in right]
    answer.compare(
        "grad_x", grad_x, want["x"],
        {"one path": lambda mine: any(np.allclose(mine, path) for path in paths),
         "W transposed": sum(right[name] @ p[name] for name in right)},
    )  # fmt: skip


def _projected(
    answer: Answer, grad_heads: np.ndarray, cache: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The gradients of x @ W_Q, x @ W_K and x @ W_V, merged: by the learner's part 1."""
    parts = answer.attention_backward(
        grad_heads, cache["q"], cache["k"], cache["v"], cache["weights"]
    )
    merged = [part.swapaxes(1, 2).reshape(3, 3, 4) for part in parts]
    return dict(zip(("W_Q", "W_K", "W_V"), merged, strict=True))


def _check_positions(answer: Answer, random: np.random.Generator) -> None:
    g, table = numbers(random, 2, 3, 4), numbers(random, 5, 4)
    used = g.sum(axis=0)
    pair = answer.unpack(answer.add_positions_backward(g, table), "grad_x", "grad_table")
    answer.compare("grad_x", pair[0], g)
    answer.compare(
        "grad_table", pair[1], np.concatenate([used, np.zeros((2, 4))]),
        {"short table": used, "positions of a batch": g,
         "mean of positions": np.concatenate([used / 2, np.zeros((2, 4))]),
         "last of the batch": np.concatenate([g[-1], np.zeros((2, 4))])},
    )  # fmt: skip


def _check_block(answer: Answer, random: np.random.Generator, p: Mapping[str, np.ndarray]) -> None:
    x, g = numbers(random, 2, 3, 4), numbers(random, 2, 3, 4)
    t = {name: minigrad.tensor(value, requires_grad=True) for name, value in {"x": x, **p}.items()}
    output, cache = answer.names["block"](t["x"], t, 2)
    middle = cache["middle"]
    past_middle = grad(output, middle, g, retain_graph=True)[0].numpy()

    def pulled(outputs: Any, g: np.ndarray) -> dict[str, np.ndarray]:
        found = grad(outputs, list(t.values()), g, retain_graph=True, allow_unused=True)
        return {name: one.numpy() for name, one in zip(t, found, strict=True) if one is not None}

    want, no_second, only_g = pulled(output, g), pulled(middle, past_middle - g), pulled(middle, g)
    cache = answer.names["block"](x, p, 2)[1]
    grad_x, grads = answer.unpack(answer.block_backward(g, p, cache), "grad_x", "grads")
    for name in p:
        mistakes = {}
        if name in no_second:
            mistakes = {"second residual": no_second[name], "only the residual": only_g[name]}
        answer.compare(f'grads["{name}"]', _named(grads, name), want[name], mistakes)
    answer.compare(
        "grad_x", grad_x, want["x"],
        {"first residual": want["x"] - past_middle, "wrong residual": want["x"] - past_middle + g},
    )  # fmt: skip


def _named(grads: Any, name: str) -> Any:
    """The gradient of a parameter from the learner's dict."""
    if not isinstance(grads, dict) or name not in grads:
        came = ", ".join(map(repr, grads)) if isinstance(grads, dict) else type(grads).__name__
        raise Failure(f"The second result should be a dict with the key {name!r}; got {came}.",
                      "no such key")  # fmt: skip
    return grads[name]


def draw(answer: Answer) -> Graph:
    """What the learner's backward pass of attention computes."""
    Q, K, V, g = np.ones((3, 4)), np.ones((3, 4)), np.ones((3, 4)), np.ones((3, 4))
    weights = np.full((3, 3), 1 / 3)
    return traced(
        answer.attention_backward, "grad_Q grad_K grad_V", g=g, Q=Q, K=K, V=V, weights=weights
    )


EXERCISE = Exercise(
    title="attention, backward by hand",
    chapter="attention",
    hints=(
        "Never derive the whole. Each forward line has one rule, and hands its gradient to the "
        "line above. Where a name is used twice, or three times as x in self-attention, its "
        "gradient is the sum of what comes from each use.",
        "attention: from g to the weights and V (a product), through softmax, the division, and to "
        "Q and K (a product). Heads: split where forward merged, merge where forward split. A "
        "weight: x transposed times the gradient, summed over the batch. A residual x + f(x): g "
        "goes on unchanged, plus what comes back through f.",
        "grad_weights = g @ V.T; grad_V = weights.T @ g; grad_scores = weights * (grad_weights - "
        "the sum of grad_weights * weights along the row) / sqrt(d); grad_Q = grad_scores @ K; "
        "grad_K = grad_scores.T @ Q, where .T means the last two axes. In the block: "
        "grad_middle = g + layer_norm_backward(feed_forward_backward(g)).",
    ),
    why="Backpropagation by hand is the forward program read upwards: one rule for each line, and "
    "a sum where paths meet. It needs no mask: a masked weight is 0, and the rule of softmax "
    "multiplies by the weight. The residual lets g reach x without any factor, which is why deep "
    "stacks learn. minigrad.nn.by_hand has these four modules complete; autograd finds the same "
    "numbers with no line of this code, and that is the point of autograd.",
    diagnoses={
        "weights transposed": "grad_V needs the transposed weights: a value collects from all "
        "queries that looked at it, so the sum runs over the queries.",
        "no scale": "The division by sqrt(d) is missing on the way back: what divides forward "
        "divides backward too.",
        "scaled twice": "Divided by d: the scale is applied twice on the way back. The forward "
        "pass divides once by sqrt(d).",
        "no mean": "The rule of softmax is incomplete: weights * (g - sum of g * weights). The "
        "second term is there because all weights of a row share one whole.",
        "columns": "The sum in the rule of softmax goes along the wrong axis: along the row, as "
        "the softmax itself.",
        "no softmax": "The softmax has been skipped: the gradient of the weights was used as that "
        "of the scores.",
        "V transposed": "grad_weights must be g @ Vᵀ: the sum runs over the features of the value. "
        "With square arrays g @ V gives numbers too, but wrong ones.",
        "scores transposed": "grad_K needs the transposed gradient of the scores: in Q Kᵀ, the "
        "keys belong to the columns.",
        "batch": "The gradient of a weight is not summed over the batch. There is one weight, and "
        "each sequence contributes to it.",
        "factor exchanged": "This is the transposed gradient: for y = x W it is xᵀ g, not gᵀ x.",
        "mixed heads": "Heads and positions are mixed up: the width must be cut into heads first, "
        "and then the axes exchanged. split_heads does both.",
        "W transposed": "For y = x W the gradient of x is g Wᵀ. With a square W, g W has the right "
        "shape and is wrong.",
        "one path": "Only one of three paths to x has arrived. x is the source of queries, keys "
        "and values: the three contributions add.",
        "short table": "The gradient has only the rows that were used. It must have the shape of "
        "the table; the other rows are 0.",
        "positions of a batch": "The table is added to every sequence of the batch: its gradient "
        "is the sum over the batch.",
        "mean of positions": "This is the mean over the batch. A rule adds contributions, and "
        "divides by nothing.",
        "last of the batch": "Only the last sequence of the batch has contributed: `=` in a loop, "
        "where `+=` should be.",
        "second residual": "The second residual is missing: output = middle + f(middle), so the "
        "gradient of middle is g plus what comes back through f.",
        "only the residual": "Only g itself has reached the attention. What comes back through the "
        "second layer norm and the feed-forward network must be added.",
        "first residual": "The first residual is missing: x reaches middle directly, too. Add the "
        "gradient of middle to what comes back through the attention.",
        "wrong residual": "At the first residual, g was added. But the sum there is middle, and "
        "the gradient of middle is not g any more.",
        "no such key": "The second result is a dict with the names of the parameters as in p.",
    },
    wrong=(
        Wrong("weights transposed", ("weights.swapaxes(-1, -2) @ g", "weights @ g")),
        Wrong("no scale", ("(grad_weights - mean) / Q.shape[-1] ** 0.5", "(grad_weights - mean)")),
        Wrong(
            "scaled twice",
            ("(grad_weights - mean) / Q.shape[-1] ** 0.5", "(grad_weights - mean) / Q.shape[-1]"),
        ),
        Wrong("no mean", ("weights * (grad_weights - mean)", "weights * grad_weights")),
        Wrong(
            "columns",
            (
                "mean = (grad_weights * weights).sum(axis=-1",
                "mean = (grad_weights * weights).sum(axis=-2",
            ),
        ),
        Wrong("no softmax", ("weights * (grad_weights - mean)", "grad_weights")),
        Wrong("V transposed", ("g @ V.swapaxes(-1, -2)", "g @ V")),
        Wrong("scores transposed", ("grad_scores.swapaxes(-1, -2) @ Q", "grad_scores @ Q")),
        Wrong(
            "batch",
            (
                '(cache["merged"].swapaxes(1, 2) @ g).sum(axis=0)',
                'cache["merged"].swapaxes(1, 2) @ g',
            ),
        ),
        Wrong(
            "batch",
            (
                "(x.swapaxes(1, 2) @ grad_projected).sum(axis=0)",
                "x.swapaxes(1, 2) @ grad_projected",
            ),
        ),
        Wrong(
            "factor exchanged",
            (
                '(cache["merged"].swapaxes(1, 2) @ g).sum(axis=0)',
                '(g.swapaxes(1, 2) @ cache["merged"]).sum(axis=0)',
            ),
        ),
        Wrong(
            "mixed heads",
            ('split_heads(g @ p["W_O"].T, heads)', '(g @ p["W_O"].T).reshape(cache["q"].shape)'),
        ),
        Wrong(
            "W transposed",
            ('split_heads(g @ p["W_O"].T, heads)', 'split_heads(g @ p["W_O"], heads)'),
        ),
        Wrong("W transposed", ("grad_projected @ p[name].T", "grad_projected @ p[name]")),
        Wrong("one path", ("grad_x = grad_x + grad_projected", "grad_x = grad_projected")),
        Wrong("short table", ("np.zeros(table.shape)", "np.zeros(g.shape[1:])")),
        Wrong("positions of a batch", ("return g, grad_table", "return g, g")),
        Wrong(
            "mean of positions", ("g.sum(axis=0)\n    return g,", "g.mean(axis=0)\n    return g,")
        ),
        Wrong(
            "last of the batch",
            (
                "grad_table[: g.shape[1]] = g.sum(axis=0)",
                "for one in g:\n        grad_table[: g.shape[1]] = one",
            ),
        ),
        Wrong("second residual", ("    grad_middle = grad_middle + g\n", "")),
        Wrong("only the residual", ("grad_middle = grad_middle + g\n", "grad_middle = g\n")),
        Wrong("first residual", ("return grad_x + grad_middle, grads", "return grad_x, grads")),
        Wrong("wrong residual", ("return grad_x + grad_middle, grads", "return grad_x + g, grads")),
        Wrong("no such key", ("grads | attention_grads", "grads")),
    ),
    check=check,
    draw=draw,
)
