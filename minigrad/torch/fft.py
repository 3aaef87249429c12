"""`torch.fft`: there is no Fourier transform; its functions are an error when called."""
