"""`torch.testing.assert_close` beside PyTorch's: what passes, and the class of the error."""

from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402

NAN = float("nan")
PAIRS: list[Any] = [
    lambda w: (w.tensor([1.0, 2.0]), w.tensor([1.0, 2.0000001])),
    lambda w: (w.tensor([1.0, 2.0]), w.tensor([1.0, 2.1])),
    lambda w: (w.ones(2, dtype=w.float64), w.ones(2, dtype=w.float64) + 1e-8),
    lambda w: (w.ones(2, dtype=w.float64), w.ones(2, dtype=w.float64) + 1e-6),
    lambda w: (1.0, 1.0), lambda w: (1, 1.0), lambda w: (3, 3), lambda w: (True, True),
    lambda w: (w.tensor([1]), w.tensor([1.0])), lambda w: (w.tensor([1]), w.tensor([2])),
    lambda w: (w.tensor([NAN]), w.tensor([NAN])), lambda w: ([NAN], (NAN,)),
    lambda w: ([w.ones(2)], [w.ones(2), w.ones(2)]), lambda w: ([w.ones(2)], (w.ones(2),)),
    lambda w: ({"a": w.ones(2)}, {"a": w.ones(2)}), lambda w: ({"a": 1}, {"b": 1}),
    lambda w: ({"a": 1, "b": 2}, {"b": 2, "a": 1}), lambda w: ({"a": 1, "b": 2}, {"b": 1, "a": 2}),
    lambda w: ([w.ones(2)], w.ones(1, 2)), lambda w: (None, None), lambda w: ("a", "a"),
    lambda w: (w.ones(2, 3), w.ones(3, 2)), lambda w: (w.tensor([True]), w.tensor([False])),
]  # fmt: skip
OPTIONS: list[dict[str, Any]] = [
    {}, {"equal_nan": True}, {"check_dtype": False}, {"rtol": 0.2, "atol": 0.0},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_what_is_close(options: dict[str, Any]) -> None:
    for number, pair in enumerate(PAIRS):
        found = []
        for world in (door, torch):
            try:
                world.testing.assert_close(*pair(world), **options)
                found.append(None)
            except (AssertionError, TypeError, ValueError) as error:
                found.append(type(error))
        assert found[0] == found[1], (number, found)


@pytest.mark.parametrize(("msg", "said"), [("hello", "^hello$"), (lambda text: "so" + text, "^so")])
def test_a_text_of_one_s_own(msg: Any, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        door.testing.assert_close(door.ones(2), door.zeros(2), msg=msg)
    with pytest.raises(ValueError, match="both, or neither"):
        door.testing.assert_close(door.ones(2), door.ones(2), rtol=0.1)
