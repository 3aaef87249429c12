"""`torch.nn.utils.prune` beside PyTorch's: masks, what is left, and training with them."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.nn.utils.prune  # noqa: E402, F811

import minigrad.torch as door  # noqa: E402
from minigrad.compiler import CaptureError, capture  # noqa: E402

WORLDS = door, torch
NUMBERS = np.random.default_rng(3).permutation(24).reshape(4, 6) / 7 - 1.43


def a_layer(world: Any) -> Any:
    layer = world.nn.Linear(6, 4)
    layer.weight.data = world.tensor(NUMBERS, dtype=world.float32)
    layer.bias.data = world.tensor([0.01, -9.0, 0.02, 8.0])
    return layer


def custom(prune: Any) -> Any:
    class Every(prune.BasePruningMethod):  # type: ignore[name-defined,misc]
        PRUNING_TYPE = "unstructured"

        def __init__(self, step: int) -> None:
            self.step = step

        def compute_mask(self, t: Any, default_mask: Any) -> Any:
            mask = default_mask.clone()
            mask.view(-1)[:: self.step] = 0
            return mask

    return Every


PRUNINGS: dict[str, Any] = {
    "identity": lambda p, m, w: p.identity(m, "weight"),
    "number": lambda p, m, w: p.l1_unstructured(m, "weight", 5),
    "fraction": lambda p, m, w: p.l1_unstructured(m, name="weight", amount=0.3),
    "all": lambda p, m, w: p.l1_unstructured(m, "weight", 1.0),
    "none": lambda p, m, w: p.l1_unstructured(m, "weight", 0),
    "scores": lambda p, m, w: p.l1_unstructured(
        m, "weight", 5, importance_scores=w.arange(24.0).reshape(4, 6)
    ),
    "rows": lambda p, m, w: p.ln_structured(m, "weight", 2, n=2, dim=0),
    "columns": lambda p, m, w: p.ln_structured(m, "weight", 0.5, n=float("inf"), dim=-1),
    "by the sum": lambda p, m, w: p.ln_structured(m, "weight", amount=1, n=1, dim=1),
    "rows by scores": lambda p, m, w: p.ln_structured(
        m, "weight", 1, 1, 0, importance_scores=w.arange(24.0).reshape(4, 6)
    ),
    "mask": lambda p, m, w: p.custom_from_mask(m, "weight", w.tensor(NUMBERS > 0)),
    "own": lambda p, m, w: custom(p).apply(m, "weight", step=3),
    "a class": lambda p, m, w: p.L1Unstructured.apply(m, "weight", amount=7),
    "global": lambda p, m, w: p.global_unstructured(
        [(m, "weight"), (m, "bias")], p.L1Unstructured, amount=9
    ),
}


def seen(layer: Any) -> list[Any]:
    state = layer.state_dict()
    arrays = [state[name].numpy() for name in sorted(state)]
    return [sorted(state), *arrays, layer.weight.detach().numpy()]


def same(ours: list[Any], theirs: list[Any]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("second", ["", "fraction", "rows", "mask", "own", "global"])
@pytest.mark.parametrize("first", PRUNINGS)
def test_one_pruning_after_another(first: str, second: str) -> None:
    """What is pruned stays pruned: the second looks at what the first has left."""
    layers = [a_layer(world) for world in WORLDS]
    for name in filter(None, (first, second)):
        failed = []
        for world, layer in zip(WORLDS, layers, strict=True):
            try:
                PRUNINGS[name](world.nn.utils.prune, layer, world)
            except (IndexError, ValueError) as error:  # little is left
                failed.append(type(error))
        if failed:
            assert first in ("all", "rows", "columns", "rows by scores")
            assert len(failed) == 2
            return
        same(*map(seen, layers))
        hooks = [[*layer._forward_pre_hooks.values()] for layer in layers]
        assert [type(h).__name__ for h in hooks[0]] == [type(h).__name__ for h in hooks[1]]
    results = []
    for world, layer in zip(WORLDS, layers, strict=True):
        out = layer(world.ones(2, 6)).sum()
        out.backward()
        name = "weight_orig"
        with world.no_grad():
            for parameter in layer.parameters():
                parameter -= 0.5 * parameter.grad
        layer(world.ones(2, 6))
        prune = world.nn.utils.prune
        results.append([
            getattr(layer, name).grad.numpy(), *seen(layer), prune.is_pruned(layer),
            *seen(prune.remove(layer, "weight")), type(layer.weight).__name__,
        ])  # fmt: skip
    same(*results)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_random_pruning_by_count(dim: int) -> None:
    layer = door.nn.utils.prune.random_structured(a_layer(door), "weight", 2, dim)
    gone = (np.moveaxis(layer.weight_mask.numpy(), dim, 0) == 0).reshape(
        layer.weight.shape[dim], -1
    )
    assert gone.all(axis=1).sum() == gone.any(axis=1).sum() == 2
    masks = [
        door.nn.utils.prune.random_unstructured(a_layer(door), "weight", 0.25).weight_mask.numpy()
        for _ in range(4)
    ]
    assert [mask.sum() for mask in masks] == [18] * 4
    assert len({mask.tobytes() for mask in masks}) > 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda p, m: p.l1_unstructured(m, "weight", 1.5), ValueError),
        (lambda p, m: p.l1_unstructured(m, "weight", -1), ValueError),
        (lambda p, m: p.l1_unstructured(m, "weight", 25), ValueError),
        (lambda p, m: p.l1_unstructured(m, "weight", "a"), TypeError),
        (lambda p, m: p.l1_unstructured(m, "kernel", 1), AttributeError),
        (lambda p, m: p.ln_structured(m, "bias", 1, 2, 0), ValueError),
        (lambda p, m: p.ln_structured(m, "weight", 1, 2, 5), IndexError),
        (lambda p, m: p.ln_structured(m, "weight", 5, 2, 0), ValueError),
        (lambda p, m: p.remove(m, "weight"), ValueError),
        (lambda p, m: p.global_unstructured([(m, "weight")], p.LnStructured, amount=1, n=2),
         TypeError),
        (lambda p, m: p.global_unstructured(3, p.L1Unstructured, amount=1), TypeError),
        (lambda p, m: p.PruningContainer(3), (AttributeError, TypeError)),
        (lambda p, m: p.BasePruningMethod(), TypeError),
    ],
)  # fmt: skip
def test_what_is_refused_leaves_the_layer_as_it_was(wrong: Any, error: Any) -> None:
    for world in WORLDS:
        layer = a_layer(world)
        with pytest.raises(error):
            wrong(world.nn.utils.prune, layer)
        assert sorted(layer.state_dict()) == ["bias", "weight"]
        assert not world.nn.utils.prune.is_pruned(layer)


def test_a_captured_step_refuses_it() -> None:
    """The hook sets an attribute in each call, which a replay would not."""
    layer: Any = door.nn.utils.prune.l1_unstructured(a_layer(door), "weight", 9)
    step = capture(lambda x: layer(x).sum())
    x = door.ones(1, 6)
    with pytest.raises(CaptureError, match="changes weight of Linear"):
        _ = [step(x) for _ in range(3)]
