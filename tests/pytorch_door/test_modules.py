"""What people do with PyTorch's modules, hooks, custom functions and generators."""

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402
from minigrad.torch import nn  # noqa: E402


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


def test_a_convolution_with_another_weight() -> None:
    layer: Any = nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect")
    x = door.randn(1, 1, 5, 5)
    assert door.equal(layer(x), layer._conv_forward(x, layer.weight, layer.bias))


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


def test_autocast_is_nothing_without_its_device() -> None:
    with door.autocast("cuda"), door.cuda.amp.autocast():
        assert door.ones(2).sum().item() == 2
    with pytest.raises(NotImplementedError, match="mixed precision"), door.autocast("cpu"):
        pass
    kinds = door.FloatTensor, door.LongTensor
    assert [isinstance(door.ones(2), kind) for kind in kinds] == [True, False]


def test_what_a_module_shows_of_others_stays_as_it_is() -> None:
    import typing

    from minigrad.torch import profiler, types

    assert profiler.ProfilerActivity.__module__ == "minigrad.torch.profiler"
    assert types
    assert typing.Any.__module__ == "typing"
