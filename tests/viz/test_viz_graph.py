"""What a graph is given, and what is refused: modules, functions, masks, caches; its text."""

import operator
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from reading import by_id, labels

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.viz import Graph


@pytest.mark.parametrize("draw", [viz.graph, viz.explore])
def test_running_a_module_leaves_no_trace(draw: Callable[..., Any]) -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5))
    x = minigrad.ones((5, 3), requires_grad=True)
    before, state = x.numpy().copy(), minigrad.random.get_state()
    draw(model, x)
    assert minigrad.random.get_state() == state
    np.testing.assert_array_equal(x.numpy(), before)
    assert (x.grad, x.is_leaf, model.training) == (None, True, True)
    assert all(parameter.grad is None for parameter in model.parameters())
    with pytest.raises(ValueError, match="linear"):  # the error of the module comes through
        draw(model, minigrad.ones(5, 4))
    assert minigrad.random.get_state() == state


def test_a_module_runs_in_the_mode_that_it_is_in_also_under_no_grad() -> None:
    model, x = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)), minigrad.ones(5, 3)
    assert "dropout" in labels(viz.graph(model, x))
    assert "dropout" not in labels(viz.graph(model.eval(), x))
    for given_x in (x, np.ones((5, 3), np.float32)):
        with minigrad.no_grad():
            graph = viz.graph(nn.Linear(3, 2), given_x)
            assert not minigrad.is_grad_enabled()
        assert len(graph.nodes) == 5
        assert [node.shape for node in graph.nodes if node.label == "input"] == [(5, 3)]


def test_leaves_can_be_named() -> None:
    x, w = (minigrad.ones(3, requires_grad=True) for _ in range(2))
    for names, told in ({}, "input 0, input 1"), ({"w": w}, "input, w"), ({"x": x, "w": w}, "x, w"):
        assert ", ".join(labels(viz.graph(x * w, **names), "input")) == told
    for error, why, names in (
        (ValueError, "other is not a leaf", {"other": minigrad.ones(3, requires_grad=True)}),
        (ValueError, "product is not a leaf", {"product": x * w}),
        (TypeError, "x .*Tensor.*float", {"x": 3.0}),
    ):
        with pytest.raises(error, match=why):
            viz.graph(x * w, **names)


def test_what_has_no_graph_is_refused() -> None:
    x = minigrad.ones(3, requires_grad=True)
    with minigrad.no_grad():
        y = x * x
    for error, why, target, *more in (
        (RuntimeError, "is a leaf", x),
        (RuntimeError, "detach", (x * x).detach()),
        (RuntimeError, "do not require a gradient", minigrad.ones(3) * 2),
        (RuntimeError, "floating-point", (x > 0).astype(minigrad.float32).argmax()),
        (RuntimeError, "no_grad", y),
        (RuntimeError, "Detached", Detached(), minigrad.ones(3)),
        (TypeError, "<lambda>.*str", lambda x: "nothing", minigrad.ones(3)),
        (TypeError, "of type ndarray", np.ones(3)),
        (TypeError, "of type list", []),
        (TypeError, "are not run on inputs", x * x, x),
        (TypeError, r"Linear.forward: missing", nn.Linear(3, 2)),
    ):
        with pytest.raises(error, match=why):
            viz.graph(target, *more)


class Detached(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.detach() * 2


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


class Pair(NamedTuple):
    one: Tensor
    two: Tensor


def test_a_function_is_run_on_copies_of_its_inputs() -> None:
    x = minigrad.tensor([1.0, 2.0])
    graph = viz.graph(lambda x: x * x, x)
    assert labels(graph) == ["x", "multiply", "output"]
    assert not x.requires_grad
    graph = viz.graph(lambda a, *, b: a @ b, np.ones((2, 2)), b=np.eye(2))
    assert given(graph) == [("input", "a"), ("input", "b")]
    with pytest.raises(TypeError, match=r"graph: <lambda>: missing a required argument: 'x'"):
        viz.graph(lambda x: x)
    with pytest.raises(RuntimeError, match="the output of <lambda> .* has no graph"):
        viz.graph(lambda x: x.detach() * 2, x)
    graph = viz.graph(lambda pair: pair.one * pair.two, Pair(minigrad.ones(2), minigrad.ones(2)))
    assert labels(graph, "input") == ["pair[0]", "pair[1]"]  # a named tuple stays one


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
    for draw in (viz.graph, viz.explore):
        draw(model, np.array([[1, 2], [3, 4]]))
        for name, buffer in model.named_buffers():
            np.testing.assert_array_equal(buffer.numpy(), before[name])


@pytest.mark.parametrize("grad", [True, False], ids=["grad", "no grad"])
def test_a_cache_does_not_grow_and_its_contents_are_named(grad: bool) -> None:
    layer, cache = nn.MultiHeadAttention(8, 2), nn.DynamicKVCache()
    x = [minigrad.randn(1, 3, 8)] * 3
    with minigrad.set_grad_enabled(grad):
        layer(*x, kv_cache=cache, use_cache=True)
    keys, values = cache.get(0)
    graph = viz.graph(layer, *x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == 3
    assert all(map(operator.is_, cache.get(0), (keys, values)))
    named = ["query, key, value", "cached keys", "cached values"]
    assert given(graph) == [("input", name) for name in named]
    page = viz.explore(layer, *x, kv_cache=cache, use_cache=True)
    assert cache.get_seq_length() == 3
    assert "cached keys" in page.path.read_text(encoding="utf-8")


def test_caches_of_several_layers_say_of_which() -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2).eval()
    x, cache = minigrad.randn(1, 3, 8), nn.DynamicKVCache()
    model(x, is_causal=True, kv_cache=cache, use_cache=True)
    graph = viz.graph(model, x, is_causal=True, kv_cache=cache, use_cache=True)
    told = [label for _, label in given(graph) if "cached" in label]
    of_layers = [f"cached {what} of layer {n}" for n in (0, 1) for what in ("keys", "values")]
    assert told == of_layers
    assert cache.get_seq_length() == 3
    attention, static = nn.MultiHeadAttention(8, 2).eval(), nn.StaticKVCache(8, 1)
    with minigrad.no_grad():  # what is written in place is copied
        attention(x, x, x, kv_cache=static, use_cache=True)
        viz.explore(attention, x, x, x, kv_cache=static, use_cache=True)
    assert static.get_seq_length() == 3
    layer, both = nn.TransformerDecoderLayer(8, 2, 16).eval(), nn.EncoderDecoderCache()
    layer(x, x, kv_cache=both, use_cache=True)
    graph = viz.graph(layer, x, x, kv_cache=both, use_cache=True)
    cached = ["cached keys", "cached values"]
    assert [label for _, label in given(graph) if "cached" in label] == 2 * cached
    assert both.get_seq_length() == 3


def test_an_input_gets_a_gradient_unless_the_model_writes_to_it() -> None:
    x = minigrad.randn(5, 3)
    page = viz.explore(nn.Linear(3, 2), x).path.read_text(encoding="utf-8")
    assert "1 backward step" in page
    assert not x.requires_grad

    def writes(x: minigrad.Tensor) -> minigrad.Tensor:
        return nn.functional.linear(x.add_(1.0), minigrad.ones(2, 3, requires_grad=True))

    assert "1 backward step" in viz.explore(writes, x.clone()).path.read_text(encoding="utf-8")


def test_names_with_line_breaks_stay_on_their_line() -> None:
    model = nn.Sequential(OrderedDict({"a\nb<&\x1b[31m": nn.Linear(2, 2)}))
    text = viz.graph(model, minigrad.ones(1, 2)).to_text(depth=5)
    assert "a\\nb<&\\x1b[31m" in text
    assert "\x1b" not in text
    assert repr(text) == str(text)  # it shows itself as it prints
    assert "\n" in repr(text)
