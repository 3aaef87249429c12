"""The transformer: encoder, decoder, and both together."""
