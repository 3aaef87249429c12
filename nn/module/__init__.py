"""The base class Module, parameters, containers and state dicts."""
