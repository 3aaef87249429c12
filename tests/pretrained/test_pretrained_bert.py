"""BERT from a folder, against BERT written out: values, gradients, every field, every refusal."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_models import BERT, assert_close, bert, leaves, make_bert, masked_lm, pooled, write

import minigrad
from minigrad import pretrained

IDS = np.array([[2, 7, 9, 11, 3], [2, 8, 3, 0, 0]])
TYPES = np.array([[0, 0, 1, 1, 1], [0, 1, 1, 0, 0]])
REAL = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
HEADS = ("pooler", "masked_lm", "next_sentence")


def loaded(folder: Path, tensors: dict[str, np.ndarray], **changes: Any) -> pretrained.Bert:
    return pretrained.load_bert(write(folder, BERT | changes, tensors))


def hidden(model: pretrained.Bert) -> Any:
    """The hidden states of the real tokens, in float64."""
    return model.double()(IDS, TYPES, key_padding_mask=REAL == 0)[REAL == 1]


def test_hidden_states_pooled_and_both_heads(tmp_path: Path) -> None:
    tensors = make_bert(BERT, *HEADS)
    model = loaded(tmp_path, tensors).double()
    assert not model.training
    t = leaves(tensors)
    ours = model(IDS, TYPES, REAL == 0)
    theirs = bert(t, BERT, IDS, TYPES, REAL)
    assert_close(ours[REAL == 1], theirs[REAL == 1])
    vectors, wanted = model.pooler(ours), pooled(t, theirs)
    assert_close(vectors, wanted)
    assert_close(model.masked_lm(ours)[REAL == 1], masked_lm(t, BERT, theirs)[REAL == 1])
    scores = wanted @ t["cls.seq_relationship.weight"].T + t["cls.seq_relationship.bias"]
    assert_close(model.next_sentence(vectors), scores)


def test_in_float32_and_by_default_one_type_and_no_padding(tmp_path: Path) -> None:
    tensors = make_bert(BERT)
    model = loaded(tmp_path, tensors)
    assert (model.pooler, model.masked_lm, model.next_sentence) == (None, None, None)
    theirs = bert(leaves(tensors), BERT, IDS, 0 * TYPES, 0 * REAL + 1)
    ours = model(minigrad.tensor(IDS))
    assert ours.dtype == np.float32
    assert_close(ours, theirs, rtol=1e-5)


def test_gradients_flow_to_every_tensor(tmp_path: Path) -> None:
    model = loaded(tmp_path, make_bert(BERT, *HEADS))
    states = model(IDS, TYPES, REAL == 0)
    vectors = model.pooler(states)
    (model.masked_lm(states).sum() + model.next_sentence(vectors).sum()).backward()
    assert all(p.grad is not None for p in model.parameters())


def test_dropout_is_where_and_as_likely_as_the_config_says(tmp_path: Path) -> None:
    rates = {"hidden_dropout_prob": 0.3, "attention_probs_dropout_prob": 0.4}
    model = loaded(tmp_path, make_bert(BERT), **rates)
    layer = model.encoder.layers[1]
    assert layer.self_attn.dropout == 0.4
    assert layer.dropout1.p == layer.dropout2.p == model.embeddings.dropout.p == 0.3
    assert layer.dropout.p == 0.0


@pytest.mark.parametrize("pad", [7, None])
def test_the_padding_token_gets_no_gradient(tmp_path: Path, pad: int | None) -> None:
    model = loaded(tmp_path, make_bert(BERT), pad_token_id=pad)
    model(IDS).sum().backward()
    moved = abs(model.embeddings.words.weight.grad).sum(axis=1) > 0
    assert moved[2]
    assert bool(moved[7]) == (pad is None)
    assert abs(model.embeddings.words.weight[7]).max() > 0  # but keeps what the file has


def test_a_head_with_a_table_of_its_own(tmp_path: Path) -> None:
    config = BERT | {"tie_word_embeddings": False}
    tensors = make_bert(config, "masked_lm")
    with pytest.raises(ValueError, match=r"cls\.predictions\.decoder\.weight: missing"):
        pretrained.load_bert(write(tmp_path, config, tensors))
    tensors["cls.predictions.decoder.weight"] = 2 * tensors["embeddings.word_embeddings.weight"]
    with pytest.raises(RuntimeError, match=r"same tensor as .*values"):
        loaded(tmp_path, tensors)
    model = pretrained.load_bert(write(tmp_path, config, tensors)).double()
    t = leaves(tensors)
    wanted = masked_lm(t, config, bert(t, config, IDS, TYPES, REAL))
    assert_close(model.masked_lm(model(IDS, TYPES, REAL == 0))[REAL == 1], wanted[REAL == 1])


def test_the_spellings_that_files_have(tmp_path: Path) -> None:
    tensors = make_bert(BERT, *HEADS)
    plain = hidden(loaded(tmp_path / "plain", tensors))
    spelled = {}
    for name, array in tensors.items():
        new = name if name.startswith("cls.") else f"bert.{name}"
        if "LayerNorm" in new:
            new = new.replace(".weight", ".gamma").replace(".bias", ".beta")
        spelled[new] = array
    spelled["bert.embeddings.position_ids"] = np.arange(16)[None]
    spelled["cls.predictions.decoder.weight"] = tensors["embeddings.word_embeddings.weight"]
    spelled["cls.predictions.decoder.bias"] = tensors["cls.predictions.bias"]
    model = loaded(tmp_path / "spelled", spelled)
    np.testing.assert_array_equal(hidden(model), plain)

    for name, array, message in (
        ("bert.embeddings.position_ids", np.arange(16)[::-1], "only 0, 1, 2 and so on"),
        ("cls.predictions.decoder.bias", tensors["cls.predictions.bias"] + 1, "other than cls"),
        ("pooler.dense.bias", tensors["pooler.dense.bias"], "there under another name too"),
    ):
        with pytest.raises(ValueError, match=message):
            loaded(tmp_path / "bad", spelled | {name: array})


def test_every_problem_of_a_config_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"(?s)vocab_size: None.*is_decoder: True.*rotary: unkno"):
        loaded(tmp_path, {}, is_decoder=True, rotary=1, vocab_size=None)


def test_tensors_that_do_not_fit_are_named(tmp_path: Path) -> None:
    tensors = make_bert(BERT, "pooler")
    del tensors["encoder.layer.1.attention.self.key.bias"], tensors["pooler.dense.bias"]
    tensors["classifier.weight"] = np.zeros((3, 12), np.float32)
    tensors["encoder.layer.2.output.dense.bias"] = np.zeros(12, np.float32)
    tensors["embeddings.LayerNorm.bias"] = np.zeros(12, np.int8)
    with pytest.raises(ValueError, match="the tensors do not fit") as caught:
        loaded(tmp_path, tensors)
    head, *lines = str(caught.value).split("\n  ")
    file = tmp_path / "model.safetensors"
    assert head == f"{file}: the tensors do not fit config.json; nothing was loaded"
    assert sorted(lines) == [
        "classifier.weight: unexpected",
        "embeddings.LayerNorm.bias: floating-point values expected, got int8",
        "encoder.layer.1.attention.self.key.bias: missing",
        "encoder.layer.2.output.dense.bias: unexpected",
        "pooler.dense.bias: missing",
    ]


def test_calls_that_do_not_fit(tmp_path: Path) -> None:
    model = loaded(tmp_path, make_bert(BERT))
    with pytest.raises(ValueError, match="position 16 is given, there are only 16"):
        model(np.ones((1, 17), int))
    with pytest.raises(ValueError, match=r"token_type_ids .*\(2, 5\)"):
        model(IDS, TYPES[:1])
    with pytest.raises(IndexError):
        model([[40]])
