"""What is no op: vmap does for each sample what a loop does, or says that it cannot, and where.

The facts that every reader of a record meets are in tests/tracing/test_facts_and_readers.py.

Each function is mapped and looped over: its results, and the gradients that the caller asks for.
"""

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from custom_functions import Reversal, StraightThrough

import minigrad
from minigrad import Tensor, nn, no_grad, tensor
from minigrad.autograd import Function, grad, once_differentiable
from minigrad.func import vmap
from minigrad.transforms.batching import CannotMap

SAMPLES = 3


class Halves(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(x)
        return x[:2] * 1.0, x[2:] * x[:2]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Tensor, h: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return minigrad.cat([3.0 * g, h * x[:2] / h.abs().max()])


def island_within(x: Tensor) -> Tensor:
    def loss(z: Tensor) -> Tensor:
        with no_grad():
            target = z * 2.0
        return (z * target).sum()

    return minigrad.func.grad(loss)(x)


def hooked_constant(x: Tensor, w: Tensor) -> Tensor:
    y = w * 2.0
    y.register_hook(lambda g: g / g.abs().max())
    return (y * x).sum()


def hooked_argument(x: Tensor) -> Tensor:
    y = x * x
    if x.requires_grad:
        x.register_hook(lambda g: g.abs())
    return (y * x).sum()


def hooked_written(x: Tensor) -> Tensor:
    y = x * 2.0
    y.mul_(x)
    y.register_hook(lambda g: g.sign())
    return (y * y).sum()


def leaf_with_two_passes(x: Tensor) -> Tensor:
    y = x.detach().clone().requires_grad_()
    for power in (2, 3):
        (y**power).sum().backward()
    assert y.grad is not None
    return (y.grad * x).sum()


def parameter_of_a_sample(x: Tensor) -> Tensor:
    w = nn.Parameter(x.detach().clone())
    ((w * w).sum() * 2.0).backward()
    assert w.grad is not None
    return (w.grad * x).sum()


def frozen_for_a_while(x: Tensor) -> Tensor:
    (w := nn.Parameter(x.detach().clone())).requires_grad_(False)
    y = (w * x).sum()
    w.requires_grad_(True)
    ((w * y.detach()).sum() ** 2).backward()
    assert w.grad is not None
    return y * w.grad


FUNCTIONS: list[Callable[[Tensor], Any]] = [
    island_within, hooked_argument, hooked_written, leaf_with_two_passes, parameter_of_a_sample,
    frozen_for_a_while,
    lambda x: (Reversal.apply(StraightThrough.apply(x * 3.0), 2.0) * x).sum(),
    lambda x: (Halves.apply(x)[0] * 2.0 + Halves.apply(x)[1]).sum(),
    lambda x: minigrad.func.grad(lambda z: (StraightThrough.apply(z) * z).sum())(x),
]  # fmt: skip


def differentiated(function: Callable[..., Any], *inputs: np.ndarray) -> list[np.ndarray]:
    """The results, and the gradients of a weighted sum of them."""
    tensors = [tensor(x, requires_grad=x.dtype.kind == "f") for x in inputs]
    found = function(*tensors)
    results = [found.detach().numpy()]
    if found.requires_grad:
        weights = np.cos(np.arange(found.numel())).reshape(found.shape)
        wanted = [x for x in tensors if x.requires_grad]
        gradients = grad((found * weights).sum(), wanted, allow_unused=True)
        results += [np.zeros(()) if g is None else g.numpy() for g in gradients]
    return results


def looped(function: Callable[..., Any], in_dims: tuple[int | None, ...]) -> Callable[..., Any]:
    def over(*args: Any) -> Any:
        samples = [
            [arg if dim is None else arg[i] for arg, dim in zip(args, in_dims, strict=True)]
            for i in range(SAMPLES)
        ]
        return minigrad.stack([function(*sample) for sample in samples])

    return over


def assert_as_looped(
    function: Callable[..., Any], in_dims: tuple[int | None, ...], *inputs: np.ndarray
) -> None:
    wanted = differentiated(looped(function, in_dims), *inputs)
    found = differentiated(vmap(function, in_dims=in_dims), *inputs)
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def inputs_of(rows: int = SAMPLES) -> np.ndarray:
    return np.random.default_rng(3).uniform(0.6, 2.4, (rows, 4))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_fact_holds_for_each_sample(function: Callable[[Tensor], Any]) -> None:
    assert_as_looped(function, (0,), inputs_of())


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_fact_holds_where_nothing_requires_a_gradient(function: Callable[[Tensor], Any]) -> None:
    x = tensor(inputs_of())
    try:
        wanted = looped(function, (0,))(x)
    except RuntimeError as error:
        with pytest.raises(RuntimeError, match=re.escape(str(error))):
            vmap(function)(x)
        return
    found = vmap(function)(x)
    np.testing.assert_allclose(found.detach().numpy(), wanted.detach().numpy(), rtol=1e-6)


def test_a_hook_of_what_is_the_same_for_all_sees_each_sample() -> None:
    assert_as_looped(hooked_constant, (0, None), inputs_of(), inputs_of()[0])


@pytest.mark.parametrize("first", [True, False])
def test_a_tensor_from_outside_is_read_with_its_own_history(first: bool) -> None:
    """A parameter and a detached tensor share their memory, and so do both with a Function's."""
    w = tensor(inputs_of()[0], requires_grad=True)
    alias, x = w.detach(), tensor(inputs_of())

    def one(row: Tensor) -> Tensor:
        product = alias * row * w if first else w * row * alias
        return product + StraightThrough.apply(w) * row

    (found,) = grad(vmap(one)(x).sum(), w)
    (wanted,) = grad(looped(one, (0,))(x).sum(), w)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-6)


Index = Callable[[Tensor, Tensor], Any]
INDICES: dict[str, Index] = {
    "k": lambda k, m: k,
    "[k]": lambda k, m: [k],
    "k, 0": lambda k, m: (k, 0),
    "0, k": lambda k, m: (0, k),
    "k, k": lambda k, m: (k, k),
    "k[None]": lambda k, m: k[None],
    "k[None], 0": lambda k, m: (k[None], 0),
    "..., k": lambda k, m: (..., k),
    "k, ...": lambda k, m: (k, ...),
    ":, k": lambda k, m: (slice(None), k),
    "k, 1:": lambda k, m: (k, slice(1, None)),
    "1:, k": lambda k, m: (slice(1, None), k),
    "::2, k": lambda k, m: (slice(None, None, 2), k),
    "None, k": lambda k, m: (None, k),
    "m": lambda k, m: m,
    "m, 0": lambda k, m: (m, 0),
    "0, m": lambda k, m: (0, m),
    "m, m": lambda k, m: (m, m),
    "m[:, None], m": lambda k, m: (m[:, None], m),
    "m[:, None], 0": lambda k, m: (m[:, None], 0),
    "m, k": lambda k, m: (m, k),
    "mask": lambda k, m: minigrad.arange(4) == k,
}
USES: dict[str, Callable[[Tensor, Any, Tensor], Tensor]] = {
    "read": lambda z, index, y: z[index] * y,
    "write": lambda z, index, y: written(z * 1.0, index, y),
    "+=": lambda z, index, y: added(z * 1.0, index, y),
}
REFUSED = {"[k]", "m, k", "mask"}  # a number read from a tensor; another count for each sample


def written(z: Tensor, index: Any, y: Tensor) -> Tensor:
    z[index] = y
    return z * z


def added(z: Tensor, index: Any, y: Tensor) -> Tensor:
    z[index] += y
    return z * z


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("index", INDICES)
def test_an_index_of_each_sample(index: str, use: str) -> None:
    rng = np.random.default_rng(0)
    made, used = INDICES[index], USES[use]
    for z, k, y in itertools.product((0, None), repeat=3):
        given = [
            rng.standard_normal((SAMPLES, 4, 4) if z == 0 else (4, 4)),
            np.array([2, 0, 3]) if k == 0 else np.array(2),
            np.array([[1, 0], [3, 2], [0, 3]]) if k == 0 else np.array([1, 0]),
            rng.standard_normal(SAMPLES if y == 0 else ()),
        ]
        if z is k is y is None:
            continue
        try:
            assert_as_looped(lambda z, k, m, y: used(z, made(k, m), y), (z, k, k, y), *given)
        except CannotMap as error:
            assert index in REFUSED
            assert k == 0
            assert index == "mask" or "test_vmap_facts.py" in str(error)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (lambda z, part: part.mul_(2.0), "a part is written that an index chose"),
        (lambda z, part: (part.mul_(2.0), z.sum()), "a part is written that an index chose"),
        (lambda z, part: (z.mul_(2.0), part.sum()), "a part is read that an index chose"),
    ],
    ids=["written, not assigned", "written, then the tensor read", "read after a write"],
)
def test_a_part_that_an_index_chose_is_no_view(use: Any, told: str) -> None:
    def one(z: Tensor, k: Tensor) -> Tensor:
        z = z * 1.0
        use(z, z[k])
        return z

    with pytest.raises(CannotMap, match=told) as error:
        vmap(one)(tensor(inputs_of()), tensor([0, 1, 2]))
    assert "test_vmap_facts.py" in str(error.value)
