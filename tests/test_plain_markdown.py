"""The documentation as a host of repositories shows it, which knows Markdown and nothing of Sphinx.

Left out are the pages that only Sphinx can fill: the reference, the first page, and those that
include a file of the repository.
"""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

markdown_it = pytest.importorskip("markdown_it")

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
SPHINX = {DOCS / "index.md", DOCS / "changelog.md", DOCS / "contributing.md"}
GUIDE = sorted({page for page in DOCS.rglob("*.md") if page.parent.name != "api"} - SPHINX)
PAGES = [
    pytest.param(page, id=page.relative_to(ROOT).as_posix())
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "site" / "README.md", *GUIDE)
]


def tokens_of(page: Path) -> list[Any]:
    """The tokens of a page, those within paragraphs among them."""
    found = []
    for token in markdown_it.MarkdownIt().enable("table").parse(page.read_text(encoding="utf-8")):
        found += [token, *(token.children or ())]
    return found


def anchors_of(page: Path) -> set[str]:
    """What a link into a page may name: its headings, as a host spells them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {word.replace(" ", "-") for word in words}


@pytest.mark.parametrize("page", PAGES)
def test_no_directive_and_no_role_is_left(page: Path) -> None:
    tokens = tokens_of(page)
    for token, following in pairwise(tokens):
        assert not token.content.startswith(":::")
        assert not (following.type == "code_inline" and re.search(r"\{[\w:]+\}$", token.content))
    assert not [token.info for token in tokens if token.info.startswith("{")]


@pytest.mark.parametrize("page", PAGES)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    for token in tokens_of(page):
        address = token.attrs.get("href" if token.type == "link_open" else "src")
        if not isinstance(address, str) or re.match(r"\w+:", address):
            continue
        path, _, anchor = address.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), address
        if anchor:
            assert anchor in anchors_of(target), address


@pytest.mark.parametrize("page", PAGES)
def test_formulas_keep_their_backslashes(page: Path) -> None:
    """Markdown takes a backslash before punctuation away: a formula in a line does without."""
    for token in tokens_of(page):
        if token.type == "inline":
            for formula in re.findall(r"(?<!\w)\$([^$`]+)\$(?!\w)", token.content):
                assert not re.search(r"\\[,;:!|{}_#%&]", formula), formula
