"""Every solution passes, every skeleton and every wrong answer is told what is wrong."""

import re
from pathlib import Path

import pytest

from minigrad.learn.answer import GENERAL
from minigrad.learn.running import Result, run_text
from minigrad.learn.statement import Exercise, exercises, paragraphs

ROOT = Path(__file__).resolve().parent.parent.parent
ALL = [pytest.param(one, id=one.name) for one in exercises().values()]
TRAINS = {24: "own engine", 29: "two moons"}
"""Exercises whose check trains a model."""
SOME_SLOW = [
    pytest.param(one, id=one.name, marks=pytest.mark.slow if number in TRAINS else ())
    for number, one in exercises().items()
]


def checked(exercise: Exercise, text: str) -> Result:
    return run_text(exercise, text, exercise.file)


@pytest.mark.parametrize("exercise", SOME_SLOW)
def test_the_solution_passes_and_is_drawn(exercise: Exercise) -> None:
    result = checked(exercise, exercise.solution)
    assert result.right, str(result)
    assert result.drawing.startswith("<svg "), "no drawing"


@pytest.mark.parametrize("exercise", ALL)
def test_the_skeleton_names_its_first_gap(exercise: Exercise) -> None:
    skeleton = exercise.skeleton
    result = checked(exercise, skeleton)
    assert result.diagnosis == "gap", str(result)
    line = re.search(rf"{exercise.file}, line (\d+)", result.facts)
    assert line
    assert "NotImplementedError" in skeleton.splitlines()[int(line[1]) - 1]


@pytest.mark.parametrize("exercise", SOME_SLOW)
def test_a_wrong_answer_gets_its_diagnosis(exercise: Exercise) -> None:
    for number, wrong in enumerate(exercise.wrong):
        result = checked(exercise, wrong.apply(exercise.marked))
        assert (number, result.diagnosis) == (number, wrong.diagnosis), str(result)
        assert result.facts
        assert wrong.diagnosis != "changed" or "changed its argument `" in result.facts
        assert str(result).endswith(paragraphs(exercise.advice(wrong.diagnosis)))


@pytest.mark.parametrize("exercise", ALL)
def test_an_exercise_is_complete(exercise: Exercise) -> None:
    assert len(exercise.wrong) >= 3
    told = {wrong.diagnosis for wrong in exercise.wrong}
    assert told <= {*exercise.diagnoses, *GENERAL}
    assert {*exercise.diagnoses} <= told, "a diagnosis that no wrong answer gets"
    assert not {*exercise.diagnoses} & {*GENERAL}, "a name with two meanings"
    assert len({*exercise.hints}) == 3
    assert exercise.why
    chapter = (ROOT / "docs" / "guide" / f"{exercise.chapter}.md").read_text(encoding="utf-8")
    link = f"[{chapter.partition(chr(10))[0][2:]}](guide/{exercise.chapter}.md)"
    row = f"| {exercise.number} | {exercise.title} | {link} |"
    assert row in (ROOT / "docs" / "learn.md").read_text(encoding="utf-8"), f"write {row}"
    line = f"- [{exercise.number}](../learn.md): {exercise.title}."
    assert line in chapter.partition("## Exercises\n")[2], f"{exercise.chapter}.md: write {line}"
    assert exercise.task.startswith(f"Exercise {exercise.number}: {exercise.title}.")
    assert max(map(len, exercise.skeleton.splitlines())) <= 100
