"""`torch.nn.common_types`: names for types of arguments."""

_size_1_t = int | tuple[int, ...]
_size_2_t = int | tuple[int, ...]
_size_3_t = int | tuple[int, ...]
_size_any_t = int | tuple[int, ...]
