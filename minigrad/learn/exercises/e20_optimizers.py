"""Exercise 20: a step of SGD with momentum and of AdamW."""

from __future__ import annotations

import numpy as np

from minigrad.learn.answer import Answer, numbers
from minigrad.learn.drawing import traced
from minigrad.learn.statement import Exercise, Wrong
from minigrad.viz import Graph

LR, BETA1, BETA2, EPS, DECAY = 0.1, 0.9, 0.999, 1e-8, 0.2


def check(answer: Answer) -> None:
    """Single steps from numbers where each term shows, then gradients as small as eps."""
    random = np.random.default_rng(20)
    p, g, v = numbers(random, 3), numbers(random, 3), numbers(random, 3)
    got = answer.unpack(answer.momentum_step(p, g, v, lr=0.2), "p", "v")
    answer.compare(
        "v", got[1], 0.9 * v + g,
        {"averaged": 0.9 * v + 0.1 * g, "lr inside": 0.9 * v + 0.2 * g, "no memory": g,
         "sum": v + g, "negative velocity": 0.9 * v - g},
    )  # fmt: skip
    answer.compare(
        "p", got[0], p - 0.2 * (0.9 * v + g),
        {"uphill": p + 0.2 * (0.9 * v + g), "old velocity": p - 0.2 * v, "without v": p - 0.2 * g,
         "no lr": p - (0.9 * v + g), "step only": -0.2 * (0.9 * v + g)},
    )  # fmt: skip

    m, v, t = numbers(random, 3), numbers(random, 3) ** 2, 3
    mean, square = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g**2
    got = answer.unpack(answer.adamw_step(p, g, m, v, t, lr=LR, decay=DECAY), "p", "m", "v")
    coupled = g + DECAY * p
    answer.compare(
        "m", got[1], mean,
        {"corrected kept": mean / (1 - BETA1**t), "coupled": BETA1 * m + (1 - BETA1) * coupled,
         "weights of the mean": (1 - BETA1) * m + BETA1 * g, "not averaged": BETA1 * m + g},
    )  # fmt: skip
    answer.compare(
        "v", got[2], square,
        {"corrected kept": square / (1 - BETA2**t), "not squared": BETA2 * v + (1 - BETA2) * g,
         "weights of the mean": (1 - BETA2) * v + BETA2 * g**2, "not averaged": BETA2 * v + g**2},
    )  # fmt: skip

    def after(c1: float, c2: float, decay: float = DECAY) -> np.ndarray:
        return np.asarray(p * (1 - LR * decay) - LR * (mean / c1) / (np.sqrt(square / c2) + EPS))

    c1, c2 = 1 - BETA1**t, 1 - BETA2**t
    answer.compare(
        "p", got[0], after(c1, c2),
        {"not corrected": after(1.0, 1.0), "half corrected": after(c1, 1.0),
         "step counted twice": after(1 - BETA1 ** (t + 1), 1 - BETA2 ** (t + 1)),
         "step counted from 0": after(1 - BETA1 ** (t - 1), 1 - BETA2 ** (t - 1)),
         "t times": after(1 - BETA1 * t, 1 - BETA2 * t), "no decay": after(c1, c2, 0.0),
         "decay last": after(c1, c2, 0.0) * (1 - LR * DECAY),
         "decay without lr": after(c1, c2, DECAY / LR),
         "no root": p * (1 - LR * DECAY) - LR * (mean / c1) / (square / c2 + EPS),
         "coupled": after(c1, c2, 0.0) - LR * DECAY * p / (np.sqrt(square / c2) + EPS)},
    )  # fmt: skip
    zero, tiny = np.zeros(2), np.array([1e-8, -3e-8])  # gradients of the size of eps
    got = answer.unpack(answer.adamw_step(zero, tiny, zero, zero, 1, lr=LR), "p", "m", "v")
    answer.compare(
        "p", got[0], -LR * tiny / (abs(tiny) + EPS),
        {"no eps": -LR * np.sign(tiny), "eps inside": -LR * tiny / np.sqrt(tiny**2 + EPS),
         "eps too early": -LR * tiny / (abs(tiny) + EPS / np.sqrt(1 - BETA2))},
    )  # fmt: skip


def draw(answer: Answer) -> Graph:
    """What a step of the learner's AdamW computes."""
    p, g, m, v = (np.ones(3) for _ in range(4))
    return traced(answer.adamw_step, "p m v", p=p, g=g, m=m, v=v, t=1)


EXERCISE = Exercise(
    title="optimizers",
    chapter="training",
    hints=(
        "Each line of the task is one line of code. Look out for the order: first the running "
        "means are updated, then they are used.",
        "The corrected means are only for the step: return m and v as they are, without the "
        "correction. The power is beta1**t, and t is given: nothing has to be counted.",
        "v = momentum * v + g; return p - lr * v, v. For AdamW: step = (m / (1 - beta1**t)) / "
        "(np.sqrt(v / (1 - beta2**t)) + eps), then p - lr * decay * p - lr * step.",
    ),
    why="Momentum adds up what gradients agree on, and cancels what changes its sign. Adam divides "
    "by the root of the mean square, so the step hardly depends on the scale of the loss: "
    "multiply all gradients by 100, and nothing changes. The correction matters in the first "
    "steps: without it v is 1000 times too small at t = 1. Decay inside g would be divided as "
    "well, so that weights with large gradients decay less; decoupled, all decay alike.",
    diagnoses={
        "averaged": "This velocity is an average, with a factor (1 - momentum) before g. The task "
        "adds g whole, as PyTorch does: the steps are 10 times larger.",
        "lr inside": "The learning rate is in the velocity. It belongs into the step only: "
        "otherwise a change of lr acts late.",
        "no memory": "The velocity has no memory: this is g alone.",
        "sum": "The old velocity is not damped: momentum * v. Undamped, it would never come to "
        "rest.",
        "negative velocity": "The gradient is added to the velocity; the minus comes in the step.",
        "uphill": "The step goes uphill. The gradient points to where the loss grows: subtract.",
        "old velocity": "The step used the velocity from before the update. First update v, then "
        "step with it.",
        "without v": "The step used g and not the velocity.",
        "no lr": "The learning rate is missing in the step.",
        "step only": "This is the step alone: subtract it from p.",
        "corrected kept": "The corrected mean was returned. It would be corrected again in the "
        "next step: keep the plain one, and correct only inside the step.",
        "coupled": "The decay has entered the gradient, or is divided like it: that is Adam with "
        "L2, not AdamW. Take lr * decay * p from p separately.",
        "weights of the mean": "The two factors are exchanged: a running mean keeps beta of the "
        "old, and takes 1 - beta of the new.",
        "not averaged": "The factor 1 - beta before the new term is missing.",
        "not squared": "v is the mean of g squared.",
        "not corrected": "The correction is missing: m and v started at 0 and are too small at "
        "first. Divide by 1 - beta**t.",
        "half corrected": "m is corrected and v is not: each has its own beta.",
        "step counted twice": "One step too far: the power is beta**t, with the t that is given.",
        "step counted from 0": "One step behind: t is 1 in the first step, and beta**0 would "
        "divide by 0 there.",
        "t times": "beta**t is a power, not beta * t.",
        "no decay": "The weight decay is missing.",
        "decay without lr": "The decay is lr * decay * p: without lr it is far too strong.",
        "decay last": "The decay was taken from the new p, after the step. It is a part of the old "
        "one.",
        "no root": "Divided by the mean square. Its root has the size of a gradient, and makes "
        "the step independent of its scale.",
        "no eps": "eps is missing, or too small to act. Where a gradient is 0 for many steps, v is "
        "0, and 0 / 0 is NaN.",
        "eps inside": "eps is under the root, where its effect is sqrt(eps) = 0.0001: small "
        "gradients hardly move anything. Add it after the root.",
        "eps too early": "eps is added before the correction, which then makes it larger: correct "
        "v first, take the root, and add eps at the end.",
    },
    wrong=(
        Wrong("averaged", ("v = momentum * v + g\n", "v = momentum * v + (1 - momentum) * g\n")),
        Wrong(
            "lr inside",
            (
                "v = momentum * v + g\n    return p - lr * v",
                "v = momentum * v + lr * g\n    return p - v",
            ),
        ),
        Wrong("no memory", ("v = momentum * v + g\n    return", "v = g\n    return")),
        Wrong("sum", ("v = momentum * v + g\n    return", "v = v + g\n    return")),
        Wrong(
            "negative velocity",
            ("v = momentum * v + g\n    return p - lr", "v = momentum * v - g\n    return p + lr"),
        ),
        Wrong("uphill", ("p - lr * v, v", "p + lr * v, v")),
        Wrong("old velocity", ("return p - lr * v, v", "return p - lr * (v - g) / momentum, v")),
        Wrong("without v", ("return p - lr * v, v", "return p - lr * g, v")),
        Wrong("no lr", ("return p - lr * v, v", "return p - v, v")),
        Wrong("step only", ("return p - lr * v, v", "return -lr * v, v")),
        Wrong("form", ("return p - lr * v, v", "return p - lr * v")),
        Wrong("changed", ("return p - lr * v, v", "p -= lr * v\n    return p, v")),
        Wrong(
            "corrected kept",
            (
                "m = beta1 * m + (1 - beta1) * g\n",
                "m = (beta1 * m + (1 - beta1) * g) / (1 - beta1**t)\n",
            ),
            ("step = m / (1 - beta1**t)", "step = m"),
        ),
        Wrong(
            "coupled",
            (
                "m = beta1 * m + (1 - beta1) * g\n",
                "g = g + decay * p\n    m = beta1 * m + (1 - beta1) * g\n",
            ),
        ),
        Wrong(
            "coupled",
            ("step = m / (1 - beta1**t)", "step = (m / (1 - beta1**t) + decay * p)"),
            ("p - lr * decay * p - lr * step", "p - lr * step"),
        ),
        Wrong(
            "weights of the mean",
            ("m = beta1 * m + (1 - beta1) * g\n", "m = (1 - beta1) * m + beta1 * g\n"),
        ),
        Wrong("not averaged", ("+ (1 - beta2) * g * g\n    step", "+ g * g\n    step")),
        Wrong("not squared", ("(1 - beta2) * g * g\n    step", "(1 - beta2) * g\n    step")),
        Wrong(
            "not corrected",
            ("m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + eps)", "m / (np.sqrt(v) + eps)"),
        ),
        Wrong("half corrected", ("np.sqrt(v / (1 - beta2**t))", "np.sqrt(v)")),
        Wrong("step counted twice", ("step = m / (1", "t = t + 1\n    step = m / (1")),
        Wrong("step counted from 0", ("step = m / (1", "t = t - 1\n    step = m / (1")),
        Wrong(
            "t times",
            (
                "m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t))",
                "m / (1 - beta1 * t) / (np.sqrt(v / (1 - beta2 * t))",
            ),
        ),
        Wrong("no decay", (" - lr * decay * p - lr * step", " - lr * step")),
        Wrong("decay without lr", (" - lr * decay * p - lr * step", " - decay * p - lr * step")),
        Wrong(
            "decay last",
            (
                "return p - lr * decay * p - lr * step, m",
                "return (p - lr * step) * (1 - lr * decay), m",
            ),
        ),
        Wrong("no root", ("(np.sqrt(v / (1 - beta2**t)) + eps)", "(v / (1 - beta2**t) + eps)")),
        Wrong("no eps", ("(1 - beta2**t)) + eps)", "(1 - beta2**t)))")),
        Wrong(
            "eps inside",
            ("(np.sqrt(v / (1 - beta2**t)) + eps)", "np.sqrt(v / (1 - beta2**t) + eps)"),
        ),
        Wrong(
            "eps too early",
            ("(np.sqrt(v / (1 - beta2**t)) + eps)", "((np.sqrt(v) + eps) / np.sqrt(1 - beta2**t))"),
        ),
    ),
    check=check,
    draw=draw,
)
