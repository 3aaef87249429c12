"""The packages: minigrad/, and nn/ as minigrad.nn. Everything else is in pyproject.toml.

In a checkout minigrad/nn is a link to nn/. Where there is no link (on Windows, and in an sdist),
nn/ is mapped to this name instead.
"""

from setuptools import find_packages, setup

packages = find_packages(include=["minigrad", "minigrad.*"])
places = {"": "."}  # with it, an editable install is a path, which type checkers follow
if "minigrad.nn" not in packages:
    packages += [f"minigrad.{name}" for name in find_packages(include=["nn", "nn.*"])]
    places = {"minigrad.nn": "nn"}
setup(packages=packages, package_dir=places)
