"""Exercise 4: topological order.

The backward pass goes from the result back to the inputs. A value may pass its gradient on only
when the gradient is complete: when everything that was computed from it has had its turn.

`parents` is a dictionary: for each value, the list of what it was computed from. For a = x * x and
y = a + x it is {"x": [], "a": ["x", "x"], "y": ["a", "x"]}. From `output`, return a list in which
- each value comes before all of its parents,
- each value that the output was computed from comes exactly once,
- and nothing else comes: what the output does not need has no gradient.

Here that is ["y", "a", "x"]. The dictionary is in no particular order. It may be large: a chain of
5,000 values must work, and Python allows only about 1,000 nested calls.
"""


def backward_order(parents, output):
    """The values in the order of the backward pass: the output first."""
    # gap: return the list
    found = [output]
    uses = {output: 0}  # how often each value is used by those that were found
    for value in found:  # the list grows while we walk along it
        for parent in parents[value]:
            if parent not in uses:
                uses[parent] = 0
                found.append(parent)
            uses[parent] += 1
    order = []
    ready = [output]
    while ready:
        value = ready.pop()
        order.append(value)
        for parent in parents[value]:
            uses[parent] -= 1
            if uses[parent] == 0:  # the last contribution has arrived
                ready.append(parent)
    return order
    # end of gap


if __name__ == "__main__":  # to try things out: python 04_topological_order.py
    print(backward_order({"x": [], "a": ["x", "x"], "y": ["a", "x"]}, "y"))
