"""DLPack: values cross between libraries, memory does not."""

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
ARRAYS: dict[str, np.ndarray] = {
    **{dtype: np.array([[0, 1], [1, 0]], dtype) for dtype in DTYPES},
    "no axes": np.array(2.5),
    "nothing": np.ones((2, 0, 3)),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "reversed": np.arange(6.0)[::-2],
    "one element everywhere": np.broadcast_to(np.float32(3), (2, 4)),
    "read-only": minigrad.ones(2).numpy(),
}
VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""Whether NumPy knows DLPack 1.0."""


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_every_dtype_and_layout_there_and_back(array: np.ndarray) -> None:
    tensor = minigrad.zeros(())
    tensor.data = array
    theirs = np.from_dlpack(tensor)
    back = minigrad.from_dlpack(array)
    assert type(back) is Tensor
    assert theirs.dtype == back.dtype == array.dtype
    assert (back.is_leaf, back.requires_grad) == (True, False)
    np.testing.assert_array_equal(theirs, array)
    np.testing.assert_array_equal(back.numpy(), array)


class TestOut:
    def test_memory_is_not_shared(self) -> None:
        """Neither a write over there, nor one here, is seen on the other side."""
        x = minigrad.ones(3, requires_grad=True)
        factor = minigrad.tensor([2.0, 3.0, 4.0])
        loss = (x * factor).sum()
        array = np.from_dlpack(factor)
        assert not np.shares_memory(array, factor.numpy())
        assert not np.shares_memory(np.from_dlpack(x.detach()), x.detach().numpy())
        if VERSIONED:  # before, NumPy let no one write to what came through DLPack
            array[:] = 0.0
        loss.backward()
        assert x.grad.tolist() == [2.0, 3.0, 4.0]
        factor[0] = 7.0
        assert array[0] != 7.0

    def test_the_copy_outlives_the_tensor(self) -> None:
        assert np.from_dlpack(minigrad.tensor([1.0, 2.0])).tolist() == [1.0, 2.0]

    @pytest.mark.parametrize("result", [False, True])
    def test_what_requires_a_gradient_is_refused(self, result: bool) -> None:
        x = minigrad.ones(3, requires_grad=True)
        with pytest.raises(BufferError, match=r"^__dlpack__: .*requires grad.*\.detach\(\)"):
            np.from_dlpack(2 * x if result else x)

    def test_options_and_versions(self) -> None:
        """The capsule of version 1 carries another name; an older one is always allowed."""
        x = minigrad.ones(3)
        assert x.__dlpack_device__() == (1, 0)
        if VERSIONED:
            assert np.from_dlpack(x, device="cpu", copy=True).tolist() == [1.0, 1.0, 1.0]
        for options in ({}, {"dl_device": (1, 0), "copy": True}, {"max_version": (0, 8)}):
            assert '"dltensor"' in repr(x.__dlpack__(**options))
        newest = '"dltensor_versioned"' if VERSIONED else '"dltensor"'
        assert newest in repr(x.__dlpack__(max_version=(1, 0)))
        for error, message, wrong in (
            (BufferError, r"copy=False.*\.numpy\(\)", {"copy": False}),
            (BufferError, r"device \(2, 0\)", {"dl_device": (2, 0)}),
        ):
            with pytest.raises(error, match=rf"^__dlpack__: .*{message}"):
                x.__dlpack__(**wrong)


class TestIn:
    def test_memory_is_not_shared(self) -> None:
        array = np.ones(3)
        tensor = minigrad.from_dlpack(array)
        array[:] = 5.0
        assert tensor.tolist() == [1.0, 1.0, 1.0]
        tensor[0] = 2.0
        assert array[0] == 5.0

    def test_a_tensor_of_ours(self) -> None:
        with pytest.raises(BufferError, match="detach"):
            minigrad.from_dlpack(minigrad.ones(3, requires_grad=True))

    @pytest.mark.parametrize("x", [np.ones(2), minigrad.ones(2)], ids=["array", "tensor"])
    def test_options(self, x: Any) -> None:
        for options in ({}, {"device": "cpu"}, {"copy": True}, {"device": None, "copy": None}):
            assert minigrad.from_dlpack(x, **options).tolist() == [1.0, 1.0]
        with pytest.raises(BufferError, match=r"^from_dlpack: .*copy=False"):
            minigrad.from_dlpack(np.ones(2), copy=False)
        with pytest.raises(ValueError, match="'cuda'"):
            minigrad.from_dlpack(x, device="cuda")

    @pytest.mark.parametrize("value", [[1.0], 1.0, None, "abc"])
    def test_what_has_no_dlpack(self, value: Any) -> None:
        name = type(value).__name__
        with pytest.raises(TypeError, match=f"^from_dlpack: .*__dlpack__.*{name}"):
            minigrad.from_dlpack(value)

    def test_complex_numbers(self) -> None:
        with pytest.raises(TypeError, match=r"^from_dlpack: .*complex128"):
            minigrad.from_dlpack(np.ones(2, np.complex128))


@pytest.mark.needs("torch")
class TestPyTorch:
    @pytest.fixture
    def torch(self) -> Any:
        return pytest.importorskip("torch")

    @pytest.mark.parametrize("dtype", DTYPES)
    def test_there_and_back(self, torch: Any, dtype: str) -> None:
        tensor = minigrad.tensor([[0, 1], [1, 0]], dtype=dtype)
        theirs = torch.from_dlpack(tensor)
        assert theirs.dtype == getattr(torch, dtype)
        back = minigrad.from_dlpack(theirs)
        assert back.dtype == tensor.dtype
        np.testing.assert_array_equal(back.numpy(), tensor.numpy())
        assert torch.asarray(tensor).shape == (2, 2)

    def test_a_write_over_there_corrupts_nothing(self, torch: Any) -> None:
        """PyTorch does not heed the read-only flag of DLPack: only a copy is safe."""
        x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x).sum()
        torch.from_dlpack(x.detach()).fill_(100.0)
        loss.backward()
        assert x.grad.tolist() == [2.0, 4.0]
        theirs = torch.ones(3)
        tensor = minigrad.from_dlpack(theirs)
        theirs.fill_(5.0)
        assert tensor.tolist() == [1.0, 1.0, 1.0]

    def test_what_requires_a_gradient_is_refused_on_either_side(self, torch: Any) -> None:
        for there, here in ((torch, minigrad), (minigrad, torch)):
            with pytest.raises(BufferError, match="detach"):
                there.from_dlpack(here.ones(3, requires_grad=True))

    def test_what_numpy_does_not_know(self, torch: Any) -> None:
        with pytest.raises(BufferError, match="^from_dlpack: .*bools.*integers"):
            minigrad.from_dlpack(torch.ones(3, dtype=torch.bfloat16))
