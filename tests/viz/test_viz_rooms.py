"""The rooms of viz: each imports only those before it, when it is imported."""

import re
from pathlib import Path

import pytest

from minigrad import viz

ROOMS = ("record", "layout", "drawing", "formula", "explanation", "page")
FOLDER = Path(viz.__file__).parent


def imported(path: Path) -> set[str]:
    """The rooms that a file imports when it is imported: not within functions."""
    text = path.read_text(encoding="utf-8")
    return {*re.findall(r"^from minigrad\.viz(?:\.| import )(\w+)", text, re.M)} & {*ROOMS}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_before_it(room: str) -> None:
    files = [*(FOLDER / room).glob("*.py")]
    assert files
    before = ROOMS[: ROOMS.index(room) + 1]
    wrong = {path.name: imported(path) - {*before} for path in files}
    assert not {name: rooms for name, rooms in wrong.items() if rooms}


def test_imports_are_seen() -> None:
    assert imported(FOLDER / "page" / "html.py") >= {"drawing", "record", "page"}
