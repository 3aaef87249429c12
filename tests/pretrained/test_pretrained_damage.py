"""Folders that are damaged or hostile: the promised error, with the file and the field in it.

And before anything large is made.
"""

import copy
import functools
import json
import operator
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_models import BERT, GPT2, make_bert, make_gpt2, write, write_parts
from test_pretrained_folder import tokenizer_file

import minigrad
from minigrad import nn, pretrained
from minigrad.pretrained.bert_folder import BERT_IGNORED
from minigrad.pretrained.gpt2_folder import GPT2_IGNORED

MOST = 8 << 20
"""How many bytes a load of these small models may take."""
NESTED = "[" * 10_000 + "]" * 10_000
VALUES: list[Any] = [
    None, float("nan"), float("inf"), -1, 0, 1.5, 10**9, 10**400, True, False, "x", "\0", "../x",
    "x" * 5000, "\ud800", [], [None], [[[[[]]]]], {}, {"x": None},
]  # fmt: skip
"""What each value of a file is replaced by in turn."""
FINE: dict[str, dict[str, list[Any]]] = {
    "config.json": {
        "hidden_dropout_prob": [0], "attention_probs_dropout_prob": [0], "layer_norm_eps": [0],
        "attn_pdrop": [0], "embd_pdrop": [0], "resid_pdrop": [0], "layer_norm_epsilon": [0],
        "pad_token_id": [None, 0], "n_ctx": [None], "n_inner": [None],
        "tie_word_embeddings": [True], "is_decoder": [False, 0],
        **dict.fromkeys(BERT_IGNORED | GPT2_IGNORED - {"pad_token_id"}, VALUES),
    },
    "model.safetensors.index.json": {"metadata": VALUES, "total_size": VALUES},
    "tokenizer_config.json": {
        "do_lower_case": [True], "strip_accents": [None], "tokenize_chinese_chars": [True],
    },
}  # fmt: skip
"""Of these, what is right where."""


def bert_folder(path: Path) -> Callable[[Path], Any]:
    config = BERT | {"is_decoder": False, "num_hidden_layers": 1}
    write(path, config, make_bert(config, "pooler"))
    return pretrained.load_bert


def gpt2_folder(path: Path) -> Callable[[Path], Any]:
    """Of a GPT-2 in two files."""
    config = GPT2 | {"n_inner": 48, "tie_word_embeddings": True, "n_layer": 1}
    tensors = make_gpt2(config)
    write(path, config, {})
    index = {"metadata": {"total_size": 1}, "weight_map": write_parts(path, tensors)}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))
    return pretrained.load_gpt2


def tokenizer_folder(path: Path) -> Callable[[Path], Any]:
    tokenizer_file(path)
    return pretrained.load_tokenizer


def places_in(content: Any) -> Iterator[tuple[Any, ...]]:
    """The path to every value in an object or list, the outer ones first."""
    entries = content.items() if isinstance(content, dict) else enumerate(content)
    for key, value in entries:
        yield (key,)
        if isinstance(value, (dict, list)):
            yield from ((key, *rest) for rest in places_in(value))


def changed(content: Any, place: tuple[Any, ...], *value: Any) -> Any:
    """A copy with another value at a place, or without it."""
    result = copy.deepcopy(content)
    inner = functools.reduce(operator.getitem, place[:-1], result)
    if value:
        inner[place[-1]] = value[0]
    else:
        del inner[place[-1]]
    return result


def attempt(load: Callable[[Path], Any], folder: Path) -> str:
    """Load a folder; the message of the error, empty if there is none."""
    tracing = tracemalloc.is_tracing()
    if tracing:
        tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        load(folder)
    except (FileNotFoundError, ValueError) as error:  # any other is the test's failure
        message = str(error)
        assert message
    else:
        message = ""
    assert not tracing or tracemalloc.get_traced_memory()[1] - before < MOST
    return message


@pytest.fixture
def traced() -> Iterator[None]:
    tracemalloc.start()
    yield
    tracemalloc.stop()


FOLDERS = {
    "bert": (bert_folder, ["config.json"]),
    "gpt2": (gpt2_folder, ["config.json", "model.safetensors.index.json"]),
    "tokenizer": (tokenizer_folder, ["tokenizer_config.json"]),
}
FILES = [(kind, file) for kind, (_, files) in FOLDERS.items() for file in files]


@pytest.mark.parametrize(("kind", "file"), FILES)
def test_any_value_in_a_file(tmp_path: Path, kind: str, file: str) -> None:
    load = FOLDERS[kind][0](tmp_path)
    content = json.loads((tmp_path / file).read_text())
    assert attempt(load, tmp_path) == ""
    for place in places_in(content):
        fine = [value for field in place for value in FINE[file].get(field, [])]
        for value in VALUES:
            (tmp_path / file).write_text(json.dumps(changed(content, place, value)))
            message = attempt(load, tmp_path)
            if any(same(value, one) for one in fine):
                assert message == "", (place, value)
            elif place == ("tie_word_embeddings",) and value is False:
                assert "lm_head.weight: missing" in message
            else:
                assert file in message, (place, value, message)
                assert any(name in message for name in place), (place, value, message)
        (tmp_path / file).write_text(json.dumps(changed(content, place)))
        attempt(load, tmp_path)  # it may have a default


def same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and a == b)


@pytest.mark.parametrize(("kind", "file"), [*FILES, ("tokenizer", "tokenizer.json")])
def test_any_bytes_in_the_place_of_a_file(tmp_path: Path, kind: str, file: str) -> None:
    load = FOLDERS[kind][0](tmp_path)
    whole = (tmp_path / file).read_bytes()
    parts = [whole[: len(whole) * i // 7] for i in range(7)]
    other = b"[]" if whole.startswith(b"{") else b"{}"
    for damaged in (
        *parts, whole.replace(b'"', b"\xff", 3), whole.decode().encode("utf-16"), b"\0" + whole,
        other, b"[{}]", b"null", b"NaN", b"1", b'"x"', NESTED.encode(), b"9" * 5000,
        b'{"x":' * 10_000 + b"1" + b"}" * 10_000, whole[:-1] + b',"x":' + NESTED.encode() + b"}",
    ):  # fmt: skip
        (tmp_path / file).write_bytes(damaged)
        assert file in attempt(load, tmp_path), damaged[:50]


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_any_damage_to_the_weights(tmp_path: Path, kind: str) -> None:
    load = FOLDERS[kind][0](tmp_path)
    path = sorted(tmp_path.glob("*.safetensors"))[0]
    whole = path.read_bytes()
    random = np.random.default_rng(0)
    for i in range(100):
        damaged = bytearray(whole[: random.integers(len(whole))] if i % 2 else whole)
        for place in random.integers(0, min(1500, len(damaged)) or 1, i % 5):
            damaged[place % max(len(damaged), 1) : place + 1] = random.bytes(1)
        path.write_bytes(damaged)
        attempt(load, tmp_path)
    path.write_bytes(b"no tensors")
    assert path.name in attempt(load, tmp_path)


LARGE: list[tuple[Any, dict[str, int], dict[str, np.ndarray]]] = [
    (pretrained.load_bert, {"num_hidden_layers": 10**7}, {}),
    (pretrained.load_bert, {"hidden_size": 3 * 10**4},  # a small table, and nothing of its squares
     {"embeddings.word_embeddings.weight": np.zeros((40, 3 * 10**4), np.float16)}),
    (pretrained.load_bert, {"intermediate_size": 10**9}, {}),
    (pretrained.load_bert, {"max_position_embeddings": 10**9}, {}),
    (pretrained.load_gpt2, {"n_layer": 10**7}, {}),
    (pretrained.load_gpt2, {"n_embd": 3 * 10**9}, {}),
    (pretrained.load_gpt2, {}, {"h.0.attn.bias": np.ones((1, 1, 1, 10**6), np.uint8)}),
]  # fmt: skip


@pytest.mark.usefixtures("traced")
@pytest.mark.parametrize(("load", "config", "tensors"), LARGE)
def test_sizes_are_checked_first(tmp_path: Path, load: Any, config: Any, tensors: Any) -> None:
    whole, made = (BERT, make_bert) if load is pretrained.load_bert else (GPT2, make_gpt2)
    folder = write(tmp_path, whole | config, made(whole) | tensors)
    assert next(iter(config or tensors)) in attempt(load, folder)


@pytest.mark.parametrize("config", [pretrained.BertConfig, pretrained.GPT2Config])
def test_a_config_made_by_hand_is_checked_too(config: Any) -> None:
    eps = "layer_norm_eps" if config is pretrained.BertConfig else "layer_norm_epsilon"
    for value in (float("nan"), -1e-5, float("inf"), None, "x"):
        with pytest.raises(ValueError, match=rf"^{config.__name__}: wrong fields\n  {eps}: "):
            config(**{eps: value})
    assert config(vocab_size=np.int64(50)).vocab_size == 50


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_loading_draws_nothing(tmp_path: Path, kind: str) -> None:
    load = FOLDERS[kind][0](tmp_path)
    state = minigrad.random.get_state()
    load(tmp_path)
    assert minigrad.random.get_state() == state
    drawn = nn.Linear(3, 2)  # afterwards parameters are drawn again
    assert drawn.weight.numpy().any()
    assert minigrad.random.get_state() != state
