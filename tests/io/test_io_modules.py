"""Whole modules in files: their classes by name, their attributes, and no code."""

import gc
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import python
from layer_table import LAYERS, NEED_EINOPS

import minigrad
import minigrad.nn.functional as F
from minigrad import distributions, nn
from minigrad.io import LoadError, load, save
from minigrad.io.pt.objects import SAVED
from minigrad.nn.utils import prune

CALLED = [line for line in LAYERS if line.is_called]


def same_parts(one: Any, other: Any) -> None:
    """The same classes and attributes, all the way down; tensors of the same values and kinds."""
    assert type(one) is type(other)
    if isinstance(one, minigrad.Tensor):
        assert (one.requires_grad, one.dtype) == (other.requires_grad, other.dtype)
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    elif isinstance(one, (dict, *SAVED)):
        mine, theirs = (x if isinstance(x, dict) else vars(x) for x in (one, other))
        assert mine.keys() == theirs.keys()
        for name, part in mine.items():
            same_parts(part, theirs[name])
    elif isinstance(one, (list, tuple)):
        for pair in zip(one, other, strict=True):
            same_parts(*pair)
    else:
        assert one == other


def test_every_layer(tmp_path: Path) -> None:
    """All of them in one file; each comes back as it was, with its functions."""
    path = tmp_path / "layers.pt"
    einops = importlib.util.find_spec("einops")
    here = [line for line in CALLED if einops or line.kind not in NEED_EINOPS]
    layers = [line.make() for line in here]
    save(layers, path)
    loaded = load(path, weights_only=False)
    assert len(loaded) > 100
    for one, other in zip(layers, loaded, strict=True):
        same_parts(one, other)
        assert repr(one) == repr(other)


class Net(nn.Module):
    """Shared layers and tensors, buffers, functions, and parts that are not registered."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.again = nn.Sequential(self.first, nn.BatchNorm1d(3))
        self.tied = nn.Linear(3, 3, bias=False)
        self.tied.weight = self.first.weight
        self.act = F.gelu
        base = distributions.Normal(minigrad.zeros(3), 1.0)
        self.prior = distributions.TransformedDistribution(base, [distributions.ExpTransform()])
        self.sizes = (1, [2, {"a": None}])
        self.register_buffer("mask", minigrad.ones(3), persistent=False)
        self.register_buffer("none", None)
        object.__setattr__(self, "teacher", nn.Linear(3, 1))

    def forward(self, x: Any) -> Any:
        return self.teacher(self.tied(self.act(self.again(x))) * self.mask)


def test_a_module_comes_back_as_it_was(tmp_path: Path) -> None:
    net: Any = Net()
    net.first.bias.requires_grad_(False)
    x = minigrad.randn(5, 3)
    net(x)
    net.eval()
    save({"model": net, "epoch": 3}, tmp_path / "net.pt")
    loaded: Any = load(tmp_path / "net.pt")["model"]
    same_parts(net, loaded)
    assert loaded.again[0] is loaded.first
    assert loaded.tied.weight is loaded.first.weight
    assert list(loaded.state_dict()) == list(net.state_dict())
    assert loaded.first.weight._node.name == "weight"
    np.testing.assert_array_equal(loaded(x).numpy(), net(x).numpy())
    np.testing.assert_array_equal(loaded.prior.log_prob(x**2), net.prior.log_prob(x**2))
    loaded.train()
    minigrad.optim.SGD(loaded.parameters(), lr=0.1).step(lambda: loaded(x).sum().backward())
    assert loaded.first.weight.grad is not None
    assert not minigrad.equal(loaded.first.weight, net.first.weight)
    with pytest.raises(LoadError, match=r"Linear: pass weights_only=False"):
        load(tmp_path / "net.pt", weights_only=True)


def test_a_pruned_module_stays_pruned(tmp_path: Path) -> None:
    layer: Any = prune.l1_unstructured(nn.Linear(4, 2), "weight", 3)
    prune.random_unstructured(layer, "weight", 1)
    save(layer, tmp_path / "pruned.pt")
    loaded: Any = load(tmp_path / "pruned.pt")
    with minigrad.no_grad():
        loaded.weight_orig.fill_(1.0)
    loaded(minigrad.ones(1, 4))
    np.testing.assert_array_equal(loaded.weight.numpy() == 0, layer.weight.numpy() == 0)
    handle = loaded.register_forward_pre_hook(lambda *_: None)
    assert len(loaded._forward_pre_hooks) == 2
    handle.remove()
    assert prune.is_pruned(loaded)
    assert prune.remove(loaded, "weight").weight.requires_grad


def test_what_is_not_saved_of_a_module(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"
    hooked = nn.Sequential(nn.Linear(1, 1))
    hooked[0].register_forward_hook(print)
    itself: Any = nn.Sequential(nn.Identity())
    object.__setattr__(itself[0], "parent", itself)
    own: Any = nn.Identity()
    own.act = lambda x: x
    norm = nn.utils.parametrizations.weight_norm(nn.Linear(1, 1))
    older = nn.Sequential(nn.utils.weight_norm(nn.Linear(1, 1)))
    cases = [
        (hooked, TypeError, r"0\._forward_hooks\.\d+ is of type builtin_function"),
        ([itself], ValueError, r"0\.0\.parent is a module that contains itself"),
        (own, TypeError, "act is of type function"),
        (norm, TypeError, "Linear has computed parameters"),
        (older, TypeError, "Linear has computed parameters"),
    ]
    for value, error, said in cases:
        with pytest.raises(error, match=said):
            save(value, path)
    assert not path.exists()
    for name in ("net.npz", "net.safetensors"):
        with pytest.raises(TypeError, match=r"pass its state_dict\(\)"):
            save(nn.Linear(1, 1), tmp_path / name)


def test_a_class_that_is_not_here(tmp_path: Path) -> None:
    path = tmp_path / "net.pt"

    def made(scale: float) -> Any:
        class Local(nn.Module):
            def forward(self, x: Any) -> Any:
                return scale * x

        return Local()

    older, newer = made(2.0), made(3.0)
    save(older, path)
    assert load(path)(minigrad.ones(1)).item() == 3.0, "the class of that name that was made last"
    del older, newer
    gc.collect()
    with pytest.raises(LoadError, match=r"class test_io_modules\..*Local, .* imported or defined"):
        load(path)


SCRIPT = """
import sys
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 1)
    def forward(self, x):
        return self.layer(x).relu()

if sys.argv[1] == "save":
    torch.manual_seed(0)
    torch.save(Net(), "net.pt")
model = torch.load("net.pt", weights_only=False)
print(type(model).__module__, model(torch.ones(1, 2)).shape, model.layer.weight.sum().item())
"""


def test_a_class_of_the_script(tmp_path: Path) -> None:
    """Saved by one run of a script and loaded by another; a third does not define the class."""
    (tmp_path / "net.py").write_text(SCRIPT)
    runs = [
        python("-m", "minigrad.torch", "net.py", what, cwd=tmp_path) for what in ("save", "load")
    ]
    assert runs[0].stdout == runs[1].stdout, runs
    assert runs[0].stdout.startswith("__main__ torch.Size([1, 1]) ")
    other = python("-c", "import minigrad; minigrad.load('net.pt')", cwd=tmp_path)
    assert "it holds an object of class __main__.Net, which is not a subclass" in other.stderr
