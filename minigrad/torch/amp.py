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
    unscale_ = update = staticmethod(nothing)

    def __init__(
        self, device: str = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        self._enabled = enabled and str(device) == "cpu"
        self._options: dict[str, Any] = {
            "scale": 1.0, "growth_factor": growth_factor, "backoff_factor": backoff_factor,
            "growth_interval": growth_interval, "_growth_tracker": 0,
        }  # fmt: skip

    def state_dict(self) -> dict[str, Any]:
        """PyTorch's entries; none if it is not enabled, as one of a device that is not there."""
        return dict(self._options) if self._enabled else {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take the entries; the scale stays 1."""
        if self._enabled:
            self._options |= {**state_dict, "scale": 1.0}

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step."""
        return optimizer.step(*args, **kwargs)

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def is_enabled(self) -> bool:
        """Whether it was made to be used."""
        return self._enabled
