"""About a hundred ordinary programs, whose pages are compared with what the programs did.

A program makes its models and data, and returns what is done with them, and them by their names.
"""

import inspect
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from optimizer_kinds import KINDS

import minigrad
from minigrad import Tensor, nn, no_grad, optim, randn, tensor
from minigrad.autograd import Function, checkpoint, grad
from minigrad.nn import functional as F

Program = Callable[[], tuple[Callable[..., Any], dict[str, Any]]]

PROGRAMS: dict[str, Program] = {}


def mlp(*sizes: int, activation: Any = nn.Tanh) -> nn.Sequential:
    layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), activation())]
    return nn.Sequential(*layers[:-1])


MADE: dict[str, Callable[[], Any]] = {
    "model": lambda: mlp(3, 4, 2),
    "x": lambda: randn(4, 3),
    "y": lambda: randn(4, 2),
}
"""What a program is given for an argument of this name."""


def program(act: Callable[..., Any], **made: Callable[[], Any]) -> Program:
    """Something that is done with models and data, which are made before."""
    names = inspect.signature(act).parameters
    return lambda: (act, {name: (MADE | made)[name]() for name in names})


# Training steps -------------------------------------------------------------------------------


def _trained(make: Callable[[Any], Any], before: Callable[..., Any] | None = None) -> Program:
    def run(model: Any, x: Any, y: Any) -> None:
        optimizer = make(model.parameters())
        for _ in range(2):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            if before is not None:
                before(model)
            optimizer.step()

    return program(run)


OPTIMIZERS = ["SGD", "nesterov", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta"]
BEFORE: dict[str, Callable[[Any], Any]] = {
    "clip_grad_norm": lambda m: nn.utils.clip_grad_norm_(m.parameters(), 0.01),
    "clip that does nothing": lambda m: nn.utils.clip_grad_norm_(m.parameters(), 1e6),
    "clip_grad_value": lambda m: nn.utils.clip_grad_value_(m.parameters(), 0.01),
    "zero_grad of a module": lambda m: m.zero_grad(),
    "zeros as gradients": lambda m: m.zero_grad(set_to_none=False),
    "gradients scaled": lambda m: [p.grad.mul_(0.5) for p in m.parameters()],
    "gradients assigned": lambda m: [setattr(p, "grad", p.grad * 2) for p in m.parameters()],
    "gradients by NumPy": lambda m: [np.copyto(p.grad.numpy(), 1.0) for p in m.parameters()],
    "gradient taken away": lambda m: delattr(m[0].weight, "grad"),
    "noise on gradients": lambda m: [p.grad.add_(randn(*p.shape)) for p in m.parameters()],
    "a state loaded": lambda m: m.load_state_dict({k: v * 2 for k, v in m.state_dict().items()}),
    "weights by index": lambda m: [p.data.__setitem__(0, 0.5) for p in m.parameters()],
    "weights by data": lambda m: [setattr(p, "data", p.data * 0.5) for p in m.parameters()],
    "weights initialized again": lambda m: [x.reset_parameters() for x in (m[0], m[2])],
    "weights clamped": lambda m: [p.data.clamp_(-0.1, 0.1) for p in m.parameters()],
    "weights frozen": lambda m: m.requires_grad_(False).requires_grad_(True),
    "a layer frozen": lambda m: m[0].requires_grad_(False),
}
PROGRAMS |= {f"training by {name}": _trained(KINDS[name]) for name in OPTIMIZERS}
PROGRAMS |= {name: _trained(KINDS["SGD"], one) for name, one in BEFORE.items()}


def of(**made: Callable[[], Any]) -> Callable[[Callable[..., Any]], None]:
    """A program with models and data of its own."""
    return lambda act: PROGRAMS.update({act.__name__: program(act, **made)})


def _accuracy(model: Any, x: Any) -> None:
    logits, target = model(x), np.array([0, 1, 1, 0])
    F.cross_entropy(logits, target).backward()
    float((logits.argmax(1) == tensor(target)).float().mean())


def _accumulated(model: Any, x: Any, y: Any) -> None:
    for part in (slice(0, 2), slice(2, 4)):
        (F.mse_loss(model(x[part]), y[part]) / 2).backward()


def _twice(model: Any, x: Any, y: Any) -> None:
    loss = F.mse_loss(model(x), y)
    loss.backward(retain_graph=True)
    loss.backward()


def _by_hand(model: Any, x: Any, y: Any) -> None:
    for _ in range(2):
        F.mse_loss(model(x), y).backward()
        with no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
                p.grad = None


def _by_data(model: Any, x: Any, y: Any) -> None:
    F.mse_loss(model(x), y).backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad.data
        p.grad.zero_()
    F.mse_loss(model(x), y).backward()


def _frozen_between(model: Any, x: Any, y: Any) -> None:
    F.mse_loss(model(x), y).backward()
    model[0].requires_grad_(False)
    F.mse_loss(model(x), y).backward()
    model[0].requires_grad_(True)
    F.mse_loss(model(x), y).backward()


def _penalty(model: Any, x: Any) -> None:
    x.requires_grad_()
    (slope,) = grad(model(x).sum(), x, create_graph=True)
    ((slope.norm(dim=1) - 1) ** 2).mean().backward()


def _hooked(model: Any, x: Any, y: Any) -> None:
    handle = model[0].weight.register_hook(lambda g: g * 2)
    F.mse_loss(model(x), y).backward()
    handle.remove()


def _sampled(model: Any, x: Any) -> None:
    mean, log_std = model(x).chunk(2, dim=1)
    (mean + log_std.exp() * randn(4, 1)).square().mean().backward()


def _policy(model: Any, x: Any) -> None:
    logits = model(x)
    taken = logits.argmax(1)
    (
        -F.log_softmax(logits, 1)[np.arange(4), taken] * tensor([1.0, 0.0, 2.0, 1.0])
    ).mean().backward()


def _attack(model: Any, x: Any, y: Any) -> None:
    x.requires_grad_()
    F.mse_loss(model(x), y).backward()
    moved = (x + 0.1 * x.grad.sign()).detach()
    model.zero_grad()
    F.mse_loss(model(moved), y).backward()


def _maml(model: Any, x: Any) -> None:
    weight = model[0].weight
    (slope,) = grad((x @ weight.T).square().mean(), weight, create_graph=True)
    (x @ (weight - 0.1 * slope).T).square().mean().backward()


def _mixed(model: Any, x: Any, y: Any) -> None:
    with no_grad():
        hidden = model[1](model[0](x))
    F.mse_loss(model[2](hidden), y).backward()


def _contrastive(model: Any, x: Any) -> None:
    a, b = (F.normalize(model(x + 0.1 * randn(4, 3)), dim=1) for _ in range(2))
    F.cross_entropy(a @ b.T / 0.1, np.arange(4)).backward()


def _lbfgs(model: Any, x: Any, y: Any) -> None:
    update = optim.LBFGS(model.parameters(), max_iter=2)

    def closure() -> Tensor:
        update.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        return loss

    update.step(closure)


def _scaled_loss(model: Any, x: Any, y: Any) -> None:
    (F.mse_loss(model(x), y) * 8.0).backward()
    for p in model.parameters():
        p.grad /= 8.0


class Straight(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.sign()

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Tensor:
        return g


class Silent(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        return x * 1.0

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        return g, None


ACTS: dict[str, Callable[..., Any]] = {
    "inputs": lambda model, x, y: F.mse_loss(model(x.requires_grad_()), y).backward(inputs=[x]),
    "saliency": lambda model, x: grad(model(x.requires_grad_())[:, 0].sum(), x),
    "detached first": lambda model, x, y: (
        (model[0].weight.detach() ** 2).sum() + F.mse_loss(model(x), y)
    ).backward(),
    "numpy first": lambda model, x, y: (
        minigrad.exp(model[0].weight.numpy()).sum() + F.mse_loss(model(x), y)
    ).backward(),
    "decay": lambda model, x, y: (
        F.mse_loss(model(x), y) + 0.1 * sum((p**2).sum() for p in model.parameters())
    ).backward(),
    "nothing": lambda model, x: model(x),
    "half": lambda model, x, y: F.mse_loss(model[2](model[1](model[0](x)).detach()), y).backward(),
    "by item": lambda model, x: ((out := model(x)) * out.abs().max().item()).sum().backward(),
    "by scale": lambda model, x: ((out := model(x)) / out.numpy().max()).sum().backward(),
    "rounded": lambda model, x: ((out := model(x)) + (out.round() - out).detach()).sum().backward(),
    "by integers": lambda model, x: ((out := model(x)) * out.int().float()).sum().backward(),
    "choice": lambda model, x: (
        minigrad.where((out := model(x)) > 0, out, out * 0.1).sum().backward()
    ),
    "top": lambda model, x: model(x).topk(1, dim=1).values.sum().backward(),
    "losses": lambda model, x, y: minigrad.autograd.backward(
        [F.mse_loss((out := model(x)), y), out.abs().mean()]
    ),
    "vector": lambda model, x: (out := model(x)).backward(minigrad.ones_like(out)),
    "checkpointed": lambda model, x, y: F.mse_loss(checkpoint(model, x), y).backward(),
    "straight": lambda model, x, y: F.mse_loss(Straight.apply(model(x)), y).backward(),
    "silent": lambda model, x: Silent.apply((out := model(x)), model[1](out)).sum().backward(),
}
PROGRAMS |= {name: program(act) for name, act in ACTS.items()}
_GIVEN = ["model", "x"]
PROGRAMS |= {
    name.strip("_").replace("_", " "): program(function)
    for name, function in list(globals().items())
    if inspect.isfunction(function) and [*inspect.signature(function).parameters][:2] == _GIVEN
}  # fmt: skip


# Activations and layers -----------------------------------------------------------------------


def _layered(make: Callable[[], nn.Module], *shape: int, train: bool = True) -> Program:
    def run(model: Any, x: Any) -> None:
        optimizer = optim.SGD(model.parameters(), 0.1)
        for _ in range(2):
            out = model(x)
            out = out[0] if isinstance(out, tuple) else out
            (out * out).mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    return program(run, model=lambda: make().train(train), x=lambda: randn(*shape))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.embedding((x.abs() * 2).int() % 5))


ACTIVATIONS = "ReLU LeakyReLU GELU SiLU ELU Hardtanh Softplus PReLU RReLU GLU Hardswish ReLU6"
LAYERS: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
    **{
        name: (lambda name=name: nn.Sequential(nn.Linear(3, 4), getattr(nn, name)()), (4, 3))
        for name in ACTIVATIONS.split()
    },
    "BatchNorm1d": (lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)), (4, 3)),
    "LayerNorm": (lambda: nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4)), (4, 3)),
    "Dropout": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)), (4, 3)),
    "Conv2d": (lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2)), (1, 1, 6, 6)),
    "RNN": (lambda: nn.RNN(3, 4), (3, 2, 3)),
    "LSTM": (lambda: nn.LSTM(3, 4, num_layers=2), (2, 2, 3)),
    "GRU": (lambda: nn.GRU(3, 4, batch_first=True), (2, 3, 3)),
    "encoder layer": (lambda: nn.TransformerEncoderLayer(4, 2, 8), (1, 3, 4)),
    "encoder": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), 4),
        (1, 3, 4),
    ),
    "tied weights": (Tied, (2, 3)),
    "one layer twice": (lambda: nn.Sequential(*[nn.Linear(3, 3)] * 2), (4, 3)),
    "spectral norm": (lambda: nn.utils.spectral_norm(nn.Linear(3, 2)), (4, 3)),
    "weight norm": (lambda: nn.utils.weight_norm(nn.Linear(3, 2)), (4, 3)),
}
PROGRAMS |= {name: _layered(make, *shape) for name, (make, shape) in LAYERS.items()}
PROGRAMS |= {
    f"{name} in eval mode": _layered(*LAYERS[name][:1], *LAYERS[name][1], train=False)
    for name in ("BatchNorm1d", "Dropout", "RReLU")
}


# Several models -------------------------------------------------------------------------------


@of(g=lambda: mlp(2, 3, 2), d=lambda: mlp(2, 3, 1, activation=nn.LeakyReLU),
    real=lambda: randn(3, 2), noise=lambda: randn(3, 2))  # fmt: skip
def gan(g: Any, d: Any, real: Any, noise: Any) -> None:
    update_g, update_d = optim.Adam(g.parameters(), 0.1), optim.SGD(d.parameters(), 0.1)
    for _ in range(2):
        update_d.zero_grad()
        (F.softplus(-d(real)) + F.softplus(d(g(noise).detach()))).mean().backward()
        update_d.step()
        d.requires_grad_(False)
        update_g.zero_grad()
        F.softplus(-d(g(noise))).mean().backward()
        update_g.step()
        d.requires_grad_(True)


@of(teacher=lambda: mlp(3, 4, 2), student=lambda: mlp(3, 4, 2))
def teacher_without_grad(teacher: Any, student: Any, x: Any) -> None:
    with no_grad():
        wanted = teacher(x)
    F.mse_loss(student(x), wanted).backward()


@of(net=lambda: mlp(3, 4, 2), target=lambda: mlp(3, 4, 2))
def target_network(net: Any, target: Any, x: Any) -> None:
    update = optim.SGD(net.parameters(), 0.1)
    for _ in range(2):
        target.load_state_dict(net.state_dict())
        update.zero_grad()
        with no_grad():
            best = target(x).max(dim=1).values
        F.mse_loss(net(x)[:, 0], 0.9 * best).backward()
        update.step()


@of(body=lambda: mlp(3, 4, 4), head=lambda: nn.Linear(4, 2))
def finetuning(body: Any, head: Any, x: Any, y: Any) -> None:
    update = optim.SGD(head.parameters(), 0.1)
    for frozen in (True, False):
        body.requires_grad_(not frozen)
        F.mse_loss(head(body(x)), y).backward()
        update.step()
        update.zero_grad()


@of(encoder=lambda: nn.Linear(3, 4), decoder=lambda: nn.Linear(2, 3))
def vae(encoder: Any, decoder: Any, x: Any) -> None:
    mean, log_var = encoder(x).chunk(2, dim=1)
    z = mean + (0.5 * log_var).exp() * randn(4, 2)
    divergence = -0.5 * (1 + log_var - mean**2 - log_var.exp()).sum()
    (F.mse_loss(decoder(z), x, reduction="sum") + divergence).backward()


@of(actor=lambda: mlp(3, 4, 2), critic=lambda: mlp(3, 4, 1), reward=lambda: randn(4))
def actor_and_critic(actor: Any, critic: Any, x: Any, reward: Any) -> None:
    value = critic(x).squeeze(1)
    advantage = (reward - value).detach()
    chosen = F.log_softmax(actor(x), 1)[:, 0]
    (-(chosen * advantage).mean() + F.mse_loss(value, reward)).backward()


@of(embedding=lambda: nn.Embedding(6, 4), head=lambda: nn.Linear(4, 6),
    layer=lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0))  # fmt: skip
def language_model(embedding: Any, layer: Any, head: Any) -> None:
    ids = np.array([[1, 2, 3, 4]])
    logits = head(layer(embedding(ids[:, :-1]), is_causal=True))
    F.cross_entropy(logits.reshape(-1, 6), ids[:, 1:].ravel()).backward()


@of(model=lambda: mlp(3, 4, 1))
def forces(model: Any, x: Any) -> None:
    own = x.detach().requires_grad_()
    (force,) = grad(model(own).sum(), own, create_graph=True)
    (force**2).mean().backward()


@of(w=lambda: tensor(1.5, requires_grad=True))
def loop_of_scalars(w: Any) -> None:
    y = w
    for k in range(6):
        y = y * w + float(k)
    y.backward()


@of(w=lambda: randn(3, requires_grad=True))
def leaf_in_place(w: Any, x: Any) -> None:
    for _ in range(2):
        (w * x).sum().backward()
        with no_grad():
            w -= 0.1 * w.grad
        w.grad.zero_()


@of(layer=lambda: nn.MultiHeadAttention(4, 2), x=lambda: randn(1, 3, 4))
def masked_attention(layer: Any, x: Any) -> None:
    mask = np.tril(np.ones((3, 3), bool))
    layer(x, x, x, attn_mask=mask).square().mean().backward()
