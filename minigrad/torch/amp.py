"""`torch.amp`: mixed precision, of which there is none on this CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from minigrad.torch.answers import no, nothing, unchanged

is_autocast_available = no
custom_fwd = custom_bwd = unchanged


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

    scale = staticmethod(unchanged)
    unscale_ = update = load_state_dict = staticmethod(nothing)
    state_dict = staticmethod(dict[str, Any])

    def __init__(self, device: str = "cpu", *, enabled: bool = True, **options: Any) -> None:
        self._enabled = enabled

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step."""
        return optimizer.step(*args, **kwargs)

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Whether it was made to be used."""
        return self._enabled
