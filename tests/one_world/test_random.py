"""Random numbers: PyTorch's functions and arguments, generators of one's own, seeds and states."""

import copy
import pickle
import re
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, random

CALLS = """
rand(2, 3) ; rand((2, 3)) ; rand(size=(2, 3), dtype=float64, device="cpu")
rand(2, requires_grad=True, pin_memory=False) ; rand_like(ones(2, dtype=float64))
rand_like(ones(2), dtype=float64, requires_grad=True) ; randn(2, layout=strided)
randn([2, 3], dtype=float16) ; randn_like(zeros(2, 1)) ; randint(5, (3,)) ; randint(2, 5, (3,))
randint(5, size=(2,)) ; randint(low=1, high=3, size=[2, 2], dtype=int32)
randint(0, 3, (2,), dtype=float32, requires_grad=True) ; randint_like(zeros(3), 5)
randint_like(zeros(3, dtype=int64), 2, 5)
randint_like(input=zeros(3), low=2, high=5, dtype=int8) ; randperm(4) ; randperm(4, dtype=int32)
normal(0.0, 1.0, (2,)) ; normal(mean=0.0, std=1.0, size=(2,), dtype=float64)
normal(zeros(3), 1.0) ; normal(zeros(3, dtype=float64), ones(3, dtype=float64))
normal(0.0, ones(2, 2)) ; bernoulli(full((3,), 0.5)) ; bernoulli(zeros(3, dtype=float64))
bernoulli(zeros(3), p=1.0) ; poisson(ones(3)) ; poisson(input=ones(2, dtype=float64))
multinomial(ones(3), 2) ; multinomial(input=ones(2, 3), num_samples=4, replacement=True)
"""


def kind(value: Any) -> Any:
    dtype = str(value.dtype).rpartition(".")[2]
    return tuple(value.shape), dtype, value.requires_grad


@pytest.mark.parametrize("line", re.split(" ; |\n", CALLS.strip()))
def test_draws_have_pytorchs_arguments_shapes_and_dtypes(line: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = (
        eval(line, {**{name: getattr(world, name) for name in dir(world)}, "strided": strided})
        for world, strided in ((minigrad, None), (torch, torch.strided))
    )
    assert kind(ours) == kind(theirs)


@pytest.mark.parametrize(
    "name", ["bool", "uint8", "int8", "int32", "int64", "float16", "float32", "float64"]
)
def test_random_reaches_the_largest_number_of_the_dtype(name: str) -> None:
    torch = pytest.importorskip("torch")
    draws = [
        w.zeros(2000, dtype=getattr(w, name)).random_().max().item() for w in (minigrad, torch)
    ]
    assert draws[0] == pytest.approx(draws[1], rel=0.05)


FILLS = "bernoulli_ cauchy_ exponential_ geometric_ log_normal_ normal_ random_ uniform_"
INITS = """
kaiming_normal_ kaiming_uniform_ normal_ orthogonal_ sparse_ trunc_normal_ uniform_ xavier_normal_
xavier_uniform_"""
DRAWS: dict[str, Any] = {
    "rand": lambda g: minigrad.rand(3, generator=g),
    "randn": lambda g: minigrad.randn(3, generator=g),
    "randint": lambda g: minigrad.randint(99, (5,), generator=g),
    "rand_like": lambda g: minigrad.rand_like(minigrad.ones(3), generator=g),
    "randn_like": lambda g: minigrad.randn_like(minigrad.ones(3), generator=g),
    "randint_like": lambda g: minigrad.randint_like(minigrad.ones(5), 99, generator=g),
    "randperm": lambda g: minigrad.randperm(9, generator=g),
    "normal": lambda g: minigrad.normal(0.0, minigrad.ones(3), generator=g),
    "uniform": lambda g: random.uniform(0.0, 2.0, 3, generator=g),
    "bernoulli": lambda g: minigrad.bernoulli(minigrad.full((40,), 0.5), generator=g),
    "poisson": lambda g: minigrad.poisson(minigrad.full((9,), 9.0), generator=g),
    "multinomial": lambda g: minigrad.multinomial(minigrad.ones(9), 9, generator=g),
    "Tensor.multinomial": lambda g: minigrad.ones(9).multinomial(9, generator=g),
    "Tensor.bernoulli": lambda g: minigrad.full((40,), 0.5).bernoulli(generator=g),
    **{
        name: lambda g, name=name: getattr(minigrad.empty(40), name)(
            *[0.1] * (name == "geometric_"), generator=g
        )
        for name in FILLS.split()
    },
    **{
        f"init.{name}": lambda g, name=name: getattr(nn.init, name)(
            minigrad.empty(6, 6), *[0.5] * (name == "sparse_"), generator=g
        )
        for name in INITS.split()
    },
}


@pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)
def test_a_generator_repeats_its_numbers_and_leaves_the_one_of_the_process(draw: Any) -> None:
    before = random.get_state()
    one, other = (minigrad.Generator().manual_seed(3) for _ in range(2))
    first = draw(one).tolist()
    assert draw(other).tolist() == first != draw(one).tolist()
    assert random.get_state() == before
    with random.fork_rng():
        random.seed(3)
        assert draw(None).tolist() == first
        random.seed(3)
        assert draw(minigrad.default_generator).tolist() == first


def test_what_is_no_generator_is_refused() -> None:
    with pytest.raises(TypeError, match=r"rand: generator must be a minigrad.Generator, got 3"):
        minigrad.rand(2, generator=3)  # type: ignore[arg-type]


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda g: g.clone_state(),
                                    lambda g: pickle.loads(pickle.dumps(g))])  # fmt: skip
def test_a_copy_of_a_generator_goes_on_alike(copied: Any) -> None:
    one = minigrad.Generator().manual_seed(3)
    minigrad.rand(2, generator=one)
    other = copied(one)
    assert (type(other), other.initial_seed(), other.device) == (type(one), 3, "cpu")
    assert minigrad.rand(2, generator=one).tolist() == minigrad.rand(2, generator=other).tolist()
    state = one.get_state()
    first = minigrad.rand(2, generator=one).tolist()
    assert minigrad.rand(2, generator=one.set_state(state)).tolist() == first
    assert one.seed() == one.initial_seed() != 3


def test_seeds_are_pytorchs() -> None:
    """`seed()` draws a seed, `seed(n)` sets it, as `manual_seed` does."""
    torch = pytest.importorskip("torch")
    with torch.random.fork_rng(), random.fork_rng():
        for world, default in ((minigrad, minigrad.default_generator),
                               (torch, torch.default_generator)):  # fmt: skip
            assert world.manual_seed(5) is default
            assert world.initial_seed() == default.initial_seed() == 5
            numbers = world.rand(3).tolist()
            drawn = world.random.seed()
            assert world.seed() != drawn
            assert world.initial_seed() != drawn
            state = world.get_rng_state()
            first = world.rand(3).tolist()
            world.set_rng_state(state)
            assert world.rand(3).tolist() == first != numbers
            assert default.manual_seed(5) is default
            assert world.rand(3).tolist() == numbers
            world.manual_seed(-1)
            assert world.initial_seed() == 2**64 - 1
    with random.fork_rng():
        assert random.seed(5) is None  # type: ignore[func-returns-value]
        first = minigrad.rand(3).tolist()
        minigrad.manual_seed(5)
        assert minigrad.rand(3).tolist() == first


def test_forked_numbers_are_given_back_after_an_error_too() -> None:
    before = random.get_state()
    with pytest.raises(ZeroDivisionError), random.fork_rng(devices=[], device_type="cuda"):
        raise ZeroDivisionError(minigrad.rand(3))
    assert random.get_state() == before
    with random.fork_rng(enabled=False):
        minigrad.rand(3)
    assert random.get_state() != before
    random.set_state(before)


def test_the_numbers_of_a_seed_stay_what_they_were() -> None:
    with random.fork_rng():
        random.seed(0)
        wanted = np.random.default_rng(0)
        assert minigrad.rand(2).tolist() == wanted.random(2).astype(np.float32).tolist()
        assert minigrad.randn(2).tolist() == wanted.standard_normal(2).astype(np.float32).tolist()
        assert minigrad.randint(0, 9, (4,)).tolist() == wanted.integers(0, 9, 4).tolist()
        assert minigrad.randperm(5).tolist() == wanted.permutation(5).tolist()
        assert random.permutation is minigrad.randperm


FILLS: dict[str, tuple[Any, float, float]] = {
    # A fill, and the median and the least number that its distribution has.
    "normal_": (lambda x: x.normal_(2.0, 0.5), 2.0, -9.0),
    "uniform_": (lambda x: x.uniform_(1.0, 3.0), 2.0, 1.0),
    "log_normal_": (lambda x: x.log_normal_(0.0, 1.0), 1.0, 0.0),
    "log_normal_ of a tensor": (lambda x: x.log_normal_(0.0, minigrad.ones(40)), 1.0, 0.0),
    "cauchy_": (lambda x: x.cauchy_(2.0, 0.1), 2.0, -np.inf),
    "cauchy_ of an array": (lambda x: x.cauchy_(2.0, np.full(40, 0.1)), 2.0, -np.inf),
    "geometric_": (lambda x: x.geometric_(0.6), 1.0, 1.0),
    "exponential_": (lambda x: x.exponential_(2.0), np.log(2) / 2, 0.0),
    "exponential_ of a tensor": (lambda x: x.exponential_(minigrad.tensor(2)), np.log(2) / 2, 0.0),
    "exponential_ of True": (lambda x: x.exponential_(True), np.log(2), 0.0),
    "random_": (lambda x: x.random_(3, 6), 4.0, 3.0),
    "bernoulli_": (lambda x: x.bernoulli_(0.9), 1.0, 0.0),
}


@pytest.mark.parametrize("name", FILLS)
def test_a_fill_draws_from_its_distribution_over_the_whole_tensor(name: str) -> None:
    fill, median, least = FILLS[name]
    x = minigrad.zeros(50, 40, dtype=minigrad.float64)
    minigrad.manual_seed(3)
    assert fill(x) is x
    drawn = x.numpy().copy()
    np.testing.assert_allclose(np.median(drawn), median, atol=0.1)
    assert drawn.min() >= least
    minigrad.manual_seed(3)
    np.testing.assert_array_equal(fill(minigrad.zeros(50, 40, dtype=minigrad.float64)), drawn)


def test_a_diagonal_and_a_function_fill_too() -> None:
    x = minigrad.ones(2, 3)
    assert x.fill_diagonal_(5.0).tolist() == [[5.0, 1.0, 1.0], [1.0, 5.0, 1.0]]
    assert x.apply_(lambda number: number + 1).tolist() == [[6.0, 2.0, 2.0], [2.0, 6.0, 2.0]]
