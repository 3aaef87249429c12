"""What the tests of the examples share: one short run of each, and calls in the same process."""

import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import char_lm
import pytest
from example_runs import Call, Done, Smoke, run


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    """Run an example once, by the worker that asks first: its folder, and what it printed."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent  # that of all workers

    def once(example: ModuleType, *options: str) -> tuple[Path, str]:
        folder = shared / f"smoke_{example.__name__}"
        ended = folder.with_suffix(".json")
        try:
            folder.mkdir()
        except FileExistsError:
            limit = time.monotonic() + 300
            while not ended.exists() and time.monotonic() < limit:
                time.sleep(0.1)
        else:
            done = run(example, folder, "--smoke", *options)
            written = folder.with_suffix(".new")
            written.write_text(json.dumps(done), encoding="utf-8")
            written.rename(ended)
        done = Done(*json.loads(ended.read_text(encoding="utf-8")))
        assert (done.code, done.error) == (0, "")
        return folder, done.out

    return once


@pytest.fixture(scope="session")
def text() -> char_lm.Text:
    return char_lm.load()


@pytest.fixture(scope="session")
def short(text: char_lm.Text) -> char_lm.Text:
    """A text that is quickly gone through."""
    return char_lm.Text(text.alphabet, text.ids[:3000], 2800)


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Call:
    """Call the `main` of an example in this process, from a new folder."""

    def called(example: ModuleType, *options: str) -> Done:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [Path(str(example.__file__)).name, *options])
        code = 0
        try:
            example.main()
        except SystemExit as stop:
            assert isinstance(stop.code, int), stop.code
            code = stop.code
        return Done(code, *capsys.readouterr())

    return called
