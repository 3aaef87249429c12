"""`torch.jit`: there is no TorchScript, functions and modules run as they are."""

from typing import Final as Final

from minigrad.torch.answers import no, unchanged
from minigrad.torch.jit import annotations as annotations

freeze = optimize_for_inference = script = script_if_tracing = trace = unchanged
export = ignore = unused = _overload_method = unchanged
is_scripting = is_tracing = no
