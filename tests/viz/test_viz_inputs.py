"""What a graph is given: functions, token ids, masks and caches; nothing of it is changed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from reading import by_id, labels

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Graph


def given(graph: Graph) -> list[tuple[str, str]]:
    return [(node.kind, node.label) for node in graph.nodes if node.kind in ("input", "constant")]


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.attention = nn.MultiHeadAttention(8, 2)
        self.norm = nn.BatchNorm1d(8)

    def forward(self, ids: Tensor, mask: np.ndarray | None = None) -> Tensor:
        h = self.embedding(ids)
        return self.norm(self.attention(h, h, h, attn_mask=mask)[:, 0])


def test_a_function_is_run_on_copies_of_its_inputs() -> None:
    x = minigrad.tensor([1.0, 2.0])
    graph = viz.graph(lambda x: x * x, x)
    assert [(node.kind, node.label) for node in graph.nodes] == [
        ("input", "x"), ("op", "multiply"), ("output", "output")
    ]  # fmt: skip
    assert not x.requires_grad
    assert given(viz.graph(lambda a, *, b: a @ b, np.ones((2, 2)), b=np.eye(2))) == [
        ("input", "a"), ("input", "b")
    ]  # fmt: skip
    with pytest.raises(TypeError, match=r"graph: <lambda>: missing a required argument: 'x'"):
        viz.graph(lambda x: x)
    with pytest.raises(RuntimeError, match="the output of <lambda> .* has no graph"):
        viz.graph(lambda x: x.detach() * 2, x)


def test_a_function_need_have_no_signature() -> None:
    """Python knows none of `getattr`, and before NumPy 2.4 none of a ufunc."""
    x = minigrad.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert labels(viz.graph(np.sin, x), "op") == ["sin"]
    assert given(viz.graph(getattr, x, "T")) == [("input", "args[0]")]


@pytest.mark.parametrize("wrap", [np.array, minigrad.tensor], ids=["array", "tensor"])
def test_token_ids_and_masks_are_inputs(wrap: object) -> None:
    ids, mask = wrap([[1, 2, 3], [4, 0, 6]]), np.tril(np.ones((3, 3), bool))
    graph = viz.graph(Model(), ids, mask=mask)
    assert given(graph) == [("input", "ids"), ("input", "mask")]
    assert all(node.group is None for node in graph.nodes if node.kind == "input")
    labels = by_id(graph)
    assert {labels[e.target] for e in graph.edges if labels[e.source] == "ids"} == {"embedding"}
    assert ">ids</text>" in graph.to_svg()


def test_buffers_stay_as_they_were() -> None:
    model = Model()
    before = {name: buffer.numpy().copy() for name, buffer in model.named_buffers()}
    assert before
    viz.graph(model, np.array([[1, 2], [3, 4]]))
    viz.explore(model, np.array([[1, 2], [3, 4]]))
    for name, buffer in model.named_buffers():
        np.testing.assert_array_equal(buffer.numpy(), before[name])


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no grad"])
def test_a_cache_does_not_grow_and_its_contents_are_named(grad: bool) -> None:
    layer, cache = nn.MultiHeadAttention(8, 2), nn.DynamicKVCache()
    x = minigrad.randn(1, 3, 8)
    with minigrad.set_grad_enabled(grad):
        layer(x, x, x, kv_cache=cache, use_cache=True)
    keys, values = cache.get(0)
    graph = viz.graph(layer, x, x, x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == 3
    assert cache.get(0)[0] is keys
    assert cache.get(0)[1] is values
    assert given(graph) == [
        ("input", "query, key, value"), ("input", "cached keys"), ("input", "cached values")
    ]  # fmt: skip
    page = viz.explore(layer, x, x, x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == 3
    assert "cached keys" in page.path.read_text(encoding="utf-8")


def test_caches_of_several_layers_say_of_which() -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2).eval()
    x, cache = minigrad.randn(1, 3, 8), nn.DynamicKVCache()
    model(x, is_causal=True, kv_cache=cache, use_cache=True)
    graph = viz.graph(model, x, is_causal=True, kv_cache=cache, use_cache=True)
    assert [label for _, label in given(graph) if "cached" in label] == [
        "cached keys of layer 0", "cached values of layer 0",
        "cached keys of layer 1", "cached values of layer 1",
    ]  # fmt: skip
    assert cache.get_seq_length() == 3


def test_a_cache_that_is_written_in_place_is_copied() -> None:
    layer, cache = nn.MultiHeadAttention(8, 2).eval(), nn.StaticKVCache(8, 1)
    x = minigrad.randn(1, 3, 8)
    with minigrad.no_grad():
        layer(x, x, x, kv_cache=cache, use_cache=True)
        viz.explore(layer, x, x, x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == 3


def test_a_named_tuple_of_inputs_stays_one() -> None:
    class Pair(NamedTuple):
        one: minigrad.Tensor
        two: minigrad.Tensor

    graph = viz.graph(lambda pair: pair.one * pair.two, Pair(minigrad.ones(2), minigrad.ones(2)))
    assert labels(graph, "input") == ["pair[0]", "pair[1]"]


def test_a_page_runs_its_model_again_with_another_number() -> None:
    model, x = nn.Linear(3, 2), minigrad.randn(5, 3)
    before = model.weight.numpy().copy(), x.numpy().copy()
    y = model(x)
    page = viz.explore(model, x)
    for name, index in (("weight", (0, 1)), ("input", (4, 2))):
        shown = page.what_if(name, index, 100.0)
        assert shown.path != page.path
        assert "100" in shown.path.read_text(encoding="utf-8")
    assert np.array_equal(model.weight.numpy(), before[0])
    assert np.array_equal(x.numpy(), before[1])
    y.sum().backward()  # what it saved is as it was
    with pytest.raises(
        KeyError, match="no input or parameter is called 'wait': weight, bias, input"
    ):
        page.what_if("wait", 0, 1.0)
    with viz.trace() as traced:
        model(x)
    with pytest.raises(RuntimeError, match="only a module or a function"):
        viz.explore(traced).what_if("weight", 0, 1.0)


def test_an_input_gets_a_gradient_unless_the_model_writes_to_it() -> None:
    x = minigrad.randn(5, 3)
    page = viz.explore(nn.Linear(3, 2), x).path.read_text(encoding="utf-8")
    assert "1 backward step" in page
    assert not x.requires_grad

    def writes(x: minigrad.Tensor) -> minigrad.Tensor:
        return nn.functional.linear(x.add_(1.0), minigrad.ones(2, 3, requires_grad=True))

    assert "1 backward step" in viz.explore(writes, x.clone()).path.read_text(encoding="utf-8")
