"""Configs: JSON files whose every field is used, known to have no effect, or refused.

Files may come from anyone, so values are checked here before anything else uses them, and an error
shows only the beginning of a value.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as shortened
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from minigrad.nn import functional as F
from minigrad.tensors.tensor import Tensor

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Config = TypeVar("Config", bound="DataclassInstance")

Size = int
Index = int
Share = float
Activation = str

tanh_gelu = partial(F.gelu, approximate="tanh")
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu, "gelu_python": F.gelu, "gelu_new": tanh_gelu, "gelu_fast": tanh_gelu,
    "gelu_pytorch_tanh": tanh_gelu, "relu": F.relu, "relu6": F.relu6, "leaky_relu": F.leaky_relu,
    "mish": F.mish, "sigmoid": F.sigmoid, "silu": F.silu, "swish": F.silu, "tanh": F.tanh,
}  # fmt: skip
"""The activations by their names in configs. The tanh form of GELU has three names."""


class Kind(NamedTuple):
    """The values of a field: their type, what is said of them, and which of the type they are."""

    type: type
    wanted: str
    holds: Callable[[Any], bool] = lambda _: True


KINDS = {
    "Size": Kind(Integral, "a whole number of at least 1", lambda value: value >= 1),
    "Index": Kind(Integral, "a whole number of at least 0", lambda value: value >= 0),
    "Share": Kind(Real, "a number from 0 to 1", lambda value: 0 <= value <= 1),
    "Activation": Kind(str, f"one of {', '.join(ACTIVATIONS)}", ACTIVATIONS.__contains__),
    "bool": Kind(bool, "true or false"),
    "None": Kind(type(None), "null"),
}
"""Of the fields of a config, by their annotations."""


class Checked:
    """A dataclass whose fields are checked, as `KINDS` says."""

    def __post_init__(self) -> None:
        if problems := wrong_fields(type(self), vars(self)):  # type: ignore[type-var]
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


def read_json(path: Path) -> dict[str, Any]:
    """Read the object in a JSON file."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from None
    except RecursionError:
        raise ValueError(f"{path}: its lists or objects are nested too deeply") from None
    if not isinstance(given, dict):
        raise ValueError(f"{path}: an object with fields expected, got {type(given).__name__}")
    return given


def read_config(
    path: Path, kind: type[Config], fixed: Mapping[str, tuple[Any, ...]], ignored: Collection[str]
) -> Config:
    """Read a config; every field must be known, and an error names each that is not.

    `kind` is a dataclass with the fields that are used; one missing in the file keeps its default.
    Of the fields in `fixed` only some values are supported; those in `ignored` have no effect.
    """
    given = read_json(path)
    (model,) = fixed["model_type"]  # of another model, the other fields say nothing
    if (found := given.get("model_type", model)) != model:
        raise ValueError(f"{path}: model_type: {shortened(found)} is not supported, only {model!r}")
    honoured = {field.name for field in dataclasses.fields(kind)}
    problems = wrong_fields(kind, given)
    for name in sorted(given.keys() - honoured - {*ignored}):
        value = shortened(given[name])
        if name not in fixed:
            problems.append(
                f"{name}: unknown, with the value {value}; remove it if the model is the same "
                f"without it"
            )
        elif given[name] not in fixed[name]:
            only = " or ".join(map(repr, fixed[name]))
            problems.append(f"{name}: {value} is not supported, only {only}")
    if problems:
        raise ValueError("\n  ".join([f"{path}: cannot be honoured", *problems]))
    with naming(path):
        return kind(**{name: given[name] for name in honoured & given.keys()})


def wrong_fields(kind: type[Config], values: Mapping[str, Any]) -> list[str]:
    """What is wrong with the values of the fields of a dataclass, a line each."""
    problems = []
    for field in dataclasses.fields(kind):
        kinds = [KINDS[name] for name in str(field.type).split(" | ")]
        value = values.get(field.name, field.default)
        if not any(_is(value, one) for one in kinds):
            wanted = " or ".join(one.wanted for one in kinds)
            problems.append(f"{field.name}: {shortened(value)} given, {wanted} expected")
    return problems


def _is(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind; integers count as floats, bools not as numbers."""
    if isinstance(value, bool):
        return kind.type is bool
    return isinstance(value, kind.type) and kind.holds(value)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Within the block, prefix errors with the name of the file."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}") from None
