"""`torch.compiler`: nothing is compiled, functions and modules run as they are."""

from minigrad.torch.answers import no, nothing, unchanged
from minigrad.torch.compiler import config as config

allow_in_graph = compile = disable = unchanged
cudagraph_mark_step_begin = reset = nothing
is_compiling = is_dynamo_compiling = no
