"""Transforms of images (..., C, H, W): cutting, resizing, flipping and rotating, also at random.

They take arrays and tensors and return what they took. Random ones draw from `minigrad.random`: one
number for a call, whatever the axes before C.

This file uses `minigrad.nn`. It is in this folder because transforms belong to datasets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from minigrad import random
from minigrad.nn import functional as F
from minigrad.ops.casting import as_tensor
from minigrad.support.checks import check_number, check_probability, check_size, check_sizes
from minigrad.tensors.tensor import Tensor

__all__ = [
    "CenterCrop", "Compose", "Normalize", "RandomCrop", "RandomHorizontalFlip", "RandomRotation",
    "RandomVerticalFlip", "Resize",
]  # fmt: skip


class _Transform:
    """A function of an image with options."""

    def __call__(self, image: Any) -> Any:
        if not isinstance(image, (Tensor, np.ndarray)) or image.ndim < 3:
            shape = tuple(image.shape) if hasattr(image, "shape") else type(image).__name__
            raise ValueError(
                f"{type(self).__name__}: an array or a tensor of shape (..., C, H, W) expected, "
                f"got {shape}"
            )
        return self._transformed(image)

    def _transformed(self, image: Any) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({options})"


class Compose:
    """Call several transforms, one after the other.

    Args:
        transforms: Functions of one argument.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> prepare = transforms.Compose([transforms.CenterCrop(2), transforms.Normalize([1], [2])])
        >>> prepare(np.full((1, 4, 4), 5.0)).tolist()
        [[[2.0, 2.0], [2.0, 2.0]]]
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self.transforms = list(transforms)
        for transform in self.transforms:
            if not callable(transform):
                raise TypeError(f"Compose: functions expected, got {transform!r}")

    def __call__(self, image: Any) -> Any:
        for transform in self.transforms:
            image = transform(image)
        return image

    def __repr__(self) -> str:
        return f"Compose({self.transforms})"


class Normalize(_Transform):
    """Subtract a mean from each channel, and divide by a standard deviation.

    Args:
        mean: One number for each channel.
        std: One number for each channel, above 0.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> transforms.Normalize([1.0, 2.0], [0.5, 1.0])(np.full((2, 1, 1), 3.0)).tolist()
        [[[4.0]], [[1.0]]]
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float]) -> None:
        self.mean = [check_number("Normalize", "each of mean", number) for number in mean]
        self.std = [check_number("Normalize", "each of std", number, above=0.0) for number in std]
        if len(self.mean) != len(self.std):
            raise ValueError(
                f"Normalize: {len(self.mean)} means and {len(self.std)} standard deviations"
            )

    def _transformed(self, image: Any) -> Any:
        if image.dtype.kind != "f" or image.shape[-3] != len(self.mean):
            raise ValueError(
                f"Normalize: floats with {len(self.mean)} channels expected, got {image.dtype} "
                f"of shape {tuple(image.shape)}"
            )
        mean, std = (np.array(v, image.dtype).reshape(-1, 1, 1) for v in (self.mean, self.std))
        return (image - mean) / std


class CenterCrop(_Transform):
    """Cut out the middle.

    Args:
        size: Height and width; one number for both.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> transforms.CenterCrop((1, 2))(np.arange(12).reshape(1, 3, 4)).tolist()
        [[[5, 6]]]
    """

    def __init__(self, size: int | Sequence[int]) -> None:
        self.size = check_sizes(type(self).__name__, "size", size, 2)

    def _transformed(self, image: Any) -> Any:
        return self._cut(image, *(room // 2 for room in self._room(image)))

    def _room(self, image: Any) -> tuple[int, int]:
        """How far the cut can be moved down and to the right."""
        down, right = (n - size for n, size in zip(image.shape[-2:], self.size, strict=True))
        if down < 0 or right < 0:
            raise ValueError(
                f"{type(self).__name__}: {self.size} does not fit into an image of shape "
                f"{tuple(image.shape)}; resize or pad it first"
            )
        return down, right

    def _cut(self, image: Any, top: int, left: int) -> Any:
        height, width = self.size
        return image[..., top : top + height, left : left + width]


class RandomCrop(CenterCrop):
    """Cut out a random part.

    Args:
        size: Height and width; one number for both.
        padding: The width of a border of zeros that is added before; one number, or (left, right,
            top, bottom).

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> transforms.RandomCrop(4, padding=1)(np.ones((3, 4, 4))).shape
        (3, 4, 4)
    """

    def __init__(self, size: int | Sequence[int], padding: int | Sequence[int] = 0) -> None:
        super().__init__(size)
        self.padding = check_sizes("RandomCrop", "padding", padding, 4, least=0)

    def _transformed(self, image: Any) -> Any:
        left, right, top, bottom = self.padding
        if any(self.padding):
            still = ((0, 0),) * (image.ndim - 2)
            image = np.pad(image, (*still, (top, bottom), (left, right)))
        places = [int(random.generator().integers(room + 1)) for room in self._room(image)]
        return self._cut(image, *places)


class _RandomFlip(_Transform):
    def __init__(self, p: float = 0.5) -> None:
        self.p = check_probability(type(self).__name__, "p", p)

    def _transformed(self, image: Any) -> Any:
        return self._flipped(image) if random.generator().random() < self.p else image

    def _flipped(self, image: Any) -> Any:
        raise NotImplementedError


class RandomHorizontalFlip(_RandomFlip):
    """Exchange left and right with probability `p`.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> transforms.RandomHorizontalFlip(p=1.0)(np.array([[[1, 2, 3]]])).tolist()
        [[[3, 2, 1]]]
    """

    def _flipped(self, image: Any) -> Any:
        return image[..., ::-1]


class RandomVerticalFlip(_RandomFlip):
    """Exchange top and bottom with probability `p`.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> transforms.RandomVerticalFlip(p=1.0)(np.array([[[1], [2]]])).tolist()
        [[[2], [1]]]
    """

    def _flipped(self, image: Any) -> Any:
        return image[..., ::-1, :]


class Resize(_Transform):
    """Resize by interpolation between pixels; images of floats.

    Args:
        size: Height and width; one number is the length of the shorter side, and the other one
            keeps the proportion.
        mode: "bilinear" or "nearest": see `nn.functional.interpolate`.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> transforms.Resize(2)(np.ones((3, 4, 8))).shape
        (3, 2, 4)
    """

    def __init__(
        self, size: int | Sequence[int], mode: Literal["bilinear", "nearest"] = "bilinear"
    ) -> None:
        if mode not in ("bilinear", "nearest"):
            raise ValueError(f'Resize: mode must be "bilinear" or "nearest", got {mode!r}')
        self.size: int | tuple[int, ...] = (
            check_sizes("Resize", "size", size, 2)
            if isinstance(size, Sequence)
            else check_size("Resize", "size", size)
        )
        self.mode: Literal["bilinear", "nearest"] = mode

    def _transformed(self, image: Any) -> Any:
        height, width = image.shape[-2:]
        size = self.size
        if isinstance(size, int):
            short = min(height, width)
            size = (max(1, size * height // short), max(1, size * width // short))
        return _on_a_batch(image, lambda x: F.interpolate(x, size, mode=self.mode))


class RandomRotation(_Transform):
    """Rotate around the middle by a random angle; the corners that become free are 0.

    Args:
        degrees: The largest angle in both directions, or the least and the largest one; positive
            angles turn counter-clockwise.
        mode: "bilinear" or "nearest": see `nn.functional.grid_sample`.

    Example:
        >>> import numpy as np
        >>> from minigrad.data import transforms
        >>> turn = transforms.RandomRotation((90, 90))
        >>> turn(np.array([[[1.0, 2.0], [3.0, 4.0]]])).round(3).tolist()
        [[[2.0, 4.0], [1.0, 3.0]]]
    """

    def __init__(
        self, degrees: float | Sequence[float], mode: Literal["bilinear", "nearest"] = "bilinear"
    ) -> None:
        least, most = degrees if isinstance(degrees, Sequence) else (-degrees, degrees)
        least = check_number("RandomRotation", "degrees", least)
        self.degrees = least, check_number("RandomRotation", "degrees", most, least)
        if mode not in ("bilinear", "nearest"):
            raise ValueError(f'RandomRotation: mode must be "bilinear" or "nearest", got {mode!r}')
        self.mode: Literal["bilinear", "nearest"] = mode

    def _transformed(self, image: Any) -> Any:
        angle = math.radians(random.generator().uniform(*self.degrees))
        height, width = image.shape[-2:]
        cos, sin, ratio = math.cos(angle), math.sin(angle), height / width

        def rotated(x: Tensor) -> Tensor:
            theta = np.array([[cos, -sin * ratio, 0.0], [sin / ratio, cos, 0.0]], x.dtype)
            thetas = as_tensor(np.broadcast_to(theta, (len(x), 2, 3)))
            return F.grid_sample(x, F.affine_grid(thetas, x.shape), self.mode)

        return _on_a_batch(image, rotated)


def _on_a_batch(image: Any, function: Callable[[Tensor], Tensor]) -> Any:
    """Call a function of (N, C, H, W), whatever the axes before C are."""
    batch = as_tensor(image).reshape(-1, *image.shape[-3:])
    found = function(batch)
    found = found.reshape(*image.shape[:-3], *found.shape[1:])
    return found if isinstance(image, Tensor) else found.numpy()
