"""What people write in PyTorch, run as it is with minigrad named `torch`, by subject.

Each expression of a line is an idiom, and so is a line of statements, whose value is that of its
last expression, or of `r`. They begin with `x` and `y` (3, 4), `x` with a tie, `n` with a NaN, `v`
(4,), `b` (2, 3, 4), whole numbers `i` (3, 4), leaves `w` (3, 4) and `q`, and a layer `m`.
"""

TENSORS = """
torch.tensor([1.0, 2.0]), torch.tensor([1, 2], dtype=torch.long), torch.as_tensor([1.0, 2.0])
torch.tensor([1, 2], dtype=torch.float32), torch.from_numpy(np.arange(6.0).reshape(2, 3))
torch.LongTensor([1, 2]), torch.DoubleTensor([1, 2]), torch.IntTensor([1, 2]), torch.zeros(2, 3)
torch.BoolTensor([True, False]), torch.zeros((2, 3)), torch.zeros(size=(2, 3)), torch.full((2,), 3)
torch.zeros(3, 4).scatter(1, i, x), torch.zeros(3, 4).scatter(1, i, x, reduce="add"), torch.eye(3)
torch.ones(2, 3, dtype=torch.double), torch.ones(3, 3).tril(diagonal=-1), torch.full((2, 3), 7.0)
torch.ones(size=(2, 3), dtype=torch.long), torch.ones(2, dtype=torch.long), torch.empty(2, 3).shape
torch.full(size=(2,), fill_value=1.5), torch.arange(5), torch.arange(0, 10, 2), torch.arange(end=5)
torch.arange(start=0, end=5, step=1), torch.arange(3, dtype=torch.float), torch.arange(2.0)
torch.linspace(0, 1, 5), torch.linspace(0, 1, steps=5), torch.full_like(x, 2.0)
torch.zeros_like(x, device=x.device), torch.ones_like(x, dtype=torch.bool), torch.rand_like(x).shape
torch.full_like(x, 2.0, device="cpu", memory_format=torch.preserve_format), torch.cat([x, y], dim=0)
torch.randint(0, 10, (2, 3)).shape, torch.randint(10, size=(2, 3)).shape, torch.randn_like(x).shape
torch.randperm(5).sort()[0], torch.normal(0.0, 1.0, size=(2, 3)).shape, torch.normal(x, 1.0).shape
torch.normal(x, y.abs()).shape, torch.normal(0.0, y.abs()).shape, torch.bernoulli(torch.ones(3))
torch.multinomial(torch.tensor([0.0, 1.0]), 1), torch.cat((x, y), 1), torch.cat([x, y], axis=1), x.T
torch.cat([torch.tensor([]), v]), torch.concat([x, y], dim=-1), torch.stack([x, y], dim=1), x.t()
torch.hstack((x, y)), x.view(4, 3), x.view(-1), x.view((2, 6)), x.view_as(y), x.reshape(2, -1), b.mT
torch.reshape(x, (4, 3)), x.reshape_as(y), b.permute(0, 2, 1), b.permute((2, 0, 1)), x.contiguous()
torch.permute(b, dims=(0, 2, 1)), b.transpose(1, 2), b.transpose(-2, -1), x.transpose(0, 1), x.dim()
torch.transpose(b, 0, 1), b.transpose(dim0=1, dim1=2), x[0, 0].transpose(0, 0), x.flatten(), x.ndim
b.flatten(1), torch.flatten(b, start_dim=1), b.flatten(start_dim=0, end_dim=1), x.unsqueeze(0)
b.unflatten(2, (2, 2)), x.unsqueeze(dim=-1), torch.unsqueeze(x, 0), x.size(), x[0, 0].unsqueeze(0)
x[:, None].squeeze(1), x[:, None].squeeze(dim=1), torch.squeeze(x[None]), x.squeeze(0).shape
x[:, None].squeeze().shape, x[0, 0].squeeze(0), x.size(0), x.size(-1), x.size(1), x.size(dim=1)
x.shape[0], torch.Size([2, 3]), x.numel(), x.nelement(), x.element_size(), x.expand(2, 3, 4)
v.expand(3, -1), v.expand(size=(2, 4)), v.expand_as(x), x.repeat(2, 1), x.repeat(2, 1, 1), x.sum()
x.repeat_interleave(2, dim=0), torch.repeat_interleave(x, 2, dim=1), x.tile(2, 1), x.tile((2, 1))
torch.tile(x, (2, 1)), torch.tile(x, dims=(2, 1)), x.chunk(2, dim=-1), b.chunk(2, 2), x.split(2, 1)
torch.chunk(x, 2, 1), x.split(2, dim=1), x.split([1, 3], dim=1), torch.split(x, 2, dim=1)
x.split(split_size=2, dim=1), torch.split(x, split_size_or_sections=2), b.unbind(0), b.unbind(dim=1)
x.split([1, 3], 1), torch.unbind(b, dim=2), x.sum(dim=1), x.sum(1, keepdim=True), b.sum(dim=(0, 2))
b.sum([0, 2]), x.sum(dim=()), x.sum(dim=1, dtype=torch.float64), x.sum((0, 1)), x.sum(0, True)
torch.sum(x, dim=1, dtype=torch.float64), x.sum(dtype=torch.float64), x[0, 0].sum(0), x.mean(1)
b.mean(dim=[0, 2]), x.mean(dim=-1, keepdim=True), torch.mean(x, dim=0), x.mean(dim=[], keepdim=True)
x.mean(dim=1, keepdim=True, dtype=torch.float64), x.mean((0, 1)), x.std(dim=1), x.std(), x.std(1)
x.std(dim=1, unbiased=False), x.std(dim=()), x.std(1, False), x.std(1, True, True), x.std(False)
x[0, 0].std(0, unbiased=False), x.var(dim=1, correction=0), x.var(0), x.max(dim=1), x.max()
torch.var(x, 1, False), torch.var_mean(x, dim=1), torch.var_mean(x, 1), x.max(dim=1).values
x.max(dim=1, keepdim=True)[0], torch.max(x, dim=1)[1], torch.max(x, y), x.max(y), x.max(1), n.max(1)
x.max(1)[1], x.max(1, True).indices, torch.max(x, 0).values, torch.max(x), n.max(1).values.isnan()
x[0, 0].max(0), torch.min(x, y), x.min(v), torch.min(x, dim=0).indices, x.min(-1), x.amax(dim=1)
x.amax(dim=()), x.amax((0, 1)), torch.amin(x, dim=(0, 1)), x.amin(axis=0, keepdims=True), x.amin(1)
x.argmax(dim=1), x.argmax(dim=-1, keepdim=True), torch.argmax(x, dim=0), x.argmax(), x.argmax(1)
x[0, 0].argmax(-1), x.median(dim=1).values, x.median(), x.median(1), n.median(1).values, x.topk(2)
x.sort(dim=1, descending=True).values, torch.sort(x, dim=1)[1], i.sort(stable=True), x.sort(1)[0]
torch.sort(input=x), torch.sort(x, descending=True), torch.sort(x, 0, True), x.topk(k=2, dim=-1)[1]
torch.argsort(x, dim=1, descending=True), i.argsort(dim=1, stable=True), x.topk(2, 0, False)
torch.topk(x, 2, dim=1).values, x.cumsum(dim=1), torch.cumsum(x, dim=0), x.cumsum(1), x.prod(dim=1)
x.cumsum(1, dtype=torch.float64), x[0, 0].cumsum(0), x.cumprod(dim=1), x[0, 0].cumprod(0), x.prod()
i.prod(dim=1, dtype=torch.float64), x.prod(dim=1, dtype=torch.float64), x.prod(1), x.norm(), x.all()
x.norm(dim=1), x.norm(p=2, dim=-1, keepdim=True), torch.norm(x, p=1, dim=1), x.norm(1), x.norm(2, 1)
torch.linalg.norm(x, dim=1), x.norm("nuc"), torch.linalg.vector_norm(x, dim=1), x.all(dim=1), i // 2
torch.linalg.vector_norm(x, 1), (x > 0).any(dim=1), x @ x.t(), (x > 0) & ~(y > 0), x.grad is None
x.dtype == torch.float32, (x > 0).bitwise_and(y > 0), (x > 0).cumsum(dim=1, dtype=torch.float32)
torch.get_default_dtype() == torch.float32, i / 2, x.dtype == torch.bfloat16, x.logsumexp(1)
torch.logsumexp(x, dim=1), x.softmax(dim=-1), torch.softmax(x, dim=1), x.add(y), x[0, 0].softmax(-1)
x.softmax(-1, dtype=torch.float64), x.softmax(-1, torch.float64), x.sub(y), x.log_softmax(dim=-1)
x.clamp(min=0), x.clamp(-1, 1), torch.clamp(x, min=-0.5, max=0.5), x.sub(1), x.clamp_min(0.1)
x.clamp(-0.9, 0.9).clone().erfinv_(), x.add(y, alpha=2), x.mul(2), torch.div(i, 2), x.pow(2)
torch.add(x, y, alpha=0.5), torch.add(x > 0, other=y > 0), x.div(y.abs() + 1), x.neg(), x.tanh()
torch.div(x, 2, rounding_mode="floor"), i.div(-2, rounding_mode="trunc"), x.abs().sqrt(), x.relu()
x.abs().rsqrt(), x.sigmoid(), x.exp().log(), x.where(x > 0, y), x[x > 0], torch.where(x > 0)
torch.where(x > 0, x, torch.zeros_like(x)), torch.where(x > 0, input=x, other=y), x[0, :2]
x.masked_fill(x > 0, float("-inf")), x.masked_fill(mask=x > 0, value=0.0), x.masked_select(x > 0)
torch.masked_select(x, x > 0), b[0, :, [0, 1]], b[:, 0, [0, 1, 1]], b[0, ..., [0, 1]], x[i[:, 0]]
b[1, None, :, [0, 2]], b[torch.tensor(1), :, [0, 1]], b[0, :, i[0] > 0], b[[0, 1], :, 1]
x[i[0, 0], [0, 1]], x.gather(1, i), x.gather(dim=1, index=i), torch.gather(x, 1, i)
torch.zeros(3, 4).scatter_(1, i, 1.0), torch.zeros(3, 4).scatter_add_(1, i, x)
torch.zeros(4, 4).index_add_(0, i[0], torch.ones(4, 4)), x.clone().index_fill_(1, i[0, :1], 0.0)
torch.zeros(3).fill_(2.0), torch.zeros(3).zero_(), torch.zeros(3, 4).copy_(x), x.clone().relu_()
torch.ones(3, 4).mul_(x), torch.ones(3, 4).add_(x, alpha=-0.1), torch.ones(3, 4).lerp_(x, 0.1)
torch.ones(3, 4).addcmul_(x, y, value=0.5), torch.ones(3, 4).addcdiv_(x, y.abs() + 1, value=-0.5)
torch.ones(3, 4).clamp_(max=0.5), torch.ones(3, 4).masked_fill_(x > 0, 0.0), x.clone().pow_(2)
torch.zeros(3).normal_().shape, torch.zeros(3).uniform_(-1, 1).shape, torch.ones(3).sigmoid_()
x.clone().sub_(y, alpha=2), x.clone().clamp_min_(0), x.clone().clamp_max_(max=0), x.flip(0)
torch.zeros(3, 4).scatter_(1, i, value=1.0), torch.zeros(3, 4).index_add_(1, i[0], x), x.flip(0, 1)
x.clone().index_copy_(0, torch.tensor([2, 0]), y[:2]), x.clone().zero_(), x.clone().fill_(2)
x.clone().clamp_(0), x.clone().add_(y, alpha=3), x.clone().mul_(2).sub_(1), torch.relu_(x.clone())
torch.sigmoid_(x.clone()), torch.clamp_(x.clone(), 0), x.index_select(1, i[0]), x.flip(dims=(0, 1))
torch.index_select(x, dim=0, index=i[0, :2]), x.take_along_dim(i, dim=1), torch.flip(x, [1])
x[0, 0].flip(0), x.roll(1, 0), torch.roll(x, shifts=1, dims=1), x.roll(1), torch.tril(x, -1)
torch.tril(torch.ones(3, 3)), torch.triu(torch.ones(3, 3), diagonal=1), x.triu(1), x.matmul(x.T)
x.diagonal(dim1=0, dim2=1), torch.diag_embed(v, dim1=0, dim2=1), torch.matmul(x, y.T), x.eq(y)
torch.linalg.matmul(x, y.T), torch.mm(x, y.t()), torch.bmm(b, b.transpose(1, 2)), x.eq(x), x.ne(y)
torch.tensordot(x, y, dims=([1], [1])), torch.einsum("ij,kj->ik", x, y), torch.cdist(x1=x, x2=y)
torch.einsum("bij,bkj->bik", [b, b]), torch.baddbmm(torch.zeros(2, 3, 3), b, b.mT), x.gt(0), x.lt(y)
torch.addmm(torch.zeros(3, 3), x, y.T), torch.meshgrid(v, v, indexing="ij"), torch.equal(x, x)
torch.meshgrid([v, v]), torch.meshgrid([v, v], indexing="xy"), torch.isnan(x).any(), x.ge(0).float()
torch.allclose(x, x + 1e-9), torch.allclose(x, other=x), torch.equal(x, y), x.le(0), x.float()
torch.logical_and(x > 0, y > 0), float(torch.finfo(x.dtype).eps), x.double(), x.half().float()
x.half().softmax(dim=-1, dtype=torch.float32), x.long(), x.int(), x.bool(), x.to(torch.float64)
x.to(dtype=torch.float16), x.to("cpu"), x.to(y), x.type(), x.cpu(), x.type_as(y.double()), x.clone()
b[None].to(memory_format=torch.channels_last), x.type(torch.float64), x.type("torch.LongTensor")
x.detach().cpu().numpy(), x.detach(), x[0, 0].item(), x.clone(memory_format=torch.contiguous_format)
x.tolist(), x.is_floating_point(), x.device, torch.is_tensor(x), isinstance(x, torch.Tensor)
isinstance(x.dtype, torch.dtype), x.is_cuda, isinstance(x + 1, torch.Tensor), x.requires_grad
x.new_zeros(2, 3), x.new_zeros(2), x.nonzero(), x.new_ones((2,)), x.new_tensor([1.0, 2.0])
x.new_tensor([1, 2]), x.new_full((2,), 3.0), x.new_full((2,), 3.0, device="cpu", requires_grad=True)
torch.nonzero(x > 0), torch.nonzero(x > 0, as_tuple=True), torch.nonzero(x > 0, as_tuple=False)
torch.bincount(i[0]), torch.unique(i, sorted=True), torch.isfinite(x).all(), torch.movedim(b, 0, -1)
x.swapaxes(0, 1), torch.swapaxes(b, axis0=0, axis1=1), x.swapdims(0, 1), x.narrow(1, 0, 2)
torch.narrow(x, 0, 1, 2), x.select(1, 0), x.index_fill(1, i[0, :1], 0.0), x.unfold(1, 2, 1)
x.unfold(dimension=1, size=2, step=1), torch.logcumsumexp(x, dim=1), x.logcumsumexp(1), x.cummax(1)
torch.cummax(x, dim=1).indices, x.cummin(1)[0], x.cummin(0), x.scatter_reduce(1, i, y, "amax")
torch.scatter_reduce(x, 1, i, x, "amax", include_self=False), torch.special.gammaln(x.abs())
torch.special.psi(x.abs() + 1), torch.polygamma(1, x.abs() + 1), x.lerp(y, 0.5), torch.fmod(x, 2.0)
torch.logical_not(x > 0), torch.remainder(x, 2.0), torch.inf, torch.asin(x.clamp(-1, 1)), torch.pi
float(torch.finfo(torch.float32).min), torch.iinfo(torch.int64).max, x.short(), x.addcmul(x, y)
torch.acos(x.clamp(-1, 1)), torch.acosh(x.abs() + 1), torch.atanh(x.clamp(-0.9, 0.9)), x.is_sparse
torch.addcdiv(x, x, y.abs() + 1, value=2.0), x.clamp_max(0.1), torch.std_mean(x, 1), x.ndimension()
torch.clip(x, min=0.0), torch.divide(x, 2, rounding_mode="trunc"), torch.subtract(x, y, alpha=2)
torch.true_divide(x, 2), torch.std_mean(x, dim=0), torch.std_mean(x, False), x.is_contiguous()
x.absolute(), x.frac(), torch.float_power(x.abs(), 2), torch.dist(x, y, p=1), x.greater(0)
x.greater_equal(y), x.less(0), torch.less_equal(x, y), x.not_equal(y), torch.rsub(x, 2, alpha=3)
torch.rsub(x, 1), torch.ger(v, v), i.bitwise_xor(2), torch.addmv(torch.zeros(3), x, v, alpha=2)
torch.addbmm(torch.zeros(3, 3), b, b.mT), torch.addr(torch.zeros(4, 4), v, v), b[0, :2, :2].det()
torch.row_stack((x, y)), torch.asarray([1.0, 2.0]), x.new_empty((2, 3), device=x.device).shape
torch.inverse(b[0, :2, :2]), torch.slogdet(b[0, :2, :2])[1], torch.matrix_power(b[0, :2, :2], 2)
x.nansum(dim=1, dtype=torch.float64), torch.nanmean(x, dim=(0, 1)), torch.randn(size=(2, 3)).shape
torch.quantile(x, 0.4, dim=1, interpolation="lower"), torch.scatter(x, 1, i, value=1.0), x.itemsize
torch.isin(elements=i, test_elements=i[0]), torch.searchsorted(v.sort()[0], v), x.nbytes, i.mode(1)
torch.searchsorted(sorted_sequence=v.sort(dim=0)[0], input=x), torch.is_grad_enabled(), x.digamma()
torch.searchsorted(v.sort()[0], v, right=True), torch.searchsorted(v, v, sorter=v.argsort())
torch.linalg.cross(x[:, :3], y[:, :3]), torch.linalg.solve(A=b[0, :2, :2], B=x[:2]), x.take(i[0])
torch.linalg.solve(torch.eye(4) * 2, y.T), torch.linalg.solve(torch.eye(4).expand(3, 4, 4) * 2, x)
torch.set_default_dtype(torch.float32), torch.set_num_threads(torch.get_num_threads()), x.any(1)
torch._assert(True, "the sizes differ"), y.kthvalue(2, 1), torch.tensor_split(x, 3, 1), torch.cov(x)
x.abs().lgamma(), torch.Tensor(2, 3).shape, torch.Tensor([1, 2]), torch.FloatTensor([1, 2])
torch.FloatTensor(2, 3).shape, torch.ByteTensor([1, 2]), x.new(2, 3).shape, torch.cov(v)
torch.corrcoef(x), torch.corrcoef(x[:1]), torch.linalg.svd(x)[1], torch.svd(x).S, torch.trapezoid(x)
torch.aminmax(x, dim=1), torch.bucketize(v, v.sort()[0]), x.masked_scatter(x > 0, y), torch.pdist(x)
torch.cholesky_solve(y[:2].T, torch.linalg.cholesky(torch.eye(4) * 3)), x.put(i[0], v)
torch.trapezoid(x, dx=2.0, dim=0), torch.cumulative_trapezoid(x, v.sort()[0]), x.put(i[0], v, True)
x.index_put((i[0, :2], i[1, :2]), v[0]), x.index_put((i[0], i[1]), v, accumulate=True)
torch.mvlgamma(x.abs() + 2, 2), x.select_scatter(v, 0, 1), x.slice_scatter(y[:2], 0, 1)
torch.split_with_sizes(x, [1, 2]), x.sum_to_size(1, 4), x.sum_to_size(3, 1), torch.vander(v)
torch.unravel_index(i, (2, 2)), torch.vander(v, 3, True), torch.renorm(x, 2, 0, 1.0), x.is_meta
torch.hann_window(5), torch.hamming_window(5, False), torch.blackman_window(6), torch.hsplit(x, 2)
torch.broadcast_shapes((3, 1), (4,)), torch.linalg.lstsq(x.T, y.T, driver="gels").solution
torch.linalg.matrix_rank(x, atol=1e-3, rtol=0.1), torch.is_complex(x), x.storage_offset()
torch.linalg.tensorinv(torch.eye(4).reshape(2, 2, 4)), x[1:, 1].storage_offset()
"""

TRAINING = """
x.to("cpu", non_blocking=True), x.to(torch.device("cpu")), m.to("cpu").weight.shape, w.data.shape
F.log_softmax(x, dim=-1), F.log_softmax(b, 1), m.to(device=torch.device("cpu")).double().weight.dtype
nn.Linear(4, 2)(x).shape, F.log_softmax(x.half(), -1, dtype=torch.float32)
F.log_softmax(x, dim=-1, dtype=torch.float64), nn.Linear(4, 2).cpu()(x).shape
nn.Linear(in_features=4, out_features=2, bias=False)(x).shape, nn.Embedding.from_pretrained(x)(i)
nn.Linear(4, 2, device="cpu", dtype=torch.float64)(x.double()).dtype, nn.Dropout(0.0)(x)
nn.Linear(4, 2, True, None, None)(x).shape, nn.Embedding(10, 4, padding_idx=0)(i).shape
nn.LayerNorm(4, eps=1e-6, elementwise_affine=False)(x), nn.BatchNorm2d(2)(b[None]).shape
nn.Embedding.from_pretrained(x, freeze=False).weight.requires_grad, nn.MaxPool2d(2)(b[None])
nn.Dropout(p=0.0, inplace=True)(x.clone()), nn.Conv1d(3, 5, kernel_size=2, padding=1)(b).shape
nn.Conv2d(2, 5, 3, stride=1, padding=1, bias=False)(b[None]).shape, nn.ReLU(inplace=True)(x.clone())
nn.ConvTranspose2d(2, 5, 2, stride=2)(b[None]).shape, nn.AdaptiveAvgPool2d((1, 1))(b[None])
nn.GELU(approximate="tanh")(x), nn.Hardsigmoid()(x), nn.Softmax(dim=-1)(x), nn.Softmax()(x)
nn.Identity()(x), nn.LogSoftmax(dim=1)(x), nn.Flatten(start_dim=1)(b)
nn.Sequential(nn.ReLU()).append(nn.Tanh())(x), nn.ModuleList([nn.ReLU()]).extend([nn.Tanh()])[1](x)
nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))(x).shape
nn.ModuleDict({"a": nn.Identity()})["a"](x), nn.ModuleDict({"a": nn.Identity()}).a(x)
nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])[1](x).shape
nn.Parameter(torch.zeros(3)).requires_grad, nn.MultiheadAttention(4, 2)(b, b, b)[0].shape
nn.Parameter(torch.zeros(3), requires_grad=False).requires_grad
nn.LSTM(4, 5, num_layers=2, batch_first=True)(b)[0].shape
nn.GRU(4, 5, batch_first=True, bidirectional=True)(b)[0].shape
nn.MultiheadAttention(4, 2)(b, b, b)[1].shape, nn.TransformerEncoderLayer(4, 2, 8)(b).shape
nn.MultiheadAttention(embed_dim=4, num_heads=2, batch_first=True)(b, b, b, need_weights=False)[0].shape
nn.TransformerEncoderLayer(d_model=4, nhead=2, batch_first=True)(b).shape
nn.Transformer.generate_square_subsequent_mask(3), nn.CrossEntropyLoss()(x, i[0, :3])
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, nhead=2), num_layers=2)(b).shape
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, nhead=2, batch_first=True), 2, enable_nested_tensor=False)(b).shape
nn.Transformer(d_model=4, nhead=2, num_encoder_layers=1, num_decoder_layers=1)(b, b).shape
nn.Transformer(4, nhead=2, dropout=0.0).encoder(b, torch.zeros(2, 2, dtype=torch.bool)).shape
nn.MSELoss(reduction="sum")(x, y), nn.BCEWithLogitsLoss()(x, (y > 0).float()), F.softmax(x, dim=-1)
nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=0.1)(x, i[0, :3]), F.softmax(x), F.softmax(v)
nn.NLLLoss()(x.log_softmax(dim=1), i[0, :3]), F.softmax(x, dim=-1, dtype=torch.float64)
nn.KLDivLoss(reduction="batchmean")(x.log_softmax(-1), y.softmax(-1)), F.cross_entropy(x, i[0, :3])
F.cross_entropy(x.view(-1, 4), i[0, :3].view(-1), ignore_index=-1), F.pad(x, (1, 2))
F.cross_entropy(input=x, target=i[0, :3]), F.binary_cross_entropy_with_logits(x, (y > 0).float())
F.nll_loss(F.log_softmax(x, dim=1), i[0, :3]), F.dropout(x, p=0.0, training=True)
F.layer_norm(x, (4,)), F.embedding(i, x.T), F.one_hot(i, num_classes=4), F.one_hot(i).shape
F.normalize(x, dim=-1), F.pad(x, (1, 1, 0, 2), value=1.0), F.conv2d(b[None], torch.ones(1, 2, 2, 2))
F.max_pool2d(b[None], 2), F.max_pool2d(b[None], 2, return_indices=True), F.leaky_relu(x, 0.2)
F.avg_pool2d(b[None], kernel_size=2, stride=1), F.adaptive_avg_pool2d(b[None], 1), F.sigmoid(x)
F.avg_pool2d(b[None], 2, padding=1, divisor_override=3), F.interpolate(b, 7, mode="linear")
F.interpolate(b[None], scale_factor=2, mode="nearest"), F.tanh(x), F.cosine_similarity(x, y, dim=1)
F.interpolate(b[None], 5, mode="nearest-exact"), F.glu(x, dim=-1)
F.scaled_dot_product_attention(b, b, b, is_causal=True), F.unfold(b[None], kernel_size=2).shape
F.gumbel_softmax(x, tau=1.0, hard=True).sum(dim=-1), optim.SGD([w], lr=0.1, momentum=0.9)
optim.Adam([w], lr=1e-3, betas=(0.9, 0.98), eps=1e-9), nn.utils.clip_grad_norm_([w], max_norm=1.0)
optim.AdamW([{"params": [w], "weight_decay": 0.0}], lr=1e-3)
optim.AdamW([w], lr=1e-3, fused=False, foreach=False), nn.utils.clip_grad_norm_([w], 1.0)
lr_scheduler.StepLR(optim.SGD([w], lr=0.1), step_size=2, gamma=0.5).get_last_lr()
lr_scheduler.CosineAnnealingLR(optim.SGD([w], lr=0.1), T_max=10).get_last_lr()
lr_scheduler.LambdaLR(optim.SGD([w], lr=0.1), lr_lambda=lambda step: 1.0).get_last_lr()
lr_scheduler.OneCycleLR(optim.SGD([w], lr=0.1), max_lr=0.1, total_steps=10).get_last_lr()
nn.utils.rnn.pad_sequence([v, v[:2]], batch_first=True), init.xavier_uniform_(w).shape
init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu").shape, init.xavier_normal_(w).shape
init.kaiming_normal_(w, 0, "fan_in").shape, init.zeros_(w), init.kaiming_uniform_(w, a=2.0).shape
init.normal_(w, mean=0.0, std=0.0), init.ones_(w), init.constant_(w, 0.5), init.orthogonal_(w).shape
init.constant_(w, val=0.5), init.uniform_(w, -0.1, 0.1).shape, init.trunc_normal_(w, std=0.02).shape
init.eye_(torch.empty(2, 3)), init.dirac_(torch.empty(4, 2, 3)), (w * 2).grad_fn is not None
init.sparse_(torch.empty(4, 3), sparsity=0.5).shape, [n for n, p in m.named_parameters()]
init._calculate_fan_in_and_fan_out(torch.ones(4, 3, 2, 2))
(init.kaiming_uniform_(torch.zeros(300, 200), a=5**0.5).abs() < 0.08).all()
(init.kaiming_uniform_(torch.zeros(300, 200), 5**0.5).abs() < 0.08).all()
nn.ModuleList([None, nn.ReLU()])[0] is None, w.requires_grad_(False).requires_grad
[name for name, _ in nn.Linear(4, 2).named_parameters(remove_duplicate=False)]
[type(p).__name__ for p in nn.Linear(4, 2).parameters()], m.train(False).training
[s.shape for s in func.stack_module_state([nn.Linear(4, 3)] * 2)[0].values()]
torch.no_grad()(lambda: (w * 2).requires_grad)(), torch.cuda.is_available()
sum(p.numel() for p in m.parameters() if p.requires_grad), sorted(m.state_dict().keys())
torch.device("cuda" if torch.cuda.is_available() else "cpu"), torch.cuda.empty_cache()
list(data.DataLoader(data.TensorDataset(x, y), batch_size=2, shuffle=False))[0][0]
list(data.DataLoader(data.TensorDataset(x), 2, persistent_workers=False, prefetch_factor=None))[0][0]
torch.backends.cudnn.deterministic, torch.backends.mps.is_available(), torch.jit.is_scripting()
len(data.DataLoader(data.TensorDataset(x), batch_size=2, drop_last=True))
data.random_split(data.TensorDataset(x), [2, 1])[0][0][0].shape, torch.jit.unused(lambda: 1.0)()
distributions.Categorical(logits=x).log_prob(i[0, :3]), distributions.Normal(0.0, 1.0).log_prob(x)
distributions.kl_divergence(distributions.Normal(0.0, 1.0), distributions.Normal(1.0, 2.0))
torch.compile(lambda x: x + 1, backend="eager")(x), torch.jit.ignore()(lambda: 1.0) is not None
isinstance(nn.Linear(4, 2), (nn.Conv3d, nn.SyncBatchNorm)), isinstance(nn.Linear(2, 2), nn.Module)
isinstance(nn.Sequential(nn.Linear(2, 2))[0], nn.Linear), isinstance(nn.Parameter(x), torch.Tensor)
isinstance(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1).layers[0].linear1, nn.Linear)
F.max_unpool2d(*F.max_pool2d(b[None, :, :2], 2, return_indices=True), 2), F.elu_(x.clone())
F.batch_norm(x, None, None, training=True), F.batch_norm(x, torch.zeros(4), torch.ones(4))
F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean")
autograd.grad((w * w).sum(), w), autograd.grad(w * w, w, grad_outputs=torch.ones_like(w))[0]
autograd.grad([w.sum(), (w * w).sum()], [w]), autograd.grad(w.sum(), [w, q], allow_unused=True)
autograd.grad(w.sum(), [w, q], materialize_grads=True), F.adaptive_max_pool1d(b, 3, True)
autograd.grad(w * w, w, torch.stack([w.detach(), w.detach() * 2]), is_grads_batched=True)
F.adaptive_max_pool2d(b[None], (2, 3), return_indices=True), F.dropout2d(x, 0.0)
F.local_response_norm(b, 2), F.lp_pool1d(b, 2.0, 2), F.lp_pool2d(b[None].abs(), 3.0, 2)
nn.LocalResponseNorm(2)(b), nn.UpsamplingNearest2d(7)(b[None]), nn.PairwiseDistance()(x, y)
nn.PoissonNLLLoss()(x, y.abs()), nn.HingeEmbeddingLoss(reduction="sum")(x, (y > 0) * 2 - 1)
nn.PixelUnshuffle(2)(b[None, :, :2]), functional.jacobian(lambda x: x * x, v)
functional.hessian(lambda x: (x**3).sum(), v), functional.vjp(torch.sin, v, v)
functional.jacobian(lambda x, y: (x * y, x + y), (v, v)), functional.jvp(torch.sin, (v,), (v,))
functional.hvp(lambda x: (x**3).sum(), v, v), func.grad(lambda x: (x**3).sum())(v)
func.grad_and_value(lambda x: (x**2).sum())(v), func.jacrev(torch.sin)(v), func.jacfwd(torch.sin)(v)
func.hessian(lambda x: (x**3).sum())(v), func.vjp(torch.sin, v)[1](v), func.vmap(torch.dot)(x, y)
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
w.sum().backward(); nn.utils.clip_grad_value_([w], 0.5); w.grad
with torch.no_grad(): r = (w * 2).requires_grad
with torch.inference_mode(): r = (w * 2).sum()
torch.set_grad_enabled(True); torch.is_grad_enabled()
autograd.grad((w**3).sum(), w, create_graph=True)[0].sum().backward(); w.grad
loss = (w * x).sum(); loss.backward(retain_graph=True); loss.item()
(w * x).backward(gradient=torch.ones(3, 4)); w.grad
w.register_hook(lambda g: 2 * g); w.sum().backward(); w.grad
m.eval(); m.training
m.load_state_dict(m.state_dict()); m.weight.shape
m.weight.data.normal_(mean=0.0, std=0.02); m.bias.data.zero_(); m.bias.detach()
m.apply(lambda module: None); m.weight.shape
m.register_buffer("count", torch.zeros(1)); m.count
m.register_forward_hook(lambda module, inputs, output: None); m(x).shape
m.zero_grad(set_to_none=True); m.weight.grad is None
m.requires_grad_(False); m.weight.requires_grad
with torch.autocast("cpu", enabled=False): r = x + 1
with autograd.set_detect_anomaly(True): r = x + 1
torch.random.manual_seed(0); torch.rand(2).shape
torch.save({"x": x}, path); torch.load(path, map_location="cpu")["x"]
torch.save({"x": x}, path + ".npz"); torch.load(path + ".npz", map_location="cpu", weights_only=True)["x"]
torch.save({"x": x}, path + ".pt"); torch.load(path + ".pt", map_location="cpu", weights_only=True)["x"]
w.exp().sum().backward(inputs=[w]); w.grad
from torch.jit.annotations import List; List[int] is not None
from torch.jit import Final; Final[int] is not None
from torch.fx import wrap; wrap("len")
from torch.utils.data import DataLoader, TensorDataset; len(DataLoader(TensorDataset(x), batch_size=2))
from torch.utils.checkpoint import checkpoint; checkpoint(torch.exp, w, use_reentrant=False)
from torch.amp import autocast; autocast("cpu", enabled=False) is not None
from torch.special import expit, expm1; expit(x) + expm1(x)
from torch.nn.parameter import Parameter; Parameter(x).requires_grad
import torch.utils.data as data; data.TensorDataset(x)[0][0]
autograd.backward([w.sum(), (w * w).sum()]); w.grad
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
"""
