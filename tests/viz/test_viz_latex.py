r"""Formulas as LaTeX: every one is ASCII, balanced, and free of signs that LaTeX would misread."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

import minigrad
from minigrad import nn, viz
from minigrad.autograd import primitive
from minigrad.autograd.primitive import registry
from minigrad.viz import formulas
from minigrad.viz.formula import notation as n
from minigrad.viz.formula.latex import latex, prose

COMMANDS = {
    "ast", "bar", "begin", "bmod", "cdot", "delta", "end", "frac", "ge", "infty", "ldots", "le",
    "left", "lfloor", "lvert", "mathbin", "mathit", "mathopen", "mathrm", "ne", "odot",
    "operatorname", "overline", "paragraph", "pi", "prime", "rfloor", "right", "rvert", "sigma",
    "sqrt", "star", "sum", "prod", "text", "textasciicircum", "textbackslash", "texttt", "times",
    "top",
}  # fmt: skip
"""Of LaTeX itself, amsmath and amssymb."""


def check(text: str) -> None:
    """Refuse what LaTeX would misread."""
    assert text.isascii()
    assert {*re.findall(r"\\([A-Za-z]+)", text)} <= COMMANDS
    plain = re.sub(r"\\[^A-Za-z]", "", text)  # without \_ \{ \\ and so on
    assert not re.search(r"[#%]", plain)
    assert plain.count("$") % 2 == 0
    depth = 0
    for sign in plain:
        depth += (sign == "{") - (sign == "}")
        assert depth >= 0
    assert depth == 0
    for begin, end in ((r"\\left\b", r"\\right\b"), (r"\\begin\b", r"\\end\b")):
        assert len(re.findall(begin, text)) == len(re.findall(end, text))
    for word in re.findall(r"\\(?:text|mathit|operatorname|mathrm)\{([^{}]*)\}", plain):
        assert "_" not in word
        assert "^" not in word
        assert "&" not in word


def test_every_formula() -> None:
    found = {(name, argument): formula.latex
             for name in registry for argument, formula in formulas(name).items()}  # fmt: skip
    assert len(found) > 200
    for text in found.values():
        check(text)


@pytest.mark.parametrize(
    ("notation", "expected"),
    [
        (n.Number("1e-12"), "{10^{-12}}"),
        (n.Number("2.5e-7"), r"{2.5 \times 10^{-7}}"),
        (n.Number("∞"), r"\infty"),
        (n.Symbol("g", bar=True), r"\bar{g}"),
        (n.Symbol("grad_out", bar=True), r"\overline{\mathit{grad\_out}}"),
        (n.Symbol("T", upright=True), r"\top"),
        (n.Symbol("−T", upright=True), r"-\top"),
        (n.Symbol("e", upright=True), r"\mathrm{e}"),
        (n.Symbol("λ"), r"\lambda"),
        (n.Symbol("Ω"), r"\Omega"),
        (n.Symbol("größe"), r"\mathit{gro\text{U+00DF}e}"),
        (n.Symbol("", upright=True), ""),
        (n.Words("100 % of {a_b} & “c”"), r"\text{100 \% of \{a\_b\} \& ``c''}"),
        (n.Root(n.Symbol("x"), 3), r"\sqrt[3]{x}"),
        (n.enclosed(n.Symbol("x"), "|", "|"), r"\lvert x\rvert"),
        (n.Large("Π", n.Symbol("x"), n.Symbol("i")), r"\prod_{i} x"),
        (n.Script(n.Minus(n.Symbol("x")), above=n.Number("2")), "(-x)^{2}"),
        (n.Infix((n.Symbol("a"), n.Symbol("b")), ("is not",), n.Level.RELATION),
         r"a \text{ is not } b"),
    ],
)  # fmt: skip
def test_notations(notation: n.Notation, expected: str) -> None:
    text = latex(notation)
    assert text == expected
    assert text.isascii()


def test_a_row_that_begins_with_a_bracket_is_no_argument_of_the_line_break() -> None:
    factor = n.enclosed(n.Symbol("x"), "[", "]")
    text = latex(n.Cases((n.Number("1"), factor), (n.Symbol("c"),)))
    assert r"\\ {}[x]" in text


def test_prose() -> None:
    assert prose("0 where ḡ is 0, x̄ ≥ y_1 \\ ~ 5 % → №") == (
        r"0 where $\bar{g}$ is 0, $\bar{x}$ $\ge$ y\_1 \textbackslash{} \textasciitilde{} 5 \% "
        r"$\to$ $No$"
    )


def test_an_explanation_as_the_body_of_a_document() -> None:
    @primitive
    def my_op(x, tensor_b):  # type: ignore[no-untyped-def]
        return x * tensor_b

    my_op.defvjp(x=lambda g, tensor_b: g * tensor_b, tensor_b=lambda g, x: g * x)
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU())
    x = minigrad.randn(2, 3, requires_grad=True)
    loss = (my_op(minigrad.concatenate([model(x), model(x)]), 2.0 * x.sum()) ** 2).mean()
    text = viz.explain(loss, x=x).to_latex()
    check(text)
    steps = re.findall(r"\\paragraph\{Step (\d+): \\texttt\{(.*?)\}( in \\texttt\{.*?\})?\}", text)
    assert [int(number) for number, *_ in steps] == [*range(1, len(steps) + 1)]
    assert {("layer\\_norm", r" in \texttt{1}"), ("my\\_op", "")} <= {tuple(s[1:]) for s in steps}
    assert text.count(r"\begin{align*}") == len(steps)
    assert r"\overline{\mathit{tensor\_b}} &= \bar{g} \odot x" in text
    assert r"\overline{\mathit{tensors}}[1] &= " in text
    assert r"weight is \texttt{0.weight}" in text


def test_a_trace_has_the_formulas_of_its_calls() -> None:
    x = minigrad.randn(2, 3, requires_grad=True)
    with viz.trace() as traced:
        minigrad.norm(x).backward()
    explained = viz.explain(traced)
    check(explained.to_latex())
    assert r"\begin{cases}" not in explained.to_latex()
    for again in (copy.deepcopy(explained), pickle.loads(pickle.dumps(explained))):
        assert again == explained
        assert again.to_latex() == explained.to_latex()


def test_hostile_names() -> None:
    x = minigrad.randn(2, requires_grad=True)
    text = viz.explain((x * x).sum(), **{"a_b`$%{\\&": x}).to_latex()
    check(text)
    assert r"a\_b`\$\%\{\textbackslash{}\&" in text


def test_a_rule_without_a_formula() -> None:
    @primitive
    def loops(x):  # type: ignore[no-untyped-def]
        return x + 0

    def rule(g):  # type: ignore[no-untyped-def]
        for _ in range(2):
            g = g * 1
        return g

    loops.defvjp(x=rule)
    check(viz.explain(loops(minigrad.ones(2, requires_grad=True)).sum()).to_latex())
