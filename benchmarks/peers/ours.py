"""minigrad."""

from collections.abc import Callable

import numpy as np
from _work import (
    VOCABULARY,
    Arrays,
    Draw,
    Layer,
    Size,
    Task,
    adamw_input,
    attention_input,
    encoder_input,
    encoder_weights,
    layer_weights,
    model_input,
    model_weights,
    perceptron_input,
    perceptron_weights,
    product_input,
    table_input,
    words_input,
)

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.autograd import checkpoint

Step = Callable[[], Tensor]


def stack(size: Size, dropout: float) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(size.width, size.heads, size.hidden, dropout)
    return nn.TransformerEncoder(layer, size.depth)


def plain(step: Step) -> Step:
    """The step as it is; `ours_captured` has another."""
    return step


def encoder(size: Size, prepared: Callable[[Step], Step] = plain) -> Task:
    model = stack(size, dropout=0.0)
    model.load_state_dict(encoder_weights(size))
    start, cotangent = encoder_input(size)
    x, g = minigrad.tensor(start, requires_grad=True), minigrad.tensor(cotangent)

    @prepared
    def run() -> Tensor:
        x.grad = None
        for parameter in model.parameters():
            parameter.grad = None
        out = model(x)
        out.backward(g)
        return out

    def answer() -> Arrays:
        out = run()
        gradients = {name: np.asarray(p.grad) for name, p in model.named_parameters()}
        return {
            "output": out.numpy(),
            "gradient of input": np.asarray(x.grad),
            **{f"gradient of {name}": array for name, array in packed(gradients).items()},
        }

    return Task(run, answer)


def packed(arrays: Arrays) -> Arrays:
    """The weights with those of queries, keys and values packed, as in PyTorch."""
    result = dict(arrays)
    for name in arrays:
        if ".q_proj." in name:
            parts = [result.pop(name.replace(".q_proj.", f".{p}_proj.")) for p in "qkv"]
            result[name.replace(".q_proj.", ".in_proj_")] = np.concatenate(parts)
    return result


class Model(nn.Module):
    """From tokens to logits over the vocabulary."""

    def __init__(self, size: Size, dropout: float, checkpointed: bool) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, size.width)
        self.positions = nn.Embedding(size.length, size.width)
        self.encoder = stack(size, dropout)
        self.head = nn.Linear(size.width, VOCABULARY)
        self.checkpointed = checkpointed

    def forward(self, ids: Tensor) -> Tensor:
        x = self.tokens(ids) + self.positions.weight
        if self.checkpointed:
            for layer in self.encoder.layers:
                x = checkpoint(layer, x)
        else:
            x = self.encoder(x)
        return self.head(x)  # (batch, length, vocabulary)


class Training:
    """A model, its optimizer, and a fixed batch."""

    def __init__(
        self, size: Size, dropout: float, checkpointed: bool = False,
        prepared: Callable[[Step], Step] = plain,
    ) -> None:  # fmt: skip
        self.update = prepared(self._update)
        self.model = Model(size, dropout, checkpointed)
        self.model.load_state_dict(model_weights(size))
        self.optimizer = optim.AdamW(self.model.parameters(), lr=1e-3)
        ids, wanted = model_input(size)
        self.ids, self.wanted = minigrad.tensor(ids), minigrad.tensor(wanted.reshape(-1))

    def loss(self) -> Tensor:
        scores = self.model(self.ids)
        return nn.functional.cross_entropy(scores.reshape(-1, VOCABULARY), self.wanted)

    def _update(self) -> Tensor:
        self.optimizer.zero_grad()
        loss = self.loss()
        loss.backward()
        self.optimizer.step()
        return loss

    def step(self) -> float:
        return self.update().item()


def training(
    size: Size, dropout: float, checkpointed: bool = False,
    prepared: Callable[[Step], Step] = plain,
) -> Task:  # fmt: skip
    """Training steps; the answer is five losses without dropout, which is random."""

    def answer() -> Arrays:
        fresh = Training(size, 0.0, checkpointed, prepared)
        return {"losses": np.array([fresh.step() for _ in range(5)], np.float32)}

    return Task(Training(size, dropout, checkpointed, prepared).step, answer)


def perceptron(width: int, prepared: Callable[[Step], Step] = plain) -> Task:
    """Training steps of three linear layers on a batch of 32."""
    weights, (inputs, wanted) = perceptron_weights(width), perceptron_input(width)
    layers = [nn.Linear(*weights[f"{i}.weight"].shape[::-1]) for i in (0, 2, 4)]
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    x, y = minigrad.tensor(inputs), minigrad.tensor(wanted)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3)

    @prepared
    def update() -> Tensor:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def answer() -> Arrays:
        model.load_state_dict(weights)
        optimizer.state.clear()
        return {"losses": np.array([update().item() for _ in range(5)], np.float32)}

    return Task(lambda: update().item(), answer)


def product(width: int) -> Task:
    """A product of two square matrices by the BLAS of NumPy."""
    a, b = product_input(width)
    return Task(lambda: a @ b, lambda: {"product": a @ b})


def layer(of: Layer) -> Task:
    module = getattr(nn, of.kind)(*of.arguments, **of.options)
    shapes = {name: p.shape for name, p in module.named_parameters()}
    module.load_state_dict(layer_weights(shapes), strict=False)
    x = minigrad.tensor(Draw(6).normal(*of.shape), requires_grad=True)
    with minigrad.no_grad():
        shape = output_of(module(x)).shape
    g = minigrad.tensor(Draw(7).normal(*shape))

    def run() -> Tensor:
        x.grad = None
        module.zero_grad()
        out = output_of(module(x))
        out.backward(g)
        return out

    def answer() -> Arrays:
        out = run()
        gradients = {f"gradient of {n}": np.asarray(p.grad) for n, p in module.named_parameters()}
        return {"output": out.numpy(), "gradient of input": np.asarray(x.grad), **gradients}

    return Task(run, answer)


def output_of(result: Tensor | tuple[Tensor, ...]) -> Tensor:
    """The output of a layer; a recurrent one also returns its last state."""
    return result[0] if isinstance(result, tuple) else result


def attention(size: Size) -> Task:
    *inputs, cotangent = attention_input(size)
    tensors = [minigrad.tensor(array, requires_grad=True) for array in inputs]
    g = minigrad.tensor(cotangent)

    def run() -> Tensor:
        for tensor in tensors:
            tensor.grad = None
        out = nn.functional.scaled_dot_product_attention(*tensors)
        out.backward(g)
        return out

    def answer() -> Arrays:
        named = zip(("query", "key", "value"), tensors, strict=True)
        out = run().numpy()
        return {"output": out, **{f"gradient of {n}": np.asarray(t.grad) for n, t in named}}

    return Task(run, answer)


def words(number: int) -> Task:
    """Scores of all words by the table that is the embedding too, and their cross-entropy."""
    array, ids, following = words_input(number)
    table = minigrad.tensor(array, requires_grad=True)
    given, wanted = minigrad.tensor(ids), minigrad.tensor(following)

    def run() -> Tensor:
        table.grad = None
        scores = nn.functional.linear(nn.functional.embedding(given, table), table)
        loss = nn.functional.cross_entropy(scores, wanted)
        loss.backward()
        return loss

    def answer() -> Arrays:
        return {"loss": run().numpy(), "gradient of table": np.asarray(table.grad)}

    return Task(run, answer)


def table(optimizer: str) -> Task:
    """Steps that read 256 rows of a large table, with sparse gradients; five for the answer."""
    values, ids, cotangent = table_input()
    words = nn.Embedding(*values.shape, sparse=True)
    steps = getattr(optim, optimizer)(words.parameters(), lr=1e-3)
    g = minigrad.tensor(cotangent)

    def run() -> None:
        steps.zero_grad()
        words(ids).backward(g)
        steps.step()

    def answer() -> Arrays:
        words.load_state_dict({"weight": values})
        steps.state.clear()
        for _ in range(5):
            run()
        return {"table": words.weight.numpy().copy()}

    return Task(run, answer)


def adamw(width: int) -> Task:
    """Steps of AdamW with given gradients; the answer are the values after five."""

    def fresh() -> tuple[list[Tensor], optim.AdamW]:
        parameters = []
        for values, gradient in adamw_input(width):
            parameters.append(minigrad.tensor(values, requires_grad=True))
            parameters[-1].grad = minigrad.tensor(gradient)
        return parameters, optim.AdamW(parameters, lr=1e-3)

    def answer() -> Arrays:
        parameters, optimizer = fresh()
        for _ in range(5):
            optimizer.step()
        return {str(i): p.detach().numpy() for i, p in enumerate(parameters)}

    return Task(fresh()[1].step, answer)


def chain(length: int) -> Task:
    x = minigrad.tensor(np.arange(8, dtype=np.float32), requires_grad=True)
    w, seed = minigrad.ones(8, requires_grad=True), minigrad.ones(8)

    def run() -> None:
        x.grad = w.grad = None
        h = x
        for _ in range(length):
            h = h * w
        h.backward(seed)

    def answer() -> Arrays:
        run()
        return {"x": np.asarray(x.grad), "w": np.asarray(w.grad)}

    return Task(run, answer)


def nested(levels: int, calls: int) -> Task:
    module: nn.Module = nn.Identity()
    for _ in range(levels - 1):
        module = nn.Sequential(module)
    x = minigrad.ones(8)

    def run() -> None:
        for _ in range(calls):
            module(x)

    return Task(run, lambda: {"output": module(x).numpy()})
