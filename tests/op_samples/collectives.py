"""Collectives, on the one rank that a check has; tests/distributed tries them on several."""

from op_samples.case import Case, Draw, case

_normal = Draw(8).normal

CASES: list[Case] = [
    case("all_reduce", _normal(2, 3)),
    case("all_reduce", _normal(2, 3), "max"),
    case("all_gather", _normal(2, 3), axis=1),
    case("reduce_scatter", _normal(2, 3), axis=1),
    case("broadcast", _normal(2, 3)),
    case("reduce_to_root", _normal(2, 3)),
    case("all_to_all", _normal(2, 3), split_axis=1),
    case("ppermute", _normal(2, 3)),
    case("copy_to_parts", _normal(2, 3)),
    case("sum_of_parts", _normal(2, 3)),
]
