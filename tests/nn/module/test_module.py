"""Module: what it owns, how that is found, hooks, modes, conversion and copies."""

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, optim


def pickled(module: Any) -> Any:
    return pickle.loads(pickle.dumps(module))


class Block(nn.Module):
    def __init__(self, width: int = 3) -> None:
        super().__init__()
        self.linear = nn.Linear(width, width)
        self.scale = nn.Parameter(minigrad.ones(width))
        self.register_buffer("count", minigrad.zeros(1))
        self.register_buffer("cache", minigrad.zeros(1), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x) * self.scale


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = Block()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.head = nn.Linear(3, 2, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


NAMES = """first.scale first.linear.weight first.linear.bias blocks.0.scale blocks.0.linear.weight
blocks.0.linear.bias blocks.1.scale blocks.1.linear.weight blocks.1.linear.bias head.weight"""


def parameters(module: nn.Module, *options: Any, **more: Any) -> list[str]:
    return [name for name, _ in module.named_parameters(*options, **more)]


def buffers(module: nn.Module, *options: Any) -> list[str]:
    return [name for name, _ in module.named_buffers(*options)]


REFUSED = [
    (lambda m: setattr(m, "scale", Tensor([1.0])), TypeError, "Block.scale .*Parameter"),
    (lambda m: setattr(m, "scale", 3), TypeError, "int"),
    (lambda m: setattr(m, "count", np.ones(1)), TypeError, "count .*buffer"),
    (lambda m: setattr(m, "scale", nn.Buffer([1.0])), TypeError, "scale is a Parameter"),
    (lambda m: setattr(m, "train", nn.Linear(1, 1)), ValueError, "'train'"),
    (lambda m: setattr(m, "a.b", nn.Linear(1, 1)), ValueError, "'a.b' .*dot"),
    (lambda m: setattr(m, "", nn.Parameter([1.0])), ValueError, "'' .*is empty"),
    (lambda m: m.register_buffer("x.y", np.ones(1)), ValueError, "'x.y' .*dot"),
    (lambda m: m.register_buffer("linear", np.ones(1)), ValueError, "'linear'"),
    (lambda m: m.register_parameter("p", Tensor([1.0])), TypeError, "Parameter"),
    (lambda m: m.add_module("c", 3), TypeError, "'c' .*Module.*int"),
    (lambda m: setattr(m, "me", m), ValueError, "'me' .*part of itself"),
]


class TestOwnership:
    def test_names_follow_the_order_of_assignment(self) -> None:
        assert parameters(Model()) == NAMES.split()
        block = Block()
        assert parameters(block, "p", recurse=False) == ["p.scale"]
        assert buffers(block, "p") == ["p.count", "p.cache"]
        assert list(block.parameters(recurse=False)) == [block.scale]

    def test_shared_modules_and_parameters_come_once(self) -> None:
        model = Model()
        before = model.count_parameters()
        model.again = model.first
        assert model.count_parameters() == before == 3 * (3 + 9 + 3) + 6
        assert model.count_parameters(recurse=False) == 0
        model.head.weight = model.tied = nn.Parameter(np.ones((2, 3)))
        assert len(list(model.modules())) == len({id(m) for m in model.modules()})
        assert parameters(model) == ["tied", *NAMES.split()[:-1]]

    def test_get_submodule_and_get_parameter(self) -> None:
        model = Model()
        assert model.get_submodule("") is model
        assert model.get_submodule("blocks.1.linear") is model.blocks[1].linear
        assert model.get_parameter("blocks.0.scale") is model.blocks[0].scale
        with pytest.raises(AttributeError, match=r"'blocks' .*'2'.*'0'"):
            model.get_submodule("blocks.2.linear")
        with pytest.raises(AttributeError, match=r"Block at 'first' .*parameter 'weight'"):
            model.get_parameter("first.weight")
        with pytest.raises(AttributeError, match="no child 'training'"):
            model.get_submodule("training")

    @pytest.mark.parametrize(("attempt", "error", "message"), REFUSED)
    def test_refusals(self, attempt: Any, error: type[Exception], message: str) -> None:
        block = Block()
        before = dict(vars(block))
        with pytest.raises(error, match=message):
            attempt(block)
        assert vars(block) == before

    def test_what_is_not_ready(self) -> None:
        class Hasty(nn.Module):
            def __init__(self, value: Any) -> None:
                self.part = value
                super().__init__()

        for value in (nn.Linear(1, 1), nn.Parameter([1.0])):
            with pytest.raises(AttributeError, match=r"Hasty: .*super\(\).__init__\(\)"):
                Hasty(value)
        with pytest.raises(NotImplementedError, match=r"Module .*forward\(\)"):
            nn.Module()()


def test_trees_and_equal_neighbours_are_printed() -> None:
    assert repr(nn.DropPath(0.2)) == "DropPath(drop_prob=0.2)"
    first, second, *_ = repr(nn.MultiHeadAttention(4, 2)).splitlines()[1:]
    assert first.strip() == "embed_dim=4, num_heads=2, dropout=0.0"
    assert second.strip().startswith("(q_proj): Linear(")
    layers = nn.ModuleList([*(nn.Linear(2, 2) for _ in range(3)), nn.Dropout(0.5)])
    assert repr(layers).splitlines() == [
        "ModuleList(", "  (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)",
        "  (3): Dropout(p=0.5, inplace=False)", ")",
    ]  # fmt: skip


class TestHooks:
    def test_with_kwargs(self) -> None:
        class Scale(nn.Module):
            def forward(self, x: float, *, by: float) -> float:
                return x * by

        module = Scale()
        module.register_forward_pre_hook(
            lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
        )
        module.register_forward_hook(
            lambda m, args, kwargs, out: (args, kwargs, out), with_kwargs=True
        )
        assert module(2.0, by=3.0) == ((2.0,), {"by": 4.0}, 8.0)

    def test_removal_is_idempotent_and_safe_within_a_call(self) -> None:
        module, calls = nn.Identity(), []

        def once(_m: nn.Module, args: Any) -> None:
            calls.append(args)
            remove()

        remove = module.register_forward_pre_hook(once)
        module(1)
        module(2)
        remove()
        remove.remove()
        assert calls == [(1,)]

    def test_a_remover_never_takes_another_hook(self) -> None:
        module, calls = nn.Identity(), []
        remove = module.register_forward_hook(lambda m, args, out: calls.append("first"))
        remove()
        module.register_forward_hook(lambda m, args, out: calls.append("second"))
        remove()
        module(1)
        assert calls == ["second"]


class TestModes:
    def test_apply_visits_children_first_and_modes_reach_all(self) -> None:
        model, order = Model(), []
        assert model.apply(lambda m: order.append(type(m).__name__)) is model
        assert order == [*["Linear", "Block"] * 3, "ModuleList", "Linear", "Model"]
        assert all(not m.training for m in model.eval().modules())
        assert all(m.training for m in model.train().modules())

    def test_requires_grad_and_zero_grad(self) -> None:
        model = Model().requires_grad_(False)
        assert not model(minigrad.ones(2, 3)).requires_grad
        model.head.requires_grad_()
        model(minigrad.ones(2, 3)).sum().backward()
        assert model.head.weight.grad is not None
        assert model.first.scale.grad is None
        model.requires_grad_(True)(minigrad.ones(2, 3)).sum().backward()
        assert all(p.grad is not None for p in model.parameters())
        assert model.first.linear.weight._node.name == "weight"
        model.zero_grad()
        assert all(p.grad is None for p in model.parameters())

    def test_reset_parameters_asks_a_layer_that_does_not_say_how(self) -> None:
        with pytest.raises(NotImplementedError, match=r"Block .*\(scale\)"):
            Block().reset_parameters()

    def test_parameters_require_grad_under_no_grad_too(self) -> None:
        with minigrad.no_grad():
            layer = nn.Linear(2, 2)
        assert layer.weight.requires_grad
        assert layer(minigrad.ones(1, 2)).requires_grad


class TestConversion:
    def test_a_converted_model_trains(self) -> None:
        model = Model()
        optimizer = optim.SGD(model.parameters(), lr=0.1)
        identities = [id(p) for p in model.parameters()]
        model(minigrad.ones(1, 3)).sum().backward()
        assert model.double() is model
        assert {p.grad.dtype for p in model.parameters()} == {np.dtype("float64")}
        assert [id(p) for p in model.parameters()] == identities
        before = copy.deepcopy(model.state_dict())
        x = minigrad.randn(4, 3, dtype=minigrad.float64)
        (model(x) ** 2).sum().backward()
        assert {p.grad.dtype for p in model.parameters()} == {np.dtype("float64")}
        optimizer.step()
        for name, parameter in model.named_parameters():
            assert (parameter.numpy() != before[name].numpy()).any(), name

    def test_buffers_are_converted_and_stay_shared(self) -> None:
        model, given = nn.ModuleList([Block(), Block()]), Tensor([1.0])
        for block in model:
            block.register_buffer("index", np.arange(3))
            block.register_buffer("given", given)
        model.to(minigrad.float64)
        assert block.count.dtype == block.given.dtype == np.float64
        assert block.index.dtype == np.int64
        assert given.dtype == np.float32
        assert model[0].given is model[1].given
        assert block.half().scale.dtype == np.float16
        assert block.float().scale.dtype == np.float32

    def test_names_and_gradient_hooks_stay(self) -> None:
        block, seen = Block(), []
        remove = block.scale.register_hook(lambda g: seen.append(g.dtype))
        block.double()
        assert block.scale._node.name == "scale"
        for _ in range(2):
            block(minigrad.ones(1, 3, dtype=minigrad.float64)).sum().backward()
            remove()
        assert seen == [np.float64]

    def test_the_cpu_is_the_only_device(self) -> None:
        block = Block()
        assert block.to("cpu") is block
        assert block.to("float64").scale.dtype == np.float64
        with pytest.raises(ValueError, match="minigrad runs on the CPU"):
            block.to("cuda:0")
        with pytest.raises(TypeError, match="Block: .*dtype.*int32"):
            block.to(np.int32)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, pickled])
def test_a_copy_is_whole_and_apart(duplicate: Any) -> None:
    model = Model()
    model.first.linear.weight = model.blocks[0].linear.weight  # shared
    twin = duplicate(model)
    x = minigrad.randn(2, 3)
    np.testing.assert_array_equal(model(x).numpy(), twin(x).numpy())
    assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in twin.parameters())
    assert twin.first.linear.weight is twin.blocks[0].linear.weight
    assert twin.first.linear.weight._node.name == "weight"
    twin(x).sum().backward()
    assert twin.head.weight.grad is not None
    assert model.head.weight.grad is None
    twin.head.weight.data[...] = 0
    assert (model.head.weight.numpy() != 0).any()


def test_a_model_is_freed_without_the_cyclic_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 2)
        output = model(minigrad.ones(1, 3, 8))
        gone = [weakref.ref(part) for part in (model, model.layers[1].linear1)]
        output.sum().backward()
        del model, output
        assert all(ref() is None for ref in gone)
    finally:
        gc.enable()


def seen(gradients: Any) -> list[Any]:
    return [None if gradient is None else gradient.tolist() for gradient in gradients]


RETURNED = [
    ((1, 2, 3), r"returned grad_input of shapes \[1, 2, 3\]"),
    (1.0, r"returned .* \[1.0\].*tensors of .*\(\[1, 2\]\)"),
    (minigrad.ones(3), r"returned grad_input .*\(\[3\]\)"),
]


class TestBackwardHooks:
    """What PyTorch's register_full_backward_hook does."""

    class Both(nn.Module):
        def forward(self, x: Any, k: Any = 1) -> Any:
            return {"a": x * 2}, x * 3, x * 5

    def test_gradients_of_inputs_and_outputs(self) -> None:
        log: list[Any] = []
        both = self.Both()
        remove = both.register_full_backward_hook(lambda m, i, o: log.append((m, seen(i), seen(o))))
        x = minigrad.ones(2, requires_grad=True)
        both(x, 5)[1].sum().backward()
        assert log == [(both, [[3.0, 3.0], None], [None, [1.0, 1.0], [0.0, 0.0]])]
        remove()
        both(x, 5)[1].sum().backward()
        assert len(log) == 1

    def test_replaced_gradients(self) -> None:
        layer = nn.Bilinear(2, 2, 1, bias=False)
        layer.weight.data[...] = 1.0
        layer.register_full_backward_pre_hook(lambda m, o: 100 * o[0])
        layer.register_full_backward_hook(lambda m, i, o: (i[0] * 10, None))
        layer.register_full_backward_hook(lambda m, i, o: (i[0] + o[0], i[1]))
        x, y = (minigrad.ones(1, 2, requires_grad=True) for _ in range(2))
        layer(x, y).sum().backward()
        assert seen([x.grad, y.grad]) == [[[2100.0, 2100.0]], None]
        assert layer.weight.grad is not None
        assert layer.weight.grad.tolist() == [[[100.0] * 2] * 2]

    def test_higher_orders(self) -> None:
        """A replaced gradient is differentiated as what it is."""
        tanh = nn.Tanh()
        tanh.register_full_backward_hook(lambda m, i, o: (i[0] * 3,))
        x = minigrad.tensor([0.3, -1.2], dtype=minigrad.float64, requires_grad=True)
        (first,) = minigrad.autograd.grad(tanh(x).sum(), x, create_graph=True)
        (second,) = minigrad.autograd.grad(first.sum(), x)
        t = np.tanh(x.numpy())
        np.testing.assert_allclose(first.numpy(), 3 * (1 - t**2), rtol=1e-12)
        np.testing.assert_allclose(second.numpy(), 3 * -2 * t * (1 - t**2), rtol=1e-12)

    @pytest.mark.parametrize(("returned", "message"), RETURNED)
    def test_refusals(self, returned: Any, message: str) -> None:
        layer = nn.Linear(2, 1)
        layer.register_full_backward_hook(lambda m, i, o: returned)
        with pytest.raises(RuntimeError, match=f"Linear: a backward hook {message}"):
            layer(minigrad.ones(1, 2, requires_grad=True)).sum().backward()

    def test_the_graph_is_freed_and_packed_sequences_pass(self) -> None:
        gc.disable()
        try:
            lstm = nn.LSTM(2, 3)
            lstm.register_full_backward_hook(lambda m, i, o: None)
            x = minigrad.ones((4, 2), requires_grad=True)
            packed = nn.utils.rnn.pack_sequence([x, x[:2]])
            output, _ = lstm(packed)
            assert isinstance(output, nn.utils.rnn.PackedSequence)
            reference = weakref.ref(output.data)
            output.data.sum().backward()
            del output
            assert reference() is None
        finally:
            gc.enable()


class TestWeightNorm:
    def test_it_is_computed_at_each_access_and_removable(self) -> None:
        linear = nn.Linear(3, 2)
        before = linear.weight.numpy().copy()
        assert nn.utils.weight_norm(linear) is linear
        assert not isinstance(linear.weight, nn.Parameter)
        np.testing.assert_allclose(linear.weight.numpy(), before, rtol=1e-6)
        linear.weight_g.data *= 2
        np.testing.assert_allclose(linear.weight.numpy(), 2 * before, rtol=1e-6)
        linear.weight.sum().backward()
        assert linear.weight_g.grad is not None
        assert linear.weight_v.grad is not None
        x = minigrad.ones(3)
        wanted = linear(x).numpy()
        for again in (copy.deepcopy(linear), pickle.loads(pickle.dumps(linear))):
            np.testing.assert_array_equal(again(x).numpy(), wanted)
        half = {"weight_g": linear.weight_g / 2}
        np.testing.assert_allclose(
            nn.utils.functional_call(linear, half, x).numpy(), before.sum(1) + linear.bias.numpy(),
            rtol=1e-5,
        )  # fmt: skip
        assert nn.utils.remove_weight_norm(linear) is linear
        assert parameters(linear) == ["bias", "weight"]
        np.testing.assert_allclose(linear(x).numpy(), wanted, rtol=1e-6)

    def test_refusals(self) -> None:
        linear = nn.Linear(3, 2)
        with pytest.raises(AttributeError, match="Linear has no parameter 'w'; it has .*'weight'"):
            nn.utils.weight_norm(linear, "w")
        for dim in (2, -2):
            with pytest.raises(ValueError, match=f"dim must be None, -1, 0 or 1, got {dim}"):
                nn.utils.weight_norm(linear, dim=dim)
        with pytest.raises(ValueError, match="^remove_weight_norm: 'weight' of Linear is not"):
            nn.utils.remove_weight_norm(linear)
        nn.utils.weight_norm(linear)
        with pytest.raises(AttributeError, match="no parameter 'weight'; .*'weight_g'"):
            nn.utils.weight_norm(linear)
        with pytest.raises(ValueError, match="'weight' is computed from other attributes"):
            linear.weight = nn.Parameter(minigrad.ones((2, 3)))
        with pytest.raises(AttributeError, match="'Linear' object has no attribute 'nothing'"):
            linear.nothing


def test_parameters_as_a_vector_and_back() -> None:
    linear = nn.Linear(3, 2)
    vector = nn.utils.parameters_to_vector(linear.parameters())
    assert vector.tolist() == [*linear.weight.numpy().ravel(), *linear.bias.numpy()]
    (vector * np.arange(8.0, dtype=np.float32)).sum().backward()
    assert linear.bias.grad is not None
    assert linear.bias.grad.tolist() == [6.0, 7.0]
    nn.utils.vector_to_parameters(minigrad.arange(8.0), linear.parameters())
    assert linear.weight.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert linear.bias.tolist() == [6, 7]
    assert linear.weight.dtype == np.float32
    with pytest.raises(ValueError, match=r"vector of shape \(8,\) expected, got \(7,\)"):
        nn.utils.vector_to_parameters(minigrad.ones(7), linear.parameters())
    with pytest.raises(ValueError, match="parameters_to_vector: at least one tensor expected"):
        nn.utils.parameters_to_vector([])
    y = linear.weight * linear.weight
    nn.utils.vector_to_parameters(minigrad.ones(8), linear.parameters())
    with pytest.raises(RuntimeError, match="in place"):
        y.sum().backward()


def test_modules_may_be_added_while_they_are_listed() -> None:
    chain = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
    for module in chain.modules():
        if isinstance(module, nn.Linear):
            module.more = nn.Linear(1, 1)
    assert sum(isinstance(module, nn.Linear) for module in chain.modules()) == 4


def test_a_shared_module_is_walked_once() -> None:
    """Each path of a part that is shared at 40 levels would be 2 ** 40 steps."""
    part: nn.Module = nn.Linear(1, 1)
    for _ in range(40):
        part = nn.ModuleList([part, part])
    assert len([*part.modules()]) == 41
    assert len([*part.named_modules()]) == 41
