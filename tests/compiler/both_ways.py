"""Train twice, plainly and captured, and compare everything bit for bit."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

import minigrad
from minigrad import Tensor, nn, optim
from minigrad.transforms.structure import flatten

Made = tuple[Callable[..., Any], Sequence[Any]]
"""A step, and what it trains: modules, optimizers, schedules, tensors."""


def bits(thing: Any) -> Any:
    """What can be compared bit for bit: arrays as dtype, shape and bytes, and so on within."""
    if isinstance(thing, Tensor):
        return bits(thing.numpy())
    if isinstance(thing, (np.ndarray, np.generic)):
        return thing.dtype, thing.shape, thing.tobytes()
    if isinstance(thing, dict):
        return {key: bits(part) for key, part in thing.items()}
    if isinstance(thing, (tuple, list)):
        return [bits(part) for part in thing]
    if dataclasses.is_dataclass(thing):
        return [bits(getattr(thing, field.name)) for field in dataclasses.fields(thing)]
    return repr(thing) if isinstance(thing, float) else thing


def updated(optimizer: Any, loss: Any) -> Any:
    """One step of an optimizer along a loss; the loss."""
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def owning(owners: Callable[[], Sequence[Any]], step: Callable[..., Any]) -> Callable[[], Made]:
    """A step that is given what it trains, behind its arguments: ``step(*arguments, *owners)``."""

    def make() -> Made:
        made = owners()
        return lambda *arguments: step(*arguments, *made), made

    return make


def all_of(owners: Iterable[Any]) -> dict[str, Any]:
    """Parameters, gradients, buffers and states of what a step trains, and the random state."""
    found: dict[str, Any] = {"random": minigrad.random.get_state()}
    for i, owner in enumerate(owners):
        if isinstance(owner, nn.Module):
            found[f"{i} state"] = bits(owner.state_dict())
            found[f"{i} grads"] = {n: bits(p.grad) for n, p in owner.named_parameters()}
        elif isinstance(owner, (optim.Optimizer, optim.lr_scheduler.LRScheduler)):
            found[f"{i} state"] = bits(owner.state_dict())
        else:
            found[f"{i} tensor"] = bits(owner), bits(owner.grad)
    return found


def batches(n: int, *kinds: Any, seed: int = 0) -> list[tuple[Tensor, ...]]:
    """`n` batches of tensors: a shape gives normal floats, (shape, k) integers below k."""
    draw = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        tensors = []
        for kind in kinds:
            if kind and isinstance(kind[0], tuple):
                shape, below = kind
                tensors.append(minigrad.tensor(draw.integers(0, below, shape)))
            else:
                tensors.append(minigrad.tensor(draw.standard_normal(kind).astype("f4")))
        made.append(tuple(tensors))
    return made


def run(
    make: Callable[[], Made], calls: Sequence[Sequence[Any]], verify: bool | int | None,
    between: Callable[[int, Sequence[Any]], None] | None = None,
) -> tuple[list[Any], Any]:  # fmt: skip
    """What a step returned and left behind, in each call; and the step, captured unless None."""
    minigrad.random.seed(0)
    step, owners = make()
    called = step if verify is None else minigrad.capture(step, verify=verify)
    seen = []
    for i, arguments in enumerate(calls):
        if between is not None:
            between(i, owners)
        result = called(*arguments)
        seen.append((bits(result), all_of(owners), [bits(a) for _, a in flatten(arguments, "")]))
    return seen, called


def check(
    make: Callable[[], Made], calls: Sequence[Sequence[Any]],
    between: Callable[[int, Sequence[Any]], None] | None = None,
) -> Any:  # fmt: skip
    """Run plainly, captured, and verified at every call, and compare; the captured step."""
    plain, _ = run(make, calls, None, between)
    for verify in (1, False):
        captured, step = run(make, calls, verify, between)
        for i, (a, b) in enumerate(zip(plain, captured, strict=True)):
            assert a[0] == b[0], f"call {i} returned something else"
            for name in a[1]:
                assert a[1][name] == b[1][name], f"call {i} left {name} behind otherwise"
            assert a[2] == b[2], f"call {i} changed its arguments"
        assert step.program is not None
    return step
