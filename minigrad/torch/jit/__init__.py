"""`torch.jit`: there is no TorchScript, functions and modules run as they are."""

from typing import Any
from typing import Final as Final

from minigrad.nn import Module
from minigrad.torch.answers import no, unchanged
from minigrad.torch.jit import annotations as annotations

freeze = optimize_for_inference = script = script_if_tracing = trace = unchanged
export = ignore = interface = unused = script_method = _overload_method = unchanged
is_scripting = is_tracing = no


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


class ScriptModule(Module):
    """A module as it is."""
