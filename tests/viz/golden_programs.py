"""The small programs and the views of large models whose pictures and texts __snapshots__ holds."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import test_viz_folding as loops
from custom_functions import Cube

import minigrad
from minigrad import Tensor, nn, optim, viz
from minigrad.autograd import checkpoint, grad, primitive
from minigrad.debugging import Profile, Statistics
from minigrad.nn import functional as F
from minigrad.viz import AttentionMaps, Graph
from minigrad.viz.record.repeats import wrap_repeats

NUMBERS = np.array([4, -3, 1, 6, -7, 2, -1, 5, -4, 3, 0]) / 8


def numbers(*shape: int, start: int = 0, grad: bool = False) -> Tensor:
    """A tensor of simple numbers, which repeat; a leaf that gets a gradient if asked."""
    values = np.resize(np.roll(NUMBERS, -start), shape)
    return minigrad.tensor(values, dtype="float64", requires_grad=grad)


def simple(module: nn.Module) -> nn.Module:
    """The module with simple numbers for its parameters."""
    module.double()
    with minigrad.no_grad():
        for start, parameter in enumerate(module.parameters()):
            parameter[...] = numbers(*parameter.shape, start=start)
    return module


def square(out: Tensor) -> None:
    """A loss that no layer makes constant, and its backward pass."""
    (out * out).sum().backward()


def scalars() -> Graph:
    a, b = (minigrad.tensor(v, dtype="float64", requires_grad=True) for v in (2.0, -0.75))
    with viz.trace() as traced:
        c = a * b + b**3
        (c.tanh() / (c - 1.0)).backward()
    return traced.graph(a=a, b=b)


def finished() -> Graph:
    """Of a graph without a trace the numbers that are known."""
    a, b = (minigrad.tensor(v, dtype="float64", requires_grad=True) for v in (2.0, -3.0))
    loss = minigrad.exp(a) * b
    loss.backward(retain_graph=True)
    return viz.graph(loss, a=a, b=b)


def broadcasting() -> Graph:
    x, row, column = numbers(2, 3), numbers(3, grad=True), numbers(2, 1, start=3, grad=True)
    with viz.trace() as traced:
        square((x * row - column).mean(axis=0, keepdims=True) / 2)
    return traced.graph(x=x, row=row, column=column)


class Stop(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.detach()


def detached() -> Graph:
    """Also by the values, and by one that only a number is read of."""
    x, stop = numbers(3, grad=True), Stop()
    with viz.trace() as traced:
        y = x.exp()
        loss = (stop(y) * y + minigrad.argmax(x) + minigrad.tensor(x.numpy())).sum()
        (loss + (x.numpy() * 2.0 * x).sum()).backward()
        float(loss.detach())
    return traced.graph(x=x)


def island() -> Graph:
    """Ops under no_grad, a result that nothing reads, and two passes."""
    x, w = numbers(2, 3, grad=True), numbers(3, start=2, grad=True)
    with viz.trace() as traced:
        with minigrad.no_grad():
            scale = 1 / (abs(x).max() + 1)
        y = minigrad.maximum(x * scale, w)
        y.sin()
        loss = y.sum()
        loss.backward(retain_graph=True)
        loss.backward()
    return traced.graph(x=x, w=w)


class Many(nn.Module):
    def forward(self, pair: Any, *rest: Tensor, scale: Any) -> Any:
        low, high = minigrad.split(pair[0] * pair[1], 2)
        both = minigrad.concatenate([high, low, *rest])
        return {"sum": both.sum() * scale, "parts": (low, minigrad.stack([low, high]).exp())}


def several_outputs() -> Graph:
    pair = numbers(4, grad=True), numbers(4, start=4, grad=True)
    return viz.graph(Many(), pair, numbers(1, grad=True), scale=np.array(0.5))


def custom_function() -> Graph:
    x = numbers(3, grad=True)
    with viz.trace() as traced:
        (Cube.apply(x) * x).sum().backward()
    return traced.graph(x=x)


def born() -> Graph:
    """Where infinities and NaN are born, and where they only come from: a constant, an input."""
    x, given = minigrad.tensor([0.0, 1.0], dtype="float64"), minigrad.tensor([np.nan, 1.0])
    with viz.trace() as traced, np.errstate(all="ignore"):
        _ = minigrad.log(x - 2.0) * x, minigrad.exp(1.0 / x), minigrad.exp(given)
        _ = minigrad.log(x) - minigrad.log(x), minigrad.exp(np.where(x > 0, x, -np.inf))
    return traced.graph(x=x, given=given)


def scaled_op(factor: float) -> Any:
    """Ops that have everything in common but what they do."""

    def my_scaled(x: Any) -> Any:
        return x**factor

    op = primitive(my_scaled)
    if factor == 2:
        op.defvjp(x=lambda g, x: g * 2 * x)
    elif factor == 3:
        op.defvjp(x=lambda g, x: 3 * g * x**2)
    return op


def ops_of_one_name() -> Graph:
    """Each is shown with its own rule, and one without a rule: also beside one of the library."""

    def tanh(x: Any) -> Any:
        return x / (1 + abs(x))

    own, forgotten = primitive(tanh), primitive(tanh)
    own.defvjp(x=lambda g, x: g / (1 + abs(x)) ** 2)
    x = numbers(3, start=3, grad=True)
    with viz.trace() as traced:
        y = scaled_op(2)(scaled_op(3)(minigrad.tanh(own(minigrad.tanh(x)))))
        square(y * forgotten(x) * scaled_op(1)(x))
    return traced.graph(x=x)


def contributions() -> Graph:
    """Those inside and outside of an opened op are counted together, in each of two passes."""
    x = numbers(2, 3, grad=True)
    with viz.trace(open=["layer_norm"]) as traced:
        loss = (minigrad.ops.layer_norm(x) * x).sum()
        for _ in range(2):
            loss.backward(retain_graph=True)
    return traced.graph(x=x)


def recomputed() -> Graph:
    x, layer = numbers(2, 3), simple(nn.Linear(3, 2))
    with viz.trace() as traced:
        square(checkpoint(lambda x: layer(x).tanh(), x))
    return traced.graph(x=x)


def in_place() -> Graph:
    """Writes by index, as a whole, through a view and into what requires no gradient."""
    x, plain = numbers(2, 3, grad=True), numbers(2, 3, start=4)
    with viz.trace() as traced:
        y, filled, row = x * 2, minigrad.zeros(2, 3, dtype="float64"), plain[0]
        y[0] = x[1] ** 2
        y += 1
        filled[...] = plain
        filled[:, 0] = 0
        plain[0, 1] = 5.0
        y[:, [0, 2]].prod().backward()
        _ = filled * 2, row.sum()
        filled[...] = 3.0
        _ = filled * 2
    return traced.graph(x=x, plain=plain)


def stopped() -> Graph:
    """A program that ends with an error, and numbers that are not finite."""
    x = numbers(2, 3, grad=True)
    with contextlib.suppress(ValueError), np.errstate(all="ignore"), viz.trace() as traced:
        y = minigrad.log(x - x)
        y.sum().backward()
        y @ x
    return traced.graph(x=x)


def perceptron() -> Graph:
    model = simple(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    x = numbers(2, 3, start=5)
    with viz.trace() as traced:
        F.mse_loss(model(x), numbers(2, 2)).backward()
    return traced.graph(x=x)


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.layer = nn.LayerNorm(4), nn.Linear(4, 4, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.gelu(self.layer(self.norm(x)))


def residual() -> Graph:
    block, x = simple(Residual()), numbers(2, 4, grad=True)
    with viz.trace() as traced:
        square(block(x))
    return traced.graph(x=x)


def opened() -> Graph:
    """Layer normalization and softmax with the ops that they are made of."""
    norm, x = simple(nn.LayerNorm(3)), numbers(2, 3, grad=True)
    with viz.trace(open=["layer_norm", "cross_entropy"]) as traced:
        square(minigrad.softmax(norm(x), axis=-1))
    return traced.graph(x=x)


def attention() -> Graph:
    layer, x = simple(nn.MultiHeadAttention(4, 2, bias=False)), numbers(1, 3, 4, grad=True)
    with viz.trace(open=["attention"]) as traced:
        square(layer(x, x, x, is_causal=True))
    return traced.graph(x=x)


def convolution() -> Graph:
    model = simple(nn.Sequential(nn.Conv2d(1, 2, 2), nn.MaxPool2d(2), nn.Flatten()))
    x = numbers(1, 1, 5, 5)
    with viz.trace() as traced:
        square(model(x))
    return traced.graph(x=x)


def lstm() -> Graph:
    layer, x = simple(nn.LSTM(2, 2)), numbers(1, 2, 2)
    with viz.trace() as traced:
        square(layer(x)[0])
    return traced.graph(x=x)


def shared() -> Graph:
    layer, x = simple(nn.Linear(3, 3)), numbers(2, 3)
    with viz.trace() as traced:
        square(layer(layer(x).tanh()))
    return traced.graph(x=x)


def classifier() -> Graph:
    model = simple(nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 4)))
    words = np.array([1, 4, 1])
    with viz.trace() as traced:
        F.cross_entropy(model(words), np.array([0, 3, 2])).backward()
    return traced.graph()


def repeated() -> Graph:
    """Layers that repeat, drawn as one; and a loop that does."""
    model = simple(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 5))
    x = numbers(1, 2, 4)

    def run(x: Tensor) -> Tensor:
        x = model(x)
        for _ in range(6):
            x = x * 0.5 + x.sin()
        return x

    return viz.graph(run, x)


def matrices() -> Graph:
    a, b = numbers(2, 2, 3, grad=True), numbers(3, 2, start=4, grad=True)
    with viz.trace() as traced:
        c = minigrad.einsum("bij,jk->bik", a, b) @ b.T
        square(minigrad.where(c > 0, c, minigrad.cumsum(a, axis=1)).reshape(4, 3).T)
    return traced.graph(a=a, b=b)


def second_derivative() -> Graph:
    x = numbers(3, grad=True)
    (slope,) = grad((x**3 / x.exp()).sum(), [x], create_graph=True)
    return viz.graph(slope, x=x)


def penalty() -> Graph:
    """Ops within rules are marked, and have the line of the program."""
    x = numbers(3, grad=True)
    with viz.trace() as traced:
        (slope,) = grad(F.softmax(x**3).square().sum(), x, create_graph=True)
        square(slope)
    return traced.graph(x=x)


def halved(g: Tensor) -> Tensor:
    return g / 2


def trained() -> Graph:
    """Two steps, with a frozen weight, running statistics, hooks; and an update by hand."""
    model = simple(nn.Sequential(nn.Linear(3, 4, False), nn.BatchNorm1d(4), nn.Linear(4, 3)))
    model[0].weight.requires_grad_(False)
    model[2].weight.register_hook(halved)
    optimizer, x, seen = optim.SGD(model.parameters(), lr=0.125), numbers(2, 3), list[Tensor]()
    with viz.trace() as traced:
        for _ in range(2):
            optimizer.zero_grad()
            y = model(x)
            y.register_hook(seen.append)
            F.cross_entropy(y, np.array([0, 2])).backward()
            optimizer.step()
        with minigrad.no_grad():
            model[2].bias -= model[2].bias.grad
        square(model(x))
    return traced.graph(x=x)


def reasons() -> Graph:
    """What gets no gradient, for one reason each, and what `.grad` held before."""
    model, x, w = simple(nn.Embedding(5, 3)), numbers(2, 3), numbers(3, grad=True)
    square(w)
    with viz.trace() as traced:
        y = minigrad.where(np.array([[True], [False]]), model(np.array([1, 4])), 0.0) * w * (x * x)
        minigrad.cos(w)
        y.detach().exp().sum()
        (minigrad.round(w).detach() * y).sum().backward()
        grad((w**2).sum(), w)
    return traced.graph(x=x, w=w)


def asked() -> Graph:
    """The gradient of one leaf, which is not written."""
    x, w = numbers(3, grad=True), numbers(3, start=2, grad=True)
    with viz.trace() as traced:
        grad((x * w).sum(), w)
    return traced.graph(x=x, w=w)


GRAPHS: dict[str, Callable[[], Graph]] = {
    made.__name__: made
    for made in (
        scalars, finished, broadcasting, detached, island, several_outputs, custom_function,
        recomputed, in_place, stopped, perceptron, residual, opened, attention, convolution, lstm,
        shared, classifier, repeated, matrices, second_derivative, penalty, trained, reasons, asked,
        born, ops_of_one_name, contributions,
    )
}  # fmt: skip


def training() -> Statistics:
    """Four steps, one with a NaN, of a net with a dead unit; the loss falls by three decades."""
    model = simple(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))
    optimizer, x = optim.SGD(model.parameters(), lr=0.125), numbers(2, 3)
    with Statistics(model, optimizer=optimizer) as statistics:
        for loss in (2.5, 0.125, float("nan"), 0.0025):
            optimizer.zero_grad()
            square(model(x))
            statistics.step(loss)
            optimizer.step()
            optimizer.param_groups[0]["lr"] /= 2
    return statistics


def first_steps() -> Iterator[Statistics]:
    """Of ten layers, and of a layer of zeros."""
    still = nn.Linear(2, 2).double()
    nn.utils.vector_to_parameters(minigrad.zeros(6, dtype="float64"), still.parameters())
    for model in (simple(nn.Sequential(*(nn.Linear(2, 2) for _ in range(10)))), still):
        with Statistics(model) as statistics:
            square(model(numbers(1, 2)))
            statistics.step(0.0)
        yield statistics


def profiled() -> Profile:
    model, x = simple(nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))), numbers(5, 3)
    with Profile() as profile:
        square(model(x))
    return profile


def attention_maps() -> AttentionMaps:
    model = simple(nn.TransformerDecoderLayer(4, 2, 4))
    x, memory = numbers(1, 3, 4), numbers(1, 2, 4, start=3)
    tokens = {
        "self_attn": [" a", "<b>", "\n"],
        "multihead_attn": (["a", "b", "extraordinarily-long"], ["x", "y"]),
    }
    mask = np.triu(np.full((3, 3), -np.inf), 1)
    return viz.attention(model, x, memory, tgt_mask=mask, tokens=tokens)


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


class Several(nn.Module):
    """What comes out is not what was computed last, and there is more than one thing."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.loss = nn.Linear(3, 4), minigrad.zeros(())

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        main = self.linear(x)
        part = main[:, :2]
        self.loss = (main * main).mean()
        return main, part


class Outer(nn.Module):
    def __init__(self, model: nn.Module, use: Any) -> None:
        super().__init__()
        self.model, self.use = model, use

    def forward(self, *inputs: Tensor) -> Any:
        return self.use(self.model, *inputs)


X, SEQUENCE = minigrad.ones(5, 3), minigrad.ones(2, 5, 8)
CLOSED: list[tuple[nn.Module, Any, Tensor]] = [
    (Several(), lambda m, x: m(x), X),
    (Several(), lambda m, x: m(x)[0].sum(), X),
    (Several(), lambda m, x: m(x)[1].sum() + m.loss, X),
    (nn.LSTM(8, 4, batch_first=True), lambda m, x: m(x), SEQUENCE),
    (nn.MultiHeadAttention(8, 2), lambda m, x: m(x, x, x, need_weights=True), SEQUENCE),
]
"""Modules, and what is used of their outputs."""


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


def scaled(factor: Callable[[int], float]) -> Graph:
    y = minigrad.ones(3, requires_grad=True)
    for step in range(30):
        y = (y * factor(step)).tanh()
    return viz.graph(y).collapse()


def traced(change: Callable[[Any], object]) -> Graph:
    """As it ran, eight layers of which one differs: it is in no box of several."""
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 8)
    change(model.layers[4])
    with viz.trace() as run:
        model(minigrad.ones(1, 3, 4))
    return run.graph().collapse()


class Block(nn.Module):
    def __init__(self, shared: nn.Module) -> None:
        super().__init__()
        self.shared, self.own = shared, nn.LayerNorm(3)

    def forward(self, x: Tensor) -> Tensor:
        return self.own(self.shared(x)).tanh()


def sharing(first: bool) -> Graph:
    """Weights that blocks share count once, and are outside of a box of several."""
    shared = nn.Linear(3, 3)
    blocks = [Block(shared if first or at else nn.Linear(3, 3)) for at in range(9)]
    return wrap_repeats(viz.graph(nn.Sequential(*blocks), minigrad.ones(2, 3))).collapse(1)


VIEWS: dict[str, Callable[[], Graph]] = {
    "layers": lambda: encoder().collapse(),
    "layers, two of them": lambda: encoder(2).collapse(1),
    "layers, three of them": lambda: encoder(3).collapse(1),
    "layers, one wider": lambda: encoder(8, widened).collapse(1),
    "layers, one in eval mode": lambda: encoder(5, lambda m: m.layers[1].eval()).collapse(1),
    "layers, tied": lambda: encoder(6, tied).collapse(1),
    "layers, one opened": lambda: encoder().collapse(2, open=["layers.3"]),
    "layers, attention opened": lambda: encoder(2).collapse(0, open=[nn.MultiHeadAttention]),
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
    "loop, one number differs": lambda: scaled(lambda step: 5.0 if step == 9 else 0.1),
    "loop, a schedule": lambda: scaled(lambda step: 1 / (step + 2)),
    "one eps": lambda: encoder(8, lambda m: setattr(m.layers[4].norm1, "eps", 1)).collapse(),
    "traced, one eps": lambda: traced(lambda layer: setattr(layer.norm1, "eps", 1)),
    "traced, one dropout": lambda: traced(lambda layer: setattr(layer.dropout1, "p", 0.5)),
    "traced, one frozen": lambda: traced(lambda layer: layer.linear1.requires_grad_(False)),
    "weights that all share": lambda: sharing(True),
    "weights that all but one share": lambda: sharing(False),
} | {
    f"loop, {program.__name__}": lambda program=program: viz.graph(program()).collapse()
    for program in (
        loops.decode,
        loops.fan_out,
        loops.ladder,
        loops.lstm,
        loops.nested,
        loops.shrinking,
        loops.training,
    )
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
