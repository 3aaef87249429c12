"""`torch.utils.cpp_extension`: no C++ is compiled; its functions are an error when called."""
