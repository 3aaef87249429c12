"""Function transforms: the derivatives of a function, in the structure of its arguments.

The names and the signatures are those of ``torch.func``; `value_and_grad` and `hvp` are JAX's.
`grad`, `jacrev`, `jacfwd` and `hessian` take a function and return a function of the same
arguments. `vjp`, `jvp`, `linearize` and `hvp` take the function and its arguments, and compute at
once.

Arguments are tensors, or nested tuples, lists and dicts of tensors; results have the same
structure. The derivative by an argument that the function does not use is zero. No ``.grad`` is
written. Transforms can be nested. They record also under ``no_grad()``.

A result has a history if grad mode is on and an argument, a direction or a tensor from outside the
function has one. ``with no_grad():`` around a transform computes the same numbers without a
history, at a lower cost.
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from minigrad import ops
from minigrad.autograd.call import leaf_of, wrap
from minigrad.autograd.grad_mode import enable_grad
from minigrad.support.checks import check_function
from minigrad.transforms.evaluation import Evaluation, check_dependence, directions, pulled
from minigrad.transforms.structure import rebuilt
from minigrad.transforms.vectorization import CannotMap, Randomness, check_randomness, vmap

__all__ = [
    "grad", "grad_and_value", "hessian", "hvp", "jacfwd", "jacrev", "jvp", "linearize",
    "value_and_grad", "vjp",
]  # fmt: skip

TOGETHER = 256
"""The number of rows of a Jacobian computed at once: all intermediate values are that many."""

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient of a scalar function.

    Transforms nest: ``grad(grad(f))`` is the second derivative.

    Args:
        func: Takes tensors or structures of them, returns a tensor with one element.
        argnums: Which positional arguments to differentiate; the others may be anything.
        has_aux: Whether the function returns a pair (output, auxiliary output).

    Returns:
        A function of the same arguments. It returns a structure of tensors like the argument; for
        a tuple `argnums`, a tuple of structures. With `has_aux`, a pair of that and the auxiliary
        output.

    Raises:
        RuntimeError: The function does not return one number.
        TypeError: `func` is not a function, `argnums` not an int, or an argument or output does
            not hold floats.
        ValueError: The function was not called with the arguments of `argnums`.

    Example:
        >>> import minigrad
        >>> from minigrad.func import grad
        >>> second = grad(grad(lambda x: x**3))
        >>> second(minigrad.tensor(2.0))
        tensor(12.)
        >>> line = {"slope": minigrad.tensor(2.0), "offset": minigrad.tensor(1.0)}
        >>> grad(lambda line, x: line["slope"] * x + line["offset"])(line, 5.0)
        {'slope': tensor(5.), 'offset': tensor(1.)}
    """
    return _derived("grad", func, argnums, has_aux, _gradient)


def value_and_grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the value and the gradient of a scalar function.

    Arguments and errors are as for `grad`. With `has_aux`, the value is the pair that the function
    returned.

    Source: JAX, "jax.value_and_grad".

    Example:
        >>> import minigrad
        >>> from minigrad.func import value_and_grad
        >>> value_and_grad(lambda x: (x * x).sum())(minigrad.tensor([1.0, 2.0]))
        (tensor(5.), tensor([2., 4.]))
    """
    return _derived("value_and_grad", func, argnums, has_aux, _value_and_gradient)


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """Return a function that computes the gradient and the value, in this order.

    Otherwise it is `value_and_grad`.

    Example:
        >>> import minigrad
        >>> from minigrad.func import grad_and_value
        >>> grad_and_value(lambda x: (x * x).sum())(minigrad.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))
    """
    reverse = lambda call: _value_and_gradient(call)[::-1]
    return _derived("grad_and_value", func, argnums, has_aux, reverse)


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    r"""Compute the value of a function, and its vector-Jacobian product as a function.

    For a cotangent :math:`g` of the output, the product is :math:`g^\top J`. It costs one backward
    pass, and can be computed for any number of cotangents.

    Args:
        func: Takes tensors or structures of them, returns a structure of tensors.
        *primals: Its arguments, all of which are differentiated.
        has_aux: Whether the function returns a pair (output, auxiliary output).

    Returns:
        The value and ``pull``; with `has_aux`, also the auxiliary output. ``pull`` takes a
        cotangent with the structure, shapes and dtypes of the value, and returns a tuple with a
        structure of tensors for each input. It can be called again, unless it is called with
        ``retain_graph=False``; ``create_graph=`` says whether it is recorded.

    Raises:
        TypeError: An input or output does not hold floats.

    Example:
        >>> import minigrad
        >>> from minigrad.func import vjp
        >>> value, pull = vjp(lambda x, y: x * y, minigrad.tensor([1.0, 2.0]), minigrad.tensor(3.0))
        >>> value
        tensor([3., 6.])
        >>> pull(minigrad.tensor([1.0, 10.0]))
        (tensor([ 3., 30.]), tensor(21.))
    """
    call = _at("vjp", func, primals, has_aux)

    def pull(
        cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None
    ) -> tuple[Any, ...]:
        given = directions("vjp", call.output, call.outputs, cotangents, "output", "cotangents")
        create = call.records(given) if create_graph is None else create_graph
        found = pulled(call.outputs, call.variables, given, create, retain_graph)
        return tuple(call.structured(found))

    return call.returned(call.value, pull)


def jvp(
    func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, strict: bool = False,
    has_aux: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    r"""Compute the value of a function, and its derivative along a direction.

    The directional derivative :math:`J v` costs two backward passes. The first one computes
    :math:`J^\top u`, which is linear in :math:`u`. The second one differentiates
    :math:`v^\top J^\top u` with respect to :math:`u`, which gives :math:`J v`.

    Args:
        func: Takes tensors or structures of them, returns a structure of tensors.
        primals: The tuple of its arguments, all of which are differentiated.
        tangents: The direction: the structure, shapes and dtypes of `primals`.
        strict: Whether an output that depends on no argument is an error; else its derivative is 0.
        has_aux: Whether the function returns a pair (output, auxiliary output).

    Returns:
        The value, and the derivative in the structure of the value; with `has_aux`, also the
        auxiliary output.

    Raises:
        RuntimeError: With `strict`, an output depends on no argument.
        TypeError: An input or output does not hold floats, or a tangent has another dtype.
        ValueError: A tangent has another shape, or `tangents` another structure.

    Source: J. Townsend, "A new trick for calculating Jacobian vector products", 2017.

    Example:
        >>> import minigrad
        >>> from minigrad.func import jvp
        >>> x, along = minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 0.0])
        >>> jvp(lambda x: x**3, (x,), (along,))
        (tensor([1., 8.]), tensor([3., 0.]))
    """
    call = _at("jvp", func, primals, has_aux)
    given = directions("jvp", primals, call.variables, tangents, "primals", "tangents")
    for i, row in enumerate(call.table() if strict else ()):
        check_dependence("jvp", f"output {i}", "any input", row)
    return call.returned(call.value, along(call, *transposed(call), given))


def linearize(func: Function, *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    r"""Compute the value of a function, and its derivative as a function of the direction.

    It is `jvp` for many directions: the function runs once, and each direction costs one backward
    pass. Arguments and errors are as for `jvp`.

    Returns:
        The value and ``push``; with `has_aux`, also the auxiliary output. ``push`` takes a tangent
        for each input, of its structure, shapes and dtypes, and returns :math:`J v` in the
        structure of the value.

    Example:
        >>> import minigrad
        >>> from minigrad.func import linearize
        >>> value, push = linearize(lambda x: x**3, minigrad.tensor([1.0, 2.0]))
        >>> push(minigrad.tensor([1.0, 0.0])), push(minigrad.tensor([0.0, 1.0]))
        (tensor([3., 0.]), tensor([ 0., 12.]))
    """
    call = _at("linearize", func, primals, has_aux)
    slopes, weights = transposed(call)

    def push(*tangents: Any) -> Any:
        given = directions("linearize", primals, call.variables, tangents, "primals", "tangents")
        return along(call, slopes, weights, given)

    return call.returned(call.value, push)


def transposed(call: Evaluation) -> tuple[list[Any], list[Any]]:
    """The product of the transposed Jacobian and some cotangents, recorded; the cotangents."""
    with enable_grad():
        # Any cotangent without zeros would do; zeros hide infinite slopes: see `zero_safe`.
        draws = np.random.default_rng(0)
        arrays = [output._data for output in call.outputs]
        weights = [leaf_of(draws.uniform(1, 2, x.shape).astype(x.dtype), True) for x in arrays]
        return pulled(call.outputs, call.variables, weights, create=True), weights


def along(call: Evaluation, slopes: list[Any], weights: list[Any], given: list[Any]) -> Any:
    """The derivative along a direction, in the structure of the output."""
    create = call.records(given)
    return rebuilt(call.output, iter(pulled(slopes, weights, given, create, retain=True)))


def jacrev(
    func: Function, argnums: Argnums = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Function:
    r"""Return a function that computes the Jacobian by rows, a backward pass for each.

    The passes run together, by `vmap`. For a function with many more outputs than inputs, the
    columns of `jacfwd` cost less.

    Args:
        func: Takes tensors or structures of them, returns a structure of tensors.
        argnums: Which positional arguments to differentiate; the others may be anything.
        has_aux: Whether the function returns a pair (output, auxiliary output).
        chunk_size: How many rows are computed at once: all intermediate values are that many. None
            means up to 256.

    Returns:
        A function of the same arguments. It returns the structure of the output. In the place of
        each tensor is the structure of the argument (for a tuple `argnums`, a tuple of
        structures), with tensors of shape (\*output shape, \*input shape) and the dtype of the
        input. With `has_aux`, a pair of that and the auxiliary output.

    Raises:
        TypeError: `func` is not a function, `argnums` not an int, or an argument or output does
            not hold floats.
        ValueError: The function was not called with the arguments of `argnums`, or `chunk_size` is
            below 1.

    Example:
        >>> import minigrad
        >>> from minigrad.func import jacrev
        >>> x = minigrad.tensor([1.0, 2.0, 3.0])
        >>> jacrev(lambda x: {"ends": x[::2] ** 2, "sum": x.sum()})(x)
        {'ends': tensor([[2., 0., 0.],
                [0., 0., 6.]]), 'sum': tensor([1., 1., 1.])}
    """
    if chunk_size is not None and chunk_size < 1:
        raise ValueError(f"jacrev: chunk_size must be at least 1, got {chunk_size}")
    rows = functools.partial(by_rows, at_once=chunk_size or TOGETHER)
    return _derived("jacrev", func, argnums, has_aux, rows)


def jacfwd(
    func: Function, argnums: Argnums = 0, has_aux: bool = False, *,
    randomness: Randomness = "error",
) -> Function:  # fmt: skip
    """Return a function that computes the Jacobian by columns, one for each input element.

    A column costs about twice as much as a row of `jacrev`, as in `jvp`. So it pays for a function
    with many more outputs than inputs. Arguments, results and errors are as for `jacrev`;
    `randomness` is PyTorch's: the function runs once, so its random numbers are those of one call.

    Example:
        >>> import minigrad
        >>> from minigrad.func import jacfwd
        >>> jacfwd(lambda t: t ** minigrad.arange(4))(minigrad.tensor(2.0))
        tensor([ 0.,  1.,  4., 12.])
    """
    check_randomness("jacfwd", randomness)
    return _derived("jacfwd", func, argnums, has_aux, by_columns)


def hessian(func: Function, argnums: Argnums = 0, *, has_aux: bool = False) -> Function:
    r"""Return a function that computes the second derivatives of a function.

    It is `jacrev` of `jacrev`: a gradient has as many elements as its input. The product with one
    vector, `hvp`, costs only two backward passes. Arguments and errors are as for `jacrev`.

    Returns:
        A function of the same arguments. It returns structures within a structure: for a dict of
        parameters, a dict of dicts, with a tensor of shape (\*output shape, \*a.shape, \*b.shape)
        for each pair. With `has_aux`, a pair of that and the auxiliary output.

    Example:
        >>> import minigrad
        >>> from minigrad.func import hessian
        >>> hessian(lambda x: x[0] ** 2 * x[1])(minigrad.tensor([3.0, 5.0]))
        tensor([[10.,  6.],
                [ 6.,  0.]])
    """
    first = _derived("hessian", func, argnums, has_aux, by_rows)
    return _derived("hessian", first, argnums, has_aux, by_rows)


def hvp(
    func: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...], *, has_aux: bool = False
) -> tuple[Any, ...]:
    """Compute the value of a function, and its Hessian times a vector, without the Hessian.

    The Hessian is symmetric, so its product with a vector is a vector-Jacobian product of the
    gradient: one backward pass for the gradient, one for the product. Arguments and errors are as
    for `jvp`; the function returns one number.

    Returns:
        The value, and the product: a tuple with a structure of tensors for each input. With
        `has_aux`, also the auxiliary output.

    Source: B. Pearlmutter, "Fast exact multiplication by the Hessian", 1994.

    Example:
        >>> import minigrad
        >>> from minigrad.func import hvp
        >>> x, v = minigrad.tensor([3.0, 5.0]), minigrad.tensor([1.0, 0.0])
        >>> hvp(lambda x: x[0] ** 2 * x[1], (x,), (v,))
        (tensor(45.), (tensor([10.,  6.]),))
    """
    call = _at("hvp", func, primals, has_aux)
    given = directions("hvp", primals, call.variables, tangents, "primals", "tangents")
    slopes = call.gradient(create=True)
    product = call.structured(pulled(slopes, call.variables, given, call.records(given)))
    return call.returned(call.value, product)


def _at(name: str, func: Function, primals: Any, has_aux: bool) -> Evaluation:
    """A call of the function in which all arguments are differentiated."""
    if not isinstance(primals, tuple):
        given = f"{type(primals).__name__}; for one argument write (x,)"
        raise TypeError(f"{name}: primals must be the tuple of the arguments, got {given}")
    return Evaluation(name, func, primals, {}, None, has_aux, around="primals")


def _derived(
    name: str, func: Function, argnums: Argnums, has_aux: bool,
    compute: Callable[[Evaluation], Any],
) -> Function:  # fmt: skip
    """The function of the same arguments that computes something of a call."""
    check_function(name, func)
    for i in argnums if isinstance(argnums, (tuple, list)) else (argnums,):
        if not isinstance(i, (int, np.integer)) or isinstance(i, bool):
            remedy = f"{name}(f) returns a function of f's arguments: write {name}(f)(x)"
            raise TypeError(f"{name}: argnums must be ints, got {type(i).__name__}; {remedy}")

    @functools.wraps(func, updated=())
    def derived(*args: Any, **kwargs: Any) -> Any:
        return compute(Evaluation(name, func, args, kwargs, argnums, has_aux))

    return derived


def _gradient(call: Evaluation) -> Any:
    return call.returned(call.structured(call.gradient(call.recorded)))


def _value_and_gradient(call: Evaluation) -> Any:
    gradient = call.structured(call.gradient(call.recorded))
    return call.returned(call.value), gradient


def by_rows(call: Evaluation, at_once: int = TOGETHER) -> Any:
    """The Jacobian: for each element of an output, its gradient."""

    def block(output: Any) -> list[Any]:
        def row(unit: Any) -> list[Any]:
            return pulled([output], call.variables, [unit], call.recorded, retain=True)

        return _for_units(call, row, output, call.variables, at_once)

    blocks = [call.structured(block(output)) for output in call.outputs]
    return call.returned(rebuilt(call.output, iter(blocks)))


def by_columns(call: Evaluation) -> Any:
    """The Jacobian: for each element of an input, the derivative of the outputs by it."""
    slopes, weights = transposed(call)

    def block(slope: Any, variable: Any) -> list[Any]:
        def column(unit: Any) -> list[Any]:
            return pulled([slope], weights, [unit], call.recorded, retain=True)

        found = _for_units(call, column, variable, call.outputs)
        first, last = tuple(range(variable._data.ndim)), tuple(range(-variable._data.ndim, 0))
        return [ops.moveaxis(part.astype(variable.dtype), first, last) for part in found]

    columns = [block(*one) for one in zip(slopes, call.variables, strict=True)]
    blocks = [call.structured(row) for row in zip(*columns, strict=True)]
    return call.returned(rebuilt(call.output, iter(blocks)))


def _for_units(
    call: Evaluation, pull: Callable[[Any], list[Any]], like: Any, results: list[Any],
    at_once: int = TOGETHER,
) -> list[Any]:  # fmt: skip
    """The results of a function for each unit vector of the shape of `like`; its axes are first."""
    shape, count = like._data.shape, like._data.size
    units = np.eye(count, dtype=like._data.dtype).reshape(count, *shape)
    found: list[Any] | None = None
    if count != 1:
        with contextlib.suppress(CannotMap):  # a rule decides by values
            found = vmap(pull, chunk_size=at_once)(units)
    if found is None:
        found = [ops.stack(parts) for parts in zip(*map(pull, units), strict=True)]
    return [
        (part if call.recorded else wrap(part._data)).reshape(*shape, *result.shape)
        for part, result in zip(found, results, strict=True)
    ]
