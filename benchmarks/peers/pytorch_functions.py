"""PyTorch: `torch.func`, eager."""

from typing import Any

import torch
import torch.nn.functional as F
from _functions import Call, Library, task
from _work import Size, Task
from torch import nn
from torch.func import functional_call, grad, hessian, jacrev, jvp, vmap


def encoder(size: Size) -> Call:
    layer = nn.TransformerEncoderLayer(size.width, size.heads, size.hidden, 0.0, batch_first=True)
    return lambda w, x: functional_call(layer, w, (x,))


def transform(name: str, small: bool) -> Task:
    library: Any = Library(F, torch.tensor, encoder, vmap, grad, jacrev, hessian, jvp)
    return task(library, name, small, lambda call: call)
