"""`torchvision` where it is not installed: its transforms, data sets and pictures, by hand."""

import gzip
import hashlib
import io
import pickle
import struct
import tarfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import python

Image = pytest.importorskip("PIL.Image")

import minigrad.torch as torch  # noqa: E402
from minigrad.torchvision import datasets, transforms, utils  # noqa: E402
from minigrad.torchvision.transforms import functional as TF  # noqa: E402

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)  # height, width
IMAGES = np.random.default_rng(1).standard_normal((5, 2, 3, 4)).astype(np.float32)


def grid_by_hand(images: np.ndarray, nrow: int, padding: int, pad_value: float) -> np.ndarray:
    """Each pixel of a grid: of the border, or of an image."""
    count, channels, height, width = images.shape
    columns = min(nrow, count)
    rows = -(-count // columns)
    high, wide = height + padding, width + padding
    grid = np.empty((channels, rows * high + padding, columns * wide + padding))
    for y in range(grid.shape[1]):
        for x in range(grid.shape[2]):
            row, down = divmod(y - padding, high)
            column, across = divmod(x - padding, wide)
            number = row * columns + column
            inside = min(y, x) >= padding and down < height and across < width and number < count
            grid[:, y, x] = images[number, :, down, across] if inside else pad_value
    return grid


@pytest.mark.parametrize(("nrow", "padding", "pad_value"), [(8, 2, 0.0), (2, 1, 0.5), (3, 0, 9.0)])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_grid_by_hand(nrow: int, padding: int, pad_value: float, channels: int) -> None:
    images = IMAGES[:, :1].repeat(3, 1) if channels == 1 else IMAGES[:, [0, 1, 0]]
    given = torch.tensor(images[:, :channels])
    wanted = grid_by_hand(images, nrow, padding, pad_value)
    for batch in (given, list(given)):
        found = utils.make_grid(batch, nrow, padding, pad_value=pad_value)
        np.testing.assert_array_equal(found.numpy(), wanted.astype(np.float32))
    assert not utils.make_grid(given.requires_grad_()).requires_grad


@pytest.mark.parametrize("value_range", [None, (-1.0, 0.5)])
@pytest.mark.parametrize("scale_each", [False, True])
def test_a_grid_of_normalized_images(value_range: Any, scale_each: bool) -> None:
    wanted = []
    for image in IMAGES:
        whole = image if scale_each else IMAGES
        low, high = value_range or (whole.min(), whole.max())
        wanted.append((np.clip(image, low, high) - low) / (high - low))
    given = torch.tensor(IMAGES)
    found = utils.make_grid(given, normalize=True, value_range=value_range, scale_each=scale_each)
    np.testing.assert_allclose(found.numpy(), grid_by_hand(np.array(wanted), 8, 2, 0), 1e-6)
    np.testing.assert_array_equal(given.numpy(), IMAGES)


def test_pictures_in_files(tmp_path: Path) -> None:
    one = utils.make_grid(torch.tensor(IMAGES[0, 0]))
    np.testing.assert_array_equal(one.numpy(), IMAGES[0, :1].repeat(3, 0))
    with pytest.raises(TypeError, match="got str"):
        utils.make_grid("x")
    shades = torch.tensor([[0.0, 0.25, 0.5, 1.0, 2.0, -1.0]])
    utils.save_image(shades, tmp_path / "one.png")
    pixels = np.asarray(Image.open(tmp_path / "one.png"))
    assert pixels[0, :, 1].tolist() == [0, 64, 128, 255, 255, 0]
    file = io.BytesIO()
    utils.save_image(torch.rand(5, 3, 4, 6), file, format="PNG", nrow=3, padding=1)
    assert Image.open(file).size == (3 * 7 + 1, 2 * 5 + 1)


def padded(top: int, left: int, height: int, width: int) -> np.ndarray:
    """A part of the image, with zeros outside."""
    whole = np.pad(PIXELS, ((20, 20), (20, 20), (0, 0)))
    return whole[top + 20 : top + 20 + height, left + 20 : left + 20 + width]


CALLS: dict[str, tuple[Any, np.ndarray]] = {
    "hflip": (TF.hflip, PIXELS[:, ::-1]),
    "vflip": (TF.vflip, PIXELS[::-1]),
    "crop": (lambda x: TF.crop(x, 1, 2, 3, 4), PIXELS[1:4, 2:6]),
    "crop beside": (lambda x: TF.crop(x, -1, 5, 3, 4), padded(-1, 5, 3, 4)),
    "center_crop": (transforms.CenterCrop(3), PIXELS[1:4, 2:5]),
    "a larger center": (transforms.CenterCrop((9, 4)), padded(-2, 2, 9, 4)),
    "pad": (transforms.Pad(2), padded(-2, -2, 9, 11)),
    "pad two": (transforms.Pad((1, 3)), padded(-3, -1, 11, 9)),
    "pad four": (transforms.Pad((1, 0, 2, 3)), padded(0, -1, 8, 10)),
    "fill": (transforms.Pad(1, fill=7), np.pad(
        PIXELS, ((1, 1), (1, 1), (0, 0)), constant_values=7)),
    "reflect": (transforms.Pad(2, padding_mode="reflect"), np.pad(
        PIXELS, ((2, 2), (2, 2), (0, 0)), "reflect")),
    "lambda": (transforms.Lambda(TF.hflip), PIXELS[:, ::-1]),
    "always": (transforms.RandomHorizontalFlip(p=1.0), PIXELS[:, ::-1]),
    "never": (transforms.RandomVerticalFlip(0.0), PIXELS),
    "one place": (transforms.RandomCrop((5, 7)), PIXELS),
    "one padded place": (transforms.RandomCrop((9, 11), padding=2), padded(-2, -2, 9, 11)),
    "compose": (transforms.Compose([transforms.Pad(1), TF.hflip]), padded(-1, -1, 7, 9)[:, ::-1]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_images_and_tensors_alike(name: str) -> None:
    call, wanted = CALLS[name]
    image = call(Image.fromarray(PIXELS))
    assert isinstance(image, Image.Image)
    np.testing.assert_array_equal(np.asarray(image), wanted)
    found = call(torch.tensor(PIXELS.transpose(2, 0, 1)))
    assert found.dtype == torch.uint8
    np.testing.assert_array_equal(found.numpy(), wanted.transpose(2, 0, 1))


def test_values_of_images() -> None:
    tensor = transforms.ToTensor()(Image.fromarray(PIXELS))
    assert (tensor.dtype, tuple(tensor.shape)) == (torch.float32, (3, 5, 7))
    np.testing.assert_array_equal(tensor.numpy(), PIXELS.transpose(2, 0, 1).astype("f4") / 255)
    np.testing.assert_array_equal(np.asarray(transforms.ToPILImage()(tensor)), PIXELS)
    assert transforms.PILToTensor()(Image.fromarray(PIXELS)).dtype == torch.uint8
    assert transforms.ToTensor()(PIXELS[..., 0].astype(float)).dtype == torch.float64
    black = transforms.ToTensor()(Image.fromarray(PIXELS[..., 0] > 99))
    np.testing.assert_array_equal(black.numpy()[0], PIXELS[..., 0] > 99)
    found = transforms.Normalize((0.5, 0.25, 0.0), (0.5, 2.0, 1.0))(tensor)
    wanted = (tensor.numpy() - np.array([0.5, 0.25, 0])[:, None, None]) / np.array(
        [0.5, 2.0, 1.0])[:, None, None]  # fmt: skip
    np.testing.assert_allclose(found.numpy(), wanted, 1e-6)
    again = transforms.Normalize(torch.tensor([0.5, 0.25, 0.0]), torch.tensor([0.5, 2.0, 1.0]))
    np.testing.assert_array_equal(again(tensor).numpy(), found.numpy())
    TF.normalize(tensor, (0.5,), (0.5,), inplace=True)
    assert tensor.min() < 0
    gray = transforms.Grayscale(3)(Image.fromarray(PIXELS))
    np.testing.assert_allclose(
        np.asarray(gray)[..., 2], PIXELS @ [0.299, 0.587, 0.114], atol=1.0
    )  # fmt: skip


def test_sizes() -> None:
    image = Image.fromarray(PIXELS)
    for size, wanted in ((10, (14, 10)), ((4, 3), (3, 4)), ([3], (4, 3))):
        assert transforms.Resize(size)(image).size == wanted
    nearest = transforms.Resize((10, 14), transforms.InterpolationMode.NEAREST)(image)
    np.testing.assert_array_equal(np.asarray(nearest), PIXELS.repeat(2, 0).repeat(2, 1))
    torch.manual_seed(0)
    crop = transforms.RandomCrop(3)
    parts = {np.asarray(crop(image)).tobytes() for _ in range(99)}
    places = {PIXELS[y : y + 3, x : x + 3].tobytes() for y in range(3) for x in range(5)}
    assert parts == places
    assert transforms.RandomCrop(8, pad_if_needed=True)(image).size == (8, 8)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        (lambda image: transforms.Normalize(0.5, 0.5)(image), TypeError, "ToTensor comes first"),
        (lambda image: TF.normalize(TF.to_tensor(image), 0.5, (1, 0, 1)), ValueError, "is 0"),
        (lambda image: transforms.Resize(3)(TF.to_tensor(image)), TypeError, "resize: an image"),
        (lambda image: transforms.RandomCrop(6)(image), ValueError, r"\(6, 6\) is larger"),
        (lambda image: transforms.ToTensor()(TF.to_tensor(image)), TypeError, "got Tensor"),
        (lambda image: transforms.Resize(), TypeError, "size"),
        (lambda image: transforms.Pad(1, colour=3), TypeError, "colour"),
    ],
)
def test_refusals(wrong: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        wrong(Image.fromarray(PIXELS))


# Data sets


def idx(array: np.ndarray) -> bytes:
    """A file of MNIST."""
    return struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


DIGITS = np.random.default_rng(2).integers(0, 256, (6, 28, 28)).astype(np.uint8)
LABELS = np.array([3, 1, 4, 1, 5, 9], np.uint8)
IDX = {
    "train-images-idx3-ubyte": idx(DIGITS[:4]), "train-labels-idx1-ubyte": idx(LABELS[:4]),
    "t10k-images-idx3-ubyte": idx(DIGITS[4:]), "t10k-labels-idx1-ubyte": idx(LABELS[4:]),
}  # fmt: skip
ROWS = np.random.default_rng(3).integers(0, 256, (12, 3072)).astype(np.uint8)
BATCHES: dict[str, dict[str, Any]] = {
    name: {"data": ROWS[2 * i : 2 * i + 2], "labels": [i, 9 - i]}
    for i, name in enumerate(datasets.CIFAR10.files[:6])
} | {"batches.meta": {"label_names": list("abcdefghij")}}  # fmt: skip


def put(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def test_digits_from_files(tmp_path: Path) -> None:
    for kind in (datasets.MNIST, datasets.FashionMNIST):
        put(tmp_path / kind.__name__ / "raw", IDX)
        trained, tested = (kind(str(tmp_path), train) for train in (True, False))
        assert (len(trained), len(tested)) == (4, 2)
        np.testing.assert_array_equal(trained.data.numpy(), DIGITS[:4])
        assert (tested.targets.dtype, tested.targets.tolist()) == (torch.int64, [5, 9])
        assert (tested.test_data is tested.data, tested.train_labels is tested.targets) == (
            True,
        ) * 2
        image, label = trained[2]
        assert (image.mode, image.size, label) == ("L", (28, 28), 4)
        assert len(kind.classes) == 10
        assert repr(trained).startswith(f"Dataset {kind.__name__}\n    Number of datapoints: 4\n")
    dataset = datasets.MNIST(
        tmp_path, transform=transforms.ToTensor(), target_transform=lambda label: -label
    )
    loader = torch.utils.data.DataLoader(dataset, batch_size=4)
    images, labels = next(iter(loader))
    np.testing.assert_array_equal(images.numpy()[:, 0], DIGITS[:4].astype("f4") / 255)
    assert labels.tolist() == [-3, -1, -4, -1]


def test_small_images_from_files(tmp_path: Path) -> None:
    folder = tmp_path / "cifar-10-batches-py"
    put(folder, {name: pickle.dumps(batch, protocol=2) for name, batch in BATCHES.items()})
    trained, tested = (datasets.CIFAR10(tmp_path, train) for train in (True, False))
    assert (len(trained), len(tested), trained.classes[2]) == (10, 2, "c")
    assert tested.targets == [5, 4]
    image, label = trained[3]
    assert label == 8
    np.testing.assert_array_equal(np.asarray(image), ROWS[3].reshape(3, 32, 32).transpose(1, 2, 0))
    (folder / "test_batch").write_bytes(b"cos\nsystem\n(X\x04\x00\x00\x00exittR.")
    with pytest.raises(ValueError, match=r"CIFAR10: a file asks for os\.system"):
        datasets.CIFAR10(tmp_path)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server of the files in a folder, on this machine."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/", folder
        running.shutdown()
        thread.join()


def test_downloads_with_checksums(
    server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    address, folder = server
    packed = {f"{name}.gz": gzip.compress(content) for name, content in IDX.items()}
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for name, batch in BATCHES.items():
            content = pickle.dumps(batch, protocol=2)
            info = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    packed["cifar.tar.gz"] = archive.getvalue()
    for name, content in packed.items():
        (folder / name).write_bytes(content)
    sums = {name: hashlib.md5(content).hexdigest() for name, content in packed.items()}
    monkeypatch.setattr(datasets.MNIST, "url", address)
    monkeypatch.setattr(datasets.MNIST, "checksums", " ".join([*sums.values()][:4]))
    monkeypatch.setattr(datasets.CIFAR10, "url", f"{address}cifar.tar.gz")

    with pytest.raises(RuntimeError, match="no .*train-images-idx3-ubyte: download=True"):
        datasets.MNIST(tmp_path)
    with pytest.raises(RuntimeError, match="cifar.tar.gz: .*another checksum than c58f30"):
        datasets.CIFAR10(tmp_path, download=True)
    monkeypatch.setattr(datasets.CIFAR10, "tgz_md5", sums["cifar.tar.gz"])
    assert len(datasets.MNIST(tmp_path, download=True)) == 4
    assert len(datasets.CIFAR10(tmp_path, train=False, download=True)) == 2
    assert f"Downloading {address}t10k-labels-idx1-ubyte.gz" in capsys.readouterr().out
    for name in packed:
        (folder / name).unlink()
    assert len(datasets.MNIST(tmp_path, train=False, download=True)) == 2, "it is there"
    assert len(datasets.CIFAR10(tmp_path, download=True)) == 10
    assert capsys.readouterr().out == ""
    (tmp_path / "MNIST/raw/train-labels-idx1-ubyte").unlink()
    with pytest.raises(RuntimeError, match=r"train-labels.* was not downloaded: .*404"):
        datasets.MNIST(tmp_path, download=True)


def test_folders_of_images(tmp_path: Path) -> None:
    for path in ("dog/b.png", "dog/more/a.JPG", "cat/1.bmp", "cat/notes.txt"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if path.endswith("txt"):
            (tmp_path / path).write_text("no image")
        else:
            Image.fromarray(PIXELS[..., 0]).save(tmp_path / path)
    dataset = datasets.ImageFolder(tmp_path, transform=transforms.ToTensor())
    assert dataset.classes == ["cat", "dog"]
    assert dataset.class_to_idx == {"cat": 0, "dog": 1}
    assert [Path(path).name for path, _ in dataset.samples] == ["1.bmp", "b.png", "a.JPG"]
    assert (dataset.targets, dataset.imgs) == ([0, 1, 1], dataset.samples)
    image, label = dataset[1]
    assert (tuple(image.shape), label) == ((3, 5, 7), 1)
    own = datasets.ImageFolder(tmp_path, loader=Path, is_valid_file=lambda path: "o" in path[-9:])
    assert own[0][0].name == "notes.txt"
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"no images of \['empty'\]"):
        datasets.ImageFolder(tmp_path)


# The door

SCRIPT = """
import torch, torchvision
import torchvision.transforms.functional as TF
from torchvision import datasets, transforms
from torchvision.utils import make_grid
import torchvision.transforms as T

print(T is transforms, make_grid(torch.zeros(3, 1, 2, 2)).shape, transforms.Compose([T.ToTensor()]))
for line in ("import torchvision.models", "from torchvision import models", "torchvision.ops"):
    try:
        exec(line)
    except (ImportError, AttributeError) as error:
        print(error)
"""


def test_a_script_that_imports_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    ran = python("-m", "minigrad.torch", "script.py", cwd=tmp_path)
    first, *others = ran.stdout.splitlines()
    assert first == "True torch.Size([3, 6, 14]) Compose(", ran.stderr
    reasons = [line for line in others if line.endswith("there are transforms, datasets and utils")]
    assert len(reasons) == 3, others
    (tmp_path / "torchvision").mkdir()
    (tmp_path / "torchvision/__init__.py").write_text("raise AssertionError('it ran')")
    refused = python("-m", "minigrad.torch", "script.py", cwd=tmp_path)
    assert refused.returncode
    assert "torchvision is installed here, and it needs PyTorch itself" in refused.stderr


def test_modules_of_torchvision_are_there_or_say_why_not() -> None:
    assert datasets.mnist.MNIST is datasets.MNIST
    assert transforms.transforms is transforms
    with pytest.raises(AttributeError, match=r"no 'ColorJitter'.*transforms\.Lambda"):
        transforms.ColorJitter(0.1)
