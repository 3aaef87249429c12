"""Functions of several ops have frames in drawings, like modules, and are in no module path."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from functional_calls import ARRAYS, CALLS, FIXED
from golden_programs import Functions

import minigrad
from minigrad import Tensor, nn, no_grad, ones, randn, viz
from minigrad.autograd import why_no_grad
from minigrad.debugging import Profile
from minigrad.nn import functional as F
from minigrad.viz import Graph
from minigrad.viz.record.repeats import wrap_repeats


def x(*shape: int) -> Tensor:
    return randn(*shape, requires_grad=True)


OTHERS: dict[str, Callable[[], Any]] = {
    "add_positional_encoding": lambda: F.add_positional_encoding(x(2, 3, 4), x(5, 4)),
    "additive_attention": lambda: F.additive_attention(
        x(2, 3, 4), x(2, 5, 4), x(2, 5, 4), x(4, 6), x(4, 6), x(6)
    ),
    "apply_attention_mask": lambda: F.apply_attention_mask(x(3, 3), F.create_causal_mask(3)),
    "attention_weights": lambda: F.attention_weights(x(3, 3)),
    "compute_attention_scores": lambda: F.compute_attention_scores(x(3, 4), x(3, 4)),
    "conv_transpose1d": lambda: F.conv_transpose1d(x(2, 2, 5), x(2, 3, 2), x(3)),
    "create_causal_mask": lambda: F.create_causal_mask(3),
    "create_padding_mask": lambda: F.create_padding_mask(minigrad.tensor([1, 2]), 3),
    "ctc_loss": lambda: F.ctc_loss(x(3, 1, 2), minigrad.tensor([[1]]), (3,), (1,)),
    "drop_path": lambda: F.drop_path(x(4, 2), 0.5),
    "feed_forward": lambda: F.feed_forward(x(2, 3, 4), x(4, 5), x(5), x(5, 4), x(4)),
    "fold": lambda: F.fold(x(1, 4, 4), 3, 2),
    "gumbel_softmax": lambda: F.gumbel_softmax(x(2, 3), hard=True),
    "max_unpool1d": lambda: F.max_unpool1d(x(1, 2, 2), np.array([[[0, 3], [1, 2]]]), 2),
    "max_unpool2d": lambda: F.max_unpool2d(x(1, 1, 1, 1), np.array([[[[2]]]]), 2),
    "merge_heads": lambda: F.merge_heads(x(2, 3, 4, 5)),
    "rotary_pos_embedding": lambda: F.rotary_pos_embedding(x(2, 3, 4)),
    "split_heads": lambda: F.split_heads(x(2, 3, 4), 2),
    "stack_encoder_blocks": lambda: F.stack_encoder_blocks(
        x(2, 3), [lambda h, mask: h.exp(), lambda h, mask: h * 2]
    ),
    "threshold_": lambda: F.threshold_(ones(3), 0.5, 1.0),
} | {
    name: lambda name=name, given=given: getattr(F, name)(*given)
    for names, given in (
        ("celu_ elu_ hardtanh_ leaky_relu_ relu_ rrelu_ selu_", (ones(3),)),
        ("hardsigmoid hardswish", (x(3),)),
        ("learned_positional_encoding sinusoidal_encoding sinusoidal_pos_embedding", (3, 4)),
    )
    for name in names.split()
}  # fmt: skip
"""The functions that the table of calls does not have, or not alone."""

ALONE = [re.fullmatch(r"F\.(\w+)\((?:(?!F\.)[^*\[])*\)", call) for call in CALLS]
PLAIN = [found for found in ALONE if found and "row" not in found[0]]  # which is broadcast
FUNCTIONS: dict[str, Any] = {found[1]: found[0] for found in reversed(PLAIN)} | OTHERS
"""For each function the first call of it alone, as it is written, or a function that calls it."""


def called(name: str) -> Any:
    call = FUNCTIONS[name]
    if not isinstance(call, str):
        return call()
    given = {name: minigrad.tensor(array, requires_grad=True) for name, array in ARRAYS.items()}
    return eval(call, {"F": F, **FIXED, **given})


def frames(graph: Graph) -> list[str]:
    """The names of the functions that have a frame, without those within others."""
    outer = {group.id for group in graph.groups if group.function}
    return [g.name for g in graph.groups if g.function and g.parent not in outer]


def test_every_function_is_called_here() -> None:
    assert {name for name in F.__all__ if name != "MaskLike"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_a_frame_exactly_if_it_runs_several_ops(name: str) -> None:
    with viz.trace() as traced:
        called(name)
    graphs = [] if str(traced) == "Trace(no op yet)" else [traced.graph()]
    result = called(name)  # nobody observes: what was recorded is known
    result = result[0] if isinstance(result, tuple) else result
    if result.requires_grad and not result.is_leaf:
        graphs.append(viz.graph(result))
    for graph in graphs:
        own = name.removesuffix("_")  # in place: the same function
        assert frames(graph) == [own] * (graph.counts()["op"] > 1)


@pytest.mark.parametrize("name", ["leaky_relu", "interpolate", "stack_encoder_blocks"])
def test_a_function_keeps_its_signature_and_its_docstring(name: str) -> None:
    function = getattr(F, name)
    plain = inspect.unwrap(function)
    assert inspect.signature(function) == inspect.signature(plain)
    assert (function.__name__, function.__doc__) == (plain.__name__, plain.__doc__) != (name, None)


def test_a_module_within_a_function_lies_in_its_frame() -> None:
    class Stack(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

        def forward(self, h: Tensor) -> Tensor:
            blocks = [lambda h, mask, own=one: own(h) for one in self.blocks]
            return F.stack_encoder_blocks(h, blocks).exp()

    graph = viz.graph(Stack()(ones(2, 3)))
    assert [(g.name, g.path, g.parent) for g in graph.groups] == [
        ("", "", None), ("stack_encoder_blocks", "", "g0"),
        ("blocks.0", "blocks.0", "g1"), ("blocks.1", "blocks.1", "g1"),
    ]  # fmt: skip


def test_what_a_function_returns_unchanged_is_not_in_a_frame() -> None:
    h = x(2, 3, 4).exp()
    before = h._node.frame
    assert F.dropout1d(h, training=False) is h
    assert h._node.frame is before
    assert not frames(viz.graph(h * h))


def test_a_function_in_place_has_one_frame_and_all_of_a_module_has_none_of_its_own() -> None:
    h = x(3).exp()
    F.elu(h, inplace=True)
    assert frames(viz.graph(h)) == ["elu"]
    assert [g.module for g in viz.graph(nn.LeakyReLU(), x(3)).groups] == ["LeakyReLU"]


def test_frames_close_and_open_like_modules() -> None:
    graph = viz.graph(Functions(), ones(1, 1, 5, 5))
    assert "    %2 = softplus(" in graph.collapse(0, open=["mish"]).to_text()
    with pytest.raises(ValueError, match="similar: leaky_relu"):
        graph.collapse(0, open=["leaky_rel"])


def test_calls_in_a_row_fold() -> None:
    y = x(3)
    for _ in range(6):
        y = F.elu(y)
    folded = wrap_repeats(viz.graph(y))
    assert [group.name for group in folded.groups if group.parent is None] == ["elu ×5", "elu"]


class Wrong(nn.Module):
    """Gives a function what does not fit."""

    def forward(self, h: Tensor) -> Tensor:
        return F.feed_forward(h, ones(3, 3), ones(3), ones(3, 3), ones(4))


def test_a_function_is_in_no_module_path() -> None:
    model = nn.Sequential(nn.Sequential(Wrong()))
    for context in (no_grad(), viz.trace(), minigrad.enable_grad()):
        with context, pytest.raises(ValueError, match=r"got \(4,\) \[in 0\.0\]$"):
            model(ones(1, 2, 3, requires_grad=True))


def test_tables_and_reasons_know_modules_only() -> None:
    model, image = Functions(), ones(1, 1, 5, 5)
    with Profile() as profile:
        loss = model(image)
    assert {event.module for event in profile.events if event.line} == {"Functions", "conv"}
    assert loss._node.scope.kind == "Functions"
    assert "mish" not in str(why_no_grad(model.scale, F.mish(model.scale).detach().sum()))
