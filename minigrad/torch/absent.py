"""The names and modules of PyTorch that are left out, and why: one table."""

from __future__ import annotations

from fnmatch import fnmatchcase

__all__ = ["ABSENT", "CALLED", "UNKNOWN", "why_not"]

ABSENT = {
    "there is no quantization": """
        ao quantization nn.qat nn.quantiz* nn.intrinsic *quantize* *fake_quant* quantized* fbgemm*
        q_* qint* quint* qscheme int_repr per_channel_* per_tensor_* choose_qparams*""",
    "there are no complex numbers": """
        *complex* *Complex* imag polar cfloat cdouble chalf view_as_real* is_neg
        resolve_neg eig eigvals""",
    "there is no Fourier transform": "fft ifft rfft irfft stft istft",
    "tensors are dense": """
        masked nested jagged *sparse* *Sparse* hsmm dsmm hspmm smm spmm saddmm sspaddmm *coalesce*
        *_indices *_indices_copy indices* values* dense_dim is_nested to_padded_tensor""",
    "there are the common transforms: write it as a function, in transforms.Lambda": """
        minigrad.torchvision.transforms""",
    "of torchvision there are transforms, datasets and utils": "minigrad.torchvision",
    "no layer has three spatial axes": "*3d *3d_with_indices",
    "there is no mixed precision": "amp *autocast*",
    "everything runs on the CPU": """
        cuda cpu mps mtia xpu accelerator *cuda* *cudnn* *miopen* *vulkan* Stream Event *ObjType
        get_device_module OutOfMemoryError AcceleratorError fork wait *pin_memory record_stream""",
    "arrays are NumPy's, there is no other backend": "backends has_*",
    "no tensor has this dtype: use torch.float32 or torch.int64": """
        bfloat16 bit bits* int? uint? uint16 uint32 uint64 float4_* float8_* BFloat16Tensor""",
    "memory is NumPy's: x.numpy() shares it": "*[sS]torage *StorageBase from_file",
    "no view is made by strides: index the tensor": "as_strided_* *empty_strided dim_order",
    "a model runs in one process: minigrad.distributed is for several": """
        distributed multiprocessing nn.parallel utils.data.distributed futures monitor
        is_distributed share_memory* *DistributedDataParallel *DistributedSampler SyncBatchNorm""",
    "nothing is downloaded: load files with torch.load": "hub utils.model_zoo",
    "minigrad.onnx.export(model, args, path) writes ONNX files": "onnx",
    "minigrad.debugging.Profile measures a block": """
        profiler autograd.profiler* utils.*hroughput* utils.collect_env utils.benchmark""",
    "transforms of functions are torch.func's: grad, vjp, jvp, jacrev, hessian, vmap": """
        func autograd.forward_ad""",
    "layers are neither fused nor stored in another order": """
        nn.utils.fus* nn.utils.init nn.utils.memory_format nn.utils.skip_init
        nn.utils.convert_conv*""",
    "attention has one implementation: F.scaled_dot_product_attention": "nn.attention",
    "there is no TorchScript: save and load a state_dict": "jit.load jit.save",
    "there is no compiler of graphs; functions run as they are": """
        jit fx export library package compiler ops classes overrides cond while_loop
        sym_* cpp parse_* merge_type* unify_type* import_ir* utils.backend_registration
        utils.backcompat compiled_with* thread_safe_generator""",
    "no C++ is compiled": "utils.cpp_*",
    "batches are made by DataLoader": "utils.data.datapipes utils.data.graph* *DataPipe",
    "an inner function: torch.nn and torch.nn.functional have what models use": """
        *mkldnn* *_copy native_* batch_norm_* *rnn_* gru* lstm* *unsafe_* fused_* .*_norm .*_loss
        *_with_indices grid_sampler* affine_grid_generator .embedding* constant_pad_nd conv_tbc
        convolution .kl_div .binary_cross_entropy_with_logits norm_except_dim nonzero_static
        empty_permuted slice_inverse assert_int_or_pair *torch_function* *_notes *scaled_*mm
        hash_tensor resize_as_ can_cast classproperty get_file_path""",
    "PyTorch has removed it: use torch.linalg": ".solve .lstsq symeig",
    "it is of PyTorch's engine in C++": ".[A-Z]* init_num_threads *anomaly*_enabled prepare_*",
    "it is a private name of PyTorch's": "._*",
}  # fmt: skip
"""Reasons, and what they are for; the first one that fits answers.

Names are meant wherever they are, after a point in `torch` alone; modules with all that is in them.
"""

CALLED = """
    cuda.*Tensor nn.*[A-Z]*3d nn.*SyncBatchNorm nn.*DistributedDataParallel
    distributed.nn.*all_* distributed.nn.*broadcast distributed.nn.*gather
    distributed.nn.*reduce* distributed.nn.*scatter distributed.all_* distributed.barrier
    distributed.broadcast distributed.get_rank distributed.get_world_size
    distributed.*_process_group multiprocessing.spawn hub.*load* hub.get_dir
    utils.data.*DistributedSampler utils.model_zoo.*load* jit.ScriptFunction jit.load jit.save
    profiler.profile fx.Proxy _C.Graph _C.Value utils.cpp_extension.*load*
    utils.cpp_extension.*Extension distributions.NegativeBinomial fft.*fft* fft.*shift fft.*freq"""
"""Those that programs import, or ask for in `isinstance`: they are an error when called."""

UNKNOWN = "not written, or not a name of PyTorch's"


def why_not(path: str) -> str:
    """Why a name or a module of PyTorch's, such as "nn.quantized.Linear", is not here."""
    parts = path.split(".")
    names = {f".{path}", parts[-1], *(".".join(parts[: end + 1]) for end in range(len(parts)))}
    for reason, patterns in ABSENT.items():
        if any(fnmatchcase(name, pattern) for pattern in patterns.split() for name in names):
            return reason
    return UNKNOWN
