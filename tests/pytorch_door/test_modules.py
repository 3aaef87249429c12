"""What people do with PyTorch's modules, hooks, custom functions and generators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402
from minigrad.torch import nn  # noqa: E402

F: Any = nn.functional


@pytest.mark.filterwarnings("ignore")
def test_a_transformer_has_pytorchs_parameters_parts_and_masks() -> None:
    """Masks of both kinds; the encoder is also called on its own."""
    theirs = torch.nn.Transformer(8, 2, 2, 2, 16, dropout=0.0).double()
    ours: Any = nn.Transformer(8, 2, 2, 2, 16, dropout=0.0).double()
    ours.load_state_dict(theirs.state_dict())
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert isinstance(ours.decoder.layers[1].multihead_attn, nn.MultiheadAttention)
    numbers = np.random.default_rng(0)
    source, target, bias = (numbers.standard_normal(n) for n in ((5, 3, 8), (4, 3, 8), (4, 5)))
    hidden = np.arange(5) >= np.array([[5], [4], [3]])
    padding = np.where(hidden, -np.inf, 0.5)
    results = []
    for world, model in ((door, ours), (torch, theirs)):
        mask = world.nn.Transformer.generate_square_subsequent_mask(4)
        src, tgt, memory_mask, bools, floats = map(
            world.tensor, (source, target, bias, hidden, padding)
        )
        both = model.decoder(
            tgt, src, tgt_mask=mask.bool(), memory_mask=memory_mask,
            tgt_key_padding_mask=bools[:, :4], memory_key_padding_mask=floats,
        )  # fmt: skip
        alone = model.encoder(src, mask=~world.eye(5).bool(), src_key_padding_mask=bools)
        out = model(src, tgt, tgt_mask=mask, src_key_padding_mask=bools)
        (both + alone[:4] + out).sin().sum().backward()
        gradients = [p.grad for p in model.parameters()]
        results.append([r.detach().numpy() for r in (both, alone, out, *gradients)])
    for found, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(found, wanted, 1e-9, 1e-10)


def test_parts_of_a_model_are_replaced() -> None:
    model: Any = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    setattr(model, "0", nn.Linear(2, 3))
    model._modules["1"] = nn.Tanh()
    assert model(door.ones(1, 2)).shape == (1, 3)
    assert isinstance(model[1], nn.Tanh)
    weight: Any = model[0].weight
    before, a, b = weight.data.clone(), door.ones(3, 1), door.ones(1, 2)
    weight.data += a @ b
    assert door.equal(weight.data, before + 1)
    assert set(model[0]._parameters) == {"weight", "bias"}


def test_a_parameter_is_parametrized() -> None:
    class Symmetric(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).transpose(-1, -2)

    layer: Any = nn.Linear(3, 3)
    nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    assert door.equal(layer.weight, layer.weight.T)
    layer(door.ones(2, 3)).sum().backward()
    original = layer.parametrizations.weight.original
    assert type(original) is nn.Parameter
    assert original.grad is not None


def test_files_go_both_ways(tmp_path: Path) -> None:
    ours, theirs = nn.Linear(3, 2), torch.nn.Linear(3, 2)
    door.save({"model": ours.state_dict(), "epoch": 3}, tmp_path / "ours")
    found = torch.load(tmp_path / "ours", weights_only=True)
    theirs.load_state_dict(found["model"])
    assert found["epoch"] == 3
    np.testing.assert_array_equal(theirs.weight.detach().numpy(), ours.weight.detach().numpy())
    value = {"p": torch.nn.Parameter(torch.ones(2)), **torch.nn.Linear(3, 2).state_dict()}
    torch.save(value, tmp_path / "theirs.pt")
    state: Any = door.load(tmp_path / "theirs.pt", map_location="cpu")
    assert type(state.pop("p")) is nn.Parameter
    assert type(state["weight"]) is door.Tensor
    ours.load_state_dict(state)


def test_hooks_have_an_order_and_are_called_after_failures() -> None:
    seen: list[Any] = []
    layer: Any = nn.Linear(2, 2)
    layer.register_forward_hook(lambda module, args, out: seen.append("last"))
    layer.register_forward_hook(lambda module, args, out: seen.append("first"), prepend=True)
    layer.register_forward_hook(lambda *given: seen.append(given[2]), with_kwargs=True)
    layer.register_forward_hook(lambda *given: seen.append("always"), always_call=True)
    layer(input=door.ones(1, 2))
    assert seen[:2] == ["first", "last"]
    assert list(seen[2]) == ["input"]
    assert seen[3] == "always"
    with pytest.raises(ValueError, match=r"\(1, 3\), its last axis must be 2"):
        layer(door.ones(1, 3))
    assert seen[4:] == ["always"]


def test_state_dicts_share_memory_and_refuse_with_a_runtime_error() -> None:
    layer: Any = nn.Linear(2, 2)
    layer.state_dict()["weight"][0, 0] = 7.0
    assert layer.weight[0, 0].item() == 7.0
    with pytest.raises(RuntimeError, match="weight"):
        layer.load_state_dict({"weight": door.ones(3, 3)})
    wrapped: Any = nn.DataParallel(layer)
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]


def test_a_convolution_with_another_weight() -> None:
    layer: Any = nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect")
    x = door.randn(1, 1, 5, 5)
    assert door.equal(layer(x), layer._conv_forward(x, layer.weight, layer.bias))


def test_a_custom_function_with_a_context_of_its_own() -> None:
    class Square(door.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:  # type: ignore[override]
            return x * x, x > 0

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        @door.autograd.once_differentiable
        def backward(ctx: Any, g: Any, _: Any) -> Any:
            assert ctx.needs_input_grad == (True,)
            return 2 * ctx.saved_tensors[0] * g

    x = door.tensor([1.0, 2.0], requires_grad=True)
    y, positive = Square.apply(x)
    assert not positive.requires_grad
    weights = door.ones(2, requires_grad=True)
    (g,) = door.autograd.grad(y, x, weights, create_graph=True)
    assert g.tolist() == [2.0, 4.0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        g.sum().backward()


def test_gradients_are_retained_and_have_names() -> None:
    x = door.tensor([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.retain_grad()
    assert y.retains_grad
    assert y.grad_fn.name() == "MulBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    (y**2).sum().backward(create_graph=True)
    assert y.grad.requires_grad
    seen: list[Any] = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    x.grad = None
    x.sum().backward()
    assert seen == [[1.0, 1.0]]
    del x.grad
    assert x.grad is None


def test_data_are_split_by_a_generator() -> None:
    split = door.utils.data.random_split(range(10), [5, 5], door.Generator().manual_seed(1))
    assert len(split) == 2


def test_autocast_is_nothing_without_its_device() -> None:
    with door.autocast("cuda"), door.cuda.amp.autocast():
        assert door.ones(2).sum().item() == 2
    with pytest.raises(NotImplementedError, match="mixed precision"), door.autocast("cpu"):
        pass
    kinds = door.FloatTensor, door.LongTensor
    assert [isinstance(door.ones(2), kind) for kind in kinds] == [True, False]


def test_very_many_draws_are_drawn_as_they_are_needed() -> None:
    data = door.utils.data
    sampler = data.RandomSampler(range(4), replacement=True, num_samples=int(1e10))
    loader = data.DataLoader(data.TensorDataset(door.arange(4)), sampler=sampler, batch_size=3)
    assert next(iter(loader))[0].shape == (3,)


def test_what_a_module_shows_of_others_stays_as_it_is() -> None:
    import typing

    from minigrad.torch import profiler, types

    assert profiler.ProfilerActivity.__module__ == "minigrad.torch.profiler"
    assert types
    assert typing.Any.__module__ == "typing"


def test_a_total_norm_that_is_not_finite_is_an_error_on_request() -> None:
    infinite = door.tensor([float("inf"), 1.0])
    assert float(nn.utils.get_total_norm([infinite])) == float("inf")
    with pytest.raises(RuntimeError, match="the norm is inf"):
        nn.utils.get_total_norm([infinite], error_if_nonfinite=True)


@pytest.mark.filterwarnings("ignore")
def test_anomalies_are_no_error_where_nan_is_not_checked() -> None:
    negative = door.tensor([-1.0])
    for checking in (door.autograd.detect_anomaly, lambda: door.autograd.set_detect_anomaly(True)):
        with pytest.raises(FloatingPointError, match="log"), checking():
            door.log(negative)
    with door.autograd.detect_anomaly(check_nan=False):
        assert door.log(negative).isnan().all()
    with door.autograd.set_detect_anomaly(True, check_nan=False):
        assert door.log(negative).isnan().all()
