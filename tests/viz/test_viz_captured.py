"""The drawing of a captured step: marks of passes, lifetimes of arrays, folded rows."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

import minigrad
from minigrad import viz
from minigrad.compiler import CapturedStep
from minigrad.viz.record.program import Buffer, Row, buffers, folded, peak


def captured() -> CapturedStep:
    @minigrad.capture
    def step(x: minigrad.Tensor) -> minigrad.Tensor:
        minigrad.exp(x)
        return (x * x).sum() + (x * x).tanh().sum()

    for _ in range(2):
        step(minigrad.ones(1000))
    return step


def test_each_pass_marks_what_it_changed() -> None:
    drawing = viz.program(captured())
    first = [(row.text.split("(")[0], row.marks) for row in drawing.rows]
    dropped = [text for text, marks in first if ("drop unused", ("dropped", "")) in marks]
    shared = [
        (text, mark) for text, marks in first for name, mark in marks if name == "share equal"
    ]
    into = [text.split()[-1] for text, marks in first for _, (word, _) in marks if word == "into"]
    assert [text.split()[-1] for text in dropped] == ["exp"]
    multiply = next(text for text, _ in first if text.endswith("multiply"))
    [(text, mark)] = shared
    assert text.endswith("multiply")
    assert mark == ("shared", multiply.split()[0])
    assert "tanh" in into
    svg = drawing.to_svg()
    said = [element.get("aria-label", "") for element in ET.fromstring(svg).iter()]
    assert sum("; drop unused: dropped" in text for text in said) == 1
    assert sum(f"; share equal: is {mark[1]}" in text for text in said) == 1


def test_lifetimes_end_at_the_last_use() -> None:
    stages = captured().stages
    before = {one.name.split()[-1]: one for one in buffers(stages[0][1])}
    place = {i.name: i.place for i in stages[0][1].instructions}
    assert before["exp"].start == before["exp"].end == place["exp"]
    assert before["tanh"].nbytes == 4000
    assert before["tanh"].end == place["tanh"] + 1
    assert before["add"].kept
    assert not before["tanh"].kept
    after = buffers(stages[-1][1])
    assert [one.end for one in after if one.nbytes == 4000] == [place["tanh"] + 1]
    assert peak(buffers(stages[0][1]))[0] >= 8000 > peak(after)[0]


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
        viz.program(captured()).to_svg("bars")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"\.svg"):
        viz.program(captured()).save("step.html")
