"""Parametrizations and spectral normalization against PyTorch, step by step."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from side_by_side import assert_close, compare, draw, torch

import minigrad
from minigrad import nn, optim, tensor
from minigrad.nn.utils import parametrize

theirs_of = torch.nn.utils


LAYERS = [
    ("Linear", (4, 3), (5, 4)),
    ("Conv2d", (2, 3, (2, 3)), (1, 2, 4, 4)),
    ("ConvTranspose1d", (3, 2, 2), (2, 3, 4)),
]


@pytest.mark.parametrize(("layer", "arguments", "shape"), LAYERS)
def test_spectral_norm(layer: str, arguments: Any, shape: Any) -> None:
    """The same weights after the same steps of training, and in evaluation."""
    theirs = theirs_of.parametrizations.spectral_norm(
        getattr(torch.nn, layer)(*arguments).double(), n_power_iterations=2
    )
    ours = nn.utils.parametrizations.spectral_norm(
        getattr(nn, layer)(*arguments).double(), n_power_iterations=2
    )
    assert ours.load_state_dict(theirs.state_dict()) == ([], [])
    mine = optim.SGD(ours.parameters(), lr=0.1)
    other = torch.optim.SGD(theirs.parameters(), lr=0.1)
    for step in range(3):
        x = draw(*shape, seed=step)
        compare(ours, theirs, [x], ours, theirs)
        mine.step()
        other.step()
    ours.eval(), theirs.eval()
    with torch.no_grad():
        assert_close(ours.weight, theirs.weight)
    assert_close(ours(tensor(draw(*shape))), theirs(torch.tensor(draw(*shape))))


@pytest.mark.filterwarnings("ignore:.*spectral_norm.* is deprecated")
def test_spectral_norm_with_its_older_names() -> None:
    theirs = torch.nn.utils.spectral_norm(torch.nn.Linear(4, 3).double(), n_power_iterations=2)
    ours = nn.utils.spectral_norm(nn.Linear(4, 3).double(), n_power_iterations=2)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    ours.load_state_dict(theirs.state_dict())
    for step in range(3):
        x = draw(5, 4, seed=step)
        compare(ours, theirs, [x], ours, theirs)
    assert_close(ours.weight_u, theirs.weight_u)
    newer = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 3).double()).eval()
    newer.load_state_dict(ours.state_dict())
    assert_close(newer.weight, ours.eval().weight.detach().numpy())
    plain = nn.utils.remove_spectral_norm(ours.eval())
    assert_close(plain.weight, theirs.eval()(torch.eye(4).double()).T - theirs.bias[:, None])
    with pytest.raises(ValueError, match="'weight' of Linear is not normalized"):
        nn.utils.remove_spectral_norm(plain)


class Symmetric(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.triu() + x.triu(1).T


class Positive(nn.Module):
    def forward(self, x: Any) -> Any:
        return x.exp()

    def right_inverse(self, weight: Any) -> Any:
        return weight.log()


def test_functions_one_after_the_other() -> None:
    layer = nn.Linear(3, 3)
    weight = np.abs(draw(3, 3)) + 0.1
    layer.weight.data[...] = weight
    assert parametrize.register_parametrization(layer, "weight", Positive()) is layer
    np.testing.assert_allclose(layer.weight.numpy(), weight, rtol=1e-6)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    wanted = np.triu(weight) + np.triu(weight, 1).T
    np.testing.assert_allclose(layer.weight.numpy(), wanted, rtol=1e-6)
    assert [*layer.state_dict()] == ["bias", "parametrizations.weight.original"]
    layer(tensor(draw(2, 3), dtype=np.float32)).sum().backward()
    assert layer.parametrizations.weight.original.grad is not None
    for again in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        np.testing.assert_array_equal(again.weight.numpy(), layer.weight.numpy())
        assert parametrize.is_parametrized(again, "weight")
    nn.utils.weight_norm(layer, "bias")
    assert parametrize.is_parametrized(layer)
    assert not parametrize.is_parametrized(layer, "bias")
    nn.utils.remove_weight_norm(layer, "bias")
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear
    assert "parametrizations" not in dict(layer.named_children())
    np.testing.assert_allclose(layer.weight.numpy(), wanted, rtol=1e-6)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    np.testing.assert_allclose(layer.weight.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("register", [
    lambda m, layer: m.nn.utils.parametrizations.weight_norm(layer),
    lambda m, layer: m.nn.utils.parametrizations.spectral_norm(layer),
    lambda m, layer: m.nn.utils.parametrize.register_parametrization(layer, "weight", halves(m)),
])  # fmt: skip
def test_a_value_is_given_to_the_originals(register: Any) -> None:
    facts = []
    for m in (minigrad, torch):
        layer = register(m, m.nn.Linear(3, 3).double())
        originals = [*layer.parametrizations.weight.parameters()]
        layer.weight = m.tensor(draw(3, 3)) + 4 * m.eye(3)
        kept = zip(layer.parametrizations.weight.parameters(), originals, strict=True)
        assert all(one is other for one, other in kept)
        facts.append(
            [
                *originals,
                *([] if hasattr(layer.parametrizations.weight[0], "_u") else [layer.weight]),
            ]
        )
    for ours, theirs in zip(*facts, strict=True):
        assert_close(ours, theirs)


def halves(m: Any) -> Any:
    """A weight that is the sum of two."""

    class Halves(m.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

        def right_inverse(self, weight: Any) -> Any:
            return weight / 4, weight * 3 / 4

    return Halves()


def test_refusals() -> None:
    layer = nn.Linear(3, 3)
    layer.weight.data[...] = 2.0
    parametrize.register_parametrization(layer, "weight", Positive())
    layer.weight = nn.Parameter(minigrad.ones(3, 3))
    assert [name for name, _ in layer.named_parameters()][1:] == [
        "parametrizations.weight.original"
    ]
    assert layer.parametrizations.weight.original.tolist() == np.zeros((3, 3)).tolist()
    with pytest.raises(ValueError, match=r"^parametrize: .*original.*\(2,\) and \(3, 3\)"):
        layer.weight = minigrad.ones(2)
    with pytest.raises(TypeError, match="^parametrize: a value is a tensor, got int"):
        layer.weight = 3
    for register in (layer.register_buffer, layer.register_parameter, layer.add_module):
        for value in (None, {"add_module": nn.Tanh()}.get(register.__name__, nn.Parameter([1.0]))):
            with pytest.raises(ValueError, match="'weight' is computed from other attributes"):
                register("weight", value)
    parametrize.register_parametrization(layer, "weight", nn.Tanh())
    with pytest.raises(AttributeError, match="'Tanh' .*'right_inverse'"):
        layer.weight = minigrad.ones(3, 3)
    layer = nn.Linear(4, 3)
    with pytest.raises(AttributeError, match="^Linear has no parameter 'w'; it has"):
        parametrize.register_parametrization(layer, "w", nn.Tanh())
    with pytest.raises(ValueError, match=r"^register_parametrization: .*Flatten .*\(3, 4\)"):
        parametrize.register_parametrization(layer, "weight", nn.Flatten(0))
    with pytest.raises(AttributeError, match="^Linear has no child 'parametrizations'"):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(AttributeError, match="Linear has no parameter 'gain'"):
        nn.utils.spectral_norm(layer, "gain")
    with pytest.raises(ValueError, match="axis 2 is out of bounds"):
        nn.utils.spectral_norm(layer, dim=2)


@pytest.mark.parametrize("norm", ["spectral_norm", "weight_norm"])
def test_optimizers_keep_the_parameter(norm: str) -> None:
    """An optimizer may be made before a parametrization, or before that is removed."""
    facts = []
    for m in (minigrad, torch):
        layer = m.nn.Linear(3, 3).eval()
        weight, register = layer.weight, getattr(m.nn.utils.parametrizations, norm)
        register(layer)
        found: list[Any] = [parameter is weight for parameter in layer.parameters()]
        m.nn.utils.parametrize.register_parametrization(layer, "weight", m.nn.Tanh())
        found += [part.training for part in layer.parametrizations.weight]
        if norm == "spectral_norm":
            register(layer)
        found.append(len(layer.parametrizations.weight))
        m.nn.utils.parametrize.remove_parametrizations(layer, "weight")
        facts.append([*found, layer.weight is weight])
    assert facts[0] == facts[1]
