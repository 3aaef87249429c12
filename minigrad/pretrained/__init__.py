"""Pretrained models: BERT and GPT-2, from folders in Hugging Face's layout.

Nothing is downloaded. The package safetensors reads weights, the package tokenizers splits texts:
``pip install safetensors tokenizers``.
"""

from minigrad.pretrained.bert import Bert, BertConfig
from minigrad.pretrained.bert_folder import load_bert, save_bert
from minigrad.pretrained.folder import load_tokenizer
from minigrad.pretrained.gpt2 import GPT2, GPT2Config
from minigrad.pretrained.gpt2_folder import load_gpt2, save_gpt2

__all__ = [
    "GPT2", "Bert", "BertConfig", "GPT2Config", "load_bert", "load_gpt2", "load_tokenizer",
    "save_bert", "save_gpt2",
]  # fmt: skip
