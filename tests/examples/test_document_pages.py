"""The pages of the source documents: one for each system, and each has its class in it."""

from __future__ import annotations

import sys
from pathlib import Path

import document_pages as example
import pytest

from minigrad import nn

PAGE = Path(example.__file__).parent.parent / "docs" / "source_documents.md"


@pytest.mark.needs("einops")
def test_a_page_for_each_system(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "argv", ["document_pages.py", "--out", str(tmp_path)])
    example.main()
    printed = capsys.readouterr().out
    for name, (module, _) in example.SYSTEMS.items():
        assert str(tmp_path / f"{name}.html") in printed
        assert type(module()).__name__ in (tmp_path / f"{name}.html").read_text(encoding="utf-8")


@pytest.mark.needs("einops")
def test_the_documentation_leads_to_every_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    classes = {kind for kind in vars(nn).values() if isinstance(kind, type)}
    of_documents = {kind for kind in classes if kind.__module__.startswith("minigrad.nn.source_")}
    assert of_documents <= {type(module()) for module, _ in example.SYSTEMS.values()}
    for name in example.SYSTEMS:
        assert f"`{name}.html`" in text
