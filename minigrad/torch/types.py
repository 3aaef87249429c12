"""`torch.types`: names for types of arguments."""

Device = str | int | None
Number = int | float | bool
