"""`torch.amp`: mixed precision, of which there is none on this CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.torch.modules import missing, unchanged

__path__: list[str] = []
__getattr__ = missing(__name__)
custom_fwd = custom_bwd = unchanged


def is_autocast_available(device_type: str) -> bool:
    """False."""
    return False


@contextmanager
def autocast(
    device_type: Any = "cuda", dtype: Any = None, enabled: bool = True, cache_enabled: Any = None
) -> Iterator[None]:
    """Nothing on a device that is not there; an error on the CPU, since results would differ."""
    if enabled is True and str(device_type) == "cpu":
        raise NotImplementedError("autocast: there is no mixed precision here; pass enabled=False")
    yield


class GradScaler:
    """Scales nothing: what it would guard against does not occur without mixed precision."""

    def __init__(self, device: str = "cpu", *, enabled: bool = True, **options: Any) -> None:
        self._enabled = enabled

    def scale(self, outputs: Any) -> Any:
        """The outputs themselves."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: gradients are not scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Nothing."""

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Whether it was made to be used."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """No state."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing."""
