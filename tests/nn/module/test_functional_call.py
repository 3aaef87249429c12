"""functional_call: a module as a function of its parameters."""

import threading
import time
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn
from minigrad.autograd import checkpoint
from minigrad.func import functional_call, grad, hessian, value_and_grad


def halves(module: nn.Module) -> dict[str, Tensor]:
    """Other values for all parameters."""
    return {name: minigrad.tensor(p.numpy() / 2) for name, p in module.named_parameters()}


def held(module: nn.Module) -> dict[str, int]:
    """Which objects a module holds."""
    named = (*module.named_parameters(), *module.named_buffers())
    return {name: id(tensor) for name, tensor in named}


def test_it_equals_a_module_that_has_these_parameters() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    other = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)
    given, before = halves(layer), held(layer)
    other.load_state_dict(given)
    x = minigrad.randn(2, 3, 8)
    padding = np.array([[False, False, True]] * 2)
    found = functional_call(layer, given, (x, None, padding))
    np.testing.assert_array_equal(found, other(x, None, padding))
    found = functional_call(layer, given, x, {"src_key_padding_mask": padding})
    np.testing.assert_array_equal(found, other(x, src_key_padding_mask=padding))
    assert held(layer) == before
    assert all(isinstance(p, nn.Parameter) for p in layer.parameters())


def test_buffers_and_arrays() -> None:
    class Shift(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("shift", minigrad.ones(2))
            self.register_buffer("unsaved", minigrad.ones(2), persistent=False)
            self.register_buffer("calls", minigrad.tensor([0]))

        def forward(self, x: Tensor) -> Tensor:
            self.calls = self.calls + 1
            return x + self.shift * self.unsaved

    shift = Shift()
    given = {"shift": np.array([5.0, 6.0], "f4"), "unsaved": Tensor([2.0, 2.0])}
    assert functional_call(shift, given, minigrad.zeros(2)).tolist() == [10.0, 12.0]
    assert shift.shift.tolist() == shift.unsaved.tolist() == [1.0, 1.0]
    assert shift.calls.tolist() == [1]  # what was not given is the module's own business
    functional_call(shift, {"calls": minigrad.tensor([7])}, minigrad.zeros(2))
    assert shift.calls.tolist() == [1]


class Tied(nn.Module):
    """An embedding whose table is the output projection too."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(4, 3)
        self.head = nn.Linear(3, 4, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids: Any) -> Tensor:
        return self.head(self.embedding(ids))


def test_a_shared_tensor_is_replaced_everywhere() -> None:
    model = Tied()
    table = minigrad.tensor(np.arange(12.0, dtype="f4").reshape(4, 3))
    wanted = table[[1, 2]] @ table.T
    for path in ("embedding.weight", "head.weight"):
        found = functional_call(model, {path: table}, np.array([1, 2]))
        np.testing.assert_array_equal(found, wanted)
    both = {"embedding.weight": table, "head.weight": table}
    np.testing.assert_array_equal(functional_call(model, both, np.array([1, 2])), wanted)
    assert model.head.weight is model.embedding.weight
    both["head.weight"] = table * 2
    with pytest.raises(ValueError, match=r"head\.weight .*one tensor"):
        functional_call(model, both, np.array([1, 2]))


def test_an_exception_restores_the_module() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    before = held(model)
    with pytest.raises(ValueError, match="0"):
        functional_call(model, halves(model), minigrad.ones(5))
    assert held(model) == before


REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "an unknown path": (
        {"0.weights": minigrad.ones((2, 2))}, ValueError,
        r"functional_call: Sequential .*'0.weights'.*'0.weight'"),
    "another shape": (
        {"0.weight": minigrad.ones(2)}, ValueError,
        r"functional_call: 0.weight .*\(2, 2\).*\(2,\)"),
    "no tensor": ({"0.weight": None}, TypeError, "NoneType"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "kind", "message"), REFUSED.values(), ids=REFUSED)
def test_refusals_change_nothing(given: Any, kind: type[Exception], message: str) -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    before = held(model)
    with pytest.raises(kind, match=message):
        functional_call(model, {"0.bias": minigrad.ones(2), **given}, minigrad.ones(2))
    assert held(model) == before


def test_threads_wait_for_each_other() -> None:
    class Slow(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            time.sleep(0.001)  # another thread's turn
            return super().forward(x)

    model = nn.Sequential(*[Slow(2, 2, bias=False) for _ in range(4)])
    eye = np.eye(2, dtype="f4")
    found: dict[float, set[float]] = {}

    def work(factor: float) -> None:
        given = {name: minigrad.tensor(factor * eye) for name, _ in model.named_parameters()}
        results = [functional_call(model, given, minigrad.ones(2)) for _ in range(5)]
        found[factor] = {result[0].item() for result in results}

    threads = [threading.Thread(target=work, args=(float(k),)) for k in (1, 2, 3, 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: {k**4} for k in (1.0, 2.0, 3.0, 4.0)}


@pytest.mark.parametrize("order", [1, 2])
def test_what_is_computed_again_has_the_same_parameters(order: int) -> None:
    """A checkpoint within the module: it runs again when the call is long over."""

    class Net(nn.Module):
        def __init__(self, again: bool) -> None:
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.again = again

        def forward(self, x: Tensor) -> Tensor:
            return checkpoint(self.linear, x) if self.again else self.linear(x)

    plain, again = Net(False), Net(True)
    given = {"linear.weight": Tensor([[1.0, 2.0], [3.0, 4.0]]), "linear.bias": minigrad.ones(2)}
    loss = lambda net: lambda p: (functional_call(net, p, minigrad.ones(3, 2)) ** 3).sum()
    derivative: Any = grad if order == 1 else hessian
    wanted, found = derivative(loss(plain))(given), derivative(loss(again))(given)
    for row in given:
        pairs = [(wanted[row], found[row])]
        if order == 2:
            pairs = [(wanted[row][column], found[row][column]) for column in given]
        for one, other in pairs:
            assert one.numpy().any()
            np.testing.assert_allclose(other, one, rtol=1e-6)


def test_calls_nest() -> None:
    """A module that calls a part of itself with the tensors that it has been given, changed."""

    class Outer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = nn.Linear(1, 1, bias=False)

        def forward(self, x: Tensor) -> Tensor:
            held = dict(self.inner.named_parameters())
            doubled = {name: 2 * p for name, p in held.items()}
            return functional_call(self.inner, doubled, self.inner(x))

    outer = Outer()
    before = held(outer)
    call = lambda w: functional_call(outer, {"inner.weight": w}, minigrad.ones(1)).sum()
    assert value_and_grad(call)(Tensor([[3.0]]))[0].item() == 18.0
    assert grad(call)(Tensor([[3.0]])).item() == 12.0
    assert held(outer) == before
