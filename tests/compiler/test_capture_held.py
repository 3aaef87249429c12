"""What a step reads of Python's objects: when it has changed, the step is recorded anew."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from both_ways import bits

import minigrad
from minigrad import nn
from minigrad.compiler import CaptureError


class Fixed:
    scale = 1.0


class Slots:
    __slots__ = ("scale",)

    def __init__(self) -> None:
        self.scale = 1.0


class Behind:
    """An object whose methods read the number."""

    def __init__(self) -> None:
        self._scale = 1.0

    @property
    def scale(self) -> float:
        return self._scale

    def read(self) -> float:
        return self._scale

    def __call__(self) -> float:
        return self.read()

    def __getitem__(self, key: str) -> float:
        return self._scale

    def __rmul__(self, other: float) -> float:
        return other * self._scale

    @classmethod
    def of_class(cls) -> float:
        return Fixed.scale


class Made:
    def __init__(self) -> None:
        self.scale = Fixed.scale


def with_attribute(scale: float) -> Any:
    def function() -> None: ...

    function.scale = scale  # type: ignore[attr-defined]
    return function


def cached() -> Any:
    return lru_cache(lambda: Fixed.scale)


def to_three(key: str) -> Callable[[Any], None]:
    return lambda thing: setattr(thing, key, 3.0)


def fixed(_: Any) -> None:
    Fixed.scale = 3.0


def fixed_and_cleared(cached: Any) -> None:
    Fixed.scale = 3.0
    cached.cache_clear()


def space(**values: Any) -> Any:
    return SimpleNamespace(**values)


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], float], Callable[[Any], None]]] = {
    "attribute": (lambda: space(scale=1.0), lambda c: c.scale, to_three("scale")),
    "attribute by its name": (
        lambda: space(scale=1.0), lambda c: getattr(c, "scale"), to_three("scale"),  # noqa: B009
    ),
    "vars": (lambda: space(scale=1.0), lambda c: vars(c)["scale"], to_three("scale")),
    "branch": (
        lambda: space(on=True), lambda c: 1.0 if c.on else 2.0, lambda c: setattr(c, "on", False),
    ),
    "object in an object": (
        lambda: space(loss=space(scale=1.0)), lambda c: c.loss.scale,
        lambda c: setattr(c.loss, "scale", 3.0),
    ),
    "object in a list": (
        lambda: [space(scale=1.0)], lambda c: c[0].scale, lambda c: setattr(c[0], "scale", 3.0),
    ),
    "list in dicts": (
        lambda: {"a": {"b": [1.0]}}, lambda c: c["a"]["b"][0],
        lambda c: c["a"]["b"].__setitem__(0, 3.0),
    ),
    "queue": (lambda: deque([1.0]), lambda c: c[-1], lambda c: c.append(3.0)),
    "array in an object": (
        lambda: space(scale=np.ones(1, "f4")), lambda c: float(c.scale[0]),
        lambda c: c.scale.fill(3),
    ),
    "class": (lambda: Fixed, lambda c: c.scale, fixed),
    "class of an object": (Fixed, lambda c: c.scale, fixed),
    "slot": (Slots, lambda c: c.scale, to_three("scale")),
    "property": (Behind, lambda c: c.scale, to_three("_scale")),
    "method": (Behind, lambda c: c.read(), to_three("_scale")),
    "class method": (Behind, lambda c: c.of_class(), fixed),
    "call": (Behind, lambda c: c(), to_three("_scale")),
    "operator": (Behind, lambda c: 1.0 * c, to_three("_scale")),
    "method in a variable": (
        lambda: Behind().read, lambda c: c(), lambda c: setattr(c.__self__, "_scale", 3.0),
    ),
    "function with an attribute": (
        lambda: with_attribute(1.0), lambda c: c.scale, to_three("scale"),
    ),
    "cached function": (cached, lambda c: c(), fixed_and_cleared),
    "object made in the step": (lambda: Fixed, lambda c: Made().scale, fixed),
    "type of a list": (
        lambda: space(scale=1.0, kind=list[int]), lambda c: c.scale * len(c.kind([1])),
        to_three("scale"),
    ),
    "index": (Behind, lambda c: c["scale"], to_three("_scale")),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_objects_hold(case: str) -> None:
    make, read, change = CASES[case]
    Fixed.scale = 1.0
    held = make()
    default = Behind()

    def of_variable(x: Any) -> Any:
        return x * read(held)

    def of_argument(x: Any, argument: Any) -> Any:
        return x * read(argument)

    def of_default(x: Any, other: Any = default) -> Any:
        return of_variable(x) * other.read()

    steps = of_variable, of_default, lambda x: of_argument(x, held)
    captured = [minigrad.capture(step) for step in steps]
    passed = minigrad.capture(of_argument)
    for i in range(8):
        if i == 4:
            change(held)
        if i == 6:
            default._scale = 5.0
        x = minigrad.full(3, float(i))
        for step, replayed in zip(steps, captured, strict=True):
            assert bits(replayed(x)) == bits(step(x)), i
        assert bits(passed(x, held)) == bits(of_argument(x, held)), i
    assert all(each.program is not None for each in (*captured, passed))


def test_a_module_of_which_a_part_runs() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.head = nn.Linear(3, 3)
            self.scale = 1.0

    model = Model()

    def step(x: Any) -> Any:
        return model.head(x) * model.scale

    captured = minigrad.capture(step)
    for i in range(6):
        model.scale = float(i // 3)
        x = minigrad.full((2, 3), float(i))
        assert bits(captured(x)) == bits(step(x)), i


def test_an_object_that_the_step_changes() -> None:
    class Meter:
        def __init__(self) -> None:
            self.count = 0

        def update(self) -> None:
            self.count += 1

    meter = Meter()

    def step(x: Any) -> Any:
        meter.update()
        return x * 2

    captured = minigrad.capture(step)
    captured(minigrad.ones(2))
    with pytest.raises(CaptureError, match="the step changes count of Meter"):
        captured(minigrad.ones(2))


def test_constants_that_the_caller_changes() -> None:
    captured = minigrad.capture(
        lambda x: (x * 2, minigrad.ones(3), minigrad.zeros(3).reshape(3, 1))
    )
    for i in range(5):
        _, ones, zeros = captured(minigrad.ones(3))
        assert ones.tolist() == [1, 1, 1]
        assert zeros.tolist() == [[0], [0], [0]]
        if i:  # the first result is compared with the second
            ones.add_(1)
            zeros.add_(1)


def test_shapes_by_numpy_are_not_values() -> None:
    order = minigrad.tensor([2, 0])
    captured = minigrad.capture(lambda x: minigrad.take(x, order) * (np.ndim(x) + np.size(x)))
    for i in range(4):
        assert captured(minigrad.full(3, float(i))).tolist() == [4 * i, 4 * i]


def test_what_an_object_of_a_library_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "configurations.py").write_text(
        "STRENGTH = 1.0\n"
        "class Value:\n"
        "    def __init__(self, value): self._value = value\n"
        "class Configuration:\n"
        "    def __init__(self, **values):\n"
        "        self._values = {key: Value(value) for key, value in values.items()}\n"
        "    def __getattr__(self, key):\n"
        "        if key.startswith('__'): raise RuntimeError(key)\n"
        "        return self._values[key]._value\n"
    )
    monkeypatch.syspath_prepend(library)
    import configurations  # type: ignore[import-not-found]

    options = configurations.Configuration(scale=1.0)

    def step(x: Any) -> Any:
        return x * options.scale * configurations.STRENGTH

    captured = minigrad.capture(step)
    for i in range(8):
        if i == 3:
            options._values["scale"]._value = 3.0
        if i == 6:
            configurations.STRENGTH = 5.0
        x = minigrad.full(3, float(i))
        assert bits(captured(x)) == bits(step(x)), i
    assert captured.program is not None
