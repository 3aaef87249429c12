"""Threads of our own: they change no result, and leave BLAS, and whoever calls, as they were."""

import importlib
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest
from interrupts import before_each_bytecode

import minigrad
from minigrad import nn, ops, optim
from minigrad.ops import _attention_kernel, _parallel, normalization, probabilities, products
from minigrad.ops.random_masks import kept_rows

RNG = np.random.default_rng(0)


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three threads, for the smallest work too."""
    before = minigrad.get_num_threads()
    minigrad.set_num_threads(3)
    monkeypatch.setattr(_parallel, "WORTHWHILE", 0)
    for module, constant in (
        (_parallel, "ELEMENTS"), (_parallel, "ALONE"),
        (normalization, "GROUPS"), (probabilities, "ALONE"),
    ):  # fmt: skip
        monkeypatch.setattr(module, constant, 100)
    monkeypatch.setattr(products, "SMALL", 0)
    yield
    minigrad.set_num_threads(before)


@pytest.fixture
def two_threads_of_blas(three_threads: None) -> Iterator[None]:  # noqa: ARG001
    """BLAS had two threads before, and has them again after each call."""
    before = blas()
    _parallel._set_blas(itertools.repeat(2))
    yield
    _parallel._set_blas(before)


def gradients(run: Callable[..., Any], *arrays: np.ndarray) -> list[np.ndarray]:
    """The output of a function of tensors, and the gradient of each."""
    tensors = [minigrad.tensor(array, requires_grad=array.dtype.kind == "f") for array in arrays]
    out = run(*tensors)
    seed = np.cos(np.arange(out.numel())).reshape(out.shape)
    if out.requires_grad:
        out.backward(minigrad.tensor(seed, dtype=out.dtype))
    return [out.numpy().copy()] + [t.grad.numpy().copy() for t in tensors if t.grad is not None]


def blas() -> list[int]:
    """The number of threads of each library."""
    return [library.get_num_threads() for library in _parallel._blas()]


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape)


# A function and the shapes of its arguments, or these.
CALLS: dict[str, tuple[Any, ...]] = {
    "linear": (ops.linear, (4, 70, 30), (20, 30), (20,)),
    "linear of a vector": (ops.linear, (30,), (20, 30)),
    "matmul": (ops.matmul, (70, 30), (30, 20)),
    "matmul of a stack with one": (ops.matmul, (3, 70, 30), (30, 20)),
    "matmul of stacks": (ops.matmul, (5, 2, 7, 3), (5, 2, 3, 4)),
    "matmul of turned ones": (lambda a, b: a.T @ b.T, (70, 30), (20, 70)),
    "layer_norm": (lambda *all: ops.layer_norm(*all, ndim=2), (700, 3, 50), (3, 50), (3, 50)),
    "group_norm": (lambda *all: ops.group_norm(*all, groups=3), (7, 6, 50), (6,), (6,)),
    "batch_norm": (
        lambda *all: minigrad.concatenate([part.ravel() for part in ops.batch_norm(*all)]),
     *((7, 5, 6, 4), (5,), (5,))),
    "batch_norm of rows": (lambda x: ops.batch_norm(x)[0], (70, 5)),
    "max_pool": (lambda x: nn.functional.max_pool2d(x, 2), (5, 3, 8, 6)),
    "max_pool of windows that overlap": (lambda x: nn.functional.max_pool2d(x, 3, 2),
     np.where(normal(5, 3, 9, 7) > 1, -np.inf, 0.5)),
    "max_pool, padded": (lambda x: nn.functional.max_pool2d(x, 3, 2, padding=1), (5, 3, 9, 7)),
    "rms_norm": (ops.rms_norm, (700, 150), (150,)),
    "dropout": (lambda x: ops.dropout(x, 0.3, 5), (70, 33)),
    "gelu": (lambda x: ops.gelu(x), (70, 33)),
    "gelu with tanh": (lambda x: ops.gelu(x, "tanh"), normal(70, 33).T),
    "silu": (ops.silu, (70, 33)),
    "relu": (ops.relu, (70, 33)),
    "softmax": (ops.softmax, (3, 70, 33)),
    "log_softmax": (ops.log_softmax, (70, 33)),
    "cross_entropy": (
        lambda x: ops.cross_entropy(x, np.arange(70) % 33, label_smoothing=0.1, ignore_index=3),
     (70, 33)),
    "attention": (lambda *all: ops.attention(*all, dropout=0.25, dropout_key=3),
     *((3, 2, 6, 4), (3, 2, 9, 4), (3, 2, 9, 5))),
}  # fmt: skip
CALLS = {
    name: (run, [normal(*each) if isinstance(each, tuple) else each for each in given])
    for name, (run, *given) in CALLS.items()
}


@pytest.mark.parametrize("name", CALLS)
def test_threads_change_nothing(name: str, request: pytest.FixtureRequest) -> None:
    """And one number of threads gives one result, bit for bit."""
    run, arrays = CALLS[name]
    alone = gradients(run, *arrays)
    request.getfixturevalue("three_threads")
    first, second = gradients(run, *arrays), gradients(run, *arrays)
    for ours, again, theirs in zip(first, second, alone, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(ours, again)


@pytest.fixture
def no_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers of other tests do not serve in this one."""
    monkeypatch.setattr(_parallel, "_workers", [])
    monkeypatch.setattr(_parallel, "_tasks", SimpleQueue())


@pytest.fixture
def no_threads(no_workers: None) -> Iterator[None]:  # noqa: ARG001
    """No thread can be started: there is no memory for a stack of this size."""
    before = threading.stack_size(1 << 46)
    yield
    threading.stack_size(before)


@pytest.mark.parametrize("kind", [optim.SGD, optim.AdamW, optim.NAdam, optim.Rprop])
@pytest.mark.usefixtures("three_threads")
def test_a_step_of_an_optimizer(kind: Any) -> None:
    """A large parameter is updated in parts, each thread with scratch memory of its own."""
    found = []
    draws = [np.random.default_rng(i).standard_normal((5, 30_000)) for i in range(4)]
    for number in (1, 3):
        minigrad.set_num_threads(number)
        parameter = minigrad.tensor(draws[0], requires_grad=True)
        optimizer = kind([parameter])
        for draw in draws[1:]:
            parameter.grad = minigrad.tensor(draw)
            optimizer.step()
        found.append((parameter.numpy().copy(), optimizer.state_dict()["state"]))
    assert (found[0][0] == found[1][0]).all()
    for name, value in found[0][1].get(0, {}).items():
        assert np.array_equal(value, found[1][1][0][name]), name


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.usefixtures("three_threads", "no_threads")
def test_where_no_thread_can_be_started_the_caller_computes(name: str) -> None:
    with pytest.raises(RuntimeError, match="can't start new thread"):
        threading.Thread(target=int).start()
    run, arrays = CALLS[name]
    found = gradients(run, *arrays)
    assert not _parallel._workers
    assert not _parallel._holders
    threading.stack_size(0)
    for ours, theirs in zip(found, gradients(run, *arrays), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("possible", [0, 1, 2])
@pytest.mark.usefixtures("three_threads", "no_workers")
def test_as_many_workers_as_can_be_started(possible: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker is a thread that starts another: also where that one cannot be started."""
    start, left = _parallel.start_new_thread, [None] * possible

    def limited(*args: Any) -> int:
        if not left:
            raise RuntimeError("can't start new thread")
        left.pop()
        return start(*args)

    def refused(_self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_parallel, "start_new_thread", limited)
    monkeypatch.setattr(threading.Thread, "start", refused)
    rows = np.zeros(100)

    def work(start: int, stop: int) -> None:
        rows[start:stop] += 1

    for number in (1, 2):
        _parallel.for_rows(100, 1, 1, work)
        assert (rows == number).all()
        assert len(_parallel._workers) == possible
    with pytest.raises(ZeroDivisionError):
        _parallel.for_rows(100, 1, 1, lambda start, stop: 1 // 0)
    assert not _parallel._holders


class TestBlocksOfAttention:
    """However the scores are cut into blocks, the answer is that of the whole."""

    LEADS = ((), (5,), (2, 3), (2, 1, 3))
    OPTIONS = ("plain", "causal", "keep", "bias", "dropout", "everything")

    @pytest.mark.parametrize(("lead", "option"), [*itertools.product(LEADS, OPTIONS)])
    def test_blocks(
        self, lead: tuple[int, ...], option: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        arrays = (normal(*lead, 40, 4), normal(*lead, 33, 4), normal(*lead, 33, 5))
        extra = (normal(40, 33),) if option in ("bias", "everything") else ()
        keep = RNG.random((*lead[:1], *(1,) * len(lead[1:]), 40, 33)) < 0.7
        words: dict[str, Any] = {}
        if option in ("causal", "everything"):
            words["causal"] = True
        if option in ("dropout", "everything"):
            words |= {"dropout": 0.3, "dropout_key": 11}

        def run(q: Any, k: Any, v: Any, bias: Any = None) -> Any:
            kept = keep if option in ("keep", "everything") else None
            return ops.attention(q, k, v, bias, kept, **words)

        whole = gradients(run, *arrays, *extra)
        monkeypatch.setattr(_attention_kernel, "BLOCK_BYTES", 33 * 8 * 16)
        monkeypatch.setattr(_attention_kernel, "CAUSAL_ROWS", 7)
        monkeypatch.setattr(_attention_kernel, "ROWS", 11)
        for ours, theirs in zip(gradients(run, *arrays, *extra), whole, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)

    @pytest.mark.parametrize(("limit", "kept"), [(1 << 20, True), (33 * 8 * 16, False)])
    def test_the_weights_of_a_single_block_are_kept(
        self, limit: int, kept: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(_attention_kernel, "BLOCK_BYTES", limit)
        q, k = (minigrad.tensor(normal(2, n, 4), requires_grad=True) for n in (40, 33))
        node: Any = ops.attention(q, k, k)._node
        weights = dict(zip(node.plan.saved_names, node.saved, strict=True))["weights"]
        if kept:
            np.testing.assert_allclose(weights, ops.attention_weights(q, k).numpy(), rtol=1e-12)
        else:
            assert weights is None

    @pytest.mark.parametrize("size", [1.0, 30.0, 1000.0])
    def test_blocks_of_keys_with_tops_far_apart(
        self, size: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        query, key, value = size * normal(40, 4), normal(33, 4), normal(33, 5)
        keep = np.ones((40, 33), bool)
        keep[:9, :20] = keep[9:18, 12:] = keep[20] = False  # a query without a key is one of them

        def run(q: Any, k: Any, v: Any) -> Any:
            return ops.attention(q, k, v, None, keep)

        whole = gradients(run, query, key, value)
        monkeypatch.setattr(_attention_kernel, "BLOCK_BYTES", 8 * 11 * 5)
        monkeypatch.setattr(_attention_kernel, "ROWS", 11)
        for ours, theirs in zip(gradients(run, query, key, value), whole, strict=True):
            assert np.isfinite(theirs).all()
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)

    def test_large_scores_of_others_do_not_change_a_row(self) -> None:
        query, key = normal(2, 6, 4), normal(2, 6, 4)
        query[:, -1] *= 1e4  # its scores need their largest subtracted
        mild = query.copy()
        mild[:, -1] = 0
        first, second = (ops.attention(q, key, key).numpy()[:, :-1] for q in (query, mild))
        np.testing.assert_array_equal(first, second)

    @pytest.mark.parametrize("shift", [-1000.0, -50.0, 50.0, 1000.0])
    def test_a_shift_of_all_scores_changes_nothing(self, shift: float) -> None:
        query, key, value = (minigrad.tensor(normal(3, 5, 4)) for _ in range(3))
        plain = ops.attention(query, key, value)
        shifted = ops.attention(query, key, value, minigrad.full((5, 5), shift))
        np.testing.assert_allclose(shifted.numpy(), plain.numpy(), rtol=1e-9)

    def test_no_array_grows_with_the_square_of_the_length(self) -> None:
        import tracemalloc

        def peak(length: int) -> int:
            q = minigrad.tensor(normal(1, length, 8).astype(np.float32), requires_grad=True)
            tracemalloc.start()
            ops.attention(q, q, q).sum().backward()
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return most

        short, long = peak(2048), peak(4096)
        assert long < 2.2 * short + 1e5  # scores of all pairs would be 64 MiB more


def test_any_rows_of_a_dropout_are_those_of_the_whole() -> None:
    whole = kept_rows(9, 0, 12, 7, 0.4)
    parts = [kept_rows(9, start, 3, 7, 0.4) for start in (0, 3, 6, 9)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.usefixtures("three_threads")
class TestForRows:
    def test_each_row_comes_once(self) -> None:
        seen = np.zeros(1000, int)

        def work(start: int, stop: int) -> None:
            seen[start:stop] += 1

        _parallel.for_rows(1000, 7, 1, work)
        assert (seen == 1).all()

    def test_several_threads_take_part(self) -> None:
        threads = set()
        both = threading.Barrier(3, timeout=10)

        def work(_start: int, _stop: int) -> None:
            threads.add(threading.get_ident())
            both.wait()

        _parallel.for_rows(3, 1, 1, work)
        assert len(threads) == 3

    def test_an_error_in_a_thread_reaches_the_caller(self) -> None:
        before = blas()
        caller = threading.current_thread()
        done = threading.Barrier(3, timeout=10)

        def work(start: int, _stop: int) -> None:
            done.wait()
            if threading.current_thread() is not caller:
                raise ArithmeticError(f"row {start}")

        with pytest.raises(ArithmeticError, match="row"):
            _parallel.for_rows(3, 1, 1, work)
        assert blas() == before

    def test_the_callers_context_holds(self) -> None:
        found = []
        with np.errstate(over="ignore", invalid="raise"):
            _parallel.for_rows(9, 1, 1, lambda i, j: found.append(np.geterr()["invalid"]))
        assert set(found) == {"raise"}

    def test_callers_in_several_threads(self) -> None:
        a, b = normal(50, 40), normal(40, 30)
        results: list[Any] = [None] * 4

        def call(i: int) -> None:
            results[i] = ops.matmul(a, b).numpy()

        callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        for result in results:
            np.testing.assert_allclose(result, a @ b)

    @pytest.mark.skipif(not hasattr(sys, "getswitchinterval") or sys.platform == "win32",
                        reason="there is no fork here")  # fmt: skip
    @pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
    def test_after_a_fork(self) -> None:
        a = normal(50, 40)
        ops.matmul(a, a.T)  # the threads exist now
        receiver, sender = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.get_context("fork").Process(
            target=lambda: sender.send(float(ops.matmul(a, a.T).numpy().sum()))
        )
        child.start()
        assert receiver.poll(20)
        assert receiver.recv() == pytest.approx((a @ a.T).sum())
        child.join()


class TestBlas:
    @pytest.mark.usefixtures("two_threads_of_blas")
    def test_it_is_held_to_one_thread_meanwhile(self) -> None:
        during: list[int] = []
        _parallel.for_rows(3, 1, 1, lambda i, j: during.extend(blas()))
        assert set(during) == {1}
        assert {*blas()} == {2}

    @pytest.mark.usefixtures("two_threads_of_blas")
    def test_the_last_caller_gives_back_what_the_first_found(self) -> None:
        """Callers in several threads may end in any order."""
        first, second, left = (threading.Event() for _ in range(3))

        def work(_start: int, _stop: int) -> None:
            first.set()
            assert second.wait(10)

        def work_longer(_start: int, _stop: int) -> None:
            second.set()
            assert left.wait(10)

        def call_later() -> None:
            assert first.wait(10)
            _parallel.for_rows(2, 1, 1, work_longer)

        other = threading.Thread(target=call_later)
        other.start()
        _parallel.for_rows(2, 1, 1, work)
        left.set()
        other.join()
        assert {*blas()} == {2}

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
    @pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
    @pytest.mark.usefixtures("two_threads_of_blas")
    def test_it_is_free_in_a_process_forked_meanwhile(self) -> None:
        caller = threading.current_thread()
        codes = []

        def work(_start: int, _stop: int) -> None:
            if threading.current_thread() is caller:
                child = os.fork()
                if not child:
                    os._exit({*blas()} != {2})
                codes.append(os.waitpid(child, 0)[1])

        while not codes:
            _parallel.for_rows(9, 1, 1, work)
        assert not any(codes)

    @pytest.mark.needs("scipy", "threadpoolctl")
    def test_the_blas_of_scipy_is_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        importlib.import_module("scipy.linalg")
        threadpoolctl = importlib.import_module("threadpoolctl")
        controllers = threadpoolctl.ThreadpoolController().select(user_api="blas").lib_controllers
        paths = [controller.filepath for controller in controllers]
        if not any("numpy.libs" in path for path in paths):
            return  # NumPy is not from a wheel: they may share one
        monkeypatch.setattr(_parallel, "_libraries", None)
        assert len(paths) == 2
        assert len(_parallel._blas()) == 1

    def test_without_threadpoolctl(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_parallel, "_libraries", None)
        monkeypatch.setattr(_parallel, "_threads", None)
        monkeypatch.setitem(sys.modules, "threadpoolctl", None)
        assert minigrad.get_num_threads() == 1
        with pytest.raises(ModuleNotFoundError, match="pip install threadpoolctl"):
            minigrad.set_num_threads(2)
        assert minigrad.get_num_threads() == 1


@pytest.mark.usefixtures("two_threads_of_blas")
class TestInterrupts:
    """Ctrl-C raises KeyboardInterrupt in the main thread, anywhere; it leaves nothing behind."""

    def check(self) -> None:
        """BLAS has its threads, nothing is held, and another thread may use the kernels."""
        assert {*blas()} == {2}
        assert not _parallel._holders
        other = threading.Thread(target=_parallel.for_rows, args=(3, 1, 1, lambda i, j: None))
        other.daemon = True
        other.start()
        other.join(10)
        assert not other.is_alive()

    def test_before_each_bytecode(self) -> None:
        rows = np.zeros(9)

        def work(start: int, stop: int) -> None:
            rows[start:stop] += 1

        places = before_each_bytecode(_parallel, lambda: _parallel.for_rows(9, 1, 1, work))
        interrupts = 0
        for _ in itertools.islice(places, 2000):
            self.check()
            interrupts += 1
        assert interrupts > 100
        rows[:] = 0
        _parallel.for_rows(9, 1, 1, work)
        assert (rows == 1).all()

    def test_no_lock_of_python_code_is_taken(self) -> None:
        call = lambda: _parallel.for_rows(9, 1, 1, lambda i, j: None)
        assert [*before_each_bytecode(threading, threading.Event)]  # such code would be seen
        assert [*before_each_bytecode(threading, call)] == []

    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer here")
    def test_two_thousand(self) -> None:
        a = minigrad.tensor(normal(60, 40))
        expected = a.numpy() @ a.data.T
        delays = RNG.uniform(1e-6, 4e-4, 2000)
        before = signal.signal(signal.SIGALRM, signal.default_int_handler)
        try:
            for delay in delays:
                with pytest.raises(KeyboardInterrupt):  # noqa: PT012  # at any place
                    signal.setitimer(signal.ITIMER_REAL, delay)
                    while True:
                        ops.matmul(a, a.T)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        self.check()
        np.testing.assert_allclose(ops.matmul(a, a.T).numpy(), expected)

    def test_while_others_work(self) -> None:
        """No thread writes any more when the interrupt has come through."""
        caller, inside = threading.current_thread(), threading.Event()
        ended = []

        def work(start: int, _stop: int) -> None:
            if threading.current_thread() is caller:
                assert inside.wait(10)
                raise KeyboardInterrupt
            inside.set()
            time.sleep(0.05)
            ended.append(start)

        with pytest.raises(KeyboardInterrupt):
            _parallel.for_rows(100, 1, 1, work)
        count = len(ended)
        assert 1 <= count < 98  # the block of each, or a few: not all
        self.check()
        assert len(ended) == count


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "2"])
def test_a_number_of_threads_is_a_positive_integer(number: Any) -> None:
    with pytest.raises(ValueError, match="positive integer"):
        minigrad.set_num_threads(number)


class TestCores:
    """The default number of threads is no more than the cores that the process may use."""

    @pytest.mark.parametrize(("files", "quotas"), [
        ({"cpu.max": "150000 100000\n"}, [1.5]), ({"cpu.max": "max 100000\n"}, []),
        ({"cpu/cpu.cfs_quota_us": "300000\n", "cpu/cpu.cfs_period_us": "100000\n"}, [3.0]),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, []),
        ({"cpu.max": "nonsense"}, []), ({}, []),
    ])  # fmt: skip
    def test_the_quota_of_a_container(
        self, files: dict[str, str], quotas: list[float], tmp_path: Path
    ) -> None:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        assert list(_parallel._quotas(str(tmp_path))) == quotas

    def test_a_part_of_a_core_is_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_parallel, "_quotas", lambda: [0.25])
        assert _parallel.available_cores() == 1
        monkeypatch.setattr(_parallel, "_threads", None)
        assert minigrad.get_num_threads() == 1

    @pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="there is no affinity here")
    def test_affinity(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5})
        monkeypatch.setattr(_parallel, "_quotas", list)
        assert _parallel.available_cores() == 3

    @pytest.mark.usefixtures("three_threads")
    def test_blas_follows_the_quota(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "cpu_count", lambda: 64)
        _parallel._threads = None
        monkeypatch.setattr(_parallel, "_quotas", lambda: [1.5])
        _parallel._follow_quota()
        cores = _parallel.available_cores()
        assert {*blas()} == {cores}

    @pytest.mark.usefixtures("three_threads")
    def test_one_call_sets_blas_too(self) -> None:
        assert {*blas()} == {3}
        during: list[int] = []

        def work(_start: int, _stop: int) -> None:
            minigrad.set_num_threads(2)  # while BLAS is limited: it takes effect afterwards
            during.extend(blas())

        _parallel.for_rows(2, 1, 1, work)
        assert set(during) == {1}
        assert {*blas()} == {2}


class TestFreedMemory:
    @pytest.mark.parametrize("number", [-1, 2048])
    def test_limits(self, number: int) -> None:
        with pytest.raises(ValueError, match="0 to 2047"):
            minigrad.keep_freed_memory(number)

    def test_an_array_that_is_held_is_not_reused(self) -> None:
        held = [ops.add(minigrad.full((1000, 300), i), 0.0) for i in range(20)]
        for _ in range(20):
            ops.add(minigrad.zeros((1000, 300)), -1.0)
        assert [int(x.numpy().max()) for x in held] == list(range(20))
