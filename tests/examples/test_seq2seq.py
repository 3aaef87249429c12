"""The example that spells numbers: its data, its decoding, and what it says when it is run."""

import re
import shutil
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import seq2seq as example
from example_runs import Call, Smoke, run
from hypothesis import given
from hypothesis import strategies as st

import minigrad

TOTAL = re.compile(r"^exact match: (\d+\.\d) % of 1,000 held-out numbers$", re.MULTILINE)

# The names of numbers


UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TEENS = [
    "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
    "eighteen", "nineteen",
]  # fmt: skip
TIES = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
VALUES = {word: n for n, word in enumerate(["zero", *UNITS, *TEENS])}
VALUES |= {word: 10 * n for n, word in enumerate(TIES, 2)}


def form() -> str:
    """What a name looks like, as a regular expression."""
    unit, teen, tie = (f"(?:{'|'.join(words)})" for words in (UNITS, TEENS, TIES))
    below_100 = f"(?:{unit}|{teen}|{tie}(?:-{unit})?)"
    below_1000 = f"(?:{below_100}|{unit} hundred(?: {below_100})?)"
    return f"zero|{below_1000}(?: thousand(?: {below_1000})?)?"


def read(name: str) -> int:
    """The number of a name."""
    assert re.fullmatch(form(), name), name
    whole = part = 0
    for word in re.split("[ -]", name):
        if word == "thousand":
            whole, part = 1000 * part, 0
        else:
            part = 100 * part if word == "hundred" else part + VALUES[word]
    return whole + part


def test_what_is_no_name_is_not_read() -> None:
    for text in ("", "twenty one", "one-hundred", "ten-one", "one thousand zero", "forty  two"):
        with pytest.raises(AssertionError):
            read(text)


def test_a_name_says_its_number_and_none_is_longer_than_the_longest() -> None:
    names = [example.spell(number) for number in range(1000)]
    assert [*map(read, names)] == [*range(1000)]
    assert names[342] == "three hundred forty-two"
    assert 2 * max(map(len, names)) + len(" thousand ") == example.LONGEST


@given(st.integers(0, 999_999))
def test_a_long_name_says_its_number(number: int) -> None:
    assert read(example.spell(number)) == number


# The data


@pytest.mark.parametrize("seed", range(5))
def test_what_is_held_out_is_not_learned_from(seed: int) -> None:
    learned, held_out = example.split(seed)
    assert [len(numbers) for numbers in held_out] == [1, 9, 90, 300, 300, 300]
    assert 0 in learned[0]
    for digits, parts in enumerate(zip(learned, held_out, strict=True), start=1):
        first = 10 ** (digits - 1) if digits > 1 else 0
        every = np.sort(np.concatenate(parts))
        np.testing.assert_array_equal(every, np.arange(first, 10**digits))  # each of them once


def test_the_seed_says_what_is_held_out() -> None:
    first, same, other = (np.concatenate(example.split(seed)[1]) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, same)
    assert len(np.intersect1d(first, other)) < 100


def test_training_draws_from_every_length_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = Mock(wraps=example.tokens)
    monkeypatch.setattr(example, "tokens", tokens)
    learned = [np.array([0, 3]), np.array([42]), np.array([512, 700])]
    example.train(example.Speller(width=8, heads=2, layers=1), learned, steps=2)
    given = [text for call in tokens.call_args_list for text in call.args[0]]
    drawn = [text for text in given if not text.startswith(example.START)]
    names = [text for text in given if text.startswith(example.START)]
    assert {*drawn} == {"0", "3", "42", "512", "700"}
    assert names == [f"<{example.spell(int(text))}>" for text in drawn]
    assert len(drawn) == 2 * example.BATCH
    assert drawn.count("42") > 2 * example.BATCH / 6  # a third is expected


def test_texts_as_tokens() -> None:
    ids = example.tokens(["<ab>", "7"])
    assert ids.shape == (2, 4)
    assert "".join(example.CHARACTERS[i] for i in ids.ravel()) == "<ab>7___"
    assert len({*example.CHARACTERS}) == len(example.CHARACTERS)


# Decoding


@pytest.fixture(scope="module")
def model() -> example.Speller:
    """A model that knows some short numbers: what it writes is not always the same."""
    minigrad.random.seed(0)
    speller = example.Speller(width=32, heads=2, layers=2)
    example.train(speller, [np.arange(1, 10), np.arange(20, 60)], steps=60)
    return speller


NUMBERS = [348_199, 7, 52, 9_001]


@pytest.mark.slow
def test_the_letters_are_the_likeliest_of_the_whole_pass(model: example.Speller) -> None:
    """Step by step through the caches, or all at once: the same scores."""
    spellings = example.write(model, NUMBERS)
    assert [spelling.number for spelling in spellings] == NUMBERS
    for number, name in spellings:
        with minigrad.no_grad():
            scores = model(example.tokens([str(number)]), example.tokens([example.START + name]))
        likeliest = "".join(example.CHARACTERS[i] for i in scores.numpy()[0].argmax(axis=-1))
        assert likeliest.startswith(name)
        assert likeliest[len(name)] == example.END or len(name) == example.LONGEST + 1


@pytest.mark.slow
def test_longer_numbers_in_the_batch_change_nothing(model: example.Speller) -> None:
    alone = [example.write(model, [number])[0] for number in NUMBERS]
    assert example.write(model, NUMBERS) == alone
    assert len({spelling.name for spelling in alone}) > 1


def test_dropped_padding_mask_would_be_seen(model: example.Speller) -> None:
    digits, letters = example.tokens(["7", "348199"]), example.tokens(["<sev", "<thr"])
    memory, padding = model.encode(digits)
    scores = model.decode(letters, memory, padding).numpy()
    assert padding.tolist() == [[False] + 5 * [True], 6 * [False]]
    np.testing.assert_allclose(scores[:1], model(digits[:1, :1], letters[:1]).numpy(), atol=1e-4)
    open_scores = model.decode(letters, memory, np.zeros_like(padding)).numpy()
    assert abs(open_scores[0] - scores[0]).max() > 1e-2


def test_cross_attention_is_that_of_the_model(model: example.Speller) -> None:
    found = example.cross_attention(model, example.Spelling(3481, "three"))
    assert not any(one._forward_hooks or one._forward_pre_hooks for one in model.modules())
    assert found.shape == (2, 2, 6, 4)  # layers, heads, letters and the end, digits
    np.testing.assert_allclose(found.sum(axis=-1), 1.0, atol=1e-5)

    with minigrad.no_grad():
        memory, _ = model.encode(example.tokens(["3481"]))
        x = model.positions(model.characters(example.tokens(["<three"])))
        for layer, weights in zip(model.transformer.decoder.layers, found, strict=True):
            own = layer.norm1(x)
            y = x + layer.self_attn(own, own, own, is_causal=True)
            _, expected = layer.multihead_attn(layer.norm2(y), memory, memory, need_weights=True)
            np.testing.assert_allclose(weights, expected.numpy()[0], atol=1e-5)
            x = layer(x, memory, tgt_is_causal=True)


def test_a_spelling_says_whether_it_is_right() -> None:
    assert str(example.Spelling(21, "twenty-one")) == "      21  right  twenty-one"
    wrong = "      21  wrong  twenty one\n       expected  twenty-one"
    assert str(example.Spelling(21, "twenty one")) == wrong


# The example as it is run


Ran = tuple[Path, str]


@pytest.fixture
def ran(smoke: Smoke) -> Ran:
    """The folder in which it ran for a few seconds, and what it printed."""
    return smoke(example, "--seed", "3")


def trained(folder: Path) -> example.Speller:
    model = example.Speller()
    with np.load(folder / "out/seq2seq/weights.npz") as state:
        model.load_state_dict(state)
    return model


@pytest.mark.slow
def test_it_says_what_came_of_it(ran: Ran) -> None:
    folder, output = ran
    loss = re.search(r"^step 20/20: loss (\d\.\d+)$", output, re.MULTILINE)
    assert loss
    assert float(loss[1]) < 3.5  # guessing is log 41 = 3.7
    table = re.findall(r"^ +(\d)  (\d+) of (\d+)$", output, re.MULTILINE)
    assert [*zip(*table, strict=True)][::2] == [(*"123456",), ("1", "9", "90", *3 * ["300"])]
    total = TOTAL.search(output)
    assert total
    assert float(total[1]) == pytest.approx(sum(int(right) for _, right, _ in table) / 10)
    named = re.findall(r"^(?:weights|cross-attention): +(out\S+)$", output, re.MULTILINE)
    written = {str(file.relative_to(folder)) for file in (folder / "out/seq2seq").iterdir()}
    assert set(named) == written
    assert len(named) == 2


@pytest.mark.slow
def test_what_it_prints_is_what_the_weights_write(ran: Ran) -> None:
    folder, output = ran
    held_out = example.split(3)[1]
    model = trained(folder)
    for numbers in held_out:
        for spelling in example.write(model, numbers.tolist())[:2]:
            assert str(spelling) in output
    assert (folder / f"out/seq2seq/attention-{held_out[-1][-1]}.svg").is_file()


@pytest.mark.slow
def test_one_number_is_spelled_after_a_training(ran: Ran, call: Call, tmp_path: Path) -> None:
    shutil.copytree(ran[0] / "out", tmp_path / "out")
    done = call(example, "--number", "3481")
    assert (done.code, done.error) == (0, "")
    assert str(example.write(trained(tmp_path), [3481])[0]) in done.out
    assert "out/seq2seq/attention-3481.svg" in done.out
    picture = (tmp_path / "out/seq2seq/attention-3481.svg").read_text(encoding="utf-8")
    assert re.findall(r">([0-9])</text>", picture)[:4] == [*"3481"]


@pytest.mark.long
def test_three_seeds_spell_95_percent(tmp_path: Path) -> None:
    for seed in range(3):
        total = TOTAL.search(run(example, tmp_path, "--seed", str(seed)).out)
        assert total
        assert float(total[1]) >= 95
