"""What holds for each example: its help, one line for a mistake, its seed, its saved model."""

import shlex
from pathlib import Path
from types import ModuleType
from typing import Any

import by_hand_vs_autograd
import char_lm
import digits
import digits_cnn
import lstm_lm
import numpy as np
import pytest
import seq2seq
from example_runs import Call

import minigrad

EACH = {"--seed -1": "--seed", "--smo": "--smo"}
TRAINED = EACH | {"--out 'a file'": "a file", "--smoke --resume": "--smoke"}
MISTAKES = {
    by_hand_vs_autograd: EACH | {
        "--d-model 10 --heads 4": "--heads 4 does not divide --d-model 10", "now": "now",
        "--d-model 3": "--d-model", "--length 1": "--length", "--heads 0": "--heads",
    },
    char_lm: TRAINED | {
        "--steps 0": "--steps", "--steps many": "many", "--length 0": "--length",
        "--temperature -0.1": "-0.1", "--temperature nan": "nan", "--temperature warm": "warm",
        "--top-p 0": "--top-p", "--top-p 1.1": "1.1", "--prompt ''": "--prompt",
        "--write": "needs a training first", "--resume": "there is no out/char_lm/training.npz",
        "--resume --write": "--write", "--write --smoke": "--smoke", "--smoke --steps 3": "--smoke",
    },
    digits: TRAINED | {
        "--epochs -1": "--epochs", "--epochs 0": "--epochs", "--epochs many": "many",
        "--epochs": "--epochs", "--seed 1.5": "1.5", "--fast": "--fast", "digits": "digits",
        "--smoke --epochs 3": "--smoke", "--resume": "there is no out/digits/training.npz",
        "--out 'a file/below'": "below",
    },
    digits_cnn: TRAINED | {
        "--epochs 0": "--epochs", "--smoke --epochs 3": "--smoke",
        "--resume": "there is no out/digits_cnn/training.npz",
    },
    lstm_lm: TRAINED | {
        "--steps 0": "--steps", "--length 0": "--length", "--temperature nan": "nan",
        "--prompt ''": "--prompt", "--write": "needs a training first",
        "--resume": "there is no out/lstm_lm/training.npz", "--write --smoke": "--smoke",
    },
    seq2seq: EACH | {
        "--steps 0": "--steps", "--steps many": "many", "--number 1000000": "more than 6 digits",
        "--number seven": "seven", "--number 7": "needs a training first",
        "--number 7 --smoke": "--smoke", "--smoke --steps 3": "--smoke", "--out 'a file'": "a file",
    },
}  # fmt: skip


def name_of(example: Any) -> str | None:
    return getattr(example, "__name__", None)


ROWS = [(example, *row) for example, rows in MISTAKES.items() for row in rows.items()]


@pytest.mark.parametrize(("example", "options", "said"), ROWS, ids=name_of)
def test_a_bad_value_gets_one_line(
    call: Call, tmp_path: Path, example: ModuleType, options: str, said: str
) -> None:
    (tmp_path / "a file").write_text("in the way")
    done = call(example, *shlex.split(options))
    assert (done.code, done.out) == (2, "")
    (line,) = done.error.splitlines()
    assert line.startswith(f"{example.__name__}.py: ")
    assert said in line
    assert "--help" in line
    assert [file.name for file in tmp_path.iterdir()] == ["a file"]


HELP = {
    by_hand_vs_autograd: "--d-model --heads --length --no-mask --seed --smoke seconds",
    char_lm: "--steps --smoke --write --temperature --top-p minutes seconds",
    digits: "--epochs --seed --out --smoke seconds",
    digits_cnn: "--epochs --seed --out --smoke seconds",
    lstm_lm: "--steps --smoke --write --temperature minutes seconds",
    seq2seq: "--steps --smoke --number --seed --out minutes seconds",
}


@pytest.mark.parametrize(("example", "parts"), HELP.items(), ids=name_of)
def test_help_says_how_long_it_takes(call: Call, example: ModuleType, parts: str) -> None:
    done = call(example, "--help")
    assert (done.code, done.error) == (0, "")
    for part in parts.split():
        assert part in done.out


def writer(_folder: Path, text: char_lm.Text) -> list[np.ndarray]:
    model = char_lm.Writer(text.alphabet, width=16, heads=2, layers=2)
    char_lm.train(model, text, steps=5)
    return [parameter.numpy() for parameter in model.parameters()]


def reader_of_digits(folder: Path, _text: char_lm.Text) -> list[np.ndarray]:
    learned, held_out = digits.load()
    few = digits.Digits(learned.images[:128], learned.labels[:128])
    return [np.array(digits.train(digits_cnn.DigitCNN(8), few, held_out, 2, folder / "kept.npz"))]


def speller(_folder: Path, _text: char_lm.Text) -> list[np.ndarray]:
    model = seq2seq.Speller(width=8, heads=2, layers=1)
    seq2seq.train(model, seq2seq.split(1)[0], steps=3)
    return [parameter.numpy() for parameter in model.parameters()]


@pytest.mark.parametrize(
    "trained", [writer, reader_of_digits, pytest.param(speller, marks=pytest.mark.slow)]
)
def test_one_seed_gives_one_result(trained: Any, tmp_path: Path, short: char_lm.Text) -> None:
    results = []
    for seed in (1, 1, 2):
        minigrad.random.seed(seed)
        results.append(trained(tmp_path, short))
    first, same, other = results
    assert all(map(np.array_equal, first, same))
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize(
    ("example", "kind"), [(char_lm, char_lm.Writer), (lstm_lm, lstm_lm.Reader)], ids=name_of
)
def test_a_saved_model_is_the_same(example: Any, kind: Any, tmp_path: Path) -> None:
    alphabet = "\n abcé" + char_lm.UNKNOWN
    model = kind(alphabet)
    char_lm.save(model, tmp_path / "weights.npz")
    again = example.restore(tmp_path / "weights.npz")
    assert again.alphabet.tolist() == [ord(c) for c in alphabet]
    np.testing.assert_array_equal(again([[1, 2, 3]]).numpy(), model([[1, 2, 3]]).numpy())
