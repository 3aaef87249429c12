"""Modules as such: parameters, containers, state dicts."""
