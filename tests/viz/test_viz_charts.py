"""`viz.charts`: pages of a profile, and of the statistics of a training."""

from __future__ import annotations

import html.parser
import re
from pathlib import Path

import numpy as np
import pytest

import minigrad
from minigrad import nn, viz
from minigrad.debugging import Profile, Statistics
from minigrad.debugging.memory import readable


class Reader(html.parser.HTMLParser):
    """The elements of a page, which must close in order; and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.paths: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "path"):
            self.open.append(tag)
        values = dict(attrs)
        assert "src" not in values and "href" not in values
        if tag == "path":
            self.paths.append(f"{values['class']}: {values['d']}")

    def handle_endtag(self, tag: str) -> None:
        if tag != "path":
            assert self.open.pop() == tag


def read(page: viz.Page) -> tuple[str, list[str]]:
    text = page.path.read_text(encoding="utf-8")
    reader = Reader(text)
    assert not reader.open and "nan" not in "".join(reader.paths)
    return text, reader.paths


def test_a_profile_shows_memory_over_time_and_all_tables(tmp_path: Path) -> None:
    model = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2)
    x = minigrad.randn(2, 3, 8)
    with Profile() as profile:
        (model(x) ** 2).mean().backward()
    page = viz.charts(profile, tmp_path / "step.html")
    assert page.path == tmp_path / "step.html"
    text, paths = read(page)
    assert f"Memory by module: {readable(profile.peak)} at the peak" in text
    for table in (profile.owners(), profile.table("module"), profile.table("line")):
        assert table.splitlines()[1].strip() in text
    legend = re.findall(r"</i>([^<]*)</li>", text)
    assert {name.partition(":")[0] for name in legend} >= {"layers.0", "layers.1"}
    bands = [path for path in paths if path.startswith("band")]
    assert len(bands) == len(legend)
    ys = [float(y) for path in bands for y in re.findall(r" ([\d.e+-]+)(?=[LZ])", path)]
    assert min(ys) == pytest.approx(0, abs=1e-6) and max(ys) == 100


def test_many_owners_are_drawn_together() -> None:
    with Profile() as profile:
        kept = [getattr(minigrad.ones(9), name)() for name in ("exp", "sin", "cos", "tan")]
        kept += [minigrad.ones(2).tanh(), minigrad.ones(2).sqrt()]
        kept += [minigrad.ones(2).square(), minigrad.ones(2).abs()]  # eight lines at least
    text, _ = read(viz.charts(profile))
    assert len(kept) == 8 and text.count("<li>") <= 12


def test_statistics_show_a_histogram_for_every_layer_and_parameter() -> None:
    model = nn.Sequential(nn.Linear(4, 3), nn.ReLU())
    with Statistics(model) as statistics, np.errstate(all="ignore"):
        for step in range(20):
            model.zero_grad()
            x = minigrad.randn(8, 4) * (np.inf if step == 7 else 1.0)
            model(x).sum().backward()
            statistics.step()
    text, paths = read(viz.charts(statistics))
    names = re.findall("<figcaption>(.*?)</figcaption>", text)
    assert names == ["0", "1", "0.weight", "0.bias"]
    assert len([path for path in paths if path.startswith("ridge")]) == 4 * 14
    assert "steps 0 to 19" in text and "NaN or infinite" in text


def test_hostile_names_and_empty_records(tmp_path: Path) -> None:
    model = nn.ModuleDict({"<b>&": nn.Linear(2, 2)})
    with Statistics(model) as statistics, Profile() as profile:
        model["<b>&"](minigrad.ones(1, 2)).sum().backward()  # called <b>&
        statistics.step()
    for record in (statistics, profile):
        text, _ = read(viz.charts(record))
        assert "<b>&" not in text
    read(viz.charts(Profile()))
    with pytest.raises(TypeError, match="Profile or Statistics expected, got Linear"):
        viz.charts(nn.Linear(2, 2))  # type: ignore[arg-type]
