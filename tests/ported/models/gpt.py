"""A GPT with its attention written by hand, a mask as a buffer, and generation with a cache."""

import math

import torch
import torch.nn as nn
from torch.nn import functional as F


class CausalSelfAttention(nn.Module):
    def __init__(self, n_embd, n_head, block_size, dropout):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout = nn.Dropout(dropout)
        self.resid_dropout = nn.Dropout(dropout)
        bias = torch.tril(torch.ones(block_size, block_size))
        self.register_buffer("bias", bias.view(1, 1, block_size, block_size))
        self.n_head, self.n_embd = n_head, n_embd

    def forward(self, x, past=None):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        if past is not None:
            k = torch.cat([past[0], k], dim=-2)
            v = torch.cat([past[1], v], dim=-2)
        S = k.size(-2)

        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, S - T : S, :S] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y)), (k, v)


class Block(nn.Module):
    def __init__(self, n_embd, n_head, block_size, dropout):
        super().__init__()
        self.ln_1 = nn.LayerNorm(n_embd)
        self.attn = CausalSelfAttention(n_embd, n_head, block_size, dropout)
        self.ln_2 = nn.LayerNorm(n_embd)
        c_fc, c_proj = nn.Linear(n_embd, 4 * n_embd), nn.Linear(4 * n_embd, n_embd)
        act = nn.GELU(approximate="tanh")
        self.mlp = nn.ModuleDict({"c_fc": c_fc, "act": act, "c_proj": c_proj})

    def forward(self, x, past=None):
        out, present = self.attn(self.ln_1(x), past)
        x = x + out
        m = self.mlp
        return x + m["c_proj"](m.act(m.c_fc(self.ln_2(x)))), present


class GPT(nn.Module):
    def __init__(self, vocab_size=17, block_size=12, n_layer=2, n_head=2, n_embd=12, dropout=0.0):
        super().__init__()
        self.block_size = block_size
        blocks = [Block(n_embd, n_head, block_size, dropout) for _ in range(n_layer)]
        parts = dict(
            wte=nn.Embedding(vocab_size, n_embd), wpe=nn.Embedding(block_size, n_embd),
            drop=nn.Dropout(dropout), h=nn.ModuleList(blocks), ln_f=nn.LayerNorm(n_embd),
        )  # fmt: skip
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = nn.Linear(n_embd, vocab_size, bias=False)
        self.apply(self._init_weights)
        for pn, p in self.named_parameters():
            if pn.endswith("c_proj.weight"):
                torch.nn.init.normal_(p, mean=0.0, std=0.1 / math.sqrt(2 * n_layer))

    def _init_weights(self, module):
        if isinstance(module, nn.Linear):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.1)
            if module.bias is not None:
                torch.nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            torch.nn.init.normal_(module.weight, mean=0.0, std=0.1)

    def forward(self, idx, targets=None, past=None):
        device = idx.device
        _, t = idx.size()
        start = 0 if past is None else past[0][0].size(-2)
        assert start + t <= self.block_size, f"only {self.block_size} positions"
        pos = torch.arange(start, start + t, dtype=torch.long, device=device).unsqueeze(0)
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
        presents = []
        for i, block in enumerate(self.transformer.h):
            x, present = block(x, None if past is None else past[i])
            presents.append(present)
        logits = self.lm_head(self.transformer.ln_f(x))
        loss = None
        if targets is not None:
            flat = logits.view(-1, logits.size(-1))
            loss = F.cross_entropy(flat, targets.view(-1), ignore_index=-1)
        return logits, loss, presents

    @torch.no_grad()
    def generate(self, idx, max_new_tokens, temperature=1.0, do_sample=False, top_k=None):
        past, token = None, idx
        for _ in range(max_new_tokens):
            logits, _, past = self(token, past=past)
            logits = logits[:, -1, :] / temperature
            if top_k is not None:
                v, _ = torch.topk(logits, min(top_k, logits.size(-1)))
                logits[logits < v[:, [-1]]] = -float("inf")
            probs = F.softmax(logits, dim=-1)
            if do_sample:
                token = torch.multinomial(probs, num_samples=1)
            else:
                _, token = torch.topk(probs, k=1, dim=-1)
            idx = torch.cat((idx, token), dim=1)
        return idx


def build(dropout=0.0):
    return GPT(dropout=dropout)


def draw(numbers):
    """Token ids."""
    return (numbers.integers(0, 17, (3, 11)),)


def losses(model, batches):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, betas=(0.9, 0.95), fused=False)
    history = []
    for (tokens,) in batches:
        tokens = torch.from_numpy(tokens)
        x, y = tokens[:, :-1].contiguous(), tokens[:, 1:].clone()
        y[0, :2] = -1
        logits, loss, _ = model(x, y)
        model.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        history.append(loss.item())

    model.eval()
    prompt = tokens[:1, :3]
    generated = model.generate(prompt, 6, top_k=5)
    greedy = prompt
    for _ in range(6):  # the same without the cache
        logits = model(greedy)[0].detach()
        greedy = torch.cat((greedy, logits[:, -1].argmax(dim=-1, keepdim=True)), dim=1)
    assert torch.all(generated == greedy)
    return [*history, *generated[0].float().tolist()]
