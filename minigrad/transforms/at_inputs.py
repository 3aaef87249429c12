"""Derivatives of a function at a tensor or a tuple of tensors: `minigrad.autograd.functional`.

Each takes the function and its `inputs` and computes at once; the products give the value of the
function too. A result has a history only with `create_graph`. With `strict`, a derivative that does
not exist in the graph is an error: an output that does not depend on an input, and, with
`create_graph`, a derivative that is constant. `minigrad.func` has transforms, which give functions,
can be nested, and take structures of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np

from minigrad.autograd.call import leaf_of
from minigrad.autograd.grad_mode import is_grad_enabled, set_grad_enabled
from minigrad.autograd.mutation import history
from minigrad.autograd.node import Variable
from minigrad.support.checks import check_choice
from minigrad.transforms import derivatives
from minigrad.transforms.evaluation import Evaluation, Table, check_dependence, directions, pulled

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

Function = Callable[..., Any]
Strategy = Literal["reverse-mode", "forward-mode"]


def jacobian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, strategy: Strategy = "reverse-mode",
) -> Any:  # fmt: skip
    r"""Compute the Jacobian of a function: each output element by each input element.

    Args:
        func: Takes tensors, returns a tensor or a tuple of tensors.
        inputs: Its argument, or the tuple of its arguments.
        create_graph: Whether the result can be differentiated.
        strict: Whether an output that does not depend on an input is an error; else that part is 0.
        vectorize: PyTorch's; up to 256 rows or columns are computed together in any case.
        strategy: "reverse-mode" computes by rows, "forward-mode" by columns, which pays for a
            function with many more outputs than inputs.

    Returns:
        A tensor of shape (\*output shape, \*input shape); for several inputs a tuple of them; for
        several outputs a tuple of these.

    Raises:
        RuntimeError: With `strict`, an output does not depend on an input, or a derivative is
            constant although `create_graph` is set; or `vectorize` is set too.
        TypeError: An input or output does not hold floats.
        ValueError: `strategy` is something else.

    Source: PyTorch 2.13, "torch.autograd.functional.jacobian".

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import jacobian
        >>> jacobian(lambda x: x * x, minigrad.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])
    """
    return _jacobian("jacobian", func, inputs, create_graph, strict, vectorize, strategy)


def hessian(
    func: Function, inputs: Any, create_graph: bool = False, strict: bool = False,
    vectorize: bool = False, outer_jacobian_strategy: Strategy = "reverse-mode",
) -> Any:  # fmt: skip
    """Compute the second derivatives of a function of one number.

    Arguments and errors are as for `jacobian`, but the function returns one number.

    Returns:
        A tensor; for several inputs a tuple, with a tuple of tensors for each.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import hessian
        >>> hessian(lambda x: x[0] ** 2 * x[1], minigrad.tensor([3.0, 5.0]))
        tensor([[10.,  6.],
                [ 6.,  0.]])
    """

    def gradient(*given: Any) -> Any:
        call = _call("hessian", func, given if isinstance(inputs, (tuple, list)) else given[0])
        return call.structured(call.gradient(create=True))

    return _jacobian(
        "hessian", gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy
    )


def vjp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the value of a function, and the product of a vector and its Jacobian.

    Args:
        func: Takes tensors, returns a tensor or a tuple of tensors.
        inputs: Its argument, or the tuple of its arguments.
        v: The vector, as the value; 1 if omitted, for a function of one number.
        create_graph: Whether the results can be differentiated.
        strict: Whether an input that no output depends on is an error; else its part is 0.

    Returns:
        The value, and the product, as `inputs`.

    Raises:
        RuntimeError: `v` is missing; with `strict`, no output depends on an input, or a derivative
            is constant although `create_graph` is set.
        TypeError: An input or output does not hold floats, or `v` is of another dtype.
        ValueError: `v` has another shape or structure.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import vjp
        >>> vjp(lambda x: x * x, minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 10.0]))
        (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with set_grad_enabled(create_graph):
        call = _call("vjp", func, inputs)
        return _product(call, call.outputs, call.output, "output", v, strict)


def jvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the value of a function, and the product of its Jacobian and a vector.

    Arguments and errors are as for `vjp`, but `v` is as the inputs: 1 if omitted, for one number.

    Returns:
        The value, and the product, as the value.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import jvp
        >>> jvp(lambda x: x**3, minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 0.0]))
        (tensor([1., 8.]), tensor([3., 0.]))
    """
    with set_grad_enabled(create_graph):
        call = _call("jvp", func, inputs)
        given = _vector("jvp", "inputs", call.structured(call.variables), call.variables, v)
        if strict:
            _check("jvp", call.table(), by_output=create_graph and not any(map(history, given)))
        product = derivatives.along(call, *derivatives.transposed(call), given)
        return call.value, product


def hvp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the value of a function of one number, and the product of its Hessian and a vector.

    Arguments and errors are as for `jvp`. The Hessian is symmetric, so that `vhp` is the same.

    Returns:
        The value, and the product, as `inputs`.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import hvp
        >>> hvp(lambda x: (x**3).sum(), minigrad.tensor([1.0, 2.0]), minigrad.tensor([1.0, 1.0]))
        (tensor(9.), tensor([ 6., 12.]))
    """
    return _second("hvp", func, inputs, v, create_graph, strict)


def vhp(
    func: Function, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Compute the value of a function of one number, and the product of a vector and its Hessian.

    Arguments, results and errors are as for `hvp`.

    Example:
        >>> import minigrad
        >>> from minigrad.autograd.functional import vhp
        >>> vhp(lambda x: x**3, minigrad.tensor(2.0))
        (tensor(8.), tensor(12.))
    """
    return _second("vhp", func, inputs, v, create_graph, strict)


def _call(name: str, func: Function, inputs: Any) -> Evaluation:
    """A call of the function, whose derivatives have the structure of `inputs`."""
    several = isinstance(inputs, (tuple, list))
    given = tuple([_recorded(x) for x in (inputs if several else [inputs])])
    return Evaluation(name, func, given, {}, None if several else 0, False, around="inputs")


def _recorded(x: Any) -> Any:
    """An input; where results are recorded, one without a history is a leaf of its own."""
    plain = isinstance(x, Variable) and x._data.dtype.kind == "f" and history(x) is None
    return leaf_of(x._data, True) if plain and is_grad_enabled() else x


def _jacobian(
    name: str, func: Function, inputs: Any, create_graph: bool, strict: bool, vectorize: bool,
    strategy: str,
) -> Any:  # fmt: skip
    check_choice(name, "strategy", strategy, get_args(Strategy))
    if strict and vectorize:
        raise RuntimeError(f"{name}: strict=True and vectorize=True cannot be combined")
    with set_grad_enabled(create_graph):
        call = _call(name, func, inputs)
        if strict:
            for i, row in enumerate(call.table()):
                for j, gradient in enumerate(row):
                    check_dependence(name, f"output {i}", f"input {j}", [gradient], create_graph)
        by_rows = strategy == "reverse-mode"
        return derivatives.by_rows(call) if by_rows else derivatives.by_columns(call)


def _second(
    name: str, func: Function, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    """The value, and the product of the symmetric Hessian and a vector."""
    with set_grad_enabled(create_graph):
        call = _call(name, func, inputs)
        slopes = call.gradient(create=True)
        return _product(call, slopes, call.structured(slopes), "inputs", v, strict)


def _product(
    call: Evaluation, outputs: list[Any], like: Any, path: str, v: Any, strict: bool
) -> tuple[Any, Any]:
    """The value, and a vector times the Jacobian of `outputs`, the leaves of `like`."""
    given = _vector(call.name, path, like, outputs, v)
    if strict:
        constant = is_grad_enabled() and not any(map(history, given))
        _check(call.name, call.table(outputs), by_input=constant)
    product = pulled(outputs, call.variables, given, call.records(given))
    return call.value, call.structured(product)


def _vector(name: str, path: str, like: Any, tensors: Sequence[Any], v: Any) -> list[Any]:
    """The vector as tensors; ones for a single number."""
    if v is not None:
        return directions(name, like, tensors, v, path, "v")
    if len(tensors) != 1 or tensors[0]._data.size != 1:
        raise RuntimeError(f"{name}: v can be left out only where the {path} is one number")
    return directions(name, tensors[0], tensors, np.ones_like(tensors[0]._data), path, "v")


def _check(name: str, table: Table, by_input: bool = False, by_output: bool = False) -> None:
    """Check that each output depends on an input, and an output on each input.

    With `by_input`, or `by_output`, these derivatives must also have a history.
    """
    for i, row in enumerate(table):
        check_dependence(name, f"output {i}", "any input", row, by_output)
    for j, column in enumerate(zip(*table, strict=True)):
        check_dependence(name, "the output", f"input {j}", column, by_input)
