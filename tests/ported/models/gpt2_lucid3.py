"""A GPT-2 in the spelling of Lucid 3: attention of the library, weights tied, text generated."""

import math

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import lucid.optim as optim


class GPT2Attention(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.c_attn = nn.Linear(hidden_size, 3 * hidden_size)
        self.c_proj = nn.Linear(hidden_size, hidden_size)
        self.dropout = dropout

    def forward(self, x: lucid.Tensor) -> lucid.Tensor:
        batch, length, width = x.shape
        heads = [
            part.view(batch, length, self.num_heads, -1).permute(0, 2, 1, 3)
            for part in self.c_attn(x).chunk(3, dim=-1)
        ]
        out = F.scaled_dot_product_attention(
            *heads, attn_mask=None, dropout_p=self.dropout if self.training else 0.0, is_causal=True
        )
        return self.c_proj(out.permute(0, 2, 1, 3).reshape(batch, length, width))


class GPT2Block(nn.Module):
    def __init__(self, hidden_size: int, num_heads: int, dropout: float) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(hidden_size, eps=1e-5)
        self.attn = GPT2Attention(hidden_size, num_heads, dropout)
        self.ln_2 = nn.LayerNorm(hidden_size, eps=1e-5)
        self.c_fc = nn.Linear(hidden_size, 4 * hidden_size)
        self.c_proj = nn.Linear(4 * hidden_size, hidden_size)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x: lucid.Tensor) -> lucid.Tensor:
        x = x + self.attn(self.ln_1(x))
        hidden = F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
        return x + self.drop(self.c_proj(hidden))


class GPT2LMHeadModel(nn.Module):
    def __init__(
        self, vocab_size: int = 17, n_positions: int = 12, hidden_size: int = 12,
        num_layers: int = 2, num_heads: int = 3, dropout: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.wte = nn.Embedding(vocab_size, hidden_size)
        self.wpe = nn.Embedding(n_positions, hidden_size)
        blocks = [GPT2Block(hidden_size, num_heads, dropout) for _ in range(num_layers)]
        self.h = nn.ModuleList(blocks)
        self.ln_f = nn.LayerNorm(hidden_size)
        self.lm_head = nn.Linear(hidden_size, vocab_size, bias=False)
        self.lm_head.weight = self.wte.weight
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                std = 0.2 / math.sqrt(2 * num_layers) if "c_proj" in name else 0.2
                nn.init.normal_(parameter, mean=0.0, std=std)

    def forward(self, input_ids: lucid.Tensor) -> lucid.Tensor:
        positions = lucid.arange(input_ids.shape[1]).unsqueeze(dim=0)
        x = self.wte(input_ids) + self.wpe(positions)
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


def build(dropout=0.0):
    return GPT2LMHeadModel(dropout=dropout)


def draw(numbers):
    """Token ids."""
    return (numbers.integers(0, 17, (3, 10)),)


def losses(model, batches):
    optimizer = optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.1)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)
    history = []
    for (ids,) in batches:
        input_ids = lucid.tensor(ids, dtype=lucid.int64)
        logits = model(input_ids)
        shifted = logits[:, :-1].reshape(-1, logits.shape[-1])
        loss = F.cross_entropy(shifted, input_ids[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        scheduler.step()
        history.append(loss.item())
    model.eval()
    with lucid.no_grad():
        for _ in range(4):
            last = model(input_ids[:, -8:])[:, -1]
            input_ids = lucid.cat([input_ids, lucid.argmax(last, dim=-1, keepdim=True)], dim=1)
    return [*history, last.abs().mean().item(), *input_ids[0].tolist()]
