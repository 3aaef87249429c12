"""einops and einx on tensors: the values they give on arrays, and every derivative."""

import importlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor
from minigrad.autograd import gradcheck, gradgradcheck

einops = pytest.importorskip("einops")
pytestmark = pytest.mark.needs("einx", "array_api_compat")


class Einx:
    """einx, imported by the first test that uses it: where PyTorch is, that takes seconds."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("einx"), name)


einx: Any = Einx()

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((2, 2, 3, 4))
WEIGHT, SQUARE, BIAS = RNG.standard_normal((4, 5)), RNG.standard_normal((5, 5)), X[0, 0] + 1
INDEX, PAIRS = np.array([[0, 2], [1, 1]]), np.array([[0, 1], [2, 3], [0, 1]])

# A function of tensors or arrays, and the arrays to try it on.
Case = tuple[Any, ...]
IMPORTS = ["minigrad, {0}", "{0}, minigrad", "{0}, numpy; {1}; import minigrad"]
"""In which order the packages may be imported, the other one used in between."""

EINOPS: dict[str, Case] = {
    "rearrange": (lambda x: einops.rearrange(x, "a b c -> c (b a)"), X),
    "split an axis": (lambda x: einops.rearrange(x, "a b (c d) -> d a b c", d=2), X),
    "ellipsis": (lambda x: einops.rearrange(x, "a ... c -> c ... a"), X),
    "new axes": (lambda x: einops.rearrange(x, "a b c -> a 1 b c 1"), X),
    "a list": (lambda x, y: einops.rearrange([x, y], "n a b c -> a (n b) c"), X, Y),
    "repeat": (lambda x: einops.repeat(x, "a b c -> a n (b m) c", n=2, m=3), X),
    "repeat only": (lambda x: einops.repeat(x, "a b c -> n a b c", n=5), X),
    "sum": (lambda x: einops.reduce(x, "a b c -> c a", "sum"), X),
    "mean": (lambda x: einops.reduce(x, "a b c -> b", "mean"), X),
    "max": (lambda x: einops.reduce(x, "a b (c 2) -> a b c", "max"), X),
    "prod": (lambda x: einops.reduce(x, "a b c -> a", "prod"), X),
    "of everything": (lambda x: einops.reduce(x, "... ->", "sum"), X),
    "a function": (lambda x: einops.reduce(x, "a b c -> c", np.var), X),
    "einsum": (lambda x, w: einops.einsum(x, w, "a b c, c d -> d b a"), X, WEIGHT),
    "pack": (lambda x, y: einops.pack([x, y[0]], "* c")[0], X, Y),
    "unpack": (lambda x: einops.unpack(x, [(), (3,)], "a b *")[1:], X),
}

EINX: dict[str, Case] = {
    "id": (lambda x: einx.id("a b (c d) -> d (b a) c", x, d=2), X),
    "ellipsis": (lambda x: einx.id("a b... -> b... a", x), X),
    "broadcast": (lambda x: einx.id("a b c -> a n b c", x, n=2), X),
    "diagonal": (lambda x: einx.id("a b b -> a b", x), X[:, :, :3]),
    "concatenate": (lambda x, y: einx.id("a b c, a b d -> a b (c + d)", x, y), X, Y[..., :2]),
    "sum": (lambda x: einx.sum("a [b] c", x), X),
    "mean": (lambda x: einx.mean("a [b c]", x), X),
    "var": (lambda x: einx.var("a b [c]", x), X),
    "max": (lambda x: einx.max("[a] b c", x), X),
    "logsumexp": (lambda x: einx.logsumexp("a [b c]", x), X),
    "softmax": (lambda x: einx.softmax("a b [c]", x), X),
    "dot": (lambda x, w: einx.dot("a b [c], [c] d -> d a b", x, w), X, WEIGHT),
    "dot of 3": (lambda x, w, z: einx.dot("a b, b c, c d -> d a", x, w, z), X[0], WEIGHT, SQUARE),
    "add": (lambda x, b: einx.add("a b c, c", x, b), X, BIAS),
    "add a number": (lambda x: einx.add("a b c, ", x, 2.0), X),
    "multiply": (lambda x, y: einx.multiply("a b c, a b c -> c b a", x, y), X, Y),
    "maximum": (lambda x, y: einx.maximum("a b c, a b c", x, y), X, Y),
    "where": (lambda k, x, y: einx.where("a b c, a b c, a b c", k, x, y), X > 0, X, Y),
    "get_at": (lambda x, i: einx.get_at("a [b] c, a d -> a d c", x, i), X, INDEX),
    "get_at of two axes": (lambda x, i: einx.get_at("a [b c], d [2] -> d a", x, i), X, PAIRS),
    "flip": (lambda x: einx.flip("a [b] c", x), X),
    "roll": (lambda x: einx.roll("a b [c]", x, shift=3), X),
    "sort": (lambda x: einx.sort("a b [c]", x), X),
}

# What records nothing.
QUESTIONS: dict[str, Case] = {
    "einops any": (lambda k: einops.reduce(k, "a b c -> c a", "any"), X > 0),
    "einops sum of integers": (lambda i: einops.reduce(i, "a b -> a", "sum"), INDEX),
    "less": (lambda x, y: einx.less("a b c, a b c", x, y), X, Y),
    "equal": (lambda x, y: einx.equal("a b c, a b c", x, y), X, X),
    "logical_and": (lambda k, m: einx.logical_and("a b c, a b c", k, m), X > 0, Y > 0),
    "any": (lambda k: einx.any("a [b] c", k), X > 0),
    "count_nonzero": (lambda k: einx.count_nonzero("a [b] c", k), X > 0),
    "argmax": (lambda x: einx.argmax("a b [c]", x), X),
    "argmax of two axes": (lambda x: einx.argmax("a [b c] -> a [2]", x), X),
    "argsort": (lambda x: einx.argsort("a b [c]", x), X),
}


def cases(table: dict[str, Case]) -> pytest.MarkDecorator:
    """Run a test once for each row of a table."""
    rows = [(function, arrays) for function, *arrays in table.values()]
    return pytest.mark.parametrize(("function", "arrays"), rows, ids=table)


def check(function: Callable[..., Any], *arrays: np.ndarray) -> None:
    """What comes out of tensors is what comes out of arrays; floats differentiate twice."""
    tensors = [minigrad.tensor(a, requires_grad=a.dtype.kind == "f") for a in arrays]
    same(function(*tensors), function(*arrays))
    assert gradcheck(function, tensors, directions=2)
    assert gradgradcheck(function, tensors, directions=1)
    narrow = [a.astype(np.float32) if a.dtype.kind == "f" else a for a in arrays]
    for found in several(function(*map(minigrad.tensor, narrow))):
        assert found.dtype == np.float32


def same(results: Any, expected: Any) -> None:
    for found, wanted in zip(several(results), several(expected), strict=True):
        assert type(found) is Tensor
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12, atol=1e-14)


def several(results: Any) -> list[Any]:
    return list(results) if isinstance(results, (list, tuple)) else [results]


def shown_by(code: str) -> list[str]:
    """The words that a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_an_array_beside_a_tensor_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid type"):
        einx.multiply("a b c, c", minigrad.tensor(X, requires_grad=True), BIAS)


@cases(QUESTIONS)
def test_questions(function: Any, arrays: Any) -> None:
    found, wanted = function(*map(minigrad.tensor, arrays)), function(*arrays)
    assert type(found) is Tensor
    assert found.dtype.kind == wanted.dtype.kind
    np.testing.assert_array_equal(found.numpy(), wanted)


class TestEinops:
    @cases(EINOPS)
    def test_values_and_derivatives(self, function: Any, arrays: Any) -> None:
        check(function, *arrays)

    def test_no_mean_of_integers(self) -> None:
        with pytest.raises(NotImplementedError, match="non-floating"):
            einops.reduce(minigrad.tensor(INDEX), "a b -> a", "mean")

    def test_what_only_asks(self) -> None:
        x = minigrad.tensor(X, requires_grad=True)
        assert einops.parse_shape(x, "a _ c") == {"a": 2, "c": 4}
        array = einops.asnumpy(x)
        assert type(array) is np.ndarray
        np.testing.assert_array_equal(array, X)

    def test_pack_and_unpack_undo_each_other(self) -> None:
        tensors = [*map(minigrad.tensor, (X, Y[:, 0], Y[:, :, :2]))]
        packed, shapes = einops.pack(tensors, "a *")
        for tensor, again in zip(tensors, einops.unpack(packed, shapes, "a *"), strict=True):
            np.testing.assert_array_equal(again.numpy(), tensor.numpy())

    def test_nothing_is_copied_that_need_not_be(self) -> None:
        x = minigrad.tensor(X)
        moved = einops.rearrange(x, "a b c -> c a b")
        spread = einops.repeat(x, "a b c -> a b n c", n=1000)
        for view in (moved, spread):
            assert np.shares_memory(view.numpy(), x.numpy())

    @pytest.mark.parametrize("shape", [(0, 3, 4), (2, 0, 4)])
    def test_nothing(self, shape: tuple[int, ...]) -> None:
        x = minigrad.zeros(shape, requires_grad=True)
        assert einops.reduce(x, "a b c -> c", "sum").tolist() == [0.0] * 4
        assert einops.rearrange(x, "a b c -> (a b) c").shape == (0, 4)
        assert einops.repeat(x, "a b c -> a b c n", n=2).shape == (*shape, 2)

    def test_errors_are_its_own(self) -> None:
        with pytest.raises(einops.EinopsError, match=r"\(2, 3, 4\)"):
            einops.rearrange(minigrad.tensor(X), "a b (c d) -> a b c d", d=3)

    def test_others_keep_their_backends(self) -> None:
        assert type(einops.rearrange(X, "a b c -> c a b")) is np.ndarray
        with pytest.raises(RuntimeError, match="unknown to einops"):
            einops.rearrange("abc", "a -> a")

    @pytest.mark.parametrize("imports", IMPORTS)
    def test_whichever_is_imported_first(self, imports: str) -> None:
        first = imports.format("einops", "einops.rearrange(numpy.ones(2), 'a -> a')")
        use = "print(einops.rearrange(minigrad.ones((2, 3)), 'a b -> (a b)').numel())"
        assert shown_by(f"import {first}; {use}") == ["6"]


class TestEinx:
    @cases(EINX)
    def test_values_and_derivatives(self, function: Any, arrays: Any) -> None:
        check(function, *arrays)

    def test_functions_of_ours(self) -> None:
        """einx makes operations in its notation of any function of tensors."""
        norm = einx.arrayapi.adapt_numpylike_reduce(minigrad.norm)
        gate = einx.arrayapi.adapt_numpylike_elementwise(lambda a, b: a * minigrad.sigmoid(b))
        x, b = minigrad.tensor(X, requires_grad=True), minigrad.tensor(BIAS, requires_grad=True)
        np.testing.assert_allclose(norm("a [b] c", x).numpy(), np.linalg.norm(X, axis=1))
        np.testing.assert_allclose(gate("a b c, c", x, b).numpy(), X / (1 + np.exp(-BIAS)))
        assert gradcheck(lambda x, b: gate("a c, c", norm("a [b] c", x), b), [x, b])

    def test_arrays_stay_arrays(self) -> None:
        assert type(einx.id("a b c -> c b a", X)) is np.ndarray

    def test_what_it_has_for_no_array_library(self) -> None:
        x, i, v = minigrad.tensor(BIAS), minigrad.tensor([0]), minigrad.ones(1)
        with pytest.raises(einx.errors.OperationNotSupportedError, match="arrayapi"):
            einx.set_at("[a], b, b -> [a]", x, i, v)

    @pytest.mark.slow
    @pytest.mark.parametrize("imports", IMPORTS)
    def test_whichever_is_imported_first(self, imports: str) -> None:
        first = imports.format("einx", "einx.id('a -> a', numpy.ones(2))")
        use = "print(einx.id('a b -> (a b)', minigrad.ones((2, 3))).numel())"
        assert shown_by(f"import {first}; {use}") == ["6"]


def test_the_functions_of_einops_are_found_here_too() -> None:
    assert minigrad.einops.rearrange is einops.rearrange
    for name in einops.__all__:
        assert getattr(minigrad.einops, name) is getattr(einops, name)
    assert "einops" not in minigrad.__all__  # `from minigrad import *` needs no package


def test_without_einops_there_is_one_line() -> None:
    code = """
import sys
sys.modules["einops"] = None
import minigrad
from minigrad import *
for use in ("minigrad.einops", "from minigrad.einops import rearrange"):
    try: exec(use)
    except ImportError as error: print(error)
"""
    missing = "minigrad.einops: einops is missing: pip install einops"
    assert " ".join(shown_by(code)) == f"{missing} {missing}"
