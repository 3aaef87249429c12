"""Folders of the library sentence-transformers: modules, their places and their options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as shortened
from typing import Annotated, Any

from minigrad.pretrained.bert_folder import load_bert
from minigrad.pretrained.config import (
    Kind,
    Size,
    model_folder,
    naming,
    read_config,
    read_field,
    read_json,
)
from minigrad.pretrained.folder import inside, load_tokenizer
from minigrad.pretrained.sentence import POOLINGS, SIMILARITIES, Pooling, SentenceEncoder

Mode = Annotated[str, Kind(f"one of {POOLINGS}", lambda value: value in POOLINGS)]
Modes = Annotated[list, Kind("a list of them", lambda value: all(v in POOLINGS for v in value))]
Similarity = Annotated[str, Kind(f"one of {SIMILARITIES}", lambda value: value in SIMILARITIES)]
Number = Annotated[float, Kind("a number of at least 1", lambda value: value >= 1)]


@dataclass(frozen=True)
class _PoolingConfig:
    embedding_dimension: Size | None = None
    word_embedding_dimension: Size | None = None
    pooling_mode: Mode | Modes | None = None
    pooling_mode_cls_token: bool = False
    pooling_mode_max_tokens: bool = False
    pooling_mode_mean_tokens: bool = False

    def check_width(self, width: int) -> None:
        """Refuse a config of another width; older files have longer names of fields."""
        for name in ("embedding_dimension", "word_embedding_dimension"):
            if getattr(self, name) not in (None, width):
                raise ValueError(f"{name}: {getattr(self, name)} given, the model's is {width}")

    def modes(self) -> list[str]:
        """The active modes, in the order of concatenation."""
        said = {
            "cls": self.pooling_mode_cls_token,
            "max": self.pooling_mode_max_tokens,
            "mean": self.pooling_mode_mean_tokens,
        }
        old = [mode for mode, on in said.items() if on]
        new = [self.pooling_mode] if isinstance(self.pooling_mode, str) else self.pooling_mode
        if new is not None and old not in ([], new):
            raise ValueError(f"pooling_mode: {self.pooling_mode!r}, but also {old}")
        if not (new or old):
            raise ValueError("no pooling_mode is on")
        return new or old


POOLING_FIXED: dict[str, tuple[Any, ...]] = {
    "include_prompt": (True,),
    "pooling_mode_lasttoken": (False,),
    "pooling_mode_mean_sqrt_len_tokens": (False,),
    "pooling_mode_weightedmean_tokens": (False,),
}
NORMALIZE_FIXED = dict.fromkeys(
    ("module_input_name", "module_output_name"), ("sentence_embedding",)
)


@dataclass(frozen=True)
class _NoConfig:
    pass


@dataclass(frozen=True)
class _TextConfig:
    max_seq_length: Size | None = None
    do_lower_case: bool = False


TEXT_FIXED: dict[str, tuple[Any, ...]] = {
    "modality_config": (
        {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    ),
    "module_output_name": ("token_embeddings",),
    "transformer_task": ("feature-extraction",),
}
TEXT_IGNORED = ("unpad_inputs",)


@dataclass(frozen=True)
class _WholeConfig:
    similarity_fn_name: Similarity | None = None


WHOLE_FIXED: dict[str, tuple[Any, ...]] = {
    "default_prompt_name": (None,),
    "model_type": ("SentenceTransformer",),
}
WHOLE_IGNORED = ("__version__", "prompts")
"""Prompts are used only if they are requested by name."""


def load_sentence_encoder(folder: str | Path) -> SentenceEncoder:
    """Load a model of sentence-transformers: a BERT, pooling, and perhaps normalisation.

    It is read from `modules.json`, the folders named there, `sentence_bert_config.json` and
    `config_sentence_transformers.json`. Every field is used, known to have no effect, or refused.
    The maximum length of a text is in one of these files or in `tokenizer_config.json`. The model
    is in evaluation mode, its parameters have the default dtype.

    Raises:
        ValueError: A module is of another kind, or a field is not supported; each is named.

    Example:
        >>> import json, pathlib, tempfile
        >>> from minigrad import pretrained
        >>> modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.CLIP"}]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = pathlib.Path(folder, "modules.json").write_text(json.dumps(modules))
        ...     pretrained.load_sentence_encoder(folder)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: .../modules.json: type: ['CLIP'] is not supported, only Transformer, ...
    """
    root = model_folder("load_sentence_encoder", folder)
    places = _module_folders(root)
    texts = places["Transformer"]
    bert = load_bert(texts)
    pooling_file = places["Pooling"] / "config.json"
    pooling = read_config(pooling_file, _PoolingConfig, fixed=POOLING_FIXED)
    with naming(pooling_file):
        pooling.check_width(bert.config.hidden_size)
        pool = Pooling(pooling.modes())
    text, whole = _TextConfig(), _WholeConfig()
    text_file = texts / "sentence_bert_config.json"
    whole_file = root / "config_sentence_transformers.json"
    if text_file.exists():
        text = read_config(text_file, _TextConfig, fixed=TEXT_FIXED, ignored=TEXT_IGNORED)
    if whole_file.exists():
        whole = read_config(whole_file, _WholeConfig, fixed=WHOLE_FIXED, ignored=WHOLE_IGNORED)
    positions = bert.config.max_position_embeddings
    longest = _longest(texts, positions)
    if text.max_seq_length is not None:
        longest = text.max_seq_length
    if longest > positions:
        raise ValueError(
            f"{text_file}: max_seq_length: {longest} given, there are {positions} positions"
        )
    with naming(root):
        encoder = SentenceEncoder(
            bert, pool, load_tokenizer(texts), max_length=longest, lower_case=text.do_lower_case,
            normalize="Normalize" in places, similarity_name=whole.similarity_fn_name or "cosine",
        )  # fmt: skip
    return encoder.eval()


def _longest(folder: Path, positions: int) -> int:
    """The maximum length of a text, from the model's and the tokenizer's config."""
    path = folder / "tokenizer_config.json"
    said = read_json(path) if path.exists() else {}
    length = read_field(path, said, "model_max_length", Number | None, None)
    return positions if length is None else int(min(length, positions))


def _module_folders(root: Path) -> dict[str, Path]:
    """The folder of each module, by its kind, from `modules.json`."""
    path = root / "modules.json"
    entries = read_json(path)
    if not isinstance(entries, list):
        raise ValueError(f"{path}: a list of modules expected, got {type(entries).__name__}")
    kinds = [read_field(path, entry, "type", str).rpartition(".")[2] for entry in entries]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise ValueError(
            f"{path}: type: {shortened(kinds)} is not supported, only Transformer, Pooling and "
            f"perhaps Normalize, in this order"
        )
    places = {
        kind: inside(root, read_field(path, entry, "path", str), f"{path}: path")
        for kind, entry in zip(kinds, entries, strict=True)
    }
    for kind in ("Transformer", "Pooling"):
        if not places[kind].is_dir():
            raise FileNotFoundError(f"{path}: path: {places[kind]} is not a folder")
    if "Normalize" in places and (file := places["Normalize"] / "config.json").exists():
        read_config(file, _NoConfig, fixed=NORMALIZE_FIXED)
    return places
