"""Reading and writing any part of any array: values, dtypes, views and refusals are NumPy's.

Of integers beside arrays, PyTorch's: it selects by the integers first.
"""

from typing import Any

import numpy as np
import strategies
from hypothesis import given
from hypothesis import strategies as st
from strategies import arrays, indices, over

import minigrad
from minigrad import no_grad, ops
from minigrad.autograd import grad
from minigrad.tensors.indices import two_steps


def spelled(index: Any, data: Any) -> Any:
    """The same index, perhaps with tensors and lists in the place of arrays."""
    if isinstance(index, tuple):
        return tuple(spelled(part, data) for part in index)
    if not isinstance(index, np.ndarray):
        return index
    spellings = [index, minigrad.tensor(index)] + [index.tolist()] * (
        index.ndim > 0 and index.size > 0
    )
    return data.draw(st.sampled_from(spellings))


def part_of(x: np.ndarray, index: Any) -> np.ndarray:
    """NumPy's part; integers give a view if they are 0-d arrays, and if they leave no axis too."""
    parts = index if isinstance(index, tuple) else (index,)
    if steps := two_steps(parts, x.ndim):
        return x[steps[0]][steps[1]]
    plain = [
        part.item() if isinstance(part, np.ndarray) and not part.ndim else part for part in parts
    ]
    if any(isinstance(part, (np.ndarray, bool)) for part in plain):
        return x[index]
    return x[tuple(plain)] if Ellipsis in plain else x[(*plain, ...)]


@given(data=st.data(), x=arrays())
def test_reading(data: Any, x: np.ndarray) -> None:
    """Twice, since a part is read like the whole: in any layout, of any dtype."""
    tensor, array = over(x), x
    for _ in range(2):
        index = data.draw(indices(array.shape))
        tensor, wanted = tensor[spelled(index, data)], part_of(array, index)
        assert (tensor.shape, tensor.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_array_equal(tensor.numpy(), wanted)
        if wanted.size:
            assert np.shares_memory(tensor.numpy(), x) == np.shares_memory(wanted, x)
        array = wanted


@given(data=st.data(), x=arrays(dtype=np.float64))
def test_the_gradient_counts_the_reads(data: Any, x: np.ndarray) -> None:
    variable = over(x, requires_grad=True)
    first = data.draw(indices(x.shape))
    second = data.draw(indices(part_of(x, first).shape))
    places = part_of(np.arange(x.size).reshape(x.shape), first)
    out = variable[first][second]
    read = part_of(places, second)
    g = strategies.numbers(data.draw(strategies.seeds), out.shape, np.float64)
    wanted = np.bincount(read.ravel(), g.ravel(), x.size).reshape(x.shape)
    for create_graph in (False, True):
        (found,) = grad(variable[first][second], variable, g, create_graph=create_graph)
        np.testing.assert_allclose(found.numpy(), wanted, atol=1e-12)


@given(data=st.data(), x=arrays(stretch=False), dtype=strategies.dtypes)
def test_writing_reaches_whoever_sees_the_memory(data: Any, x: np.ndarray, dtype: Any) -> None:
    """Into a view of a part; values broadcast and take the dtype of what they are written to."""
    x = x.copy()
    base, array = minigrad.tensor(x), x.copy()
    first = data.draw(indices(x.shape))
    view, seen = base[first], part_of(array, first)
    index = data.draw(indices(seen.shape))
    shape = part_of(seen, index).shape
    value = data.draw(arrays(data.draw(narrowed(shape)), dtype))
    view[spelled(index, data)] = data.draw(st.sampled_from([value, minigrad.tensor(value)]))
    steps = two_steps(index, seen.ndim) if isinstance(index, tuple) else None
    if steps:
        seen[steps[0]][steps[1]] = value
    else:
        seen[index] = value
    np.testing.assert_array_equal(view.numpy(), seen)
    np.testing.assert_array_equal(base.numpy(), array)
    assert base.dtype == x.dtype


def narrowed(shape: tuple[int, ...]) -> Any:
    """Shapes that broadcast to a shape."""
    some = st.tuples(*(st.sampled_from([1, n]) for n in shape))
    return st.tuples(some, st.integers(0, len(shape))).map(lambda drawn: drawn[0][drawn[1] :])


@given(data=st.data(), x=arrays(strategies.shapes(min_side=2), np.float64))
def test_the_gradient_of_a_write_goes_to_the_last_one(data: Any, x: np.ndarray) -> None:
    """To the old value where it survives, and to each written one that nothing has overwritten."""
    index = data.draw(indices(x.shape))
    target = part_of(np.arange(x.size).reshape(x.shape), index)
    shape = data.draw(st.just(target.shape) | narrowed(target.shape))
    value = minigrad.tensor(np.ones(shape), requires_grad=True)
    g = strategies.numbers(data.draw(strategies.seeds), x.shape, np.float64)
    owner = {int(place): k for k, place in enumerate(target.ravel())}
    to_x = g.copy()
    to_x.reshape(-1)[list(owner)] = 0
    sources = np.broadcast_to(np.arange(value.numel()).reshape(shape), target.shape).ravel()
    to_value = np.zeros(value.numel())
    for place, k in owner.items():
        to_value[sources[k]] += g.ravel()[place]
    as_numpy = not isinstance(index, tuple) or two_steps(index, x.ndim) is None
    for in_place in (False, True) if as_numpy else (True,):
        variable = over(x, requires_grad=True)
        if in_place:
            out = variable * 1
            out[index] = value
        else:
            out = ops.setitem(variable, index, value)
        found = grad(out, [variable, value], g)
        np.testing.assert_array_equal(found[0].numpy(), to_x)
        np.testing.assert_allclose(found[1].numpy().ravel(), to_value, atol=1e-12)


@given(data=st.data(), x=arrays(strategies.shapes(min_dims=1), np.float32))
def test_a_read_only_view_is_never_written_to(data: Any, x: np.ndarray) -> None:
    """What is broadcast shares elements: a write would change several at once."""
    tensor = minigrad.tensor(x)
    wide = ops.broadcast_to(tensor, (2, *x.shape))[data.draw(indices((2, *x.shape)))]
    shares = np.shares_memory(wide.numpy(), tensor.numpy())
    try:
        with no_grad():
            wide[...] = 9
    except RuntimeError:
        assert not wide.numpy().flags.writeable
    else:
        assert not shares
    np.testing.assert_array_equal(tensor.numpy(), x)
