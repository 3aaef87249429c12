"""The drawing of a captured step: the peak, folded rows, refusals; test_golden.py has a picture."""

from __future__ import annotations

import pytest
from golden_programs import captured

import minigrad
from minigrad import viz
from minigrad.viz.record.program import Buffer, Row, folded, peak


def test_the_peak_counts_what_lives_at_once() -> None:
    arrays = [Buffer("a", 0, 2, 5), Buffer("b", 2, 3, 7), Buffer("c", 3, 4, 6)]
    assert peak(arrays) == (13, 3)
    assert peak([]) == (0, 0)


def test_one_row_stands_for_those_with_the_same_marks_and_the_rest_is_cut() -> None:
    plain = [Row(f"%{i} = exp(%{i - 1})") for i in range(1, 20)]
    changed = [Row(f"op{i}", marks=(("p", ("dropped", "")),)) for i in range(9)]
    short = folded([*plain, *changed, plain[0]], 10)
    assert [row.stands_for for row in short] == [0, 18, 0, 8, 0]
    assert [row.text for row in short[1:4:2]] == ["… 18 more, unchanged", "… 8 more, dropped"]
    assert folded([*plain[:1], *changed[:1]] * 20, 10)[-1].text == "… 31 more instructions"
    assert folded(changed, 9) == changed


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(TypeError, match="capture"):
        viz.program(3)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="second call"):
        viz.program(minigrad.capture(minigrad.exp))
    with pytest.raises(ValueError, match="show"):
        captured().to_svg("bars")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\.svg"):
        captured().save("step.html")
