"""PyTorch, eager."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
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
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

Prepared = Callable[[Any], Any]
"""What is done with a model before it is used; `pytorch_compiled` compiles it."""


def plain(model: Any) -> Any:
    """The model as it is."""
    return model


def stack(size: Size, dropout: float) -> nn.TransformerEncoder:
    layer = nn.TransformerEncoderLayer(
        size.width, size.heads, size.hidden, dropout, batch_first=True
    )
    return nn.TransformerEncoder(layer, size.depth, enable_nested_tensor=False)


def load(model: nn.Module, weights: Arrays) -> None:
    model.load_state_dict({name: torch.tensor(array) for name, array in weights.items()})


def encoder(size: Size, prepared: Prepared = plain) -> Task:
    """Encoder layers; PyTorch chooses the kernel of attention."""
    model = stack(size, dropout=0.0)
    load(model, encoder_weights(size))
    start, cotangent = encoder_input(size)
    x, g = torch.tensor(start, requires_grad=True), torch.tensor(cotangent)
    apply = prepared(model)

    def run() -> Tensor:
        x.grad = None
        model.zero_grad()
        out = apply(x)
        out.backward(g)
        return out

    def answer() -> Arrays:
        out = run()
        return {
            "output": out.detach().numpy(),
            "gradient of input": x.grad.numpy(),
            **{f"gradient of {name}": p.grad.numpy() for name, p in model.named_parameters()},
        }

    return Task(run, answer)


def product(width: int) -> Task:
    """A product of two square matrices."""
    a, b = map(torch.tensor, product_input(width))
    return Task(lambda: a @ b, lambda: {"product": (a @ b).numpy()})


def layer(of: Layer) -> Task:
    module = getattr(nn, of.kind)(*of.arguments, **of.options)
    weights = layer_weights({name: tuple(p.shape) for name, p in module.named_parameters()})
    tensors = {name: torch.tensor(array) for name, array in weights.items()}
    module.load_state_dict(tensors, strict=False)
    x = torch.tensor(Draw(6).normal(*of.shape), requires_grad=True)
    with torch.no_grad():
        shape = output_of(module(x)).shape
    g = torch.tensor(Draw(7).normal(*shape))

    def run() -> Tensor:
        x.grad = None
        module.zero_grad()
        out = output_of(module(x))
        out.backward(g)
        return out

    def answer() -> Arrays:
        out = run()
        gradients = {f"gradient of {n}": p.grad.numpy() for n, p in module.named_parameters()}
        return {"output": out.detach().numpy(), "gradient of input": x.grad.numpy(), **gradients}

    return Task(run, answer)


def output_of(result: Tensor | tuple[Tensor, ...]) -> Tensor:
    """The output of a layer; a recurrent one also returns its last state."""
    return result[0] if isinstance(result, tuple) else result


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
                x = checkpoint(layer, x, use_reentrant=False)
        else:
            x = self.encoder(x)
        return self.head(x)  # (batch, length, vocabulary)


class Training:
    """A model, its optimizer, and a fixed batch."""

    def __init__(
        self, size: Size, dropout: float, checkpointed: bool = False, prepared: Prepared = plain
    ) -> None:
        self.model = Model(size, dropout, checkpointed)
        self.apply = prepared(self.model)
        load(self.model, model_weights(size))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        ids, wanted = model_input(size)
        self.ids, self.wanted = torch.tensor(ids), torch.tensor(wanted.reshape(-1))

    def step(self) -> float:
        self.optimizer.zero_grad()
        scores = self.apply(self.ids)
        loss = nn.functional.cross_entropy(scores.reshape(-1, VOCABULARY), self.wanted)
        loss.backward()
        self.optimizer.step()
        return loss.item()


def training(
    size: Size, dropout: float, checkpointed: bool = False, prepared: Prepared = plain
) -> Task:
    """Training steps; the answer is five losses without dropout, which is random."""

    def answer() -> Arrays:
        fresh = Training(size, 0.0, checkpointed, prepared)
        return {"losses": np.array([fresh.step() for _ in range(5)], np.float32)}

    return Task(Training(size, dropout, checkpointed, prepared).step, answer)


def perceptron(width: int, prepared: Prepared = plain) -> Task:
    """Training steps of three linear layers on a batch of 32."""
    weights, (inputs, wanted) = perceptron_weights(width), perceptron_input(width)
    layers = [nn.Linear(*weights[f"{i}.weight"].shape[::-1]) for i in (0, 2, 4)]
    model = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])
    x, y = torch.tensor(inputs), torch.tensor(wanted)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    apply = prepared(model)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(apply(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    def answer() -> Arrays:
        load(model, weights)
        optimizer.state.clear()
        return {"losses": np.array([step() for _ in range(5)], np.float32)}

    return Task(step, answer)


def attention(size: Size) -> Task:
    """Attention; PyTorch chooses its kernel."""
    *inputs, cotangent = attention_input(size)
    tensors = [torch.tensor(array, requires_grad=True) for array in inputs]
    g = torch.tensor(cotangent)

    def run() -> Tensor:
        for tensor in tensors:
            tensor.grad = None
        out = nn.functional.scaled_dot_product_attention(*tensors)
        out.backward(g)
        return out

    def answer() -> Arrays:
        named = zip(("query", "key", "value"), tensors, strict=True)
        out = run().detach().numpy()
        return {"output": out, **{f"gradient of {n}": t.grad.numpy() for n, t in named}}

    return Task(run, answer)


def words(number: int) -> Task:
    """Scores of all words by the table that is the embedding too, and their cross-entropy."""
    array, ids, following = words_input(number)
    table = torch.tensor(array, requires_grad=True)
    given, wanted = torch.tensor(ids), torch.tensor(following)

    def run() -> Tensor:
        table.grad = None
        scores = nn.functional.linear(nn.functional.embedding(given, table), table)
        loss = nn.functional.cross_entropy(scores, wanted)
        loss.backward()
        return loss

    def answer() -> Arrays:
        return {"loss": run().detach().numpy(), "gradient of table": table.grad.numpy()}

    return Task(run, answer)


def table(optimizer: str) -> Task:
    """Steps that read 256 rows of a large table, with sparse gradients; five for the answer."""
    values, chosen, cotangent = table_input()
    words = nn.Embedding(*values.shape, sparse=True)
    steps = getattr(torch.optim, optimizer)(words.parameters(), lr=1e-3)
    ids, g = torch.tensor(chosen), torch.tensor(cotangent)

    def run() -> None:
        steps.zero_grad()
        words(ids).backward(g)
        steps.step()

    def answer() -> Arrays:
        load(words, {"weight": values})
        steps.state.clear()
        for _ in range(5):
            run()
        return {"table": words.weight.detach().numpy().copy()}

    return Task(run, answer)


def adamw(width: int) -> Task:
    """Steps of AdamW with given gradients; the answer are the values after five."""

    def fresh() -> tuple[list[Tensor], torch.optim.AdamW]:
        parameters = []
        for values, gradient in adamw_input(width):
            parameters.append(torch.tensor(values, requires_grad=True))
            parameters[-1].grad = torch.tensor(gradient)
        return parameters, torch.optim.AdamW(parameters, lr=1e-3)

    def answer() -> Arrays:
        parameters, optimizer = fresh()
        for _ in range(5):
            optimizer.step()
        return {str(i): p.detach().numpy() for i, p in enumerate(parameters)}

    return Task(fresh()[1].step, answer)


def chain(length: int) -> Task:
    x = torch.arange(8, dtype=torch.float32).requires_grad_()
    w, seed = torch.ones(8, requires_grad=True), torch.ones(8)

    def run() -> None:
        x.grad = w.grad = None
        h = x
        for _ in range(length):
            h = h * w
        h.backward(seed)

    def answer() -> Arrays:
        run()
        return {"x": x.grad.numpy(), "w": w.grad.numpy()}

    return Task(run, answer)


def nested(levels: int, calls: int) -> Task:
    module: nn.Module = nn.Identity()
    for _ in range(levels - 1):
        module = nn.Sequential(module)
    x = torch.ones(8)

    def run() -> None:
        for _ in range(calls):
            module(x)

    return Task(run, lambda: {"output": module(x).numpy()})
