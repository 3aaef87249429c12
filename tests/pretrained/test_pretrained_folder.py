"""What holds for every folder: dtypes, parts, missing files and packages, and the documentation."""

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import reference_models as reference
from reference_models import BERT, GPT2, make_bert, make_gpt2, torch, write

from minigrad import pretrained
from minigrad.pretrained.bert_folder import BERT_FIXED, BERT_IGNORED
from minigrad.pretrained.config import ACTIVATIONS
from minigrad.pretrained.gpt2_folder import GPT2_FIXED, GPT2_IGNORED

FIELDS = [
    (pretrained.BertConfig, BERT_FIXED, BERT_IGNORED),
    (pretrained.GPT2Config, GPT2_FIXED, GPT2_IGNORED),
]
KINDS: dict[str, tuple[Any, Any, Any, Any]] = {
    "bert": (BERT, make_bert, pretrained.load_bert, pretrained.save_bert),
    "gpt2": (GPT2, make_gpt2, pretrained.load_gpt2, pretrained.save_gpt2),
}
WRITTEN_OUT: dict[str, Any] = {
    "bert": lambda t, config, ids: reference.bert(t, config, ids, 0 * ids, 0 * ids + 1),
    "gpt2": lambda t, config, ids: reference.gpt2(t, config, ids)[1],
}
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes_become_the_default_one(tmp_path: Path, dtype: str) -> None:
    from safetensors.torch import save_file

    tensors = make_gpt2(GPT2)
    there = {k: torch.tensor(v).to(getattr(torch, dtype)) for k, v in tensors.items()}
    write(tmp_path, GPT2 | {"torch_dtype": dtype}, tensors)
    save_file(there, tmp_path / "model.safetensors")
    weight = pretrained.load_gpt2(tmp_path).tokens.weight
    assert weight.dtype == np.float32
    np.testing.assert_array_equal(weight.numpy(), there["wte.weight"].float().numpy())


def test_other_dtypes_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    write(tmp_path, GPT2, {})
    save_file({"wte.weight": torch.zeros(2).to(torch.float8_e5m2)}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"model\.safetensors: wte\.weight .*F8_E5M2"):
        pretrained.load_gpt2(tmp_path)


def test_a_model_in_several_files(tmp_path: Path) -> None:
    tensors = make_gpt2(GPT2)
    whole = pretrained.load_gpt2(write(tmp_path, GPT2, tensors))
    places = reference.write_parts(tmp_path, tensors)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    blob = (tmp_path / "one.safetensors").rename(tmp_path.with_name("blob"))
    (tmp_path / "one.safetensors").symlink_to(blob)  # as Hugging Face's cache has them
    np.testing.assert_array_equal(pretrained.load_gpt2(tmp_path)([[1, 2]]), whole([[1, 2]]))
    index.write_text(json.dumps({"weight_map": places | {"gone": "one.safetensors"}}))
    with pytest.raises(ValueError, match=r"index\.json: .*gone"):
        pretrained.load_gpt2(tmp_path)
    index.write_text(json.dumps({"weight_map": places | {"gone": "../one.safetensors"}}))
    with pytest.raises(FileNotFoundError, match=r"'\.\./one\.safetensors': no such file in"):
        pretrained.load_gpt2(tmp_path)
    (tmp_path / "two.safetensors").unlink()
    index.write_text(json.dumps({"weight_map": places}))
    with pytest.raises(FileNotFoundError, match=r"two\.safetensors': no such file"):
        pretrained.load_gpt2(tmp_path)


@pytest.mark.parametrize("load", [pretrained.load_bert, pretrained.load_gpt2])
def test_missing_files(tmp_path: Path, load: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"config\.json: .*no such file"):
        load(tmp_path)
    config = {"model_type": load.__name__.removeprefix("load_")}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors: .*no such file"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json: .*no such file"):
        pretrained.load_tokenizer(tmp_path)


def test_a_missing_package_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GPT2, make_gpt2(GPT2))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match="^pretrained: .*pip install s"):
        pretrained.load_gpt2(tmp_path)
    with pytest.raises(ImportError, match="^load_tokenizer: .*pip install t"):
        pretrained.load_tokenizer(tmp_path)


PADDING = {"strategy": {"Fixed": 2**53}, "direction": "Right", "pad_to_multiple_of": None,
           "pad_id": 0, "pad_type_id": 0, "pad_token": "a"}  # fmt: skip


def tokenizer_file(folder: Path) -> None:
    """A tokenizer of BERT's, and the settings that repeat its own."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(AGREED))


AGREED = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}


@pytest.mark.needs("tokenizers")
@pytest.mark.parametrize(
    ("name", "first", "value"),
    [("do_lower_case", "lowercase", 1), ("strip_accents", "strip_accents", True),
     ("tokenize_chinese_chars", "handle_chinese_chars", "no")],
)  # fmt: skip
def test_a_tokenizer_of_which_two_things_are_said(
    tmp_path: Path, name: str, first: str, value: Any
) -> None:
    tokenizer_file(tmp_path)
    assert pretrained.load_tokenizer(tmp_path).encode("x").ids == [0]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(AGREED | {name: value}))
    message = rf"tokenizer_config\.json: {name}: {value!r}, but in tokenizer\.json {first} is "
    with pytest.raises(ValueError, match=message):
        pretrained.load_tokenizer(tmp_path)


@pytest.mark.needs("tokenizers")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, ""),
        ({"model": {"type": "WordLevel", "vocab": {"a": 2**32 - 1}}}, "model.vocab.a: 16777216 at"),
        # With this one, tokenizers ends the process at the first text.
        ({"model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}, "padding": PADDING},
         "padding.strategy.Fixed: 16777216 at most expected, got 9007199254740992"),
    ],
)  # fmt: skip
def test_a_broken_tokenizer_is_named(tmp_path: Path, content: Any, said: str) -> None:
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=rf"tokenizer\.json: {said}"):
        pretrained.load_tokenizer(tmp_path)


def test_no_field_is_accounted_for_twice() -> None:
    for config, fixed, ignored in FIELDS:
        honoured = {field.name for field in dataclasses.fields(config)}
        assert len(honoured | {*fixed} | ignored) == len(honoured) + len(fixed) + len(ignored)


def test_the_page_tells_of_every_field_and_activation() -> None:
    text = (ROOT / "docs" / "pretrained.md").read_text(encoding="utf-8")
    told = {*re.findall(r"`(\w+)`", text)}
    for config, fixed, ignored in FIELDS:
        wanted = {field.name for field in dataclasses.fields(config)} | {*fixed} | ignored
        assert not wanted - told
    assert not {*ACTIVATIONS} - told


@pytest.mark.parametrize("load", [name for name in pretrained.__all__ if "load_" in name])
def test_what_is_no_folder_is_refused_with_the_remedy(load: str) -> None:
    function: Any = getattr(pretrained, load)
    with pytest.raises(FileNotFoundError, match=f"^{load}: .*'bert-base-uncased'"):
        function("bert-base-uncased")
    for wrong in (None, 3, ["folder"]):
        with pytest.raises(TypeError, match=f"^{load}: .*folder"):
            function(wrong)


REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "bert": [
        ({"position_embedding_type": "relative_key"},
         "position_embedding_type: 'relative_key' is not supported, only 'absolute'"),
        ({"is_decoder": True}, "is_decoder: True is not supported, only False"),
        ({"add_cross_attention": True}, "add_cross_attention: True"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads: {'0': "),
        ({"hidden_act": "quick_gelu"}, "hidden_act: 'quick_gelu' given, one of gelu, "),
        ({"embedding_size": 128}, "embedding_size: unknown, with the value 128; remove it"),
        ({"hidden_size": "12"}, "hidden_size: '12' given, a whole number of at least 1 expected"),
        ({"num_attention_heads": 5}, "num_attention_heads: 5 given, but hidden_size is 12"),
        ({"hidden_dropout_prob": 2}, "hidden_dropout_prob: 2 given, a number from 0 to 1"),
        ({"model_type": "roberta"},
         "model_type: 'roberta' is not supported, only 'bert'"),
    ],
    "gpt2": [
        ({"scale_attn_by_inverse_layer_idx": True},
         "scale_attn_by_inverse_layer_idx: True is not supported, only False"),
        ({"scale_attn_weights": False}, "scale_attn_weights: False is not supported, only True"),
        ({"reorder_and_upcast_attn": True}, "reorder_and_upcast_attn: True"),
        ({"add_cross_attention": True}, "add_cross_attention: True"),
        ({"n_ctx": 8}, "n_ctx: 8 differs from n_positions, 16"),
        ({"activation_function": "geglu"}, "activation_function: 'geglu' given, one of gelu, "),
        ({"attention_window": 4}, "attention_window: unknown, with the value 4"),
        ({"n_head": 5}, "n_head: 5 given, but n_embd is 12"),
        ({"model_type": "gpt_neo"}, "'gpt_neo' is not supported, only 'gpt2'"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [(kind, change, said) for kind, rows in REFUSED.items() for change, said in rows],
    ids=str,
)
def test_what_is_not_honoured_is_refused(tmp_path: Path, kind: str, change: Any, said: str) -> None:
    config, make, load, _ = KINDS[kind]
    write(tmp_path, config | change, make(config))
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        load(tmp_path)
    assert str(caught.value).startswith(str(tmp_path / "config.json"))


ACTIVATION = {"bert": "hidden_act", "gpt2": "activation_function"}
CHANGES: dict[str, list[dict[str, Any]]] = {
    "bert": [
        {"layer_norm_eps": 0.3}, {"num_attention_heads": 2}, {"num_hidden_layers": 1},
        {"intermediate_size": 8}, {"hidden_size": 6}, {"vocab_size": 30},
        {"max_position_embeddings": 5}, {"type_vocab_size": 3},
    ],
    "gpt2": [
        {"layer_norm_epsilon": 0.3}, {"n_head": 2}, {"n_layer": 1}, {"n_inner": 8}, {"n_embd": 6},
        {"vocab_size": 41}, {"n_positions": 5, "n_ctx": 5},
    ],
}  # fmt: skip
SAME = {"gelu", "gelu_python"}, {"gelu_new", "gelu_fast", "gelu_pytorch_tanh"}
"""Names of one activation, which each config has first."""


@pytest.mark.parametrize(
    ("kind", "change"),
    [(kind, change) for kind, field in ACTIVATION.items()
     for change in (*({field: name} for name in ACTIVATIONS), *CHANGES[kind])],
    ids=str,
)  # fmt: skip
def test_every_field_has_its_effect(tmp_path: Path, kind: str, change: dict[str, Any]) -> None:
    config, make, load, _ = KINDS[kind]
    ids = np.array([[2, 7, 9, 11, 3], [2, 8, 3, 0, 29]])
    before = load(write(tmp_path / "a", config, make(config))).double()(ids)
    tensors = make(config | change)
    after = load(write(tmp_path / "b", config | change, tensors)).double()(ids)
    expected = WRITTEN_OUT[kind](reference.leaves(tensors), config | change, ids)
    reference.assert_close(after, expected)
    changed = after.shape != before.shape or abs(after - before).max() > 1e-4
    name = change.get(ACTIVATION[kind])
    assert changed == (not any({name, config[ACTIVATION[kind]]} <= names for names in SAME))


@pytest.mark.parametrize(("kind", "axes"), [("bert", "hidden_size"), ("gpt2", "n_embd")])
def test_a_table_of_another_size_is_named(tmp_path: Path, kind: str, axes: str) -> None:
    config, make, load, _ = KINDS[kind]
    said = rf"(embedding|wte).*: shape \(40, 12\) .* it is \(41, 12\): \(vocab_size, {axes}\)"
    with pytest.raises(ValueError, match=said):
        load(write(tmp_path, config | {"vocab_size": 41}, make(config)))


HEADS = ("pooler", "masked_lm", "next_sentence")


@pytest.mark.parametrize(
    ("kind", "heads"), [("bert", ()), ("bert", ("pooler",)), ("bert", HEADS), ("gpt2", ())]
)
@pytest.mark.parametrize("tied", [True, False])
def test_what_is_saved_is_the_same(tmp_path: Path, kind: str, heads: Any, tied: bool) -> None:
    whole, make, load, save = KINDS[kind]
    config = whole | {"tie_word_embeddings": tied}
    tensors = make(config, *heads)
    if kind == "gpt2" and not tied:
        tensors["lm_head.weight"] = tensors["wte.weight"] / 3
    if "masked_lm" in heads and not tied:
        tensors["cls.predictions.decoder.weight"] = tensors["embeddings.word_embeddings.weight"] / 3
    model = load(write(tmp_path / "first", config, tensors))
    save(model, tmp_path / "deep" / "second")
    from safetensors.numpy import load_file

    saved = load_file(tmp_path / "deep" / "second" / "model.safetensors")
    prefix = "bert." if kind == "bert" else "transformer."
    plain = {name.removeprefix(prefix): array for name, array in saved.items()}
    assert plain.keys() == tensors.keys()
    for name, array in tensors.items():
        np.testing.assert_array_equal(plain[name], array, err_msg=name)
    prefixed = any(name.startswith(prefix) for name in saved)
    assert prefixed == (kind == "gpt2" or "masked_lm" in heads)
    again = load(tmp_path / "deep" / "second")
    assert again.config == model.config
    np.testing.assert_array_equal(again([[2, 7, 9, 11, 3]]), model([[2, 7, 9, 11, 3]]))
