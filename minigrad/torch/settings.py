"""Settings of PyTorch that have one value here, or none."""

from __future__ import annotations

from typing import Any, NoReturn

from minigrad.support.checks import on_cpu
from minigrad.tensors.creation import Device
from minigrad.tensors.dlpack import from_dlpack
from minigrad.tensors.printing import set_printoptions
from minigrad.torch.helpers import refused

__all__ = [
    "are_deterministic_algorithms_enabled", "complex", "from_dlpack", "get_default_device",
    "get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads",
    "is_anomaly_enabled", "is_autocast_enabled", "is_deterministic_algorithms_warn_only_enabled",
    "is_inference_mode_enabled", "is_warn_always_enabled", "set_default_device",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_printoptions", "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip


def complex(real: Any, imag: Any) -> NoReturn:
    """An error: there are no complex numbers."""
    refused("complex", "there are no complex numbers")


def get_default_device() -> Device:
    """The CPU."""
    return Device("cpu")


def set_default_device(device: Any) -> None:
    """Accept the CPU, and no other device."""
    on_cpu(device)


def are_deterministic_algorithms_enabled() -> bool:
    """False: nobody asked for them; every result is deterministic."""
    return False


is_deterministic_algorithms_warn_only_enabled = are_deterministic_algorithms_enabled


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Nothing to change: every result is deterministic."""


def get_deterministic_debug_mode() -> int:
    """0, the default."""
    return 0


def set_deterministic_debug_mode(debug_mode: Any) -> None:
    """Nothing to change."""


def get_float32_matmul_precision() -> str:
    """Always "highest"."""
    return "highest"


def set_float32_matmul_precision(precision: str) -> None:
    """Nothing to change."""


def get_num_interop_threads() -> int:
    """1: ops run one after the other."""
    return 1


def set_num_interop_threads(num: int) -> None:
    """Nothing to change."""


def set_flush_denormal(mode: bool) -> bool:
    """False: it is not supported."""
    return False


def set_warn_always(b: bool) -> None:
    """Nothing to change."""


def is_warn_always_enabled() -> bool:
    """False."""
    return False


def is_anomaly_enabled() -> bool:
    """False."""
    return False


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """False: results have the dtype of their arguments."""
    return False


def is_inference_mode_enabled() -> bool:
    """False."""
    return False
