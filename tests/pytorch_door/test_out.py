"""`out=` wherever PyTorch's documentation has it: the same tensor, values, and refusals."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import torch as door

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:torch", "ignore:.*deprecated")

X, Y = "t.tensor([[0.5, 0.25], [0.75, 0.125]])", "t.tensor([[0.25, 0.5], [0.5, 1.0]])"
FAMILIES = {
    f"{X}, {Y}": "matmul kron mm vecdot",
    f"{X}, 0": """
        all amax amin any cummax cummin cumprod cumsum logcumsumexp logsumexp max mean median min
        mode nanmean nanmedian std var""",
    f"{X},": "aminmax diff histc logit msort nan_to_num nonzero qr sort tril triu vector_norm",
    f"[{X}, {Y}],": """
        cat column_stack concat concatenate dstack hstack multi_dot row_stack stack vstack""",
    "t.eye(2) * 2,": """
        cholesky cholesky_inverse cholesky_ex cond det eigh eigvalsh inv inv_ex inverse lu lu_factor
        lu_factor_ex matrix_rank pinv slogdet""",
    "t.tensor([0.5, 2.0]), t.tensor([1.0, 0.25])": "dot ger inner outer vdot",
    f"t.stack([{X}, {Y}]), t.stack([{Y}, {X}])": "bmm",
    "t.tensor([[1, 2], [3, 0]]), t.tensor([[2, 2], [6, 1]])": """
        bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor gcd lcm""",
    f"{X}, {X}, {Y}": "addcdiv addcmul addmm",
    f"{X}, 0.2, 0.6": "clamp clip",
    f"{X}, 1": "kthvalue topk",
    f"{X}, 2": "float_power matrix_power pow",
    f"{X} + 3, 2": "multigammaln mvlgamma",
    f"{X}, 2, 0": "norm",
    f"{X} + 1,": "acosh",
    "0, 4, 3": "linspace logspace",
    "2, 2": "empty eye ones zeros",
    "0, 4": "arange range",
}  # fmt: skip
OTHERS = {
    "addbmm": f"{X}, t.ones(2, 2, 2), t.ones(2, 2, 2)", "addmv": "t.ones(2), t.eye(2), t.ones(2)",
    "addr": f"{X}, t.ones(2), t.ones(2)", "baddbmm": "*[t.ones(2, 2, 2)] * 3",
    "bitwise_not": "t.tensor([1, 2]),", "bucketize": f"{X}, t.tensor([0.3, 0.6])",
    "cholesky_solve": "t.ones(2, 1), t.eye(2) * 2", "cross": "t.ones(3), t.eye(3)[0]",
    "diag": "t.ones(2),", "full": "(2, 2), 3.0", "gather": f"{X}, 0, t.tensor([[1, 0]])",
    "heaviside": f"{X}, {Y}", "index_select": f"{X}, 0, t.tensor([1])", "ldexp": f"{X}, {Y}",
    "histogram": f"{X}, 4", "lerp": f"{X}, {Y}, 0.3", "lu_solve": f"*t.linalg.lu_factor({X}), {Y}",
    "lu_unpack": f"*t.linalg.lu_factor({X}),", "masked_select": f"{X}, {X} > 0.3",
    "matrix_norm": f"{X},", "mv": f"{X}, t.ones(2)",
    "narrow_copy": f"{X}, 0, 0, 1", "polygamma": f"1, {X}", "quantile": f"{X}, 0.5, 0",
    "renorm": f"{X}, 2, 0, 0.3", "round": f"{X} * 9,",
    "searchsorted": f"t.tensor([0.3, 0.6]), {X}", "solve": f"{X}, t.ones(2)",
    "solve_ex": f"{X}, t.ones(2)",
    "take_along_dim": f"{X}, t.tensor([[1, 0]]), 0", "tensorinv": "t.eye(4).reshape(4, 2, 2), 1",
    "tensorsolve": "t.eye(4).reshape(2, 2, 4), t.ones(2, 2)", "where": f"{X} > 0.3, {X}, {Y}",
}  # fmt: skip
ARGUMENTS = {name: text for text, names in FAMILIES.items() for name in names.split()} | OTHERS
NOT_COMPARED = """
chain_matmul solve_triangular bernoulli multinomial normal ones_like rand randint randn randperm
std_mean svd var_mean zeros_like"""
"""Random results, signs that may differ, and what is deprecated or has no `out` in truth."""
GRADIENTS = """
conj_physical diag floor_divide heaviside inner lu quantile linalg.cond linalg.matrix_norm
linalg.norm
linalg.tensorinv linalg.tensorsolve special.ndtr"""
"""Where an argument with a gradient is refused here or there alone: PyTorch composes some."""


def of_pytorch() -> Iterator[str]:
    """The functions of minigrad whose documentation in PyTorch has `out`."""
    for path in ("", "linalg.", "special."):
        theirs, ours = (eval(f"t.{path}".rstrip("."), {"t": t}) for t in (torch, door))
        for name in dir(theirs):
            text = getattr(theirs, name).__doc__
            described = isinstance(text, str) and re.search(r"\bout=|\bout \((Tensor|tuple)", text)
            if described and name in vars(ours) and name not in NOT_COMPARED.split():
                yield path + name


def parts_of(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def written(t: Any, name: str) -> list[Any]:
    """What a function writes over empty tensors, and whether it refuses a gradient."""
    known = ARGUMENTS.get(name.rpartition(".")[2], f"{X}, {Y}")
    function, args = eval(f"t.{name}", {"t": t}), eval(f"[{known}]", {"t": t})
    args = args if name in ARGUMENTS or is_of_two(function, args) else args[:1]
    plain = function(*args)
    outs = tuple(t.empty(0, dtype=part.dtype) for part in parts_of(plain))
    out = outs if isinstance(plain, tuple) else outs[0]
    found = function(*args, out=out)
    assert all(part is one for part, one in zip(parts_of(found), outs, strict=True))
    if not name.endswith("empty"):
        for part, one in zip(parts_of(plain), outs, strict=True):
            np.testing.assert_array_equal(one.numpy(), part.numpy())
    asked = [x.clone().requires_grad_() if isinstance(x, t.Tensor) and x.dtype == t.float32 else x
             for x in args]  # fmt: skip
    refused = "no"
    if any(a is not b for a, b in zip(args, asked, strict=True)):
        with t.no_grad():
            function(*asked, out=out)
        try:
            function(*asked, out=out)
        except RuntimeError as error:
            refused = "out=" in str(error)
    return [type(found).__name__, refused, *[one.shape for one in outs]]


def is_of_two(function: Any, args: Any) -> bool:
    try:
        function(*args)
    except (TypeError, RuntimeError):
        return False
    return True


@pytest.mark.parametrize("name", [*of_pytorch()])
def test_a_function_writes_its_result_as_in_pytorch(name: str) -> None:
    expected, found = written(torch, name), written(door, name)
    if name in GRADIENTS.split():
        expected[1] = found[1] = None
    assert found[1:] == expected[1:]


@pytest.mark.parametrize("t", [torch, minigrad])
def test_shapes_and_dtypes(t: Any) -> None:
    """Another shape is taken, with a warning; a float is not written into integers."""
    x, out = t.ones(2), t.ones(3)
    with pytest.warns(UserWarning, match="resized"):
        t.add(x, 1, out=out)
    assert out.tolist() == [2, 2]
    for function, wrong in (
        (t.exp, t.zeros(2, dtype=t.int64)), (t.frac, t.zeros(2, dtype=t.int64)), (t.exp, 3),
        (t.sort, t.zeros(2)), (t.sort, (t.zeros(2),)),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, TypeError), match=r"out|tuple|dtype|cast"):
            function(x, out=wrong)
    base = t.zeros(2, 2)
    t.mul(base[0] + 1, 3, out=base[0])
    assert base.tolist() == [[3, 3], [0, 0]]
    assert t.zeros(2, out=x) is x
    assert x.tolist() == [0, 0]
