"""Views of models that are too large for a whole picture: what is folded, opened and hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from test_viz_folding import decode, fan_out, ladder, lstm, nested, shrinking, training

import minigrad
from minigrad import Tensor, nn, viz
from minigrad.nn import functional as F
from minigrad.viz import Graph


def encoder(layers: int = 6, change: Callable[[Any], object] = lambda model: None) -> Graph:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32), layers)
    change(model)
    return viz.graph(model, minigrad.ones(2, 5, 16))


def layer(norm_first: bool) -> Graph:
    made = nn.TransformerEncoderLayer(16, 4, 32, norm_first=norm_first).eval()
    return viz.graph(made, minigrad.ones(2, 5, 16))


def decoder() -> Graph:
    model = nn.TransformerDecoder(nn.TransformerDecoderLayer(16, 4, 32), 4)
    return viz.graph(model, minigrad.ones(2, 5, 16), minigrad.ones(2, 7, 16))


def attended(**options: Any) -> Graph:
    x = minigrad.ones(2, 5, 12)
    return viz.graph(nn.MultiHeadAttention(12, 3), x, x, x, **options)


def widened(model: Any) -> None:
    model.layers[3] = nn.TransformerEncoderLayer(16, 4, 64)


def tied(model: Any) -> None:
    for one in model.layers[1:]:
        one.linear1.weight = model.layers[0].linear1.weight


class SideBySide(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.parts = nn.ModuleList([nn.Linear(4, 4) for _ in range(4)])

    def forward(self, x: Tensor) -> Tensor:
        return minigrad.concatenate([part(x) for part in self.parts])


class Again(nn.Module):
    """One block that is called five times."""

    def __init__(self, between: bool = False) -> None:
        super().__init__()
        self.block, self.between = nn.Sequential(nn.Linear(4, 4), nn.ReLU()), between

    def forward(self, x: Tensor) -> Tensor:
        for _ in range(5):
            x = self.block(x).tanh() if self.between else self.block(x)
        return x


class Functions(nn.Module):
    """Functions of several ops beside layers, and one within another."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.scale = nn.Conv2d(1, 2, 3), nn.Parameter(minigrad.ones(2, 1, 1))

    def forward(self, image: Tensor) -> Tensor:
        y = F.leaky_relu(F.mish(self.conv(image) * self.scale)) + F.relu(image[:, :, 1:-1, 1:-1])
        y = F.elu(F.elu(y), 2.0)
        return F.triplet_margin_loss(y[0, 0], y[0, 1], y[0, 0] * 2.0)


class Unrolled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(12)])

    def forward(self, x: Tensor) -> Tensor:
        for one in self.layers:
            x = x + minigrad.tanh(one(x))
        return x


def constants() -> Graph:
    """What stands in a loop is given to one of its steps."""
    x = minigrad.ones(3, requires_grad=True)
    for step in range(30):
        x = minigrad.tanh(x) * minigrad.tensor([float(step)] * 3, requires_grad=True)
    return viz.graph(x)


def tied_by_hand() -> Graph:
    w = minigrad.ones(3, 3, requires_grad=True)
    return viz.graph((w @ w).exp() + w.tanh(), w=w)


VIEWS: dict[str, Callable[[], Graph]] = {
    "layers": lambda: encoder().collapse(),
    "layers, two of them": lambda: encoder(2).collapse(1),
    "layers, three of them": lambda: encoder(3).collapse(1),
    "layers, one wider": lambda: encoder(8, widened).collapse(1),
    "layers, one in eval mode": lambda: encoder(5, lambda m: m.layers[1].eval()).collapse(1),
    "layers, tied": lambda: encoder(6, tied).collapse(1),
    "layers, one opened": lambda: encoder().collapse(2, open=["layers.3"]),
    "layers, some hidden": lambda: encoder().collapse(hide=["reshape", "swapaxes", nn.Dropout]),
    "layers, norms hidden": lambda: encoder(1).collapse(9, hide=["*norm*"]),
    "layers, attended opened": lambda: encoder(2).collapse(0, open=[nn.MultiHeadAttention]),
    "layers, by pattern": lambda: encoder(3).collapse(0, open=["*.1.self_attn"]),
    "post-norm": lambda: layer(norm_first=False).collapse(1),
    "pre-norm": lambda: layer(norm_first=True).collapse(1),
    "decoder": lambda: decoder().collapse(1),
    "attention": lambda: attended().collapse(),
    "attention, causal": lambda: attended(is_causal=True).collapse(2),
    "attention, masked": lambda: attended(attn_mask=np.tri(5, dtype=bool)).collapse(2),
    "side by side": lambda: viz.graph(SideBySide(), minigrad.ones(2, 4)).collapse(1),
    "calls": lambda: viz.graph(Again(), minigrad.ones(2, 4)).collapse(1),
    "calls, and ops between": lambda: viz.graph(Again(True), minigrad.ones(2, 4)).collapse(1),
    "functions": lambda: viz.graph(Functions(), minigrad.ones(1, 1, 5, 5)),
    "functions, closed": lambda: viz.graph(Functions(), minigrad.ones(1, 1, 5, 5)).collapse(1),
    "unrolled": lambda: viz.graph(Unrolled(), minigrad.ones(2, 4)).collapse(),
    "constants": lambda: constants().collapse(),
    "tied, one use hidden": lambda: tied_by_hand().collapse(hide=["tanh"]),
    "inputs hidden through": lambda: tied_by_hand().collapse(hide=["matmul", "exp"]),
} | {
    f"loop, {program.__name__}": lambda program=program: viz.graph(program()).collapse()
    for program in (decode, fan_out, ladder, lstm, nested, shrinking, training)
}


def boxes(view: Graph) -> Iterator[str]:
    """A line for each frame and each box: where it is, what it says and what it reads."""
    labels = {node.id: node.label for node in view.nodes}
    names = {None: "", **{group.id: group.name or group.module for group in view.groups}}
    for group in view.groups:
        told = f"{group.module} {group.path} {group.call}/{group.calls} {group.size}"
        yield f"[{names[group.id]}: {told}, in {names[group.parent]}]"
    for node in view.nodes:
        reads = [f"{e.name} {labels[e.source]}" for e in view.edges if e.target == node.id]
        told = ", ".join([f"{node.kind} {node.label} {node.shape}", *node.notes])
        yield f"{told} in {names.get(node.group, '')} ← {', '.join(reads)}"
