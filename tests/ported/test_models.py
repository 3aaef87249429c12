"""Models as people write them for PyTorch and Lucid, run with their import lines changed alone.

Each file of models/ has the import lines of its world. Here they are replaced, and nothing else.
Where PyTorch is installed, the same file runs under PyTorch from the same weights, on batches and
noise drawn by NumPy, in float64 and without dropout.
"""

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

MODELS = Path(__file__).parent / "models"
WORLDS = dict.fromkeys(["bert", "gan", "gpt", "seq2seq", "tagger", "unet"], "minigrad.torch")
WORLDS["gpt2_lucid3"] = "minigrad.lucid"
each = pytest.mark.parametrize(("name", "world"), WORLDS.items())
TOLERANCE = 1e-9


def load(name: str, world: str) -> ModuleType:
    """A model's file with its import lines, and those alone, changed for a world."""
    source = (MODELS / f"{name}.py").read_text(encoding="utf-8")
    found = re.sub(
        r"^(import|from) (torch|lucid)\b(.*)$",
        lambda line: imported(line[1], line[2], line[3], world),
        source,
        flags=re.MULTILINE,
    )
    changed = [
        old for old, new in zip(source.split("\n"), found.split("\n"), strict=True) if old != new
    ]
    assert all(line.startswith(("import ", "from ")) for line in changed)
    module = ModuleType(f"{name}_{world}")
    exec(compile(found, f"{name}.py", "exec"), module.__dict__)
    return module


def imported(verb: str, theirs: str, rest: str, world: str) -> str:
    """An import line for a world; ``import torch`` keeps the name ``torch``."""
    if verb == "from" or " as " in rest:
        return f"{verb} {world}{rest}"
    return f"import {world} as {theirs}"


def batches(module: ModuleType, steps: int = 5) -> list[Any]:
    numbers = np.random.default_rng(0)
    return [module.draw(numbers) for _ in range(steps)]


def arrays(state: dict[str, Any]) -> dict[str, np.ndarray]:
    return {name: np.array(value.detach().numpy()) for name, value in state.items()}


def gradients(model: Any) -> dict[str, np.ndarray]:
    """Gradients under the names of the state, zeros for what has none."""
    found = {name: np.zeros_like(value) for name, value in arrays(model.state_dict()).items()}
    for name, value in model.state_dict(keep_vars=True).items():
        if value.grad is not None:
            found[name] = np.array(value.grad.numpy())
    return found


def agree(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert found.keys() == wanted.keys()
    for name, value in found.items():
        np.testing.assert_allclose(value, wanted[name], TOLERANCE, TOLERANCE, err_msg=name)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@each
def test_losses_and_gradients_are_pytorchs(name: str, world: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    here, there = load(name, world), load(name, "torch")
    initial = arrays(there.build().double().state_dict())

    def run(module: ModuleType, steps: int) -> tuple[list[float], Any]:
        model = module.build().double()
        model.load_state_dict({key: torch.from_numpy(value) for key, value in initial.items()})
        return module.losses(model, batches(module, steps)), model

    def renamed(state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """PyTorch's state under our names: a model's own reading translates it."""
        model = here.build().double()
        model.load_state_dict(state)
        return arrays(model.state_dict())

    (first, found), (wanted_first, wanted) = run(here, 1), run(there, 1)
    np.testing.assert_allclose(first, wanted_first, TOLERANCE, TOLERANCE)
    assert any(value.any() for value in gradients(wanted).values())
    agree(gradients(found), renamed(gradients(wanted)))
    (losses, found), (wanted_losses, wanted) = run(here, 5), run(there, 5)
    assert len(losses) >= 5
    np.testing.assert_allclose(losses, wanted_losses, TOLERANCE, TOLERANCE)
    agree(arrays(found.state_dict()), renamed(arrays(wanted.state_dict())))


@each
def test_it_trains_from_the_librarys_own_numbers(name: str, world: str) -> None:
    import minigrad

    minigrad.random.seed(1)
    module = load(name, world)
    (batch,) = batches(module, 1)
    if name == "gan":
        batch = (batch[0].astype(np.float32), None)  # noise is drawn by the library
    elif name == "unet":
        batch = tuple(part.astype(np.float32) if part.dtype == float else part for part in batch)
    history = module.losses(module.build(dropout=0.1), [batch] * 20)[: 40 if name == "gan" else 20]
    assert np.isfinite(history).all()
    fallen = history[0::2] if name == "gan" else history  # the discriminator's
    assert np.mean(fallen[-3:]) < 0.9 * np.mean(fallen[:3])
