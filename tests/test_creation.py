"""Tensors made from nothing, from a shape, or from random numbers."""

import json
import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, random, tensor
from minigrad.nn import functional as F
from minigrad.tensors import creation


@pytest.mark.parametrize("name", ["zeros", "ones", "empty", "rand", "randn"])
def test_shapes_dtypes_and_gradients(name: str) -> None:
    make = getattr(minigrad, name)
    for shape in ((2, 3), (), (0, 2), (4,)):
        for x in (make(*shape), make(shape), make(list(shape))):
            assert (type(x), x.shape, x.dtype) == (Tensor, shape, np.float32)
            assert not x.requires_grad
    assert make(np.int64(2), 3).shape == (2, 3)
    x = make(2, dtype=np.float64, requires_grad=True)
    assert (x.dtype, x.requires_grad, x.is_leaf) == (np.float64, True, True)
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    for wrong in ((2.5,), (-1,), ((2, -3),), ("2",), (None,)):
        with pytest.raises(TypeError, match=name):
            make(*wrong)
    with pytest.raises(ValueError, match="CPU"):
        make(2, device="gpu")


def test_likes() -> None:
    for x in (tensor(np.ones((2, 3), np.float16)), tensor([1, 2]), np.ones((2, 1)), [1.0, 2.0]):
        shape, dtype = tensor(x).shape, tensor(x).dtype
        for make in (minigrad.zeros_like, minigrad.ones_like, minigrad.empty_like):
            assert (make(x).shape, make(x).dtype) == (shape, dtype)
            assert make(x, dtype=np.float64, requires_grad=True).requires_grad
        assert minigrad.full_like(x, 3).tolist() == np.full(shape, 3, dtype).tolist()
        assert minigrad.zeros_like(x).tolist() == np.zeros(shape).tolist()
        assert minigrad.ones_like(x).tolist() == np.ones(shape).tolist()


NAN, INF = float("nan"), float("inf")
ONES = minigrad.ones(2)

# Random numbers -------------------------------------------------------------------------------

DRAWS: dict[str, Callable[[], Tensor]] = {
    "rand": lambda: minigrad.rand(3, 2),
    "randn": lambda: minigrad.randn(3, 2),
    "randint": lambda: minigrad.randint(0, 1000, size=(3, 2)),
    "uniform": lambda: random.uniform(-1.0, 1.0, (3, 2)),
    "normal": lambda: random.normal(1.0, 2.0, (3, 2)),
    "bernoulli": lambda: random.bernoulli(np.full((6, 6), 0.5)),
    "permutation": lambda: random.permutation(20),
    "multinomial": lambda: minigrad.multinomial([1.0, 2.0, 3.0], 20, replacement=True),
    "multinomial, each once": lambda: minigrad.multinomial(np.ones((2, 9)), 9),
    "normal, each its own": lambda: random.normal([1.0, 2.0], [[1.0], [3.0]]),
    "key": lambda: tensor(random.key()),
}


def drawn() -> list[Any]:
    """What each kind of draw gives, and a mask of dropout."""
    return [*(draw().tolist() for draw in DRAWS.values()), F.dropout(minigrad.ones(9, 9)).tolist()]


def forked(function: Callable[[], Any]) -> Any:
    """What a function returns in a forked process."""
    hear, say = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(say, json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(say)
    with os.fdopen(hear, "rb") as file:
        content = file.read()
    os.waitpid(child, 0)
    return json.loads(content)


def family() -> list[list[Any]]:
    """The draws of a seeded parent, of its children one after the other, and of a grandchild."""
    random.seed(5)
    children = [forked(drawn), forked(drawn), forked(lambda: forked(drawn))]
    parent = drawn()
    return [parent, *children, forked(drawn)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
class TestForkedProcesses:
    def test_no_two_draw_the_same(self) -> None:
        for same_draw in zip(*family(), strict=True):
            assert len({json.dumps(numbers) for numbers in same_draw}) == 5

    def test_a_seed_repeats_them(self) -> None:
        assert family() == family()

    def test_forking_leaves_the_parents_numbers(self) -> None:
        random.seed(5)
        assert family()[0] == (random.seed(5), drawn())[1]

    def test_workers_of_multiprocessing(self) -> None:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("fork").Process
        workers = [process(target=lambda: sender.send(drawn())) for _ in range(3)]
        for worker in workers:
            worker.start()
        found = set()
        for _ in workers:
            assert receiver.poll(20)
            found.add(json.dumps(receiver.recv()))
        for worker in workers:
            worker.join()
        assert len(found) == 3

    def test_a_lock_that_another_thread_held_is_not_waited_for(self) -> None:
        with random.generator().bit_generator.lock:
            assert forked(lambda: 1) == 1


def test_the_global_state_of_numpy_is_left_alone() -> None:
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    drawn()
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


def test_distributions() -> None:
    n = 50_000
    for draws, mean, deviation in (
        (minigrad.rand(n), 0.5, 12**-0.5),
        (minigrad.randn(n), 0.0, 1.0),
        (random.uniform(2.0, 4.0, n), 3.0, 2 * 12**-0.5),
        (random.normal(1.0, 3.0, n), 1.0, 3.0),
        (random.bernoulli(np.full(n, 0.25)), 0.25, (0.25 * 0.75) ** 0.5),
        (minigrad.randint(0, 10, size=n), 4.5, (99 / 12) ** 0.5),
    ):
        values = draws.numpy().astype(float)
        assert abs(values.mean() - mean) < 5 * deviation / n**0.5
        assert abs(values.std() / deviation - 1) < 0.03
    assert set(minigrad.randint(3, size=1000).tolist()) == {0, 1, 2}
    assert minigrad.randint(0, 5, (2,), dtype=np.int8).dtype == np.int8
    assert sorted(random.permutation(9).tolist()) == list(range(9))
    assert 0 <= minigrad.rand(1000).min() <= minigrad.rand(1000).max() < 1


def test_each_number_of_its_own_normal_distribution() -> None:
    means, deviations = minigrad.tensor([0.0, 100.0]), minigrad.tensor([[1.0], [0.0]])
    assert random.normal(means, deviations).shape == (2, 2)
    assert random.normal(means, 0.0).tolist() == [0.0, 100.0]
    assert random.normal(means, 1.0, (3, 2)).shape == (3, 2)
    assert random.normal().shape == ()


def test_multinomial() -> None:
    weights = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 0.0]])
    n = 40_000
    drawn = minigrad.multinomial(weights, n, replacement=True)
    assert (drawn.shape, drawn.dtype) == ((2, n), np.int64)
    counts = np.bincount(drawn.numpy()[0], minlength=3) / n
    np.testing.assert_allclose(counts, [0.25, 0.0, 0.75], atol=0.01)
    assert set(drawn.numpy()[1].tolist()) == {1}
    firsts = minigrad.multinomial(np.tile([1.0, 0.0, 3.0], (n, 1)), 2).numpy()
    assert set(map(tuple, firsts.tolist())) == {(0, 2), (2, 0)}  # the likelier comes first
    np.testing.assert_allclose((firsts[:, 0] == 2).mean(), 0.75, atol=0.01)
    assert minigrad.multinomial(np.ones((0, 3)), 2).shape == (0, 2)
    assert minigrad.multinomial(np.ones((2, 0, 3)), 2, True).shape == (2, 0, 2)
    huge = [1e-300, 1e300, 1e300]
    assert set(minigrad.multinomial(huge, 100, True).tolist()) == {1, 2}


def test_float32_draws_are_the_float64_ones() -> None:
    random.seed(1)
    precise = minigrad.randn(5, dtype=np.float64)
    random.seed(1)
    np.testing.assert_array_equal(minigrad.randn(5).numpy(), precise.numpy().astype(np.float32))


def call(*args: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call."""
    return args, options


RAGGED = [[1], [2, 3]]
WRONG = {
    "asarray": [call(RAGGED), call(1, "float33")],
    "tensor": [
        call(RAGGED), call("a"), call(1.0, dtype="float33"), call(1.0, dtype=complex),
        call(1.0, dtype=object()), call(1.0, device="gpu"), call(1, requires_grad=True),
    ],
    "zeros": [call(-1), call(2**62), call(2, dtype=int, requires_grad=True)],
    "ones": [call(2, dtype=3), call(2, dtype="datetime64")],
    "empty": [call(2, dtype="float33"), call(2.5)],
    "eye": [call(-2), call(2, -1), call(2.5), call("a"), call(2, dtype="float33")],
    "full": [call((2,), "a"), call((2,), [1, 2, 3]), call((-2,), 1), call((2,), 1j)],
    "arange": [
        call(0, 5, 0), call(0, 5, 0.0), call(NAN), call(0, INF), call("a"),
        call(2**64, 2**64 + 2), call(3, dtype="float33"), call(),
    ],
    "linspace": [call(0, 1, -1), call(0, 1, 2.5), call("a", 1), call(0, 1, dtype="float33")],
    "zeros_like": [call("a"), call(1, "float33")],
    "ones_like": [call(RAGGED), call(1, "x")],
    "empty_like": [call(None), call(1, complex)],
    "full_like": [call(ONES, 1j), call(ONES, [1, 2, 3]), call(ONES, 1, "float33")],
    "rand": [call(2, dtype="float33"), call(-1), call(2, generator=0)],
    "randn": [call(2, dtype=bool), call(2, dtype=int), call(2.5)],
    "randint": [
        call(5, 5), call(0, 2**70), call("a"), call(500, 501, 2, np.int8), call(2, size=-1),
    ],
    "uniform": [call(0.0, INF), call(NAN, 1.0), call("a"), call(size=2, dtype=int)],
    "normal": [call(0.0, -1.0, 2), call(0.0, NAN), call(INF), call(dtype="float33")],
    "bernoulli": [call([1.5]), call(NAN), call("a"), call([0.5], 1.5), call([0.5], "a")],
    "multinomial": [
        call([1.0, -1.0], 1), call([1.0, NAN], 1), call([1.0, INF], 1), call([], 1), call(1.0, 1),
        call([0.0, 0.0], 1, True), call([[1.0, 1.0], [1.0, 0.0]], 2), call([1.0], 0),
        call([1.0], 1.5), call([1.0], 1, "no"),
    ],
    "randperm": [call(-1), call(2.5), call(300, dtype=np.int8)],
    "poisson": [call(-1.0), call("a"), call(NAN)],
    "seed": [call(-1), call("a"), call(1.5)],
    "manual_seed": [call("a"), call(None), call()],
    "set_state": [call({}), call(3)],
    "set_stream": [call(-1), call(0.5)],
    "set_default_dtype": [
        call("float33"), call(int), call(bool), call(np.longdouble), call(complex),
    ],
    "astype": [call(ONES, "float33"), call(ONES, 3)],
    "to": [call(ONES, "float33"), call(ONES, complex)],
    "Tensor": [call(1.0, dtype="float33"), call(RAGGED)],
    "as_tensor": [call(RAGGED), call(ONES, "float33")],
    "from_numpy": [call([1.0]), call(1.0)],
    "frombuffer": [
        call(b"abc", dtype="float33"), call(b"abc", dtype="float32"), call(3, dtype="int8"),
        call(b"abcd", dtype="float32", count=2), call(b"a"),
        call(b"abcd", dtype=None), call(b"abcd", dtype=">i4"), call(b"abcd", dtype="U1"),
    ],
    "scalar_tensor": [call("a"), call(1.0, "float33")],
    "range": [call("a"), call(0, 5, 0)],
    "logspace": [call(0, 1, -1), call("a", 1, 3)],
    "tril_indices": [call("a", 2)],
    "triu_indices": [call("a", 2)],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_errors_about_what_is_made_name_the_function(name: str) -> None:
    """NumPy's own messages say only what it was doing underneath."""
    owner = Tensor if name in ("astype", "to") else random if name in random.__all__ else minigrad
    for args, options in WRONG[name]:
        with pytest.raises((TypeError, ValueError, OverflowError), match=rf"^{name}(: |\(\) )"):
            getattr(owner, name)(*args, **options)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", [
    lambda c: minigrad.tensor([c]), lambda c: minigrad.tensor([c], dtype=minigrad.float32),
    lambda c: minigrad.full(2, c), lambda c: minigrad.full(2, c, dtype=minigrad.float32),
    lambda c: minigrad.full_like(ONES, c), lambda c: minigrad.full_like(ONES, np.array([c, c])),
    lambda c: minigrad.arange(0, c), lambda c: minigrad.linspace(0, c, 3),
    lambda c: minigrad.pad(ONES, 1, constant_values=c), lambda c: ONES + c,
    lambda c: minigrad.ops.setitem(ONES, 0, c), lambda c: setattr(ONES, "data", np.array([c, c])),
    lambda c: (minigrad.ones(1, requires_grad=True) * 2).backward(np.array([c])),
])  # fmt: skip
def test_what_no_tensor_holds_is_refused_wherever_it_comes_in(make: Callable[..., Any]) -> None:
    """No part of a complex number is dropped without a word."""
    with pytest.raises(TypeError, match="complex"):
        make(1 + 1j)


def test_wrong_arguments_are_tried_on_every_function_that_makes_a_tensor() -> None:
    others = {"generator", "get_state", "get_stream", "key", "fork_rng", "permutation",
              "get_rng_state", "initial_seed", "rand_like", "randint_like", "randn_like",
              "set_rng_state"}  # fmt: skip
    assert {*creation.__all__, *random.__all__} - others <= {*WRONG}


# What has no place in an integer dtype, and what is given to it by every function that could.
MISFITS = [300, -1, NAN, INF, 256.0, 2**64 - 1]
BYTES = minigrad.zeros(2, dtype=np.uint8)
INTO_BYTES: dict[str, Callable[[Any], Any]] = {
    "tensor": lambda v: minigrad.tensor([1, v], dtype=np.uint8),
    "tensor of an array": lambda v: minigrad.tensor(np.array(v), dtype=np.uint8),
    "tensor of a tensor": lambda v: minigrad.tensor(tensor(v), dtype=np.uint8),
    "Tensor": lambda v: Tensor([v], dtype=np.uint8),
    "full": lambda v: minigrad.full((1,), v, np.uint8),
    "full_like": lambda v: minigrad.full_like(BYTES, v),
    "arange": lambda v: minigrad.arange(v, v + 2, dtype=np.uint8),
    "linspace": lambda v: minigrad.linspace(v, v, 2, dtype=np.uint8),
    "masked_fill": lambda v: minigrad.masked_fill(BYTES, [True, 0], v),
    "where": lambda v: minigrad.where(tensor([False]), BYTES, int(v)),
    "pad": lambda v: minigrad.pad(BYTES, 1, constant_values=v),
    "setitem": lambda v: BYTES.__setitem__(0, v),
    "setitem of a list": lambda v: BYTES.__setitem__(..., [1, v]),
}


@pytest.mark.parametrize("name", INTO_BYTES)
def test_integers_hold_what_they_are_given_or_an_error_says_that_they_cannot(name: str) -> None:
    errors, message = (OverflowError, TypeError, ValueError), f"^{name.split()[0]}|integer"
    for value in MISFITS:
        with np.errstate(all="ignore"), pytest.raises(errors, match=message):
            INTO_BYTES[name](value)


LARGE = [2**63, 2**64 - 1, 2**64, 2**70, -(2**63) - 1, -(2**70)]
FROM_LARGE: dict[str, tuple[Callable[[int, Any], Tensor], Callable[[int], list[int]]]] = {
    # What is made of a large number and a dtype, and the elements that it should have.
    "tensor": (lambda n, d: minigrad.tensor(n, dtype=d), lambda n: [n]),
    "tensor of a list": (lambda n, d: minigrad.tensor([[n, 1]], dtype=d), lambda n: [n, 1]),
    "tensor of both signs": (lambda n, d: minigrad.tensor([n, -1], dtype=d), lambda n: [n, -1]),
    "tensor beside a bool": (lambda n, d: tensor([True, n], dtype=d), lambda n: [1, n]),
    "full": (lambda n, d: minigrad.full((1,), n, d), lambda n: [n]),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [None, np.int64, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("name", FROM_LARGE)
def test_integers_beyond_int64_are_exact_or_refused_unless_a_float_is_asked_for(
    name: str, dtype: Any
) -> None:
    make, elements_of = FROM_LARGE[name]
    for number in LARGE:
        elements = elements_of(number)
        if dtype in (np.float32, np.float64):
            result, wanted = make(number, dtype), np.array(elements, np.float64).astype(dtype)
            assert (result.dtype, result.ravel().tolist()) == (dtype, wanted.tolist())
            continue
        kinds = map(np.iinfo, [np.int64, np.uint64] if dtype is None else [dtype])
        fitting = [
            kind.dtype for kind in kinds if kind.min <= min(elements) <= max(elements) <= kind.max
        ]
        if fitting:
            result = make(number, dtype)
            assert (result.dtype, result.ravel().tolist()) == (fitting[0], elements)
        else:
            with pytest.raises(OverflowError, match=rf"^{name.split()[0]}: .*\d{{19}}"):
                make(number, dtype)


@pytest.mark.parametrize("dtype", [None, np.uint64, np.float32])
@pytest.mark.parametrize("number", LARGE)
def test_arange_refuses_integers_beyond_int64(number: int, dtype: Any) -> None:
    for bounds in ((number, number + 3), (number, number - 3, -1), (0, 2 * number, number)):
        with pytest.raises(OverflowError, match=r"^arange: .*\d{19}"):
            minigrad.arange(*bounds, dtype=dtype)


def test_beside_floats_large_integers_are_floats() -> None:
    for result in (
        minigrad.tensor([2**70, 1.5]), minigrad.tensor([1e30, 2**63]),
        minigrad.linspace(0, 2**70, 2),
        minigrad.full_like(ONES, 2**70), minigrad.masked_fill(ONES, [True, False], 2**70),
        minigrad.where([True, False], 2**70, ONES), ONES + 2**70,
    ):  # fmt: skip
        assert result.dtype == minigrad.get_default_dtype()
        assert result.max() > 1e18


def test_numbers_that_fit_become_integers_as_in_numpy() -> None:
    for values in ([255, 0], [254.9, -0.9], [True, False], [1.5, 2.5]):
        wanted = np.array(values).astype(np.uint8)
        assert minigrad.tensor(values, dtype=np.uint8).tolist() == wanted.tolist()
    for dtype in (np.int8, np.int64, np.uint64):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        assert [minigrad.tensor(limit, dtype=dtype).item() for limit in (low, high)] == [low, high]
        for outside in (low - 1, high + 1):
            with pytest.raises((OverflowError, TypeError)):
                minigrad.tensor([outside], dtype=dtype)
    with pytest.raises(OverflowError):
        minigrad.tensor([2.0**63], dtype=np.int64)
    assert minigrad.linspace(-0.5, 2.9, 3, dtype=int).tolist() == [0, 1, 2]
    assert minigrad.tensor([300, float("nan")], dtype=bool).tolist() == [True, True]
    assert minigrad.pad(minigrad.tensor([1, 2]), 1, constant_values=7.0).tolist() == [7, 1, 2, 7]
    assert minigrad.astype(tensor([300, -1]), np.uint8).tolist() == [44, 255]  # as in NumPy
