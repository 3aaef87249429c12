"""The parts of PyTorch that are left out, and why: a table of patterns."""

import re
from typing import NoReturn

__all__ = ["not_here", "why_not"]

ABSENT = r"""
.*([qQ]uant|fbgemm|fake_q|dequant).*|(ao|quantization|nn\.(quantiz.*|qat|intrinsic))(\..*)?|q_.*|.*qscheme|.*int_repr|choose_qparams.*|quint.*|qint.* => there is no quantization
(.*\.)?(conj|angle|real|imag|polar|complex\d*|chalf|cfloat|cdouble|.*_complex.*|view_as_real.*|.*conj.*|resolve_neg|is_neg|eigvals|eig|ComplexType|ComplexDoubleStorage|ComplexFloatStorage) => there are no complex numbers
(.*\.)?(fft|stft|istft)(\..*)? => there is no Fourier transform
(.*\.)?([hds]?smm|hspmm|spmm|saddmm|sspaddmm|sparse.*|.*sparse.*|coalesce|is_coalesced|c?col_indices.*|c?row_indices.*|indices_copy|values_copy|dense_dim|indices|values|SparseAdam) => tensors are dense
(nn|nn\.functional|nn\.init)\..*3d(_with_indices|_)?|.*(conv|max_pool|avg_pool|max_unpool|conv_transpose|grid_sampler_)3d => no layer has three spatial axes
cuda(\..*)?|.*(cudnn|miopen|cuda|vulkan|gpu|CUDA|_ipu|_xla|xpu|ipu|mtia|maia).*|(mtia|mps|xpu|accelerator|cpu)(\..*)?|Stream|Event|StreamObjType|DeviceObjType|.*(pin_memory|record_stream|is_mps)|fork|wait|get_device_module|OutOfMemoryError|AcceleratorError => everything runs on the CPU
(.*\.)?(ctc_loss|CTCLoss) => there is no CTC: no loss aligns sequences here
(.*\.)?(chunk_vmap|debug_unwrap|rearrange) => transforms of functions are those of torch.func: grad, vjp, jvp, jacrev, hessian, vmap
(.*\.)?(jit|fx|export|package|library|_C|_jit.*|ScriptModule|ScriptFunction|dynamo|nativert|utils\.(hooks|jit|cpp_.*|mobile_.*|bundled.*|model_dump|hipify.*|file_baton|show_pickle))\..*|export|cond|ops|classes|.*Script.*|.*Type|.*(IR|JIT|Graph|Jit).*|.*(import_ir|parse_|unify|merge_type).*|Code|Block|Value|Use|Node|Argument.*|FunctionSchema|CompilationUnit|ErrorReport|Gradient|IODescriptor|CallStack|Capsule|Await.*|Future|FileCheck|.*Logger|ExecutionPlan|TracingState|OperatorInfo|SchemaInfo|AliasDb|StaticModule|DeepCopyMemoTable|sym_.*|Sym.*|PyTorchFile.*|.*StorageContext|ThroughputBenchmark|Benchmark.*|Tag|DispatchKey.*|.*ExcludeDispatch.*|DisableTorch.*|AggregationType|AVG|SUM|FatalError|cpp|BufferDict|(Module|Parameter)Dict|autocast_.*|clear_autocast.*|init_num_threads|thread_safe_generator|compiled_with.* => there is no compiler of graphs; functions run as they are
(.*\.)?(.*mkldnn.*|.*_copy|batch_norm_.*|native_.*|.*rnn_(relu|tanh|relu_cell|tanh_cell)|gru|lstm|gru_cell|lstm_cell|batch_norm|instance_norm|embedding_bag|embedding_renorm_|fused_.*|norm_except_dim|.*unsafe_.*|constant_pad_nd|conv_tbc|convolution|affine_grid_generator|grid_sampler.*|max_pool1d_with_indices|nonzero_static|empty_permuted|slice_inverse|.*_with_indices|boolean_dispatch|assert_int_or_pair|.*torch_function.*|.*_notes|DType|.*scaled_.*mm|grouped_mm|ScalingType|SwizzleType|BroadcastingList\d|GRID_SAMPLE.*|factory_kwargs|hash_tensor|frobenius_norm|nuclear_norm|kl_div|.*_loss|binary_cross_entropy_with_logits|from_file|is_distributed|is_storage|is_same_size|get_device|can_cast|const_data_ptr|dim_order|module_load|output_nr|grad_dtype|reinforce|resize.*|set_|is_set_to|to_padded_tensor|is_nested|storage_type|volatile|as_subclass|symeig|lu|solve|lstsq|new_empty_strided|map2_|map_|index) => it is one of PyTorch's inner functions: torch.nn and torch.nn.functional have what models use
(.*\.)?(as_strided.*|empty_strided|select_scatter|slice_scatter|diagonal_scatter) => no view is made by strides: index the tensor
(.*\.)?(TypedStorage|UntypedStorage|.*Storage|storage|untyped_storage) => memory is NumPy's: x.numpy() shares it
(.*\.)?(uint(16|32|64)|u?int[1-7]|bits?\d*x?\d*|bit|float[48]_.*|.*qint.*|bfloat16) => its dtype is not NumPy's: use float32
distributed(\..*)?|.*(DistributedDataParallel|DistributedSampler|ZeroRedundancy.*|nn\.parallel.*)|utils\.data\.distributed|(backends\..*|numa|monitor|futures|multiprocessing\..*)(\..*)? => a model runs in one process: minigrad.distributed is for several
hub\..*|utils\.model_zoo(\..*)? => nothing is downloaded: load files with torch.load
onnx\..* => minigrad.onnx.export(model, example_inputs, path) writes ONNX files
(profiler|autograd\.profiler.*|utils\.(benchmark|flop_counter|throughput.*|module_tracker|viz|collect_env))(\..*)? => minigrad.debugging.profile measures a block
nn\.utils\.(prune|fusion|fuse.*|init|memory_format|skip_init|convert_conv.*)(\..*)? => layers are neither pruned, fused nor stored in another order
nn\.attention\..* => attention has one implementation: F.scaled_dot_product_attention
.*(forward_ad|dual_level).* => forward mode is torch.func.jvp
(distributions|distributions\..*)\..* => there are fewer distributions here: see dir(torch.distributions)
(special|linalg|optim|nn|nn\.utils|nn\.functional|nn\.init|autograd|utils|utils\.data|random)(\..+)? => not written yet; dir() shows all names
_[^.]*(\..*)? => a private module of PyTorch's
.* => it is not here, or it is not a name of PyTorch's; dir() shows all names
"""
"""Patterns of names and modules that stay out, and why. The first that fits answers."""


def why_not(path: str) -> str:
    """Why a name or a module of PyTorch's is not here; "" if that is not known."""
    lines = (line.rpartition(" => ") for line in ABSENT.strip().splitlines())
    return next((why for pattern, _, why in lines if re.fullmatch(pattern, path)), "")


def not_here(module: str, name: str) -> NoReturn:
    """An AttributeError for a name that a module, such as "minigrad.torch.nn", does not have."""
    path = f"{module}.{name}".removeprefix("minigrad.torch.")
    why = "" if name.startswith("__") else why_not(path)
    raise AttributeError(f"{module} has no {name!r}" + (f": {why}" if why else ""))
