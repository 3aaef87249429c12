"""Adversarial training: a step of the discriminator, then one of the generator."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight, 0.0, 0.1)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


class Generator(nn.Module):
    def __init__(self, nz=5, ngf=4):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 4, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self, ndf=4, dropout=0.0):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 3, padding=1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(negative_slope=0.2, inplace=True),
            nn.Dropout(dropout),
            nn.Conv2d(ndf * 2, 1, 4, 1, 0, bias=False),
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


class GAN(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.netG = Generator()
        self.netD = Discriminator(dropout=dropout)
        self.netG.apply(weights_init)
        self.netD.apply(weights_init)


def build(dropout=0.0):
    return GAN(dropout)


def draw(numbers):
    """Real images, and noise."""
    return numbers.standard_normal((4, 1, 8, 8)) + 1, numbers.standard_normal((4, 5, 1, 1))


def losses(model, batches):
    netG, netD = model.netG, model.netD
    criterion = nn.BCEWithLogitsLoss()
    real_label, fake_label = 1.0, 0.0
    optimizerD = torch.optim.Adam(netD.parameters(), lr=5e-3, betas=(0.5, 0.999))
    optimizerG = torch.optim.Adam(netG.parameters(), lr=5e-3, betas=(0.5, 0.999))
    history = []
    for images, noise in batches:
        real = torch.from_numpy(images)
        batch_size = real.size(0)
        # the discriminator, on real images and on generated ones
        netD.zero_grad()
        label = torch.full((batch_size,), real_label, dtype=real.dtype)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        z = torch.randn(batch_size, 5, 1, 1) if noise is None else torch.from_numpy(noise)
        fake = netG(z)
        label.fill_(fake_label)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        # R1 regularization: a gradient of second order
        seen = real.clone().requires_grad_(True)
        (gradient,) = torch.autograd.grad(
            outputs=netD(seen).sum(), inputs=[seen], create_graph=True
        )
        penalty = 0.1 * gradient.pow(2).view(batch_size, -1).sum(1).mean()
        penalty.backward()
        optimizerD.step()
        # the generator
        for p in netD.parameters():
            p.requires_grad_(False)
        netG.zero_grad(set_to_none=True)
        label.fill_(real_label)
        errG = criterion(netD(fake), label) + 0.1 * F.l1_loss(fake, real)
        errG.backward()
        optimizerG.step()
        for p in netD.parameters():
            p.requires_grad = True
        history += [errD_real.item() + errD_fake.item() + penalty.item(), errG.item()]
    return history
