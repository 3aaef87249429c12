"""`Profile`: operations, bytes and lines of a step, exactly; times add up."""

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import graph_memory, saved_tensors_hooks
from minigrad.debugging import Profile
from minigrad.viz.layout.labels import text_width
from minigrad.viz.page.charts import inline


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
    events, outside = profile.events, "outside of modules"
    assert [(e.op, e.module, e.backward) for e in events] == [
        ("linear", "0", False), ("tanh", "1", False), ("sum", outside, False),
        ("sum", outside, True), ("tanh", "1", True), ("linear", "0", True),
        ("(no op)", outside, False),
    ]  # fmt: skip
    for before, after in pairwise(events):
        assert before.seconds >= 0
        assert after.start == pytest.approx(before.start + before.seconds)
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
    profile = profiled(lambda: kept.mul_(w))
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
    assert ("0 ops" in str(Profile()), Profile().memory()[1]) == (True, {})


def test_the_axis_of_memory_has_round_labels_that_are_not_cut() -> None:
    """One of 58.6 KiB began left of the picture, and read 8.6 KiB."""
    drawn = inline(profiled(lambda: minigrad.ones(100, 150) + 1.0))
    labels = re.findall(r'<text class="axis end" x="(\d+)" y="[\d.]+">([\d.]+ K?i?B)<', drawn)
    assert {label for _, label in labels} == {"0 B", "50.0 KiB", "100.0 KiB"}
    assert all(text_width(label, "name") < int(end) for end, label in labels)


# `graph_memory` -----------------------------------------------------------------------------------


def test_memory_by_op_counts_what_is_shared_once() -> None:
    x = minigrad.ones(100, requires_grad=True)
    h = minigrad.exp(x)  # saves its output, 400 bytes
    y = (h * h).sum()  # saves the same memory
    memory = graph_memory(y)
    assert memory.ops == (("exp", 1, 400), ("multiply", 1, 0), ("sum", 1, 0))
    assert memory.leaf_nbytes == 0
    z = (x * minigrad.tanh(x.detach() + 1.0)).sum()
    assert graph_memory(z).nbytes == 400
    both = graph_memory(y, z)
    assert both.nbytes == 800
    assert sum(nodes for _, nodes, _ in both.ops) == 5


def test_memory_of_views_is_that_of_the_whole() -> None:
    x = minigrad.ones(10, 100, requires_grad=True)
    big = minigrad.exp(x.detach())
    w = minigrad.ones(100, requires_grad=True)
    assert graph_memory((w * big[0]).sum()).nbytes == 4000
    assert graph_memory((w * w).sum()).leaf_nbytes == 400
    assert "4.0 KiB" not in str(graph_memory(w.sum()))
    assert graph_memory(minigrad.ones(3)).ops == ()
