"""`torchvision.transforms`: what is done with images, as functions, and as objects with options.

An image is one of Pillow, or a tensor (..., C, H, W), and the result is of the same kind.
"""

import inspect
from functools import reduce, wraps
from typing import Any

import numpy as np

from minigrad import random, torch
from minigrad.nn.layers.function_layer import UnaryLayer, layer_of
from minigrad.support.checks import optional_package
from minigrad.torch import Tensor, uint8

Image = optional_package("torchvision", "PIL.Image", install="pillow")
InterpolationMode = Image.Resampling


def pil_to_tensor(pic: Any) -> Tensor:
    """A tensor (C, H, W) of the values of an image, or of an array (H, W, C)."""
    if not isinstance(pic, (Image.Image, np.ndarray)):
        raise TypeError(f"an image of Pillow or an array expected, got {type(pic).__name__}")
    array = np.asarray(pic) * (np.uint8(255) if getattr(pic, "mode", "") == "1" else 1)
    return torch.tensor(array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0))


def to_tensor(pic: Any) -> Tensor:
    """A tensor (C, H, W) of an image; bytes become floats from 0 to 1."""
    found = pil_to_tensor(pic)
    return found.to(torch.get_default_dtype()) / 255 if found.dtype == uint8 else found


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """An image of a tensor (C, H, W) or (H, W), or of an array; floats are from 0 to 1."""
    if isinstance(pic, Tensor):
        pic = (pic.detach() * 255 if pic.is_floating_point() else pic).to(uint8).numpy()
        pic = np.moveaxis(pic, 0, -1) if pic.ndim == 3 else pic
    image = Image.fromarray(np.ascontiguousarray(pic[..., 0] if pic.shape[2:] == (1,) else pic))
    return image if mode is None else image.convert(mode)


def of_images(function: Any) -> Any:
    """The function, of a tensor, as one of images too."""

    @wraps(function)
    def call(img: Any, *args: Any, **options: Any) -> Any:
        if isinstance(img, Tensor):
            return function(img, *args, **options)
        return to_pil_image(function(pil_to_tensor(img), *args, **options))

    return call


def normalize(tensor: Tensor, mean: Any, std: Any, inplace: bool = False) -> Tensor:
    """Subtract a mean from each channel, and divide by a standard deviation."""
    if not isinstance(tensor, Tensor) or not tensor.is_floating_point():
        raise TypeError("normalize: a tensor of floats expected; ToTensor comes first")
    mean, std = (torch.as_tensor(x, dtype=tensor.dtype).reshape(-1, 1, 1) for x in (mean, std))
    if not std.all():
        raise ValueError(f"normalize: a standard deviation is 0: {std.tolist()}")
    return (tensor if inplace else tensor.clone()).sub_(mean).div_(std)


def resize(img: Any, size: Any, interpolation: int = Image.BILINEAR, antialias: bool = True) -> Any:
    """Resize an image of Pillow, smoothly: to (height, width), or its shorter side to a number."""
    if not isinstance(img, Image.Image):
        raise TypeError(f"resize: an image of Pillow expected, got {type(img).__name__}")
    if isinstance(size, int) or len(size) == 1:
        size = [int(pair(size)[0] * n / min(img.size)) for n in img.size[::-1]]
    return img.resize(tuple(size[::-1]), interpolation)


@of_images
def pad(img: Tensor, padding: Any, fill: float = 0, padding_mode: Any = "constant") -> Tensor:
    """Pad an image: by a number, by (left and right, top and bottom) or (left, top, right, bottom).

    The mode is "constant", or "edge", "reflect" or "symmetric", which repeat the image.
    """
    left, top, right, bottom = pair(padding) * 2 if np.size(padding) < 4 else padding
    more = {"constant_values": fill} if padding_mode == "constant" else {}
    by = [(0, 0)] * (img.ndim - 2) + [(top, bottom), (left, right)]
    return torch.tensor(np.pad(img.numpy(), by, padding_mode, **more))


@of_images
def crop(img: Tensor, top: int, left: int, height: int, width: int) -> Tensor:
    """A part of an image; what is outside of it is 0."""
    outside = np.array([-left, -top, left + width - img.shape[-1], top + height - img.shape[-2]])
    img = pad(img, outside.clip(0)) if (outside > 0).any() else img
    return img[..., max(top, 0) :, max(left, 0) :][..., :height, :width]


@of_images
def center_crop(img: Tensor, size: Any) -> Tensor:
    """The part in the middle of an image; what is outside of it is 0."""
    room = (np.array(img.shape[-2:]) - pair(size)).tolist()
    return crop(img, *(round(n / 2) if n > 0 else int(n / 2) for n in room), *pair(size))


def rgb_to_grayscale(img: Any, num_output_channels: int = 1) -> Any:
    """The brightness of an image of Pillow, in one channel or in three that are alike."""
    return img.convert("L").convert("L" if num_output_channels == 1 else "RGB")


def pair(size: Any) -> Any:
    """A height and a width, which are the same for one number."""
    return (size, size) if isinstance(size, int) else (*size, *size)[:2]


hflip, vflip = of_images(lambda img: img.flip(-1)), of_images(lambda img: img.flip(-2))


@of_images
def _cropped(
    img: Tensor, size: Any, padding: Any = None, pad_if_needed: bool = False, fill: float = 0,
    padding_mode: str = "constant",
) -> Tensor:  # fmt: skip
    """A part of the image at a random place, after padding."""
    img = img if padding is None else pad(img, padding, fill, padding_mode)
    room = np.array(img.shape[-2:]) - pair(size)
    if pad_if_needed:
        img, room = pad(img, (-room[::-1]).clip(0), fill, padding_mode), abs(room)
    if min(room) < 0:
        raise ValueError(f"RandomCrop: {pair(size)} is larger than the image, {img.shape[-2:]}")
    return crop(img, *random.generator().integers(room + 1).tolist(), *pair(size))


def _perhaps(flip: Any) -> Any:
    return lambda img, p=0.5: flip(img) if random.generator().random() < p else img


def _class(name: str, function: Any) -> Any:
    """The class of a function of an image: what follows the image are the fields of an object."""
    _, *options = inspect.signature(function).parameters.values()
    defaults = {p.name: p.default for p in options if p.default is not p.empty}
    body = {"__annotations__": dict.fromkeys([p.name for p in options], "Any"), **defaults}
    return layer_of(function)(type(name, (UnaryLayer,), {**body, "__doc__": function.__doc__}))


ToTensor, ToPILImage = _class("ToTensor", to_tensor), _class("ToPILImage", to_pil_image)
PILToTensor, Normalize = _class("PILToTensor", pil_to_tensor), _class("Normalize", normalize)
Resize, CenterCrop = _class("Resize", resize), _class("CenterCrop", center_crop)
Pad, Grayscale = _class("Pad", pad), _class("Grayscale", rgb_to_grayscale)
RandomHorizontalFlip = _class("RandomHorizontalFlip", _perhaps(hflip))
RandomVerticalFlip = _class("RandomVerticalFlip", _perhaps(vflip))
RandomCrop, Lambda = _class("RandomCrop", _cropped), _class("Lambda", lambda img, lambd: lambd(img))
Compose = _class("Compose", lambda img, transforms: reduce(lambda x, t: t(x), transforms, img))
Compose.__repr__ = lambda self: "\n    ".join(["Compose(", *map(repr, self.transforms)]) + "\n)"
