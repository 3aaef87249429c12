"""Every public name and module of PyTorch is here, or says why it is not, in three ways."""

import ast
import functools
import importlib
import re
import types
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minigrad.torch as door  # noqa: E402
from minigrad.torch.absent import ABSENT, UNKNOWN, why_not  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(autouse=True, scope="module")
def asked_once() -> Iterator[None]:
    """Each name is asked for in several ways, and looked for among all patterns once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("minigrad.torch.modules.why_not", functools.cache(why_not))
        yield


NOT_WRITTEN = """
alpha_dropout_ binomial conj_physical_ dropout_ feature_alpha_dropout feature_alpha_dropout_
feature_dropout feature_dropout_ geqrf gradient histogramdd i0 i0_ igamma igammac index_reduce
kaiser_window legacy_contiguous_format lobpcg lu_solve nanmedian nanquantile
orgqr ormqr pca_lowrank quasirandom rrelu_ segment_reduce signal svd_lowrank threshold_
triangular_solve windows
"""
"""What has no reason of its own in `torch` itself."""


def public(module: Any) -> Iterator[str]:
    """The names of a module that are PyTorch's own."""
    for name in dir(module):
        value = getattr(module, name, None)
        attribute = "__name__" if isinstance(value, types.ModuleType) else "__module__"
        home = str(getattr(value, attribute, "torch")).partition(".")[0]
        if home in ("torch", "None") and value is not torch and not name.startswith("_"):
            yield name


@functools.cache
def names_of_pytorch() -> dict[str, list[str]]:
    """The public modules that are reached from `torch`, and their names."""
    found: dict[str, list[str]] = {}

    def walk(module: Any) -> None:
        found[module.__name__.removeprefix("torch").lstrip(".")] = names = [*public(module)]
        for name in names:
            value = getattr(module, name)
            if (
                isinstance(value, types.ModuleType)
                and value.__name__ == f"{module.__name__}.{name}"
            ):
                walk(value)

    walk(torch)
    return found


@functools.cache
def files_of_pytorch() -> set[str]:
    """The modules that have a file."""
    root = Path(torch.__file__).parent
    paths = [file.relative_to(root) for file in root.rglob("*.py")]
    return {".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in paths}


def reason(error: BaseException) -> str:
    """The reason that an error of ours gives for a name."""
    return str(error).partition(": ")[2].partition("; did you mean")[0]


def imported(path: str) -> Any:
    return importlib.import_module(f"minigrad.torch.{path}".rstrip("."))


def test_a_module_of_pytorch_is_reached_alike() -> None:
    """By ``torch.a`` and ``import torch.a``: a module, or the same reason twice."""
    for path in filter(None, names_of_pytorch()):
        try:
            module = imported(path)
        except ImportError as error:
            assert reason(error) in {*ABSENT, UNKNOWN}, error
            with pytest.raises(AttributeError) as caught:
                functools.reduce(getattr, path.split("."), door)
            assert reason(caught.value) in {*ABSENT, UNKNOWN}, caught.value
        else:
            value = functools.reduce(getattr, path.split("."), door)
            assert value.__name__ == module.__name__ or path in ("cuda.amp", "cpu.amp")


def test_a_name_of_pytorch_is_reached_alike() -> None:
    """By ``torch.a.name`` and ``from torch.a import name``: a value, or the same reason twice."""
    here, unknown = 0, set()
    for path, names in names_of_pytorch().items():
        try:
            module = imported(path)
        except ImportError:
            continue
        for name in names:
            line = f"from minigrad.torch{path and '.' + path} import {name}"
            try:
                value = getattr(module, name)
            except AttributeError as error:
                with pytest.raises(ImportError) as caught:
                    exec(line, {})
                assert str(caught.value) == str(error)
                assert f"{name!r}: " in str(error)
                assert reason(error) in {*ABSENT, UNKNOWN}, error
                if not path and reason(error) == UNKNOWN:
                    unknown.add(name)
            else:
                space: dict[str, Any] = {}
                exec(line, space)
                assert space[name] is value
                here += 1
    assert here > 1600
    assert unknown <= {*NOT_WRITTEN.split()}


def test_a_module_with_a_file_is_here_or_says_why_not() -> None:
    """Those that ``import torch`` does not load too."""
    skipped = ("testing", "_", "test", "include", "lib", "share", "bin")
    public = [
        path
        for path in files_of_pytorch()
        if not any(part.startswith(skipped) for part in path.split("."))
    ]
    here = 0
    for name in sorted(public):
        try:
            imported(name)
            here += 1
        except ImportError as error:
            assert reason(error), error
    assert len(public) > 700
    assert here > 120


def test_a_method_that_is_not_here_is_an_error_that_names_it() -> None:
    public = [name for name in dir(torch.Tensor) if not name.startswith("_")]
    absent = [name for name in public if not hasattr(door.Tensor, name)]
    assert len(public) - len(absent) > 490
    for name in absent:
        with pytest.raises(AttributeError, match=f"'Tensor' object has no attribute '{name}'"):
            getattr(door.ones(2), name)


def test_each_pattern_is_for_a_name_of_pytorch_that_is_not_here() -> None:
    paths = {*files_of_pytorch(), *dir(torch.Tensor)}
    paths |= {"minigrad.torchvision", "minigrad.torchvision.transforms"}
    for path, names in names_of_pytorch().items():
        paths |= {*names, *(f"{path}.{name}".lstrip(".") for name in names)}
    patterns = " ".join(ABSENT.values()).split()
    unused = [p for p in patterns if not any(fnmatchcase(path, p.lstrip(".")) for path in paths)]
    assert unused == []


LINES = [
    ("from minigrad.torch import randm", "did you mean"),
    ("from minigrad.torch.nn import Lineer", "not a name of PyTorch's; did you mean Linear"),
    (
        "from minigrad.torch.nn import Lineer, Linear",
        "not a name of PyTorch's; did you mean Linear",
    ),
    ("from minigrad.torch.fft import plan", "there is no Fourier transform"),
    ("import minigrad.torch.onnx2", "not written, or not a name"),
]


@pytest.mark.parametrize(("line", "told"), LINES)
def test_an_import_line_says_why_not(line: str, told: str) -> None:
    with pytest.raises(ImportError, match=told):
        exec(line, {})


def test_views_have_the_names_of_the_other_module() -> None:
    for path, name in (
        ("nn.modules.batchnorm", "_BatchNorm"), ("nn.modules.utils", "_pair"),
        ("nn.modules.loss", "_Loss"), ("autograd.function", "once_differentiable"),
        ("distributions.normal", "Normal"), ("optim.adamw", "AdamW"), ("cuda.amp", "GradScaler"),
        ("utils.data.dataloader", "DataLoader"), ("optim.lr_scheduler", "_LRScheduler"),
        ("nn.attention", "SDPBackend"), ("nn.parallel", "DistributedDataParallel"),
        ("jit.annotations", "List"), ("nn.parameter", "Parameter"), ("functional", "norm"),
        ("_dynamo.config", "suppress_errors"), ("nn.utils.stateless", "functional_call"),
        ("_C", "_LinAlgError"), ("_jit_internal", "Optional"),
        ("_vmap_internals", "_vmap"), ("jit", "ScriptModule"),
        ("utils.data._utils.collate", "default_collate"), ("utils.model_zoo", "load_url"),
        ("utils.data.distributed", "DistributedSampler"), ("optim.optimizer", "required"),
        ("utils.checkpoint", "set_device_states"), ("jit", "script_method"),
        ("cuda", "_initialized"),
    ):  # fmt: skip
        assert hasattr(imported(path), name)
    with pytest.raises(ModuleNotFoundError, match="fused"):
        imported("nn.utils.fusion")
    assert door.nn.modules.activation.ReLU is door.nn.ReLU
    x = door.ones(2, dtype=door.float64, requires_grad=True)
    assert imported("autograd.gradcheck").gradcheck(door.sin, (x,))
    assert door.autograd.gradcheck(door.sin, (x,))
    assert isinstance(door.nn.BatchNorm2d(2), door.nn.modules.batchnorm._BatchNorm)
    assert imported("nn.utils.weight_norm").weight_norm
    layer: Any = door.nn.utils.weight_norm(door.nn.Linear(2, 2))  # not the module of this name
    assert layer.weight.shape == (2, 2)


def test_the_version_passes_gates() -> None:
    version = door.__version__
    assert version >= "1.8"
    assert version > (2, 2)
    assert version < "2.20.1"
    assert version <= "2.13"
    assert version == "2.13.0"
    assert str(version) == torch.__version__.partition("+")[0] + "+cpu"
    assert version != "2.1"
    assert version >= types.SimpleNamespace(vstring="1.5")  # as distutils' LooseVersion
    assert tuple(map(int, version.split(".")[:2])) >= (1, 10)
    assert door.version.cuda is None
    assert not door.accelerator.is_available()


# What functions say that they give ---------------------------------------------------------------

FAMILIES = Path(__file__).resolve().parents[2] / "minigrad" / "tensors" / "functions"
PYTORCHS = Path(torch.__file__).parent / "_C" / "_VariableFunctions.pyi"


def results_of(*files: Path) -> dict[str, set[str]]:
    """What each function of some files gives, as annotated, in all overloads."""
    found: dict[str, set[str]] = {}
    for node in (node for file in files for node in ast.parse(file.read_text("utf-8")).body):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
            what = re.sub(r"\b_(?=int|bool|float|dtype)", "", ast.unparse(node.returns or node))
            what = what.replace("np.dtype[Any]", "dtype")
            several = re.match(r"tuple|list|torch\.return_types|(?!Tensor|Any)[A-Z]", what)
            found.setdefault(node.name, set()).add("several" if several else what)
    return {name: kinds - {"Any"} if len(kinds) > 1 else kinds for name, kinds in found.items()}


def test_results_are_what_pytorchs_own_types_say() -> None:
    own, other = results_of(*FAMILIES.glob("*.py")), results_of(PYTORCHS)
    both = own.keys() & other.keys()
    assert len(both) > 150
    assert {name: own[name] for name in both if own[name] != other[name]} == {"qr": {"Any"}}
