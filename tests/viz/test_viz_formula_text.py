"""The line of text of a formula is mathematics: taken at its word, it gives the rule's numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from minigrad.autograd.primitive import registry
from minigrad.ops import activation
from minigrad.viz import formulas

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SIGNS = {
    "ḡ": "g", "⊙": "*", "·": "*", "−": "-", "≤": "<=", "≥": ">=", "≠": "!=", " = ": " == ",
    "[": "(", "]": ")", "^": "**", "log₂": "log2", "log₁₀": "log10", "∞": "inf",
}  # fmt: skip
NAMES = {
    name: getattr(np, name)
    for name in ("cos", "cosh", "exp", "inf", "log", "log2", "log10", "pi", "sign", "sin", "sinh",
                 "sqrt", "tanh", "e", "floor", "abs")
} | {"σ": activation.sigmoid.op.forward, "erf": activation.erf.op.forward, "π": np.pi}  # fmt: skip


def as_python(text: str) -> str:
    """A formula as an expression of Python, sign by sign."""
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda m: f"**({m[0].translate(SUPERSCRIPTS)})", text)
    for sign, operator in SIGNS.items():
        text = text.replace(sign, operator)
    text = re.sub(r"⌊(.*?)⌋", r"floor(\1)", re.sub(r"\|(.*?)\|", r"abs(\1)", text))
    text = re.sub(r"√(\w)", r"sqrt(\1)", text).replace("√(", "sqrt(")
    text = re.sub(r"(?<![\w.])(\d[\d.]*)(?=[^\W\d]|\()", r"\1*", text)  # 2y is 2 * y
    cases = [part.partition(" if ")[::2] for part in text.split("; ")]
    *chosen, last = [(value, condition) for value, condition in cases]
    ends = last[0].removesuffix(" otherwise")
    for value, condition in reversed(chosen):
        condition = condition.replace("“", "'").replace("”", "'")
        ends = f"(({value}) if {condition} else ({ends}))"
    return ends


def test_signs_are_taken_at_their_word() -> None:
    assert as_python("−2ḡ ⊙ y² / √(1 − x)") == "-2*g * y**(2) / sqrt(1 - x)"
    assert as_python("ḡ if k = 2; 0 otherwise") == "((g) if k == 2 else (0))"


ELEMENTWISE = [
    "abs", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cbrt",
    "copysign", "cos", "cosh", "deg2rad", "divide", "erf", "exp", "exp2", "expm1", "floor", "hypot",
    "log", "log10", "log1p", "log2", "logaddexp", "maximum", "minimum", "multiply", "negative",
    "power", "rad2deg", "reciprocal", "relu", "remainder", "sigmoid", "silu", "sin", "sinh",
    "softplus", "sqrt", "square", "subtract", "tan", "tanh",
]  # fmt: skip


def test_the_text_gives_the_numbers_of_the_rule() -> None:
    for name in ELEMENTWISE:
        agree(name)


def agree(name: str) -> None:
    op, rng = registry[name], np.random.default_rng(len(name))
    low = 1.5 if name == "arccosh" else 0.1
    names: dict[str, Any] = {p: rng.uniform(low, low + 0.8, 7) for p in op.params[: op.arrays]}
    names |= dict(zip(op.params[op.arrays :], op.defaults[op.arrays :], strict=True))
    out = op.forward(*names.values())
    names |= {"g": rng.normal(size=7), "out": out, "y": out}
    for argument, formula in formulas(name).items():
        rule = op.rules[argument]
        right = rule.function(names["g"], *(names[need] for need in rule.needs))
        said = eval(as_python(formula.text), {**NAMES, **names})
        np.testing.assert_allclose(
            np.broadcast_to(said, right.shape), right, rtol=1e-9, err_msg=name
        )


def test_the_text_of_cases() -> None:
    op, x = registry["gelu"], np.linspace(-2, 2, 9)
    for approximate in ("none", "tanh"):
        body, _, rest = formulas("gelu")["x"].text.partition(", where ")
        names = {**NAMES, "g": np.cos(x), "x": x, "approximate": approximate, "tanh": np.tanh}
        for definition in rest.split(", "):
            name, _, term = definition.partition(" = ")
            names[name] = eval(as_python(term), names)
        right = op.rules["x"].function(np.cos(x), x, approximate)
        np.testing.assert_allclose(eval(as_python(body), names), right, rtol=1e-9)
