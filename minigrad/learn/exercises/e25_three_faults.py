"""Exercise 25: a cut, a NaN and a wrong rule, found with the tools."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import minigrad
from minigrad import viz
from minigrad.autograd import why_no_grad
from minigrad.learn.answer import Answer, Failure, show
from minigrad.learn.statement import Exercise, Wrong
from minigrad.nn import functional as F
from minigrad.viz import Graph


def check(answer: Answer) -> None:
    """What was found, then the repaired model: its loss, then its gradients."""
    names = answer.unpack(answer.findings(), "parameter", "op of the NaN", "op of the rule")
    asked = [
        ("The parameter without a gradient", "score.weight", "which parameter"),
        ("The op of the first NaN or infinity", "log", "which op"),
        ("The op whose rule is wrong", "squash", "which rule"),
    ]
    for number, (mine, (text, want, diagnosis)) in enumerate(zip(names, asked, strict=True), 1):
        if mine != want:
            later = diagnosis == "which op" and mine in ("multiply", "sum")
            facts = f"findings(), name {number} of 3: {text} is not {show(mine)}."
            raise Failure(facts, "later op" if later else diagnosis)

    made = answer.repaired()
    if not (isinstance(made, type) and issubclass(made, minigrad.nn.Module)):
        facts = f"repaired() returned 1 {type(made).__name__} object; it should return a class."
        raise Failure(facts, "no class")
    minigrad.random.seed(25)
    model = made().to("float64")
    p = {
        name: minigrad.tensor(value, requires_grad=True)
        for name, value in model.state_dict().items()
    }
    for padded in (False, True):
        tokens, real, labels = answer.names["batch"](padded)
        told = f"On the batch {'with' if padded else 'without'} padding: "

        def compute() -> Any:
            return answer.names["loss"](model, tokens, real, labels)  # noqa: B023

        right = _loss(p, tokens, real, labels)
        _check_loss(answer, told, compute, right, padded)
        _check_gradients(answer, told, model, compute, right, p)


def _loss(
    p: Mapping[str, Any], tokens: np.ndarray, real: np.ndarray, labels: np.ndarray
) -> minigrad.Tensor:
    """The loss of a right model, sequence by sequence: without padding, without a mask."""
    scores, entropies = [], []
    for row, kept in zip(tokens, real, strict=True):
        x = p["embed.weight"][row[kept]] @ p["hidden.weight"].T + p["hidden.bias"]
        x = x / (1 + abs(x))
        weights = minigrad.softmax(x @ p["score.weight"][0])
        scores.append((weights @ x) @ p["head.weight"].T + p["head.bias"])
        entropies.append(-(weights * minigrad.log(weights)).sum())
    loss: minigrad.Tensor = F.cross_entropy(minigrad.stack(scores), labels)
    return loss - 0.1 * minigrad.stack(entropies).mean()


def _check_loss(
    answer: Answer, told: str, compute: Callable[[], Any], want: minigrad.Tensor, padded: bool
) -> None:
    with minigrad.no_grad():
        mine = compute()
    if not np.isfinite(mine.item()):
        try:
            with minigrad.detect_anomaly():
                compute()
            text = ""
        except FloatingPointError as error:
            text = f" detect_anomaly says:\n  {error}"
        raise Failure(f"{told}the loss is {mine.item()}.{text}", "still NaN")
    answer.compare(f"{told}the loss", mine, want.numpy(),
                   {"padding counts" if padded else "other loss": True})  # fmt: skip


def _check_gradients(
    answer: Answer, told: str, model: Any, compute: Callable[[], Any], want: minigrad.Tensor,
    p: Mapping[str, Any],
) -> None:  # fmt: skip
    for one in (*model.parameters(), *p.values()):
        one.grad = None
    compute().backward()
    want.backward()
    mine = {name: one.grad for name, one in model.named_parameters()}
    for name, parameter in model.named_parameters():
        if mine[name] is None:
            cut = sum(one is None for one in mine.values())
            facts = (
                f"{told}{cut} of {len(mine)} parameters has no gradient: {name}. why_no_grad says:"
            )
            raise Failure(f"{facts}\n  {why_no_grad(parameter, compute)}", "still cut")
    for name in mine:
        answer.compare(
            f"{told}the gradient of {name}", mine[name], p[name].grad,
            {"gradient NaN": lambda array: bool(np.isnan(array).any()),
             "rule": name in ("embed.weight", "hidden.weight", "hidden.bias")},
        )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """The graph of the repaired model."""
    model = answer.repaired()()
    tokens, real, labels = answer.names["batch"](True)
    with viz.trace() as trace:
        loss = answer.names["loss"](model, tokens, real, labels)
    return trace.graph(loss)


EXERCISE = Exercise(
    title="find the three faults",
    chapter="inner_gradients",
    hints=(
        "Run the file: it prints the loss, which parameters have a gradient, and two first calls "
        "of the tools. Then ask about the parameter that has none, with why_no_grad.",
        "with minigrad.detect_anomaly(): loss(model, *batch(padded=True)) names the op and the "
        "line. gradcheck(lambda *_: loss(model, *batch(padded=False)), [model.hidden.weight]) "
        "names the op whose rule is wrong. why_no_grad names what cuts score.weight off.",
        "weights: compute the scores outside of no_grad. entropy: a weight of 0 has the logarithm "
        "-inf, and the where trap of exercise 14 waits: give log a 1 where the weight is 0. "
        "features: write x / (1 + abs(x)) with ordinary operations, and no rule is needed; or "
        "correct it to g / (1 + abs(x)) ** 2.",
    ),
    why="Three kinds of fault, and each has its tool. A missing gradient raises no error: the "
    "parameter just never learns, and the loss falls a little without it. A NaN spreads from one "
    "padded sequence to everything, so the first op matters and not where you see it. A wrong rule "
    "is the worst: everything runs, learns badly, and only a comparison with the function itself "
    "shows it. Ask the tools first, before you change the learning rate.",
    diagnoses={
        "which parameter": "Another parameter gets None. Call backward on the loss of the batch "
        "without padding, and print each name with its grad.",
        "which op": "detect_anomaly names the op at the beginning of its error: in a `with` block, "
        "compute the loss of the batch with padding.",
        "later op": "That op only passes it on: 0 * inf is NaN. The infinity was there before. "
        "detect_anomaly stops at the first op that makes one out of finite numbers.",
        "which rule": "gradcheck names the op: 'the rule of ... for x is wrong by itself'. Check "
        "hidden.weight on the batch without padding.",
        "no class": "It should return the class itself: return Repaired.",
        "still NaN": "The logarithm of a weight of 0 is -inf, and 0 * -inf is NaN. The padding "
        "must not come into the logarithm.",
        "other loss": "The loss was right on this batch, and now it is another function. Only "
        "the faults may go: not the entropy, and not a part of the network.",
        "padding counts": "Right without padding, wrong with it. A padded token must have weight "
        "0, add nothing to the entropy, and the other weights of the row must still sum to 1.",
        "still cut": "This parameter still does not learn. What is computed under no_grad, or from "
        "an array, has no history: only the mask belongs there.",
        "gradient NaN": "The loss is a number now, but its gradient is NaN: the where trap. The "
        "result was repaired after the logarithm had seen a 0; going back, 0 meets infinity. "
        "Repair what goes in.",
        "rule": "The gradient before squash is still wrong. The slope of x / (1 + |x|) is "
        "1 / (1 + |x|) squared, on both sides of 0.",
    },
    wrong=(
        Wrong("which parameter", ('return "score.weight"', 'return "embed.weight"')),
        Wrong("which op", ('"score.weight", "log"', '"score.weight", "softmax"')),
        Wrong("later op", ('"score.weight", "log"', '"score.weight", "multiply"')),
        Wrong("which rule", ('"log", "squash"', '"log", "softmax"')),
        Wrong("no class", ("    return Repaired\n", "    return Repaired()\n")),
        Wrong("nothing", ("    return Repaired\n", "    Repaired\n")),
        Wrong("still NaN", ("minigrad.where(weights > 0, weights, 1.0)", "weights")),
        Wrong(
            "still NaN",
            ("minigrad.where(weights > 0, weights, 1.0)", "minigrad.clip(weights, 0.0, 1.0)"),
        ),
        Wrong(
            "other loss",
            (
                "return -(weights * minigrad.log(inside)).sum(dim=1)",
                "return 0.0 * weights.sum(dim=1)",
            ),
        ),
        Wrong("other loss", ("minigrad.log(inside)", "minigrad.log(inside + 1e-3)")),
        Wrong(
            "padding counts",
            (
                "minigrad.softmax(minigrad.where(real, scores, -np.inf))",
                "minigrad.softmax(scores) * real",
            ),
        ),
        Wrong("padding counts", ("minigrad.where(real, scores, -np.inf)", "scores")),
        Wrong(
            "still cut",
            (
                "scores = self.score(x)[..., 0]\n",
                "scores = minigrad.tensor(self.score(x).numpy()[..., 0], requires_grad=True)\n",
            ),
        ),
        Wrong(
            "still cut",
            (
                "            scores = self.score(x)[..., 0]\n            return",
                "            with minigrad.no_grad():\n"
                "                scores = self.score(x)[..., 0]\n            return",
            ),
        ),
        Wrong(
            "gradient NaN",
            (
                "return -(weights * minigrad.log(inside)).sum(dim=1)",
                "return -np.nan_to_num(weights * minigrad.log(weights)).sum(dim=1)",
            ),
        ),
        Wrong(
            "gradient NaN",
            (
                "return -(weights * minigrad.log(inside)).sum(dim=1)",
                "terms = weights * minigrad.log(weights)\n"
                "            return -minigrad.where(weights > 0, terms, 0.0).sum(dim=1)",
            ),
        ),
        Wrong(
            "rule", ("return x / (1 + abs(x))\n\n        def", "return squash(x)\n\n        def")
        ),
        Wrong(
            "rule",
            (
                "squash.defvjp(x=lambda g, x: g / (1 + abs(x)))",
                "squash.defvjp(x=lambda g, x: g * np.sign(x) / (1 + abs(x)) ** 2)",
            ),
            ("return x / (1 + abs(x))\n\n        def", "return squash(x)\n\n        def"),
        ),
    ),
    check=check,
    draw=draw,
)
