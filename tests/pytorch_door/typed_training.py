"""A training script as people write it for PyTorch: type checkers know all of it, and it runs.

tests/test_typing.py runs mypy --strict and basedpyright, test_scripts.py the script itself.
"""

import io
from typing import assert_type

import numpy as np

import minigrad.torch as torch
import minigrad.torch.nn as nn
import minigrad.torch.nn.functional as F
import minigrad.torch.optim as optim
from minigrad.torch.utils.data import DataLoader, Dataset, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)


class Block(nn.Module):
    """Convolutions and a skip connection."""

    def __init__(self, channels: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, kernel_size=3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.drop = nn.Dropout(p=dropout)
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.scale * self.drop(F.relu(self.norm(self.conv(x))))


class Net(nn.Module):
    """Blocks, an encoder of their positions, and a classifier."""

    position: torch.Tensor

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.ReLU(inplace=True))
        self.blocks = nn.ModuleList([Block(8) for _ in range(2)])
        layer = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=1)
        self.head = nn.Linear(8, classes, device=device, dtype=torch.float32)
        self.register_buffer("position", torch.zeros(1, 16, 8))
        self.apply(self._init)

    def _init(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, gain=0.5)
            if module.bias is not None:
                nn.init.zeros_(module.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        batch, channels = x.size(0), x.shape[1]
        x = x.flatten(2).permute(0, 2, 1).contiguous()
        x = self.encoder(x + self.position[:, : x.size(1)])
        assert_type(x.view(batch, -1, channels), torch.Tensor)
        return self.head(x.mean(dim=1))


class Digits(Dataset):
    """Pictures and their classes."""

    def __init__(self, n: int) -> None:
        self.x = torch.randn(n, 1, 8, 8)
        self.y = torch.randint(0, 3, (n,))

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        return self.x[index], self.y[index]


model = Net(classes=3).to(device)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
train_loader = DataLoader(Digits(16), batch_size=8, shuffle=True, drop_last=True)
pairs = TensorDataset(torch.randn(8, 1, 8, 8), torch.randint(0, 3, (8,)))
test_loader = DataLoader(pairs, batch_size=4)

for _ in range(2):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        assert_type(loss, torch.Tensor)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        assert_type(norm, torch.Tensor)
        assert_type(loss.item(), float | int | bool)
    scheduler.step()


@torch.no_grad()
def evaluate(net: nn.Module, loader: DataLoader[list[torch.Tensor]]) -> float:
    """The share of right answers."""
    net.eval()
    correct, seen = 0, 0
    for images, labels in loader:
        logits: torch.Tensor = net(images.to(device))
        pred = logits.max(1)[1]
        assert_type(pred, torch.Tensor)
        correct += int((pred == labels).sum().item())
        seen += labels.size(0)
    return correct / seen


assert 0 <= evaluate(model, test_loader) <= 1

file = io.BytesIO()
torch.save({"model": model.state_dict(), "epoch": 2}, file)
file.seek(0)
state = torch.load(file, map_location="cpu")
model.load_state_dict(state["model"])
parameters = sum(p.numel() for p in model.parameters() if p.requires_grad)
assert_type(parameters, int)

# Tensors

a = torch.tensor([[1.0, 3.0], [4.0, 2.0]], requires_grad=True)
b = torch.arange(4, dtype=torch.float32).reshape(2, 2)
assert_type([a + 1, 2 - a @ b, a == b, -(a[0, :1] ** 2), a.long()], list[torch.Tensor])
assert_type([a.to(torch.float64).T, a.max(), a.max(1).values], list[torch.Tensor])
assert_type([a.min(dim=0, keepdim=True).indices, torch.max(a, b)], list[torch.Tensor])
assert_type([torch.max(a, dim=1)[0], a.std(), a.sum((0, 1), keepdim=True)], list[torch.Tensor])
assert_type([a.topk(1).indices, torch.sort(a, descending=True).values], list[torch.Tensor])
assert_type([torch.cat([a, b], dim=0), torch.stack((a, b))], list[torch.Tensor])
assert_type([torch.where(a > 0, a, 0.0), a.nonzero()], list[torch.Tensor])
assert_type([torch.zeros(2, 3, dtype=torch.int64, device=device)], list[torch.Tensor])
assert_type([torch.zeros((2, 3)), torch.zeros_like(a).uniform_(-1, 1)], list[torch.Tensor])
assert_type([torch.einsum("ij,jk->ik", a, b), torch.linalg.qr(b).Q], list[torch.Tensor])
assert_type([torch.linalg.norm(a), F.softmax(a, dim=-1)], list[torch.Tensor])
assert_type([F.max_pool2d(torch.ones(1, 1, 4, 4), 2)], list[torch.Tensor])
assert_type([F.max_pool2d(torch.ones(1, 1, 4, 4), 2, return_indices=True)[1]], list[torch.Tensor])
assert_type([F.pad(a, (1, 1), mode="constant", value=0.0)], list[torch.Tensor])
assert_type([torch.autograd.grad((a * a).sum(), a)[0]], list[torch.Tensor])
assert_type([torch.distributions.Normal(0.0, 1.0).sample((2,))], list[torch.Tensor])
assert_type([a.split(1, dim=1), torch.chunk(a, 2)], list[tuple[torch.Tensor, ...]])
assert_type([torch.where(a > 0), torch.nonzero(a, as_tuple=True)], list[tuple[torch.Tensor, ...]])
assert_type(a.shape, torch.Size)
assert_type(a.size(), torch.Size)
assert_type(a.size(-1), int)
assert_type(a.grad, torch.Tensor | None)
assert_type(a.detach().numpy(), np.ndarray)
assert_type(torch.allclose(a, b), bool)
assert_type(model.head.weight, nn.Parameter)
assert_type(model.head.weight.data.fill_(0.5), torch.Tensor)
outputs, (h_n, c_n) = nn.LSTM(2, 3, batch_first=True)(a[None])
assert_type(outputs[:, -1] + h_n[0], torch.Tensor)
q = torch.ones(3, 1, 4)
assert_type(nn.MultiheadAttention(embed_dim=4, num_heads=2)(q, q, q)[0], torch.Tensor)
a.data.add_(1).clamp_(min=0)
b[0] += 1
b[b > 1] = 0.0
with torch.inference_mode(), torch.autograd.set_grad_enabled(False):
    assert_type(model(torch.ones(1, 1, 8, 8)).argmax(dim=1), torch.Tensor)
