"""Three ways to the gradients of a block: they agree, and where one goes wrong it is named."""

import re
from collections.abc import Callable
from typing import Any

import by_hand_vs_autograd as example
import numpy as np
import pytest
from example_runs import Call, Smoke

from minigrad import Tensor, nn, tensor
from minigrad.nn import by_hand
from minigrad.nn.by_hand import attention_core, transformer_block

ROW = re.compile(
    r"^  (?P<name>\w+) +(?P<shape>\(.*?\)) +(?P<norm>\S+) +(?P<exact>\S+) +(?P<near>\S+)"
    r" +(?P<checked>all [\d,]+|[\d,]+ of [\d,]+)(?P<fault>   <- .*)?$",
    re.MULTILINE,
)
NAMES = [*by_hand.TransformerEncoderBlock(4, 1).get_params(), "x"]


@pytest.fixture
def output(smoke: Smoke) -> str:
    return smoke(example)[1]


def test_all_three_agree(output: str) -> None:
    rows = [match.groupdict() for match in ROW.finditer(output)]
    assert sorted(row["name"] for row in rows) == sorted(NAMES)
    for row in rows:
        assert float(row["exact"]) < 1e-10, row
        assert float(row["near"]) < 1e-6, row
        assert not row["fault"]
    assert "\nverdict: all three agree, by hand and autograd to " in output


def test_each_way_is_explained(output: str) -> None:
    for way in ("1. By hand: ", "2. By autograd: ", "3. By finite differences: "):
        assert re.search(rf"{way}.*\n   .{{37,}}\n", output), way
    first, second = re.findall(r"loss (\d+\.\d+), ", output)
    assert first == second
    assert max(map(len, output.splitlines())) <= 100


def test_the_table_is_that_of_the_gradients(call: Call) -> None:
    options = ("--d-model", "6", "--heads", "3", "--length", "4", "--seed", "5", "--no-mask")
    done = call(example, *options)
    assert (done.code, done.error) == (0, "")
    case = example.draw(6, 3, 4, False, 5)
    block = nn.TransformerEncoderBlock(6, 3).double()
    block.load_state_dict(case.params)
    loss = (block(tensor(case.x)) ** 2).sum()
    assert f"loss {loss.item():.10f}, " in done.out
    _, gradients = example.gradients_by_hand(case)
    for row in (match.groupdict() for match in ROW.finditer(done.out)):
        gradient = gradients[row["name"]]
        assert row["shape"] == str(gradient.shape)
        assert float(row["norm"]) == pytest.approx(np.linalg.norm(gradient), rel=1e-3)
        assert row["checked"] == f"all {gradient.size}"


def test_options_count(output: str, call: Call) -> None:
    losses = {
        re.findall(r"loss (\S+), ", call(example, "--smoke", *options).out)[0]
        for options in ((), ("--mask",), ("--no-mask",), ("--seed", "1"), ("--length", "7"))
    }
    assert len(losses) == 4  # the mask is there unless told otherwise
    assert re.findall(r"loss (\S+), ", output)[0] in losses
    assert " 20 of 256" in output
    assert "all 16" in output


Change = Callable[..., Any]


def scaled(factor: float, position: int) -> Change:
    """A change of one of several results."""
    return lambda results, *_: tuple(
        result * factor if i == position else result for i, result in enumerate(results)
    )


def one_entry(results: Any, *_: Any) -> Any:
    results[1]["W2"][-1, -1] += 1e-2
    return results


def a_gradient_too_many(output: Tensor, block: nn.TransformerEncoderBlock, *_: Any) -> Tensor:
    return output + 0.01 * (block.norm2.bias - block.norm2.bias.detach())


def larger(results: Any, *_: Any) -> Any:
    loss, grads = results
    return loss, {**grads, "b1": 1.5 * grads["b1"]}


BLOCK = by_hand.TransformerEncoderBlock
HAND, DIFFER = "by hand is wrong", "by hand and autograd differ"
BOTH = "gradients_by_hand gradients_by_autograd"
FAULTS = {
    "scale": (transformer_block, "layer_norm_backward", scaled(1.001, 1), "gamma1 gamma2", HAND),
    "NaN": (transformer_block, "layer_norm_backward", scaled(np.nan, 2), "beta1 beta2", HAND),
    "softmax": (attention_core, "attention_weights_backward", lambda grad, *_: 1.01 * grad,
                "x W_Q W_K gamma1 beta1", HAND),
    "input": (BLOCK, "backward", scaled(0.99, 0), "x", HAND),
    "an entry that is not compared": (BLOCK, "backward", one_entry, "W2", DIFFER),
    "above rounding": (
        transformer_block, "layer_norm_backward", scaled(1 + 1e-8, 1), "gamma1 gamma2", DIFFER
    ),
    "autograd": (
        nn.TransformerEncoderBlock, "forward", a_gradient_too_many, "beta2", "autograd is wrong"
    ),
    "both": (example, BOTH, larger, "b1", "finite differences say otherwise"),
}  # fmt: skip
"""What is wrong in which function, and the gradients of which it is said, and how."""


def sabotage(monkeypatch: pytest.MonkeyPatch, module: Any, names: str, change: Change) -> None:
    for name in names.split():
        right = getattr(module, name)
        changed = lambda *args, right=right: change(right(*args), *args)
        monkeypatch.setattr(module, name, changed)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_gradient_is_found(monkeypatch: pytest.MonkeyPatch, call: Call, fault: str) -> None:
    module, names, change, wrong, said = FAULTS[fault]
    sabotage(monkeypatch, module, names, change)
    done = call(example, "--smoke")
    assert done.code == 1
    told = done.out.splitlines()[-1].removeprefix("verdict: they disagree: ").split("; ")
    assert sorted(told) == sorted(f"{name}: {said}" for name in wrong.split())
    marked = [match["name"] for match in ROW.finditer(done.out) if match["fault"]]
    assert sorted(marked) == sorted(wrong.split())


@pytest.mark.slow
def test_without_smoke_each_entry_is_compared(monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    sabotage(monkeypatch, BLOCK, "backward", one_entry)
    assert call(example).out.splitlines()[-1] == f"verdict: they disagree: W2: {HAND}"


def test_the_step_does_not_cross_the_kink_of_relu() -> None:
    case = example.draw(4, 1, 2, True, 0)
    block = example.hand_made(case)
    block.forward(case.x, case.mask)
    assert block.cache is not None
    sums = block.cache["normed2"] @ block.W1  # (N, L, d_ff)
    case.params["b1"][0] = 3e-6 - sums[0, 0, 0]
    step = example.safe_step(case)
    assert step == pytest.approx(1e-7)
    _, hand = example.gradients_by_hand(case)
    for h, agrees in ((step, True), (1e-5, False)):
        slope = example.slopes_by_differences(case, "b1", np.array([0]), h)
        assert (example.difference(hand["b1"][:1], slope) < example.TRUNCATION) is agrees


def test_finite_differences_leave_the_block_as_it_was() -> None:
    case, same = (example.draw(4, 2, 3, True, 0) for _ in range(2))
    for name, array in case.arrays.items():
        example.slopes_by_differences(case, name, np.arange(3), 1e-5)
        np.testing.assert_array_equal(array, same.arrays[name])
