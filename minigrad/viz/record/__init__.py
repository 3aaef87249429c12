"""What ran, as data: the boxes of a graph, its groups, and the steps of its backward pass."""
