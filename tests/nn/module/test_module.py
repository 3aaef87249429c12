"""Module: what it owns, how that is found, hooks, modes, conversion and copies."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, optim


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


class TestOwnership:
    def test_names_follow_the_order_of_assignment(self) -> None:
        assert [name for name, _ in Model().named_parameters()] == [
            "first.scale",
            "first.linear.weight",
            "first.linear.bias",
            "blocks.0.scale",
            "blocks.0.linear.weight",
            "blocks.0.linear.bias",
            "blocks.1.scale",
            "blocks.1.linear.weight",
            "blocks.1.linear.bias",
            "head.weight",
        ]

    def test_prefix_and_recurse(self) -> None:
        block = Block()
        assert [name for name, _ in block.named_parameters("p", recurse=False)] == ["p.scale"]
        assert [name for name, _ in block.named_buffers("p")] == ["p.count", "p.cache"]
        assert list(block.parameters(recurse=False)) == [block.scale]

    def test_modules_and_children(self) -> None:
        model = Model()
        assert [name for name, _ in model.named_children()] == ["first", "blocks", "head"]
        assert list(model.children()) == [model.first, model.blocks, model.head]
        paths = [path for path, _ in model.named_modules()]
        assert paths[:3] == ["", "first", "first.linear"]
        assert "blocks.1.linear" in paths
        assert [m for m in model.modules() if isinstance(m, Block)] == [model.first, *model.blocks]

    def test_shared_modules_and_parameters_come_once(self) -> None:
        model = Model()
        model.again = model.first
        model.head.weight = model.tied = nn.Parameter(np.ones((2, 3)))
        assert len(list(model.modules())) == len({id(m) for m in model.modules()})
        names = [name for name, _ in model.named_parameters()]
        assert "tied" in names
        assert "head.weight" not in names
        assert not any(name.startswith("again") for name in names)

    def test_count_parameters_counts_shared_ones_once(self) -> None:
        model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        model[1].weight = model[0].weight
        assert model.count_parameters() == 9 + 3 + 3
        assert model.count_parameters(recurse=False) == 0

    def test_none_takes_a_parameter_or_child_away(self) -> None:
        block = Block()
        block.scale = None
        block.linear = None
        assert not list(block.parameters())
        assert not list(block.children())

    def test_deleting(self) -> None:
        block = Block()
        del block.scale, block.count
        assert "scale" not in dict(block.named_parameters())
        assert "count" not in dict(block.named_buffers())

    def test_a_parameter_knows_its_name_in_the_graph(self) -> None:
        block = Block()
        assert block.scale._node.name == "scale"
        block.requires_grad_(False).requires_grad_(True)
        assert block.linear.weight._node.name == "weight"

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

    def test_registration_methods_are_assignment(self) -> None:
        module = nn.Module()
        module.register_parameter("p", nn.Parameter(np.ones(2)))
        module.register_parameter("q", None)
        module.add_module("child", nn.Linear(1, 1))
        module.add_module("nothing", None)
        assert list(module.state_dict()) == ["p", "child.weight", "child.bias"]
        assert module.q is None

    def test_replacing_a_buffer_keeps_it_one(self) -> None:
        block = Block()
        block.count = Tensor([5.0])
        assert dict(block.named_buffers())["count"].item() == 5.0
        block.count = None
        assert "count" not in dict(block.named_buffers())
        block.count = Tensor([6.0])
        assert block.state_dict()["count"].item() == 6.0

    def test_a_parameter_in_the_place_of_a_buffer_is_one(self) -> None:
        block = Block()
        block.count = nn.Parameter([1.0])
        assert "count" in dict(block.named_parameters())
        assert "count" not in dict(block.named_buffers())

    @pytest.mark.parametrize(
        ("attempt", "error", "message"),
        [
            (lambda m: setattr(m, "scale", Tensor([1.0])), TypeError, "Block.scale .*Parameter"),
            (lambda m: setattr(m, "scale", 3), TypeError, "int"),
            (lambda m: setattr(m, "count", np.ones(1)), TypeError, "count .*buffer"),
            (lambda m: setattr(m, "train", nn.Linear(1, 1)), ValueError, "'train'"),
            (lambda m: setattr(m, "a.b", nn.Linear(1, 1)), ValueError, "'a.b' .*dot"),
            (lambda m: setattr(m, "", nn.Parameter([1.0])), ValueError, "'' is empty"),
            (lambda m: m.register_buffer("x.y", np.ones(1)), ValueError, "'x.y' .*dot"),
            (lambda m: m.register_buffer("linear", np.ones(1)), ValueError, "'linear'"),
            (lambda m: m.register_parameter("p", Tensor([1.0])), TypeError, "Parameter"),
            (lambda m: m.add_module("c", 3), TypeError, "'c' .*Module.*int"),
            (lambda m: setattr(m, "me", m), ValueError, "'me' .*part of itself"),
        ],
    )
    def test_refusals(self, attempt: Any, error: type[Exception], message: str) -> None:
        block = Block()
        before = dict(vars(block))
        with pytest.raises(error, match=message):
            attempt(block)
        assert vars(block) == before

    def test_a_module_cannot_contain_itself_further_down(self) -> None:
        outer, inner = nn.Module(), nn.ModuleList()
        outer.inner = inner
        with pytest.raises(ValueError, match="part of itself"):
            inner.append(outer)

    @pytest.mark.parametrize("value", [nn.Linear(1, 1), nn.Parameter([1.0])])
    def test_assigning_before_super_init(self, value: Any) -> None:
        class Hasty(nn.Module):
            def __init__(self) -> None:
                self.part = value
                super().__init__()

        with pytest.raises(AttributeError, match=r"Hasty: .*super\(\).__init__\(\)"):
            Hasty()

    def test_a_module_without_forward(self) -> None:
        with pytest.raises(NotImplementedError, match=r"Module .*forward\(\)"):
            nn.Module()()


class TestPrinting:
    def test_tree(self) -> None:
        assert repr(nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5))) == (
            "Sequential(\n"
            "  (0): Linear(in_features=2, out_features=3, bias=True)\n"
            "  (1): Dropout(p=0.5)\n"
            ")"
        )

    def test_equal_neighbours_in_a_list_are_folded(self) -> None:
        layers = nn.ModuleList([*(nn.Linear(2, 2) for _ in range(3)), nn.Linear(2, 1)])
        assert repr(layers) == (
            "ModuleList(\n"
            "  (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)\n"
            "  (3): Linear(in_features=2, out_features=1, bias=True)\n"
            ")"
        )


class TestHooks:
    def test_order_arguments_and_replacement(self) -> None:
        layer = nn.Linear(2, 2)
        seen: list[Any] = []
        layer.register_forward_pre_hook(lambda m, args: seen.append((m, args)))
        layer.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
        layer.register_forward_hook(lambda m, args, out: seen.append((args, out)))
        layer.register_forward_hook(lambda m, args, out: out + 1)
        x = minigrad.ones(1, 2)
        out = layer(x)
        expected = layer.weight.data.sum(axis=1) * 2 + layer.bias.data + 1
        np.testing.assert_allclose(out.data[0], expected, rtol=1e-6)
        assert seen[0][0] is layer
        assert seen[0][1][0] is x
        np.testing.assert_array_equal(seen[1][0][0].data, 2 * x.data)

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

        def once(m: nn.Module, args: Any) -> None:
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

    def test_only_callables(self) -> None:
        with pytest.raises(TypeError, match="callable.*int"):
            nn.Identity().register_forward_hook(3)  # type: ignore[arg-type]


class TestModes:
    def test_train_and_eval_reach_everything(self) -> None:
        model = Model()
        assert all(not m.training for m in model.eval().modules())
        assert all(m.training for m in model.train().modules())

    def test_apply_visits_children_first(self) -> None:
        model, order = Model(), []
        assert model.apply(lambda m: order.append(type(m).__name__)) is model
        assert order == ["Linear", "Block", "Linear", "Block", "Linear", "Block", "ModuleList",
                         "Linear", "Model"]  # fmt: skip

    def test_requires_grad(self) -> None:
        model = Model().requires_grad_(False)
        assert not model(minigrad.ones(2, 3)).requires_grad
        model.head.requires_grad_()
        model(minigrad.ones(2, 3)).sum().backward()
        assert model.head.weight.grad is not None
        assert model.first.scale.grad is None

    def test_zero_grad(self) -> None:
        model = Model()
        model(minigrad.ones(2, 3)).sum().backward()
        assert all(p.grad is not None for p in model.parameters())
        model.zero_grad()
        assert all(p.grad is None for p in model.parameters())

    def test_reset_parameters_draws_anew_everywhere(self) -> None:
        model = nn.Sequential(nn.Linear(3, 3), nn.ModuleList([nn.Embedding(2, 2), nn.ReLU()]))
        before = model.state_dict()
        model.reset_parameters()
        after = model.state_dict()
        assert all((before[key].data != after[key].data).any() for key in before)

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
        assert model.double() is model
        assert [id(p) for p in model.parameters()] == identities
        before = model.state_dict()
        x = minigrad.randn(4, 3, dtype=minigrad.float64)
        (model(x) ** 2).sum().backward()
        assert {p.grad.dtype for p in model.parameters()} == {np.dtype("float64")}
        optimizer.step()
        for name, parameter in model.named_parameters():
            assert (parameter.data != before[name].data).any(), name

    def test_gradients_and_buffers_are_converted(self) -> None:
        block = Block()
        block.register_buffer("index", np.arange(3))
        given = Tensor([1.0])
        block.register_buffer("given", given)
        block(minigrad.ones(1, 3)).sum().backward()
        block.to(minigrad.float64)
        assert {p.grad.dtype for p in block.parameters()} == {np.dtype(np.float64)}
        assert block.count.dtype == block.given.dtype == np.float64
        assert block.index.dtype == np.int64
        assert given.dtype == np.float32
        assert block.half().scale.dtype == np.float16
        assert block.float().scale.dtype == np.float32

    def test_shared_buffers_stay_shared(self) -> None:
        table = Tensor([1.0])
        model = nn.ModuleList([Block(), Block()])
        for block in model:
            block.register_buffer("table", table)
        model.double()
        assert model[0].table is model[1].table

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


class TestCopies:
    @pytest.mark.parametrize(
        "duplicate",
        [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))],
        ids=["deepcopy", "pickle"],
    )
    def test_a_copy_is_whole_and_apart(self, duplicate: Any) -> None:
        model = Model()
        model.first.linear.weight = model.blocks[0].linear.weight  # shared
        twin = duplicate(model)
        x = minigrad.randn(2, 3)
        np.testing.assert_array_equal(model(x).data, twin(x).data)
        assert all(isinstance(p, nn.Parameter) and p.requires_grad for p in twin.parameters())
        assert twin.first.linear.weight is twin.blocks[0].linear.weight
        assert twin.first.linear.weight._node.name == "weight"
        twin(x).sum().backward()
        assert twin.head.weight.grad is not None
        assert model.head.weight.grad is None
        twin.head.weight.data[...] = 0
        assert (model.head.weight.data != 0).any()

    def test_a_model_is_freed_without_the_cyclic_collector(self) -> None:
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


def test_the_folder_is_imported_as_minigrad_nn() -> None:
    import importlib.util
    from pathlib import Path

    file = Path(nn.__file__).resolve()
    spec = importlib.util.spec_from_file_location("nn", file)
    assert spec is not None
    assert spec.loader is not None
    with pytest.raises(ImportError, match="import minigrad.nn"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
