"""Files that the playground has saved: their answers are run again, whatever they claim."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from children import python

from minigrad.learn import grading
from minigrad.learn.statement import exercise

RIGHT = exercise(7).solution
WRONG = RIGHT.replace("g @ b.T", "g @ b")
assert WRONG != RIGHT


def check(code: str, right: bool) -> dict[str, Any]:
    return {"time": "2026-11-27T10:00:00.000Z", "right": right, "code": code}


def saved(path: Path, *checks: dict[str, Any], **changes: Any) -> Path:
    known = {"code": RIGHT, "hints": 1, "done": True, "checks": [*checks], **changes}
    path.write_text(json.dumps({"kind": "minigrad exercises", "exercises": {"7": known}}))
    return path


def test_the_first_right_answer_counts(tmp_path: Path) -> None:
    file = saved(tmp_path / "a.json", check(WRONG, False), check(RIGHT, True), check(WRONG, False))
    (grade,) = grading.grades(file)
    assert grade == (7, True, True, "2026-11-27T10:00:00.000Z", 3, 1, "")


def test_a_claim_is_not_believed(tmp_path: Path) -> None:
    file = saved(tmp_path / "a.json", check(WRONG, True))
    (grade,) = grading.grades(file)
    assert grade.claimed
    assert not grade.right
    assert grade.diagnosis == "transpose"
    (text,) = grading.report([file])
    assert "not yet: transpose (the file says otherwise)" in text
    assert text.endswith("0 of 1 answers are right, of 32 exercises")


def test_the_command(tmp_path: Path) -> None:
    files = [saved(tmp_path / name, check(RIGHT, True)) for name in ("a.json", "b.json")]
    done = python("-m", "minigrad", "learn", "grade", *files)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("1 of 1 answers are right") == 2
    assert str(files[1]) in done.stdout


BAD = {
    "no JSON": "{", "another kind": "{}", "a list": "[]",
    "no exercise 99": '{"kind": "minigrad exercises", "exercises": {"99": {}}}',
    "no checks": '{"kind": "minigrad exercises", "exercises": {"7": {"hints": 0}}}',
    "no code": '{"kind": "minigrad exercises", "exercises": {"7": {"hints": 0, "checks": [{}]}}}',
    "hints": '{"kind": "minigrad exercises", "exercises": {"7": {"hints": "x", "checks": []}}}',
    "deep": "[" * 100_000,
}  # fmt: skip
if sys.platform == "emscripten":
    del BAD["deep"]  # it ends the whole process there


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_other_files_are_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text(text)
    with pytest.raises(ValueError, match="was not saved by the playground"):
        [*grading.grades(file)]


def test_a_file_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "LARGEST", 10)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        [*grading.grades(saved(tmp_path / "a.json", check(RIGHT, True)))]
