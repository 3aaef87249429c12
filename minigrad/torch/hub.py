"""`torch.hub`: nothing is downloaded."""

import re
from urllib.parse import urlparse as urlparse

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
