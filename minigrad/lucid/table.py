"""Where Lucid 3 is not PyTorch: its calls, with its names, order and defaults, and what they are.

On the right `T` is PyTorch's door, `F` its ``nn.functional``. A name that is not here means what it means
in PyTorch's door.
"""

FUNCTIONS = """
max(input, dim=None, keepdim=False) => T.amax(input, () if dim is None else dim, keepdim)
min(input, dim=None, keepdim=False) => T.amin(input, () if dim is None else dim, keepdim)
argmax(input, dim=None, keepdim=False) => T.argmax(input, -1 if dim is None else dim, keepdim)
argmin(input, dim=None, keepdim=False) => T.argmin(input, -1 if dim is None else dim, keepdim)
var(input, dim=None, keepdim=False, *, correction=1, unbiased=None) => T.var(input, dim, keepdim=keepdim, correction=correction if unbiased is None else int(unbiased))
std(input, dim=None, keepdim=False, *, correction=1, unbiased=None) => T.std(input, dim, keepdim=keepdim, correction=correction if unbiased is None else int(unbiased))
var_mean(input, dim=None, correction=1, keepdim=False) => T.var_mean(input, dim, keepdim=keepdim, correction=correction)
std_mean(input, dim=None, correction=1, keepdim=False) => T.std_mean(input, dim, keepdim=keepdim, correction=correction)
cumsum(input, dim=-1) => T.cumsum(input, dim)
cumprod(input, dim=-1) => T.cumprod(input, dim)
cummax(input, dim=-1) => T.cummax(input, dim)[0]
cummin(input, dim=-1) => T.cummin(input, dim)[0]
sort(input, dim=-1) => T.sort(input, dim)[0]
kthvalue(input, k, dim=-1, keepdim=False) => T.kthvalue(input, k, dim, keepdim)[0]
gather(input, indices, dim=-1) => T.gather(input, dim, indices)
scatter(input, dim, index, src, reduce=None) => T.scatter(input, dim, index, src) if reduce is None else T.scatter_reduce(input, dim, index, src, {"add": "sum"}[reduce])
take(input, indices) => T.take(input, indices)
transpose(input) => T.permute(input, tuple(range(input.ndim))[::-1])
flatten(input, start_axis=0, end_axis=-1) => T.flatten(input, start_axis, end_axis)
diagonal(input, offset=0, dim1=-2, dim2=-1) => T.diagonal(input, offset, dim1, dim2)
tril(input, k=0) => T.tril(input, k)
triu(input, k=0) => T.triu(input, k)
tile(input, reps) => T.tile(input, reps)
broadcast_to(input, shape) => T.broadcast_to(input, shape)
repeat(input, repeats, dim=None) => T.repeat_interleave(input, repeats, 0 if dim is None else dim)
expand(input, *sizes) => input.expand(*sizes)
view(input, *shape) => input.view(*shape)
contiguous(input) => input.contiguous()
detach(input) => input.detach()
pad(input, padding, mode="constant", value=0.0) => F.pad(input, padding, mode, value if mode == "constant" else None)
equal(input, other) => T.eq(input, other)
softmax(input, dim=None) => F.softmax(input, -1 if dim is None else dim)
log_softmax(input, dim=None) => F.log_softmax(input, -1 if dim is None else dim)
logsumexp(input, dim=None, keepdim=False) => T.logsumexp(input, tuple(range(input.ndim)) if dim is None else dim, keepdim)
where(cond, x, y) => T.where(cond, x, y)
searchsorted(sorted_seq, values, *, right=False) => T.searchsorted(sorted_seq, values, right=right)
bucketize(values, boundaries, *, right=False) => T.searchsorted(boundaries, values, right=right)
cov(input, correction=1) => T.cov(input, correction=correction)
addcmul(input, t1, t2, *, value=1.0) => T.addcmul(input, t1, t2, value=value)
addcdiv(input, t1, t2, *, value=1.0) => T.addcdiv(input, t1, t2, value=value)
bernoulli(p, *, size=None, generator=None) => T.bernoulli(p if size is None else T.full(tuple(size), float(p)), generator=generator)
normal(mean=0.0, std=1.0, *, size, generator=None) => T.normal(mean, std, size, generator=generator)
get_default_device() => T.device("cpu")
set_default_device(device) => T.zeros(0, device=device) is None or None
tensor(data, *, dtype=None, device=None, requires_grad=False) => T.tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)
compile(target=None, *, dynamic=False) => T.compile(target)
is_tensor(obj) => isinstance(obj, Tensor)
save(obj, path) => T.save(obj, path)
load(path, weights_only=True) => T.load(path, weights_only=weights_only)
save_safetensors(state_dict, path, *, metadata=None) => io.save(state_dict, path, suffix=".safetensors")
load_safetensors(path, *, device="cpu") => dict(io.load(path))
"""
"""Functions of `lucid`."""

METHODS = """
max min argmax argmin var std cumsum cumprod cummax cummin sort kthvalue gather scatter take
transpose flatten diagonal tril triu tile broadcast_to pad softmax log_softmax logsumexp
"""
"""Those of them that are methods of its tensors."""

FUNCTIONAL = """
l1_loss(x, target, reduction="mean") => F.l1_loss(x, target, reduction=reduction)
mse_loss(x, target, reduction="mean") => F.mse_loss(x, target, reduction=reduction)
smooth_l1_loss(x, target, beta=1.0, reduction="mean") => F.smooth_l1_loss(x, target, reduction=reduction, beta=beta)
huber_loss(x, target, delta=1.0, reduction="mean") => F.huber_loss(x, target, reduction=reduction, delta=delta)
cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0) => F.cross_entropy(x, target, weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)
nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean") => F.nll_loss(x, target, weight, ignore_index=ignore_index, reduction=reduction)
binary_cross_entropy(x, target, weight=None, reduction="mean") => F.binary_cross_entropy(x, target, weight, reduction=reduction)
binary_cross_entropy_with_logits(x, target, weight=None, pos_weight=None, reduction="mean") => F.binary_cross_entropy_with_logits(x, target, weight, reduction=reduction, pos_weight=pos_weight)
kl_div(x, target, size_average=None, reduction="mean", log_target=False) => F.kl_div(x, target, size_average, reduction=reduction, log_target=log_target)
triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction="mean") => F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=reduction)
cosine_embedding_loss(x1, x2, y, margin=0.0, reduction="mean") => F.cosine_embedding_loss(x1, x2, y, margin, reduction=reduction)
margin_ranking_loss(x1, x2, y, margin=0.0, reduction="mean") => F.margin_ranking_loss(x1, x2, y, margin, reduction=reduction)
max_pool1d(x, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) => F.max_pool1d(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)
max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) => F.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode, return_indices)
rms_norm(x, normalized_shape, weight=None, eps=1e-08) => F.rms_norm(x, normalized_shape, weight, eps)
gumbel_softmax(logits, tau=1.0, hard=False, dim=-1) => F.gumbel_softmax(logits, tau, hard, dim=dim)
softmax(x, dim=None) => F.softmax(x, -1 if dim is None else dim)
log_softmax(x, dim=None) => F.log_softmax(x, -1 if dim is None else dim)
softmin(x, dim=None) => F.softmin(x, -1 if dim is None else dim)
pad(x, padding, mode="constant", value=0.0) => F.pad(x, padding, mode, value if mode == "constant" else None)
bilinear(x1, x2, weight, bias=None) => F.bilinear(x1, x2, weight, bias)
"""
"""Functions of `lucid.nn.functional`; the others take ``x=`` where PyTorch takes ``input=``."""

LAYERS = """
RMSNorm(normalized_shape, eps=1e-8) => normalized_shape, eps
Softmax(dim=None) => -1 if dim is None else dim
LogSoftmax(dim=None) => -1 if dim is None else dim
EmbeddingBag(num_embeddings, embedding_dim, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, mode="mean", sparse=False, padding_idx=None) => num_embeddings, embedding_dim, max_norm, norm_type, mode=mode, padding_idx=padding_idx, **only(scale_grad_by_freq=scale_grad_by_freq)
MaxPool1d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) => kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=return_indices
MaxPool2d(kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False) => kernel_size, stride, padding, dilation, ceil_mode=ceil_mode, return_indices=return_indices
L1Loss(reduction="mean") => reduction=reduction
MSELoss(reduction="mean") => reduction=reduction
SmoothL1Loss(reduction="mean", beta=1.0) => reduction=reduction, beta=beta
HuberLoss(reduction="mean", delta=1.0) => reduction=reduction, delta=delta
CrossEntropyLoss(weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0) => weight, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing
NLLLoss(weight=None, ignore_index=-100, reduction="mean") => weight, ignore_index=ignore_index, reduction=reduction
BCELoss(weight=None, reduction="mean") => weight, reduction=reduction
BCEWithLogitsLoss(weight=None, reduction="mean", pos_weight=None) => weight, reduction=reduction, pos_weight=pos_weight
KLDivLoss(reduction="mean", log_target=False) => reduction=reduction, log_target=log_target
TripletMarginLoss(margin=1.0, p=2.0, eps=1e-06, swap=False, reduction="mean") => margin, p, eps, swap, reduction=reduction
CosineEmbeddingLoss(margin=0.0, reduction="mean") => margin, reduction=reduction
MarginRankingLoss(margin=0.0, reduction="mean") => margin, reduction=reduction
GaussianNLLLoss(full=False, eps=1e-06, reduction="mean") => full=full, eps=eps, reduction=reduction
MultiheadAttention(embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, num_kv_heads=None, batch_first=False) => embed_dim, num_heads, dropout, bias, add_bias_kv, add_zero_attn, kdim, vdim, batch_first=batch_first, **only(num_kv_heads=num_kv_heads)
TransformerEncoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, attention_dropout=None, activation="relu", batch_first=False, norm_first=False, layer_norm_eps=1e-05) => d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first; of_attention(self, attention_dropout)
TransformerDecoderLayer(d_model, nhead, dim_feedforward=2048, dropout=0.1, attention_dropout=None, activation="relu", batch_first=False, norm_first=False, layer_norm_eps=1e-05) => d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first; of_attention(self, attention_dropout)
Transformer(d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, attention_dropout=None, activation="relu", batch_first=False, layer_norm_eps=1e-05) => d_model, nhead, num_encoder_layers, num_decoder_layers, dim_feedforward, dropout, activation, layer_norm_eps=layer_norm_eps, batch_first=batch_first; of_attention(self, attention_dropout)
"""
"""Classes of `lucid.nn`, and what PyTorch's class is given."""

OPTIMIZERS = """
SGD(params, lr, momentum=0.0, dampening=0.0, weight_decay=0.0, nesterov=False) => params, lr, momentum, dampening=dampening, weight_decay=weight_decay, nesterov=nesterov
Adagrad(params, lr=0.01, lr_decay=0.0, weight_decay=0.0, eps=1e-10) => params, lr, lr_decay, weight_decay, eps=eps
LBFGS(params, lr=1.0, max_iter=20, max_eval=25, tolerance_grad=1e-07, tolerance_change=1e-09, history_size=100, line_search_fn="strong_wolfe") => params, lr, max_iter, max_eval, tolerance_grad, tolerance_change, history_size, line_search_fn
NoamScheduler(optimizer, d_model, warmup_steps, last_epoch=-1, verbose=False) => optimizer, d_model, warmup_steps, last_epoch=last_epoch
ReduceLROnPlateau(optimizer, mode="min", factor=0.1, patience=10, verbose=False, threshold=1e-4, min_lr=0.0) => optimizer, mode, factor, patience, threshold, min_lr=min_lr
CyclicLR(optimizer, base_lr, max_lr, step_size_up=2000, mode="triangular", gamma=1.0, last_epoch=-1, verbose=False) => optimizer, base_lr, max_lr, step_size_up, mode=mode, gamma=gamma, cycle_momentum=False, last_epoch=last_epoch
OneCycleLR(optimizer, max_lr, total_steps, pct_start=0.3, anneal_strategy="cos", div_factor=25.0, final_div_factor=10000.0, last_epoch=-1, verbose=False) => optimizer, max_lr, total_steps, pct_start=pct_start, anneal_strategy=anneal_strategy, cycle_momentum=False, div_factor=div_factor, final_div_factor=final_div_factor, last_epoch=last_epoch
PolynomialLR(optimizer, total_iters=5, power=1.0, eta_min=0.0, last_epoch=-1, verbose=False) => optimizer, total_iters, power, last_epoch=last_epoch, **only(eta_min=eta_min)
StepLR(optimizer, step_size, gamma=0.1, last_epoch=-1, verbose=False) => optimizer, step_size, gamma, last_epoch
MultiStepLR(optimizer, milestones, gamma=0.1, last_epoch=-1, verbose=False) => optimizer, milestones, gamma, last_epoch
ExponentialLR(optimizer, gamma, last_epoch=-1, verbose=False) => optimizer, gamma, last_epoch
CosineAnnealingLR(optimizer, T_max, eta_min=0.0, last_epoch=-1, verbose=False) => optimizer, T_max, eta_min, last_epoch
CosineAnnealingWarmRestarts(optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1, verbose=False) => optimizer, T_0, T_mult, eta_min, last_epoch
LambdaLR(optimizer, lr_lambda, last_epoch=-1, verbose=False) => optimizer, lr_lambda, last_epoch
MultiplicativeLR(optimizer, lr_lambda, last_epoch=-1, verbose=False) => optimizer, lr_lambda, last_epoch
LinearLR(optimizer, start_factor=1 / 3, end_factor=1.0, total_iters=5, last_epoch=-1, verbose=False) => optimizer, start_factor, end_factor, total_iters, last_epoch
ConstantLR(optimizer, factor=1 / 3, total_iters=5, last_epoch=-1, verbose=False) => optimizer, factor, total_iters, last_epoch
"""
"""Classes of `lucid.optim`: optimizers and schedulers; `verbose` prints nothing here."""

_COMPLEX, _SPATIAL = "there are no complex numbers", "no layer has three spatial axes"
_OWN = "it is Lucid 3's own, and not here"
ABSENT = {
    **dict.fromkeys(
        ("complex", "complex64", "complex128", "real", "imag", "angle", "polar", "conj",
         "conj_physical", "view_as_real", "view_as_complex", "resolve_conj", "resolve_neg",
         "is_complex", "is_conj", "is_neg", "isreal", "fft"), _COMPLEX),
    **dict.fromkeys(
        ("Conv3d", "ConvTranspose3d", "LazyConv3d", "LazyConvTranspose3d", "MaxPool3d", "AvgPool3d",
         "AdaptiveAvgPool3d", "AdaptiveMaxPool3d", "LPPool3d", "MaxUnpool3d", "BatchNorm3d",
         "InstanceNorm3d", "LazyBatchNorm3d", "LazyInstanceNorm3d", "FractionalMaxPool3d",
         "Dropout3d", "ConstantPad3d", "ZeroPad3d", "ReflectionPad3d", "ReplicationPad3d",
         "CircularPad3d", "conv3d", "conv_transpose3d", "max_pool3d", "avg_pool3d", "lp_pool3d",
         "adaptive_avg_pool3d", "adaptive_max_pool3d", "max_unpool3d", "fractional_max_pool3d",
         "dropout3d"), _SPATIAL),
    **dict.fromkeys(("quantization", "quantized", "qat", "intrinsic"), "there is no quantization"),
    **dict.fromkeys(
        ("diffeq", "signal", "models", "weights", "test", "profiler", "metal", "NoisyLinear",
         "VectorQuantizer", "VectorQuantizerOutput", "nearest_codebook", "vector_quantize",
         "noisy_linear", "scaled_noise", "straight_through", "symexp", "symlog", "two_hot",
         "FusedLinear", "fused_linear_relu", "fused_linear_gelu", "TimestepEmbedding",
         "SinusoidalEmbedding2D", "sinusoidal_embedding_2d", "tokenizer", "rollout"), _OWN),
    "CTCLoss": "there is no CTC", "ctc_loss": "there is no CTC",
    **dict.fromkeys(("save_sharded", "load_sharded"), "a file is one: save and load"),
    **dict.fromkeys(
        ("GroupedQueryAttention", "MultiQueryAttention", "num_kv_heads", "repeat_kv"),
        "minigrad.nn.MultiHeadAttention(num_kv_heads=...)"),
    **dict.fromkeys(
        ("past_key_value", "use_cache", "cache_position", "layer_idx"),
        "minigrad.nn.MultiHeadAttention(...)(..., kv_cache=) decodes with a cache"),
    **dict.fromkeys(
        ("RotaryEmbedding", "apply_rotary_emb"), "minigrad.nn.RotaryPosEmbedding"),
    **dict.fromkeys(
        ("SinusoidalEmbedding", "sinusoidal_embedding"), "minigrad.nn.SinusoidalPosEmbedding"),
    "transforms": "minigrad.data.transforms",
    "eta_min": "pass a PolynomialLR without it",
}  # fmt: skip
"""The names that are not here, and what to do instead."""
