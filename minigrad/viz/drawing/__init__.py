"""A graph as SVG, DOT or text."""
