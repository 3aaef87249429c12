"""`torch.nn.utils.rnn`: minigrad's."""

from minigrad.nn.utils.rnn import *
