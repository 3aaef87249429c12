"""The figures of the examples, drawn of a few numbers: what is where in them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import _plots
import numpy as np
import pytest

from minigrad.viz.drawing import curves

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "figure.svg"


def texts(path: Path) -> list[str]:
    """The texts of a picture, in the order of the file, without what a pointer shows."""
    return [[*text.itertext()][-1] for text in ElementTree.parse(path).iter(f"{SVG}text")]


def heights(path: Path) -> list[list[float]]:
    """The heights of the lines of the charts."""
    lines = [part for part in ElementTree.parse(path).iter() if "line l" in part.get("class", "")]
    return [[float(y) for y in re.findall(r"(?<= )[\d.]+", line.get("d", ""))] for line in lines]


def test_the_curves_of_a_training(path: Path) -> None:
    _plots.training(path, np.array([[2.0, 0.25, 1.0, 0.5], [1.0, 0.5, 0.0, 0.875]]))
    low, high = curves.HEIGHT - curves.FOOT, curves.TOP
    middle, upper = (low + high) / 2, low + (high - low) * 0.875
    lower = low + (high - low) * 0.25
    lines = [[high, middle], [middle, low], [lower, middle], [middle, upper]]
    np.testing.assert_allclose(heights(path), lines, rtol=0, atol=0.06)
    said = texts(path)
    assert {"Loss", "Accuracy: 87.5% of the held-out digits", "epoch 1", "2"} <= {*said}
    assert said.count("held-out digits") == said.count("training digits") == 2


def test_bits_per_character_beside_the_best_table(path: Path) -> None:
    history = np.array([[100, 3.0, 4.0], [200, 1.0, 2.0]])
    _plots.bits_per_character(path, history, {"1-gram": 4.0, "5-gram": 2.5, "2-gram": 3.0})
    learned, held_out, table = heights(path)
    assert learned[0] - learned[1] == pytest.approx(held_out[0] - held_out[1], abs=0.2)
    assert table[0] == table[1]
    assert held_out[0] < table[0] < held_out[1]
    said = texts(path)
    assert {"Bits per character: 2.00", "5-gram", "step 100", "200"} <= {*said}
    assert "1-gram" not in said


def test_the_confusion_matrix_and_what_is_misread(path: Path) -> None:
    digits = np.random.default_rng(0).random((5, 8, 8))
    labels, predicted = np.array([3, 3, 3, 0, 9]), np.array([3, 3, 5, 0, 4])
    _plots.confusion(path, digits, labels, predicted)
    said = texts(path)
    assert {"3 of 5 held-out digits read right", "misread"} <= {*said}
    assert [text for text in said if " read as " in text] == ["3 read as 5", "9 read as 4"]
    picture = path.read_text()
    numbers = r'<text style="[^"]*" x="([\d.]+)" y="([\d.]+)">(\d+)<'
    counts = {
        (int(float(y)) // 32, int(float(x)) // 32): count
        for x, y, count in re.findall(numbers, picture)
    }
    assert counts == {(0, 0): "1", (3, 3): "2", (3, 5): "1", (9, 4): "1"}
    marked = re.findall(r'<rect class="wrong" x="(\d+)" y="(\d+)"', picture)
    assert [(int(y) // 32, int(x) // 32) for x, y in marked] == [(3, 5), (9, 4)]
    many = np.arange(40) % 10
    _plots.confusion(path, np.zeros((40, 8, 8)), many, (many + 1) % 10)
    assert "the first 30 misread" in texts(path)


def test_attention_over_the_digits(path: Path) -> None:
    digits = np.zeros((2, 8, 8))
    digits[0, 2:4, 5] = 1.0  # two pixels, one above the other
    maps = np.zeros((2, 3, 4, 4))
    maps[1, 2, 0, 0] = 0.5
    _plots.attention(path, digits, np.array([1, 7]), np.array([1, 2]), maps)
    said = texts(path)
    assert said[1:5] == ["digit", "head 0", "head 1", "head 2"]
    assert [text for text in said if " read as " in text] == ["1 read as 1", "7 read as 2"]
    assert said[-3:] == ["0", "0.5", "weight of the patch"]
    picture = ElementTree.parse(path)
    kinds = {"".join(text.itertext()): text.get("class") for text in picture.iter(f"{SVG}text")}
    assert kinds["7 read as 2"] == "misread" != kinds["1 read as 1"]
    outlines = [part.get("d") for part in picture.iter(f"{SVG}path") if part.get("class") == "ink"]
    assert outlines == ["M40 16h8M40 32h8M40 16v8M48 16v8M40 24v8M48 24v8"] * 3 + [""] * 3
    images = [image.get("href", "") for image in picture.iter(f"{SVG}image")]
    assert len(images) == 2 * (1 + 3) + 1
    assert len({*images[:4]}) == 2  # a digit, and maps of nothing
    assert images[7] not in images[4:7]  # the map that is not


def test_cross_attention_of_the_letters(path: Path) -> None:
    weights = np.zeros((2, 4, 5, 2))
    weights[0, :, 1, 0] = 0.5
    _plots.cross_attention(path, "40", "four", weights)
    said = texts(path)
    layer = ["4", "0", *"four."]
    assert said[1:] == ["layer 0", *layer, "layer 1", *layer, "0", "1", "weight of the digit"]
    pictures = ElementTree.parse(path).iter(f"{SVG}image")
    sizes = [(image.get("width"), image.get("height")) for image in pictures]
    assert sizes[:2] == [("70", "40")] * 2  # 5 columns and 2 rows
