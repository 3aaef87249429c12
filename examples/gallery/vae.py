"""A variational autoencoder.

The encoder gives a mean and a logarithm of a variance; the decoder reads a random sample. The noise
is an input, so the gradient reaches mean and variance through the sample (the reparameterization
trick). They get a second share from the divergence.
"""

import minigrad
from minigrad import nn, viz

minigrad.random.seed(0)
encoder = nn.Sequential(nn.Linear(6, 5), nn.ReLU())
to_mean, to_logvar = nn.Linear(5, 2), nn.Linear(5, 2)
decoder = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 6))
x, noise = minigrad.rand(3, 6), minigrad.randn(3, 2)

with viz.trace() as traced:
    hidden = encoder(x)
    mean, logvar = to_mean(hidden), to_logvar(hidden)
    z = mean + (0.5 * logvar).exp() * noise
    reconstruction = ((decoder(z) - x) ** 2).sum(-1).mean()
    divergence = 0.5 * (mean**2 + logvar.exp() - 1.0 - logvar).sum(-1).mean()
    loss = reconstruction + divergence
    loss.backward()

viz.explore(traced.graph(loss, x=x, noise=noise), path="vae.html")
