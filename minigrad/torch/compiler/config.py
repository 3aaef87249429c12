"""`torch.compiler.config`: settings that change nothing."""

cache_size_limit = 8
coordinate_descent_tuning = force_disable_caches = suppress_errors = False
