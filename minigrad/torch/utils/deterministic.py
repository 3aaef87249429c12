"""`torch.utils.deterministic`: results are the same each time."""

fill_uninitialized_memory = False
