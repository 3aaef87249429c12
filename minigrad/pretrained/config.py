"""Configs: JSON files whose every field is used, known to have no effect, or refused.

Files may come from anyone, so values are checked here before anything else uses them, and an error
shows only the beginning of a value.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from reprlib import repr as shortened
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

from minigrad.support.files import write

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")


class Kind(NamedTuple):
    """The allowed values of a field."""

    wanted: str
    holds: Callable[[Any], bool]


Size = Annotated[int, Kind("a whole number of at least 1", lambda value: value >= 1)]
Index = Annotated[int, Kind("a whole number of at least 0", lambda value: value >= 0)]
Share = Annotated[float, Kind("a number from 0 to 1", lambda value: 0 <= value <= 1)]


class Checked:
    """A dataclass whose fields are checked against their types and kinds."""

    def __post_init__(self) -> None:
        hints = _hints(type(self))
        problems = [
            f"{name}: {message}"
            for name, value in vars(self).items()
            if (message := _wrong(value, hints[name]))
        ]
        if problems:
            raise ValueError("\n  ".join([f"{type(self).__name__}: wrong fields", *problems]))

    def check_heads(self, heads: str, width: str) -> None:
        """Refuse a width that is not divisible by the number of heads."""
        count, total = getattr(self, heads), getattr(self, width)
        if total % count:
            raise ValueError(f"{heads}: {count} given, but {width} is {total}, no multiple of it")


FIXED: dict[str, tuple[Any, ...]] = {
    "add_cross_attention": (False,), "cross_attention_hidden_size": (None,), "is_decoder": (False,),
    "is_encoder_decoder": (False,), "output_attentions": (False,), "output_hidden_states": (False,),
    "pruned_heads": ({}, None), "tie_encoder_decoder": (False,), "torchscript": (False,),
    "use_bfloat16": (False,),
}  # fmt: skip
"""Fields of any model for which only some values are supported, and these values."""

IGNORED = frozenset({
    "_attn_implementation", "_attn_implementation_autoset", "_name_or_path", "_num_labels",
    "architectures", "attn_implementation", "bos_token_id", "chunk_size_feed_forward",
    "classifier_dropout", "cls_token_id", "dtype", "eos_token_id", "finetuning_task",
    "gradient_checkpointing", "id2label", "initializer_range", "label2id", "language", "name",
    "num_labels", "output_past", "problem_type", "return_dict", "sep_token_id",
    "task_specific_params", "tokenizer_class", "torch_dtype", "transformers_version", "use_cache",
})  # fmt: skip
"""Fields that do not change what a model computes: notes, tokens, initialisation, names of classes.
Some describe a head; its tensors would be an error.
"""


def model_folder(function: str, folder: Any) -> Path:
    """An existing folder as a path."""
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
    """Read a JSON file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: its lists or objects are nested too deeply") from None


def read_field(path: Path, given: Any, name: str, hint: Any, default: Any = MISSING) -> Any:
    """Read a field of a JSON object, whose type is `hint`: a type, or `Annotated` with a `Kind`.

    A missing field is an error without a default.
    """
    if not isinstance(given, dict):
        got = type(given).__name__
        raise ValueError(f"{path}: {name}: an object with this field expected, got {got}")
    value = given.get(name, default)
    if value is MISSING:
        raise ValueError(f"{path}: {name}: missing")
    if value is not default and (message := _wrong(value, hint)):
        raise ValueError(f"{path}: {name}: {message}")
    return value


def read_config(
    path: Path, kind: type[Config], *, fixed: Mapping[str, tuple[Any, ...]] = {},
    ignored: Collection[str] = (),
) -> Config:  # fmt: skip
    """Read a config; every field must be known, and an error names each that is not.

    `kind` is a dataclass with the fields that are used; one missing in the file keeps its default.
    Of the fields in `fixed` only some values are supported; those in `ignored` have no effect.
    """
    given = read_json(path)
    if not isinstance(given, dict):
        raise ValueError(f"{path}: an object with fields expected, got {type(given).__name__}")
    kinds = fixed.get("model_type", ())  # of another model, the other fields say nothing
    if kinds and (found := given.get("model_type", kinds[0])) not in kinds:
        raise ValueError(
            f"{path}: model_type: {shortened(found)} is not supported, only {kinds[0]!r}"
        )
    honoured = _hints(kind)
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in given.items():
        if name in honoured:
            values[name] = value
            if message := _wrong(value, honoured[name]):
                problems.append(f"{name}: {message}")
        elif name in fixed:
            if value not in fixed[name]:
                only = " or ".join(map(repr, fixed[name]))
                problems.append(f"{name}: {shortened(value)} is not supported, only {only}")
        elif name not in ignored:
            problems.append(
                f"{name}: unknown, with the value {shortened(value)}; remove it if the model is "
                f"the same without it"
            )
    problems += [
        f"{field.name}: missing"
        for field in dataclasses.fields(kind)
        if field.name not in given and field.default is MISSING
    ]
    if problems:
        raise ValueError("\n  ".join([f"{path}: cannot be honoured", *problems]))
    with naming(path):
        return kind(**values)


def write_config(path: Path, config: DataclassInstance, **others: Any) -> None:
    """Write a dataclass, and other fields, as JSON."""
    fields = others | dataclasses.asdict(config)
    write(path, json.dumps(fields, indent=2, sort_keys=True) + "\n")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Within the block, prefix errors with the name of the file."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None


def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _wrong(value: Any, hint: Any) -> str:
    """The message for an invalid value of a field (given and expected), or an empty string."""
    hints = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if any(_is(value, one) for one in hints):
        return ""
    wanted = [one.__metadata__[0].wanted if hasattr(one, "__metadata__") else one for one in hints]
    names = ["None" if one is NoneType else getattr(one, "__name__", str(one)) for one in wanted]
    return f"{shortened(value)} given, {' or '.join(names)} expected"


def _is(value: Any, hint: Any) -> bool:
    """Whether a JSON value has a type; integers count as floats, bools not as numbers."""
    kind, *limits = get_args(hint) if hasattr(hint, "__metadata__") else (hint,)
    if isinstance(value, bool):
        return kind is bool
    kind = {int: Integral, float: Real}.get(kind, kind)
    return isinstance(value, kind) and all(limit.holds(value) for limit in limits)
