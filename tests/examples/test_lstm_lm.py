"""The LSTM that writes English: its model, how it writes, and what it says when run."""

from __future__ import annotations

import re
from pathlib import Path

import char_lm
import lstm_lm as example
import numpy as np
import pytest
from example_runs import Call, run

import minigrad

LINE = re.compile(r"^ +(\d-gram|LSTM)  (\d\.\d{3})$", re.MULTILINE)


def tiny(text: char_lm.Text) -> example.Reader:
    return example.Reader(text.alphabet, width=8, hidden=16)


@minigrad.no_grad()
def test_reading_in_parts_is_reading_the_whole(short: char_lm.Text) -> None:
    model = tiny(short)
    ids = short.ids[:40].reshape(2, 20)
    whole = model(ids).numpy()
    first, state = model.read(ids[:, :7])
    second, _ = model.read(ids[:, 7:], state)
    parts = np.concatenate([first.numpy(), second.numpy()], axis=1)
    np.testing.assert_allclose(parts, whole, rtol=1e-5, atol=1e-6)


@minigrad.no_grad()
def test_it_writes_the_likeliest_from_its_state(short: char_lm.Text) -> None:
    """The same as if each character had been scored anew, from the beginning."""
    minigrad.random.seed(0)
    model, beginning = tiny(short), "The statement "
    for parameter in model.parameters():
        minigrad.nn.init.normal(parameter)  # so that it is not always the same character
    written = "".join(example.write(model, beginning, 60, temperature=0.0))
    assert len(written) == 60
    assert len({*written}) > 3
    ids = char_lm.encode(beginning, short.alphabet).tolist()
    for character in written:
        ids.append(int(model([ids]).numpy()[0, -1].argmax()))
        assert short.alphabet[ids[-1]] == character


def test_it_learns(short: char_lm.Text) -> None:
    minigrad.random.seed(0)
    model = tiny(short)
    before = char_lm.bits_per_character(model, short)
    after = char_lm.train(model, short, 80, example.BATCH)[0][-1].held_out
    assert after < before - 1.5


# The example as it is run


@pytest.mark.slow
def test_it_says_what_came_of_it_and_writes_after_the_training(
    short: char_lm.Text, call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(char_lm, "load", lambda: short)
    done = call(example, "--smoke", "--seed", "3", "--prompt", "A class ", "--length", "90")
    assert (done.code, done.error) == (0, "")
    lines = LINE.findall(done.out)
    assert lines[:5] == lines[5:10]
    assert [name for name, _ in lines[:5]] == [f"{n}-gram" for n in range(1, 6)]
    ((name, bits),) = lines[10:]
    model = example.restore(tmp_path / "out/lstm_lm/weights.npz")
    assert name == "LSTM"
    assert float(bits) == pytest.approx(char_lm.bits_per_character(model, short), abs=6e-4)
    sample = re.search(r"^20 steps in .* s\n\n(A class (?s:.{90}))\n\n", done.out, re.MULTILINE)
    assert sample, done.out

    options = ("--write", "--prompt", "An ob", "--length", "30", "--temperature", "0.5")
    first, again = (call(example, *options) for _ in range(2))
    assert (first.code, first.error) == (0, "")
    assert re.fullmatch(r"An ob.{30}\n\n", first.out, re.DOTALL)
    assert again.out == first.out


@pytest.mark.long
def test_it_beats_the_tables(tmp_path: Path) -> None:
    bits = dict(LINE.findall(run(example, tmp_path).out))
    assert float(bits["LSTM"]) < float(bits["4-gram"])
