"""Reading and writing GPT-2's folders: the names of fields and tensors there."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from minigrad.ops._numerics import values_of
from minigrad.pretrained.config import FIXED, IGNORED
from minigrad.pretrained.folder import Place, loaded, read_model, write_model
from minigrad.pretrained.gpt2 import GPT2, GPT2Config

GPT2_FIXED = FIXED | {
    "model_type": ("gpt2",),
    "reorder_and_upcast_attn": (False,),
    "scale_attn_by_inverse_layer_idx": (False,),
    "scale_attn_weights": (True,),
}
GPT2_IGNORED = IGNORED | {
    "pad_token_id", "summary_activation", "summary_first_dropout", "summary_proj_to_labels",
    "summary_type", "summary_use_proj",
}  # fmt: skip
"""Includes fields of a summary head, whose tensors would be an error."""

E, F, THREE = "n_embd", "n_inner", "3 * n_embd"
LAYER = {
    "ln_1.{}": ("norm1.{}", (E,)),
    "attn.c_attn.{}": ("self_attn.in_proj_{}", (E, THREE)),  # packed as in PyTorch
    "attn.c_proj.{}": ("self_attn.out_proj.{}", (E, E)),
    "ln_2.{}": ("norm2.{}", (E,)),
    "mlp.c_fc.{}": ("linear1.{}", (E, F)),
    "mlp.c_proj.{}": ("linear2.{}", (F, E)),
}
"""The names of the parts of a layer in files and here, and the axes of each weight in files.
A matrix is (in, out) there. A bias has the last axis.
"""


def _places(config: GPT2Config) -> dict[str, Place]:
    """The place in the model of each tensor of a file, by its name there."""
    places = {
        "wte.weight": Place("tokens.weight", ("vocab_size", E)),
        "wpe.weight": Place("positions.pos_emb.weight", ("n_positions", E)),
    }
    for i in range(config.n_layer):
        for theirs, (ours, axes) in LAYER.items():
            name, place = f"h.{i}.{theirs}", f"decoder.layers.{i}.{ours}"
            weight = Place(place.format("weight"), axes, turned=len(axes) == 2)
            places[name.format("weight")] = weight
            places[name.format("bias")] = Place(place.format("bias"), axes[-1:])
    for kind in ("weight", "bias"):
        places[f"ln_f.{kind}"] = Place(f"decoder.norm.{kind}", (E,))
    return places | {"lm_head.weight": Place("head.weight", ("vocab_size", E))}


def load_gpt2(folder: str | Path) -> GPT2:
    """Load a GPT-2 from a folder with `config.json` and `model.safetensors`, in evaluation mode.

    Its dtype, and what is refused, are as in `load_bert`.

    Example:
        >>> import json, pathlib, tempfile
        >>> from minigrad import pretrained
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     config = {"model_type": "gpt2", "scale_attn_by_inverse_layer_idx": True}
        ...     written = pathlib.Path(folder, "config.json").write_text(json.dumps(config))
        ...     pretrained.load_gpt2(folder)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        ValueError: .../config.json: cannot be honoured
          scale_attn_by_inverse_layer_idx: True is not supported, only False
    """
    config, tensors, file = read_model(
        "load_gpt2", folder, GPT2Config, GPT2_FIXED, GPT2_IGNORED,
        lambda name: name.removeprefix("transformer."), layers=("n_layer", "h."),
    )  # fmt: skip
    _drop_constants(tensors, config, file)
    sizes = {**vars(config), F: config.hidden, THREE: 3 * config.n_embd}
    tied = ["lm_head.weight"] if config.tie_word_embeddings else []
    return loaded(lambda: GPT2(config), tensors, _places(config), sizes, tied, file)


def _drop_constants(tensors: dict[str, np.ndarray], config: GPT2Config, file: Path) -> None:
    """Remove the attention masks after checking that they are causal."""
    for i in range(config.n_layer):
        tensors.pop(f"h.{i}.attn.masked_bias", None)  # the score of masked positions
        mask = tensors.pop(f"h.{i}.attn.bias", None)
        if mask is None:
            continue
        square = mask.shape == (1, 1, *2 * mask.shape[-1:])
        if not square or not np.array_equal(mask[0, 0] != 0, np.tri(mask.shape[-1]) != 0):
            raise ValueError(f"{file}: h.{i}.attn.bias: only a causal mask is supported")


def save_gpt2(model: GPT2, folder: str | Path) -> None:
    """Write a GPT-2 to a folder that `load_gpt2` and the library transformers can read.

    The files are `config.json` and `model.safetensors`; the folder is created if needed.

    Example:
        >>> import tempfile
        >>> from minigrad import pretrained
        >>> config = pretrained.GPT2Config(vocab_size=50, n_positions=32, n_embd=16, n_layer=2,
        ...                                n_head=4)
        >>> model = pretrained.GPT2(config).eval()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pretrained.save_gpt2(model, folder)
        ...     again = pretrained.load_gpt2(folder)
        >>> bool((again([[2, 7, 3]]) == model([[2, 7, 3]])).all())
        True
    """
    state = {name: values_of(tensor) for name, tensor in model.state_dict().items()}
    for name in [name for name in state if ".q_proj." in name]:
        parts = [state[name.replace("q_proj", f"{part}_proj")] for part in "qkv"]
        state[name.replace("q_proj.", "in_proj_")] = np.concatenate(parts)
    tensors = {
        f"transformer.{name}": place.turn(state[place.name])
        for name, place in _places(model.config).items()
    }
    head = tensors.pop("transformer.lm_head.weight")
    if not model.config.tie_word_embeddings:
        tensors["lm_head.weight"] = head
    write_model(folder, tensors, model.config, "GPT2LMHeadModel", "gpt2")
