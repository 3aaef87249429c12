"""Formulas as they are shown: their text, their MathML, and that they follow the rules."""

import functools
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from check_ops import checked_ops

import minigrad
from minigrad import viz
from minigrad.autograd.plan import Rule
from minigrad.autograd.primitives import Primitive
from minigrad.ops import attention, divide, multiply, power
from minigrad.ops._numerics import zero_safe
from minigrad.viz.formula.notation import Cases, Sentence, Symbol, Words
from minigrad.viz.formula.printers import mathml
from minigrad.viz.formula.sources import source

FACTOR = 3.0
LETTERS = np.array([1.0, 2.0])


def test_where_a_rule_stands() -> None:
    found = viz.formulas(divide)
    lines = Path(minigrad.ops.elementwise.__file__).read_text(encoding="utf-8").splitlines()
    place, line = found["b"].place.split(":")
    assert place == "minigrad/ops/elementwise.py"
    assert found["b"].source in lines[int(line) - 1]
    assert [f.origin for f in viz.formulas(multiply).values()] == ["rule", "rule"]
    assert [f.origin for f in viz.formulas(power).values()] == ["written", "written"]


def test_an_op_is_found_by_name_or_by_itself() -> None:
    assert viz.formulas("multiply") == viz.formulas(multiply) == viz.formulas(multiply.op)
    assert viz.formulas("argmax") == {}
    with pytest.raises(KeyError, match="'multply'"):
        viz.formulas("multply")


# MathML -------------------------------------------------------------------------------------------

CHILDREN = {"mfrac": 2, "msup": 2, "msub": 2, "msubsup": 3, "munder": 2, "mover": 2}
CORE = {"math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "mtable", "mtr", "mtd", *CHILDREN}
ATTRIBUTES = {
    "displaystyle", "alttext", "accent", "fence", "form", "stretchy", "symmetric", "separator",
    "largeop", "movablelimits", "lspace", "rspace", "mathvariant", "style",
    "class", "height", "depth",
}  # fmt: skip


def test_mathml_is_well_formed_and_core() -> None:
    for formula in [f for name in checked_ops() for f in viz.formulas(name).values()]:
        root = ElementTree.fromstring(formula.mathml)
        assert (root.tag, root.get("alttext")) == ("math", formula.text)
        for element in root.iter():
            assert element.tag in CORE
            assert {*element.keys()} <= ATTRIBUTES
            leaf = element.tag in ("mi", "mn", "mo", "mtext")
            assert len(element) == CHILDREN.get(element.tag, 0 if leaf else len(element))
        assert "http" not in formula.mathml


def test_hostile_names_are_escaped() -> None:
    name = 'a<&">'
    written = mathml(Cases((Symbol(name), Words(name)), (Sentence((Words(name),)),)))
    root = ElementTree.fromstring(written)
    assert [e.text for e in root.iter("mi")] == [name]
    assert name in (root.get("alttext") or "")


# Rules of one's own -------------------------------------------------------------------------------


def op_with(**rules: Callable[..., Any]) -> Primitive:
    """An op that is not in the registry, with arguments a and b, and k that is not an array."""

    def forward(a: Any, b: Any, k: int = 1) -> Any:  # noqa: ARG001
        return a * b

    op = Primitive(forward)
    op.defvjp(**rules)
    return op


def text_of(rule: Callable[..., Any]) -> str:
    return viz.formulas(op_with(a=rule))["a"].text


def test_a_changed_rule_changes_its_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(multiply.op.rules, "a", Rule(multiply.op, lambda g, b: g * b * b))
    monkeypatch.setitem(power.op.rules, "a", Rule(power.op, lambda g, a: g - a))
    assert [f.text for f in viz.formulas("multiply").values()] == ["ḡ ⊙ b²", "ḡ ⊙ a"]
    changed = viz.formulas("power")["a"]
    assert (changed.text, changed.origin) == ("ḡ − a", "rule")


def test_a_written_formula_goes_with_its_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def pull(g: Any, needed: Any, query: Any, key: Any) -> Any:
        scaled = g * 2
        return scaled @ key if needed[0] else None, query if needed[1] else None, g, g

    monkeypatch.setattr(attention.op, "joint", Rule(attention.op, pull, joint=True))
    found = viz.formulas(attention)
    assert [formula.text for formula in found.values()] == ["pull(ḡ, query, key)"] * 4
    assert {formula.origin for formula in found.values()} == {"rule"}


def test_a_formula_of_ones_own() -> None:
    op = op_with(a=lambda g, b, k: sum(g * b for _ in range(k)))
    assert viz.formulas(op)["a"].origin == "rule"
    op.defformula(
        """
        k = float(k)  # how often
        scaled = FACTOR * exp(a - mean(b, -1)) - exp(b)
        """,
        a="k * g * (b * (1 + scaled) - b * scaled)  # as a sum",
    )
    found = viz.formulas(op)["a"]
    assert found.text == (
        "k · ḡ ⊙ (b ⊙ (1 + scaled) − b ⊙ scaled), "
        "where scaled = 3 exp(a − mean_(last axis)(b)) − exp(b)"
    )
    assert (found.notes, found.origin) == (("as a sum", "k: how often"), "written")
    assert "for _ in range(k)" in found.source
    op.defvjp(a=lambda g, b: g * b)
    assert viz.formulas(op)["a"].text == "ḡ ⊙ b"


def test_formulas_that_cannot_be_read() -> None:
    op = op_with(a=lambda g, b: g * b)
    for text, reason in [
        ("g * nothing", "there is no 'nothing'"), ("g *", "it is not Python"),
        ("y = g", "its last line is not an expression"), ("", "it is empty"),
    ]:  # fmt: skip
        op.defformula(a=text)
        with pytest.raises(ValueError, match=f"forward: the formula of 'a' .*{reason}"):
            viz.formulas(op)
    with pytest.raises(TypeError, match="derivative with respect to 'b': define its rule"):
        op.defformula(b="g")


def test_several_rules_on_a_line() -> None:
    op = op_with(a=lambda g, a, b: g * (a - b), b=lambda g, a, b: g * (b - a))  # both in one line
    found = viz.formulas(op)
    assert [f.text for f in found.values()] == ["ḡ ⊙ (a − b)", "ḡ ⊙ (b − a)"]
    inner = op_with(a=lambda g, b: (lambda g, b: g + b)(b, g))
    assert source(inner.rules["a"].function).text == "lambda g, b: (lambda g, b: g + b)(b, g)"  # type: ignore[union-attr]


def test_a_rule_over_several_lines() -> None:
    rule = (
        lambda g, a, b: g
        * (a
           + b)
    )  # fmt: skip
    assert text_of(rule) == "ḡ ⊙ (a + b)"
    assert source(rule).text == "lambda g, a, b: g\n* (a\n   + b)"  # type: ignore[union-attr]


SIGNS: list[tuple[Callable[..., Any], str]] = [
    (lambda g: np.cbrt(g), "∛ḡ"),
    (lambda g, a: np.hypot(g, a), "√(ḡ² + a²)"),
    (lambda g: np.square(g + 1), "(ḡ + 1)²"),
    (lambda g: g * math.sqrt(2), "√2 · ḡ"),
    (lambda g: np.reciprocal(g), "1 / ḡ"),
    (lambda g: np.log2(g) + np.log(g), "log₂(ḡ) + log(ḡ)"),
    (lambda g: np.abs(g) + np.floor(g), "|ḡ| + ⌊ḡ⌋"),
    (lambda g, a: np.minimum(g, a), "min(ḡ, a)"),
    (lambda g, a: np.cross(g, a), "ḡ × a"),
    (lambda g: g.mean() - g.prod(axis=0), "mean(ḡ) − Π₀ ḡ"),
    (lambda g, k: g.max(axis=k) + g.sum(axis=(0, 1)), "max_k(ḡ) + Σ_(0, 1) ḡ"),
    (lambda g: g.sum(axis=-1) * g, "(Σ_(last axis) ḡ) ⊙ ḡ"),
    (lambda g, a: a * g.sum() - g + a * g.sum(), "a ⊙ (Σ ḡ) − ḡ + a ⊙ Σ ḡ"),
    (lambda g: np.linalg.inv(g.mT) @ np.linalg.inv(g).mT, "ḡ⁻ᵀ ḡ⁻ᵀ"),
    (lambda g: g.mT.mT + g.swapaxes(0, 1), "ḡ + swapaxes(ḡ, 0, 1)"),
    (lambda g, a: (g @ a).T + g.transpose(1, 0), "(ḡ a)ᵀ + transpose(ḡ, (1, 0))"),
    (lambda g, a: np.linalg.norm(g, axis=a, ord=1), "norm(ḡ, axis = a, ord = 1)"),
    (lambda g, a: g[1:, ..., ::-1, a == 1], "ḡ[1:, …, ::−1, [a = 1]]"),
    (lambda g: g[..., None] + g[..., None, :], "spread(ḡ) + ḡ[…, None, :]"),
    (lambda g, a_shape: g.reshape(a_shape), "reshape(ḡ, shape(a))"),
    (lambda g, a, a_shape: g.reshape(a.shape), "reshape(ḡ, shape(a))"),
    (lambda g: g.astype(np.float32).copy(), "ḡ"),
    (lambda g: multiply.op.forward(g, 2), "2ḡ"),
    (lambda g, a: minigrad.tanh(a) * g, "tanh(a) ⊙ ḡ"),
    (lambda g, b: g / b / b, "ḡ / b²"),
    (lambda g, b: -(-g * -b), "−ḡ ⊙ b"),
    (lambda g, b: g - (b - g), "ḡ − (b − ḡ)"),
    (lambda g, b: g * 0.25 / (1 / b), "ḡ ⊙ b / 4"),
    (lambda g, b, k: g * k * (b * 3), "3k · ḡ ⊙ b"),
    (lambda g, b: g @ b.T @ (g + b), "ḡ bᵀ (ḡ + b)"),
    (lambda g, b: (g @ b) * b, "(ḡ b) ⊙ b"),
    (lambda g, b: (g * b) @ b, "(ḡ ⊙ b) b"),
    (lambda g, b: (g / b) ** 2, "(ḡ / b)²"),
    (lambda g, b: np.multiply(g, np.negative(b)), "−ḡ ⊙ b"),
    (lambda g, b: g * (b % 2) + b // 2, "ḡ ⊙ (b mod 2) + ⌊b / 2⌋"),
    (lambda g, a, b, k: g * ((k < a) & (a < b)), "ḡ ⊙ [k < a < b]"),
    (lambda g, a, b: g * ((a < 0) | ~(a == b)), "ḡ ⊙ [a < 0 or a ≠ b]"),
    (lambda g, a, b: np.where(a > 0, g, b), "ḡ if a > 0; b otherwise"),
    (lambda g, k: g * (k or 2), "(k if k; 2 otherwise) · ḡ"),
    (lambda g, b, k: g if k > 1 and k != 3 else b, "ḡ if k > 1 and k ≠ 3; b otherwise"),
]


@pytest.mark.parametrize(("rule", "text"), SIGNS, ids=[text for _, text in SIGNS])
def test_signs(rule: Callable[..., Any], text: str) -> None:
    assert text_of(rule) == text


def test_statements() -> None:
    def slope(a: Any, b: Any) -> Any:
        part = a - b
        return part * part

    def rule(g: Any, a: Any, b: Any, k: int) -> Any:
        """Not shown."""
        share = np.exp(a - b) / (1 + np.exp(a - b))
        if k == 2:
            share = share * a
        elif k == 3:
            return g
        used = g
        used = used * share + share
        return used - slope(a, b)

    assert text_of(rule) == (
        "ḡ ⊙ share′ + share′ − part² if k = 2; ḡ if k = 3; ḡ ⊙ share + share − part² otherwise, "
        "where part = a − b, share′ = share ⊙ a, share = exp(a − b) / (1 + exp(a − b))"
    )


def test_what_is_read_of_a_rule_and_what_is_not() -> None:
    """Rules do not write in place: it may change the meaning of another name."""

    def shared(g: Any, a: Any) -> Any:
        twice = g * 2
        other = twice
        other += a
        return twice

    def into(g: Any, a: Any) -> Any:
        new = g * 2
        return np.add(new, a, out=new)

    def assigned(g: Any, a: Any, k: int | None) -> Any:
        if k is not None:
            g = g * a
        return g - 1

    def unbound(g: Any, k: int) -> Any:
        if k:
            FACTOR = 2
        return g * FACTOR

    def zero_safe(slope: Any, g: Any) -> Any:
        return slope + g

    def either(g: Any, a: Any, k: int) -> Any:
        if k > 2:
            used = g * a
        else:
            used = g - a
        return used * 2

    names: dict[str, Any] = {}
    exec("rule = lambda g, a: g * a", names)
    for rule, text in (
        (shared, "shared(ḡ, a)"), (into, "into(ḡ, a)"), (unbound, "unbound(ḡ, k)"),
        (assigned, "(ḡ ⊙ a if k is not None; ḡ otherwise) − 1"),
        (either, "2 used′′, where used′′ = ḡ ⊙ a if k > 2; ḡ − a otherwise"),
        (lambda g, a: g * zero_safe(a, g), "ḡ ⊙ (a + ḡ)"),  # which only has a guard's name
        (names["rule"], "rule(ḡ, a)"),  # without a file
    ):  # fmt: skip
        assert text_of(rule) == text


def test_names_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    captured = 7
    assert text_of(lambda g: g * captured) == "7ḡ"
    assert text_of(lambda g: g * FACTOR) == "3ḡ"
    assert text_of(lambda g: g * LETTERS) == "ḡ ⊙ LETTERS"
    assert text_of(lambda g: g * math.pi / np.e) == "π · ḡ / e"
    monkeypatch.setattr(sys.modules[__name__], "FACTOR", 5.0)  # not what the file says
    assert text_of(lambda g: g * FACTOR) == "5ḡ"


def test_guards_become_notes() -> None:
    found = viz.formulas(op_with(a=lambda g, a: g * zero_safe(1 / a, g)))["a"]
    assert found.text == "ḡ / a"
    assert found.notes == ("0 where ḡ is 0 and the slope is infinite",)


def test_a_loop_is_shown_as_the_function_that_it_is() -> None:
    def summed(g: Any, a: Any) -> Any:
        """Adds `a` three times."""
        for _ in range(3):
            g = g + a
        return g

    found = viz.formulas(op_with(a=summed, b=lambda g, a: 2 * summed(g, a)))
    assert [formula.text for formula in found.values()] == ["summed(ḡ, a)", "2 summed(ḡ, a)"]
    assert found["a"].notes == found["b"].notes == ("summed: adds a three times",)
    assert "for _ in range(3)" in found["a"].source


def test_outputs_that_are_several() -> None:
    def forward(a: Any) -> Any:
        return a, a

    op = Primitive(forward, multiple_outputs=True)
    op.defvjp(a=lambda g, out: g[0] * out[1])
    assert viz.formulas(op)["a"].text == "ḡ₀ ⊙ y₁"
    assert text_of(lambda g, a: g[0] * a) == "ḡ[0] ⊙ a"


@pytest.fixture
def module(tmp_path: Path) -> Iterator[Callable[[str], ModuleType]]:
    """Imports a module from its text, or the same file with another text."""
    path = tmp_path / "rules_of_a_test.py"

    def load(text: str) -> ModuleType:
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = loaded
        spec.loader.exec_module(loaded)
        return loaded

    yield load
    sys.modules.pop(path.stem, None)


def test_a_file_that_changed_is_not_shown_for_what_runs(
    module: Callable[[str], ModuleType],
) -> None:
    old = module("rule = lambda g, a: g * a\n")
    assert text_of(old.rule) == "ḡ ⊙ a"
    new = module("rule = lambda g, a: g / a\n\n")
    assert text_of(new.rule) == "ḡ / a"
    stale = viz.formulas(op_with(a=old.rule))["a"]
    assert (stale.text, stale.source, stale.place) == ("rule(ḡ, a)", "", "")
    assert stale.notes == ("the source of the rule is not at hand",)


def test_rules_that_are_no_plain_functions() -> None:
    class Table(dict[str, Any]):
        """Has no hash."""

        def __call__(self, g: Any, a: Any) -> Any:
            return g * a

    table, op = Table(), op_with()
    half = functools.partial(lambda g, a, factor: g * a * factor, factor=0.5)
    half.__doc__ = "Not shown."
    assert text_of(lambda g, a: table(g, a)) == "rule(ḡ, a)"
    for rule, text in ((table, "function(ḡ, a)"), (lambda g: half(g, 2), "function(ḡ, 2)")):
        op.rules["a"] = Rule(op, rule)
        assert viz.formulas(op)["a"].text == text


def test_a_rule_may_call_whatever_can_be_called() -> None:
    """A ufunc, bound and unbound methods of C, builtins: not all of them have a module."""
    vectorized, shifted = np.frompyfunc(float, 1, 1), functools.partial(np.add, 1)
    for rule, text in {
        lambda g: np.cbrt(g): "∛ḡ",
        lambda g: np.sinc(g): "sinc(ḡ)",
        lambda g: np.add.reduce(g): "reduce(ḡ)",
        lambda g: np.ndarray.sum(g): "sum(ḡ)",
        lambda g: math.hypot(g, 1): "hypot(ḡ, 1)",
        lambda g: max(g): "max(ḡ)",
        lambda g: np.float64(g): "float64(ḡ)",
        lambda g: vectorized(g): f"{vectorized.__name__}(ḡ)",
        lambda g: shifted(g): "function(ḡ)",
    }.items():
        found = viz.formulas(op_with(a=rule))["a"]
        assert (found.text, found.notes) == (text, ())
