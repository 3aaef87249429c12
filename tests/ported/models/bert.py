"""A masked language model: `nn.TransformerEncoderLayer` with `nhead=`, batch first, padding."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import LambdaLR

PAD, MASK = 0, 1


class BertEmbeddings(nn.Module):
    def __init__(self, vocab_size, hidden, max_len, dropout):
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(max_len, hidden)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        position_ids = torch.arange(max_len).expand((1, -1))
        self.register_buffer("position_ids", position_ids, persistent=False)

    def forward(self, input_ids, token_type_ids=None):
        seq_length = input_ids.size(1)
        position_ids = self.position_ids[:, :seq_length]
        if token_type_ids is None:
            token_type_ids = torch.zeros_like(input_ids)
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        embeddings += self.position_embeddings(position_ids)
        return self.dropout(self.LayerNorm(embeddings))


class BertForMaskedLM(nn.Module):
    def __init__(self, vocab_size=20, hidden=16, nhead=4, num_layers=2, max_len=12, dropout=0.0):
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden, max_len, dropout)
        encoder_layer = nn.TransformerEncoderLayer(
            d_model=hidden, nhead=nhead, dim_feedforward=4 * hidden, dropout=dropout,
            activation="gelu", layer_norm_eps=1e-12, batch_first=True,
        )  # fmt: skip
        self.encoder = nn.TransformerEncoder(
            encoder_layer, num_layers=num_layers, enable_nested_tensor=False
        )
        self.transform = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.decoder = nn.Linear(hidden, vocab_size, bias=False)
        self.bias = nn.Parameter(torch.zeros(vocab_size))
        self.decoder.weight = self.embeddings.word_embeddings.weight  # tied
        self.init_weights()

    def init_weights(self):
        for name, module in self.named_modules():
            if isinstance(module, nn.Linear) and "self_attn" not in name:
                nn.init.normal_(module.weight, mean=0.0, std=0.2)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, input_ids, attention_mask):
        padding = attention_mask.eq(0)
        hidden_states = self.encoder(self.embeddings(input_ids), src_key_padding_mask=padding)
        hidden_states = self.norm(F.gelu(self.transform(hidden_states)))
        return self.decoder(hidden_states) + self.bias


def build(dropout=0.0):
    return BertForMaskedLM(dropout=dropout)


def draw(numbers):
    """Tokens, padded at the end, and which of them to mask."""
    ids = numbers.integers(2, 20, (3, 10))
    for row, length in enumerate((10, 7, 5)):
        ids[row, length:] = PAD
    chosen = numbers.random((3, 10)) < 0.3
    chosen[:, 1] = True
    return ids, chosen


def losses(model, batches):
    no_decay = ["bias", "norm"]
    plain, decayed = [], []
    for n, p in model.named_parameters():
        (plain if any(nd in n.lower() for nd in no_decay) else decayed).append(p)
    groups = [
        {"params": decayed, "weight_decay": 0.01},
        {"params": plain, "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(groups, lr=5e-3, eps=1e-8)
    scheduler = LambdaLR(optimizer, lr_lambda=lambda step: min(1.0, (step + 1) / 3))
    history = []
    for ids, chosen in batches:
        input_ids, chosen = torch.tensor(ids, dtype=torch.long), torch.tensor(chosen)
        attention_mask = (input_ids != PAD).long()
        chosen = chosen & attention_mask.bool()
        labels = input_ids.masked_fill(~chosen, -100)
        input_ids = torch.where(chosen, torch.full_like(input_ids, MASK), input_ids)
        scores = model(input_ids, attention_mask=attention_mask)
        loss = F.cross_entropy(scores.view(-1, scores.size(-1)), labels.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
        if len(history) < len(batches):
            model.zero_grad(set_to_none=True)
    return history
