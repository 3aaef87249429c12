"""`vmap` and every composition of transforms beside JAX, in float64.

JAX runs in a process of its own, once: its threads would disturb tests that fork.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import func, ops
from minigrad.autograd import checkpoint

pytestmark = [pytest.mark.needs("jax"), pytest.mark.long]  # .ci/beside-jax runs it

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
vmap(jacfwd(jacrev(f)))(xs)
jacrev(vmap(f))(xs)
jacfwd(vmap(f))(xs)
hessian(lambda x: vmap(g)(x).sum())(xs[:2])
jacfwd(f)(xs[0])
jacrev(f)(xs[0])
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

SCRIPT = f"""
import json, sys
import jax, jax.numpy as m, numpy as np
jax.config.update("jax_enable_x64", True)
from jax import (
    grad, hessian, jacfwd, jacrev, jvp, linearize, value_and_grad, vjp, vmap,
)
checkpoint = lambda f, *args: jax.checkpoint(f)(*args)
xs, ys, w = (m.asarray(np.asarray(one)) for one in json.loads(sys.argv[1]))
exec({SETTING!r})
leaves = [[np.asarray(leaf).tolist() for leaf in jax.tree_util.tree_leaves(eval(line))]
          for line in json.loads(sys.argv[2])]
print(json.dumps(leaves))
"""


def given() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.standard_normal(shape) for shape in ((5, 3), (5, 3), (3, 3))]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The results of JAX, by composition, each as a list of its arrays."""
    script = tmp_path_factory.mktemp("jax") / "compositions.py"
    script.write_text(SCRIPT, encoding="utf-8")
    arrays = json.dumps([array.tolist() for array in given()])
    command = [sys.executable, str(script), arrays, json.dumps(COMPOSITIONS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(COMPOSITIONS, json.loads(done.stdout.splitlines()[-1]), strict=True))


def leaves(value: Any) -> list[Any]:
    """The tensors in a structure; those of a dict by its sorted keys, as JAX has it."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for part in value for leaf in leaves(part)]
    return [value.detach().numpy()]


@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_it_is_what_jax_computes(composition: str, theirs: dict[str, list[Any]]) -> None:
    xs, ys, w = map(minigrad.tensor, given())
    names: dict[str, Any] = {"m": ops, "xs": xs, "ys": ys, "w": w, "checkpoint": checkpoint}
    names |= {name: getattr(func, name) for name in func.__all__}
    exec(SETTING, names)
    ours = leaves(eval(composition, names))
    for one, other in zip(ours, theirs[composition], strict=True):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-9, atol=1e-10)


def test_captured_it_is_the_same(theirs: dict[str, list[Any]]) -> None:
    xs, ys, w = map(minigrad.tensor, given())
    names: dict[str, Any] = {"m": ops, "w": w, "ys": ys}
    exec(SETTING, names)
    calls: dict[str, Callable[..., Any]] = {
        "vmap(grad(g))(xs)": func.vmap(func.grad(names["g"])),
        "vmap(hessian(g))(xs)": func.vmap(func.hessian(names["g"])),
        "vmap(jacfwd(f))(xs)": func.vmap(func.jacfwd(names["f"])),
    }
    for composition, call in calls.items():
        step = minigrad.capture(call)
        for _ in range(4):
            found = step(xs)
        np.testing.assert_allclose(found.numpy(), theirs[composition][0], rtol=1e-9, atol=1e-10)
