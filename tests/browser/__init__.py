"""A package, so that one browser is open while its tests run: fixtures of the scope "package"."""
