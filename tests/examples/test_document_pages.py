"""The pages of the source documents: one for each system, and each has its class in it."""

from __future__ import annotations

from pathlib import Path

import document_pages as example
import pytest
from example_runs import Call

from minigrad import nn

PAGE = Path(example.__file__).parent.parent / "docs" / "source_documents.md"


@pytest.mark.needs("einops")
def test_a_page_for_each_system(call: Call, tmp_path: Path) -> None:
    done = call(example, "--out", "pages")
    assert done.code == 0
    for name, (module, _) in example.SYSTEMS.items():
        page = Path("pages") / f"{name}.html"
        assert str(page) in done.out
        assert type(module()).__name__ in (tmp_path / page).read_text(encoding="utf-8")


@pytest.mark.needs("einops")
def test_the_documentation_leads_to_every_page() -> None:
    text = PAGE.read_text(encoding="utf-8")
    classes = {kind for kind in vars(nn).values() if isinstance(kind, type)}
    of_documents = {kind for kind in classes if kind.__module__.startswith("minigrad.nn.source_")}
    assert of_documents <= {type(module()) for module, _ in example.SYSTEMS.values()}
    for name in example.SYSTEMS:
        assert f"`{name}.html`" in text
