"""Configs: JSON files whose every field is honoured, or known to change nothing, or refused."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")

FIXED: dict[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,),
    "cross_attention_hidden_size": (None,),
    "is_decoder": (False,),
    "is_encoder_decoder": (False,),
    "output_attentions": (False,),
    "output_hidden_states": (False,),
    "pruned_heads": ({}, None),
    "tie_encoder_decoder": (False,),
    "torchscript": (False,),
    "use_bfloat16": (False,),
}
"""Fields of any model that may only say what a model of ours does anyway, and those values."""

IGNORED = frozenset({
    "_attn_implementation", "_attn_implementation_autoset", "_name_or_path", "_num_labels",
    "architectures", "attn_implementation", "bos_token_id", "chunk_size_feed_forward",
    "classifier_dropout", "cls_token_id", "dtype", "eos_token_id", "finetuning_task",
    "gradient_checkpointing", "id2label", "initializer_range", "label2id", "language", "name",
    "num_labels", "output_past", "problem_type", "return_dict", "sep_token_id",
    "task_specific_params", "tokenizer_class", "torch_dtype", "transformers_version", "use_cache",
})  # fmt: skip
"""Fields that do not change what a model computes: notes, tokens, how it was first drawn, how its
classes are called. A head that one of them speaks of shows in the tensors."""


def model_folder(function: str, folder: Any) -> Path:
    """A folder as a path.

    Raises:
        FileNotFoundError: There is none.
        TypeError: It is no path.
    """
    if not isinstance(folder, (str, PathLike)):
        raise TypeError(f"{function}: the path of a folder expected, got {type(folder).__name__}")
    path = Path(folder)
    if not path.is_dir():
        raise FileNotFoundError(
            f"{function}: there is no folder {str(path)!r}; models are read from local folders "
            f"(nothing is downloaded), such as `hf download NAME --local-dir FOLDER` makes"
        )
    return path


def read_json(path: Path) -> Any:
    """What a JSON file holds.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It holds no JSON.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None


def read_config(
    path: Path,
    kind: type[Config],
    *,
    fixed: Mapping[str, Collection[Any]] = {},
    ignored: Collection[str] = (),
) -> Config:
    """Read a config, and account for each of its fields.

    Args:
        path: The JSON file.
        kind: A dataclass, whose fields are those that are honoured. One that the file has not
            keeps its default.
        fixed: Fields that may have some values only.
        ignored: Fields that change nothing.

    Returns:
        The config.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: A field is none of them, or has a value that is not supported; each is named.
    """
    given = read_json(path)
    if not isinstance(given, dict):
        raise ValueError(f"{path}: an object with fields expected, got {type(given).__name__}")
    honoured = get_type_hints(kind)
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in given.items():
        if name in honoured:
            values[name] = value
            if not _is(value, honoured[name]):
                wanted = getattr(honoured[name], "__name__", honoured[name])
                problems.append(f"{name}: {value!r} given, {wanted} expected")
        elif name in fixed:
            if value not in fixed[name]:
                only = " or ".join(map(repr, fixed[name]))
                problems.append(f"{name}: {value!r} is not supported, only {only}")
        elif name not in ignored:
            problems.append(
                f"{name}: unknown, with the value {value!r}; remove it if the model is the same "
                f"without it"
            )
    problems += [
        f"{field.name}: missing"
        for field in dataclasses.fields(kind)
        if field.name not in given and field.default is dataclasses.MISSING
    ]
    if problems:
        raise ValueError("\n  ".join([f"{path}: cannot be honoured", *problems]))
    with naming(path):
        return kind(**values)


def check_model_type(path: Path, model_type: str, function: str) -> None:
    """Refuse the config of another kind of model by the name of that kind.

    Raises:
        ValueError: It says that the model is of another kind, or does not say it.
    """
    given = read_json(path)
    found = given.get("model_type") if isinstance(given, dict) else None
    if found != model_type:
        raise ValueError(
            f"{path}: model_type: {found!r} is not supported by {function}, only {model_type!r}"
        )


def write_config(path: Path, config: DataclassInstance, **others: Any) -> None:
    """Write a dataclass, and other fields, as JSON."""
    fields = others | dataclasses.asdict(config)
    path.write_text(json.dumps(fields, indent=2, sort_keys=True) + "\n", encoding="utf-8")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Within the block, an error about what a file says begins with its name."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _is(value: Any, hint: Any) -> bool:
    """Whether a JSON value is of a type; a whole number is a float too, a bool no number."""
    if isinstance(value, bool):
        return hint is bool
    return isinstance(value, hint) or (hint is float and isinstance(value, int))
