"""PyTorch's modules that need no file here: two tables and a finder.

A module is a view, whose names are those of another module, or made of lines. The finder serves
``import minigrad.torch.a.b``, and through it ``import torch.a.b``.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from enum import EnumType, IntEnum
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any, Final

from minigrad.torch.absent import not_here, why_not
from minigrad.torch.build import made
from minigrad.torch.helpers import assert_close, refused

__all__ = ["Modules", "missing"]

VIEWS = """
: functional types
amp: amp.{autocast_mode grad_scaler}  cuda.amp  cuda.amp.{autocast_mode grad_scaler}  cpu.amp
autograd: autograd.{anomaly_mode function grad_mode gradcheck variable}
distributions: distributions.{bernoulli beta categorical dirichlet distribution exponential gamma independent kl laplace log_normal multivariate_normal normal one_hot_categorical poisson uniform}
func: _functorch  nn.utils.stateless
multiprocessing <- multiprocessing: multiprocessing
nn: nn.{modules parallel parameter}  nn.parallel.{distributed data_parallel}  nn.modules.{activation batchnorm channelshuffle container conv distance dropout flatten fold instancenorm lazy linear loss module normalization padding pixelshuffle pooling rnn sparse transformer upsampling utils}
nn.utils: nn.utils.{clip_grad convert_parameters spectral_norm weight_norm}
optim: optim.{adadelta adagrad adam adamax adamw asgd lbfgs nadam optimizer radam rmsprop rprop sgd}
profiler: autograd.profiler
tensorboardX <- tensorboardX: utils.tensorboard  utils.tensorboard.writer
typing <- typing: jit.annotations
utils.data: utils.data.{dataloader dataset sampler}
"""
"""Modules, after the one whose names they have; ``<-`` is before the names of a foreign one."""

LINES = """
_dynamo.config.cache_size_limit = 8
_dynamo.config.suppress_errors = False
_dynamo.reset() => None
_inductor.config.coordinate_descent_tuning = False
accelerator.current_accelerator(check_available=False) => None
accelerator.current_device_index() => refused("accelerator", "everything runs on the CPU")
accelerator.device_count() => 0
accelerator.is_available() => False
backends.cuda.is_built() => False
backends.cuda.matmul.{allow_bf16_reduced_precision_reduction allow_fp16_reduced_precision_reduction allow_tf32} = False
backends.cuda.sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True) => nullcontext()
backends.cuda.{enable_cudnn_sdp enable_flash_sdp enable_math_sdp enable_mem_efficient_sdp}(*args, **options) => None
backends.cudnn.flags(*args, **kwargs) => nullcontext()
backends.cudnn.is_available() => False
backends.cudnn.version() => None
backends.cudnn.{allow_tf32 benchmark deterministic enabled} = False
backends.mkl.is_available() => False
backends.mkldnn.enabled = False
backends.mkldnn.is_available() => False
backends.mps.{is_available is_built}(*args, **options) => False
backends.openmp.is_available() => False
compiler.config.force_disable_caches = False
compiler.disable(fn=None, recursive=True, **options) => unchanged if fn is None else fn
compiler.{cudagraph_mark_step_begin reset}(*args, **options) => None
compiler.{is_compiling is_dynamo_compiling}(*args, **options) => False
cpu.device_count() => 1
cpu.is_available() => True
cpu.synchronize(device=None) => None
cuda.amp.{custom_bwd custom_fwd} = unchanged
cuda.random.{manual_seed manual_seed_all}(*args, **options) => None
cuda.{device_count max_memory_allocated max_memory_reserved memory_allocated memory_reserved}(*args, **options) => 0
cuda.{empty_cache manual_seed manual_seed_all reset_peak_memory_stats synchronize}(*args, **options) => None
cuda.{is_available is_bf16_supported is_initialized}(*args, **options) => False
distributed.{all_gather all_reduce barrier broadcast destroy_process_group get_rank get_world_size init_process_group}(*args, **options) => refused("distributed", "a model runs in one process: minigrad.distributed is for several")
distributed.{is_available is_initialized}(*args, **options) => False
fx.wrap(fn_or_name) => fn_or_name
hub.get_dir() => refused("hub", "nothing is downloaded: load files with torch.load")
jit.Final = Final
jit.freeze(mod, preserved_attrs=None, optimize_numerics=True) => mod
jit.load(f, map_location=None) => refused("jit.load", "a program of TorchScript cannot be read: load a state_dict")
jit.optimize_for_inference(mod, other_methods=None) => mod
jit.save(m, f) => refused("jit.save", "there is no TorchScript: save model.state_dict()")
jit.trace(func, example_inputs=None, **options) => func
jit.{_overload_method export ignore script script_if_tracing unused} = unchanged
jit.{is_scripting is_tracing}(*args, **options) => False
mps.device_count() => 0
mps.{empty_cache manual_seed synchronize}(*args, **options) => None
multiprocessing.get_all_sharing_strategies() => {"file_system"}
multiprocessing.get_sharing_strategy() => "file_system"
multiprocessing.set_sharing_strategy(new_strategy) => None
multiprocessing.spawn(fn, *args, **options) => refused("multiprocessing.spawn", "a model runs in one process: minigrad.distributed is for several")
nn.attention.SDPBackend = IntEnum("SDPBackend", "MATH FLASH_ATTENTION EFFICIENT_ATTENTION CUDNN_ATTENTION")
nn.attention.sdpa_kernel(backends, set_priority=False) => nullcontext()
nn.common_types.Tensor = Any
nn.common_types._size_1_t = Any
nn.common_types._size_2_t = Any
nn.common_types._size_3_t = Any
nn.common_types._size_any_t = Any
onnx.export(model, args=(), f=None, kwargs=None, *, input_names=None, output_names=None, dynamic_axes=None, **options) => export(model, args, f, input_names=input_names or (), output_names=output_names or (), dynamic_axes=dynamic_axes)
profiler.ProfilerActivity = IntEnum("ProfilerActivity", "CPU CUDA")
profiler.profile(*args, **options) => refused("profiler.profile", "minigrad.debugging.profile measures a block")
profiler.record_function(name, args=None) => nullcontext()
profiler.{schedule tensorboard_trace_handler}(*args, **options) => None
testing.assert_allclose(actual, expected, rtol=None, atol=None, equal_nan=True, msg="") => assert_close(actual, expected, rtol, atol, equal_nan, False)
testing.assert_close(actual, expected, *, allow_subclasses=True, rtol=None, atol=None, equal_nan=False, check_device=True, check_dtype=True, check_layout=True, check_stride=False, msg=None) => assert_close(actual, expected, rtol, atol, equal_nan, check_dtype)
torch_version.TorchVersion = Version
types.Device = Any
types.Number = Any
utils.deterministic.fill_uninitialized_memory = False
utils.dlpack.from_dlpack(ext_tensor) => from_dlpack(ext_tensor)
utils.dlpack.to_dlpack(tensor) => tensor.__dlpack__()
version.__version__ = Version("2.13.0")
version.debug = False
version.git_version = "minigrad"
version.{cuda hip} = None
xpu.device_count() => 0
xpu.is_available() => False
xpu.{empty_cache manual_seed_all}(*args, **options) => None
"""
"""The names of modules without a file, or views beside the names of the other module.

Names in braces have the same value.
"""


def _lines() -> Iterator[tuple[str, str, str]]:
    """For each name of the lines its module, the call or the name, and the value."""
    for line in LINES.strip().splitlines():
        left, value = re.split(" =>? ", line, maxsplit=1)
        several = re.fullmatch(r"(.*)\.\{(.*)\}(.*)", left)
        call, bracket, rest = left.partition("(")
        path, _, name = call.rpartition(".")
        if several:
            yield from ((several[1], each + several[3], value) for each in several[2].split())
        else:
            yield path, name + bracket + rest, value


BOTH = """
adaptive_avg_pool1d adaptive_max_pool1d alpha_dropout avg_pool1d bilinear celu celu_ channel_shuffle conv1d conv2d
conv_transpose1d conv_transpose2d cosine_similarity dropout group_norm hardshrink layer_norm max_pool1d max_pool2d
pairwise_distance pixel_shuffle pixel_unshuffle prelu rms_norm rrelu selu selu_ threshold
"""
"""Functions of torch.nn.functional that torch has too."""

ROOT = "minigrad.torch"


class Version(str):
    """A version that compares by its numbers, with text and with tuples of numbers."""

    def _ordered(self, compare: Callable[[Any, Any], bool], other: Any) -> bool:
        def numbers(version: Any) -> tuple[int, ...]:
            parts = version.split("+")[0].split(".") if isinstance(version, str) else version
            found = [int("0" + re.sub(r"\D.*", "", str(part))) for part in parts]
            return tuple(found + [0] * (4 - len(found)))

        return compare(numbers(self), numbers(other))


for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    _compare = getattr(__import__("operator"), _name)
    setattr(
        Version, f"__{_name}__", lambda self, other, by=_compare: Version._ordered(self, by, other)
    )
Version.__hash__ = str.__hash__  # type: ignore[method-assign]


def unchanged(function: Any = None, *args: Any, **options: Any) -> Any:
    """The function itself; called without one, a decorator that leaves it as it is."""
    return unchanged if function is None else function


def missing(module: str) -> Callable[[str], Any]:
    """The `__getattr__` of a module: its modules, or an AttributeError that says why not."""
    within = module.removeprefix(ROOT).lstrip(".")

    def attribute(name: str) -> Any:
        path = f"{within}.{name}".lstrip(".")
        if path in _KNOWN or path in _FILES:
            return importlib.import_module(f"{ROOT}.{path}")
        not_here(module, name)

    return attribute


class View(ModuleType):
    """A module with names of its own and those of another one."""

    target = ""

    def __getattr__(self, name: str) -> Any:
        path = f"{self.__name__.removeprefix(ROOT).lstrip('.')}.{name}"
        if self.target and path not in _KNOWN and not name.startswith("__"):
            try:
                return getattr(importlib.import_module(self.target), name)
            except ModuleNotFoundError as error:
                if error.name != self.target:
                    raise
                raise ImportError(
                    f"{self.__name__} is a view of {self.target}, which is not installed: "
                    f"pip install {self.target}"
                ) from None
            except AttributeError:
                pass
        return missing(self.__name__)(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that the module is named after: importing it hides the function."""
        return vars(self)[self.__name__.rpartition(".")[2]](*args, **kwargs)

    def __dir__(self) -> list[str]:
        other = dir(importlib.import_module(self.target)) if self.target else []
        return sorted({*vars(self), *other})


class Modules(MetaPathFinder, Loader):
    """Finds the modules of the tables."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """The spec of a module of the tables; None for others."""
        name = fullname.removeprefix(f"{ROOT}.")
        if name == fullname:
            return None
        if name in _KNOWN:
            return ModuleSpec(fullname, self, is_package=True)
        if not PathFinder.find_spec(fullname, path) and (why := why_not(name)):
            raise ModuleNotFoundError(f"{ROOT} has no module torch.{name}: {why}", name=fullname)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """An empty view."""
        return View(spec.name, "As PyTorch's.")

    def exec_module(self, module: ModuleType) -> None:
        """Put the lines of the module into it."""
        assert isinstance(module, View)
        path = module.__name__.removeprefix(f"{ROOT}.")
        parent, _, last = module.__name__.rpartition(".")
        hidden = vars(sys.modules[parent]).get(last)
        if hidden is not None and not isinstance(hidden, ModuleType):
            setattr(module, last, hidden)
        module.target = _KNOWN[path]
        for place, call, value in _lines():
            if place == path:
                made_of = made(f"{call} => {value}", _names(), module.__name__) if "(" in call else (
                    eval(value, _names())
                )  # fmt: skip
                if isinstance(made_of, EnumType) and "." not in made_of.__module__:  # made here
                    made_of.__module__ = module.__name__
                setattr(module, call.partition("(")[0], made_of)


def _names() -> dict[str, Any]:
    from minigrad.autograd import GradFn, saved_tensors_hooks
    from minigrad.onnx import export
    from minigrad.tensors.dlpack import from_dlpack

    return {
        "Any": Any, "Final": Final, "IntEnum": IntEnum, "Version": Version,
        "assert_close": assert_close, "nullcontext": nullcontext, "refused": refused,
        "unchanged": unchanged, "GradFn": GradFn, "export": export, "from_dlpack": from_dlpack,
        "saved_tensors_hooks": saved_tensors_hooks,
    }  # fmt: skip


_KNOWN: dict[str, str] = {}
"""The modules without a file, and whose names each has."""
_FILES = {"autograd.functional", "autograd.graph", "func", "serialization"}

for _line in VIEWS.strip().splitlines():
    _target, _, _views = _line.partition(":")
    _foreign = _target.partition(" <- ")[2]
    _plain = re.sub(
        r"(\S+)\.\{(.*?)\}", lambda m: " ".join(f"{m[1]}.{w}" for w in m[2].split()), _views
    )
    _KNOWN |= dict.fromkeys(_plain.split(), _foreign or f"{ROOT}.{_target}".rstrip("."))
for _place, _, _ in _lines():
    _parts = _place.split(".")
    for _i in range(len(_parts)):
        if ".".join(_parts[: _i + 1]) not in ("nn", "nn.utils", "autograd", "utils"):
            _KNOWN.setdefault(".".join(_parts[: _i + 1]), "")
if not any(isinstance(finder, Modules) for finder in sys.meta_path):
    sys.meta_path.insert(0, Modules())  # before folders that older versions left behind
