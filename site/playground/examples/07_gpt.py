"""A GPT of 10,000 weights.

It learns a short text by heart, letter by letter, and writes it. The curves move while it learns.
"""

import numpy as np

import minigrad
from minigrad import nn, optim
from minigrad.debugging import Statistics

text = "the cat sat on the mat and the dog sat on the log and the frog sat on the fog "
letters = sorted(set(text))
ids = np.array([letters.index(letter) for letter in text])
length, width = 24, 24


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(len(letters), width)
        self.place = nn.Embedding(length, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(width))
        self.head = nn.Linear(width, len(letters))

    def forward(self, ids):
        x = self.token(ids) + self.place(np.arange(ids.shape[1]))
        return self.head(self.layers(x, is_causal=True))


model = GPT()
print(sum(parameter.numel() for parameter in model.parameters()), "weights")
optimizer = optim.AdamW(model.parameters(), lr=0.01)
rng = np.random.default_rng(0)
starts = np.arange(len(ids) - length)
with Statistics(model, optimizer=optimizer, live=True) as statistics:
    for step in range(151):
        chosen = rng.choice(starts, 16)
        batch = np.stack([ids[start : start + length + 1] for start in chosen])
        logits = model(batch[:, :-1]).reshape(-1, len(letters))
        loss = nn.functional.cross_entropy(logits, batch[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        statistics.step(loss)
        optimizer.step()
        if step % 25 == 0:
            print(f"step {step:3}: loss {loss.item():.3f}")

model.eval()
written = [letters.index("t")]
with minigrad.no_grad():
    for _ in range(70):
        logits = model(np.array([written[-length:]]))
        written.append(int(logits[0, -1].argmax()))
print("".join(letters[i] for i in written))
