"""viz.explain: plans, reports, index forms, the user's lines, LaTeX."""

import copy
import linecache
import pickle
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reading import data_of, variable, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd import checkpoint, primitive
from minigrad.autograd.primitives import registry
from minigrad.nn import functional as F
from minigrad.viz import formulas
from minigrad.viz.explanation.explanations import explain_broadcast, explain_saved, source_lines
from minigrad.viz.explanation.matrix_products import Term, share_of
from minigrad.viz.explanation.report import planned
from minigrad.viz.formula import notation as n
from minigrad.viz.formula.printers import latex, prose


def test_the_plan_is_what_then_happens() -> None:
    """Order, targets, contributions, shapes: the plan against the trace of the same pass."""
    minigrad.random.seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, norm_first=True)
    x, c = minigrad.randn(2, 3, 8, requires_grad=True), minigrad.randn(3, 1, requires_grad=True)
    with viz.trace() as traced:
        h = layer(x)
        one, other = minigrad.split(h * c, 4, dim=-1)
        square = one @ other[0].swapaxes(-1, -2) + other[1] @ one.swapaxes(-1, -2)
        row = other[0, 0] @ one.swapaxes(-1, -2) + one @ other[1, 1]
        loss = (square - minigrad.exp(c) + one[:, [0, 0, 1], :3]).mean() + row.sum()
        plan, _ = planned(loss._node, {})  # type: ignore[arg-type]
        loss.backward()
    happened = traced.graph().steps
    assert len(plan.steps) == len(happened) > 30
    for told, real in zip(plan.steps, happened, strict=True):
        assert (told.op, told.cotangent.shape) == (real.op, real.cotangent.shape)
        assert len(told.parts) == len(real.parts)
        for expected, part in zip(told.parts, real.parts, strict=True):
            assert (expected.name, expected.sent.shape) == (part.name, part.sent.shape)
            assert (expected.arrival, expected.arrivals) == (part.arrival, part.arrivals)
            if registry[told.op].joint is None:
                assert expected.raw_shape == part.raw_shape, (told.op, part.name)


def test_a_plan_runs_and_changes_nothing() -> None:
    calls: list[str] = []

    @primitive
    def watched(x: Any) -> Any:
        return x * 2

    def rule(g: Any) -> Any:
        calls.append("rule")
        return g * 2

    watched.defvjp(x=rule)
    x = minigrad.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda g: calls.append("hook"))
    loss = checkpoint(lambda x: calls.append("forward") or watched(x), x).sum()
    del calls[:]
    state = minigrad.random.get_state()
    assert viz.explain(loss) == viz.explain(loss)
    assert not calls
    assert x.grad is None
    assert state == minigrad.random.get_state()
    loss.backward()
    assert calls == ["forward", "rule", "hook"]
    np.testing.assert_array_equal(x.grad, [2.0, 2.0])


def test_a_freed_graph_says_so() -> None:
    loss = minigrad.exp(variable(1.0)).sum()
    assert "freed" not in viz.explain(loss)
    loss.backward()
    assert "an earlier pass freed what was saved" in viz.explain(loss)


def test_what_cannot_be_explained_is_refused() -> None:
    x = minigrad.ones(3, requires_grad=True)
    graph = viz.graph(nn.Linear(2, 2), minigrad.ones(1, 2))
    traced = watched(lambda: (x * x).sum().backward())
    for error, why, target, names in (
        (RuntimeError, "has no graph", minigrad.ones(3), {}),
        (RuntimeError, "it is a leaf", x, {}),
        (TypeError, "Tensor, Graph or Trace.*int", 3, {}),
        (RuntimeError, "no backward pass was traced", graph, {}),
        (ValueError, "y is not a leaf", x * x, {"y": minigrad.ones(3, requires_grad=True)}),
        (TypeError, "has its names already", traced, {"x": x}),
    ):
        with pytest.raises(error, match=why):
            viz.explain(target, **names)


SHAPES = [
    ("linear", {"x": (5, 3), "weight": (4, 3)}),
    ("linear", {"x": (2, 5, 3), "weight": (4, 3)}),
    ("linear", {"x": (3,), "weight": (4, 3)}),
    ("linear", {"x": (2, 6, 5, 3), "weight": (4, 3)}),
    ("matmul", {"a": (5, 3), "b": (3, 4)}),
    ("matmul", {"a": (2, 5, 3), "b": (3, 4)}),
    ("matmul", {"a": (5, 3), "b": (2, 3, 4)}),
    ("matmul", {"a": (2, 6, 5, 3), "b": (2, 6, 3, 4)}),
    ("matmul", {"a": (6, 5, 3), "b": (2, 6, 3, 4)}),
    ("matmul", {"a": (3,), "b": (3, 4)}),
    ("matmul", {"a": (5, 3), "b": (3,)}),
    ("matmul", {"a": (3,), "b": (3,)}),
]


def subscripts(factors: tuple[Term, Term], out: str) -> str:
    """A product as `numpy.einsum` writes it."""
    return f"{','.join(term.indices for term in factors)}->{out}"


def leaf(*shape: int) -> Tensor:
    return minigrad.randn(*shape, dtype="float64", requires_grad=True)


@pytest.mark.parametrize(("op", "shapes"), SHAPES)
def test_what_is_shown_with_indices_is_what_the_op_and_its_rules_compute(
    op: str, shapes: dict[str, Any]
) -> None:
    """Also as products of matrices, some of them turned."""
    tensors = {name: leaf(*shape) for name, shape in shapes.items()}
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    out = getattr(minigrad.ops, op)(*tensors.values())
    share = share_of(op, next(iter(shapes)), shapes)
    g, other = share.factors
    computed = np.einsum(subscripts((share.target, other), g.indices), *arrays.values())
    np.testing.assert_allclose(computed, out.numpy(), rtol=1e-12)
    arrays["g"] = np.random.default_rng(1).standard_normal(out.shape)
    out.backward(arrays["g"])
    for name, tensor in tensors.items():
        share, matrices = share_of(op, name, shapes), []
        given, formula = [arrays[term.name] for term in share.factors], share.target.indices
        sums = subscripts(share.factors, formula)
        gradient = tensor.grad.numpy()
        np.testing.assert_allclose(np.einsum(sums, *given), gradient, rtol=1e-12)
        assert np.all(np.einsum(sums, *map(np.ones_like, given)) == share.uses)
        for term, turned in share.matrices or ():
            array, leading = arrays[term.name], set(term.indices[:-2])
            stacked = all(set(t.indices) >= leading for t in share.factors)
            if not (stacked and leading <= set(formula)):
                array = array.reshape(-1, array.shape[-1])  # all leading axes are rows
            matrices.append(array.swapaxes(-1, -2) if turned else array)
        if matrices:
            result = (matrices[0] @ matrices[1]).reshape(tensor.shape)
            np.testing.assert_allclose(result, gradient, rtol=1e-12)


def test_other_ops_and_broadcast_stacks_are_no_products() -> None:
    assert share_of("add", "a", {"a": (3,), "b": (3,)}) is None
    assert share_of("matmul", "a", {"a": (1, 5, 3), "b": (2, 3, 4)}) is None
    assert share_of("linear", "x", {"x": (1,) * 9 + (3,), "weight": (4, 3)}) is None
    assert share_of("linear", "bias", {"x": (2, 3), "weight": (4, 3), "bias": (4,)}) is None


@pytest.mark.parametrize(
    ("raw", "shape", "said"),
    [
        ((4, 3), (3,), "4 times, for 4×3. Each use sends a share, and shares add up: the sum"),
        ((4, 3), (4, 1), "3 times, for 4×3"), ((2, 4, 3), (4, 1), "6 times, for 2×4×3"),
        ((5,), (), "the sum over axis 0 makes scalar of 5"), ((3,), (3,), ""),
        ((2, 4, 3), (4, 1), "over axes 0 and 2"), ((2, 4, 3), (1,), "over axes 0, 1 and 2"),
    ],
)  # fmt: skip
def test_unbroadcasting_in_words(raw: Any, shape: Any, said: str) -> None:
    found = explain_broadcast(raw, shape)
    assert said in found
    assert bool(found) == bool(said)


def test_every_op_says_what_each_saved_array_is_for() -> None:
    """Also fused ops, and those of several tensors."""
    layer, x = nn.TransformerEncoderLayer(8, 2, 16), minigrad.randn(2, 3, 8)
    graph = watched(lambda: minigrad.concatenate([layer(x), x[:, :1]], axis=1).sum())
    for node in graph.nodes:
        if node.kind == "op" and node.label in registry:
            named = {name for name, why in explain_saved(node, None) if why}
            assert {one.name for one in node.saved} <= named


SOURCE = """\
from minigrad import ones, viz
x = ones(3, requires_grad=True)
with viz.trace() as traced:
    y = x * x
    # the largest
    z = y.max()
z.backward()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(SOURCE)
    return path


def test_the_lines_keep_their_indentation(file: Path) -> None:
    graph = runpy.run_path(str(file))["traced"].graph()
    multiply, largest = (node.line for node in graph.nodes if node.kind == "op")
    lines = SOURCE.splitlines()
    assert source_lines(multiply) == tuple(lines[2:5])
    assert source_lines(largest) == tuple(lines[4:7])
    assert "# the largest" in str(data_of(graph.to_html()))


def test_what_is_not_in_the_file_is_not_quoted_and_what_is_long_is_cut(file: Path) -> None:
    assert source_lines(f"{file}:4: y = x * x") is not None
    for line in (f"{file}:4: y = x + x", f"{file}:5: y = x * x", "", "<stdin>:1", "gone.py:1: y"):
        assert source_lines(line) is None
    alone, long = file.with_name("alone.py"), file.with_name("long.py")
    alone.write_text("y = x * x\n")
    assert source_lines(f"{alone}:1: y = x * x") is None  # it says no more than itself
    long.write_text(f"a = '{'x' * 500}'\nb = a\n")
    first, *others = source_lines(f"{long}:2: b = a")
    assert len(first) < 200
    assert others == ["b = a", ""]


def test_what_a_neighbour_says_runs_nothing(file: Path) -> None:
    file.write_text(SOURCE.replace("# the largest", "# </script><script>alert(1)</script>"))
    page = runpy.run_path(str(file))["traced"].graph().to_html()
    assert "<script>alert" not in page
    assert "alert(1)" in str(data_of(page))


def test_in_a_notebook_cells_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    name, lines = "<ipython-input-1>", ["x = 1\n", "y = t * t\n"]
    monkeypatch.setitem(linecache.cache, name, (0, None, lines, name))
    code = compile("".join(lines), name, "exec")
    (line,) = (
        node.line
        for node in watched(lambda: exec(code, {"t": minigrad.ones(2)})).nodes
        if node.kind == "op"
    )
    assert source_lines(line) == ("x = 1", "y = t * t", "")


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
    found = [formula.latex for name in registry for formula in formulas(name).values()]
    assert len(found) > 200
    for text in found:
        check(text)


BRACKETED = n.enclosed(n.Symbol("x"), "[", "]")
BRACKET_ROW = n.Cases((n.Number("1"), BRACKETED), (n.Symbol("c"),))
"""A row that begins with a bracket is no argument of the line break."""


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
        (BRACKET_ROW, r"\\ {}[x]"),
    ],
)  # fmt: skip
def test_notations(notation: n.Notation, expected: str) -> None:
    text = latex(notation)
    assert expected in text if notation == BRACKET_ROW else text == expected
    assert text.isascii()


def test_prose() -> None:
    assert prose("0 where ḡ is 0, x̄ ≥ y_1 \\ ~ 5 % → №") == (
        r"0 where $\bar{g}$ is 0, $\bar{x}$ $\ge$ y\_1 \textbackslash{} \textasciitilde{} 5 \% "
        r"$\to$ $No$"
    )


def test_an_explanation_as_the_body_of_a_document() -> None:
    """Of an op of a program, and names that LaTeX would misread."""

    @primitive
    def my_op(x, tensor_b, by=2.0):  # type: ignore[no-untyped-def]
        return x * tensor_b * by

    my_op.defvjp(x=lambda g, tensor_b, by: g * by * tensor_b, tensor_b=lambda g, x, by: g * by * x)
    model = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.GELU())
    x = minigrad.randn(2, 3, requires_grad=True)
    loss = (my_op(minigrad.concatenate([model(x), model(x)]), 2.0 * x.sum(), by=3.0) ** 2).mean()
    text = viz.explain(loss, **{"a_b`$%{\\&": x}).to_latex()
    check(text)
    assert text.count(r"\begin{align*}") == text.count(r"\paragraph{Step ") > 5
    assert r"\overline{\mathit{tensor\_b}} &= 3\bar{g} \odot x" in text
    assert r"\overline{\mathit{tensors}}[1] &= " in text
    assert r"a\_b`\$\%\{\textbackslash{}\&" in text


def test_a_trace_has_the_formulas_of_its_calls() -> None:
    x = minigrad.randn(2, 3, requires_grad=True)
    explained = viz.explain(watched(lambda: minigrad.norm(x).backward()))
    check(explained.to_latex())
    assert r"\begin{cases}" not in explained.to_latex()
    for again in (copy.deepcopy(explained), pickle.loads(pickle.dumps(explained))):
        assert again == explained
        assert again.to_latex() == explained.to_latex()


def test_numbers_are_those_of_the_step_whatever_changes_later() -> None:
    x = variable(2.0, 5.0)
    with viz.trace() as trace:
        (x * x).sum().backward()
        x.data[...] = 100.0
    np.testing.assert_array_equal(trace.graph().steps[1].given["b"], [2.0, 5.0])


def test_large_arrays_are_not_kept() -> None:
    x = minigrad.ones(40_000, requires_grad=True)
    steps = watched(lambda: (x * x).sum().backward()).steps
    assert [step.given is None for step in steps] == [False, True]


def test_a_formula_of_static_arguments_leaves_out_what_the_call_does_not_use() -> None:
    assert "if approximate" in viz.formulas("gelu")["x"].text
    assert " if " not in viz.formulas("gelu", approximate="none")["x"].text
    assert "tanh" in viz.formulas("gelu", approximate="tanh")["x"].text
    assert viz.formulas("norm", ord=1, axis=0)["x"].text == "spread₀(ḡ) ⊙ sign(x)"
    with pytest.raises(TypeError, match="gelu has no argument axis"):
        viz.formulas("gelu", axis=0)


def test_so_does_one_of_what_is_not_given() -> None:
    x, attention = minigrad.ones(1, 2, 4, requires_grad=True), F.scaled_dot_product_attention
    graph = watched(lambda: attention(x, x, x).sum().backward())
    for text in (viz.explain(graph), viz.explain(attention(x, x, x))):
        found = " ".join(text.split())
        assert "A = ḡ valueᵀ, P = exp(scale · query keyᵀ − lse)" in found
        assert not re.search("allowed|dropout|bias", found)
