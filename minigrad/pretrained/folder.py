"""A model's folder in Hugging Face's layout: its tensors, under their own names, and its tokenizer.

A folder holds `config.json`, `model.safetensors` or parts of it with an index, and
`tokenizer.json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from minigrad.io import safetensors
from minigrad.io.atomic import replacing
from minigrad.io.errors import LoadError
from minigrad.nn import Module
from minigrad.nn.checks import optional_package
from minigrad.pretrained.config import model_folder, naming, read_json

WHOLE, INDEX = "model.safetensors", "model.safetensors.index.json"


def read_tensors(folder: Path) -> tuple[dict[str, np.ndarray], Path]:
    """The tensors of a folder by name, and the file that says which they are.

    Those of bfloat16 become float32, which holds all their values.

    Args:
        folder: The folder.

    Returns:
        The arrays; and the path of the safetensors file, or of the index of several.

    Raises:
        FileNotFoundError: There is no safetensors file.
        ImportError: The package safetensors is not installed.
        ValueError: A file is broken, or a tensor is of a dtype that NumPy lacks.
    """
    whole, index = folder / WHOLE, folder / INDEX
    if whole.is_file() or not index.is_file():
        return _tensors_in(whole), whole
    places = read_json(index)["weight_map"]
    tensors: dict[str, np.ndarray] = {}
    for name in sorted({*places.values()}):
        tensors |= _tensors_in(inside(folder, name))
    absent = [name for name in places if name not in tensors]
    if absent:
        raise ValueError(f"{index}: no file holds {', '.join(absent)}")
    return tensors, index


def _tensors_in(path: Path) -> dict[str, np.ndarray]:
    optional_package("pretrained", "safetensors")
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file; weights are read from it alone")
    try:
        tensors, _ = safetensors.read(path)
    except LoadError as error:
        raise ValueError(f"{path}: {error}") from None
    return tensors


def inside(folder: Path, name: str) -> Path:
    """The path of something in a folder, whose name a file of it gives.

    Raises:
        ValueError: It would be elsewhere.
    """
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise ValueError(f"{folder}: {name!r} is not inside it")
    return path


def renamed(
    tensors: Mapping[str, np.ndarray], rename: Callable[[str], str], file: Path
) -> dict[str, np.ndarray]:
    """The tensors under other names.

    Raises:
        ValueError: Two of them get the same name.
    """
    result: dict[str, np.ndarray] = {}
    for name, array in tensors.items():
        if result.setdefault(rename(name), array) is not array:
            raise ValueError(f"{file}: {name}: {rename(name)} is there under another name too")
    return result


def load(
    model: Module,
    tensors: Mapping[str, np.ndarray],
    names: Mapping[str, str],
    tied: Collection[str],
    file: Path,
) -> None:
    """Load tensors into a model: exactly those that it has.

    Args:
        model: The model.
        tensors: The tensors of the file, by name.
        names: What the model calls each tensor that the file should hold.
        tied: Those that need not be there, because the model has them under another name too.
        file: What errors are about.

    Raises:
        ValueError: A tensor is missing, unexpected or of the wrong shape; each is named.
    """
    problems = [f"{name}: missing" for name in names if name not in tensors and name not in tied]
    problems += [f"{name}: unexpected" for name in tensors if name not in names]
    problems += [
        f"{name}: floating-point values expected, got {array.dtype}"
        for name, array in tensors.items()
        if name in names and array.dtype.kind != "f"
    ]
    if problems:
        head = f"{file}: the tensors do not fit {type(model).__name__}; nothing was loaded"
        raise ValueError("\n  ".join([head, *problems]))
    with naming(file):
        model.load_state_dict({names[name]: array for name, array in tensors.items()})


def write_tensors(folder: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write `model.safetensors`.

    Raises:
        ImportError: The package safetensors is not installed.
    """
    numpy = optional_package("pretrained", "safetensors.numpy")
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    with replacing(folder / WHOLE) as file:
        file.write_bytes(numpy.save(whole, metadata={"format": "pt"}))


def load_tokenizer(folder: str | Path) -> Any:
    """Load the tokenizer of a folder.

    Args:
        folder: A folder with a `tokenizer.json`.

    Returns:
        A `tokenizers.Tokenizer`, of the package of that name: ``encode(text).ids`` are what a model
        takes, and ``decode(ids)`` is the text of what it gives.

    Raises:
        FileNotFoundError: There is no such file.
        ImportError: The package tokenizers is not installed.
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
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file")
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # of the class Exception itself, which is all that tokenizers has
        raise ValueError(f"{path}: {error}") from None
    _check_normalizer(Path(folder) / "tokenizer_config.json", tokenizer)
    return tokenizer


NORMALIZER = {
    "do_lower_case": "lowercase",
    "strip_accents": "strip_accents",
    "tokenize_chinese_chars": "handle_chinese_chars",
}
"""What BERT's `tokenizer_config.json` says a second time, and what it is called in the first."""


def _check_normalizer(path: Path, tokenizer: Any) -> None:
    """Refuse a folder that says two things of how texts are normalised."""
    normalizer = json.loads(tokenizer.to_str())["normalizer"] or {}
    if normalizer.get("type") != "BertNormalizer" or not path.exists():
        return
    said = read_json(path)
    for name, first in NORMALIZER.items():
        if name in said and said[name] != normalizer[first]:
            raise ValueError(
                f"{path}: {name}: {said[name]!r}, but in tokenizer.json {first} is "
                f"{normalizer[first]!r}"
            )
