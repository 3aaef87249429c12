"""What a step of the backward pass computes, and why."""
