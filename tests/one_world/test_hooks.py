"""Hooks beside PyTorch's: of one module, of all modules, of state dicts and of optimizers."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402

Log = list[Any]


def a_model(world: Any) -> Any:
    layers = world.nn.Linear(2, 2), world.nn.BatchNorm1d(2)
    with world.no_grad():
        layers[0].weight.fill_(0.5)
        layers[0].bias.fill_(0.25)
    return world.nn.Sequential(*layers)


def say(log: Log, name: str, returned: Any = None) -> Callable[..., Any]:
    """A hook that notes its name, and the classes and texts of what it is given."""

    def noted(value: Any) -> Any:
        if isinstance(value, (str, bool, type(None))):
            return value
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return [*value]
        if isinstance(value, (tuple, list)):
            return [noted(part) for part in value]
        if isinstance(value, dict):
            return sorted(map(str, value))
        numbers = hasattr(value, "tolist")
        return (
            np.round(value.detach().numpy(), 4).tolist()
            if numbers
            else type(value).__name__.removeprefix("Option")
        )

    def hook(*args: Any, **kwargs: Any) -> Any:
        log.append((name, [noted(arg) for arg in args], noted(kwargs)))
        return returned(*args) if callable(returned) else returned

    return hook


def all_modules(world: Any, log: Log) -> None:
    kinds = world.nn.modules.module
    handles = [
        kinds.register_module_forward_pre_hook(say(log, "before all")),
        kinds.register_module_forward_hook(say(log, "after all", lambda m, x, y: y * 2)),
        kinds.register_module_forward_hook(say(log, "with kwargs"), with_kwargs=True),
        kinds.register_module_full_backward_pre_hook(say(log, "gradient before all")),
        kinds.register_module_full_backward_hook(say(log, "gradient of all")),
    ]
    model = a_model(world)
    model[0].register_forward_hook(say(log, "own"))
    model[0].register_forward_hook(say(log, "own before"), prepend=True)
    model[0].register_forward_pre_hook(say(log, "second"))
    model[0].register_forward_pre_hook(say(log, "first"), prepend=True)
    model[0].register_full_backward_hook(say(log, "own gradient"))
    try:
        out = model(world.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True))
        out[0].sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    model(world.ones(2, 2))


def parts_of_all_modules(world: Any, log: Log) -> None:
    kinds = world.nn.modules.module
    other = world.nn.Parameter(world.ones(2))
    with (
        kinds.register_module_module_registration_hook(say(log, "module")),
        kinds.register_module_parameter_registration_hook(
            say(log, "parameter", lambda module, name, value: other if name == "scale" else None)
        ),
        kinds.register_module_buffer_registration_hook(say(log, "buffer")),
    ):
        module = world.nn.Module()
        module.scale = world.nn.Parameter(world.zeros(2))
        module.shift = world.nn.Parameter(world.zeros(1))
        module.register_buffer("count", world.zeros(1))
        module.child = world.nn.Identity()
    module.more = world.nn.Identity()
    log.append(module.scale.tolist())


def a_call_that_fails(world: Any, log: Log) -> None:
    class Failing(world.nn.Module):  # type: ignore[name-defined,misc]
        def forward(self, x: Any) -> Any:
            raise KeyError("no")

    module = Failing()
    module.register_forward_hook(say(log, "always"), always_call=True)
    module.register_forward_hook(say(log, "not"))
    module.register_forward_hook(say(log, "with"), always_call=True, with_kwargs=True)
    with pytest.raises(KeyError):
        module(x=world.ones(1))
    module = world.nn.Identity()
    module.register_forward_hook(say(log, "once"), always_call=True)
    module.register_forward_hook(say(log, "raises", lambda *_: {}["no"]))
    with pytest.raises(KeyError):
        module(world.ones(1))
    module = world.nn.Identity()
    module.register_forward_pre_hook(say(log, "no pair", "x"), with_kwargs=True)
    with pytest.raises(RuntimeError):
        module(world.ones(1))


def gradients_without_inputs(world: Any, log: Log) -> None:
    module = world.nn.Linear(2, 1)
    with module.register_full_backward_hook(say(log, "none", (None,))):
        module(world.ones(1, 2)).sum().backward()
    with module.register_full_backward_hook(say(log, "wrong", (world.ones(1, 2),))):
        loss = module(world.ones(1, 2)).sum()
    with pytest.raises(RuntimeError, match="no input requires gradient|where no input requires"):
        loss.backward()


def states(world: Any, log: Log) -> None:
    model = a_model(world)

    def rename(_module: Any, state: Any, prefix: str, *_: Any) -> None:
        if prefix + "kernel" in state:
            state[prefix + "weight"] = state.pop(prefix + "kernel")

    model[1].register_state_dict_pre_hook(say(log, "before saving"))
    model[1].register_state_dict_post_hook(say(log, "saved"))
    model[0].register_load_state_dict_pre_hook(say(log, "renamed", rename))
    model[0]._register_load_state_dict_pre_hook(say(log, "older"))
    post = model[1].register_load_state_dict_post_hook(say(log, "loaded"))
    state = model.state_dict()
    log.append([(path, dict(entry)) for path, entry in state._metadata.items()])
    state["0.kernel"] = state.pop("0.weight") + 1
    log.append(model.load_state_dict(state))
    log.append(model[0].weight.tolist())
    post.remove()
    model.register_load_state_dict_post_hook(lambda module, keys: keys[0].clear())
    log.append([*map(list, model.load_state_dict({}))])
    model.register_load_state_dict_post_hook(lambda module, keys: keys[0].append("0.bias"))
    with pytest.raises(RuntimeError, match=r"0\.bias"):
        model.load_state_dict(state)


def extra_states(world: Any, log: Log) -> None:
    class Counter(world.nn.Module):  # type: ignore[name-defined,misc]
        count = 3

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    model = world.nn.Sequential(Counter(), world.nn.Identity())
    state = model.state_dict()
    log.append([*state.items()])
    model[0].count = 5
    log.append([*map(list, model.load_state_dict(state))])
    log.append(model[0].count)
    for wrong in ({}, {**state, "1._extra_state": 1}):
        with pytest.raises(RuntimeError, match="_extra_state"):
            model.load_state_dict(wrong)


def steps(world: Any, log: Log) -> None:
    parameter = world.ones(1, requires_grad=True)
    optimizer = world.optim.SGD([parameter], lr=0.5)
    parameter.grad = world.ones(1)
    before = optimizer.register_step_pre_hook(say(log, "before"))
    after = optimizer.register_step_post_hook(say(log, "after"))
    loss = optimizer.step(lambda: world.ones(1))
    log.append(loss.tolist())
    before.remove()
    optimizer.step()
    after.remove()
    closure = lambda: world.zeros(1)
    optimizer.register_step_pre_hook(say(log, "arguments", lambda *_: ((optimizer, closure), {})))
    log.append(optimizer.step().tolist())
    optimizer.register_step_pre_hook(lambda *_: 1)
    with pytest.raises(RuntimeError):
        optimizer.step()
    log.append(parameter.tolist())


def states_of_optimizers(world: Any, log: Log) -> None:
    optimizer = world.optim.SGD([world.ones(1, requires_grad=True)], lr=0.5)
    optimizer.register_state_dict_pre_hook(say(log, "before"))
    optimizer.register_state_dict_post_hook(say(log, "after", lambda o, s: {**s, "more": 1}))
    optimizer.register_state_dict_post_hook(say(log, "earlier"), prepend=True)
    state = optimizer.state_dict()
    other = {**state, "param_groups": [{**state["param_groups"][0], "lr": 0.25}]}
    optimizer.register_load_state_dict_pre_hook(say(log, "other", lambda o, s: other))
    optimizer.register_load_state_dict_post_hook(say(log, "loaded"))
    optimizer.load_state_dict(state)
    log.append(optimizer.param_groups[0]["lr"])


def handles(world: Any, log: Log) -> None:
    kind = world.utils.hooks.RemovableHandle
    module = world.nn.Identity()
    with module.register_forward_hook(say(log, "within")) as handle:
        module(world.ones(1))
        log.append([isinstance(handle, kind), handle.id in module._forward_hooks])
    log.append(handle.id in module._forward_hooks)
    handle.remove()
    hooks: Any = {} if world is door else __import__("collections").OrderedDict()
    own = kind(hooks)
    hooks[own.id] = print
    own.remove()
    log.append(len(hooks))
    x = world.ones(1, requires_grad=True)
    with x.register_hook(say(log, "gradient")):
        x.sum().backward()
    x.sum().backward()
    module(world.ones(1))


@pytest.mark.parametrize(
    "program",
    [
        all_modules, parts_of_all_modules, a_call_that_fails, gradients_without_inputs, states,
        extra_states, steps, states_of_optimizers, handles,
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_what_hooks_see_in_both_worlds(program: Any) -> None:
    logs: list[Log] = [[], []]
    for world, log in zip((door, torch), logs, strict=True):
        program(world, log)
    assert len(logs[1]) > 1
    for ours, theirs in zip(*logs, strict=True):
        assert ours == theirs or repr(ours) == repr(theirs)


def test_hooks_of_steps_keep_no_optimizer_alive() -> None:
    optimizer = door.optim.SGD([door.ones(1, requires_grad=True)], lr=0.5)
    optimizer.register_step_pre_hook(print)
    seen = weakref.ref(optimizer)
    del optimizer
    gc.collect()
    assert seen() is None


def test_outputs_that_have_no_backward_hooks() -> None:
    module = door.nn.Sequential()
    module.forward = lambda x: {"x": x}
    module.register_full_backward_hook(print)
    with pytest.warns(UserWarning, match="Sequential: .* tuple of Tensors, got dict"):
        module(door.ones(1, requires_grad=True))
