"""GPT-2 from a folder, against GPT-2 written out: values, gradients, generation, refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_models import GPT2, assert_close, gpt2, leaves, make_gpt2, torch, write

from minigrad import nn, pretrained

IDS = np.array([[2, 7, 9, 11, 3], [2, 8, 3, 0, 39]])


def both(folder: Path, config: dict[str, Any], tensors: dict[str, np.ndarray]) -> tuple[Any, Any]:
    """Our model in float64, and the tensors for the one that is written out."""
    return pretrained.load_gpt2(write(folder, config, tensors)).double(), leaves(tensors)


def test_hidden_states_and_logits(tmp_path: Path) -> None:
    model, t = both(tmp_path, GPT2, make_gpt2(GPT2))
    assert not model.training
    hidden, logits = gpt2(t, GPT2, IDS)
    assert_close(model.features(IDS), hidden)
    assert_close(model(IDS), logits)
    model(IDS).sum().backward()
    assert all(p.grad is not None for p in model.parameters())
    assert_close(model.float()(IDS), logits, rtol=1e-5)


def test_dropout_is_where_and_as_likely_as_the_config_says(tmp_path: Path) -> None:
    config = GPT2 | {"attn_pdrop": 0.2, "embd_pdrop": 0.3, "resid_pdrop": 0.4}
    model, _ = both(tmp_path, config, make_gpt2(config))
    layer = model.decoder.layers[1]
    assert (layer.self_attn.dropout, model.dropout.p, layer.dropout.p) == (0.2, 0.3, 0.0)
    assert layer.dropout1.p == layer.dropout2.p == 0.4


def test_a_head_of_its_own(tmp_path: Path) -> None:
    config = GPT2 | {"tie_word_embeddings": False}
    tensors = make_gpt2(config)
    with pytest.raises(ValueError, match=r"lm_head\.weight: missing"):
        pretrained.load_gpt2(write(tmp_path, config, tensors))
    tensors["lm_head.weight"] = tensors["wte.weight"] * np.float32(-2)
    with pytest.raises(RuntimeError, match=r"same tensor as tokens\.weight"):
        pretrained.load_gpt2(write(tmp_path, GPT2, tensors))
    model, t = both(tmp_path, config, tensors)
    assert model.head.weight is not model.tokens.weight
    assert_close(model(IDS), gpt2(t, config, IDS)[1])


def test_the_forms_that_files_have(tmp_path: Path) -> None:
    tensors = make_gpt2(GPT2)
    plain = both(tmp_path / "plain", GPT2, tensors)[0](IDS)
    mask = np.tri(16, dtype=np.uint8)[None, None]
    form = {f"transformer.{name}": array for name, array in tensors.items()}
    form |= {"lm_head.weight": tensors["wte.weight"]}
    for i in range(2):
        form |= {f"transformer.h.{i}.attn.bias": mask}
        form |= {f"transformer.h.{i}.attn.masked_bias": np.float32(-1e4)}
    model, _ = both(tmp_path / "form", GPT2, form)
    assert model.head.weight is model.tokens.weight
    np.testing.assert_array_equal(model(IDS), plain)
    for wrong in (1 - mask, mask[0], 0 * mask + 1):
        with pytest.raises(ValueError, match=r"h\.1\.attn\.bias: .*causal"):
            both(tmp_path / "wrong", GPT2, form | {"transformer.h.1.attn.bias": wrong})


@pytest.mark.parametrize("cache", [nn.DynamicKVCache, lambda: nn.StaticKVCache(16, 2)])
def test_greedy_generation_over_the_cache(tmp_path: Path, cache: Any) -> None:
    """As if each token had been found by the model that is written out, from the beginning."""
    config, tensors = GPT2 | {"tie_word_embeddings": False}, make_gpt2(GPT2)
    tensors["lm_head.weight"] = np.random.default_rng(5).standard_normal((40, 12)).astype("f4")
    tensors["ln_f.bias"] *= 0  # else it alone decides
    tensors["wpe.weight"] *= 10
    model, t = both(tmp_path, config, tensors)
    written = nn.generation.generate(model, IDS, 10, temperature=0, cache=cache())
    ids = torch.tensor(IDS)
    for _ in range(10):
        best = gpt2(t, config, ids)[1][:, -1].argmax(dim=-1, keepdim=True)
        ids = torch.cat([ids, best], dim=1)
    np.testing.assert_array_equal(written, ids.numpy())
    assert len({*written[:, 5:].numpy().ravel().tolist()}) > 3  # not always the same token
    with pytest.raises(ValueError, match=" 16"):
        nn.generation.generate(model, IDS, 13)


def test_a_matrix_that_lies_the_other_way_is_named(tmp_path: Path) -> None:
    tensors = make_gpt2(GPT2)
    tensors["h.0.mlp.c_fc.weight"] = tensors["h.0.mlp.c_fc.weight"].T
    wrong = r"h\.0\.mlp\.c_fc\.weight: shape \(48, 12\) given, by config\.json it is \(12, 48\)"
    with pytest.raises(ValueError, match=wrong):
        pretrained.load_gpt2(write(tmp_path, GPT2, tensors))
