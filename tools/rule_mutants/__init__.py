"""Mutation testing of derivatives: every rule is altered, and a test must fail."""
