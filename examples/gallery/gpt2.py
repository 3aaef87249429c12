"""GPT-2.

The architecture of GPT-2 with two small layers, and the loss of the next token. The embedding and
the output layer share one weight, so its gradient has two shares. The second layer is closed:
double-click it. Under a causal mask no position attends to a later one.
"""

import minigrad
from minigrad import nn, viz
from minigrad.pretrained import GPT2, GPT2Config

minigrad.random.seed(0)
config = GPT2Config(vocab_size=10, n_positions=6, n_embd=8, n_layer=2, n_head=2)
model = GPT2(config).eval()  # without dropout
tokens = minigrad.tensor([[3, 1, 4, 1, 5]])

with viz.trace() as traced:
    logits = model(tokens[:, :-1])
    loss = nn.functional.cross_entropy(logits.reshape(-1, 10), tokens[:, 1:].reshape(-1))
    loss.backward()

viz.explore(traced.graph(loss, tokens=tokens), path="gpt2.html")
