"""ZeRO stage 1: optimizer states are divided among ranks.

Source: Rajbhandari et al., "ZeRO: memory optimizations toward training trillion parameter models",
2020. Stages 2 and 3 would also divide the gradients (each bucket is reduced to its owner alone) and
the parameters (see `tensor_parallel` on what is missing).
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from minigrad.autograd.mutation import mark_written
from minigrad.distributed.collectives import broadcast
from minigrad.distributed.communicators import Communicator, world
from minigrad.optim import Optimizer
from minigrad.tensors.tensor import Tensor


class ZeroRedundancyOptimizer(Optimizer):
    """An optimizer of which each rank keeps the states of some parameters, and updates these.

    The parameters and their gradients are the same on all ranks, as `DistributedDataParallel`
    leaves them. After each step the updated parameters are sent to all ranks. Each parameter
    belongs to one rank; they are shared out so that all ranks have about as many numbers.

    Args:
        optimizer: An optimizer of this library, before its first step, made alike on all ranks.
        comm: The ranks that take part; all if None.

    Raises:
        TypeError: The optimizer updates all parameters together, as `LBFGS` does.

    Example:
        >>> from minigrad import distributed, nn, ones, optim
        >>> model = nn.Linear(3, 1)
        >>> optimizer = distributed.ZeroRedundancyOptimizer(optim.AdamW(model.parameters()))
        >>> model(ones((4, 3))).sum().backward()
        >>> optimizer.step()
        >>> optimizer.zero_grad()
    """

    def __init__(self, optimizer: Optimizer, comm: Communicator | None = None) -> None:
        if type(optimizer).step is not Optimizer.step:
            raise TypeError(
                f"ZeroRedundancyOptimizer: {type(optimizer).__name__} updates all parameters "
                f"together; its state cannot be divided"
            )
        self.optimizer, self.comm = optimizer, comm or world()
        self.defaults, self.param_groups = optimizer.defaults, optimizer.param_groups

    @property
    def state(self) -> dict[Tensor, dict[str, Any]]:  # type: ignore[override]
        """The states of this rank's parameters."""
        return self.optimizer.state

    def add_param_group(self, param_group: Mapping[str, Any]) -> None:
        """Add a group: see `Optimizer.add_param_group`."""
        self.optimizer.add_param_group(param_group)

    def _shares(self) -> list[list[Tensor]]:
        """The parameters of each rank: the next largest of a group goes to who has the least."""
        shares: list[list[Tensor]] = [[] for _ in range(self.comm.size)]
        sizes = [0] * self.comm.size
        for group in self.param_groups:
            for param in sorted(group["params"], key=lambda param: -param._data.size):
                rank = sizes.index(min(sizes))
                shares[rank].append(param)
                sizes[rank] += param._data.size
        return shares

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient: each rank its own, and send them to all."""
        loss = None if closure is None else closure()
        shares = self._shares()
        own = {id(param) for param in shares[self.comm.rank]}
        whole = [group["params"] for group in self.param_groups]
        try:
            for group, params in zip(self.param_groups, whole, strict=True):
                group["params"] = [param for param in params if id(param) in own]
            self.optimizer.step()
        finally:
            for group, params in zip(self.param_groups, whole, strict=True):
                group["params"] = params
        for rank, share in enumerate(shares):
            for dtype in sorted({param.dtype for param in share}, key=str):
                self._send([param._data for param in share if param.dtype == dtype], rank)
        return loss

    def _send(self, arrays: list[np.ndarray], rank: int) -> None:
        """Copy arrays of one dtype from a rank to all others, in one message."""
        flat = broadcast(np.concatenate(arrays, axis=None), rank, comm=self.comm).numpy()
        if rank != self.comm.rank:
            ends = np.cumsum([array.size for array in arrays])
            for array, values in zip(arrays, np.split(flat, ends[:-1]), strict=True):
                array[...] = values.reshape(array.shape)
                mark_written(array)

    def state_dict(self) -> dict[str, Any]:
        """Return the states of this rank's parameters and the options: see `Optimizer`."""
        return self.optimizer.state_dict()

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load this rank's states out of those of all ranks, or of this rank."""
        own = {id(param) for param in self._shares()[self.comm.rank]}
        params = [param for group in self.param_groups for param in group["params"]]
        saved = state_dict["state"].items()
        states = {i: state for i, state in saved if i >= len(params) or id(params[i]) in own}
        self.optimizer.load_state_dict({**state_dict, "state": states})

    def __repr__(self) -> str:
        return f"ZeroRedundancyOptimizer({self.optimizer!r})"
