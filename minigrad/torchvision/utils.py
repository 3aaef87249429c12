"""`torchvision.utils`: a batch of images as one picture, and as a file."""

from typing import Any

from minigrad import torch
from minigrad.torch.nn.functional import pad
from minigrad.torchvision.transforms import to_pil_image


@torch.no_grad()
def make_grid(
    tensor: Any, nrow: int = 8, padding: int = 2, normalize: bool = False,
    value_range: Any = None, scale_each: bool = False, pad_value: float = 0.0,
) -> torch.Tensor:  # fmt: skip
    """Images side by side, `nrow` in a row, with a border of `padding` around each.

    Args:
        tensor: A tensor (B, C, H, W), (C, H, W) or (H, W), or a list of images of equal shape. One
            channel becomes three.
        nrow: The images of a row.
        padding: The width of the borders.
        normalize: Whether values are shifted and scaled to the range from 0 to 1.
        value_range: The range that becomes 0 to 1; by default from the least to the largest value.
        scale_each: Whether each image has a range of its own.
        pad_value: The value of the borders.

    Returns:
        Shape (C, H', W'); of a single image, the image without a border.
    """
    if not isinstance(tensor, (torch.Tensor, list, tuple)):
        raise TypeError(f"make_grid: a tensor or a list expected, got {type(tensor).__name__}")
    images = torch.stack(list(tensor))
    images = images.reshape((1,) * (4 - images.ndim) + tuple(images.shape))
    images = images.expand(-1, 3, -1, -1) if images.shape[1] == 1 else images
    if normalize:
        axes = (1, 2, 3) if scale_each else (0, 1, 2, 3)
        low, high = value_range or (f(images, axes, keepdim=True) for f in (torch.amin, torch.amax))
        images = (images.clamp(low, high) - low) / torch.as_tensor(high - low).clamp(min=1e-5)
    if len(images) == 1:
        return images[0]
    columns = min(nrow, len(images))
    images = pad(images, (padding, 0) * 2 + (0, 0, 0, -len(images) % columns), value=pad_value)
    grid = images.unflatten(0, (-1, columns)).permute(2, 0, 3, 1, 4).flatten(3).flatten(1, 2)
    return pad(grid, (0, padding, 0, padding), value=pad_value)


def save_image(tensor: Any, fp: Any, format: str | None = None, **options: Any) -> None:  # noqa: A002
    """Write images from 0 to 1 as one picture: see `make_grid`, whose options these are."""
    grid = make_grid(tensor, **options)
    to_pil_image((grid * 255 + 0.5).clamp(0, 255).to(torch.uint8)).save(fp, format=format)
