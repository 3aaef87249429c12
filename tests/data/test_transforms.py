"""Transforms of images: what they do, what they take, and where their chance comes from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor
from minigrad.data import transforms
from minigrad.nn import functional as F

RNG = np.random.default_rng(0)
IMAGE = RNG.standard_normal((3, 5, 7))
EVERY: dict[str, Any] = {
    "Normalize": transforms.Normalize([0.0, 1.0, 2.0], [1.0, 2.0, 3.0]),
    "CenterCrop": transforms.CenterCrop((3, 4)),
    "RandomCrop": transforms.RandomCrop((5, 6), padding=(0, 1, 2, 0)),
    "RandomHorizontalFlip": transforms.RandomHorizontalFlip(),
    "RandomVerticalFlip": transforms.RandomVerticalFlip(),
    "Resize": transforms.Resize((4, 9)),
    "RandomRotation": transforms.RandomRotation(30),
    "Compose": transforms.Compose([transforms.RandomCrop(4), transforms.RandomVerticalFlip()]),
}


def test_every_transform_is_here() -> None:
    assert EVERY.keys() == {*transforms.__all__}


@pytest.mark.parametrize("name", EVERY)
def test_arrays_tensors_and_batches(name: str) -> None:
    """The same for all of them, from the same seed; a batch is transformed alike."""
    found = []
    for image in (IMAGE, tensor(IMAGE), np.stack([IMAGE, IMAGE])):
        minigrad.random.seed(3)
        found.append(EVERY[name](image))
    assert [type(one) for one in found] == [np.ndarray, Tensor, np.ndarray]
    assert found[0].dtype == found[1].dtype == IMAGE.dtype
    np.testing.assert_array_equal(found[0], found[1].numpy())
    for one in found[2]:
        np.testing.assert_allclose(one, found[0], rtol=1e-12)


def test_chance() -> None:
    """Each part of an image, and both directions of a flip, come about; seeds repeat them."""
    numbers = np.arange(12.0).reshape(1, 3, 4)
    crop = transforms.RandomCrop(2)
    corners = {crop(numbers)[0, 0, 0] for _ in range(200)}
    assert corners == {0.0, 1.0, 2.0, 4.0, 5.0, 6.0}
    flips = [transforms.RandomHorizontalFlip(0.25)(numbers)[0, 0, 0] for _ in range(400)]
    assert 50 < sum(first == 3.0 for first in flips) < 150
    assert not transforms.RandomVerticalFlip(0.0)(numbers)[0, 0, 0]


@pytest.mark.parametrize("shape", [(1, 4, 4), (2, 3, 5)])
def test_rotations_by_right_angles(shape: tuple[int, ...]) -> None:
    image = RNG.standard_normal(shape)
    for quarter in (0, 1, 2, 3):
        found = transforms.RandomRotation((90 * quarter, 90 * quarter))(image)
        if quarter % 2 == 0 or shape[1] == shape[2]:
            wanted = np.rot90(image, quarter, (-2, -1))
            np.testing.assert_allclose(found, wanted, atol=1e-12)
        assert found.shape == image.shape


def test_rotation_of_an_oblong_image_keeps_distances() -> None:
    """A pixel to the right of the middle goes above it, by as much."""
    image = np.zeros((1, 7, 9))
    image[0, 3, 6] = 1.0
    found = transforms.RandomRotation((90, 90))(image)
    assert np.unravel_index(found.argmax(), found.shape) == (0, 1, 4)


def test_sizes() -> None:
    np.testing.assert_allclose(
        transforms.Resize((10, 3))(IMAGE),
        F.interpolate(tensor(IMAGE[None]), (10, 3), mode="bilinear").numpy()[0],
    )
    assert transforms.Resize(10, "nearest")(IMAGE).shape == (3, 10, 14)
    np.testing.assert_array_equal(transforms.CenterCrop(3)(IMAGE), IMAGE[:, 1:4, 2:5])
    padded = transforms.RandomCrop((6, 9), padding=(1, 1, 0, 1))(IMAGE)
    np.testing.assert_array_equal(padded, np.pad(IMAGE, ((0, 0), (0, 1), (1, 1))))


def test_gradients_go_through() -> None:
    leaf = x = tensor(IMAGE, requires_grad=True)
    for transform in EVERY.values():
        x = transform(x)
        if x.shape[-1] < 6:
            x = transforms.Resize((5, 7))(x)
    x.sum().backward()
    assert leaf.grad.shape == leaf.shape


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transforms.CenterCrop(9)(IMAGE), r"CenterCrop: \(9, 9\) .*\(3, 5, 7\)"),
        (lambda: transforms.CenterCrop(2)([1.0]), r"CenterCrop: .*\(\.\.\., C, H, W\)"),
        (lambda: transforms.CenterCrop(0), "CenterCrop: size must be at least 1"),
        (lambda: transforms.Normalize([0], [1])(IMAGE), "Normalize: .*1 channels"),
        (lambda: transforms.Normalize([0], [0]), "Normalize: each of std"),
        (lambda: transforms.Normalize([0], [1, 1]), "Normalize: 1 means and 2"),
        (lambda: transforms.RandomHorizontalFlip(2), "RandomHorizontalFlip: p"),
        (lambda: transforms.Resize(2, "cubic"), "Resize: mode .*'cubic'"),
        (lambda: transforms.RandomRotation((3, 1)), "RandomRotation: degrees"),
        (lambda: transforms.Compose([3]), "Compose: functions expected, got 3"),
    ],
)
def test_refusals(call: Any, message: str) -> None:
    error = TypeError if message.startswith("Compose") else ValueError
    with pytest.raises(error, match=f"^{message}"):
        call()
