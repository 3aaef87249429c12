"""What backward() and grad() accept, refuse, write and leave alone; hooks and retain_grad."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor
from minigrad.autograd import checkpoint, grad, primitive


def variable(*values: float) -> Tensor:
    return minigrad.tensor(np.array(values, float), requires_grad=True)


def scalar(value: float) -> Tensor:
    return minigrad.tensor(np.array(value, float), requires_grad=True)


# backward() -----------------------------------------------------------------------------------


def test_a_non_scalar_takes_a_gradient_of_its_shape() -> None:
    x = variable(1.0, 2.0)
    with pytest.raises(RuntimeError, match=r"backward: .*shape \(2,\).*\.sum\(\)"):
        (x * 2).backward()
    with pytest.raises(RuntimeError, match=r"grad: .*shape \(2,\)"):
        grad(x * 2, x)
    for wrong in (np.ones(3), np.ones((1, 2)), 1.0):
        with pytest.raises(ValueError, match=r"backward: .*gradient .*\(2,\)"):
            (x * 2).backward(wrong)
    for switch in (True, False):  # Lucid's backward(retain_grad) and its like
        with pytest.raises(TypeError, match="backward: .*gradient .*keyword"):
            (x * 2).sum().backward(switch)
    assert x.grad is None
    for given in (np.array([3.0, -1.0]), Tensor([3.0, -1.0]), [3.0, -1.0]):
        x.zero_grad()
        (x * x).backward(given)
        assert x.grad.tolist() == [6.0, -4.0]
        assert x.grad.dtype == np.float64


def test_an_output_without_history_is_refused() -> None:
    x = variable(1.0)
    with minigrad.no_grad():
        unrecorded = x.sum()
    for out in (Tensor(1.0), x.detach().sum(), (x > 0).sum(), x.astype(int).sum(), unrecorded):
        assert not out.requires_grad
        for differentiate in (out.backward, lambda out=out: grad(out, x)):
            with pytest.raises(RuntimeError, match="does not require grad"):
                differentiate()


def test_plain_gradients_have_no_history_and_recorded_ones_do() -> None:
    x = scalar(2.0)
    y = x * x
    with minigrad.no_grad():
        y.backward()
    assert x.grad.item() == 4.0
    assert not x.grad.requires_grad
    x.zero_grad()
    (x**4).backward(create_graph=True)
    assert x.grad.requires_grad
    assert grad(x.grad, x, retain_graph=True)[0].item() == 48.0
    first = x.grad
    x.zero_grad()
    first.backward()
    assert x.grad.item() == 48.0


def test_only_leaves_that_ask_and_are_used_get_a_gradient() -> None:
    x, constant, unused = variable(1.0, 2.0), Tensor([3.0, 4.0]), scalar(1.0)
    asked_no_more = scalar(1.0)
    asked_no_more.requires_grad = False
    _ = unused * 2
    interior = x * constant
    out = (interior * asked_no_more).sum()
    out.backward()
    assert [t.grad for t in (constant, unused, asked_no_more, interior, out)] == [None] * 5
    assert x.grad.tolist() == [3.0, 4.0]
    with pytest.raises(RuntimeError, match="detach"):
        (x * x).requires_grad = False


# retain_grad ----------------------------------------------------------------------------------


def test_retain_grad_stores_the_full_gradient_and_accumulates() -> None:
    x = scalar(2.0)
    y = x * 3
    y.retain_grad()
    y.retain_grad()  # asking twice changes nothing
    z = y * y + y
    z.retain_grad()
    z.backward(retain_graph=True)
    assert [t.grad.item() for t in (x, y, z)] == [39.0, 13.0, 1.0]
    assert not np.shares_memory(y.grad.numpy(), z.grad.numpy())
    z.backward()
    assert [t.grad.item() for t in (x, y, z)] == [78.0, 26.0, 2.0]


@pytest.mark.parametrize("asked_first", [True, False])
def test_a_retained_gradient_is_that_of_the_value_after_in_place_ops(asked_first: bool) -> None:
    x = variable(1.0, 2.0)
    y = x * 1
    if asked_first:
        y.retain_grad()
    y *= 3.0
    y[0] = x[1]
    if not asked_first:
        y.retain_grad()
    (y * 5).sum().backward()
    assert y.grad.tolist() == [5.0, 5.0]
    assert x.grad.tolist() == [0.0, 20.0]


def test_retain_grad_of_a_leaf_of_a_constant_and_in_memory_of_its_own() -> None:
    x = scalar(2.0)
    x.retain_grad()
    y = x + 0.0
    y.retain_grad()
    (y + 0.0).backward()
    y.grad.data[...] = 9.0
    assert x.grad.item() == 1.0
    with pytest.raises(RuntimeError, match="retain_grad"):
        Tensor(1.0).retain_grad()


def test_retain_grad_and_hooks_keep_no_tensor_alive() -> None:
    x = scalar(2.0)
    y, hooked = x * 3, x * 3
    y.retain_grad()
    hooked.register_hook(lambda g, hooked=hooked: print(hooked.shape))
    z = y * y
    reference, cycle = weakref.ref(y), weakref.ref(hooked)
    gc.disable()
    try:
        del y
        assert reference() is None
    finally:
        gc.enable()
    z.backward()
    assert x.grad.item() == 36.0
    del hooked
    gc.collect()
    assert cycle() is None


# grad() ---------------------------------------------------------------------------------------


def test_backward_writes_to_the_inputs_that_are_named_alone() -> None:
    a, b, unused = (minigrad.tensor([value, 2.0], requires_grad=True) for value in (1.0, 3.0, 5.0))
    inner = a * b
    loss = (inner * inner).sum()
    for _ in range(2):
        loss.backward(inputs=[b, inner, unused], retain_graph=True)
    assert a.grad is unused.grad is None
    assert b.grad is not None
    assert inner.grad is not None
    np.testing.assert_array_equal(b.grad.numpy(), [12.0, 32.0])
    np.testing.assert_array_equal(inner.grad.numpy(), [12.0, 16.0])
    minigrad.autograd.backward(loss, inputs=a)
    np.testing.assert_array_equal(a.grad.numpy(), [18.0, 16.0])
    with pytest.raises(RuntimeError, match="backward: input 0 .* does not require grad"):
        a.sum().backward(inputs=[Tensor(1.0)])
    with pytest.raises(TypeError, match="backward: input 0 must be a tensor, got int"):
        a.sum().backward(inputs=3)


def test_grad_mirrors_its_inputs_which_are_tensors() -> None:
    x, y = scalar(2.0), scalar(3.0)
    z = x * y
    for inputs, wanted in (((x, x, y), [3.0, 3.0, 2.0]), ((t for t in [x]), [3.0])):
        assert [g.item() for g in grad(z, inputs, retain_graph=True)] == wanted
    for wrong in (3.0, np.ones(2), [x, 3.0], [np.ones(2)], None):
        with pytest.raises(TypeError, match=r"grad: input \d .*tensor"):
            grad(z, wrong)
        with pytest.raises(TypeError, match=r"grad: output \d .*tensor"):
            grad(wrong, x)


def test_grad_adds_several_outputs() -> None:
    x = variable(1.0, 2.0)
    with pytest.raises(ValueError, match="grad: 2 outputs but 1 gradients"):
        grad([(x * x).sum(), x * 3], x, [None])
    x = scalar(2.0)
    y = x * x
    assert grad([y * y, y], x)[0].item() == 4 * 8 + 4  # an output and its ancestor


def test_grad_writes_nothing() -> None:
    x, y, other = scalar(2.0), scalar(3.0), scalar(4.0)
    interior = x * y
    interior.retain_grad()
    (found,) = grad(interior * interior * other, x)
    assert found.item() == 2 * 6 * 3 * 4
    assert [t.grad for t in (x, y, other, interior)] == [None] * 4


def test_grad_reaches_interior_tensors_and_the_output_itself() -> None:
    x = scalar(2.0)
    y = x * 3
    z = y * y + x
    to_y, to_x = grad(z, (y, x), retain_graph=True)
    assert (to_y.item(), to_x.item()) == (12.0, 37.0)
    assert grad(z, y, retain_graph=True)[0].item() == 12.0
    assert grad(z, z)[0].item() == grad(x, x)[0].item() == 1.0
    x.backward()
    assert x.grad.item() == 1.0


def test_grad_of_an_unused_input() -> None:
    x, unused = scalar(2.0), scalar(3.0)
    with pytest.raises(RuntimeError, match=r"grad: .*input 1 of shape \(\).*allow_unused=True"):
        grad(x * x, (x, unused))
    assert grad(x * x, (x, unused), allow_unused=True)[1] is None
    later = x * 5  # younger than the output, so not part of it
    y = x * x
    later = x * 5
    assert grad(y, later, allow_unused=True)[0] is None
    with pytest.raises(RuntimeError, match="input 0 .* does not require grad"):
        grad(x * x, Tensor(1.0))


RUNS: list[str] = []
"""Which rules of the counted ops have run."""


@primitive
def counted_product(a: Any, b: Any) -> Any:
    return a * b


counted_product.defvjp(
    a=lambda g, b: (RUNS.append("a"), g * b)[1], b=lambda g, a: (RUNS.append("b"), g * a)[1]
)


@primitive
def counted_pair(a: Any, b: Any) -> Any:
    return a + 2 * b


@counted_pair.defjoint("a", "b")
def _(g: Any, needed: tuple[bool, bool]) -> Any:
    RUNS.append(f"joint {needed}")
    return g, 2 * g


@pytest.mark.parametrize("create_graph", [False, True])
def test_rules_that_are_not_needed_do_not_run(create_graph: bool) -> None:
    x, y = scalar(2.0), scalar(3.0)
    interior = counted_product(x, y)
    below_and_beside = counted_product(interior, counted_product(y, y))
    often = sum((interior for _ in range(20)), interior)
    for out, to, wanted, runs in (
        (counted_product(x, y), x, 3.0, ["a"]),
        (counted_product(x, 5.0), x, 5.0, ["a"]),
        (below_and_beside, interior, 9.0, ["a"]),
        (often, x, 63.0, ["a"]),  # once per pass
        (counted_pair(x, y), y, 2.0, ["joint (False, True)"]),
    ):
        RUNS.clear()
        assert grad(out, to, create_graph=create_graph)[0].item() == wanted
        assert runs == RUNS


def test_grad_leaves_the_other_branches_usable() -> None:
    x, y = scalar(2.0), scalar(3.0)
    shared = x.exp()
    left, right = shared * y, shared * x
    grad(left, y)
    right.backward()
    np.testing.assert_allclose(x.grad.item(), 3 * np.exp(2.0))


# Hooks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("interior", [False, True])
def test_a_hook_sees_the_full_gradient_once(interior: bool, create_graph: bool) -> None:
    seen: list[Tensor] = []
    leaf = scalar(2.0)
    x = leaf * 1.0 if interior else leaf
    x.register_hook(seen.append)  # append returns None: the gradient stays as it is
    (x * x + x.exp() + x).backward(create_graph=create_graph)
    assert len(seen) == 1
    assert isinstance(seen[0], Tensor)
    np.testing.assert_allclose(seen[0].item(), 5 + np.exp(2.0))
    np.testing.assert_allclose(leaf.grad.item(), 5 + np.exp(2.0))
    assert seen[0].requires_grad == create_graph


@pytest.mark.parametrize("interior", [False, True])
def test_a_hook_may_replace_the_gradient(interior: bool) -> None:
    leaf = variable(1.0, 2.0)
    x = leaf * 3 if interior else leaf
    x.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g + 1)  # sees what the first returned
    (x * x).sum().backward()
    value = x.numpy()
    wanted = 20 * value + 1
    np.testing.assert_array_equal(leaf.grad.numpy(), wanted * (3 if interior else 1))


def test_a_leaf_is_told_as_soon_as_its_last_contribution_is_in() -> None:
    told: list[str] = []
    early, late, twice = scalar(2.0), scalar(3.0), scalar(5.0)
    middle = early * twice
    for name, x in (("early", early), ("late", late), ("twice", twice), ("middle", middle)):
        x.register_hook(lambda g, name=name: told.append(name))
    (middle * late * twice).backward()
    assert told[:2] == ["late", "middle"]
    assert sorted(told[2:]) == ["early", "twice"]
    assert [t.grad.item() for t in (early, late, twice)] == pytest.approx([75.0, 50.0, 60.0])


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_update_in_the_backward_pass(create_graph: bool) -> None:
    seen: list[Any] = []

    def update(x: Tensor) -> None:
        seen.append((x.grad.item(), other.grad))
        x.grad = None

    x, other = scalar(2.0), scalar(3.0)
    handle = x.register_post_accumulate_grad_hook(update)
    x.grad = scalar(100.0).detach()
    (other.exp() * x * x).backward(create_graph=create_graph)
    np.testing.assert_allclose(seen[0][0], 100 + 4 * np.exp(3.0))
    assert seen[0][1] is None, "the pass was over"
    assert x.grad is None
    assert other.grad is not None
    grad(x * x, x)  # writes no gradient
    assert len(seen) == 1
    x.backward()  # the leaf itself
    assert [value for value, _ in seen[1:]] == [1.0]
    handle.remove()
    (x * x).backward()
    assert x.grad.item() == 4.0
    assert len(seen) == 2


def test_leaves_are_told_through_checkpoints_and_views() -> None:
    for run in (lambda f, x: f(x), checkpoint):
        seen: list[Any] = []
        w = variable(1.0, 2.0)
        w.register_post_accumulate_grad_hook(lambda w, seen=seen: seen.append(w.grad.tolist()))
        x = run(lambda x, w=w: (x * w).exp() * w[0], variable(0.0, 0.0))
        (x.sum() + w[1]).backward()
        assert seen == [[2.0, 1.0]]


def test_what_hooks_are_of_is_checked() -> None:
    post = "register_post_accumulate_grad_hook"
    for method, tensor, told in (
        ("register_hook", Tensor(1.0), "register_hook"),
        (post, Tensor(1.0), "post_accumulate"),
        (post, scalar(1.0) * 2, "post_accumulate"),
    ):
        with pytest.raises(RuntimeError, match=told):
            getattr(tensor, method)(print)


def test_hooks_run_in_grad_too_and_before_retain_grad() -> None:
    x = scalar(2.0)
    y = x * 3
    y.register_hook(lambda g: g * 2)
    assert grad(y * y, y, retain_graph=True)[0].item() == 24.0
    assert grad(y * y, x, retain_graph=True)[0].item() == 72.0
    y.retain_grad()
    (y * y).backward()
    assert (y.grad.item(), x.grad.item()) == (24.0, 72.0)


def test_a_hook_is_removed() -> None:
    seen: list[Any] = []
    x = scalar(2.0)

    def gradient() -> float:
        x.zero_grad()
        (x * x).backward()
        return x.grad.item()

    first, second = x.register_hook(seen.append), x.register_hook(lambda g: 2 * g)
    assert (gradient(), len(seen)) == (8.0, 1)
    first.remove()
    first.remove()
    assert (gradient(), len(seen)) == (8.0, 1)
    second()  # the handle is callable, as in Lucid
    assert gradient() == 4.0
    third = x.register_hook(seen.append)
    second.remove()  # gone already: the newer hook stays
    assert (gradient(), len(seen)) == (4.0, 2)
    third.remove()
    itself = x.register_hook(lambda g: (seen.append(g), itself.remove())[1])
    assert (gradient(), gradient(), len(seen)) == (4.0, 4.0, 3)


def test_what_a_hook_returns() -> None:
    """Anything but a tensor of the shape is refused; another dtype is cast; no memory is shared."""
    kept = minigrad.tensor(np.array([5.0, 5.0]))
    for wrong in (np.ones(2), 1.0, minigrad.tensor(np.ones(3))):
        x = variable(1.0, 2.0)
        x.register_hook(lambda g, wrong=wrong: wrong)
        with pytest.raises(ValueError, match=r"hook returned .*Tensor of shape \(2,\)"):
            (x * x).sum().backward()
    for hook, wanted in ((lambda g: g.astype(np.float32) * 2, [4.0, 8.0]),
                         (lambda g: kept, [5.0, 5.0])):  # fmt: skip
        x = variable(1.0, 2.0)
        x.register_hook(hook)
        (x * x).sum().backward()
        assert x.grad.dtype == np.float64
        assert x.grad.tolist() == wanted
        x.grad.data[...] = 0
    assert kept.tolist() == [5.0, 5.0]


def test_what_a_hook_kept_does_not_change_afterwards() -> None:
    seen: list[Tensor] = []
    x = variable(1.0, 2.0)
    y = x + 0.0
    y.register_hook(seen.append)
    z = y + x
    z.register_hook(seen.append)
    (z + y).sum().backward()
    assert [g.tolist() for g in seen] == [[1.0, 1.0], [2.0, 2.0]]
    x.grad.data[...] = 9.0
    assert [g.tolist() for g in seen] == [[1.0, 1.0], [2.0, 2.0]]


@pytest.mark.parametrize("create_graph", [False, True])
def test_an_exception_in_a_hook_or_a_rule_passes_and_leaves_no_state(create_graph: bool) -> None:
    def fail(g: Any) -> Any:  # noqa: ARG001  # the name is read
        raise LookupError("from within")

    @primitive
    def fails_backwards(x: Any) -> Any:
        return x * 1

    fails_backwards.defvjp(x=fail)
    x = scalar(2.0)
    with pytest.raises(LookupError, match="from within"):
        fails_backwards(x * x).backward(create_graph=create_graph)
    handle = x.register_hook(fail)
    with pytest.raises(LookupError, match="from within"):
        (x * x).backward(create_graph=create_graph)
    assert minigrad.is_grad_enabled()
    assert x.grad is None
    handle.remove()
    (x * x).backward()
    assert x.grad.item() == 4.0


def test_which_output_is_wrong_and_nothing_is_written() -> None:
    x = minigrad.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="backward: output 1 does not require grad"):
        minigrad.autograd.backward([x.sum(), minigrad.ones(1).sum()])
    assert x.grad is None
    with pytest.raises(ValueError, match=r"grad: the gradient has shape \(3,\), output 1 \(2,\)"):
        minigrad.autograd.grad([x.sum(), x * 2], x, [None, minigrad.ones(3)])
