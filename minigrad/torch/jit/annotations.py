"""`torch.jit.annotations`: names for annotations."""

from typing import Any as Any
from typing import Dict as Dict  # noqa: UP035
from typing import List as List  # noqa: UP035
from typing import Optional as Optional
from typing import Tuple as Tuple  # noqa: UP035
