"""Every op knows the path of the module call that made it, and errors say it."""

import threading
from typing import Any

import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd.mode import state


class Probe(nn.Module):
    """Returns the path of its own call."""

    def forward(self) -> str:
        scope = state.get().scope
        assert scope is not None
        return scope.path


class Caller(nn.Module):
    """Calls each module that `pick` gives."""

    def __init__(self, pick: Any, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.pick = pick

    def forward(self) -> Any:
        return [module() for module in self.pick(self)]


def test_lists_and_dicts_are_steps_of_a_path_and_the_root_is_none() -> None:
    assert Probe()() == ""
    lists = nn.ModuleList([nn.ModuleList([Probe(), Probe()]), nn.ModuleDict({"key": Probe()})])
    caller = Caller(lambda m: [m.a[0][0], m.a[0][1], m.a[1]["key"]], a=lists)
    assert caller() == ["a.0.0", "a.0.1", "a.1.key"]


def test_a_shared_module_has_the_name_its_caller_gave_it() -> None:
    shared = Probe()
    inner = Caller(lambda m: [m.inside], inside=shared)
    outer = Caller(lambda m: [m.outside, m.inner], outside=shared, inner=inner)
    assert outer() == ["outside", ["inner.inside"]]
    assert outer() == ["outside", ["inner.inside"]]


def test_names_follow_changes_of_a_list() -> None:
    layers = nn.ModuleList([Probe(), Probe(), Probe()])
    caller = Caller(lambda m: m.layers, layers=layers)
    assert caller() == ["layers.0", "layers.1", "layers.2"]
    del layers[0]
    layers.insert(1, Probe())
    assert caller() == ["layers.0", "layers.1", "layers.2"]


def test_calls_past_the_parent_and_of_strangers() -> None:
    holder = Caller(lambda m: [], deep=nn.Sequential(Probe()))
    stranger = Probe()
    caller = Caller(lambda m: [m.holder.deep[0], stranger], holder=holder)
    assert caller() == ["holder.deep.0", "Probe"]


def test_ops_remember_their_scope() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 2)
    paths = set()
    for layer in encoder.layers:
        layer.linear2.register_forward_hook(
            lambda module, args, output: paths.add(output._node.scope.path)
        )
    encoder(minigrad.ones(1, 2, 4))
    assert paths == {"layers.0.linear2", "layers.1.linear2"}


def test_errors_of_ops_and_layers_name_the_path() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 4), 2)
    encoder.layers[1].linear1 = nn.Linear(5, 4)
    model = nn.Sequential({"encoder": encoder})
    with pytest.raises(ValueError, match=r"^linear: .*\[in encoder.layers.1.linear1\]$"):
        model(minigrad.ones(1, 2, 4))
    with pytest.raises(ValueError, match=r"query .*\[in encoder.layers.0.self_attn\]$"):
        model(minigrad.ones(1, 2, 3))
    with pytest.raises(ValueError, match=r"^linear: .*\[in Linear\]$"):
        nn.Linear(2, 2)(minigrad.ones(1, 3))
    assert state.get().scope is None


def test_scopes_belong_to_a_thread() -> None:
    entered, leave = threading.Event(), threading.Event()

    class Wait(nn.Module):
        def forward(self) -> None:
            entered.set()
            assert leave.wait(10)

    thread = threading.Thread(target=Wait())
    thread.start()
    assert entered.wait(10)
    outside = state.get().scope
    leave.set()
    thread.join()
    assert outside is None


def test_recording_can_be_switched_within_a_call() -> None:
    class Frozen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Tensor:
            with minigrad.no_grad():
                return self.linear(x)

    assert not Frozen()(minigrad.ones(1, 2)).requires_grad
