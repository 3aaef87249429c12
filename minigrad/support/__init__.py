"""What is no part of autograd: checks, decorators, files, memory, names of other libraries."""
