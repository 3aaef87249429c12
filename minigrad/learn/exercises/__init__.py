"""The exercises: a module each, which says how an answer is checked."""
