"""Helpers outside of autograd: checks, decorators, files, memory, names of other libraries."""
