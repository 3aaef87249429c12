"""The two examples that write English: their tables, text and models, and what they say."""

import itertools
import math
import os
import re
import shutil
import signal
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import _ngrams
import char_lm as example
import lstm_lm
import numpy as np
import pytest
from example_runs import Call, Smoke, run
from hypothesis import given
from hypothesis import strategies as st
from pytest import MonkeyPatch

import minigrad
from minigrad import Tensor, nn
from minigrad.nn import functional as F

LINE = re.compile(r"^ +(\d-gram|transformer|LSTM)  (\d\.\d{3})$", re.MULTILINE)


def tiny(text: example.Text) -> example.Writer:
    return example.Writer(text.alphabet, width=16, heads=2, layers=2)


# The tables of n-grams


def row(table: _ngrams.NGrams, context: list[int]) -> np.ndarray:
    """The probabilities of all classes after a context."""
    texts = [np.array([*context, c]) for c in range(table.classes)]
    return np.array([table.probabilities(ids)[-1] for ids in texts])


@given(
    st.lists(st.integers(0, 4), min_size=4, max_size=60),
    st.lists(st.integers(0, 5), max_size=5),
    st.integers(1, 4),
)
def test_probabilities_sum_to_one(ids: list[int], context: list[int], order: int) -> None:
    found = row(_ngrams.NGrams(np.array(ids), order, classes=6), context)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    assert found.min() > 0  # no character is impossible, not even 5, which never occurs


def test_kneser_ney_by_hand() -> None:
    ids = np.array([0, 1, 0, 1, 0, 2])  # too short for discounts of its own: each is 1/2
    pairs = _ngrams.NGrams(ids, 2, classes=4)
    # 0, 1 and 2 come after one character each: 1/2 of 3, and half of the rest of 1/2 is even.
    np.testing.assert_allclose(row(pairs, []), np.array([7, 7, 7, 3]) / 24)
    # After 0 come 1 twice and 2 once; of 3, 1/2 and 1/2 are left for the line above.
    np.testing.assert_allclose(row(pairs, [0]), np.array([7, 43, 19, 3]) / 72)
    np.testing.assert_allclose(row(pairs, [3]), row(pairs, []))  # nothing was seen after 3
    single = _ngrams.NGrams(ids, 1, classes=4)  # counted 3, 2, 1 and 0 times
    np.testing.assert_allclose(row(single, []), (np.array([2.5, 1.5, 0.5, 0]) + 1.5 / 4) / 6)


def test_a_text_is_read_from_left_to_right() -> None:
    ids = np.random.default_rng(0).integers(0, 3, 200)
    table = _ngrams.NGrams(ids, 3, classes=4)
    found = table.probabilities(ids[:20])
    for i in range(20):
        assert found[i] == pytest.approx(row(table, ids[max(i - 2, 0) : i].tolist())[ids[i]])


def test_discounts_of_chen_and_goodman() -> None:
    counts = np.repeat([1, 2, 3, 4, 9], [8, 4, 2, 1, 3])
    np.testing.assert_allclose(_ngrams._discounts(counts), [0, 0.5, 1.25, 2])
    np.testing.assert_allclose(_ngrams._discounts(counts[8:]), [0, 0.5, 0.5, 0.5])
    steep = np.repeat([1, 2, 3, 4], [10, 1, 1, 9])  # 3 - 4 · (10/12) · 9 is less than nothing
    assert _ngrams._discounts(steep)[3] == 0.1


def test_a_text_that_is_too_short_and_keys_that_do_not_fit_are_refused() -> None:
    for ids, order, classes in (([0, 1], 3, 2), ([0], 10, 104)):
        with pytest.raises(ValueError, match=f"{order}-grams.* {classes} "):
            _ngrams.NGrams(np.array(ids), order, classes)


def test_more_context_tells_more(text: example.Text) -> None:
    bits = [example.ngram_bits(text, n) for n in range(1, 6)]
    assert bits == sorted(bits, reverse=True)
    assert bits[0] < math.log2(len(text.alphabet))


# The text


def letters(text: example.Text) -> str:
    return "".join(np.array([*text.alphabet])[text.ids])


def words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def paragraphs(text: str) -> set[str]:
    return {words(paragraph) for paragraph in re.split(r"\n\s*\n", text)}


def test_nothing_held_out_is_learned_from(text: example.Text) -> None:
    whole, length = letters(text), 100
    parts = whole[: text.cut], whole[text.cut :]
    assert 0.07 < len(parts[1]) / len(whole) < 0.13
    assert not set.intersection(*map(paragraphs, parts)) - {""}
    # Nor does a longer passage occur, whatever lines and paragraphs it is cut into.
    learned, held_out = (
        {part[i : i + length] for i in range(len(part) - length + 1)} for part in map(words, parts)
    )
    assert not learned & held_out


def test_the_text_is_in_order_and_whole(text: example.Text) -> None:
    from pydoc_data.topics import topics

    found = letters(text)
    assert found.startswith('The "assert" statement\n*****')
    assert paragraphs(found) == set().union(*map(paragraphs, topics.values()))
    assert 300_000 < len(found) < sum(map(len, topics.values()))


def test_the_alphabet_is_that_of_the_part_learned_from(monkeypatch: MonkeyPatch) -> None:
    topics = {str(i): f"word{i} of the text" for i in range(20)}
    topics["last"] = "only here: é and ü, é again"
    monkeypatch.setitem(sys.modules, "pydoc_data.topics", SimpleNamespace(topics=topics))
    text = example.load()
    assert text.alphabet[-1] == example.UNKNOWN
    unknown = [character for character in topics["last"] if character not in text.alphabet]
    assert {"é", "ü", ":"} <= {*unknown}
    assert (text.ids[text.cut :] == len(text.alphabet) - 1).sum() == len(unknown)


def test_characters_as_ids() -> None:
    alphabet = "\nab" + example.UNKNOWN
    assert example.encode("ba\n?b€", alphabet).tolist() == [2, 1, 0, 3, 2, 3]


# The model


def test_no_character_sees_what_comes_later(short: example.Text) -> None:
    model, ids = tiny(short), short.ids[None, : example.CONTEXT].repeat(2, axis=0)
    ids[1, 30] = (ids[1, 30] + 1) % len(short.alphabet)
    before, after = (model(one[None]).numpy()[0] for one in ids)
    np.testing.assert_array_equal(after[:30], before[:30])
    assert abs(after[30:] - before[30:]).max(axis=1).min() > 0


@pytest.fixture(scope="module")
def pairs(short: example.Text) -> np.ndarray:
    """The probabilities of each character after each other."""
    classes = len(short.alphabet)
    table = _ngrams.NGrams(short.ids[: short.cut], 2, classes)
    return np.array([row(table, [c]) for c in range(classes)])


@pytest.mark.parametrize("count", [1, 31, 32, 33, 200])
def test_model_and_tables_are_measured_alike(short: example.Text, pairs: Any, count: int) -> None:
    """A model that answers with the table of pairs has the bits of that table."""
    few = example.Text(short.alphabet, short.ids[: short.cut + count], short.cut)

    def model(ids: np.ndarray) -> Tensor:
        assert ids.shape[1] == example.CONTEXT
        return minigrad.tensor(np.log(pairs)[ids])

    found = example.bits_per_character(model, few)  # type: ignore[arg-type]
    assert found == pytest.approx(example.ngram_bits(few, 2), rel=1e-6)


def test_every_character_has_half_a_context_before_it(short: example.Text) -> None:
    counted: list[int] = []
    ids = np.arange(len(short.ids))  # every character tells its position

    def model(windows: np.ndarray) -> Tensor:
        scores = np.zeros((*windows.shape, len(ids) + 100), np.float32)
        for n, window in enumerate(windows):
            counted.extend(window[example.CONTEXT // 2 :] + 1)
            scores[n, :, 0] = window  # the further on, the less likely is anything else
        return minigrad.tensor(scores)

    few = example.Text(short.alphabet, ids, short.cut)
    found = example.bits_per_character(model, few)  # type: ignore[arg-type]
    held_out = np.arange(short.cut, len(ids))
    assert [i for i in counted if i < len(ids)][: len(held_out)] == held_out.tolist()
    expected = (held_out - 1 + np.log1p((len(ids) + 99) * np.exp(1.0 - held_out))).mean()
    assert found == pytest.approx(expected / math.log(2), rel=1e-5)


def test_shares_of_a_batch_add_up_to_the_batch(short: example.Text) -> None:
    model = tiny(short)
    windows = np.lib.stride_tricks.sliding_window_view(short.ids, example.CONTEXT + 1)[:8]
    loss = F.cross_entropy(model(windows[:, :-1]).swapaxes(1, 2), windows[:, 1:])
    whole = minigrad.autograd.grad(loss, list(model.parameters()))
    parts = np.split(windows, example.THREADS)
    shares = [example.learn(model, example.THREADS, some) for some in parts]
    assert np.mean(shares) == pytest.approx(loss.item(), rel=1e-5)
    for parameter, gradient in zip(model.parameters(), whole, strict=True):
        np.testing.assert_allclose(parameter.grad.numpy(), gradient.numpy(), atol=1e-6)


def test_training_draws_nothing_held_out(text: example.Text, monkeypatch: MonkeyPatch) -> None:
    """Every place of the part to learn from is drawn, and none behind it."""
    drawn: list[np.ndarray] = []
    for name in ("bits_per_character", "clip_grad_norm"):
        monkeypatch.setattr(example, name, lambda *_: 0.0)
    monkeypatch.setattr(example, "learn", lambda *given: drawn.append(given[-1]) or 1.0)
    example.train(tiny(text), example.Text(text.alphabet, np.arange(200), 150), steps=60)
    windows = np.concatenate(drawn)
    assert len(windows) == 60 * example.BATCH
    assert (np.diff(windows) == 1).all()
    assert {*windows.ravel().tolist()} == {*range(150)}


def test_learning_rate_rises_and_falls() -> None:
    rates = [example.learning_rate(i / 100) for i in range(101)]
    top = int(np.argmax(rates))
    assert 2 <= top <= 10
    assert rates[0] == 0 == pytest.approx(rates[-1], abs=1e-12)
    assert rates == sorted(rates[:top]) + sorted(rates[top:], reverse=True)
    assert rates[top] <= example.PEAK_RATE


# The LSTM


def small_lstm(text: example.Text) -> lstm_lm.Reader:
    return lstm_lm.Reader(text.alphabet, width=8, hidden=16)


@minigrad.no_grad()
def test_the_lstm_writes_the_likeliest_from_its_state(short: example.Text) -> None:
    """The same as if each character had been scored anew, from the beginning."""
    model, beginning = small_lstm(short), "The statement "
    for parameter in model.parameters():
        nn.init.normal(parameter)  # so that it is not always the same character
    written = "".join(lstm_lm.write(model, beginning, 60, temperature=0.0))
    assert (len(written), len({*written}) > 3) == (60, True)
    ids = example.encode(beginning, short.alphabet).tolist()
    for character in written:
        ids.append(int(model([ids]).numpy()[0, -1].argmax()))
        assert short.alphabet[ids[-1]] == character


@pytest.mark.slow
def test_the_lstm_learns(short: example.Text) -> None:
    model = small_lstm(short)
    before = example.bits_per_character(model, short)
    after = example.train(model, short, 80, lstm_lm.BATCH)[0][-1].held_out
    assert after < before - 1.5


# What they write


@pytest.mark.parametrize("beginning", ["T", "The statement " * 10])
def test_it_writes_the_likeliest_through_the_cache(short: example.Text, beginning: str) -> None:
    """Longer than a context: the same as if each character had been scored anew."""
    model, half = tiny(short), example.CONTEXT // 2
    for parameter in model.positions.parameters():
        nn.init.normal(parameter)  # so that it is not always the same character
    written = "".join(example.write(model, beginning, 150, temperature=0.0))
    assert (len(written), len({*written}) > 3) == (150, True)
    ids = example.encode(beginning, short.alphabet)[-half:].tolist()
    for character in written:
        if len(ids) == example.CONTEXT + 1:
            ids = ids[-half:]
        with minigrad.no_grad():
            ids.append(int(model([ids]).numpy()[0, -1].argmax()))
        assert short.alphabet[ids[-1]] == character


# Ctrl-C


def stop() -> None:
    raise KeyboardInterrupt


def interrupt_after(steps: int, monkeypatch: MonkeyPatch, how: Any = stop) -> None:
    """Have one of the threads of training stopped as Ctrl-C would stop it."""
    learn, calls = example.learn, itertools.count(1)

    def interrupted(*args: object) -> float:
        if next(calls) == steps * example.THREADS + 1:
            how()
        return learn(*args)

    monkeypatch.setattr(example, "learn", interrupted)


@pytest.mark.slow
def test_control_c_keeps_what_is_learned(
    tmp_path: Path, short: example.Text, monkeypatch: MonkeyPatch, call: Call
) -> None:
    monkeypatch.setattr(example, "load", lambda: short)
    interrupt_after(3, monkeypatch)
    done = call(example, "--length", "5")
    assert done.code == 130
    assert re.search(r"^stopped after 3 of \d+ steps: \d\.\d+ bits", done.out, re.MULTILINE)
    bits = dict(LINE.findall(done.out))
    model = example.restore(tmp_path / "out/char_lm/weights.npz")
    found = example.bits_per_character(model, short)
    assert float(bits["transformer"]) == pytest.approx(found, abs=6e-4)


@pytest.mark.slow
def test_a_stopped_training_goes_on_bit_for_bit(
    tmp_path: Path, short: example.Text, monkeypatch: MonkeyPatch, call: Call
) -> None:
    """Ctrl-C waits for the step that it comes in; --resume goes on with the next."""
    monkeypatch.setattr(example, "load", lambda: short)
    monkeypatch.setattr(example, "Writer", partial(example.Writer, width=16, heads=2, layers=2))

    def weights() -> dict[str, np.ndarray]:
        return dict(np.load(tmp_path / "out/char_lm/weights.npz"))

    done = call(example, "--length", "5", "--smoke")
    assert done.code == 0
    whole = weights()
    interrupt_after(7, monkeypatch, lambda: os.kill(os.getpid(), signal.SIGINT))
    stopped = call(example, "--length", "5", "--smoke")
    assert stopped.code == 130
    steps = re.search(r"^stopped after (\d+) of 20 steps: \d\.\d+ bits", stopped.out, re.MULTILINE)
    assert steps
    assert 7 <= int(steps[1]) < 20
    assert "\nthe training is in out/char_lm/training.npz, --resume goes on\n" in stopped.out

    resumed = call(example, "--length", "5", "--resume", "--seed", "7")
    assert resumed.code == 0
    assert LINE.findall(resumed.out) == LINE.findall(done.out)
    for name, array in weights().items():
        np.testing.assert_array_equal(array, whole[name])


def test_control_c_before_the_first_step(short: example.Text, monkeypatch: MonkeyPatch) -> None:
    interrupt_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        example.train(tiny(short), short, steps=5)


# The example as it is run


@pytest.fixture
def ran(smoke: Smoke) -> tuple[Path, str]:
    """The folder in which it ran for a few seconds, and what it printed."""
    return smoke(example, "--seed", "3", "--prompt", "A class ", "--length", "90")


def expect_said(output: str, name: str, model: Any, text: example.Text) -> None:
    """The bits of the tables and of a model, and what it wrote."""
    lines = LINE.findall(output)
    tables = [(f"{n}-gram", f"{example.ngram_bits(text, n):.3f}") for n in range(1, 6)]
    assert lines[:5] == lines[5:10] == tables
    ((last, bits),) = lines[10:]
    assert last == name
    assert float(bits) == pytest.approx(example.bits_per_character(model, text), abs=6e-4)
    sample = re.search(r"^20 steps in .* s\n\n(A class (?s:.{90}))\n\n", output, re.MULTILINE)
    assert sample, output
    assert {*sample[1]} <= {*text.alphabet}


def expect_written(call: Call, which: Any) -> None:
    """With --write, the same for the same seed."""
    options = ("--write", "--prompt", "An ob", "--length", "30", "--temperature", "0.5")
    first, again, other = (call(which, *options, *more) for more in ((), (), ("--seed", "1")))
    assert (first.code, first.error) == (0, "")
    assert re.fullmatch(r"An ob.{30}\n\n", first.out, re.DOTALL)
    assert again.out == first.out != other.out


@pytest.mark.slow
def test_it_says_what_came_of_it(ran: tuple[Path, str], text: example.Text) -> None:
    folder, output = ran
    model = example.restore(folder / "out/char_lm/weights.npz")
    expect_said(output, "transformer", model, text)
    bits = dict(LINE.findall(output))
    assert float(bits["transformer"]) < float(bits["1-gram"])


@pytest.mark.slow
def test_so_does_the_lstm(short: Any, call: Call, monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(example, "load", lambda: short)
    done = call(lstm_lm, "--smoke", "--seed", "3", "--prompt", "A class ", "--length", "90")
    assert (done.code, done.error) == (0, "")
    model = lstm_lm.restore(tmp_path / "out/lstm_lm/weights.npz")
    expect_said(done.out, "LSTM", model, short)
    expect_written(call, lstm_lm)


@pytest.mark.slow
def test_the_curve_is_drawn(ran: tuple[Path, str]) -> None:
    folder, output = ran
    named = re.findall(r"^(?:weights|training curve): +(out\S+)$", output, re.MULTILINE)
    assert set(named) == {str(f.relative_to(folder)) for f in (folder / "out/char_lm").iterdir()}
    bits = dict(LINE.findall(output))["transformer"]
    picture = (folder / "out/char_lm/training.svg").read_text(encoding="utf-8")
    assert f"Bits per character: {float(bits):.2f}" in picture


@pytest.mark.slow
def test_it_writes_after_a_training(ran: tuple[Path, str], call: Call, tmp_path: Path) -> None:
    shutil.copytree(ran[0] / "out", tmp_path / "out")
    expect_written(call, example)


@pytest.mark.long
def test_three_seeds_and_the_lstm_beat_the_tables(tmp_path: Path) -> None:
    for seed in range(3):
        bits = dict(LINE.findall(run(example, tmp_path, "--seed", str(seed)).out))
        assert float(bits["transformer"]) < float(bits["4-gram"]) - 0.1
    bits = dict(LINE.findall(run(lstm_lm, tmp_path).out))
    assert float(bits["LSTM"]) < float(bits["4-gram"])
