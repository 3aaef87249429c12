"""Wrong derivatives on purpose: every rule of the op tables is altered, and a test must notice."""
