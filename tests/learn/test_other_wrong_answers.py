"""Wrong answers beside those of the exercises: what is said of them, and that none is accepted.

They were collected before their diagnoses were written. A name in `exercise.diagnoses` states or
asks for a cause; a name in `GENERAL` says what was seen.
"""

from __future__ import annotations

import pytest

from minigrad.learn.exercise import Exercise, Wrong, exercise
from minigrad.learn.running import run_text

SLOPE = "(f(x + h) - f(x - h)) / (2 * h)"
EXACT = "3 * x * x - 2"
CHAIN = "df(g(x)) * dg(x)"
USES = "grad_b * a + grad_b * a + grad_c"
ROWS = "rows.T @ g.reshape(-1, g.shape[-1])"
SUMMED = "(g * y).sum(axis=-1, keepdims=True)"
SLOPES = "g[..., None] * np.exp(x - out[..., None])"
GRAD_X = "rstd * (h - through_mean - through_variance)"
VARIANCE = "through_variance = xhat * (h * xhat).mean(axis=-1, keepdims=True)"

ANSWERS: dict[int, list[Wrong]] = {
    1: [
        Wrong("measured", code="return numerical_slope(f, x)", gap=2),
        Wrong("measured", code="h = 1e-6\nreturn (f(x + h) - f(x - h)) / (2 * h)", gap=2),
        Wrong("measured", code="return (f(x + 1e-3) - f(x)) / 1e-3", gap=2),
        Wrong("plus", (SLOPE, "(f(x + h) + f(x - h)) / (2 * h)")),
        Wrong("parentheses", (SLOPE, "f(x + h) - f(x - h) / (2 * h)")),
        Wrong("halved", (SLOPE, "(f(x + h) - f(x - h)) / 2")),
        Wrong("half-change", (SLOPE, "(f(x + h) - f(x)) / (2 * h)")),
        Wrong("position", (SLOPE, "(f(x + h) - f(x - h)) / (2 * x)")),
        Wrong("another-h", (SLOPE, "(f(x + 1e-4) - f(x - 1e-4)) / 2e-4")),
        Wrong("another-h", (SLOPE, "exact_slope(x)")),
        Wrong("constant-sign", (EXACT, "3 * x * x + 2")),
        Wrong("square-lost", (EXACT, "3 * x - 2")),
        Wrong("exponent", (EXACT, "3 * x**3 - 2")),
        Wrong("another-factor", (EXACT, "2 * x * x - 2")),
        Wrong("constant", (EXACT, "3 * x * x - 1")),
        Wrong("second", (EXACT, "6 * x")),
    ],
    2: [
        Wrong("inner-place", (CHAIN, "df(g(x)) * dg(g(x))")),
        Wrong("inner", (CHAIN, "df(x)")),
        Wrong("nested", (CHAIN, "df(dg(x)) * dg(x)")),
        Wrong("nested", (CHAIN, "dg(df(x))")),
        Wrong("divided", (CHAIN, "df(g(x)) / dg(x)")),
        Wrong("value", (CHAIN, "df(g(x)) * g(x)")),
        Wrong("outer", (CHAIN, "g(x) * dg(x)")),
        Wrong("of-result", ("grad_a * (2 * x)", "grad_a * (2 * a)")),
        Wrong("two", ("grad_a * (2 * x)", "grad_a * x")),
        Wrong("value", ("grad_a * (2 * x)", "grad_a * a")),
        Wrong("value", ("grad_y * y", "grad_y * b")),
        Wrong("exp-at-a", ("grad_y * y", "grad_y * np.exp(a)")),
        Wrong("value", ("grad_b * -1", "grad_b * b")),
        Wrong("local", ("grad_b * -1", "grad_y * -1")),
        Wrong("reversed", ("return grad_b, grad_a, grad_x", "return grad_x, grad_a, grad_b")),
        Wrong("both", ("grad_a * (2 * x)", "grad_b * grad_a * (2 * x)")),
        Wrong("sign", (CHAIN, "-df(g(x)) * dg(x)")),
    ],
    3: [
        Wrong("product", ("grads.get(name, 0.0) + value", "grads.get(name, 1.0) * value")),
        Wrong("largest", ("grads.get(name, 0.0) + value", "max(grads.get(name, value), value)")),
        Wrong("listed", ("grads.get(name, 0.0) + value", "grads.get(name, []) + [value]")),
        Wrong("counted", ("grads.get(name, 0.0) + value", "grads.get(name, 0.0) + 1")),
        Wrong("begun-with-1", ("grads.get(name, 0.0) + value", "grads.get(name, 1.0) + value")),
        Wrong(
            "all-names",
            ("    return grads\n", "    return dict.fromkeys(grads, sum(grads.values()))\n"),
        ),
        Wrong("slope-of-square", (USES, "grad_b * 2 + grad_c")),
        Wrong("slope-of-sum", (USES, "2 * grad_b * a + grad_c * x")),
        Wrong("slope-of-sum", (USES, "2 * grad_b * a + grad_c * a")),
        Wrong("minus", (USES, "2 * grad_b * a - grad_c")),
        Wrong("w-missing", ("grad_a * w + grad_c", "grad_a + grad_c")),
        Wrong("own", ("grad_a * w + grad_c", "grad_a * x + grad_c")),
        Wrong("multiplied", ("grad_a * w + grad_c", "grad_a * w * grad_c")),
        Wrong("slope-of-sum", ("grad_a * w + grad_c", "grad_a * w + grad_c * x")),
        Wrong("b-for-c", ("grad_a * w + grad_c", "grad_a * w + grad_b")),
        Wrong("not-used", ("grad_w = grad_a * x", "grad_w = grad_a * x + grad_c")),
        Wrong("reordered", ("return grad_a, grad_x, grad_w", "return grad_x, grad_a, grad_w")),
    ],
    4: [
        Wrong("of-the-dictionary", code="return list(parents)[::-1]"),
        Wrong("of-the-dictionary", code="return list(parents)"),
        Wrong("of-the-names", code="return sorted(parents, reverse=True)"),
        Wrong(
            "of-the-dictionary",
            ("    order = []\n", "    return [name for name in parents if name in uses][::-1]\n"),
        ),
        Wrong(
            "early",
            code="""
            from collections import deque
            order, queue = [], deque([output])
            while queue:
                value = queue.popleft()
                if value not in order:
                    order.append(value)
                    queue.extend(parents[value])
            return order
            """,
        ),
        Wrong(
            "early",
            code="""
            order = []

            def walk(value):
                if value not in order:
                    order.append(value)
                    for parent in parents[value]:
                        walk(parent)

            walk(output)
            return order
            """,
        ),
        Wrong(
            "early",
            code="""
            level, queue = {output: 0}, [output]
            for value in queue:
                for parent in parents[value]:
                    if parent not in level:
                        level[parent] = level[value] + 1
                        queue.append(parent)
            return sorted(level, key=level.get)
            """,
        ),
        Wrong(
            "forward",
            code="""
            order, done, stack = [], set(), [(output, False)]
            while stack:
                value, ready = stack.pop()
                if ready:
                    order.append(value)
                elif value not in done:
                    done.add(value)
                    stack += [(value, True), *((parent, False) for parent in parents[value])]
            return order
            """,
        ),
        Wrong("lost", ("    return order\n", "    return order[1:]\n")),
        Wrong("form", ("    return order\n", "    return tuple(order)\n")),
        Wrong("form", ("    return order\n", "    yield from order\n")),
        Wrong(
            "uses-of-others",
            code="""
            uses = {name: 0 for name in parents}
            for name in parents:
                for parent in parents[name]:
                    uses[parent] += 1
            order, ready = [], [output]
            while ready:
                value = ready.pop()
                order.append(value)
                for parent in parents[value]:
                    uses[parent] -= 1
                    if uses[parent] == 0:
                        ready.append(parent)
            return order
            """,
        ),
        Wrong(
            "counted-once",
            (
                "        for parent in parents[value]:\n            if parent not in uses:",
                "        for parent in {*parents[value]}:\n            if parent not in uses:",
            ),
        ),
        Wrong(
            "early",
            ("            if uses[parent] == 0:", "            if parent not in ready:"),
            (
                "    while ready:\n        value = ready.pop()\n        order.append(value)\n",
                "    for value in ready:\n        order.append(value)\n",
            ),
        ),
        Wrong(
            "paths",
            code="""
            order, queue = [], [output]
            for value in queue:
                queue.extend(parents[value])
            for value in queue[::-1]:
                if value not in order:
                    order.append(value)
            return order[::-1]
            """,
        ),
    ],
    5: [
        Wrong(
            "unreached",
            code="""
            order, done, stack = [], set(), [(self, False)]
            while stack:
                value, ready = stack.pop()
                if ready:
                    order.append(value)
                elif value not in done:
                    done.add(value)
                    stack.append((value, True))
                    stack.extend((parent, False) for parent in value.parents)
            self.grad = 1.0
            for value in order:
                for parent, slope in zip(value.parents, value.slopes):
                    parent.grad += slope * value.grad
            """,
            gap=4,
        ),
        Wrong(
            "emptied",
            (
                "        self.grad = 1.0\n",
                "        for value in found:\n            value.grad = 0.0\n"
                "        self.grad = 1.0\n",
            ),
        ),
        Wrong("seed-added", ("        self.grad = 1.0\n", "        self.grad += 1\n")),
        Wrong("op-name", ('(other.data, self.data), "*")', '(other.data, self.data), "+")')),
        Wrong("op-name", ('(1 - y * y,), "tanh")', "(1 - y * y,))")),
        Wrong("plus", ("(1 - y * y,)", "(1 + y * y,)")),
        Wrong("sigmoid", ("(1 - y * y,)", "(y * (1 - y),)")),
        Wrong("of-input", ("(1 - y * y,)", "(1 - self.data,)")),
        Wrong("minus-last", ("n * self.data ** (n - 1)", "n * self.data**n - 1")),
        Wrong("exponential", ("n * self.data ** (n - 1)", "self.data**n * math.log(self.data)")),
        Wrong("like-sum", ("(other.data, self.data)", "(1.0, 1.0)")),
        Wrong(
            "own",
            ("(self, other), (other.data, self.data)", "(other, self), (other.data, self.data)"),
        ),
        Wrong(
            "not-added", ("parent.grad += slope * value.grad", "parent.grad *= slope * value.grad")
        ),
        Wrong("local", ("slope * value.grad", "slope * self.grad")),
        Wrong("added", ("+= slope * value.grad", "+= slope + value.grad")),
        Wrong("sign", ("parent.grad += slope", "parent.grad -= slope")),
        Wrong(
            "unreached",
            code="""
            self.grad = 1.0
            for parent, slope in zip(self.parents, self.slopes):
                parent.grad += slope * self.grad
            """,
            gap=4,
        ),
        Wrong(
            "early",
            code="""
            seen = set()

            def walk(value):
                if value not in seen:
                    seen.add(value)
                    for parent, slope in zip(value.parents, value.slopes):
                        parent.grad += slope * value.grad
                    for parent in value.parents:
                        walk(parent)

            self.grad = 1.0
            walk(self)
            """,
            gap=4,
        ),
        Wrong("values", ("y = math.tanh(self.data)", "y = math.tan(self.data)")),
    ],
    6: [
        Wrong("front-only", code="return g.sum(axis=0) if g.ndim > len(shape) else g"),
        Wrong("extra-axis", code="return g.sum(axis=0, keepdims=True)"),
        Wrong("ValueError", code="return g.reshape(shape)"),
        Wrong("one-row", code="return np.resize(g, shape)"),
        Wrong("one-row", code="while g.ndim > len(shape):\n    g = g[-1]\nreturn g"),
        Wrong("largest", code="return g.max(axis=tuple(range(g.ndim - len(shape))))"),
        Wrong("product", code="return g.prod(axis=tuple(range(g.ndim - len(shape))))"),
        Wrong("axis", code="return g.T.sum(axis=0) if g.ndim > len(shape) else g"),
        Wrong("factor", code="g = g.sum(axis=tuple(range(g.ndim - len(shape))))\nreturn g / 2"),
        Wrong("like-sum", code="return unbroadcast(g, a.shape), unbroadcast(g, b.shape)", gap=2),
        Wrong(
            "other-shape",
            code="return unbroadcast(g * b, b.shape), unbroadcast(g * a, a.shape)",
            gap=2,
        ),
        Wrong(
            "added", code="return unbroadcast(g + b, a.shape), unbroadcast(g + a, b.shape)", gap=2
        ),
        Wrong(
            "divided", code="return unbroadcast(g / b, a.shape), unbroadcast(g / a, b.shape)", gap=2
        ),
        Wrong("unsummed", code="return unbroadcast(g * b, a.shape), g * a", gap=2),
        Wrong(
            "both",
            code="return unbroadcast(g * a * b, a.shape), unbroadcast(g * a * b, b.shape)",
            gap=2,
        ),
    ],
    7: [
        Wrong("reshape", ("return g @ b.T", "return g @ b.reshape(b.shape[::-1])")),
        Wrong("reshape", ("a.T @ g\n", "a.reshape(a.shape[::-1]) @ g\n")),
        Wrong(
            "inverse",
            ("return g @ b.T, a.T @ g", "return g @ np.linalg.pinv(b), np.linalg.pinv(a) @ g"),
        ),
        Wrong("transposed", ("return g @ b.T, a.T @ g", "return (g @ b.T).T, (a.T @ g).T")),
        Wrong("no-g", ("return g @ b.T, a.T @ g", "return np.ones_like(g) @ b.T, a.T @ g")),
        Wrong("local", ("return g @ b.T, a.T @ g", "return b.T, a.T")),
        Wrong("own", ("return g @ b.T", "return g @ a.T")),
        Wrong("reversed", (ROWS, "x.T @ g")),
        Wrong("reversed", (ROWS, "(x.T @ g).sum(axis=0)")),
        Wrong("reshape", (ROWS, "x.reshape(x.shape[-1], -1) @ g.reshape(-1, g.shape[-1])")),
        Wrong("transpose", ("grad_x = g @ w.T", "grad_x = g @ w")),
        Wrong("transposed", (ROWS, "g.reshape(-1, g.shape[-1]).T @ rows")),
        Wrong("mean", (ROWS, ROWS + " / len(x)")),
        Wrong("mean", (ROWS, ROWS + " / x.shape[1]")),
        Wrong("length", (ROWS, 'np.einsum("blm,blp->lmp", x, g)')),
        Wrong("summed-first", (ROWS, "x.sum(axis=0).T @ g.sum(axis=0)")),
        Wrong("summed-first", (ROWS, "np.outer(x.sum(axis=(0, 1)), g.sum(axis=(0, 1)))")),
    ],
    8: [
        Wrong(
            "two-axes",
            (
                "    np.add.at(grad, index, g)  # unlike grad[index] += g, it adds for every use\n",
                "    for row, one in zip(index, g):\n        grad[row] += one\n",
            ),
        ),
        Wrong(
            "two-axes",
            (
                "    np.add.at(grad, index, g)  # unlike grad[index] += g, it adds for every use\n",
                "    for i in range(len(index)):\n        grad[index[i]] += g[i]\n",
            ),
        ),
        Wrong("first-column", ("np.add.at(grad, index, g)", "np.add.at(grad, index, g[..., :1])")),
        Wrong("largest", ("np.add.at(grad, index, g)", "np.maximum.at(grad, index, g)")),
        Wrong("absolute", ("np.add.at(grad, index, g)", "np.add.at(grad, abs(index), g)")),
        Wrong("sign", ("np.add.at(grad, index, g)", "np.subtract.at(grad, index, g)")),
        Wrong("sorted", ("np.add.at(grad, index, g)", "np.add.at(grad, np.sort(index), g)")),
        Wrong("begun-with-1", ("np.zeros((rows,", "np.ones((rows,")),
        Wrong("shape", ("np.zeros((rows, g.shape[-1]))", "np.zeros((rows + 1, g.shape[-1]))")),
        Wrong("every-row", code="return np.zeros((rows, 1)) + g.reshape(-1, 2).sum(axis=0)"),
        Wrong("prefix", code="return g[: len(index)]", gap=2),
        Wrong("once", code="return g[np.unique(index)]", gap=2),
        Wrong("sorted", code="return g[np.sort(index)]", gap=2),
        Wrong(
            "multiplied", code="return g[index] * (index[:, None] == index).sum(1)[:, None]", gap=2
        ),
        Wrong("no-g", code="return np.ones((len(index), 2))", gap=2),
        Wrong("summed", code="return np.zeros((len(index), 1)) + g[index].sum(axis=0)", gap=2),
    ],
    9: [
        Wrong("results", ("count = x.size if axis is None else x.shape[axis]", "count = g.size")),
        Wrong("last-axis", ("else x.shape[axis]", "else x.shape[-1]")),
        Wrong(
            "axes-counted", ("count = x.size if axis is None else x.shape[axis]", "count = x.ndim")
        ),
        Wrong(
            "multiplied", ("sum_backward(g, x, axis) / count", "sum_backward(g, x, axis) * count")
        ),
        Wrong("aligned", code="return np.repeat(g, x.size // g.size).reshape(x.shape)"),
        Wrong("aligned", code="return np.resize(g, x.shape)"),
        Wrong(
            "times-x",
            ("return np.broadcast_to(g, x.shape)", "return np.broadcast_to(g, x.shape) * x"),
        ),
        Wrong(
            "last",
            code="""
            grad = np.zeros(x.shape)
            y = x.max(axis=axis, keepdims=True)
            g = np.reshape(g, y.shape)
            for place in np.ndindex(y.shape):
                line = tuple(slice(None) if size == 1 else i for i, size in zip(place, y.shape))
                best = np.argwhere(x[line] == y[place])[-1]
                grad[line][tuple(best)] = g[place]
            return grad
            """,
            gap=3,
        ),
        Wrong("all-largest", ("/ largest.sum(axis=axis, keepdims=True)", "/ largest.sum()")),
        Wrong(
            "shares",
            (
                "* largest / largest.sum(axis=axis, keepdims=True)",
                "* largest / (x.size if axis is None else x.shape[axis])",
            ),
        ),
        Wrong("smallest", ("largest = x == x.max(", "largest = x == x.min(")),
        Wrong("keepdims", ("/ largest.sum(axis=axis, keepdims=True)", "/ largest.sum(axis=axis)")),
        Wrong(
            "sign",
            (
                "return sum_backward(g, x, axis) * largest",
                "return -sum_backward(g, x, axis) * largest",
            ),
        ),
        Wrong("all-g", code="return np.full(x.shape, g.sum())"),
    ],
    10: [
        Wrong("out-aligned", (SLOPES, "g[..., None] * np.exp(x - out)")),
        Wrong(
            "ValueError",
            (SLOPES, "(g * np.exp(x - out[..., None]).T).T"),
        ),
        Wrong("one-axis", (SLOPES, "g[:, None] * np.exp(x - out[:, None])")),
        Wrong(
            "not-the-largest",
            ("m = x.max(axis=-1, keepdims=True)", "m = x.mean(axis=-1, keepdims=True)"),
        ),
        Wrong(
            "not-the-largest",
            ("m = x.max(axis=-1, keepdims=True)", "m = x.min(axis=-1, keepdims=True)"),
        ),
        Wrong(
            "small", ("m = x.max(axis=-1, keepdims=True)", "m = abs(x).max(axis=-1, keepdims=True)")
        ),
        Wrong("mean", ("np.exp(x - m).sum(axis=-1)", "np.exp(x - m).mean(axis=-1)")),
        Wrong("base", ("return np.log(", "return np.log10(")),
        Wrong("log-inside", code="return np.log(np.exp(x)).sum(axis=-1)"),
        Wrong(
            "axis",
            ("x.max(axis=-1, keepdims=True)", "x.max(axis=1, keepdims=True)"),
            (
                "np.exp(x - m).sum(axis=-1)) + m[..., 0]",
                "np.exp(x - m).sum(axis=1)) + m.squeeze(1)",
            ),
        ),
        Wrong("exponent-sign", (SLOPES, "g[..., None] * np.exp(out[..., None] - x)")),
        Wrong("everything", (SLOPES, "g[..., None] * np.exp(x) / np.exp(x).sum()")),
        Wrong(
            "like-softmax",
            (
                SLOPES,
                "g[..., None] * np.exp(x - out[..., None]) * (1 - np.exp(x - out[..., None]))",
            ),
        ),
        Wrong("like-max", code="return g[..., None] * (x == x.max(axis=-1, keepdims=True))", gap=2),
        Wrong("sign", (SLOPES, "-" + SLOPES)),
        Wrong(
            "shifted", code="return g[..., None] * np.exp(x - x.max(axis=-1, keepdims=True))", gap=2
        ),
        Wrong(
            "clipped",
            (
                "m = x.max(axis=-1, keepdims=True)",
                "x = np.clip(x, -700, 700)\n    m = x.max(axis=-1, keepdims=True)",
            ),
        ),
    ],
    11: [
        Wrong(
            "not-the-largest", ("x.max(axis=-1, keepdims=True)", "x.mean(axis=-1, keepdims=True)")
        ),
        Wrong(
            "not-the-largest", ("x.max(axis=-1, keepdims=True)", "x.min(axis=-1, keepdims=True)")
        ),
        Wrong("small", ("x.max(axis=-1, keepdims=True)", "abs(x).max(axis=-1, keepdims=True)")),
        Wrong(
            "clipped",
            ("e = np.exp(x - x.max(axis=-1, keepdims=True))", "e = np.exp(np.clip(x, -700, 700))"),
        ),
        Wrong(
            "axis",
            code="""
            e = np.exp(x - x.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)
            """,
        ),
        Wrong("sigmoid", code="return 1 / (1 + np.exp(-x))"),
        Wrong("mean", ("e.sum(axis=-1, keepdims=True)", "e.mean(axis=-1, keepdims=True)")),
        Wrong("x-divided", ("return e /", "return x /")),
        Wrong("diagonal-twice", code="return g * y * (1 - y) - y * " + SUMMED, gap=2),
        Wrong("diagonal-without-g", code="return y * (1 - y)", gap=2),
        Wrong("mean-for-sum", (SUMMED, "(g * y).mean(axis=-1, keepdims=True)")),
        Wrong("second-without-y", code="return g * y - " + SUMMED, gap=2),
        Wrong("log-softmax", code="return g - y * g.sum(axis=-1, keepdims=True)", gap=2),
        Wrong("cross-entropy", code="return y - g", gap=2),
        Wrong("diagonal-lost", code="return y * (g * y - " + SUMMED + ")", gap=2),
        Wrong("squared", code="return y * g - y * y", gap=2),
        Wrong("rows", (SUMMED, "(g * y).sum(axis=1, keepdims=True)")),
        Wrong(
            "plus-elsewhere", code="return g * y * (1 - y) + y * (" + SUMMED + " - g * y)", gap=2
        ),
    ],
    12: [
        Wrong("centred", (VARIANCE, VARIANCE.replace("xhat", "centred"))),
        Wrong("centred", (VARIANCE, VARIANCE.replace("(h * xhat)", "(h * centred)"))),
        Wrong("centred", (VARIANCE, VARIANCE.replace("= xhat", "= centred"))),
        Wrong("plus", (GRAD_X, "rstd * (h + through_mean + through_variance)")),
        Wrong("plus", (GRAD_X, "rstd * (h - through_mean + through_variance)")),
        Wrong("plus", (GRAD_X, "rstd * (h + through_mean - through_variance)")),
        Wrong("sign", (GRAD_X, "-" + GRAD_X)),
        Wrong("one-number", ("g.sum(axis=(0, 1))", "g.sum()")),
        Wrong("rstd-squared", (GRAD_X, "rstd * " + GRAD_X)),
        Wrong("one-sum", ("h.mean(", "h.sum(")),
        Wrong("one-sum", ("(h * xhat).mean(", "(h * xhat).sum(")),
        Wrong("factor", (GRAD_X, GRAD_X + " / x.shape[-1]")),
        Wrong("two", (VARIANCE, VARIANCE.replace("= xhat", "= 2 * xhat"))),
        Wrong("divided", (GRAD_X, "(h - through_mean - through_variance) / rstd")),
        Wrong("no-b", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps) * w")),
        Wrong("no-w", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps) + b")),
        Wrong("w-for-b", ("np.sqrt(var + eps) * w + b", "np.sqrt(var + eps) * b + w")),
        Wrong(
            "over-length",
            code="""
            centred = x - x.mean(axis=1, keepdims=True)
            return centred / np.sqrt(x.var(axis=1, keepdims=True) + eps) * w + b
            """,
        ),
        Wrong(
            "summed-first",
            ("(g * xhat).sum(axis=(0, 1))", "g.sum(axis=(0, 1)) * xhat.sum(axis=(0, 1))"),
        ),
        Wrong("exchanged", ("return grad_x, grad_w, grad_b", "return grad_x, grad_b, grad_w")),
    ],
}

UNSUMMED = "g = g.sum(axis=tuple(range(g.ndim - len(shape))))"
COUNT = "count = x.size if axis is None else x.shape[axis]"
MUTANTS: dict[int, list[Wrong]] = {
    1: [Wrong("half-change", (SLOPE, "(f(x) - f(x - h)) / (2 * h)"))],
    4: [
        Wrong(
            "early",
            code="""
            order = [output]
            for value in order:
                for parent in parents[value]:
                    if parent in order:
                        order.remove(parent)
                    order.append(parent)
            return order
            """,
        ),
    ],
    3: [
        Wrong("overwritten", ("grad_a * w + grad_c", "grad_c")),
        Wrong("minus", ("grad_a * w + grad_c", "grad_a * w - grad_c")),
    ],
    5: [
        Wrong("early", ("if parent not in uses:", "if True:")),
        Wrong("early", ("if uses[parent] == 0:", "if True:")),
        Wrong("restarted", ("+= slope * value.grad", "+= value.grad")),
    ],
    6: [
        Wrong("unsummed", (UNSUMMED, "g = g")),
        Wrong("unsummed", ("g.ndim - len(shape)", "g.ndim - len(g)")),
        Wrong("everything", (UNSUMMED, "g = g.sum()")),
        Wrong("front-only", ("size == 1", "size == 2")),
    ],
    9: [
        Wrong("too-many", (COUNT, "count = x.size if axis is not None else x.shape[axis]")),
        Wrong("undivided", (COUNT, "count = g.size if axis is None else x.shape[axis]")),
    ],
    10: [
        Wrong("large", ("np.isfinite(m), m, 0.0", "np.isfinite(m), 0.0, m")),
        Wrong("largest", ("np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]", "m[..., 0]")),
        Wrong("unnormalised", ("np.isfinite(out), out, 0.0", "np.isfinite(out), 0.0, out")),
    ],
    11: [
        Wrong("large", ("x - x.max(", "x + x.max(")),
        Wrong("everything", ("e / e.sum(axis=-1, keepdims=True)", "e / e.sum(keepdims=True)")),
        Wrong("axis", ("e / e.sum(axis=-1", "e / e.sum(axis=-2")),
        Wrong("keepdims", ("e / e.sum(axis=-1, keepdims=True)", "e / e.sum(axis=-1)")),
        Wrong("rows", ("(g * y).sum(axis=-1", "(g * y).sum(axis=-2")),
    ],
    12: [
        Wrong("unsummed", ("(g * xhat).sum(axis=(0, 1))", "g * xhat")),
        Wrong("one-number", ("(g * xhat).sum(axis=(0, 1))", "(g * xhat).sum()")),
        Wrong("mean", ("(g * xhat).sum(axis=(0, 1))", "(g * xhat).mean(axis=(0, 1))")),
    ],
}
"""Found later, by putting mistakes into the solutions and by a second collection."""

CASES = [
    pytest.param(exercise(number), wrong, id=f"{number:02}-{place}-{wrong.diagnosis}")
    for number, answers in ANSWERS.items()
    for place, wrong in enumerate([*answers, *MUTANTS.get(number, [])])
]


@pytest.mark.parametrize(("one", "wrong"), CASES)
def test_another_wrong_answer_gets_its_diagnosis(one: Exercise, wrong: Wrong) -> None:
    result = run_text(one, wrong.apply(one.marked), one.file)
    assert result.diagnosis == wrong.diagnosis, str(result)


def test_each_of_the_first_exercises_has_some() -> None:
    assert {number for number, answers in ANSWERS.items() if len(answers) >= 5} >= {*range(1, 13)}
