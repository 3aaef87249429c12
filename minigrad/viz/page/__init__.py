"""The explorer page: a graph and its backward pass in one HTML file."""
