"""Wrong answers beside those of the exercises: what is said of them, and that none is accepted.

None gives the same values in a whole check as one that the exercise has itself.

They were collected before their diagnoses were written, or found by putting mistakes into the
solutions. A name in `exercise.diagnoses` states or asks for a cause; a name in `GENERAL` says what
was seen.
"""

import pytest

from minigrad.learn.running import run_text
from minigrad.learn.statement import Exercise, Wrong, exercise


def instead_of(old: str, *answers: tuple[str, str]) -> list[Wrong]:
    """Diagnoses, and what stands there instead of a text of the solution."""
    return [Wrong(diagnosis, (old, new)) for diagnosis, new in answers]


def in_gap(gap: int, *answers: tuple[str, str]) -> list[Wrong]:
    """Diagnoses, and the code that stands in a gap."""
    return [Wrong(diagnosis, code=code, gap=gap) for diagnosis, code in answers]


DEPTH_FIRST = """
order, done, stack = [], set(), [(output, False)]
while stack:
    value, ready = stack.pop()
    if ready:
        order.append(value)
    elif value not in done:
        done.add(value)
        stack += [(value, True), *((parent, False) for parent in parents[value])]
"""
"""Each value after those that it was computed from."""
OF_SELF = DEPTH_FIRST.replace("output", "self").replace("parents[value]", "value.parents")
UNSUMMED = "g = g.sum(axis=tuple(range(g.ndim - len(shape))))"
ROWS = "rows.T @ g.reshape(-1, g.shape[-1])"
SLOPES = "g[..., None] * np.exp(x - out[..., None])"
GRAD_X = "rstd * (h - through_mean - through_variance)"

ANSWERS: dict[int, list[Wrong]] = {
    1: [
        *instead_of(
            "(f(x + h) - f(x - h)) / (2 * h)", ("position", "(f(x + h) - f(x - h)) / (2 * x)"),
            ("half-change", "(f(x) - f(x - h)) / (2 * h)"),
        ),
        *in_gap(
            2, ("measured", "h = 1e-6\nreturn (f(x + h) - f(x - h)) / (2 * h)"),
            ("measured", "return (f(x + 1e-3) - f(x)) / 1e-3"),
        ),
    ],
    2: [
        *instead_of(
            "df(g(x)) * dg(x)", ("inner", "df(x)"), ("nested", "df(dg(x)) * dg(x)"),
            ("nested", "dg(df(x))"), ("outer", "g(x) * dg(x)"), ("sign", "-df(g(x)) * dg(x)"),
        ),
        *instead_of("grad_a * (2 * x)", ("value", "grad_a * a")),
        *instead_of("grad_y * y", ("value", "grad_y * b")),
        *instead_of("grad_b * -1", ("value", "grad_b * b")),
    ],
    3: [
        *instead_of("grads.get(name, 0.0) + value", ("listed", "grads.get(name, []) + [value]")),
        *instead_of(
            "grad_b * a + grad_b * a + grad_c", ("slope-of-sum", "2 * grad_b * a + grad_c * a")
        ),
        *instead_of(
            "grad_a * w + grad_c", ("own", "grad_a * x + grad_c"), ("overwritten", "grad_c"),
            ("multiplied", "grad_a * w * grad_c"), ("slope-of-sum", "grad_a * w + grad_c * x"),
            ("minus", "grad_a * w - grad_c"),
        ),
    ],
    4: [
        *instead_of(
            "    return order\n", ("lost", "    return order[1:]\n"),
            ("form", "    return tuple(order)\n"), ("form", "    yield from order\n"),
        ),
        *in_gap(
            1, ("of-the-dictionary", "return list(parents)"),
            ("early", """
            order = [output]
            for value in order:
                for parent in parents[value]:
                    if parent in order:
                        order.remove(parent)
                    order.append(parent)
            return order"""),
            ("paths", """
            order, queue = [], [output]
            for value in queue:
                queue.extend(parents[value])
            for value in queue[::-1]:
                if value not in order:
                    order.append(value)
            return order[::-1]"""),
        ),
    ],
    5: [
        *instead_of('(1 - y * y,), "tanh")', ("op-name", "(1 - y * y,))")),
        *instead_of("(1 - y * y,)", ("of-input", "(1 - self.data,)")),
        *instead_of("(self, other), (other.", ("own", "(other, self), (other.")),
        *instead_of("slope * gradients[value]", ("local", "slope * gradients[self]")),
        *instead_of("gradients[parent] += slope", ("sign", "gradients[parent] -= slope")),
        *instead_of("+= slope * gradients[value]", ("restarted", "+= gradients[value]")),
        *instead_of("y = math.tanh(self.data)", ("values", "y = math.tan(self.data)")),
        *instead_of("if parent not in uses:", ("early", "if True:")),
        *instead_of("if uses[parent] == 0:", ("early", "if True:")),
        *in_gap(
            4, ("unreached", OF_SELF + """
self.grad = 1.0
for value in order:
    for parent, slope in zip(value.parents, value.slopes):
        parent.grad += slope * value.grad"""),
            ("early", """
            seen = set()
            def walk(value):
                if value not in seen:
                    seen.add(value)
                    for parent, slope in zip(value.parents, value.slopes):
                        parent.grad += slope * value.grad
                    for parent in value.parents:
                        walk(parent)
            self.grad = 1.0
            walk(self)"""),
        ),
    ],
    6: [
        *instead_of(UNSUMMED, ("unsummed", "g = g"), ("everything", "g = g.sum()")),
        *instead_of("g.ndim - len(shape)", ("unsummed", "g.ndim - len(g)")),
        *instead_of("size == 1", ("front-only", "size == 2")),
        *in_gap(
            1, ("front-only", "return g.sum(axis=0) if g.ndim > len(shape) else g"),
            ("axis", "return g.T.sum(axis=0) if g.ndim > len(shape) else g"),
            ("ValueError", "return g.reshape(shape)"), ("one-row", "return np.resize(g, shape)"),
            ("one-row", "while g.ndim > len(shape):\n    g = g[-1]\nreturn g"),
            ("factor", f"{UNSUMMED}\nreturn g / 2"),
        ),
        *in_gap(2, ("unsummed", "return unbroadcast(g * b, a.shape), g * a")),
    ],
    7: [
        *instead_of("a.T @ g\n", ("reshape", "a.reshape(a.shape[::-1]) @ g\n")),
        *instead_of(
            "g @ b.T, a.T @ g", ("inverse", "g @ np.linalg.pinv(b), np.linalg.pinv(a) @ g"),
            ("transposed", "(g @ b.T).T, (a.T @ g).T"), ("local", "b.T, a.T"),
        ),
        *instead_of(
            ROWS, ("reversed", "(x.T @ g).sum(axis=0)"),
            ("transposed", "g.reshape(-1, g.shape[-1]).T @ rows"),
            ("mean", ROWS + " / x.shape[1]"),
            ("summed-first", "np.outer(x.sum(axis=(0, 1)), g.sum(axis=(0, 1)))"),
        ),
        *instead_of("grad_x = g @ w.T", ("transpose", "grad_x = g @ w")),
    ],
    8: [
        *instead_of("np.add.at(grad, index, g)", ("sign", "np.subtract.at(grad, index, g)")),
        *instead_of("np.zeros((rows, g", ("shape", "np.zeros((rows + 1, g")),
        *in_gap(2, ("sorted", "return g[np.sort(index)]")),
    ],
    9: [
        *instead_of("sum(axis=axis, keepdims=True)", ("keepdims", "sum(axis=axis)")),
        *instead_of("sum_backward(g, x, axis) * l", ("sign", "-sum_backward(g, x, axis) * l")),
        *instead_of(
            "= x.size if axis is None", ("undivided", "= g.size if axis is None"),
            ("too-many", "= x.size if axis is not None"),
        ),
        *in_gap(
            1, ("aligned", "return np.repeat(g, x.size // g.size).reshape(x.shape)"),
            ("aligned", "return np.resize(g, x.shape)"),
        ),
        *in_gap(3, ("last", """
            grad = np.zeros(x.shape)
            y = x.max(axis=axis, keepdims=True)
            g = np.reshape(g, y.shape)
            for place in np.ndindex(y.shape):
                line = tuple(slice(None) if size == 1 else i for i, size in zip(place, y.shape))
                best = np.argwhere(x[line] == y[place])[-1]
                grad[line][tuple(best)] = g[place]
            return grad""")),
    ],
    10: [
        *instead_of(
            SLOPES, ("ValueError", "(g * np.exp(x - out[..., None]).T).T"), ("sign", "-" + SLOPES),
            ("like-softmax", SLOPES + " * (1 - np.exp(x - out[..., None]))"),
        ),
        *instead_of(
            "m = np.max(x, axis=-1", ("small", "m = np.max(abs(x), axis=-1"),
            ("clipped", "x = np.clip(x, -700, 700)\n    m = np.max(x, axis=-1"),
        ),
        *instead_of("np.isfinite(m), m, 0.0", ("large", "np.isfinite(m), 0.0, m")),
        *instead_of("np.isfinite(out), out, 0.0", ("unnormalised", "np.isfinite(out), 0.0, out")),
        *instead_of("np.log(np.exp(x - m).sum(axis=-1)) + m[..., 0]", ("largest", "m[..., 0]")),
        Wrong(
            "axis", ("np.max(x, axis=-1, keepdims=True)", "np.max(x, axis=1, keepdims=True)"),
            ("sum(axis=-1)) + m[..., 0]", "sum(axis=1)) + m.squeeze(1)"),
        ),
    ],
    11: [
        *instead_of("x - x.max(", ("large", "x + x.max(")),
        *instead_of(
            "e.sum(axis=-1, keepdims=True)", ("everything", "e.sum(keepdims=True)"),
            ("keepdims", "e.sum(axis=-1)"), ("axis", "e.sum(axis=-2, keepdims=True)"),
        ),
        *instead_of("y).sum(axis=-1", ("rows", "y).sum(axis=1"), ("rows", "y).sum(axis=-2")),
        *in_gap(1, ("axis", """
            e = np.exp(x - x.max(axis=1, keepdims=True))
            return e / e.sum(axis=1, keepdims=True)""")),
    ],
    12: [
        *instead_of(
            "(h * xhat).mean(", ("centred", "(h * centred).mean("), ("one-sum", "(h * xhat).sum(")
        ),
        *instead_of(
            GRAD_X, ("sign", "-" + GRAD_X), ("factor", GRAD_X + " / x.shape[-1]"),
            ("plus", "rstd * (h - through_mean + through_variance)"),
            ("plus", "rstd * (h + through_mean - through_variance)"),
        ),
        *instead_of(
            "(g * xhat).sum(axis=(0, 1))", ("unsummed", "g * xhat"),
            ("one-number", "(g * xhat).sum()"), ("mean", "(g * xhat).mean(axis=(0, 1))"),
        ),
    ],
}  # fmt: skip

CASES = [
    pytest.param(exercise(number), wrong, id=f"{number:02}-{place}-{wrong.diagnosis}")
    for number, answers in ANSWERS.items()
    for place, wrong in enumerate(answers)
]


@pytest.mark.parametrize(("one", "wrong"), CASES)
def test_another_wrong_answer_gets_its_diagnosis(one: Exercise, wrong: Wrong) -> None:
    result = run_text(one, wrong.apply(one.marked), one.file)
    assert result.diagnosis == wrong.diagnosis, str(result)


def test_each_of_the_first_exercises_has_many() -> None:
    for number in range(1, 13):
        assert len(exercise(number).wrong) + len(ANSWERS[number]) >= 20, number
