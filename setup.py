"""The packages: minigrad/, and nn/ as minigrad.nn. All else is in pyproject.toml.

In a checkout minigrad/nn is a link to nn/. Where Git makes no links (on Windows) and in an sdist,
nn/ is mapped to its place instead.
"""

from setuptools import find_packages, setup

packages = find_packages(include=["minigrad", "minigrad.*"])
places = {"": "."}  # said, it makes an editable install a path, which type checkers follow
if "minigrad.nn" not in packages:
    packages += [f"minigrad.{name}" for name in find_packages(include=["nn", "nn.*"])]
    places = {"minigrad.nn": "nn"}
setup(packages=packages, package_dir=places)
