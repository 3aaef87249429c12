"""BERT and GPT-2 written out in PyTorch, on tensors under the names that their files give them.

They are written from the papers and the layout of the files, and share nothing with what they
check. `make_bert` and `make_gpt2` draw the tensors; the functions compute in float64.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional
safetensors_numpy = pytest.importorskip("safetensors.numpy")

BERT = {
    "model_type": "bert", "architectures": ["BertModel"], "vocab_size": 40, "hidden_size": 12,
    "num_hidden_layers": 2, "num_attention_heads": 3, "intermediate_size": 20, "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1, "attention_probs_dropout_prob": 0.2, "max_position_embeddings": 16,
    "type_vocab_size": 2, "layer_norm_eps": 1e-12, "pad_token_id": 0,
    "position_embedding_type": "absolute", "initializer_range": 0.02,
    "transformers_version": "4.44.0", "torch_dtype": "float32", "use_cache": True,
}  # fmt: skip
GPT2 = {
    "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 40, "n_positions": 16,
    "n_ctx": 16, "n_embd": 12, "n_layer": 2, "n_head": 3, "activation_function": "gelu_new",
    "attn_pdrop": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1, "layer_norm_epsilon": 1e-5,
    "bos_token_id": 39, "eos_token_id": 39, "summary_type": "cls_index",
    "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
}  # fmt: skip


Shapes = dict[str, tuple[int, ...]]


def drawn(shapes: Shapes) -> dict[str, np.ndarray]:
    """Float32 tensors none of which is 0 or 1, large enough that activations bend."""
    draw = np.random.default_rng(0).standard_normal
    return {name: (0.6 * draw(shape)).astype(np.float32) for name, shape in shapes.items()}


def make_bert(config: dict[str, Any], *heads: str) -> dict[str, np.ndarray]:
    """The tensors of a BERT; heads: "pooler", "masked_lm", "next_sentence"."""
    e, f, v = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    shapes: Shapes = {
        "embeddings.word_embeddings.weight": (v, e),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], e),
        "embeddings.token_type_embeddings.weight": (config["type_vocab_size"], e),
    }
    parts: Shapes = {"embeddings.LayerNorm": (e,)}
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            parts[f"{layer}.attention.{name}"] = (e, e)
        parts[f"{layer}.attention.output.LayerNorm"] = parts[f"{layer}.output.LayerNorm"] = (e,)
        parts |= {f"{layer}.intermediate.dense": (f, e), f"{layer}.output.dense": (e, f)}
    if "pooler" in heads:
        parts["pooler.dense"] = (e, e)
    if "masked_lm" in heads:
        parts["cls.predictions.transform.dense"] = (e, e)
        parts["cls.predictions.transform.LayerNorm"] = (e,)
        shapes["cls.predictions.bias"] = (v,)
    if "next_sentence" in heads:
        parts["cls.seq_relationship"] = (2, e)
    for name, shape in parts.items():
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = shape, shape[:1]
    return drawn(shapes)


def make_gpt2(config: dict[str, Any]) -> dict[str, np.ndarray]:
    """The tensors of a GPT-2, its matrices (in, out)."""
    e, inner = config["n_embd"], config.get("n_inner") or 4 * config["n_embd"]
    shapes: Shapes = {"wte.weight": (config["vocab_size"], e)}
    shapes["wpe.weight"] = (config["n_positions"], e)
    parts: Shapes = {"ln_f": (e,)}
    for i in range(config["n_layer"]):
        parts |= {f"h.{i}.ln_1": (e,), f"h.{i}.ln_2": (e,)}
        parts |= {f"h.{i}.attn.c_attn": (e, 3 * e), f"h.{i}.attn.c_proj": (e, e)}
        parts |= {f"h.{i}.mlp.c_fc": (e, inner), f"h.{i}.mlp.c_proj": (inner, e)}
    for name, shape in parts.items():
        shapes[f"{name}.weight"], shapes[f"{name}.bias"] = shape, shape[-1:]
    return drawn(shapes)


def write(folder: Path, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> Path:
    """A folder that holds a config and tensors."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    whole = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    safetensors_numpy.save_file(whole, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def write_parts(folder: Path, tensors: dict[str, np.ndarray]) -> dict[str, str]:
    """Put each half of the tensors into a file of its own; return where each is."""
    (folder / "model.safetensors").unlink()
    places: dict[str, str] = {}
    for file, some in (("one.safetensors", [*tensors][::2]), ("two.safetensors", [*tensors][1::2])):
        safetensors_numpy.save_file({name: tensors[name] for name in some}, folder / file)
        places |= dict.fromkeys(some, file)
    return places


def leaves(tensors: dict[str, np.ndarray]) -> dict[str, Any]:
    """PyTorch's tensors in float64 that collect gradients."""
    options = {"dtype": torch.float64, "requires_grad": True}
    return {name: torch.tensor(array, **options) for name, array in tensors.items()}


BEND = {
    **dict.fromkeys(("gelu", "gelu_python"), F.gelu),
    **dict.fromkeys(
        ("gelu_new", "gelu_fast", "gelu_pytorch_tanh"), lambda x: F.gelu(x, approximate="tanh")),
    "silu": F.silu, "swish": F.silu, "mish": F.mish, "relu": F.relu, "relu6": F.relu6,
    "leaky_relu": F.leaky_relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid,
}  # fmt: skip
"""Activations by the names of configs."""


def normalised(t: dict[str, Any], name: str, x: Any, eps: float) -> Any:
    return F.layer_norm(x, x.shape[-1:], t[f"{name}.weight"], t[f"{name}.bias"], eps)


def attended(q: Any, k: Any, v: Any, heads: int, allowed: Any) -> Any:
    """Attention of several heads on tensors (N, L, E)."""
    parts = (x.unflatten(-1, (heads, -1)).transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(*parts, allowed).transpose(1, 2).flatten(2)


def bert(t: dict[str, Any], config: dict[str, Any], ids: Any, types: Any, real: Any) -> Any:
    """Hidden states (N, L, E) of ids, token types and an attention mask, all (N, L)."""

    def dense(name: str, x: Any) -> Any:
        return x @ t[f"{name}.weight"].T + t[f"{name}.bias"]

    eps, heads = config["layer_norm_eps"], config["num_attention_heads"]
    ids, types, real = (torch.as_tensor(np.asarray(array)) for array in (ids, types, real))
    x = t["embeddings.word_embeddings.weight"][ids]
    x = x + t["embeddings.token_type_embeddings.weight"][types]
    x = x + t["embeddings.position_embeddings.weight"][: ids.shape[1]]
    x = normalised(t, "embeddings.LayerNorm", x, eps)
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        q, k, v = (dense(f"{layer}.attention.self.{n}", x) for n in ("query", "key", "value"))
        heard = attended(q, k, v, heads, real.bool()[:, None, None])
        heard = dense(f"{layer}.attention.output.dense", heard)
        x = normalised(t, f"{layer}.attention.output.LayerNorm", x + heard, eps)
        thought = BEND[config["hidden_act"]](dense(f"{layer}.intermediate.dense", x))
        thought = dense(f"{layer}.output.dense", thought)
        x = normalised(t, f"{layer}.output.LayerNorm", x + thought, eps)
    return x


def pooled(t: dict[str, Any], hidden: Any) -> Any:
    return torch.tanh(hidden[:, 0] @ t["pooler.dense.weight"].T + t["pooler.dense.bias"])


def masked_lm(t: dict[str, Any], config: dict[str, Any], hidden: Any) -> Any:
    """Scores (N, L, tokens); the table of embeddings unless there is a weight of its own."""
    name = "cls.predictions.transform"
    x = hidden @ t[f"{name}.dense.weight"].T + t[f"{name}.dense.bias"]
    x = normalised(t, f"{name}.LayerNorm", BEND[config["hidden_act"]](x), config["layer_norm_eps"])
    table = t.get("cls.predictions.decoder.weight", t["embeddings.word_embeddings.weight"])
    return x @ table.T + t["cls.predictions.bias"]


def gpt2(t: dict[str, Any], config: dict[str, Any], ids: Any) -> tuple[Any, Any]:
    """Hidden states (N, L, E) and scores (N, L, tokens) of ids (N, L)."""

    def conv1d(name: str, x: Any) -> Any:
        return x @ t[f"{name}.weight"] + t[f"{name}.bias"]

    eps, heads = config["layer_norm_epsilon"], config["n_head"]
    ids = torch.as_tensor(np.asarray(ids))
    length = ids.shape[1]
    causal = torch.tensor([[j <= i for j in range(length)] for i in range(length)])
    x = t["wte.weight"][ids] + t["wpe.weight"][:length]
    for i in range(config["n_layer"]):
        h = normalised(t, f"h.{i}.ln_1", x, eps)
        q, k, v = conv1d(f"h.{i}.attn.c_attn", h).chunk(3, dim=-1)
        x = x + conv1d(f"h.{i}.attn.c_proj", attended(q, k, v, heads, causal))
        h = conv1d(f"h.{i}.mlp.c_fc", normalised(t, f"h.{i}.ln_2", x, eps))
        h = BEND[config["activation_function"]](h)
        x = x + conv1d(f"h.{i}.mlp.c_proj", h)
    x = normalised(t, "ln_f", x, eps)
    return x, x @ t.get("lm_head.weight", t["wte.weight"]).T


def assert_close(ours: Any, theirs: Any, rtol: float = 1e-9) -> None:
    wanted = theirs.detach().numpy()
    assert ours.shape == wanted.shape
    scale = max(1.0, float(np.abs(wanted).max()))
    np.testing.assert_allclose(np.asarray(ours.detach()), wanted, rtol=rtol, atol=rtol * scale)
