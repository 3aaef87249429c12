"""`torch.backends.cudnn`: switches that a script may set; there is no cuDNN."""

benchmark = deterministic = enabled = False


def is_available() -> bool:
    """False."""
    return False
