"""Modules with two meanings are those of `minigrad.torch`; other names are the same objects."""

import importlib

import pytest

import minigrad
import minigrad.torch as torch

OWN = {  # module of both: a name of PyTorch's, and one of minigrad's
    "compiler": ("is_compiling", "capture"),
    "distributed": ("is_available", "all_reduce"),
    "onnx": ("export", "export"),
    "random": ("fork_rng", "generator"),
}


@pytest.mark.parametrize("name", OWN)
def test_a_module_with_two_meanings_is_its_own(name: str) -> None:
    theirs, ours = (
        importlib.import_module(f"{root}.{name}") for root in ("minigrad.torch", "minigrad")
    )
    assert theirs is not ours
    assert hasattr(theirs, OWN[name][0])
    assert hasattr(ours, OWN[name][1])


def test_pytorchs_names_are_minigrads() -> None:
    assert torch.Tensor is minigrad.Tensor
    for name in ("cat", "max", "zeros", "where", "no_grad", "einsum"):
        assert getattr(torch, name) is getattr(minigrad, name), name


def test_distributed_is_a_stand_in() -> None:
    """A collective of minigrad's is a function with a gradient; PyTorch's writes in place."""
    assert not torch.distributed.is_available()
    with pytest.raises(NotImplementedError, match=r"minigrad\.distributed is for several"):
        torch.distributed.all_reduce(torch.ones(2))


def test_ops_and_nn_attention_are_not_minigrads() -> None:
    with pytest.raises(AttributeError, match="there is no compiler of graphs"):
        _ = torch.ops
    assert hasattr(torch.nn.attention, "sdpa_kernel")


def test_what_changes_nothing_is_there() -> None:
    layer = torch.nn.Linear(2, 2)
    assert torch.compile(layer) is layer
    assert torch.compile(fullgraph=True)(layer) is layer
    assert torch.jit.script(layer) is layer
    assert torch.jit.annotate(list, layer) is layer
    assert not isinstance(layer, torch.jit.ScriptModule)
    with torch.autocast("cuda"), torch.profiler.record_function("step"):
        layer(torch.ones(1, 2)).sum().backward()
    scaler = torch.amp.GradScaler("cuda")
    loss = torch.ones(1)
    assert scaler.scale(loss) is loss
    assert scaler.state_dict() == {}
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.get_num_interop_threads() == 1


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: torch.hub.load("repo", "model"), "nothing is downloaded"),
        (lambda: torch.jit.load("file"), "load a state_dict"),
        (lambda: torch.utils.model_zoo.load_url("url"), "nothing is downloaded"),
        (lambda: torch.utils.data.DistributedSampler([1]), "one process"),
        (lambda: torch.profiler.profile(), r"minigrad\.debugging\.Profile"),
        (lambda: torch.multiprocessing.spawn(print), "one process"),
    ],
)
def test_what_cannot_be_is_an_error_when_it_is_called(call: object, told: str) -> None:
    with pytest.raises(NotImplementedError, match=told):
        call()  # type: ignore[operator]
