"""Right answers that are written otherwise than the solutions pass as well."""

from __future__ import annotations

import pytest

from minigrad.learn.running import run_text
from minigrad.learn.statement import Wrong, exercise
from tests.learn.test_other_wrong_answers import DEPTH_FIRST, OF_SELF

# The number of an exercise, the number of a gap, and the code in it.
ANSWERS = [
    (1, 1, """
width = 2 * h
return f(x + h) / width - f(x - h) / width"""),
    (1, 2, "return 3 * x**2 - 2"),
    (2, 2, "grad_b, grad_a, grad_x = y, -y, -2 * x * y"),
    (3, 1, """
from collections import Counter, defaultdict
grads = defaultdict(float)
for name, value in arrivals:
    grads[name] += value
return grads"""),
    (3, 2, """
grad_a = 3 * a**2 + 2 * a * x
grad_x, grad_w = grad_a * w + a**2, grad_a * x"""),
    (4, 1, DEPTH_FIRST + "return order[::-1]"),
    (5, 4, OF_SELF + """
self.grad = 1
for value in reversed(order):
    for i in range(len(value.parents)):
        value.parents[i].grad = value.parents[i].grad + value.slopes[i] * value.grad"""),
    (6, 1, """
while g.ndim > len(shape):
    g = g.sum(axis=0)
for axis in range(len(shape)):
    if shape[axis] != g.shape[axis]:
        g = g.sum(axis=axis, keepdims=True)
return g"""),
    (6, 1, """
padded = (1,) * (g.ndim - len(shape)) + tuple(shape)
axes = tuple(i for i in range(g.ndim) if padded[i] != g.shape[i])
return np.sum(g, axis=axes).reshape(shape)"""),
    (7, 1, 'return np.einsum("ik,jk->ij", g, b), np.einsum("ij,ik->jk", a, g)'),
    (7, 2, """
grad_w = np.zeros_like(w)
for one, gradient in zip(x, g):
    grad_w += one.T @ gradient
return g @ w.T, grad_w"""),
    (8, 1, """
one_hot = np.arange(rows)[:, None] == index.reshape(-1) % rows
return one_hot @ g.reshape(-1, g.shape[-1])"""),
    (9, 1, "return np.ones(x.shape) * (g if axis is None else np.expand_dims(g, axis))"),
    (10, 1, "return np.logaddexp.reduce(x, axis=-1)"),
    (10, 2, """
e = np.exp(x - np.maximum(x.max(-1, keepdims=True), -1e300))
return g[..., None] * e / np.maximum(e.sum(-1, keepdims=True), 1e-300)"""),
    (11, 1, """
m = np.amax(x, -1, keepdims=True)
return np.exp(x - m - np.log(np.exp(x - m).sum(-1, keepdims=True)))"""),
    (11, 2, """
table = np.einsum("...i,ij->...ij", y, np.eye(y.shape[-1])) - y[..., :, None] * y[..., None, :]
return np.einsum("...i,...ij->...j", g, table)"""),
    (12, 2, """
n = x.shape[-1]
h = g * w
grad_b, grad_w = g.reshape(-1, n).sum(0), (g * xhat).reshape(-1, n).sum(0)
total = h.sum(-1, keepdims=True) + xhat * (h * xhat).sum(-1, keepdims=True)
grad_x = rstd / n * (n * h - total)"""),
    (13, 1, """
m = scores.max(1)
lse = m + np.log(np.exp(scores - m[:, None]).sum(1))
return float(np.mean([total - row[label] for total, row, label in zip(lse, scores, labels)]))"""),
    (14, 1, """
slope, out = 0.5 / np.sqrt(x), np.zeros(x.shape)
out[g != 0] = (g * slope)[g != 0]
return out"""),
    (15, 1, """
x = np.array(x, float)
flat, out = x.ravel(), []
for i, old in enumerate(flat.copy()):
    values = []
    for flat[i] in (old + 1e-6, old - 1e-6):
        values.append(f(x))
    flat[i] = old
    out.append((values[0] - values[1]) / 2e-6)
return np.reshape(out, x.shape)"""),
    (16, 1, """
scores = np.einsum("...nd,...md->...nm", Q, K) * K.shape[-1] ** -0.5
weights = softmax(scores, -1)
return [np.einsum("...nm,...me->...ne", weights, V), weights]"""),
    (17, 2, """
out = np.zeros(scores.shape)
for row, allowed, score in zip(out, mask, scores):
    if allowed.any():
        e = np.exp(score[allowed] - score[allowed].max())
        row[allowed] = e / e.sum()
return out"""),
    (18, 1, """
dV = np.einsum("...qk,...qe->...ke", weights, g)
dW = np.einsum("...qe,...ke->...qk", g, V) * weights
dS = (dW - weights * dW.sum(-1, keepdims=True)) / np.sqrt(K.shape[-1])
return np.einsum("...qk,...kd->...qd", dS, K), np.einsum("...qk,...qd->...kd", dS, Q), dV"""),
    (19, 1, """
outputs = []
for row in x:
    n = len(self.keys)
    row = row[None] + positions(n, n + 1, len(row))
    self.keys = np.vstack([self.keys, row @ self.w_k])
    self.values = np.vstack([self.values, row @ self.w_v])
    every = np.ones((1, n + 1), dtype=bool)
    outputs.append(attention(row @ self.w_q, self.keys, self.values, every))
return np.concatenate(outputs)"""),
    (20, 2, """
m, v = m + (1 - beta1) * (g - m), v + (1 - beta2) * (g**2 - v)
rate = lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t)
p = p * (1 - lr * decay)
return p - rate * m / (v**0.5 + eps * (1 - beta2**t) ** 0.5), m, v"""),
    (21, 1, "return grad(grad(f(x), x, create_graph=True), x, minigrad.tensor(v))[0]"),
    (21, 1, """
from minigrad import func
value, (product,) = func.hvp(f, (x,), (minigrad.tensor(v),))
return product"""),
    (22, 5, """
slopes = []
for i in range(len(x)):
    along = lambda t: f([*x[:i], t, *x[i + 1 :]])
    slopes.append(derivative(along, x[i]))
return tuple(slopes)"""),
    (23, 1, """
starts, y = [], x
for i in range(0, len(layers), every):
    starts.append((layers[i : i + every], y, random.bit_generator.state))
    for layer in layers[i : i + every]:
        y, _ = layer.forward(y, random)
end = random.bit_generator.state
for segment, x, random.bit_generator.state in starts[::-1]:
    _, g = plain_gradient(segment, x, g, random)
random.bit_generator.state = end
return y, g"""),
    (24, 1, """
order, seen = [], set()
def visit(tensor):
    if tensor not in seen:
        seen.add(tensor)
        for parent in tensor.parents:
            visit(parent)
        order.append(tensor)
visit(self)
grads = {tensor: np.zeros(tensor.shape) for tensor in order}
grads[self] = np.ones(self.shape)
for tensor in reversed(order):
    if tensor.rule is None:
        tensor.grad = grads[tensor] if tensor.grad is None else tensor.grad + grads[tensor]
    else:
        for parent, part in zip(tensor.parents, tensor.rule(grads[tensor])):
            grads[parent] += unbroadcast(part, parent.shape)"""),
    (25, 2, """
squash.defvjp(x=lambda g, x: g / (1 + abs(x)) ** 2)
class Other(Reader):
    def weights(self, x, real):
        return minigrad.softmax(self.score(x)[..., 0] + np.where(real, 0.0, -np.inf))
    def entropy(self, weights):
        return -(weights * minigrad.log(weights.clip(1e-30))).sum(dim=1)
return Other"""),
    (28, 2, """
terms = []
for x, axis, letters in [(a, a_axis, "ik"), (b, b_axis, "kj")]:
    vectors = x.ndim - (axis is not None) == 1
    term = list("k" if vectors else letters)
    if axis is not None:
        term.insert(axis, "n")
    terms.append("".join(term))
kept = "".join(letter for letter in "ij" if letter in terms[0] + terms[1])
return np.einsum(f"{terms[0]},{terms[1]}->n{kept}", a, b)"""),
]  # fmt: skip


@pytest.mark.parametrize(
    ("number", "gap", "code"),
    [pytest.param(*row, marks=pytest.mark.slow if row[0] == 24 else ()) for row in ANSWERS],
)
def test_another_right_answer_passes(number: int, gap: int, code: str) -> None:
    one = exercise(number)
    result = run_text(one, Wrong("", code=code, gap=gap).apply(one.marked), one.file)
    assert result.right, str(result)
