"""A variational autoencoder: reparameterization, binary cross entropy and a KL divergence."""

import torch
import torch.utils.data
from torch import nn, optim
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, dropout=0.0):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(36, 20)
        self.fc21 = nn.Linear(20, 4)
        self.fc22 = nn.Linear(20, 4)
        self.fc3 = nn.Linear(4, 20)
        self.fc4 = nn.Linear(20, 36)
        self.dropout = dropout

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        h1 = F.dropout(h1, p=self.dropout, training=self.training)
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar, eps=None):
        std = torch.exp(0.5 * logvar)
        if eps is None:
            eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z), inplace=True)
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x, eps=None):
        mu, logvar = self.encode(x.view(-1, 36))
        logvar = logvar.clamp(min=-8.0, max=8.0)
        z = self.reparameterize(mu, logvar, eps)
        return self.decode(z), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x.view(-1, 36), reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


def build(dropout=0.0):
    return VAE(dropout)


def draw(numbers):
    """Images of ones and zeros, and noise."""
    images = (numbers.random((6, 1, 6, 6)) < 0.4).astype(float)
    return images, numbers.standard_normal((6, 4))


def losses(model, batches):
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    train_loss = []
    model.train()
    for images, noise in batches:
        data = torch.tensor(images)
        eps = torch.tensor(noise) if noise is not None else None
        dataset = torch.utils.data.TensorDataset(data)
        loader = torch.utils.data.DataLoader(dataset, batch_size=6, shuffle=False)
        for (batch,) in loader:
            optimizer.zero_grad()
            recon_batch, mu, logvar = model(batch, eps)
            loss = loss_function(recon_batch, batch, mu, logvar)
            loss.backward()
            optimizer.step()
            train_loss.append(loss.item() / len(batch))
    with torch.no_grad():
        sample = model.decode(torch.zeros(2, 4).to(data)).cpu().view(2, 1, 6, 6)
    return [*train_loss, sample.abs().mean().item()] if noise is not None else train_loss
