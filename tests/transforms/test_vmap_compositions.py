"""`vmap` within and around every other transform: what a loop in its place gives."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import func, ops
from minigrad.autograd import checkpoint

SETTING = """
def f(x): return m.tanh(w @ x)
def g(x): return m.sum(m.sin(f(x)) ** 2) * x[0]
def loss(p, x, y): return m.sum((m.tanh(x @ p["w"] + p["b"]) - y) ** 2)
def chosen(x): return m.sum(m.where(x > 0, m.exp(x), x ** 3))
p = {"w": w, "b": ys[0]}
"""
COMPOSITIONS = """
vmap(f)(xs)
vmap(lambda x: x.sum())(xs)
vmap(lambda x: x - x.mean())(xs)
vmap(lambda x: x / m.sqrt((x ** 2).sum()), 1, 1)(xs)
vmap(lambda x, y: m.matmul(x, y), (0, None))(xs, w)
vmap(lambda x, y: x @ y, (None, 1), 1)(w, xs.T)
vmap(vmap(lambda x, y: (x * y).sum(), (None, 0)), (0, None))(xs, ys)
vmap(vmap(m.exp))(xs)
vmap(lambda d: {"a": d["x"] * d["y"], "b": [d["x"].sum()]})({"x": xs, "y": ys})
vmap(lambda d: d["x"] + d["y"], ({"x": 0, "y": None},))({"x": xs, "y": ys[0]})
vmap(lambda x, s: x * s.sum(), (0, None))(xs, xs)
vmap(grad(g))(xs)
vmap(grad(chosen))(xs)
vmap(value_and_grad(g))(xs)
vmap(grad(loss), (None, 0, 0))(p, xs, ys)
grad(lambda q: vmap(loss, (None, 0, 0))(q, xs, ys).mean())(p)
vmap(jacrev(f))(xs)
vmap(jacfwd(f))(xs)
vmap(hessian(g))(xs)
vmap(grad(lambda x: grad(g)(x).sum()))(xs)
vmap(lambda x, v: hvp(g, (x,), (v,))[1][0])(xs, ys)
vmap(jacfwd(jacrev(f)))(xs)
jacrev(vmap(f))(xs)
jacfwd(vmap(f))(xs)
hessian(lambda x: vmap(g)(x).sum())(xs[:2])
vmap(lambda x, v: jvp(f, (x,), (v,))[1])(xs, ys)
jvp(vmap(f), (xs,), (ys,))
vmap(lambda x, v: vjp(f, x)[1](v)[0])(xs, ys)
vjp(vmap(f), xs)[1](ys)
vmap(lambda x, v: jvp(grad(g), (x,), (v,))[1])(xs, ys)
vmap(lambda v: linearize(f, xs[0])[1](v))(ys)
linearize(vmap(f), xs)[1](ys)
grad(lambda x: vmap(grad(g))(x).sum())(xs)
grad(lambda x: grad(lambda z: vmap(g)(z).sum())(x)[0].sum())(xs)
vmap(grad(lambda x: vmap(lambda y: (x * y).sum() ** 2)(ys).sum()))(xs)
vmap(lambda x: vmap(grad(lambda y: m.sum(m.sin(x * y))))(ys))(xs)
vmap(grad(lambda x: checkpoint(g, x)))(xs)
vmap(lambda x: x[1:] * x[0])(xs)
vmap(lambda x, i: x[i], (0, 0))(xs, m.argsort(xs, 1))
vmap(lambda x: m.sort(x)[::-1])(xs)
vmap(grad(lambda x: (m.sort(x) * ys[0]).sum()))(xs)
vmap(lambda x: m.cumsum(x) @ m.linalg.inv(w))(xs)
vmap(grad(lambda x: m.linalg.det(w * x).sum()))(xs)
vmap(grad(lambda x: m.median(x) * x.max()))(xs)
""".strip().splitlines()


def by_loop(function: Callable[..., Any], in_dims: Any = 0, out_dims: int = 0) -> Any:
    """`vmap` as it is explained: the results of all samples, stacked."""

    def mapped(*args: Any) -> Any:
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        results = []
        while True:
            try:
                given = [sample(*pair, len(results)) for pair in zip(args, dims, strict=True)]
            except IndexError:
                return stacked(results, out_dims)
            results.append(function(*given))

    return mapped


def sample(argument: Any, dim: Any, i: int) -> Any:
    """A sample of an argument, or of each in a dict."""
    if isinstance(argument, dict):
        dims = dim if isinstance(dim, dict) else dict.fromkeys(argument, dim)
        return {key: sample(part, dims[key], i) for key, part in argument.items()}
    return argument if dim is None else argument.swapaxes(0, dim)[i]


def stacked(results: list[Any], dim: int) -> Any:
    """The results of all samples, in the structure of one."""
    first = results[0]
    if isinstance(first, dict):
        return {key: stacked([one[key] for one in results], dim) for key in first}
    if isinstance(first, (list, tuple)):
        return [stacked([*parts], dim) for parts in zip(*results, strict=True)]
    return ops.stack(results, dim)


def leaves(value: Any) -> list[Any]:
    """The tensors in a structure."""
    if isinstance(value, (dict, list, tuple)):
        parts = value.values() if isinstance(value, dict) else value
        return [leaf for part in parts for leaf in leaves(part)]
    return [value.detach().numpy()]


def names_with(vmap: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    names: dict[str, Any] = {name: getattr(func, name) for name in func.__all__}
    names |= {"m": ops, "checkpoint": checkpoint, "vmap": vmap}
    for name, rows in (("xs", 5), ("ys", 5), ("w", 3)):
        names[name] = minigrad.tensor(rng.standard_normal((rows, 3)))
    exec(SETTING, names)
    return names


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_it_is_what_a_loop_computes(composition: str) -> None:
    found, wanted = (leaves(eval(composition, names_with(v))) for v in (func.vmap, by_loop))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("function", ["vmap(grad(g))", "vmap(hessian(g))", "vmap(jacfwd(f))"])
def test_captured_it_is_the_same(function: str) -> None:
    names = names_with(func.vmap)
    plain, xs = eval(function, names), names["xs"]
    step = minigrad.capture(plain)
    for _ in range(4):
        np.testing.assert_allclose(step(xs).numpy(), plain(xs).numpy(), rtol=1e-9, atol=1e-10)
