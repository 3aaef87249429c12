"""The example that compares sentences: its table, and its one-line answers to mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import sentence_embeddings as example
from example_runs import run

from minigrad import pretrained

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("safetensors")

SENTENCES = ["the cat sat", "a dog", "the cat sat on a mat"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A small random model."""
    words = ["[UNK]", "the", "cat", "sat", "on", "a", "mat", "dog"]
    config = pretrained.BertConfig(
        vocab_size=len(words), hidden_size=12, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=8,
    )  # fmt: skip
    pretrained.save_bert(pretrained.Bert(config), tmp_path)
    model = tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, "[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    modules = [{"type": "st.Transformer", "path": ""}, {"type": "st.Pooling", "path": "pool"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    (tmp_path / "pool").mkdir()
    pooling = {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True}
    (tmp_path / "pool" / "config.json").write_text(json.dumps(pooling))
    return tmp_path


def test_the_table(folder: Path) -> None:
    done = run(example, folder, str(folder), *SENTENCES)
    assert (done.code, done.error) == (0, "")
    shown = np.array([
        [float(number) for number in re.findall(r"-?\d\.\d{3}", line)]
        for line in done.out.splitlines()[1:]
    ])  # fmt: skip
    vectors = pretrained.load_sentence_encoder(folder).encode(SENTENCES).numpy()
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(shown, units @ units.T, atol=6e-4)
    for sentence in SENTENCES:
        assert f"  {sentence:<20} " in done.out


def test_mistakes_get_one_line(folder: Path) -> None:
    (folder / "pool" / "config.json").write_text("{}")
    for arguments, code, message in (
        ([str(folder / "none"), "a", "b"], 1, "there is no folder"),
        ([str(folder), "a", "b"], 1, "no pooling_mode is on"),
        ([str(folder), "a"], 2, "two sentences at least"),
    ):
        done = run(example, folder, *arguments)
        assert done.code == code
        assert message in done.error
        assert "Traceback" not in done.error
        assert done.out == ""
