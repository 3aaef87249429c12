"""What holds for every folder: dtypes, parts, missing files and packages, and the documentation."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_models import GPT2, make_gpt2, torch, write, write_parts

from minigrad import pretrained
from minigrad.pretrained.bert_folder import BERT_FIXED, BERT_IGNORED
from minigrad.pretrained.gpt2_folder import GPT2_FIXED, GPT2_IGNORED
from minigrad.pretrained.layers import ACTIVATIONS

FIELDS = [
    (pretrained.BertConfig, BERT_FIXED, BERT_IGNORED),
    (pretrained.GPT2Config, GPT2_FIXED, GPT2_IGNORED),
]
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_other_dtypes_become_the_default_one(tmp_path: Path, dtype: str) -> None:
    from safetensors.torch import save_file

    tensors = make_gpt2(GPT2)
    there = {k: torch.tensor(v).to(getattr(torch, dtype)) for k, v in tensors.items()}
    write(tmp_path, GPT2 | {"torch_dtype": dtype}, tensors)
    save_file(there, tmp_path / "model.safetensors")
    weight = pretrained.load_gpt2(tmp_path).tokens.weight
    assert weight.dtype == np.float32
    np.testing.assert_array_equal(weight.data, there["wte.weight"].float().numpy())


def test_other_dtypes_are_refused(tmp_path: Path) -> None:
    from safetensors.torch import save_file

    write(tmp_path, GPT2, {})
    save_file({"wte.weight": torch.zeros(2).to(torch.float8_e5m2)}, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match=r"model\.safetensors: wte\.weight .*F8_E5M2"):
        pretrained.load_gpt2(tmp_path)


def test_a_model_in_several_files(tmp_path: Path) -> None:
    tensors = make_gpt2(GPT2)
    whole = pretrained.load_gpt2(write(tmp_path, GPT2, tensors))
    places = write_parts(tmp_path, tensors)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": places}))
    np.testing.assert_array_equal(pretrained.load_gpt2(tmp_path)([[1, 2]]), whole([[1, 2]]))
    for place, said in (("one", r"index\.json: .*gone"),
                        ("../one", r"'\.\./one\.safetensors' is not inside")):  # fmt: skip
        index.write_text(json.dumps({"weight_map": places | {"gone": f"{place}.safetensors"}}))
        with pytest.raises(ValueError, match=said):
            pretrained.load_gpt2(tmp_path)
    (tmp_path / "two.safetensors").unlink()
    index.write_text(json.dumps({"weight_map": places}))
    with pytest.raises(FileNotFoundError, match=r"two\.safetensors: .*no such file"):
        pretrained.load_gpt2(tmp_path)


@pytest.mark.parametrize("load", [pretrained.load_bert, pretrained.load_gpt2])
def test_missing_and_broken_files(tmp_path: Path, load: Any) -> None:
    with pytest.raises(FileNotFoundError, match=r"config\.json: .*no such file"):
        load(tmp_path)
    config = {"model_type": load.__name__.removeprefix("load_")}
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config\.json: not JSON"):
        load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors: .*no such file"):
        load(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no tensors")
    with pytest.raises(ValueError, match=r"model\.safetensors: "):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"tokenizer\.json: .*no such file"):
        pretrained.load_tokenizer(tmp_path)


def test_a_missing_package_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, GPT2, make_gpt2(GPT2))
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match="^pretrained: .*pip install s"):
        pretrained.load_gpt2(tmp_path)
    with pytest.raises(ImportError, match="^load_tokenizer: .*pip install t"):
        pretrained.load_tokenizer(tmp_path)


@pytest.mark.needs("tokenizers")
def test_a_broken_tokenizer_is_named(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizer\.json: "):
        pretrained.load_tokenizer(tmp_path)


def test_no_field_is_accounted_for_twice() -> None:
    for config, fixed, ignored in FIELDS:
        honoured = {field.name for field in dataclasses.fields(config)}
        assert len(honoured | {*fixed} | ignored) == len(honoured) + len(fixed) + len(ignored)


def test_the_page_tells_of_every_field_and_activation() -> None:
    text = (ROOT / "docs" / "pretrained.md").read_text(encoding="utf-8")
    told = {*re.findall(r"`(\w+)`", text)}
    for config, fixed, ignored in FIELDS:
        wanted = {field.name for field in dataclasses.fields(config)} | {*fixed} | ignored
        assert not wanted - told
    assert not {*ACTIVATIONS} - told


@pytest.mark.parametrize("load", [name for name in pretrained.__all__ if "load_" in name])
def test_what_is_no_folder_is_refused_with_the_remedy(load: str) -> None:
    function: Any = getattr(pretrained, load)
    with pytest.raises(FileNotFoundError, match=f"^{load}: .*'bert-base-uncased'"):
        function("bert-base-uncased")
    for wrong in (None, 3, ["folder"]):
        with pytest.raises(TypeError, match=f"^{load}: .*folder"):
            function(wrong)
