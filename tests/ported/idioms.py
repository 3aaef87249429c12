"""What people write in PyTorch, run as it is with minigrad named `torch`, by subject.

Each expression of a line is an idiom, and so is a line of statements, whose value is that of its
last expression, or of `r`. They begin with `x` and `y` (3, 4), `x` with a tie, `n` with a NaN, `v`
(4,), `b` (2, 3, 4), whole numbers `i` (3, 4), leaves `w` (3, 4) and `q`, and a layer `m`.
"""

TENSORS = """
torch.tensor([1.0, 2.0]), torch.tensor([1, 2], dtype=torch.long), torch.as_tensor([1.0, 2.0])
torch.tensor([1, 2], dtype=torch.float32), torch.from_numpy(np.arange(6.0).reshape(2, 3)), b.mT
torch.LongTensor([1, 2]), torch.DoubleTensor([1, 2]), torch.IntTensor([1, 2]), torch.arange(end=5)
torch.BoolTensor([True, False]), torch.zeros(size=(2, 3)), torch.zeros(3, 4).scatter(1, i, x), i / 2
torch.zeros(3, 4).scatter(1, i, x, reduce="add"), torch.ones(2, 3, dtype=torch.double)
torch.ones(3, 3).tril(diagonal=-1), torch.ones(size=(2, 3), dtype=torch.long), x.dim()
torch.ones(2, dtype=torch.long), torch.empty(2, 3).shape, torch.full(size=(2,), fill_value=1.5)
torch.arange(start=0, end=5, step=1), torch.arange(3, dtype=torch.float)
torch.linspace(0, 1, steps=5), torch.zeros_like(x, device=x.device)
torch.randint(0, 10, (2, 3)).shape
torch.full_like(x, 2.0, device="cpu", memory_format=torch.preserve_format), x.ndim
torch.randint(10, size=(2, 3)).shape, torch.randperm(5).sort()[0]
torch.normal(0.0, 1.0, size=(2, 3)).shape, torch.cat([x, y], axis=1), torch.concat([x, y], dim=-1)
torch.stack([x, y], dim=1), x.size(), x.reshape(2, -1), torch.permute(b, dims=(0, 2, 1))
b.transpose(dim0=1, dim1=2), torch.flatten(b, start_dim=1), x.size(0), x.unsqueeze(dim=-1)
x[:, None].squeeze(dim=1), x.size(-1), x.size(1), x.size(dim=1), x.shape[0], torch.Size([2, 3])
x.numel(), x.nelement(), x.element_size(), v.expand(3, -1), v.expand(size=(2, 4)), i // 2
x.repeat(2, 1), x.repeat(2, 1, 1), x.repeat_interleave(2, dim=0), torch.tile(x, dims=(2, 1))
torch.repeat_interleave(x, 2, dim=1), x.chunk(2, dim=-1), x.split(2, dim=1), x.split([1, 3], dim=1)
x.split(split_size=2, dim=1), torch.split(x, split_size_or_sections=2), b.unbind(dim=1)
torch.unbind(b, dim=2), x.sum(dim=1), x.sum(1, keepdim=True), b.sum(dim=(0, 2)), x.sum(dim=())
x.sum(dim=1, dtype=torch.float64), x.sum(dtype=torch.float64), x[0, 0].sum(0), b.mean(dim=[0, 2])
torch.mean(x, dim=0), x.mean(dim=1, keepdim=True, dtype=torch.float64), x.std(dim=1, unbiased=False)
x.std(dim=()), x[0, 0].std(0, unbiased=False), x @ x.t(), x.var(dim=1, correction=0), x.max(dim=1)
x.max(dim=1).values, x.max(dim=1, keepdim=True)[0], torch.max(x, dim=1)[1]
torch.min(x, dim=0).indices, x.amax(dim=1), x.amax(dim=()), torch.amin(x, dim=(0, 1)), x[x > 0]
x.amin(axis=0, keepdims=True), x.argmax(dim=1), x[0, 0].argmax(-1), torch.argmax(x, dim=0)
x.median(dim=1).values, n.median(1).values, torch.sort(x, dim=1)[1], x.to(y)
x.sort(dim=1, descending=True).values, torch.sort(input=x), torch.sort(x, descending=True)
x.topk(k=2, dim=-1)[1], torch.argsort(x, dim=1, descending=True), x.cumsum(dim=1), x[0, :2]
torch.topk(x, 2, dim=1).values, x[i[:, 0]], torch.cumsum(x, dim=0), x.prod(dim=1), x.cumprod(dim=1)
x.norm(dim=1), x.all(dim=1), torch.norm(x, p=1, dim=1), i.prod(dim=1, dtype=torch.float64)
x.prod(dim=1, dtype=torch.float64), torch.linalg.norm(x, dim=1), x.norm(p=2, dim=-1, keepdim=True)
torch.linalg.vector_norm(x, dim=1), (x > 0).any(dim=1), (x > 0) & ~(y > 0), x.grad is None
x.dtype == torch.float32, x.softmax(dim=-1), (x > 0).cumsum(dim=1, dtype=torch.float32)
x.dtype == torch.bfloat16, torch.get_default_dtype() == torch.float32, torch.logsumexp(x, dim=1)
torch.softmax(x, dim=1), x.log_softmax(dim=-1), x.clamp(min=0), torch.clamp(x, min=-0.5, max=0.5)
x.clamp(-0.9, 0.9).clone().erfinv_(), torch.add(x > 0, other=y > 0)
torch.div(x, 2, rounding_mode="floor"), i.div(-2, rounding_mode="trunc"), b[0, :, [0, 1]]
torch.where(x > 0, input=x, other=y), x.masked_fill(mask=x > 0, value=0.0), b[:, 0, [0, 1, 1]]
b[0, ..., [0, 1]], b[1, None, :, [0, 2]], b[torch.tensor(1), :, [0, 1]], b[0, :, i[0] > 0]
b[[0, 1], :, 1], x[i[0, 0], [0, 1]], x.gather(dim=1, index=i), x.clone().relu_(), x.clone().pow_(2)
torch.zeros(3, 4).scatter_(1, i, 1.0), torch.zeros(3, 4).scatter_add_(1, i, x), x.clone().zero_()
x.reshape(shape=(4, 3)), torch.reshape(x, shape=(2, 6)), x.view(size=(4, 3))
x.repeat(repeats=(2, 1)), v.broadcast_to(size=(3, 4)), x.sum_to_size(size=(3, 1))
torch.randint(high=5, size=(2,)).shape, torch.randint_like(x, high=1)
torch.sparse.torch.eye(4).index_select(dim=0, index=i[0])
torch.spmm(torch.sparse_coo_tensor(i[:2], v, (4, 4)), x.T), torch.sparse_coo_tensor(i, v).to_dense()
torch.zeros(4, 4).index_add_(0, i[0], torch.ones(4, 4)), x.clone().index_fill_(1, i[0, :1], 0.0)
torch.zeros(3).fill_(2.0), torch.zeros(3).zero_(), torch.zeros(3, 4).copy_(x), x.clone().fill_(2)
torch.ones(3, 4).mul_(x), torch.ones(3, 4).add_(x, alpha=-0.1), torch.ones(3, 4).lerp_(x, 0.1)
torch.ones(3, 4).addcmul_(x, y, value=0.5), torch.ones(3, 4).addcdiv_(x, y.abs() + 1, value=-0.5)
torch.ones(3, 4).clamp_(max=0.5), torch.ones(3, 4).masked_fill_(x > 0, 0.0), x.clone().clamp_min_(0)
torch.zeros(3).normal_().shape, torch.zeros(3).uniform_(-1, 1).shape, torch.ones(3).sigmoid_()
x.clone().sub_(y, alpha=2), x.clone().clamp_max_(max=0), torch.zeros(3, 4).scatter_(1, i, value=1.0)
torch.zeros(3, 4).index_add_(1, i[0], x), x.clone().index_copy_(0, torch.tensor([2, 0]), y[:2])
torch.cov(x, correction=0), torch.cov(x, fweights=i[0] + 1), torch.cov(x, aweights=y[0].abs())
torch.cov(x, fweights=i[0] + 1, aweights=y[0].abs()), torch.cov(x, correction=5), torch.typename(3)
x.index_reduce(1, i[0], y, "prod"), torch.asarray(w, requires_grad=False).requires_grad
x.clone().index_reduce_(0, torch.tensor([1, -2]) % 3, y[:2], "mean", include_self=False)
torch.asarray(x, copy=True) is x, torch.asarray(x, copy=False) is x, torch.asarray(w * 2).requires_grad
x.diagonal_scatter(v[:3], 1), torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8, count=2)
torch.broadcast_shapes((2, 1), (3,)), nn.Unflatten(1, torch.Size([2, 2]))(x)
x.clone().clamp_(0), x.clone().add_(y, alpha=3), x.clone().mul_(2).sub_(1), torch.relu_(x.clone())
x[0, 0].movedim(0, -1), x[0, 0].swapaxes(-1, 0), x[0, 0].mT, x[0, 0].adjoint()
torch.sigmoid_(x.clone()), torch.clamp_(x.clone(), 0), x[0, 0].flip(0)
torch.index_select(x, dim=0, index=i[0, :2]), x.take_along_dim(i, dim=1), torch.cdist(x1=x, x2=y)
torch.roll(x, shifts=1, dims=1), torch.triu(torch.ones(3, 3), diagonal=1), torch.isnan(x).any()
x.diagonal(dim1=0, dim2=1), torch.diag_embed(v, dim1=0, dim2=1), torch.mul(input=x, other=y)
torch.matmul(input=x, other=y.T), torch.xlogy(input=x, other=y.abs()), torch.inner(input=x, other=y)
torch.kron(input=v, other=v), torch.maximum(input=x, other=y), torch.allclose(x, other=x)
float(torch.finfo(x.dtype).eps), x.type(), x.half().softmax(dim=-1, dtype=torch.float32)
x.to(torch.float64), x.to(dtype=torch.float16), x.type_as(y.double()), x.type(torch.float64)
x.type("torch.LongTensor"), b[None].to(memory_format=torch.channels_last), x.detach().cpu().numpy()
x.tolist(), x.clone(memory_format=torch.contiguous_format), x.is_floating_point(), x.device
torch.is_tensor(x), isinstance(x, torch.Tensor), isinstance(x.dtype, torch.dtype), x.is_cuda
x.requires_grad, torch.inf, isinstance(x + 1, torch.Tensor), x.new_zeros(2, 3), x.new_zeros(2)
x.new_tensor([1.0, 2.0]), x.new_tensor([1, 2]), torch.unique(i, sorted=True)
x.new_full((2,), 3.0, device="cpu", requires_grad=True), torch.isfinite(x).all()
torch.swapaxes(b, axis0=0, axis1=1), x.unfold(dimension=1, size=2, step=1)
torch.logcumsumexp(x, dim=1), torch.pi, torch.cummax(x, dim=1).indices
float(torch.finfo(torch.float32).min), x.is_sparse, torch.iinfo(torch.int64).max, x.nbytes
x.itemsize, x.ndimension(), torch.clip(x, min=0.0), torch.divide(x, 2, rounding_mode="trunc")
x.is_contiguous(), torch.subtract(x, y, alpha=2), torch.dist(x, y, p=1), torch.rsub(x, 2, alpha=3)
torch.addmv(torch.zeros(3), x, v, alpha=2), torch.asarray([1.0, 2.0]), torch.svd(x).S, x.is_meta
x.new_empty((2, 3), device=x.device).shape, torch.is_grad_enabled()
x.nansum(dim=1, dtype=torch.float64), torch.nanmean(x, dim=(0, 1)), torch.randn(size=(2, 3)).shape
torch.quantile(x, 0.4, dim=1, interpolation="lower"), torch.scatter(x, 1, i, value=1.0)
torch.isin(elements=i, test_elements=i[0]), torch.Tensor(2, 3).shape
torch.searchsorted(sorted_sequence=v.sort(dim=0)[0], input=x), torch.Tensor([1, 2])
torch.searchsorted(v.sort()[0], v, right=True), torch.searchsorted(v, v, sorter=v.argsort())
torch.linalg.solve(A=b[0, :2, :2], B=x[:2]), torch.set_default_dtype(torch.float32)
torch.set_num_threads(torch.get_num_threads()), torch._assert(True, "the sizes differ")
torch.FloatTensor([1, 2]), torch.FloatTensor(2, 3).shape, x.new(2, 3).shape, torch.linalg.svd(x)[1]
torch.ByteTensor([1, 2]), torch.trapezoid(x, dx=2.0, dim=0), x.storage_offset()
torch.vander(v, 3, True), torch.hann_window(5), torch.hamming_window(5, False), torch.is_complex(x)
torch.blackman_window(6), x[1:, 1].storage_offset()
x.double().scatter(1, i, 0.7) == 0.7
"""

TRAINING = """
x.to("cpu", non_blocking=True), x.to(torch.device("cpu")), m.to("cpu").weight.shape, w.data.shape
m.to(device=torch.device("cpu")).double().weight.dtype, nn.Linear(4, 2)(x).shape, nn.Dropout(0.0)(x)
nn.Linear(4, 2).cpu()(x).shape, nn.Linear(in_features=4, out_features=2, bias=False)(x).shape
nn.Embedding.from_pretrained(x)(i), nn.Linear(4, 2, True, None, None)(x).shape, nn.Hardsigmoid()(x)
nn.Linear(4, 2, device="cpu", dtype=torch.float64)(x.double()).dtype, nn.MaxPool2d(2)(b[None])
nn.Embedding(10, 4, padding_idx=0)(i).shape, nn.LayerNorm(4, eps=1e-06, elementwise_affine=False)(x)
nn.BatchNorm2d(2)(b[None]).shape, nn.Embedding.from_pretrained(x, freeze=False).weight.requires_grad
nn.Dropout(p=0.0, inplace=True)(x.clone()), nn.Conv1d(3, 5, kernel_size=2, padding=1)(b).shape
nn.Conv2d(2, 5, 3, stride=1, padding=1, bias=False)(b[None]).shape, nn.ReLU(inplace=True)(x.clone())
nn.ConvTranspose2d(2, 5, 2, stride=2)(b[None]).shape, nn.AdaptiveAvgPool2d((1, 1))(b[None])
nn.GELU(approximate="tanh")(x), nn.Softmax(dim=-1)(x), nn.Softmax()(x), nn.Identity()(x)
nn.LogSoftmax(dim=1)(x), nn.Flatten(start_dim=1)(b), nn.Sequential(nn.ReLU()).append(nn.Tanh())(x)
nn.ModuleList([nn.ReLU()]).extend([nn.Tanh()])[1](x), nn.ModuleDict({"a": nn.Identity()})["a"](x)
nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))(x).shape, F.one_hot(i).shape
nn.ModuleDict({"a": nn.Identity()}).a(x), nn.Parameter(torch.zeros(3)).requires_grad, init.zeros_(w)
nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])[1](x).shape, nn.CrossEntropyLoss()(x, i[0, :3])
nn.MultiheadAttention(4, 2)(b, b, b)[0].shape, nn.MultiheadAttention(4, 2)(b, b, b)[1].shape
nn.Parameter(torch.zeros(3), requires_grad=False).requires_grad, nn.MSELoss(reduction="sum")(x, y)
nn.LSTM(4, 5, num_layers=2, batch_first=True)(b)[0].shape, F.unfold(b[None], kernel_size=2).shape
nn.GRU(4, 5, batch_first=True, bidirectional=True)(b)[0].shape, optim.SGD([w], lr=0.1, momentum=0.9)
nn.TransformerEncoderLayer(4, 2, 8)(b).shape, nn.Transformer.generate_square_subsequent_mask(3)
nn.MultiheadAttention(embed_dim=4, num_heads=2, batch_first=True)(b, b, b, need_weights=False)[0].shape
nn.TransformerEncoderLayer(d_model=4, nhead=2, batch_first=True)(b).shape, init.ones_(w)
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, nhead=2), num_layers=2)(b).shape
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, nhead=2, batch_first=True), 2, enable_nested_tensor=False)(b).shape
nn.Transformer(d_model=4, nhead=2, num_encoder_layers=1, num_decoder_layers=1)(b, b).shape
nn.Transformer(4, nhead=2, dropout=0.0).encoder(b, torch.zeros(2, 2, dtype=torch.bool)).shape
nn.BCEWithLogitsLoss()(x, (y > 0).float()), nn.NLLLoss()(x.log_softmax(dim=1), i[0, :3])
nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=0.1)(x, i[0, :3]), init.constant_(w, 0.5)
nn.KLDivLoss(reduction="batchmean")(x.log_softmax(-1), y.softmax(-1)), init.xavier_uniform_(w).shape
F.gumbel_softmax(x, tau=1.0, hard=True).sum(dim=-1), nn.utils.clip_grad_norm_([w], max_norm=1.0)
optim.Adam([w], lr=0.001, betas=(0.9, 0.98), eps=1e-09), nn.utils.clip_grad_norm_([w], 1.0)
optim.AdamW([{"params": [w], "weight_decay": 0.0}], lr=0.001), init.xavier_normal_(w).shape
optim.AdamW([w], lr=0.001, fused=False, foreach=False), init.kaiming_normal_(w, 0, "fan_in").shape
lr_scheduler.StepLR(optim.SGD([w], lr=0.1), step_size=2, gamma=0.5).get_last_lr()
lr_scheduler.CosineAnnealingLR(optim.SGD([w], lr=0.1), T_max=10).get_last_lr()
lr_scheduler.LambdaLR(optim.SGD([w], lr=0.1), lr_lambda=lambda step: 1.0).get_last_lr()
lr_scheduler.OneCycleLR(optim.SGD([w], lr=0.1), max_lr=0.1, total_steps=10).get_last_lr()
nn.utils.rnn.pad_sequence([v, v[:2]], batch_first=True), init.kaiming_uniform_(w, a=2.0).shape
init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu").shape, init.orthogonal_(w).shape
init.normal_(w, mean=0.0, std=0.0), init.constant_(w, val=0.5), init.uniform_(w, -0.1, 0.1).shape
init.trunc_normal_(w, std=0.02).shape, init.eye_(torch.empty(2, 3)), (w * 2).grad_fn is not None
init.dirac_(torch.empty(4, 2, 3)), init.sparse_(torch.empty(4, 3), sparsity=0.5).shape
[n for n, p in m.named_parameters()], init._calculate_fan_in_and_fan_out(torch.ones(4, 3, 2, 2))
(init.kaiming_uniform_(torch.zeros(300, 200), a=5 ** 0.5).abs() < 0.08).all()
(init.kaiming_uniform_(torch.zeros(300, 200), 5 ** 0.5).abs() < 0.08).all(), m.train(False).training
nn.ModuleList([None, nn.ReLU()])[0] is None, w.requires_grad_(False).requires_grad
[name for name, _ in nn.Linear(4, 2).named_parameters(remove_duplicate=False)]
[type(p).__name__ for p in nn.Linear(4, 2).parameters()], torch.cuda.is_available()
[s.shape for s in func.stack_module_state([nn.Linear(4, 3)] * 2)[0].values()]
torch.no_grad()(lambda: (w * 2).requires_grad)(), sorted(m.state_dict().keys())
sum((p.numel() for p in m.parameters() if p.requires_grad)), torch.cuda.empty_cache()
torch.device("cuda" if torch.cuda.is_available() else "cpu"), torch.backends.cudnn.deterministic
list(data.DataLoader(data.TensorDataset(x, y), batch_size=2, shuffle=False))[0][0]
list(data.DataLoader(data.TensorDataset(x), 2, persistent_workers=False, prefetch_factor=None))[0][0]
torch.backends.mps.is_available(), torch.jit.is_scripting(), torch.jit.unused(lambda: 1.0)()
len(data.DataLoader(data.TensorDataset(x), batch_size=2, drop_last=True)), func.jacrev(torch.sin)(v)
data.random_split(data.TensorDataset(x), [2, 1])[0][0][0].shape, nn.LocalResponseNorm(2)(b)
distributions.Categorical(logits=x).log_prob(i[0, :3]), distributions.Normal(0.0, 1.0).log_prob(x)
distributions.kl_divergence(distributions.Normal(0.0, 1.0), distributions.Normal(1.0, 2.0))
torch.compile(lambda x: x + 1, backend="eager")(x), torch.jit.ignore()(lambda: 1.0) is not None
isinstance(nn.Linear(4, 2), (nn.Conv3d, nn.SyncBatchNorm)), isinstance(nn.Linear(2, 2), nn.Module)
isinstance(nn.Sequential(nn.Linear(2, 2))[0], nn.Linear), isinstance(nn.Parameter(x), torch.Tensor)
isinstance(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1).layers[0].linear1, nn.Linear)
autograd.grad(w * w, w, grad_outputs=torch.ones_like(w))[0], nn.UpsamplingNearest2d(7)(b[None])
nn.PairwiseDistance()(x, y), nn.PoissonNLLLoss()(x, y.abs()), nn.PixelUnshuffle(2)(b[None, :, :2])
nn.HingeEmbeddingLoss(reduction="sum")(x, (y > 0) * 2 - 1), functional.jacobian(lambda x: x * x, v)
functional.hessian(lambda x: (x ** 3).sum(), v), functional.vjp(torch.sin, v, v)
functional.jacobian(lambda x, y: (x * y, x + y), (v, v)), functional.jvp(torch.sin, (v,), (v,))
functional.hvp(lambda x: (x ** 3).sum(), v, v), func.grad(lambda x: (x ** 3).sum())(v)
func.grad_and_value(lambda x: (x ** 2).sum())(v), func.jacfwd(torch.sin)(v)
func.hessian(lambda x: (x ** 3).sum())(v), func.vjp(torch.sin, v)[1](v), func.vmap(torch.dot)(x, y)
func.jvp(torch.sin, (v,), (v,)), func.linearize(torch.sin, v)[1](v), func.jacrev(torch.cumsum)(v, 0)
func.jacfwd(lambda a: x * a)(v), func.vmap(torch.mv, (0, None), 1)(b, v), nn.modules.utils._pair(3)
func.vmap(lambda a, c: (a * c, c), (1, 0), (0, 1), chunk_size=2)(x, y.T)
func.functionalize(lambda a: a.clone().mul_(2))(v)
func.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(4)))[0].running_mean
func.functional_call(nn.Linear(4, 3, False), {"weight": x}, (x,))
torch.manual_seed(0); torch.rand(2, 3).shape
torch.manual_seed(0); torch.randn((2, 3)).shape
w.sum().backward(); nn.utils.clip_grad_norm_([w], 1.0).item()
m = nn.Sequential(); m.add_module("0", nn.Identity()); m.add_module("b", nn.Softmax(dim=-1)); m(x)
m = nn.ModuleDict(); m.add_module("a", nn.Identity()); list(m.items())[0][1](x)
optimizer = optim.SGD([w], lr=0.1); optimizer.zero_grad(set_to_none=True); w.sum().backward(); optimizer.step(); w.detach()
with torch.no_grad(): r = (w * 2).requires_grad
torch.set_grad_enabled(True); torch.is_grad_enabled()
autograd.grad((w**3).sum(), w, create_graph=True)[0].sum().backward(); w.grad
loss = (w * x).sum(); loss.backward(retain_graph=True); loss.item()
(w * x).backward(gradient=torch.ones(3, 4)); w.grad
m.load_state_dict(m.state_dict()); m.weight.shape
m.weight.data.normal_(mean=0.0, std=0.02); m.bias.data.zero_(); m.bias.detach()
m.register_buffer("count", torch.zeros(1)); m.count
m.register_forward_hook(lambda module, inputs, output: None); m(x).shape
with torch.autocast("cpu", enabled=False): r = x + 1
torch.save(obj={"x": x}, f=path); torch.load(f=path, map_location="cpu")["x"]
torch.save({"x": x}, path + ".pt"); torch.load(path + ".pt", map_location="cpu", weights_only=True)["x"]
w.exp().sum().backward(inputs=[w]); w.grad
w[0, 1].std(-1, correction=0).backward(); w[0, 2].var(0, correction=0).backward(); w.grad
from torch.jit.annotations import List; List[int] is not None
from torch.jit import Final; Final[int] is not None
from torch.fx import wrap; wrap("len")
from torch.utils.data import DataLoader, TensorDataset; len(DataLoader(TensorDataset(x), batch_size=2))
from torch.utils.checkpoint import checkpoint; checkpoint(torch.exp, w, use_reentrant=False)
from torch.amp import autocast; autocast("cpu", enabled=False) is not None
from torch.special import expit, expm1; expit(x) + expm1(x)
from torch.nn.parameter import Parameter; Parameter(x).requires_grad
import torch.utils.data as data; data.TensorDataset(x)[0][0]
w.data.normal_().shape; w.data.zero_(); w.sum().backward(); w.detach(), w.grad
w.data += 1; w.data.mul_(2); w.data[0] = 5; w.detach()
w.data = torch.zeros(3, 4); w.detach()
z = w * 2; z.retain_grad(); z.sum().backward(); z.grad, w.grad
h = w.register_hook(lambda g: g * 2 + g.max(1)[0].sum()); w.sum().backward(); w.grad
c = x.clone(); c[0, [0, 1]] = 7.0; c[1, :2] = y[0, :2]; c
c = b.clone(); c[0, :, [0, 1]] = torch.ones(3, 2) * 9; c
m.weight.data.fill_(0.5); m.bias.data.zero_(); m(x)
init.constant_(m.weight.data, 0.1); init.zeros_(m.bias); m(x)
c = x.clone().unsqueeze_(0); c.squeeze_().t_(); c.transpose_(0, 1); c
c = x.clone(); c.triu_(); c.tril_(1); c.index_put_((i[0], i[1]), v); c
c = x.clone(); c.index_put_(((x[:, 0] > 0).byte(),), x[x[:, 0] > 0], accumulate=True); c
c = x.clone(); c[True] = y; c[False] = v; c[True, 1] = 2.0; c
with torch.device("cpu"): r = torch.ones(2)
len(nn.Sequential(m).insert(0, m).insert(-1, m))
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present as consume; s = {"module.a": x, "b": y}; consume(s, "module."); s
"""
