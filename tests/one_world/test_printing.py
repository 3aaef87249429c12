"""Tensors, sizes and dtypes print, compare and convert as PyTorch's do."""

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import minigrad
from minigrad.autograd import dtype_class
from minigrad.tensors import printing

NAN, INF = float("nan"), float("inf")
NAMES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


@pytest.fixture(autouse=True)
def the_options_as_they_were() -> Iterator[None]:
    yield
    minigrad.set_printoptions(profile="default")


PRINTED: list[Any] = [
    1, 2.5, True, [0.4111, 0.0541], [True, False], [-1.0, 2.0], [-3, 10], [],
    np.zeros((0, 3), np.float32), np.zeros(0, np.int64), np.zeros((2, 0), np.int64), np.ones(1),
    [[1.5, 2.0], [3.0, 4.0]], [[[[0.0]], [[0.0]]]], [0.0, NAN], [1.5, NAN, -INF], [0.0, -0.0],
    [1e-5, 1.0], [1.0, 1000.0], [1.0, 2000.0], [1e8], [2e8], np.arange(1001),
    np.zeros((9, 200), np.int64), np.arange(18, dtype=np.int8), np.ones((1000, 1000)),
]  # fmt: skip


@pytest.mark.parametrize("data", PRINTED, ids=str)
def test_a_tensor_prints_as_pytorchs_does(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    wanted = repr(torch.tensor(data))
    assert repr(minigrad.tensor(data)) == wanted.replace("torch.", "minigrad.")
    monkeypatch.setattr(dtype_class, "shown_as", "torch")
    assert repr(minigrad.tensor(data)) == wanted


def test_a_subclass_prints_its_name() -> None:
    class Masked(minigrad.Tensor):
        pass

    assert repr(Masked([1.0])) == "Masked([1.])"


def test_the_default_dtype_is_not_named() -> None:
    minigrad.set_default_dtype(minigrad.float64)
    try:
        assert repr(minigrad.tensor([1.0])) == "tensor([1.])"
        assert repr(minigrad.tensor([1.0]).float()) == "tensor([1.], dtype=minigrad.float32)"
    finally:
        minigrad.set_default_dtype(minigrad.float32)


def values(dtype: str) -> st.SearchStrategy[np.ndarray]:
    """Arrays of up to four axes, with numbers of all sizes."""
    shapes = arrays.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=9)
    elements = st.floats(-1e4, 1e4, width=16) | st.integers(0, 100).map(float)
    if dtype != "float16":
        elements |= st.floats(width=32)
    if not dtype.startswith("float"):
        return arrays.arrays(dtype, shapes)
    return arrays.arrays(dtype, shapes, elements=elements | st.sampled_from([NAN, INF, 0.0, -0.0]))


@given(
    array=st.sampled_from(NAMES).flatmap(values),
    options=st.just({})
    | st.fixed_dictionaries({
        "precision": st.integers(0, 6),
        "threshold": st.sampled_from([0, 5, 100, 1000]),
        "edgeitems": st.integers(1, 4),
        "linewidth": st.sampled_from([10, 40, 80, 120]),
        "sci_mode": st.sampled_from([None, True, False]),
    }),
    history=st.booleans(),
)  # fmt: skip
def test_any_tensor_prints_as_pytorchs_does(
    array: np.ndarray, options: dict[str, Any], history: bool
) -> None:
    torch = pytest.importorskip("torch")
    texts = []
    dtype_class.shown_as = "torch"
    try:
        for package in (torch, minigrad):
            package.set_printoptions(profile="default")
            package.set_printoptions(**options)
            tensor = package.tensor(array)
            if history and array.dtype.kind == "f":
                tensor = tensor.requires_grad_() * 1
            texts.append(repr(tensor))
    finally:
        dtype_class.shown_as = "minigrad"
        torch.set_printoptions(profile="default")
    assert texts[1] == texts[0]


def test_print_options() -> None:
    x = minigrad.tensor([1.12345, 2.0])
    minigrad.set_printoptions(precision=2)
    assert repr(x) == "tensor([1.12, 2.00])"
    minigrad.set_printoptions(sci_mode=True)
    assert repr(x) == "tensor([1.12e+00, 2.00e+00])"
    minigrad.set_printoptions(profile="full")
    assert printing.options == printing.PROFILES["full"]
    assert "..." not in repr(minigrad.zeros(2000))
    minigrad.set_printoptions(profile="short", precision=1)
    assert repr(minigrad.zeros(2000)) == "tensor([0., 0.,  ..., 0., 0.])"
    with pytest.raises(ValueError, match='"short" or "full", got \'long\''):
        minigrad.set_printoptions(profile="long")


@pytest.mark.parametrize("name", NAMES)
def test_a_dtype_is_one_object_that_numpy_takes(name: str) -> None:
    dtype = getattr(minigrad, name)
    known = np.dtype(name)
    assert minigrad.ones(2, dtype=dtype).dtype is dtype is minigrad.dtype(known)
    assert pickle.loads(pickle.dumps(dtype)) is copy.deepcopy(dtype) is dtype
    assert dtype == known == dtype
    assert dtype == known.type == dtype
    assert dtype == name == dtype
    assert dtype != "nothing"
    assert dtype not in (None, 3, (2,), minigrad.bfloat16)
    assert {known: 1}[dtype] == {dtype: 1}[known] == 1
    assert np.zeros(2, dtype).dtype == np.ones(2).astype(dtype).dtype == np.dtype(dtype) == known
    assert np.result_type(dtype, dtype) == np.promote_types(dtype, known) == known
    assert np.issubdtype(dtype, known.type)
    limits = np.finfo if dtype.is_floating_point else np.iinfo
    if name != "bool":
        assert limits(dtype).max == limits(known).max
        assert getattr(minigrad, limits.__name__)(dtype).max == limits(known).max
    shared = dtype.kind, dtype.char, dtype.name, dtype.itemsize
    assert shared == (known.kind, known.char, known.name, known.itemsize)
    assert repr(dtype) == str(dtype) == f"minigrad.{name}"
    torch = pytest.importorskip("torch")
    other = getattr(torch, name)
    for each in ("itemsize", "is_floating_point", "is_complex", "is_signed"):
        assert getattr(dtype, each) == getattr(other, each), each


def test_dtypes_have_the_other_names_too() -> None:
    short = {"short": "int16", "int": "int32", "long": "int64", "half": "float16",
             "float": "float32", "double": "float64", "bool_": "bool"}  # fmt: skip
    for name, dtype in short.items():
        assert getattr(minigrad, name) is minigrad.dtype(dtype)
    assert {"float32", "long", "dtype"} <= {*minigrad.__all__}
    assert not {"bool", "float", "int"} & {*minigrad.__all__}, "import * hides builtin types"


def test_dtypes_that_no_tensor_has_are_named_only() -> None:
    x = minigrad.ones(2)
    for dtype, size in ((minigrad.bfloat16, 2), (minigrad.complex64, 8)):
        assert dtype.itemsize == size
        assert x.dtype != dtype
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        with pytest.raises(TypeError, match=f"to: .* {dtype.name}|minigrad.{dtype.name}"):
            x.to(dtype)
    assert minigrad.bfloat16.is_floating_point
    assert minigrad.complex64.is_complex
    assert minigrad.bfloat16 == "bfloat16"
    with pytest.raises(TypeError, match=r"minigrad\.bfloat16"):
        np.dtype(minigrad.bfloat16)


def test_a_shape_is_a_tuple_that_prints_as_a_size() -> None:
    x = minigrad.ones(2, 3)
    assert repr(x.shape) == str(x.size()) == "minigrad.Size([2, 3])"
    assert x.shape == (2, 3)
    assert f"{x.shape}" == "(2, 3)", "in messages, beside (N, C)"
    assert pickle.loads(pickle.dumps(x.shape)) == x.shape
    assert repr(minigrad.tensor(1.0).shape) == "minigrad.Size([])"
