"""What a run may be besides its ops: a table of facts, each a function of an input and a parameter.

A step without recording, a rule of its own, a hook, a leaf made within, values that left, writes,
passes. `test_facts_and_readers.py` has what reads the record of such a run.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from custom_functions import Reversal, StraightThrough

import minigrad
from minigrad import Tensor, enable_grad, func, nn, no_grad, optim, tensor
from minigrad.autograd import Function, checkpoint, grad, once_differentiable


class Clipped(Function):
    """A rule that reads what was saved, and may not be differentiated."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(x)
        return minigrad.clip(x, 0.0, 1.5), x * 2.0

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor, h: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return g * x + 3.0 * h


class Scaled(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor) -> Tensor:
        ctx.save_for_backward(x, w)
        return x * w

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> Any:
        x, w = ctx.saved_tensors
        return g * w * 2.0, g * x


def without_recording(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        target = x * w
    return (x - 0.5 * target) * w * target


def gradient(x: Tensor, w: Tensor, *, create_graph: bool) -> Tensor:
    with enable_grad():
        (g,) = grad((x * w**3).sum(), w, create_graph=create_graph)
    return g * w * x


def recording_within(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        target = x * w
        with enable_grad():
            y = x * w * w
    return y * target


def retained(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        y = x * w
        y.retain_grad()
        (y**3).sum().backward()
    return y.grad * w


def written_in_place(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y += w
    y[1:3] = w[:2] * 3.0
    y[0].mul_(2.0)
    return y * 2.0


def written_without_recording(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    with no_grad():
        y.mul_(3.0)
        y[1] = 0.5
    return y + w


def function_of_two(x: Tensor, w: Tensor) -> Tensor:
    one, other = Clipped.apply(x * w)
    return one * w + other


def hooked(x: Tensor, w: Tensor, hook: Any, *, remove: bool = False) -> Tensor:
    y = x * w
    if y.requires_grad:
        handle = y.register_hook(hook)
        if remove:
            handle.remove()
    return y * y


def layer_with(register: str, hook: Any) -> Callable[[Tensor, Tensor], Tensor]:
    layer = nn.Tanh()
    getattr(layer, register)(hook)
    return lambda x, w: layer(x * w) * w


def made_leaf(x: Tensor, w: Tensor) -> Tensor:
    y = (x * w).detach().requires_grad_()
    with enable_grad():
        (y**3).sum().backward()
    assert y.grad is not None
    return y.grad * w


def made_leaf_with_a_recorded_gradient(x: Tensor, w: Tensor) -> Tensor:
    """Forces, and gradient penalties."""
    y = x.detach().requires_grad_()
    with enable_grad():
        (g,) = grad((w * y**3).sum(), y, create_graph=True)
    return g * x


def parameter_made_within(x: Tensor, w: Tensor) -> Tensor:
    v = nn.Parameter(x.detach() * 2.0)
    return v * w


def branch(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    return y if y.sum() > 0 else -3.0 * y


def interior_data(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.data.mul_(2.0)
    return y * w


def part_of_data(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.data[1] = 5.0
    return y * w


def clamped_parameter(x: Tensor, w: Tensor) -> Tensor:
    """As in a Wasserstein GAN."""
    w.data.clamp_(-0.8, 0.8)
    return x * w


def parameter_data(x: Tensor, w: Tensor) -> Tensor:
    """Written between two uses that save nothing of it."""
    y = x + w
    w.data.mul_(0.5)
    return y * 2.0 + w


def replaced_data(x: Tensor, w: Tensor) -> Tensor:
    w.data = w.data * 0.9
    return x * w


def written_part(x: Tensor, w: Tensor) -> Tensor:
    with no_grad():
        w[:2].mul_(0.5)
        w[3] = 0.25
    return x * w


def updated_by_hand(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (x * w * w).sum().backward()
    with no_grad():
        w -= 0.1 * w.grad
    return x * w


def updated(x: Tensor, w: Tensor) -> Tensor:
    optimizer = optim.SGD([w], lr=0.1)
    with enable_grad():
        (x * w * w).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return x * w


def detached_in_place(x: Tensor, w: Tensor) -> Tensor:
    y = x * w
    y.detach_()
    return y * w


def hook_from_within(x: Tensor, w: Tensor) -> Tensor:
    if w.requires_grad:
        w.register_hook(lambda g: g * 2.0)
    return x * w * w


def clipped_grad(x: Tensor, w: Tensor) -> Tensor:
    w.grad = None
    with enable_grad():
        y = x * w
        (y * y).sum().backward()
    w.grad.mul_(0.25)
    return w.grad * x


def replaced_grad(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (x * w * w).sum().backward()
    w.grad = x.detach() * 2.0
    return w.grad * w


def grad_that_is_only_written(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        (x * w * w).sum().backward()
    return x * w


def several_passes(x: Tensor, w: Tensor) -> Tensor:
    with enable_grad():
        y = (x * w) ** 2
        y.sum().backward(retain_graph=True)
        (2.0 * y).sum().backward()
    return w.grad * x


def frozen_within(x: Tensor, w: Tensor) -> Tensor:
    w.requires_grad_(False)
    y = x * w
    w.requires_grad_(True)
    return y * w


def thawed_within(x: Tensor, w: Tensor) -> Tensor:
    w.requires_grad_(False)
    y = x * w
    w.requires_grad_(True)
    return y


def thawed_before(x: Tensor, w: Tensor) -> Tensor:
    w.requires_grad_(True)
    return x * w * w


def frozen_after(x: Tensor, w: Tensor) -> Tensor:
    """Between the forward pass and the backward pass."""
    y = (x * w) ** 2
    w.requires_grad_(False)
    return y


def checkpointed(x: Tensor, w: Tensor) -> Tensor:
    return checkpoint(lambda z: (z * w).tanh() * z, x) * w


def hooked_checkpoint(x: Tensor, w: Tensor) -> Tensor:
    y = checkpoint(lambda z: z * w * z, x)
    if y.requires_grad:
        y.register_hook(lambda g: g.clip(-0.5, 0.5))
    return y * x


def checkpoint_with_an_island(x: Tensor, w: Tensor) -> Tensor:
    def part(z: Tensor) -> tuple[Tensor, Tensor]:
        with no_grad():
            target = z * w
        return z * target, target

    y, target = checkpoint(part, x)
    return y * w + target


class Fact(NamedTuple):
    function: Callable[[Tensor, Tensor], Tensor]
    prepare: Callable[[Tensor], Any] = lambda w: None


FACTS: dict[str, Fact] = {
    "plain": Fact(lambda x, w: x * w * w),
    "no_grad": Fact(without_recording),
    "all under no_grad": Fact(no_grad()(lambda x, w: x * w * 2.0)),
    "detached": Fact(lambda x, w: (x * w).detach() * w),
    "gradient, not recorded": Fact(partial(gradient, create_graph=False)),
    "gradient, recorded": Fact(partial(gradient, create_graph=True)),
    "recording within no_grad": Fact(recording_within),
    "retained gradient": Fact(retained),
    "written in place": Fact(written_in_place),
    "written, not recorded": Fact(written_without_recording),
    "Function, straight-through": Fact(lambda x, w: StraightThrough.apply(x * w) * x),
    "Function, gradient reversal": Fact(lambda x, w: Reversal.apply(x * w, 2.0) ** 2),
    "Function, saved and once": Fact(function_of_two),
    "Function of a parameter": Fact(lambda x, w: Scaled.apply(x * 1.0, w) * x),
    "hook of a tensor": Fact(partial(hooked, hook=lambda g: g.clip(-0.5, 0.5))),
    "hook that only sees": Fact(partial(hooked, hook=lambda g: None)),
    "hook, removed": Fact(partial(hooked, hook=lambda g: g * 10.0, remove=True)),
    "hook of a leaf": Fact(lambda x, w: x * w * w, lambda w: w.register_hook(lambda g: g.sign())),
    "hook after .grad": Fact(
        grad_that_is_only_written,
        lambda w: w.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(3.0)),
    ),
    "forward hook": Fact(layer_with("register_forward_hook", lambda m, a, y: y * 2.0)),
    "forward pre-hook": Fact(layer_with("register_forward_pre_hook", lambda m, a: a[0] ** 2)),
    "backward hook": Fact(
        layer_with("register_full_backward_hook", lambda m, i, o: (i[0].clip(-0.2, 0.2),))
    ),
    "backward pre-hook": Fact(
        layer_with("register_full_backward_pre_hook", lambda m, o: (o[0].sign(),))
    ),
    "leaf made within": Fact(made_leaf),
    "leaf made within, recorded": Fact(made_leaf_with_a_recorded_gradient),
    "parameter made within": Fact(parameter_made_within),
    "item": Fact(lambda x, w: x * w * x.sum().item()),
    "float of a parameter": Fact(lambda x, w: x * float(w[0]) * w),
    "numpy": Fact(lambda x, w: x * w / float(np.abs(x.detach().numpy()).max())),
    "array again a tensor": Fact(lambda x, w: x * tensor((x * w).detach().numpy()) * w),
    "tolist": Fact(lambda x, w: w * tensor(x.tolist(), dtype=x.dtype)),
    "branch": Fact(branch),
    "data of a tensor": Fact(interior_data),
    "part of data": Fact(part_of_data),
    "data of a parameter": Fact(clamped_parameter),
    "data, between two uses": Fact(parameter_data),
    ".grad written": Fact(clipped_grad),
    ".grad replaced": Fact(replaced_grad),
    ".grad only added to": Fact(grad_that_is_only_written),
    "several passes": Fact(several_passes),
    ".data replaced": Fact(replaced_data),
    "part of a parameter": Fact(written_part),
    "updated by hand": Fact(updated_by_hand),
    "updated by an optimizer": Fact(updated),
    "detached in place": Fact(detached_in_place),
    "hook of a leaf, from within": Fact(hook_from_within),
    "gradient of a function": Fact(lambda x, w: func.grad(lambda z: (z**3 * w).sum())(x) * w),
    "frozen": Fact(lambda x, w: x * w * w, lambda w: w.requires_grad_(False)),
    "frozen for a while": Fact(frozen_within),
    "thawed after": Fact(thawed_within),
    "thawed before": Fact(thawed_before, lambda w: w.requires_grad_(False)),
    "frozen after": Fact(frozen_after),
    "checkpoint": Fact(checkpointed),
    "checkpoint with a hook": Fact(hooked_checkpoint),
    "checkpoint with no_grad": Fact(checkpoint_with_an_island),
}


def parameter(fact: Fact) -> nn.Parameter:
    w = nn.Parameter(tensor([0.7, -1.1, 0.4, 1.3], dtype=minigrad.float64))
    fact.prepare(w)
    return w


def inputs(seed: int = 0) -> np.ndarray:
    """Some have a positive sum, others a negative one."""
    sign = (1.0, -1.0)[seed % 2]
    return sign * np.random.default_rng(seed).uniform(0.6, 2.4, 4)
