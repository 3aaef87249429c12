"""`torch.hub`: nothing is downloaded."""
