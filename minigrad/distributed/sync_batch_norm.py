"""Batch normalization over the batches of all ranks."""

from __future__ import annotations

import copy

from minigrad.distributed.collectives import all_reduce
from minigrad.distributed.communicators import Communicator
from minigrad.nn import Module
from minigrad.nn.functional.normalization import update_running
from minigrad.nn.layers.normalization import BatchNorm1d, BatchNorm2d, _BatchNorm, weight_of_batch
from minigrad.nn.module.registry import replaced
from minigrad.ops.joining import concatenate
from minigrad.tensors.creation import tensor
from minigrad.tensors.tensor import Tensor


class SyncBatchNorm(_BatchNorm):
    """Batch normalization over the batches of all ranks together; they may differ in size.

    Args and attributes are those of `nn.BatchNorm1d`. Inputs have shape (N, C), (N, C, L) or
    (N, C, H, W).

    Example:
        >>> from minigrad import distributed, nn, tensor
        >>> norm = distributed.SyncBatchNorm(1, eps=0.0)
        >>> norm(tensor([[1.0], [3.0]])).tolist()
        [[-1.0], [1.0]]
    """

    layouts = ("(N, C)", "(N, C, L)", "(N, C, H, W)")
    comm: Communicator | None = None

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, comm: Communicator | None = None) -> Module:
        """Replace the batch normalizations of a model by ones over all ranks, in place.

        Args:
            module: The model, or a batch normalization itself.
            comm: The ranks that take part; all if None.

        Returns:
            The model; for a batch normalization, what replaces it.

        Example:
            >>> from minigrad import distributed, nn
            >>> model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
            >>> type(distributed.SyncBatchNorm.convert_sync_batchnorm(model)[1]).__name__
            'SyncBatchNorm'
        """
        parts: dict[int, Module] = {}
        for old in module.modules():
            if isinstance(old, BatchNorm1d | BatchNorm2d):
                parts[id(old)] = made = cls(old.num_features, old.eps, old.momentum)
                made.__dict__.update(copy.copy(old).__dict__)
                made.comm = comm
        return replaced(module, parts)

    def forward(self, input: Tensor) -> Tensor:
        """Normalize by the statistics of all batches in training, else by the running ones."""
        if not self.training and self.running_mean is not None:
            return super().forward(input)
        self._check_layout(input)
        axes = (0, *range(2, input.ndim))
        shape = (1, -1) + (1,) * (input.ndim - 2)
        count = tensor([input._data.size / self.num_features], dtype=input.dtype)
        sums = all_reduce(concatenate([input.sum(axes), count]), comm=self.comm)
        total = sums[-1].detach()
        mean = sums[:-1] / total
        centred = input - mean.reshape(shape)
        var = all_reduce((centred * centred).sum(axes), comm=self.comm) / total
        if self.training and self.track_running_stats:
            momentum = weight_of_batch(self.num_batches_tracked, self.momentum)
            update_running(self.running_mean, mean.detach(), momentum)
            update_running(self.running_var, var.detach() * (total / (total - 1)), momentum)
        out = centred / (var + self.eps).sqrt().reshape(shape)
        if self.weight is not None and self.bias is not None:
            out = out * self.weight.reshape(shape) + self.bias.reshape(shape)
        return out
