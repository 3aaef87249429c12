"""Right answers that are written otherwise than the solutions pass as well."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from minigrad.learn.running import run_text
from minigrad.learn.statement import Wrong, exercise

LISTING = Path(__file__).with_name("right_answers.toml")
ANSWERS = tomllib.loads(LISTING.read_text(encoding="utf-8"))["answer"]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(
            one, id=f"{one['exercise']}-{one['gap']}",
            marks=pytest.mark.slow if one["exercise"] == 24 else (),
        )
        for one in ANSWERS
    ],
)  # fmt: skip
def test_another_right_answer_passes(answer: dict[str, Any]) -> None:
    one = exercise(answer["exercise"])
    text = Wrong("", code=answer["code"], gap=answer["gap"]).apply(one.marked)
    result = run_text(one, text, one.file)
    assert result.right, str(result)
