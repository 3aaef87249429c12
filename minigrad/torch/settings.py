"""Settings of PyTorch that have one value here, or none: every result is deterministic."""

from __future__ import annotations

from typing import Any

from minigrad.support.checks import on_cpu
from minigrad.tensors.creation import Device
from minigrad.tensors.dlpack import from_dlpack
from minigrad.tensors.printing import set_printoptions
from minigrad.torch.answers import no, nothing, refusing, zero

__all__ = [
    "are_deterministic_algorithms_enabled", "complex", "from_dlpack", "get_default_device",
    "get_deterministic_debug_mode", "get_float32_matmul_precision", "get_num_interop_threads",
    "is_anomaly_enabled", "is_autocast_enabled", "is_deterministic_algorithms_warn_only_enabled",
    "is_inference_mode_enabled", "is_warn_always_enabled", "set_default_device",
    "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_printoptions", "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip

are_deterministic_algorithms_enabled = is_deterministic_algorithms_warn_only_enabled = no
is_anomaly_enabled = is_autocast_enabled = is_inference_mode_enabled = is_warn_always_enabled = no
set_flush_denormal = no
get_deterministic_debug_mode = zero
use_deterministic_algorithms = set_deterministic_debug_mode = set_warn_always = nothing
set_float32_matmul_precision = set_num_interop_threads = nothing
complex = refusing("complex", "there are no complex numbers")


def get_default_device() -> Device:
    """The CPU."""
    return Device("cpu")


def set_default_device(device: Any) -> None:
    """Accept the CPU, and no other device."""
    on_cpu(device)


def get_float32_matmul_precision() -> str:
    """Always "highest"."""
    return "highest"


def get_num_interop_threads() -> int:
    """1: ops run one after the other."""
    return 1
