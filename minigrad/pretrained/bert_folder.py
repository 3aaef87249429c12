"""Reading and writing BERT's folders: the names of fields and tensors there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from minigrad.pretrained.bert import Bert, BertConfig
from minigrad.pretrained.config import FIXED, IGNORED
from minigrad.pretrained.folder import Place, loaded, read_model, write_model

BERT_FIXED = FIXED | {"model_type": ("bert",), "position_embedding_type": ("absolute",)}
BERT_IGNORED = IGNORED | {
    "directionality", "pooler_fc_size", "pooler_num_attention_heads", "pooler_num_fc_layers",
    "pooler_size_per_head", "pooler_type",
}  # fmt: skip
"""Includes fields of a pooler in older multilingual files, which no program reads."""

E, F, V = "hidden_size", "intermediate_size", "vocab_size"
NORM, SQUARE = (E,), (E, E)
Parts = dict[str, tuple[str, tuple[str, ...]]]
LAYER: Parts = {
    "attention.self.query": ("self_attn.q_proj", SQUARE),
    "attention.self.key": ("self_attn.k_proj", SQUARE),
    "attention.self.value": ("self_attn.v_proj", SQUARE),
    "attention.output.dense": ("self_attn.out_proj", SQUARE),
    "attention.output.LayerNorm": ("norm1", NORM),
    "intermediate.dense": ("linear1", (F, E)),
    "output.dense": ("linear2", (E, F)),
    "output.LayerNorm": ("norm2", NORM),
}
"""The names of the parts of a layer in files and here, and the axes of each weight. A bias has the
first axis.
"""

HEADS: dict[str, Parts] = {
    "pooler": {"pooler.dense": ("pooler.linear", SQUARE)},
    "masked_lm": {
        "cls.predictions.transform.dense": ("masked_lm.linear", SQUARE),
        "cls.predictions.transform.LayerNorm": ("masked_lm.norm", NORM),
    },
    "next_sentence": {"cls.seq_relationship": ("next_sentence", ("2", E))},
}
"""The same of the heads."""

EMBEDDINGS = {
    "embeddings.word_embeddings.weight": Place("embeddings.words.weight", (V, E)),
    "embeddings.position_embeddings.weight": Place(
        "embeddings.positions.pos_emb.weight", ("max_position_embeddings", E)
    ),
    "embeddings.token_type_embeddings.weight": Place(
        "embeddings.token_types.weight", ("type_vocab_size", E)
    ),
}
DECODER = "cls.predictions.decoder.weight"
"""The tensor that is tied to the token embeddings."""


def _places(config: BertConfig, heads: dict[str, bool]) -> dict[str, Place]:
    """The place in the model of each tensor of a file, by its name there."""
    parts: Parts = {"embeddings.LayerNorm": ("embeddings.norm", NORM)}
    for i in range(config.num_hidden_layers):
        for theirs, (ours, axes) in LAYER.items():
            parts[f"encoder.layer.{i}.{theirs}"] = (f"encoder.layers.{i}.{ours}", axes)
    for head, there in heads.items():
        parts |= HEADS[head] if there else {}
    places = dict(EMBEDDINGS)
    for theirs, (ours, axes) in parts.items():
        places[f"{theirs}.weight"] = Place(f"{ours}.weight", axes)
        places[f"{theirs}.bias"] = Place(f"{ours}.bias", axes[:1])
    if heads["masked_lm"]:
        places[DECODER] = Place("masked_lm.decoder.weight", (V, E))
        places["cls.predictions.bias"] = Place("masked_lm.decoder.bias", (V,))
    return places


def load_bert(folder: str | Path) -> Bert:
    """Load a BERT from a folder with `config.json` and `model.safetensors`, in evaluation mode.

    The model has a pooler and heads if the file has their tensors; its parameters have the default
    dtype. Every field of the config is used, known to have no effect, or refused.

    Raises:
        ValueError: The model is of another kind, a field of the config is not supported, or tensors
            are missing, unexpected or of a wrong shape; each is named.

    Example:
        >>> import tempfile
        >>> from minigrad import pretrained
        >>> config = pretrained.BertConfig(vocab_size=50, hidden_size=24, num_hidden_layers=2,
        ...                                intermediate_size=32)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pretrained.save_bert(pretrained.Bert(config, pooler=False), folder)
        ...     model = pretrained.load_bert(folder)
        >>> model.config.num_attention_heads, model.pooler, model([[2, 7, 3]]).shape
        (12, None, minigrad.Size([1, 3, 24]))
    """
    config, tensors, file = read_model(
        "load_bert", folder, BertConfig, BERT_FIXED, BERT_IGNORED, _plain,
        layers=("num_hidden_layers", "encoder.layer."),
    )  # fmt: skip
    _drop_constants(tensors, file)
    heads = {
        head: any(f"{name}.weight" in tensors for name in parts) for head, parts in HEADS.items()
    }
    tied = [DECODER] if config.tie_word_embeddings else []
    sizes = vars(config) | {"2": 2}
    places = _places(config, heads)
    return loaded(lambda: Bert(config, **heads), tensors, places, sizes, tied, file)


def _plain(name: str) -> str:
    """A tensor's name without the prefix of a model with heads, in the current spelling."""
    name = name.removeprefix("bert.")
    for old, new in ((".gamma", ".weight"), (".beta", ".bias")):
        if name.endswith(old):
            name = name.removesuffix(old) + new
    return name


def _drop_constants(tensors: dict[str, np.ndarray], file: Path) -> None:
    """Check and remove tensors that are constants or copies of another tensor."""
    positions = tensors.pop("embeddings.position_ids", None)
    if positions is not None and (positions.ravel() != np.arange(positions.size)).any():
        raise ValueError(f"{file}: embeddings.position_ids: only 0, 1, 2 and so on are supported")
    copy = tensors.pop("cls.predictions.decoder.bias", None)
    if copy is not None and not np.array_equal(
        tensors.setdefault("cls.predictions.bias", copy), copy
    ):
        raise ValueError(f"{file}: cls.predictions.decoder.bias: other than cls.predictions.bias")


def save_bert(model: Bert, folder: str | Path) -> None:
    """Write a BERT to a folder that `load_bert` and the library transformers can read.

    The files are `config.json` and `model.safetensors`; the folder is created if needed.

    Example:
        >>> import tempfile
        >>> from minigrad import pretrained
        >>> config = pretrained.BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=2,
        ...                                num_attention_heads=4, intermediate_size=32)
        >>> model = pretrained.Bert(config).eval()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pretrained.save_bert(model, folder)
        ...     again = pretrained.load_bert(folder)
        >>> bool((again([[2, 7, 3]]) == model([[2, 7, 3]])).all())
        True
    """
    parts = {name: getattr(model, name) is not None for name in HEADS}
    heads = parts["masked_lm"] or parts["next_sentence"]
    state = model.state_dict()
    tensors = {
        name if name.startswith("cls.") or not heads else f"bert.{name}": state[place.name]
        for name, place in _places(model.config, parts).items()
    }
    if model.config.tie_word_embeddings:
        tensors.pop(DECODER, None)
    architecture = "BertForPreTraining" if heads else "BertModel"
    write_model(folder, tensors, model.config, architecture, "bert")
