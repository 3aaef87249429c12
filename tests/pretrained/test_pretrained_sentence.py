"""Sentence embeddings from a folder, against each sentence alone through BERT written out."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_models import BERT, assert_close, bert, leaves, make_bert, torch, write

import minigrad
from minigrad import pretrained

tokenizers = pytest.importorskip("tokenizers")

WORDS = [
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "##s", "##ed", "##ing", ",", ".", "?"),
    *("the", "a", "cat", "dog", "bird", "sat", "ran", "on", "in", "mat", "park", "to", "eat"),
    *("fish", "is", "it", "he", "she", "likes", "small", "large", "play", "walk", "sun", "sky"),
    *("blue", "green", "home", "old", "new"),
]
TEXTS = ["the cat sat on a mat.", "Dogs", "", "it plays in the large park, he walked home", "a dog"]
UNUSED = WORDS.index("fish")
*MODULES, NORMALIZE = [
    {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
    for i, (path, kind) in enumerate(
        [("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize")])
]  # fmt: skip
MEAN = {
    "word_embedding_dimension": 12, "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}  # fmt: skip
TEXT = {"max_seq_length": 12, "do_lower_case": False}
CLS = MEAN | {"pooling_mode_mean_tokens": False, "pooling_mode_cls_token": True}
MAX = MEAN | {"pooling_mode_mean_tokens": False, "pooling_mode_max_tokens": True}
TWO = {"embedding_dimension": 12, "pooling_mode": ["mean", "cls"]}
ALL = CLS | MAX | MEAN | {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}


def make_tokenizer(*, lowercase: bool = True) -> Any:
    """A word-piece tokenizer whose file also says to cut and to pad to a length of its own."""
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    assert len(vocabulary) == BERT["vocab_size"]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )  # fmt: skip
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=9)
    return tokenizer


def folder_of(
    path: Path, *, bert: Any = BERT, pooling: Any = MEAN, modules: Any = MODULES, text: Any = TEXT,
    whole: Any = None, tokenizer: Any = None, lowercase: bool = True,
) -> Path:  # fmt: skip
    """A folder as sentence-transformers writes it, with small random tensors."""
    write(path, bert, make_bert(bert, "pooler"))
    make_tokenizer(lowercase=lowercase).save(str(path / "tokenizer.json"))
    (path / "1_Pooling").mkdir(exist_ok=True)
    for name, content in (
        ("modules.json", modules), ("1_Pooling/config.json", pooling),
        ("sentence_bert_config.json", text), ("config_sentence_transformers.json", whole),
        ("tokenizer_config.json", tokenizer),
    ):  # fmt: skip
        if content is not None:
            (path / name).write_text(json.dumps(content))
    return path


def encoder_of(path: Path, **options: Any) -> pretrained.SentenceEncoder:
    return pretrained.load_sentence_encoder(folder_of(path, **options)).double()


def alone(
    text: str, mode: str, *, normalize: bool = False, longest: int = 12, lowercase: bool = True
) -> Any:
    """The vector of one text, without any padding: (1, D)."""
    tokenizer = make_tokenizer(lowercase=lowercase)
    tokenizer.no_padding()
    tokenizer.enable_truncation(longest)
    ids = torch.tensor([tokenizer.encode(text).ids])
    hidden = bert(leaves(make_bert(BERT)), BERT, ids, 0 * ids, 0 * ids + 1)
    vector = {
        "mean": hidden.mean(dim=1), "cls": hidden[:, 0], "max": hidden.max(dim=1).values
    }[mode]  # fmt: skip
    return vector / vector.pow(2).sum().sqrt() if normalize else vector


POOLINGS = [
    (MEAN, ["mean"]), (CLS, ["cls"]), (MAX, ["max"]), (ALL, ["cls", "max", "mean"]),
    ({"embedding_dimension": 12, "pooling_mode": "max"}, ["max"]), (TWO, ["mean", "cls"]),
]  # fmt: skip


@pytest.mark.parametrize(("pooling", "modes"), POOLINGS)
@pytest.mark.parametrize("batch_size", [1, 2, 32])
def test_every_text_as_if_alone(tmp_path: Path, pooling: Any, modes: Any, batch_size: int) -> None:
    model = encoder_of(tmp_path, pooling=pooling)
    vectors = model.encode(TEXTS, batch_size=batch_size)
    expected = torch.cat([torch.cat([alone(t, m) for m in modes], dim=1) for t in TEXTS])
    assert_close(vectors, expected)
    assert not vectors.requires_grad
    assert not model.training


def test_padding_has_no_influence(tmp_path: Path) -> None:
    """Whatever its tokens are, however many, and for gradients too."""
    for pooling in (MEAN, CLS, MAX):
        model = encoder_of(tmp_path, pooling=pooling)
        ids, types, padding = model.tokenize(TEXTS)
        assert padding.any()
        plain = model(ids, types, padding)
        other = np.where(padding, UNUSED, ids)
        np.testing.assert_array_equal(model(other, np.where(padding, 1, types), padding), plain)
        wide = [np.pad(array, ((0, 0), (0, 3)), constant_values=1) for array in (ids, types)]
        longer = np.pad(padding, ((0, 0), (0, 3)), constant_values=True)
        assert abs(model(*wide, longer) - plain).max() < 1e-12
        model(other, types, padding).sum().backward()
        assert abs(model.bert.embeddings.words.weight.grad[UNUSED]).max() == 0


def test_gradients_reach_the_model(tmp_path: Path) -> None:
    model = encoder_of(tmp_path, modules=[*MODULES, NORMALIZE])
    (model(*model.tokenize(TEXTS)) ** 3).sum().backward()
    unused = {"bert.pooler.linear.weight", "bert.pooler.linear.bias"}
    for name, parameter in model.named_parameters():
        assert (parameter.grad is None) == (name in unused), name


LENGTHS = [
    ({"max_seq_length": 5}, {"model_max_length": 7}, 5),
    ({"max_seq_length": None}, {"cls_token": "[CLS]"}, 16), (None, None, 16),
    (None, {"model_max_length": 7}, 7), (None, {"model_max_length": int(1e30)}, 16),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tokenizer", "longest"), LENGTHS)
def test_the_length_is_the_folders(tmp_path: Path, text: Any, tokenizer: Any, longest: int) -> None:
    model = encoder_of(tmp_path, text=text, tokenizer=tokenizer)
    long = "the cat sat on a mat, it likes to eat small fishs in the old park."
    ids, _, padding = model.tokenize([long])
    assert ids.shape == (1, longest)
    assert not padding.any()
    assert_close(model.encode([long]), alone(long, "mean", longest=longest))


def test_a_folder_as_later_versions_write_it(tmp_path: Path) -> None:
    """Longer names of the modules, other names of the fields, a config for the normalisation."""
    types = ("base.modules.transformer.Transformer", "sentence_transformer.modules.pooling.Pooling",
             "base.modules.normalize.Normalize")  # fmt: skip
    modules = [
        module | {"type": f"sentence_transformers.{kind}"}
        for module, kind in zip((*MODULES, NORMALIZE), types, strict=True)
    ]
    method = {"method": "forward", "method_output_name": "last_hidden_state"}
    text = {"transformer_task": "feature-extraction", "modality_config": {"text": method},
            "module_output_name": "token_embeddings"}  # fmt: skip
    pooling = {"embedding_dimension": 12, "pooling_mode": "mean", "include_prompt": True}
    whole = {"model_type": "SentenceTransformer", "prompts": {"query": ""},
             "similarity_fn_name": "cosine", "default_prompt_name": None}  # fmt: skip
    folder = folder_of(tmp_path, modules=modules, text=text, pooling=pooling, whole=whole)
    (folder / "2_Normalize").mkdir()
    names = dict.fromkeys(("module_input_name", "module_output_name"), "sentence_embedding")
    (folder / "2_Normalize" / "config.json").write_text(json.dumps(names))
    model = pretrained.load_sentence_encoder(folder).double()
    expected = torch.cat([alone(t, "mean", normalize=True, longest=16) for t in TEXTS])
    assert_close(model.encode(TEXTS), expected)
    names["module_input_name"] = "token_embeddings"
    (folder / "2_Normalize" / "config.json").write_text(json.dumps(names))
    with pytest.raises(ValueError, match="module_input_name: 'token_embeddings'"):
        pretrained.load_sentence_encoder(folder)


def test_padding_in_front() -> None:
    hidden = minigrad.tensor([[[9.0], [2.0], [1.0]], [[3.0], [4.0], [5.0]]])
    padding = np.array([[True, False, False], [False, False, False]])
    pooled = pretrained.Pooling(["cls", "max", "mean"])(hidden, padding)
    assert pooled.tolist() == [[2.0, 2.0, 1.5], [3.0, 5.0, 4.0]]


def test_texts_are_turned_to_lower_case_where_the_folder_says_so(tmp_path: Path) -> None:
    text = "A CAT sat"
    for lower, meant in ((False, text), (True, text.lower())):
        model = encoder_of(tmp_path, text=TEXT | {"do_lower_case": lower}, lowercase=False)
        assert_close(model.encode([text]), alone(meant, "mean", lowercase=False))


def test_a_tokenizer_of_which_two_things_are_said(tmp_path: Path) -> None:
    agreed = {"do_lower_case": True, "strip_accents": None, "tokenize_chinese_chars": True}
    encoder_of(tmp_path, tokenizer=agreed)
    for name, first, value in (
        ("do_lower_case", "lowercase", False), ("strip_accents", "strip_accents", True),
        ("tokenize_chinese_chars", "handle_chinese_chars", False),
    ):  # fmt: skip
        message = rf"tokenizer_config\.json: {name}: {value}, but in tokenizer\.json {first} is "
        with pytest.raises(ValueError, match=message):
            encoder_of(tmp_path, tokenizer=agreed | {name: value})


def test_similarities(tmp_path: Path) -> None:
    rest = {"prompts": {}, "default_prompt_name": None, "__version__": {"torch": "3.0.0"}}
    for name, whole in (
        ("cosine", None), ("cosine", {"similarity_fn_name": None}),
        ("cosine", {"similarity_fn_name": "cosine"} | rest), ("dot", {"similarity_fn_name": "dot"}),
    ):  # fmt: skip
        model = encoder_of(tmp_path, whole=whole)
        a, b = model.encode(TEXTS[:3]), model.encode(TEXTS[3:])
        expected = torch.tensor(a.numpy()) @ torch.tensor(b.numpy()).T
        if name == "cosine":
            lengths = [torch.tensor(v.numpy()).pow(2).sum(dim=1).sqrt() for v in (a, b)]
            expected = expected / (lengths[0][:, None] * lengths[1][None])
        assert_close(model.similarity(a, b), expected)


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    modules = [dict(module) for module in (*MODULES, NORMALIZE)]
    modules[place] |= fields
    return modules


REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "modules.json": [
        ({"modules": changed(2, type="sentence_transformers.models.Dense")},
         "['Transformer', 'Pooling', 'Dense'] is not supported, only Transformer, Pooling"),
        ({"modules": MODULES[:1]}, "['Transformer'] is not supported"),
        ({"modules": changed(1, path="../elsewhere")}, "'../elsewhere' is not inside")],
    "1_Pooling/config.json": [
        ({"pooling": MEAN | {"pooling_mode_weightedmean_tokens": True}},
         "pooling_mode_weightedmean_tokens: True is not supported, only False"),
        ({"pooling": MEAN | {"pooling_mode_mean_tokens": False}}, "no pooling_mode is on"),
        ({"pooling": MEAN | {"pooling_mode": "cls"}}, "pooling_mode: 'cls', but also ['mean']"),
        ({"pooling": {"word_embedding_dimension": 12, "pooling_mode": "lasttoken"}},
         "pooling_mode: 'lasttoken' given"),
        *(({"pooling": {name: 8, "pooling_mode": "cls"}}, f"{name}: 8 given, the model's is 12")
          for name in ("word_embedding_dimension", "embedding_dimension"))],
    "sentence_bert_config.json": [
        ({"text": {"module_output_name": "token_scores"}},
         "module_output_name: 'token_scores' is not supported"),
        ({"text": {"max_seq_length": 17}}, "max_seq_length: 17 given, there are 16 positions"),
        ({"text": {"unheard_of": 1}}, "unheard_of: unknown")],
    "config_sentence_transformers.json": [
        ({"whole": {"default_prompt_name": "query"}},
         "default_prompt_name: 'query' is not supported, only None")],
    "": [({"whole": {"similarity_fn_name": "manhattan"}}, "'manhattan'")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "file", "said"),
    [(change, file, said) for file, rows in REFUSED.items() for change, said in rows],
    ids=[message for rows in REFUSED.values() for _, message in rows],
)
def test_what_is_not_honoured_is_refused(tmp_path: Path, change: Any, file: str, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        encoder_of(tmp_path, **change)
    assert str(caught.value).startswith(str(tmp_path / file))


class Column:
    """What a pandas Series is to whoever goes through it: no list, and no truth value."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __bool__(self) -> bool:
        raise ValueError("The truth value of a Series is ambiguous.")


def test_calls_that_do_not_fit(tmp_path: Path) -> None:
    model = encoder_of(tmp_path)
    with pytest.raises(TypeError, match=r"list of texts.*\[text\]"):
        model.encode("the cat")
    for given in ([], (), iter([]), np.array([], str), Column([])):
        with pytest.raises(ValueError, match="one text"):
            model.encode(given)
    with pytest.raises(ValueError, match="batch_size .*1"):
        model.encode(TEXTS, batch_size=0)
    hidden = minigrad.ones((2, 3, 4))
    for mask in (np.zeros((2, 4), bool), np.array([[False] * 3, [True] * 3])):
        with pytest.raises(ValueError, match="Pooling: .*mask"):
            model.pooling(hidden, mask)


@pytest.mark.parametrize(
    "given",
    [tuple, iter, Column, np.array, lambda texts: np.array(texts, object),
     lambda texts: (text for text in texts), lambda texts: dict.fromkeys(texts).keys()],
)  # fmt: skip
@pytest.mark.parametrize("lower", [True, False])
def test_texts_come_in_any_iterable(tmp_path: Path, given: Any, lower: bool) -> None:
    model = encoder_of(tmp_path, text=TEXT | {"do_lower_case": lower})
    np.testing.assert_array_equal(model.encode(given(TEXTS)), model.encode(TEXTS))
    np.testing.assert_array_equal(model.tokenize(given(TEXTS)).ids, model.tokenize(TEXTS).ids)


@pytest.mark.parametrize(
    "given",
    [[None], ["a", 3], ["a", float("nan")], [["a"]], [b"a"], b"a", np.array([["a"]]), None, 3],
)
def test_what_is_no_text_is_named(tmp_path: Path, given: Any) -> None:
    model = encoder_of(tmp_path)
    for method in (model.encode, model.tokenize):
        with pytest.raises(TypeError, match=r"^SentenceEncoder: (a list of )?texts expected, "):
            method(given)


def test_the_tokenizer_that_is_given_stays_as_it_is(tmp_path: Path) -> None:
    bert_only = pretrained.load_bert(folder_of(tmp_path))
    tokenizer = make_tokenizer()
    encoder = pretrained.SentenceEncoder(bert_only, pretrained.Pooling(["cls"]), tokenizer)
    assert encoder.tokenize(["a dog"]).ids.shape == (1, 4)
    assert len(tokenizer.encode("a dog").ids) == 9
    encoder.tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece({"[UNK]": 1}))
    with pytest.raises(ValueError, match="no token in ''"):
        encoder.tokenize([""])


def test_encoding_leaves_the_mode_as_it_is(tmp_path: Path) -> None:
    model = encoder_of(tmp_path)
    still = model.encode(TEXTS)
    model.bert.train()
    np.testing.assert_array_equal(model.encode(TEXTS), still)
    assert model.bert.encoder.training
    assert not model.training
