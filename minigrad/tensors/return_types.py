"""The classes of what functions return that find elements and their places; one for each.

They are named as the functions are, since they print their name, as in PyTorch.
"""

from minigrad.autograd.dtype_class import printed_as
from minigrad.ops.sorting import ValuesAndIndices


def _class_of(name: str) -> type[ValuesAndIndices]:
    made = type(name, (ValuesAndIndices,), {"__module__": __name__, "__slots__": ()})
    return printed_as(name)(made)


cummax, cummin = _class_of("cummax"), _class_of("cummin")
kthvalue, median, mode = _class_of("kthvalue"), _class_of("median"), _class_of("mode")
nanmedian = _class_of("nanmedian")
max, min = _class_of("max"), _class_of("min")  # noqa: A001
sort, topk = _class_of("sort"), _class_of("topk")
