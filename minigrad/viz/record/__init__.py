"""A run as data: the boxes of a graph, the groups around them, and the backward steps."""
