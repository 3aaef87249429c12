"""Mutation testing: every rule is altered, or every function; a test must fail."""
