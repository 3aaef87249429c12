"""Pretrained models: BERT, GPT-2 and sentence encoders from folders in Hugging Face's layout.

Nothing is downloaded. The package safetensors reads weights, the package tokenizers splits texts:
``pip install safetensors tokenizers``.
"""

from minigrad.pretrained.bert import Bert, BertConfig
from minigrad.pretrained.bert_folder import load_bert, save_bert
from minigrad.pretrained.folder import load_tokenizer
from minigrad.pretrained.gpt2 import GPT2, GPT2Config
from minigrad.pretrained.gpt2_folder import load_gpt2, save_gpt2
from minigrad.pretrained.sentence import Pooling, SentenceEncoder, Tokens
from minigrad.pretrained.sentence_folder import load_sentence_encoder

__all__ = [
    "GPT2", "Bert", "BertConfig", "GPT2Config", "Pooling", "SentenceEncoder", "Tokens", "load_bert",
    "load_gpt2", "load_sentence_encoder", "load_tokenizer", "save_bert", "save_gpt2",
]  # fmt: skip
