"""A user's program as type checkers see it: mypy --strict and basedpyright find nothing to say.

What PyTorch's names give is in tests/pytorch_door/typed_training.py.

tests/test_typing.py runs them. `assert_type` holds an expression to its type.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal, assert_type

import numpy as np

import minigrad
from minigrad import Tensor, nn, optim, viz
from minigrad import func as transforms
from minigrad.autograd import gradcheck, primitive
from minigrad.nn import functional as F

# Submodules

assert_type(nn.utils.clip_grad_norm(nn.Linear(2, 3).parameters(), 1.0), float)
SUBMODULES = (
    nn.by_hand, nn.functional, nn.generation, nn.init, nn.utils, minigrad.debugging,
    optim.lr_scheduler, optim.swa_utils,
)  # fmt: skip

# Tensors, operators, methods and functions

x = minigrad.randn(4, 3, requires_grad=True)
y = minigrad.tensor([1.0, 2.0, 3.0])
assert_type(x, Tensor)
assert_type([y[0], x[:, None, 1:2]], list[Tensor])
assert_type([1 - y, 2.0 / y, y - 1, -y, x @ y, y**2, abs(y)], list[Tensor])
assert_type(sum([x, y]), Tensor | Literal[0])
assert_type([x.T, x.sum(dim=0), x.reshape(3, 4), x.mean(), x.topk(2).values], list[Tensor])
assert_type([minigrad.where(y > 0, y, 0.0), minigrad.exp(y)], list[Tensor])
assert_type([minigrad.concatenate([y, y]), minigrad.linalg.inv(x[:3])], list[Tensor])
assert_type(minigrad.zeros(2, 3, dtype=minigrad.float64), Tensor)
assert_type(list(x), list[Tensor])
assert_type([x.shape[0], x.size(0), x.numel()], list[int])
assert_type(y.item(), float | int | bool)
y[0] = 4.0
y += 1
assert_type(y, Tensor)
assert_type(y.add_(1), Tensor)

# Gradients

(x * x).sum().backward()
handle = x.register_hook(lambda g: 2 * g)
handle.remove()
assert_type(minigrad.autograd.grad(x.sum(), (x, y)), tuple[Tensor, ...])
assert_type(gradcheck(minigrad.sin, y), bool)
with minigrad.no_grad():
    assert_type(y * 2, Tensor)


def loss_of(w: Tensor) -> Tensor:
    return (w * w).sum()


slope: Callable[..., Any] = transforms.grad(loss_of)


@primitive
def cube(a: Any) -> Any:
    return a**3


cube.defvjp(a=lambda g, a: 3 * g * a**2)
cubed: Tensor = cube(y)


@primitive(numpy=np.i0, float_inputs=True)
def bessel(a: Any, order: int = 0) -> Any:
    return np.i0(a) + order


assert_type(bessel(y, order=1), Tensor)
assert_type(primitive(functools.partial(bessel.op.forward, order=1))(y), Tensor)


# Modules


class Model(nn.Module):
    """A model of its own, with a buffer."""

    table: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(width, 2)
        self.blocks = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
        self.register_buffer("table", np.ones(width))

    def forward(self, inputs: Tensor) -> Tensor:
        for block in self.blocks:
            inputs = block(inputs)
        return F.relu(self.linear(inputs * self.table))


model = Model(3)
assert_type(model.linear, nn.Linear)
assert_type(model.linear.weight, nn.Parameter)
assert_type(model.linear(x), Tensor)
assert_type(model.table, Tensor)
assert_type(nn.BatchNorm1d(3).running_mean, Tensor | None)
assert_type(nn.CrossEntropyLoss()(x, y), Tensor)
assert_type(list(model.parameters()), list[nn.Parameter])
assert_type(dict(model.named_buffers()), dict[str, Tensor])
assert_type(model.eval(), Model)
hidden = minigrad.ones(1, 4, 6)
encoded, all_weights = nn.TransformerEncoder(nn.TransformerEncoderLayer(6, 2), 2)(
    hidden, need_weights=True
)
attended, weights = nn.MultiHeadAttention(6, 2)(hidden, hidden, hidden, need_weights=True)

loss = F.cross_entropy(model(x), np.arange(4) % 2)
optim.lr_scheduler.StepLR(optim.AdamW(model.parameters(), lr=1e-3), step_size=10).step()
assert_type(viz.graph(loss).to_svg(), str)
minigrad.save(model.state_dict(), "model.npz")
