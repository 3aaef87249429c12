"""Explanations of a step: index forms against the rules themselves, and the texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reading import by_id, watched

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.autograd.primitive import registry
from minigrad.viz.explanation.explanations import (
    explain_broadcast,
    explain_saved,
)
from minigrad.viz.explanation.matrix_products import Term, product
from minigrad.viz.explanation.missing_gradients import missing_gradients

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
class TestProducts:
    """What is shown with indices is what the op and its rules compute."""

    def test_the_forward_product(self, op: str, shapes: dict[str, Any]) -> None:
        found = product(op, shapes)
        arrays = [np.random.default_rng(0).standard_normal(shape) for shape in shapes.values()]
        expected = getattr(minigrad.ops, op)(*arrays)
        np.testing.assert_allclose(
            np.einsum(subscripts(found.factors, found.out), *arrays), expected, rtol=1e-12
        )

    def test_every_share(self, op: str, shapes: dict[str, Any]) -> None:
        found = product(op, shapes)
        tensors = {name: leaf(*shape) for name, shape in shapes.items()}
        out = getattr(minigrad.ops, op)(*tensors.values())
        g = np.random.default_rng(1).standard_normal(out.shape)
        out.backward(g)
        for name, tensor in tensors.items():
            share = found.share(name)
            other = tensors[share.factors[1].name].numpy()
            gradient = np.einsum(subscripts(share.factors, share.target.indices), g, other)
            np.testing.assert_allclose(gradient, tensor.grad.numpy(), rtol=1e-12)
            ones = np.einsum(
                subscripts(share.factors, share.target.indices),
                np.ones_like(g),
                np.ones_like(other),
            )
            assert np.all(ones == share.uses)

    def test_as_matrices(self, op: str, shapes: dict[str, Any]) -> None:
        found = product(op, shapes)
        rng = np.random.default_rng(2)
        size = found.lengths
        arrays = {"g": rng.standard_normal([size[index] for index in found.out])}
        arrays |= {name: rng.standard_normal(shape) for name, shape in shapes.items()}
        for name, shape in shapes.items():
            share = found.share(name)
            given = [arrays[term.name] for term in share.factors]
            expected = np.einsum(subscripts(share.factors, share.target.indices), *given)
            if not share.matrices:
                continue
            matrices = []
            for term, turned in share.matrices:
                array = arrays[term.name]
                stacked = all(set(t.indices) >= set(term.indices[:-2]) for t in share.factors)
                if not (stacked and set(term.indices[:-2]) <= set(share.target.indices)):
                    array = array.reshape(-1, array.shape[-1])  # all leading axes are rows
                matrices.append(array.swapaxes(-1, -2) if turned else array)
            result = matrices[0] @ matrices[1]
            np.testing.assert_allclose(result.reshape(shape), expected, rtol=1e-12)


def test_other_ops_and_broadcast_stacks_are_no_products() -> None:
    assert product("add", {"a": (3,), "b": (3,)}) is None
    assert product("matmul", {"a": (1, 5, 3), "b": (2, 3, 4)}) is None
    assert product("linear", {"x": (1,) * 9 + (3,), "weight": (4, 3)}) is None


@pytest.mark.parametrize(
    ("raw", "shape", "said"),
    [
        (
            (4, 3),
            (3,),
            "4 times, for 4×3. Each use sends a share, and shares add up: the sum",
        ),
        ((4, 3), (4, 1), "3 times, for 4×3"),
        ((2, 4, 3), (4, 1), "6 times, for 2×4×3"),
        ((5,), (), "the sum over axis 0 makes scalar of 5"),
    ],
)
def test_unbroadcasting_in_words(raw: Any, shape: Any, said: str) -> None:
    assert said in explain_broadcast(raw, shape)


def test_the_axes_of_unbroadcasting_are_those_of_the_engine() -> None:
    assert explain_broadcast((3,), (3,)) == ""
    assert "over axes 0 and 2" in explain_broadcast((2, 4, 3), (4, 1))
    assert "over axes 0, 1 and 2" in explain_broadcast((2, 4, 3), (1,))


def test_every_op_says_what_each_saved_array_is_for() -> None:
    """Also fused ops, and those of several tensors."""
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    graph = watched(
        lambda: minigrad.concatenate(
            [layer(minigrad.randn(2, 3, 8)), minigrad.ones(2, 1, 8)], axis=1
        ).sum()
    )
    for node in [*graph.nodes, *(group.op for group in graph.groups if group.op)]:
        if node.kind in ("op", "fused") and node.label in registry:
            named = {name for name, why in explain_saved(node, None) if why}
            assert {one.name for one in node.saved} <= named


class TestMissing:
    """Why is there no gradient here?"""

    def explained(self, traced: viz.Trace, **names: Any) -> dict[str, str]:
        graph = traced.graph(**names)
        labels = by_id(graph)
        labels |= {group.id: group.name for group in graph.groups}
        return {labels[box]: why for box, why in missing_gradients(graph).items()}

    def test_a_frozen_parameter_and_data(self) -> None:
        model = nn.Linear(3, 2)
        model.weight.requires_grad_(False)
        x = minigrad.randn(5, 3)
        with viz.trace() as traced:
            model(x).sum().backward()
        found = self.explained(traced, x=x)
        assert set(found) == {"x", "weight"}
        assert "frozen" in found["weight"]
        assert "given from outside" in found["x"]

    def test_what_nothing_reads_and_what_has_not_run(self) -> None:
        x = leaf(3)
        with viz.trace() as traced:
            unused = minigrad.cos(x)
            minigrad.exp(x).sum()
        assert unused.shape == (3,)
        assert set(self.explained(traced, x=x).values()) == {"No backward pass has run yet."}
        with viz.trace() as traced:
            unused = minigrad.cos(x)
            minigrad.exp(x).sum().backward()
        assert "tensors that do not depend on it" in self.explained(traced, x=x)["cos"]

    def test_constants_only(self) -> None:
        x = leaf(3)
        with viz.trace() as traced:
            scale = minigrad.ones(3) * minigrad.ones(3)
            (x * scale).sum().backward()
        found = self.explained(traced, x=x)
        assert "Nothing that it reads requires a gradient" in found["multiply"]
