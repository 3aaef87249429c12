"""`torchvision.datasets`: MNIST and others from files in torchvision's places; folders of images.

With ``download=True`` files that are not there are loaded, and compared with their checksums.
"""
# mypy: disable-error-code="attr-defined,union-attr"

import gzip
import hashlib
import io
import pickle
import tarfile
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np

from minigrad import data, torch
from minigrad.support.files import folder_for, write
from minigrad.torchvision.transforms import Image

FILES = [f"{part}-{kind}" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
CLOTHES = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot"
DIGITS = "zero one two three four five six seven eight nine"
IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class VisionDataset(data.Dataset):
    """The base class of data sets of images: a root folder, and transforms of image and target."""

    def __init__(self, root: Any, transform: Any = None, target_transform: Any = None) -> None:
        self.root = str(Path(root).expanduser())
        self.transform, self.target_transform = transform, target_transform

    def __getitem__(self, index: Any) -> tuple[Any, Any]:
        image, target = self._item(index)
        image = image if self.transform is None else self.transform(image)
        return image, target if self.target_transform is None else self.target_transform(target)

    def __repr__(self) -> str:
        size = f"Number of datapoints: {len(self)}"  # type: ignore[arg-type]  # of a subclass
        return f"Dataset {type(self).__name__}\n    {size}\n    Root location: {self.root}"


class _Downloaded(VisionDataset):
    """Images and their classes from files in a folder, which can be downloaded."""

    def __init__(
        self, root: Any, train: bool = True, transform: Any = None, target_transform: Any = None,
        download: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(root, transform, target_transform)
        self.train, self.place = train, Path(self.root, self.folder)
        missing = [name for name in self.files if not (self.place / name).exists()]
        if missing and not download:
            raise RuntimeError(f"no {self.place / missing[0]}: download=True loads it")
        for name, content in self._downloaded(missing) if missing else ():
            write(folder_for(self.place) / name, content)
        self.data, self.targets = self._read()

    def _item(self, index: Any) -> tuple[Any, int]:
        return Image.fromarray(np.asarray(self.data[index])), int(self.targets[index])

    def __len__(self) -> int:
        return len(self.data)


def _loaded(url: str, md5: str) -> bytes:
    """The content of an address, if it has this checksum."""
    print(f"Downloading {url}")  # noqa: T201
    try:
        with urlopen(url, timeout=60) as answer:
            content: bytes = answer.read()
    except OSError as error:
        raise RuntimeError(f"{url} was not downloaded: {error}") from error
    if hashlib.md5(content, usedforsecurity=False).hexdigest() != md5:
        raise RuntimeError(f"{url}: the content has another checksum than {md5}")
    return content


class MNIST(_Downloaded):
    """Handwritten digits, 60,000 for training and 10,000 for tests, from ``root/MNIST/raw``."""

    folder, files = "MNIST/raw", [f"{name}-ubyte" for name in FILES]
    url = "https://ossci-datasets.s3.amazonaws.com/mnist/"
    checksums = """f68b3c2dcbeaaa9fbdd348bbdeb94873 d53e105ee54ea40749a09fcbcd1e9432
        9fb629c4189551a2d022fa330f9573f3 ec29112dd5afa0611ce80d1b7f02629c"""
    classes: Any = [f"{n} - {name}" for n, name in enumerate(DIGITS.split())]  # noqa: RUF012
    train_data = test_data = property(lambda self: self.data)
    train_labels = test_labels = property(lambda self: self.targets)

    def _downloaded(self, missing: list[str]) -> Any:
        for name in missing:
            md5 = self.checksums.split()[self.files.index(name)]
            yield name, gzip.decompress(_loaded(f"{self.url}{name}.gz", md5))

    def _read(self) -> tuple[Any, Any]:
        images, labels = self.files[:2] if self.train else self.files[2:]
        pixels = np.fromfile(self.place / images, np.uint8)[16:]
        classes = np.fromfile(self.place / labels, np.uint8)[8:]
        if len(pixels) != 784 * len(classes) or not len(classes):
            raise RuntimeError(f"{self.place}: {images} does not fit {labels}: load both again")
        return torch.tensor(pixels.reshape(-1, 28, 28)), torch.tensor(classes).long()


class FashionMNIST(MNIST):
    """Pictures of clothes in the format of MNIST, from ``root/FashionMNIST/raw``."""

    folder = "FashionMNIST/raw"
    url = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"
    checksums = """8d4fb7e6c68d591d4c3dfef9ec88bf0d 25c81989df183df01b3e8a0aad5dffbe
        bef4ecab320f06d8554ea6380940ec79 bb300cfdad3c16e7a12a480ee83cd310"""
    classes = CLOTHES.split(",")


class _Arrays(pickle.Unpickler):
    """Reads the pickles of CIFAR, which hold arrays, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        path = f"{module.partition('.')[0]}.{name}"
        if path not in ("numpy._reconstruct", "numpy.ndarray", "numpy.dtype", "_codecs.encode"):
            raise ValueError(f"CIFAR10: a file asks for {module}.{name}, which none of them needs")
        return super().find_class(module, name)


class CIFAR10(_Downloaded):
    """Small coloured images of ten classes, from ``root/cifar-10-batches-py``."""

    folder = "cifar-10-batches-py"
    files = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch", "batches.meta")
    url = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
    tgz_md5 = "c58f30108f718f92721af3b95e74349a"

    def _downloaded(self, missing: list[str]) -> Any:
        with tarfile.open(fileobj=io.BytesIO(_loaded(self.url, self.tgz_md5))) as archive:
            for name in missing:
                yield name, archive.extractfile(f"{self.folder}/{name}").read()

    def _read(self) -> tuple[Any, Any]:
        files = [io.BytesIO((self.place / name).read_bytes()) for name in self.files]
        *train, test, meta = [_Arrays(file, encoding="latin1").load() for file in files]
        chosen, self.classes = train if self.train else [test], meta["label_names"]
        rows = np.concatenate([batch["data"] for batch in chosen]).reshape(-1, 3, 32, 32)
        return rows.transpose(0, 2, 3, 1), [n for batch in chosen for n in batch["labels"]]


def default_loader(path: str) -> Any:
    """A coloured image of a file."""
    with Image.open(path) as image:  # a TIFF stays open otherwise
        return image.convert("RGB")


class ImageFolder(VisionDataset):
    """Images in a folder for each class, such as ``root/dog/1.png``."""

    def __init__(
        self, root: Any, transform: Any = None, target_transform: Any = None,
        loader: Any = default_loader, is_valid_file: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(root, transform, target_transform)
        self.loader, fits = loader, is_valid_file or (lambda p: p.lower().endswith(IMG_EXTENSIONS))
        self.classes = sorted(entry.name for entry in Path(self.root).iterdir() if entry.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        found = [p for p in sorted(Path(self.root).glob("*/**/*")) if p.is_file() and fits(str(p))]
        self.targets = [self.class_to_idx[p.relative_to(self.root).parts[0]] for p in found]
        self.samples = self.imgs = [*zip(map(str, found), self.targets, strict=True)]
        empty = [name for name, i in self.class_to_idx.items() if i not in self.targets]
        if empty or not self.classes:
            raise FileNotFoundError(f"ImageFolder: no images of {empty or 'classes'}: {self.root}")

    def _item(self, index: Any) -> tuple[Any, int]:
        path, target = self.samples[index]
        return self.loader(path), target

    def __len__(self) -> int:
        return len(self.samples)
