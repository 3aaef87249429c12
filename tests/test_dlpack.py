"""DLPack: values cross between libraries, memory does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64"]
ARRAYS: dict[str, np.ndarray] = {
    "no axes": np.array(2.5),
    "nothing": np.ones((2, 0, 3)),
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "reversed": np.arange(6.0)[::-2],
    "one element everywhere": np.broadcast_to(np.float32(3), (2, 4)),
}
VERSIONED = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""Whether NumPy knows DLPack 1.0."""
arrays = pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)


class TestOut:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_numpy_takes_every_dtype(self, dtype: str) -> None:
        tensor = minigrad.tensor([[0, 1], [1, 0]], dtype=dtype)
        array = np.from_dlpack(tensor)
        assert array.dtype == tensor.dtype
        np.testing.assert_array_equal(array, tensor.numpy())

    @arrays
    def test_numpy_takes_every_layout(self, array: np.ndarray) -> None:
        tensor = minigrad.zeros(())
        tensor.data = array
        np.testing.assert_array_equal(np.from_dlpack(tensor), array)

    def test_memory_is_not_shared(self) -> None:
        """Neither a write over there, nor one here, is seen on the other side."""
        x = minigrad.ones(3, requires_grad=True)
        factor = minigrad.tensor([2.0, 3.0, 4.0])
        loss = (x * factor).sum()
        array = np.from_dlpack(factor)
        assert not np.shares_memory(array, factor.numpy())
        if VERSIONED:  # before, NumPy let no one write to what came through DLPack
            array[:] = 0.0
        loss.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0, 3.0, 4.0]
        factor[0] = 7.0
        assert array[0] != 7.0

    def test_a_view_of_what_the_graph_saved_is_copied_too(self) -> None:
        x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        assert not np.shares_memory(np.from_dlpack(x.detach()), x.detach().numpy())

    def test_the_copy_outlives_the_tensor(self) -> None:
        array = np.from_dlpack(minigrad.tensor([1.0, 2.0]))
        assert array.tolist() == [1.0, 2.0]

    @pytest.mark.parametrize("result", [False, True])
    def test_what_requires_a_gradient_is_refused(self, result: bool) -> None:
        x = minigrad.ones(3, requires_grad=True)
        with pytest.raises(BufferError, match=r"^__dlpack__: .*requires grad.*\.detach\(\)"):
            np.from_dlpack(2 * x if result else x)

    def test_options(self) -> None:
        x = minigrad.ones(3)
        assert x.__dlpack_device__() == (1, 0)
        if VERSIONED:
            assert np.from_dlpack(x, device="cpu", copy=True).tolist() == [1.0, 1.0, 1.0]
        assert '"dltensor"' in repr(x.__dlpack__(dl_device=(1, 0), copy=True))
        with pytest.raises(BufferError, match=r"^__dlpack__: .*copy=False.*\.numpy\(\)"):
            x.__dlpack__(copy=False)
        with pytest.raises(BufferError, match=r"^__dlpack__: .*device \(2, 0\)"):
            x.__dlpack__(dl_device=(2, 0))
        with pytest.raises(ValueError, match=r"^__dlpack__: .*stream 1"):
            x.__dlpack__(stream=1)

    def test_versions(self) -> None:
        """The capsule of version 1 carries another name; an older one is always allowed."""
        x = minigrad.ones(3)
        newest = '"dltensor_versioned"' if VERSIONED else '"dltensor"'
        assert newest in repr(x.__dlpack__(max_version=(1, 0)))
        assert '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
        assert '"dltensor"' in repr(x.__dlpack__())


class TestIn:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_every_dtype(self, dtype: str) -> None:
        array = np.array([[0, 1], [1, 0]], dtype)
        tensor = minigrad.from_dlpack(array)
        assert type(tensor) is Tensor
        assert tensor.dtype == dtype
        assert tensor.is_leaf
        assert not tensor.requires_grad
        np.testing.assert_array_equal(tensor.numpy(), array)

    @arrays
    def test_every_layout(self, array: np.ndarray) -> None:
        np.testing.assert_array_equal(minigrad.from_dlpack(array).numpy(), array)

    def test_memory_is_not_shared(self) -> None:
        array = np.ones(3)
        tensor = minigrad.from_dlpack(array)
        array[:] = 5.0
        assert tensor.tolist() == [1.0, 1.0, 1.0]
        tensor[0] = 2.0
        assert array[0] == 5.0

    def test_a_tensor_of_ours(self) -> None:
        x = minigrad.ones(3)
        assert minigrad.from_dlpack(x).tolist() == [1.0, 1.0, 1.0]
        with pytest.raises(BufferError, match="detach"):
            minigrad.from_dlpack(minigrad.ones(3, requires_grad=True))

    def test_options(self) -> None:
        for options in ({"device": "cpu"}, {"copy": True}, {"device": None, "copy": None}):
            assert minigrad.from_dlpack(np.ones(2), **options).tolist() == [1.0, 1.0]
        with pytest.raises(BufferError, match=r"^from_dlpack: .*copy=False"):
            minigrad.from_dlpack(np.ones(2), copy=False)
        for x in (np.ones(2), minigrad.ones(2)):
            assert minigrad.from_dlpack(x, device="cpu").tolist() == [1.0, 1.0]
            with pytest.raises(ValueError, match="'cuda'"):
                minigrad.from_dlpack(x, device="cuda")  # type: ignore[arg-type]

    def test_an_array_that_is_read_only(self) -> None:
        assert minigrad.from_dlpack(minigrad.ones(2).numpy()).tolist() == [1.0, 1.0]

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
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_there_and_back(self, dtype: str) -> None:
        import torch

        tensor = minigrad.tensor([[0, 1], [1, 0]], dtype=dtype)
        theirs = torch.from_dlpack(tensor)
        assert theirs.dtype == getattr(torch, dtype)
        back = minigrad.from_dlpack(theirs)
        assert back.dtype == tensor.dtype
        np.testing.assert_array_equal(back.numpy(), tensor.numpy())

    def test_a_write_over_there_corrupts_no_gradient(self) -> None:
        """PyTorch does not heed the read-only flag of DLPack: only a copy is safe."""
        import torch

        x = minigrad.tensor([1.0, 2.0], requires_grad=True)
        loss = (x * x).sum()
        torch.from_dlpack(x.detach()).fill_(100.0)
        loss.backward()
        assert x.grad is not None
        assert x.grad.tolist() == [2.0, 4.0]

    def test_a_write_over_there_after_we_took_it(self) -> None:
        import torch

        theirs = torch.ones(3)
        tensor = minigrad.from_dlpack(theirs)
        theirs.fill_(5.0)
        assert tensor.tolist() == [1.0, 1.0, 1.0]

    def test_asarray(self) -> None:
        import torch

        assert torch.asarray(minigrad.ones((2, 3))).shape == (2, 3)

    def test_what_requires_a_gradient_is_refused_on_either_side(self) -> None:
        import torch

        with pytest.raises(BufferError, match="detach"):
            torch.from_dlpack(minigrad.ones(3, requires_grad=True))
        with pytest.raises(BufferError, match="detach"):
            minigrad.from_dlpack(torch.ones(3, requires_grad=True))

    def test_what_numpy_does_not_know(self) -> None:
        import torch

        with pytest.raises(BufferError, match="^from_dlpack: .*bools.*integers"):
            minigrad.from_dlpack(torch.ones(3, dtype=torch.bfloat16))
