"""`Profile`: operations, bytes and lines of a step, exactly; times add up."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, tensor
from minigrad.autograd import Observer, graph_memory, saved_tensors_hooks
from minigrad.debugging import Profile
from minigrad.nn import functional as F


def profiled(run: Any) -> Profile:
    with Profile() as profile:
        run()
    return profile


def row(table: str, name: str) -> list[str]:
    (found,) = [line for line in table.splitlines() if line.strip().startswith(name)]
    return found.strip()[len(name) :].split()


def test_time_is_that_of_the_block_and_rows_add_up() -> None:
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Tanh()), minigrad.ones(2, 4)
    profile = profiled(lambda: model(x).sum().backward())
    events = profile.events
    assert " ".join(e.op for e in events) == "linear tanh sum sum tanh linear (no op)"
    assert [e.backward for e in events] == [False] * 3 + [True] * 3 + [False]
    assert all(e.seconds is not None and e.seconds >= 0 for e in events)
    for before, after in pairwise(events):
        assert after.start == pytest.approx(before.start + before.seconds)
    outside = "outside of modules"
    assert [e.module for e in events] == ["0", "1", outside, outside, "1", "0", outside]
    assert all(e.line.startswith("tests/debugging/test_profiler.py:") for e in events[:-1])
    for by in ("module", "line", "op"):
        table = profile.table(by)
        assert row(table, "in all")[0] == "3", table
        assert row(table, "in all")[5] == "100%", table
    assert row(profile.table(), "Sequential")[0] == "2"
    assert row(profile.table(), "0: Linear")[0] == "1"
    with pytest.raises(ValueError, match="by must be .* got 'file'"):
        profile.table("file")  # type: ignore[arg-type]


def test_the_saved_bytes_are_those_of_the_graph() -> None:
    model = nn.TransformerEncoderLayer(8, 2, 16)
    x: Tensor = minigrad.randn(2, 3, 8)
    kept: list[Tensor] = []
    profile = profiled(lambda: kept.append((model(x) ** 2).mean()))
    memory = graph_memory(kept[0])
    assert sum(event.saved for event in profile.events) == memory.nbytes
    for op, _, nbytes in memory.ops:
        assert nbytes == sum(e.saved for e in profile.events if e.op == op), op


def test_memory_is_followed_from_birth_to_end() -> None:
    x = minigrad.ones(100, requires_grad=True)  # a leaf: not counted

    def run() -> Tensor:
        a = minigrad.exp(x)  # saves its output: 400 bytes
        b = a * 2.0  # 400, saved by nothing
        c = (b + 1.0).sum()  # 400 for a moment, and 4
        return c

    profile = profiled(run)
    assert profile.peak == 400 + 400 + 400 + 4
    owners = {line.split(":")[0]: line for line in profile.owners().splitlines()[1:]}
    assert list(owners) == ["exp", "multiply", "add", "sum"]
    assert "exp: saved by exp as out" in owners["exp"]
    assert "multiply: result" in owners["multiply"]
    assert owners["add"].endswith("1  400 B")
    assert "c = (b + 1.0).sum()" in owners["add"]
    times, curves = profile.memory("op")
    assert (np.diff(times) >= 0).all()
    assert curves["add"].max() == 400, "freed at once"
    assert curves["add"][4] == 0, "freed at once"
    total = np.sum([*curves.values()], axis=0)
    assert total.max() == profile.peak
    assert total[-1] == 0
    whole = profiled(lambda: run().backward())
    last = {name: int(curve[-1]) for name, curve in whole.memory("op")[1].items()}
    assert sum(last.values()) == 400, "the gradient of x, which is alive"
    assert "c = (b + 1.0).sum()" in str(whole), "the peak is owned by the backward step of sum"


def test_gradients_are_followed_too() -> None:
    x, bias = minigrad.ones(100, requires_grad=True), minigrad.ones(10, requires_grad=True)
    data = minigrad.ones(5, 10)  # 200 bytes, alive until the end
    profile = profiled(lambda: (data + bias).sum().backward())  # the engine sums over the rows
    times, curves = profile.memory()
    assert sum(int(curve[-1]) for curve in curves.values()) == 200 + 40
    assert (np.diff(times) >= 0).all(), "gradients are looked at after others were freed"
    profile = profiled(lambda: (x * 2.0).exp().sum().backward())
    assert profile.peak >= 800
    assert "exp: gradient of the backward step" in profile.owners()


def test_what_an_op_in_place_saves_is_a_copy() -> None:
    x, w = (minigrad.ones(100, requires_grad=True) for _ in range(2))
    kept = x * 1.0
    with Profile() as profile:
        kept.mul_(w)
    assert sum(event.saved for event in profile.events) == graph_memory(kept).nbytes == 400
    assert profile.peak >= 800, "the copy, and the values that were there"


def test_a_view_has_the_memory_of_its_whole() -> None:
    w, x = minigrad.ones(10, 10, requires_grad=True), minigrad.ones(10, 10)
    profile = profiled(lambda: w.T.reshape(100)[:5])
    assert profile.peak == 400, "reshape copies a transposed matrix; the others are views"
    assert profiled(lambda: w.T * x).peak == 800 == profiled(lambda: x[0] * w).peak
    assert profiled(lambda: w.T).peak == 0


def test_packed_values_are_not_unpacked() -> None:
    def unpack(_value: Any) -> Any:
        pytest.fail("unpacked")

    x = minigrad.ones(3, requires_grad=True)
    with saved_tensors_hooks(lambda t: t, unpack):
        profiled(lambda: x.exp().sum())


def test_flops_of_products() -> None:
    a = minigrad.ones(5, 2, 3, requires_grad=True)
    w = minigrad.ones(3, 4, requires_grad=True)
    forward = 2 * 5 * 2 * 3 * 4
    for run in (
        lambda: a @ w,
        lambda: minigrad.einsum("bij,jk->bik", a, w),
        lambda: minigrad.tensordot(a, w, 1),
        lambda: F.linear(a, w.T),
    ):
        assert profiled(run).flops == forward
        assert profiled(lambda run=run: run().sum().backward()).flops == 3 * forward
    assert profiled(lambda: (a.detach() @ w).sum().backward()).flops == 2 * forward
    assert profiled(lambda: (a * 2.0).sum().backward()).flops == 0


@pytest.mark.needs("torch")
@pytest.mark.parametrize(
    ("make", "shape"),
    [(lambda t: t.Linear(6, 4), (5, 6)),
     (lambda t: t.Conv2d(4, 6, 3, stride=2, padding=1), (2, 4, 9, 8)),
     (lambda t: t.ConvTranspose2d(4, 6, 3, stride=2), (2, 4, 5, 4))],
)  # fmt: skip
def test_flops_are_pytorchs(make: Any, shape: tuple[int, ...]) -> None:
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    ours, x = make(nn), np.ones(shape, np.float32)
    with FlopCounterMode(display=False) as counter:
        make(torch.nn)(torch.tensor(x, requires_grad=True)).sum().backward()
    y = tensor(x, requires_grad=True)
    assert profiled(lambda: ours(y).sum().backward()).flops == counter.get_total_flops()


def test_groups_of_a_convolution_multiply_less() -> None:
    x = minigrad.ones(2, 4, 9, 8)
    whole, grouped = nn.Conv2d(4, 6, 3), nn.Conv2d(4, 6, 3, groups=2)
    assert profiled(lambda: whole(x)).flops == 2 * profiled(lambda: grouped(x)).flops


def attend() -> Tensor:
    q, k = minigrad.randn(2, 4, 5, 6), minigrad.randn(2, 4, 7, 6)
    return F.scaled_dot_product_attention(q, k, k[..., :3])


FUSED: dict[str, Any] = {
    "attention": attend,
    "lstm": lambda: nn.LSTM(3, 5, batch_first=False)(minigrad.ones(7, 2, 3)),
    "gru": lambda: nn.GRU(3, 5, batch_first=False)(minigrad.ones(7, 2, 3)),
    "rnn": lambda: nn.RNN(3, 5, batch_first=False)(minigrad.ones(7, 2, 3)),
}


@pytest.mark.parametrize("name", FUSED)
def test_a_fused_op_counts_what_it_stands_for(name: str) -> None:
    parts: list[int] = []

    class Composed(Observer):
        def ran(self, call: Any) -> None:
            op = call.op
            if op.name == name:
                arrays = [tensor(a) if isinstance(a, np.ndarray) else a for a in call.arguments]
                parts.append(profiled(lambda: op.call_with(op.decomposition, arrays)).flops)

    with Composed():
        FUSED[name]()
    assert parts == [event.flops for event in profiled(FUSED[name]).events if event.op == name]
    assert parts[0] > 0


def test_the_backward_step_of_a_fused_op_counts_its_products() -> None:
    q, k, v = (minigrad.randn(2, 3, 5, 6, requires_grad=True) for _ in range(3))
    profile = profiled(lambda: F.scaled_dot_product_attention(q, k, v).sum().backward())
    forward, backward = (event.flops for event in profile.events if event.op == "attention")
    assert forward == 2 * 2 * (2 * 3 * 5 * 5 * 6)  # scores, and sums of values
    assert 2 * backward == 5 * forward  # the scores again, and a product for each of q, k, v and P
    values = profiled(lambda: F.scaled_dot_product_attention(q.detach(), k.detach(), v).backward(q))
    assert max(event.flops for event in values.events if event.backward) == 3 * forward // 2
    for name in ("lstm", "gru", "rnn"):
        profile = profiled(lambda name=name: FUSED[name]()[0].sum().backward())
        forward, backward = (event.flops for event in profile.events if event.op == name)
        assert backward == 2 * forward  # for the state before, and for the weight


def test_higher_orders_count_their_ops() -> None:
    a = minigrad.ones(2, 3, requires_grad=True)
    b = minigrad.ones(3, 4, requires_grad=True)
    run = lambda: minigrad.autograd.grad((a @ b).sum(), [a, b], create_graph=True)
    assert profiled(run).flops == 3 * 48


def test_a_loop_of_vmap_is_named() -> None:
    profile = profiled(lambda: minigrad.vmap(lambda x: minigrad.quantile(x, 0.5))(np.ones((3, 2))))
    assert row(profile.table("op"), "quantile, in a loop of vmap")[0] == "3"


def test_the_next_step_is_added() -> None:
    x = minigrad.ones(3, requires_grad=True)
    profile = Profile()
    for _ in range(2):
        with profile:
            x.exp()
        x.exp()  # outside
    assert [e.op for e in profile.events] == ["exp", "(no op)"] * 2
    assert "2 ops and 0 backward steps" in str(profile)
    assert "0 ops" in str(Profile())
    assert Profile().memory()[1] == {}
