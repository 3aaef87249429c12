"""A model's folder in Hugging Face's layout: its tensors under their own names, and tokenizer.

A folder holds `config.json`, `tokenizer.json`, and `model.safetensors` or several parts with an
index.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, NamedTuple, TypeVar

import numpy as np

from minigrad.io import safetensors
from minigrad.io.errors import LoadError
from minigrad.nn import Module
from minigrad.pretrained.config import Config, naming, read_config, read_json
from minigrad.random import drawing_from
from minigrad.support.checks import optional_package
from minigrad.support.files import folder_for, write
from minigrad.support.tree import paths

Model = TypeVar("Model", bound=Module)
Tensors = dict[str, np.ndarray]

WHOLE, INDEX, CONFIG = "model.safetensors", "model.safetensors.index.json", "config.json"


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


def read_model(
    function: str, folder: Any, kind: type[Config], fixed: Mapping[str, tuple[Any, ...]],
    ignored: Collection[str], rename: Callable[[str], str], layers: tuple[str, str],
) -> tuple[Config, Tensors, Path]:  # fmt: skip
    """Read a folder: its config, its tensors by their new names, and the path of their file.

    No two tensors may get the same name. `read_config` describes `kind`, `fixed` and `ignored`.
    `layers` are the field with the number of layers, of which there must be tensors, and how their
    names begin.
    """
    path = model_folder(function, folder)
    config = read_config(path / CONFIG, kind, fixed, ignored)
    tensors, file = _tensors_of(path)
    result: Tensors = {}
    for name, array in tensors.items():
        if result.setdefault(rename(name), array) is not array:
            raise ValueError(f"{file}: {name}: {rename(name)} is there under another name too")
    field, prefix = layers
    rests = [name.removeprefix(prefix) for name in result if name.startswith(prefix)]
    given, there = getattr(config, field), len({rest.partition(".")[0] for rest in rests})
    if given > there:
        raise ValueError(
            f"{path / CONFIG}: {field}: {given} given, but there are tensors of {there}"
        )
    return config, result, file


def _tensors_of(folder: Path) -> tuple[Tensors, Path]:
    """The tensors of a folder, and the path of their file, or of the index of several."""
    whole, index = folder / WHOLE, folder / INDEX
    if whole.is_file() or not index.is_file():
        return _tensors_in(whole), whole
    places = read_json(index).get("weight_map")
    if not (isinstance(places, dict) and {*map(type, places.values())} == {str}):
        got = shortened(places)
        raise ValueError(f"{index}: weight_map: {got} given, tensors and their files expected")
    files = {path.name: path for path in folder.iterdir()}  # so that no name leads out of it
    tensors: Tensors = {}
    for name in sorted({*places.values()}):
        if name not in files:
            raise FileNotFoundError(
                f"{index}: weight_map: {shortened(name)}: no such file in {folder}"
            )
        tensors |= _tensors_in(files[name])
    absent = [name for name in places if name not in tensors]
    if absent:
        raise ValueError(f"{index}: no file holds {', '.join(absent)}")
    return tensors, index


def _tensors_in(path: Path) -> Tensors:
    """The tensors of a file. Those of bfloat16 become float32, which represents all values."""
    optional_package("pretrained", "safetensors")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file; weights are read from it alone")
    try:
        with path.open("rb") as file:
            tensors, _ = safetensors.read(file)
    except LoadError as error:
        raise ValueError(f"{path}: {error}") from None
    return tensors


class Place(NamedTuple):
    """The place of a file's tensor.

    Its name in the model, the names of its axes' sizes, and whether it is transposed in the file.
    """

    name: str
    axes: tuple[str, ...]
    turned: bool = False

    def turn(self, array: np.ndarray) -> np.ndarray:
        """The array as it is in the model, of the one in the file; and the reverse."""
        return array.T if self.turned else array


class _Zeros(np.random.Generator):
    """A generator that returns zeros: initial values that are overwritten need no random draws."""

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:  # noqa: ARG002
        return np.broadcast_to(0.0, size)

    normal = uniform  # type: ignore[assignment]


def loaded(
    make: Callable[[], Model], tensors: Mapping[str, np.ndarray], places: Mapping[str, Place],
    sizes: Mapping[str, Any], tied: Collection[str], file: Path,
) -> Model:  # fmt: skip
    """Create a model, load tensors into their places, and put it into evaluation mode.

    Names and shapes are checked before; an error names each that is wrong. `sizes` holds the size
    of each name of an axis. `tied` tensors may be missing.
    """
    problems = [f"{name}: missing" for name in places if name not in tensors and name not in tied]
    for name, array in tensors.items():
        if name not in places:
            problems.append(f"{name}: unexpected")
            continue
        axes = places[name].axes
        shape = tuple(sizes[axis] for axis in axes)
        if array.dtype.kind != "f":
            problems.append(f"{name}: floating-point values expected, got {array.dtype}")
        if array.shape != shape:
            problems.append(
                f"{name}: shape {array.shape} given, by config.json it is {shape}: "
                f"({', '.join(axes)})"
            )
    if problems:
        head = f"{file}: the tensors do not fit {CONFIG}; nothing was loaded"
        raise ValueError("\n  ".join([head, *problems]))
    with naming(file.with_name(CONFIG)), drawing_from(_Zeros(np.random.PCG64(0))):
        model = make()
    with naming(file):
        model.load_state_dict(
            {places[name].name: places[name].turn(array) for name, array in tensors.items()}
        )
    return model.eval()


def write_model(
    folder: str | Path, tensors: Mapping[str, np.ndarray], config: Any, architecture: str,
    model_type: str,
) -> None:  # fmt: skip
    """Write `model.safetensors` and `config.json`; the folder is created if needed."""
    path = folder_for(Path(folder), [WHOLE, CONFIG])
    numpy = optional_package("pretrained", "safetensors.numpy")
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    write(path / WHOLE, numpy.save(whole, metadata={"format": "pt"}))
    fields = {"model_type": model_type, "architectures": [architecture], **asdict(config)}
    write(path / CONFIG, json.dumps(fields, indent=2, sort_keys=True) + "\n")


def load_tokenizer(folder: str | Path) -> Any:
    """Load the tokenizer of a folder, from its `tokenizer.json`.

    Returns:
        A `tokenizers.Tokenizer`: ``encode(text).ids`` are the input of a model, ``decode(ids)`` is
        the text of its output.

    Raises:
        ValueError: The file is broken, or `tokenizer_config.json` contradicts it.

    Example:
        >>> import tempfile
        >>> from minigrad import pretrained
        >>> from tokenizers import Tokenizer, models, pre_tokenizers
        >>> tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, "word": 2}, "[UNK]"))
        >>> tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     tokenizer.save(f"{folder}/tokenizer.json")
        ...     pretrained.load_tokenizer(folder).encode("a new word").ids
        [1, 0, 2]
    """
    tokenizers = optional_package("load_tokenizer", "tokenizers")
    path = model_folder("load_tokenizer", folder) / "tokenizer.json"
    _check_numbers(path)
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # tokenizers raises Exception, or panics in Rust
        raise ValueError(f"{path}: {error}") from None
    _check_normalizer(Path(folder) / "tokenizer_config.json", tokenizer)
    return tokenizer


def _check_numbers(path: Path) -> None:
    """Refuse an id or a length for which `tokenizers` would end the process: it has no memory."""
    for keys, value in paths(read_json(path)):
        if isinstance(value, int) and value > MAX_NUMBER:
            place = ".".join(map(str, keys))
            raise ValueError(f"{path}: {place}: {MAX_NUMBER} at most expected, got {value}")


MAX_NUMBER = 2**24
NORMALIZER = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
"""Options that BERT's `tokenizer_config.json` repeats, and their names in `tokenizer.json`."""


def _check_normalizer(path: Path, tokenizer: Any) -> None:
    """Refuse a folder whose files disagree about normalising texts."""
    normalizer = json.loads(tokenizer.to_str())["normalizer"] or {}
    if normalizer.get("type") != "BertNormalizer" or not path.exists():
        return
    said = read_json(path)
    for name, first in NORMALIZER.items():
        value = said.get(name, normalizer[first])
        if value is not normalizer[first]:  # 1 is not True
            raise ValueError(
                f"{path}: {name}: {shortened(value)}, but in tokenizer.json {first} is "
                f"{normalizer[first]!r}"
            )
