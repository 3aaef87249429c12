"""Translation with `nn.Transformer`: sequences first, masks, label smoothing, Noam's schedule."""

import math

import torch
import torch.nn as nn
from torch import Tensor
from torch.nn import Transformer

PAD_IDX = 0


class PositionalEncoding(nn.Module):
    def __init__(self, emb_size: int, dropout: float, maxlen: int = 50):
        super().__init__()
        den = torch.exp(-torch.arange(0, emb_size, 2) * math.log(10000) / emb_size)
        pos = torch.arange(0, maxlen).reshape(maxlen, 1)
        pos_embedding = torch.zeros((maxlen, emb_size))
        pos_embedding[:, 0::2] = torch.sin(pos * den)
        pos_embedding[:, 1::2] = torch.cos(pos * den)
        pos_embedding = pos_embedding.unsqueeze(-2)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("pos_embedding", pos_embedding)

    def forward(self, token_embedding: Tensor) -> Tensor:
        return self.dropout(token_embedding + self.pos_embedding[: token_embedding.size(0), :])


class Seq2SeqTransformer(nn.Module):
    def __init__(self, emb_size: int, nhead: int, vocab: int, dropout: float) -> None:
        super().__init__()
        self.transformer = Transformer(
            d_model=emb_size, nhead=nhead, num_encoder_layers=2, num_decoder_layers=2,
            dim_feedforward=24, dropout=dropout,
        )  # fmt: skip
        self.generator = nn.Linear(emb_size, vocab)
        self.src_tok_emb = nn.Embedding(vocab, emb_size)
        self.tgt_tok_emb = nn.Embedding(vocab, emb_size)
        self.positional_encoding = PositionalEncoding(emb_size, dropout=dropout)

    def embed(self, embedding: nn.Module, tokens: Tensor) -> Tensor:
        return self.positional_encoding(embedding(tokens.long()) * math.sqrt(16))

    def forward(
        self, src: Tensor, trg: Tensor, src_mask: Tensor, tgt_mask: Tensor,
        src_padding_mask: Tensor, tgt_padding_mask: Tensor, memory_key_padding_mask: Tensor,
    ) -> Tensor:  # fmt: skip
        outs = self.transformer(
            self.embed(self.src_tok_emb, src), self.embed(self.tgt_tok_emb, trg), src_mask,
            tgt_mask, None, src_padding_mask, tgt_padding_mask, memory_key_padding_mask,
        )  # fmt: skip
        return self.generator(outs)

    def encode(self, src: Tensor, src_mask: Tensor) -> Tensor:
        return self.transformer.encoder(self.embed(self.src_tok_emb, src), src_mask)

    def decode(self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor) -> Tensor:
        return self.transformer.decoder(self.embed(self.tgt_tok_emb, tgt), memory, tgt_mask)


def square_subsequent_mask(sz: int, device: torch.device) -> Tensor:
    return torch.triu(torch.ones((sz, sz), device=device), diagonal=1).type(torch.bool)


def create_mask(src: Tensor, tgt: Tensor):
    src_seq_len = src.shape[0]
    tgt_mask = square_subsequent_mask(tgt.shape[0], src.device)
    src_mask = torch.zeros((src_seq_len, src_seq_len), device=src.device).type(torch.bool)
    src_padding_mask = (src == PAD_IDX).transpose(0, 1)
    tgt_padding_mask = (tgt == PAD_IDX).transpose(0, 1)
    return src_mask, tgt_mask, src_padding_mask, tgt_padding_mask


@torch.no_grad()
def greedy_decode(model: Seq2SeqTransformer, src: Tensor, max_len: int) -> Tensor:
    memory = model.encode(src, torch.zeros(src.size(0), src.size(0)).type(torch.bool))
    ys = torch.ones(1, 1).fill_(2).type(torch.long)
    for _ in range(max_len - 1):
        out = model.decode(ys, memory, square_subsequent_mask(ys.size(0), ys.device))
        prob = model.generator(out.transpose(0, 1)[:, -1])
        _, next_word = torch.max(prob, dim=1)
        ys = torch.cat([ys, torch.ones(1, 1).type_as(src.data).fill_(next_word.item())], dim=0)
    return ys


def build(dropout=0.0):
    model = Seq2SeqTransformer(emb_size=16, nhead=4, vocab=13, dropout=dropout)
    for p in model.parameters():
        if p.dim() > 1:
            nn.init.xavier_uniform_(p)
    return model


def draw(numbers):
    """Source and target sequences of shapes (S, N) and (T, N), padded at the end."""
    src, tgt = numbers.integers(3, 13, (7, 3)), numbers.integers(3, 13, (6, 3))
    src[5:, 1] = src[4:, 2] = tgt[4:, 0] = PAD_IDX
    return src, tgt


def losses(model, batches):
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD_IDX, label_smoothing=0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: 16**-0.5 * min((step + 1) ** -0.5, (step + 1) * 60**-1.5)
    )
    history = []
    for src, tgt in batches:
        model.train()
        src, tgt = torch.from_numpy(src), torch.from_numpy(tgt)
        tgt_input, tgt_out = tgt[:-1, :], tgt[1:, :]
        src_mask, tgt_mask, src_padding_mask, tgt_padding_mask = create_mask(src, tgt_input)
        logits = model(
            src, tgt_input, src_mask, tgt_mask,
            src_padding_mask, tgt_padding_mask, src_padding_mask,
        )  # fmt: skip
        optimizer.zero_grad()
        loss = loss_fn(logits.reshape(-1, logits.shape[-1]), tgt_out.reshape(-1))
        loss.backward()
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
    model.eval()
    words = greedy_decode(model, src[:, :1], max_len=5).flatten()
    return [*history, *words.tolist()]
