"""Mistakes that a type checker finds, one a line; tests/test_typing.py knows their lines."""

import minigrad.torch as torch
from minigrad.torch import nn
from minigrad.torch.nn import functional as F

x = torch.ones(2, 3)
torch.cat([x], dims=0)
nn.Linear(in_feature=3, out_features=4)
x.permutte(0, 1)
x.max(1).value
torch.zeros(2, dtyp=torch.float32)
nn.TransformerEncoderLayer(8, heads=2)
nn.Linear("3", 4)
F.cross_entropy(x, x, reducton="sum")
torch.randm(3)
torch.optim.SGD([x], momentun=0.9)
x.sum().backwards()
nn.Linear(3, 4)(x).shap
