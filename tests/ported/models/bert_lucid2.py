"""The model of bert.py in the spelling of Lucid 2: axis, MultiHeadAttention's masks, init names."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import lucid.optim as optim

PAD, MASK = 0, 1


class BertEmbeddings(nn.Module):
    def __init__(self, vocab_size: int, hidden: int, max_len: int, dropout: float) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(vocab_size, hidden, padding_idx=PAD)
        self.position_embeddings = nn.Embedding(max_len, hidden)
        self.token_type_embeddings = nn.Embedding(2, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, input_ids: lucid.Tensor) -> lucid.Tensor:
        position_ids = lucid.arange(0, input_ids.shape[1], dtype=lucid.Int64)
        position_ids = lucid.broadcast_to(lucid.expand_dims(position_ids, axis=0), input_ids.shape)
        token_type_ids = lucid.zeros_like(input_ids)
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids)
        embeddings += self.position_embeddings(position_ids)
        return self.dropout(self.LayerNorm(embeddings))


class BertForMaskedLM(nn.Module):
    def __init__(
        self, vocab_size: int = 20, hidden: int = 16, num_heads: int = 4, num_layers: int = 2,
        max_len: int = 12, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.embeddings = BertEmbeddings(vocab_size, hidden, max_len, dropout)
        encoder_layer = nn.TransformerEncoderLayer(
            d_model=hidden, num_heads=num_heads, dim_feedforward=4 * hidden, dropout=dropout,
            activation=F.gelu, layer_norm_eps=1e-12, norm_first=False,
        )  # fmt: skip
        self.encoder = nn.TransformerEncoder(encoder_layer, num_layers)
        self.transform = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.decoder = nn.Linear(hidden, vocab_size, bias=False)
        self.bias = nn.Parameter(lucid.zeros(vocab_size))
        self.decoder.weight = self.embeddings.word_embeddings.weight
        for layer in (self.transform, self.decoder):
            nn.init.normal(layer.weight, mean=0.0, std=0.2)
        nn.init.constant(self.transform.bias, 0.0)

    def forward(self, input_ids: lucid.Tensor, attention_mask: lucid.Tensor) -> lucid.Tensor:
        ignored = attention_mask == 0
        hidden_states = self.encoder(self.embeddings(input_ids), src_key_padding_mask=ignored)
        hidden_states = self.norm(F.gelu(self.transform(hidden_states)))
        return self.decoder(hidden_states) + self.bias


def build(dropout=0.0):
    return BertForMaskedLM(dropout=dropout)


def losses(model, batches):
    biases = [p for n, p in model.named_parameters() if "bias" in n or "norm" in n.lower()]
    weights = [p for p in model.parameters() if not any(p is other for other in biases)]
    groups = [{"params": weights}, {"params": biases, "weight_decay": 0.0}]
    optimizer = optim.AdamW(groups, lr=5e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
    scheduler = optim.lr_scheduler.LambdaLR(
        lr_lambda=lambda step: min(1.0, (step + 1) / 3), optimizer=optimizer
    )
    history = []
    for ids, chosen in batches:
        input_ids = lucid.tensor(ids, dtype=lucid.Int64)
        attention_mask = (input_ids != PAD).int()
        chosen = lucid.tensor(chosen) & (attention_mask == 1)
        labels = lucid.where(chosen, input_ids, -100)
        input_ids = input_ids.masked_fill(chosen, MASK)
        scores = model(input_ids, attention_mask)
        scores = scores.reshape(-1, scores.shape[-1])
        loss = F.cross_entropy(scores, labels.reshape(-1), ignore_index=-100)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm(model.parameters(), max_norm=1.0)
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
    assert lucid.argmax(scores, axis=-1).shape == labels.ravel().shape
    return history
