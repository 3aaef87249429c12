"""A step of a GAN.

First the discriminator learns from real and from detached samples, then the generator learns to
deceive it. The dashed box is `detach()`: no gradient of the first loss passes it. In the second
pass the gradient goes through the discriminator after its step.
"""

import minigrad
from minigrad import nn, optim, viz

minigrad.random.seed(0)
generator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
discriminator = nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
update_g = optim.SGD(generator.parameters(), lr=0.1)
update_d = optim.SGD(discriminator.parameters(), lr=0.1)
real, noise = minigrad.randn(3, 2) + 2.0, minigrad.randn(3, 2)
softplus = nn.functional.softplus

with viz.trace() as traced:
    fake = generator(noise)
    loss_d = (softplus(-discriminator(real)) + softplus(discriminator(fake.detach()))).mean()
    loss_d.backward()
    update_d.step()

    discriminator.requires_grad_(False)  # the second loss is for the generator alone
    loss_g = softplus(-discriminator(fake)).mean()
    loss_g.backward()
    update_g.step()

viz.explore(traced.graph(loss_d, loss_g, real=real, noise=noise), path="gan_step.html")
