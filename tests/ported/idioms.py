"""What people write in PyTorch: one idiom a line, run as it is with minigrad named `torch`.

`x` (3, 4), `y` (3, 4), `v` (4,), `b` (2, 3, 4) and `i` (3, 4), whole numbers, are there, and
`parameter`, a leaf of shape (3, 4). An idiom's value is that of its last expression.
"""

TENSORS = """
torch.tensor([1.0, 2.0])
torch.tensor([1, 2], dtype=torch.long)
torch.tensor([1, 2], dtype=torch.float32)
torch.as_tensor([1.0, 2.0])
torch.from_numpy(np.arange(6.0).reshape(2, 3))
torch.FloatTensor([1.0, 2.0])
torch.LongTensor([1, 2])
torch.DoubleTensor([1, 2])
torch.IntTensor([1, 2])
torch.BoolTensor([True, False])
torch.zeros(2, 3)
torch.zeros((2, 3))
torch.zeros(size=(2, 3))
torch.ones(2, 3, dtype=torch.double)
torch.full((2, 3), 7.0)
torch.full(size=(2,), fill_value=1.5)
torch.empty(2, 3).shape
torch.eye(3)
torch.arange(5)
torch.arange(0, 10, 2)
torch.arange(start=0, end=5, step=1)
torch.arange(3, dtype=torch.float)
torch.linspace(0, 1, 5)
torch.linspace(0, 1, steps=5)
torch.zeros_like(x)
torch.full_like(x, 2.0)
torch.ones_like(x, dtype=torch.bool)
torch.manual_seed(0); torch.rand(2, 3).shape
torch.manual_seed(0); torch.randn((2, 3)).shape
torch.randint(0, 10, (2, 3)).shape
torch.randint(10, size=(2, 3)).shape
torch.randperm(5).sort()[0]
torch.rand_like(x).shape
torch.randn_like(x).shape
torch.normal(0.0, 1.0, size=(2, 3)).shape
torch.bernoulli(torch.ones(3))
torch.normal(x, y.abs()).shape
torch.normal(0.0, y.abs()).shape
torch.normal(x, 1.0).shape
torch.multinomial(torch.tensor([0.0, 1.0]), 1)
torch.cat([x, y], dim=0)
torch.cat((x, y), 1)
torch.concat([x, y], dim=-1)
torch.stack([x, y], dim=1)
torch.hstack((x, y))
x.view(4, 3)
x.view(-1)
x.view((2, 6))
x.view_as(y)
x.reshape(2, -1)
torch.reshape(x, (4, 3))
x.reshape_as(y)
b.permute(0, 2, 1)
b.permute((2, 0, 1))
torch.permute(b, dims=(0, 2, 1))
b.transpose(1, 2)
b.transpose(-2, -1)
x.transpose(0, 1)
torch.transpose(b, 0, 1)
x.t()
x.T
b.mT
x.contiguous()
x.flatten()
b.flatten(1)
torch.flatten(b, start_dim=1)
b.flatten(start_dim=0, end_dim=1)
b.unflatten(2, (2, 2))
x.unsqueeze(0)
x.unsqueeze(dim=-1)
torch.unsqueeze(x, 0)
x[:, None].squeeze(1)
x[:, None].squeeze(dim=1)
torch.squeeze(x[None])
x.size()
x.size(0)
x.size(-1)
x.size(dim=1)
x.shape[0]
torch.Size([2, 3])
x.dim()
x.ndim
x.numel()
x.nelement()
x.element_size()
x.expand(2, 3, 4)
v.expand(3, -1)
v.expand_as(x)
x.repeat(2, 1)
x.repeat_interleave(2, dim=0)
torch.repeat_interleave(x, 2, dim=1)
torch.tile(x, (2, 1))
x.tile(2, 1)
x.chunk(2, dim=-1)
torch.chunk(x, 2, 1)
x.split(2, dim=1)
x.split([1, 3], dim=1)
torch.split(x, 2, dim=1)
b.unbind(0)
b.unbind(dim=1)
torch.unbind(b, dim=2)
x.sum()
x.sum(dim=1)
x.sum(1, keepdim=True)
b.sum(dim=(0, 2))
b.sum([0, 2])
b.mean(dim=[0, 2])
x.mean(dim=-1, keepdim=True)
torch.mean(x, dim=0)
x.std(dim=1)
x.std(dim=1, unbiased=False)
x.var(dim=1, correction=0)
torch.var_mean(x, dim=1)
x.max(dim=1)
x.max(dim=1).values
x.max(dim=1, keepdim=True)[0]
torch.max(x, dim=1)[1]
torch.max(x, y)
torch.min(x, y)
x.max(y)
x.min(v)
x.max()
torch.min(x, dim=0).indices
x.amax(dim=1)
torch.amin(x, dim=(0, 1))
x.argmax(dim=1)
x.argmax(dim=-1, keepdim=True)
torch.argmax(x, dim=0)
x.median(dim=1).values
x.sort(dim=1, descending=True).values
torch.sort(x, dim=1)[1]
torch.argsort(x, dim=1, descending=True)
torch.topk(x, 2, dim=1).values
x.topk(k=2, dim=-1)[1]
x.cumsum(dim=1)
torch.cumsum(x, dim=0)
x.cumprod(dim=1)
x.prod(dim=1)
x.norm()
x.norm(dim=1)
x.norm(p=2, dim=-1, keepdim=True)
torch.norm(x, p=1, dim=1)
torch.linalg.norm(x, dim=1)
torch.linalg.vector_norm(x, dim=1)
x.all(dim=1)
(x > 0).any(dim=1)
torch.logsumexp(x, dim=1)
x.softmax(dim=-1)
torch.softmax(x, dim=1)
x.log_softmax(dim=-1)
x.clamp(min=0)
x.clamp(-1, 1)
torch.clamp(x, min=-0.5, max=0.5)
x.clamp_min(0.1)
x.add(y)
x.add(y, alpha=2)
torch.add(x, y, alpha=0.5)
x.sub(y)
x.mul(2)
x.div(y.abs() + 1)
torch.div(x, 2, rounding_mode="floor")
x.pow(2)
x.neg()
x.abs().sqrt()
x.abs().rsqrt()
x.sigmoid()
x.tanh()
x.relu()
x.exp().log()
torch.erf(x)
torch.where(x > 0, x, torch.zeros_like(x))
x.masked_fill(x > 0, float("-inf"))
x.masked_fill(mask=x > 0, value=0.0)
torch.masked_select(x, x > 0)
x[x > 0]
x.gather(1, i)
x.gather(dim=1, index=i)
torch.gather(x, 1, i)
torch.zeros(3, 4).scatter_(1, i, 1.0)
torch.zeros(3, 4).scatter(1, i, x)
torch.zeros(3, 4).scatter_add_(1, i, x)
x.index_select(1, i[0])
torch.index_select(x, dim=0, index=i[0, :2])
x.take_along_dim(i, dim=1)
torch.zeros(4, 4).index_add_(0, i[0], torch.ones(4, 4))
x.flip(0)
x.flip(0, 1)
x.flip(dims=(0, 1))
torch.flip(x, [1])
x.roll(1, 0)
torch.roll(x, shifts=1, dims=1)
torch.tril(torch.ones(3, 3))
torch.triu(torch.ones(3, 3), diagonal=1)
torch.ones(3, 3).tril(diagonal=-1)
torch.diag(v)
x.diagonal(dim1=0, dim2=1)
torch.diag_embed(v)
x.matmul(x.T)
x @ x.t()
torch.matmul(x, y.T)
torch.mm(x, y.t())
torch.bmm(b, b.transpose(1, 2))
torch.mv(x, v)
torch.tensordot(x, y, dims=([1], [1]))
torch.dot(v, v)
torch.outer(v, v)
torch.einsum("ij,kj->ik", x, y)
torch.einsum("bij,bkj->bik", [b, b])
torch.baddbmm(torch.zeros(2, 3, 3), b, b.mT)
torch.addmm(torch.zeros(3, 3), x, y.T)
torch.cdist(x, y)
torch.meshgrid(v, v, indexing="ij")
torch.meshgrid([v, v])
torch.meshgrid([v, v], indexing="xy")
torch.isnan(x).any()
torch.allclose(x, x + 1e-9)
torch.equal(x, x)
x.eq(y)
x.ne(y)
x.gt(0)
x.ge(0).float()
x.lt(y)
x.le(0)
torch.logical_and(x > 0, y > 0)
(x > 0) & ~(y > 0)
x.float()
x.double()
x.half().float()
x.long()
x.int()
x.bool()
x.to(torch.float64)
x.to(dtype=torch.float16)
x.to("cpu")
x.to(torch.device("cpu"))
x.to(y)
x.type_as(y.double())
x.type(torch.float64)
x.cpu()
x.detach()
x.detach().cpu().numpy()
x.clone()
x.item() if x.numel() == 1 else x[0, 0].item()
x.tolist()
x.dtype == torch.float32
x.is_floating_point()
torch.is_tensor(x)
isinstance(x, torch.Tensor)
x.device
x.is_cuda
x.requires_grad
x.new_zeros(2, 3)
x.new_ones((2,))
x.new_tensor([1.0, 2.0])
x.new_full((2,), 3.0)
x.nonzero()
torch.nonzero(x > 0)
torch.nonzero(x > 0, as_tuple=True)
torch.nonzero(x > 0, as_tuple=False)
torch.unique(i)
torch.bincount(i[0])
torch.isfinite(x).all()
torch.nan_to_num(x)
torch.movedim(b, 0, -1)
x.swapaxes(0, 1)
x.swapdims(0, 1)
x.narrow(1, 0, 2)
torch.narrow(x, 0, 1, 2)
x.select(1, 0)
x.index_fill(1, i[0, :1], 0.0)
x.clone().index_fill_(1, i[0, :1], 0.0)
x.unfold(dimension=1, size=2, step=1)
torch.logcumsumexp(x, dim=1)
torch.cummax(x, dim=1).indices
x.cummin(1)[0]
torch.scatter_reduce(x, 1, i, x, "amax", include_self=False)
torch.special.gammaln(x.abs())
torch.special.psi(x.abs() + 1)
torch.polygamma(1, x.abs() + 1)
x.lerp(y, 0.5)
torch.logical_not(x > 0)
torch.sign(x)
torch.floor(x)
torch.fmod(x, 2.0)
torch.remainder(x, 2.0)
torch.atan2(x, y)
torch.asin(x.clamp(-1, 1))
torch.maximum(x, y)
torch.inf
torch.pi
torch.finfo(torch.float32).min
torch.finfo(x.dtype).eps
torch.iinfo(torch.int64).max
torch.zeros(3).fill_(2.0)
torch.zeros(3).zero_()
torch.zeros(3, 4).copy_(x)
torch.ones(3, 4).mul_(x)
torch.ones(3, 4).add_(x, alpha=-0.1)
torch.ones(3, 4).addcmul_(x, y, value=0.5)
torch.ones(3, 4).addcdiv_(x, y.abs() + 1, value=-0.5)
torch.ones(3, 4).lerp_(x, 0.1)
torch.ones(3, 4).clamp_(max=0.5)
torch.ones(3, 4).masked_fill_(x > 0, 0.0)
torch.zeros(3).normal_().shape
torch.zeros(3).uniform_(-1, 1).shape
torch.ones(3).sigmoid_()
torch.acos(x.clamp(-1, 1))
torch.acosh(x.abs() + 1)
torch.asinh(x)
torch.atan(x)
torch.atanh(x.clamp(-0.9, 0.9))
torch.addcdiv(x, x, y.abs() + 1, value=2.0)
x.addcmul(x, y)
x.clamp_max(0.1)
torch.clip(x, min=0.0)
torch.divide(x, 2, rounding_mode="trunc")
torch.subtract(x, y, alpha=2)
torch.true_divide(x, 2)
x.clone().sub_(y, alpha=2)
x.clone().relu_()
x.short()
torch.std_mean(x, dim=0)
x.ndimension()
x.is_contiguous()
x.is_sparse
x.absolute()
torch.positive(x)
x.frac()
torch.float_power(x.abs(), 2)
torch.dist(x, y)
torch.dist(x, y, p=1)
x.greater(0)
x.greater_equal(y)
x.less(0)
torch.less_equal(x, y)
x.not_equal(y)
torch.rsub(x, 2, alpha=3)
(x > 0).bitwise_and(y > 0)
torch.bitwise_or(i, i)
i.bitwise_xor(2)
torch.ger(v, v)
torch.addmv(torch.zeros(3), x, v, alpha=2)
torch.addbmm(torch.zeros(3, 3), b, b.mT)
torch.addr(torch.zeros(4, 4), v, v)
torch.row_stack((x, y))
torch.asarray([1.0, 2.0])
x.new_empty((2, 3), device=x.device).shape
torch.inverse(b[0, :2, :2])
b[0, :2, :2].det()
torch.slogdet(b[0, :2, :2])[1]
torch.matrix_power(b[0, :2, :2], 2)
x.clone().pow_(2)
x.clone().clamp_min_(0)
x.clone().clamp_max_(max=0)
x.clone(memory_format=torch.contiguous_format)
b[None].to(memory_format=torch.channels_last)
x.where(x > 0, y)
torch.where(x > 0, input=x, other=y)
x.amax(dim=())
x.sum(dim=())
x.mean(dim=[], keepdim=True)
x.nansum(dim=1, dtype=torch.float64)
torch.nanmean(x, dim=(0, 1))
x.std(dim=())
x.sum(dim=1, dtype=torch.float64)
x.half().softmax(dim=-1, dtype=torch.float32)
F.log_softmax(x.half(), -1, dtype=torch.float32)
(x > 0).cumsum(dim=1, dtype=torch.float32)
i.prod(dim=1, dtype=torch.float64)
i.sort(stable=True)
torch.sort(input=x)
i.argsort(dim=1, stable=True)
torch.quantile(x, 0.4, dim=1, interpolation="lower")
torch.unique(i, sorted=True)
x.split(split_size=2, dim=1)
torch.split(x, split_size_or_sections=2)
torch.ones(size=(2, 3), dtype=torch.long)
torch.randn(size=(2, 3)).shape
torch.arange(end=5)
torch.zeros_like(x, device=x.device)
torch.full_like(x, 2.0, device="cpu", memory_format=torch.preserve_format)
x.new_full((2,), 3.0, device="cpu", requires_grad=True)
torch.zeros(3, 4).scatter_(1, i, value=1.0)
torch.scatter(x, 1, i, value=1.0)
torch.diag_embed(v, dim1=0, dim2=1)
b.transpose(dim0=1, dim1=2)
torch.swapaxes(b, axis0=0, axis1=1)
v.expand(size=(2, 4))
torch.tile(x, dims=(2, 1))
torch.cat([x, y], axis=1)
x.amin(axis=0, keepdims=True)
i.div(-2, rounding_mode="trunc")
torch.add(x > 0, other=y > 0)
torch.cdist(x1=x, x2=y)
torch.allclose(x, other=x)
torch.isin(elements=i, test_elements=i[0])
torch.searchsorted(sorted_sequence=v.sort(dim=0)[0], input=x)
torch.linalg.cross(x[:, :3], y[:, :3])
torch.linalg.solve(A=b[0, :2, :2], B=x[:2])
x.itemsize
x.nbytes
x.grad is None
parameter.data.shape
"""

TRAINING = """
nn.Linear(4, 2)(x).shape
nn.Linear(in_features=4, out_features=2, bias=False)(x).shape
nn.Linear(4, 2, device="cpu", dtype=torch.float64)(x.double()).dtype
nn.Embedding(10, 4, padding_idx=0)(i).shape
nn.LayerNorm(4)(x)
nn.LayerNorm(4, eps=1e-6, elementwise_affine=False)(x)
nn.RMSNorm(4)(x)
nn.BatchNorm1d(4)(x)
nn.BatchNorm2d(2)(b[None]).shape
nn.GroupNorm(2, 4)(x)
nn.Dropout(0.0)(x)
nn.Dropout(p=0.0, inplace=True)(x.clone())
nn.Conv1d(3, 5, kernel_size=2, padding=1)(b).shape
nn.Conv2d(2, 5, 3, stride=1, padding=1, bias=False)(b[None]).shape
nn.ConvTranspose2d(2, 5, 2, stride=2)(b[None]).shape
nn.MaxPool2d(2)(b[None])
nn.AdaptiveAvgPool2d((1, 1))(b[None])
nn.ReLU(inplace=True)(x.clone())
nn.GELU()(x)
nn.GELU(approximate="tanh")(x)
nn.SiLU()(x)
nn.Hardswish()(x)
nn.Hardsigmoid()(x)
nn.Softmax(dim=-1)(x)
nn.LogSoftmax(dim=1)(x)
nn.Flatten(start_dim=1)(b)
nn.Identity()(x)
nn.Embedding.from_pretrained(x)(i)
nn.Embedding.from_pretrained(x, freeze=False).weight.requires_grad
nn.Sequential(nn.ReLU()).append(nn.Tanh())(x)
nn.ModuleList([nn.ReLU()]).extend([nn.Tanh()])[1](x)
nn.Linear(4, 2).cpu()(x).shape
nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))(x).shape
nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])[1](x).shape
nn.ModuleDict({"a": nn.Identity()})["a"](x)
nn.Parameter(torch.zeros(3)).requires_grad
nn.Parameter(torch.zeros(3), requires_grad=False).requires_grad
nn.LSTM(4, 5, num_layers=2, batch_first=True)(b)[0].shape
nn.GRU(4, 5, batch_first=True, bidirectional=True)(b)[0].shape
nn.MultiheadAttention(4, 2)(b, b, b)[0].shape
nn.MultiheadAttention(embed_dim=4, num_heads=2, batch_first=True)(b, b, b, need_weights=False)[0].shape
nn.TransformerEncoderLayer(d_model=4, nhead=2, batch_first=True)(b).shape
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, nhead=2), num_layers=2)(b).shape
nn.Transformer(d_model=4, nhead=2, num_encoder_layers=1, num_decoder_layers=1)(b, b).shape
nn.Transformer.generate_square_subsequent_mask(3)
nn.CrossEntropyLoss()(x, i[0, :3])
nn.CrossEntropyLoss(ignore_index=-100, label_smoothing=0.1)(x, i[0, :3])
nn.MSELoss(reduction="sum")(x, y)
nn.BCEWithLogitsLoss()(x, (y > 0).float())
nn.NLLLoss()(x.log_softmax(dim=1), i[0, :3])
nn.KLDivLoss(reduction="batchmean")(x.log_softmax(-1), y.softmax(-1))
nn.SmoothL1Loss()(x, y)
F.relu(x)
F.gelu(x)
F.softmax(x, dim=-1)
F.log_softmax(x, dim=-1)
F.cross_entropy(x, i[0, :3])
F.cross_entropy(x.view(-1, 4), i[0, :3].view(-1), ignore_index=-1)
F.cross_entropy(input=x, target=i[0, :3])
F.mse_loss(x, y)
F.binary_cross_entropy_with_logits(x, (y > 0).float())
F.nll_loss(F.log_softmax(x, dim=1), i[0, :3])
F.dropout(x, p=0.0, training=True)
F.layer_norm(x, (4,))
F.linear(x, y)
F.embedding(i, x.T)
F.one_hot(i, num_classes=4)
F.normalize(x, dim=-1)
F.pad(x, (1, 2))
F.pad(x, (1, 1, 0, 2), value=1.0)
F.conv2d(b[None], torch.ones(1, 2, 2, 2))
F.max_pool2d(b[None], 2)
F.avg_pool2d(b[None], kernel_size=2, stride=1)
F.adaptive_avg_pool2d(b[None], 1)
F.interpolate(b[None], scale_factor=2, mode="nearest")
F.scaled_dot_product_attention(b, b, b, is_causal=True)
F.softplus(x)
F.leaky_relu(x, 0.2)
F.elu(x)
F.sigmoid(x)
F.tanh(x)
F.cosine_similarity(x, y, dim=1)
F.glu(x, dim=-1)
F.logsigmoid(x)
F.unfold(b[None], kernel_size=2).shape
F.gumbel_softmax(x, tau=1.0, hard=True).sum(dim=-1)
torch.optim.SGD([parameter], lr=0.1, momentum=0.9)
torch.optim.Adam([parameter], lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
torch.optim.AdamW([{"params": [parameter], "weight_decay": 0.0}], lr=1e-3)
torch.optim.AdamW([parameter], lr=1e-3, fused=False, foreach=False)
parameter.sum().backward(); nn.utils.clip_grad_norm_([parameter], 1.0).item()
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, nhead=2, batch_first=True), 2, enable_nested_tensor=False)(b).shape
nn.Transformer(4, nhead=2, dropout=0.0).encoder(b, torch.zeros(2, 2, dtype=torch.bool)).shape
nn.ModuleDict({"a": nn.Identity()}).a(x)
m = nn.Sequential(); m.add_module("0", nn.Identity()); m.add_module("b", nn.Softmax(dim=-1)); m(x)
m = nn.ModuleDict(); m.add_module("a", nn.Identity()); list(m.items())[0][1](x)
torch.max(x.detach(), dim=1)[1]
optimizer = torch.optim.SGD([parameter], lr=0.1); optimizer.zero_grad(set_to_none=True); parameter.sum().backward(); optimizer.step(); parameter.detach()
torch.optim.lr_scheduler.StepLR(torch.optim.SGD([parameter], lr=0.1), step_size=2, gamma=0.5).get_last_lr()
torch.optim.lr_scheduler.CosineAnnealingLR(torch.optim.SGD([parameter], lr=0.1), T_max=10).get_last_lr()
torch.optim.lr_scheduler.LambdaLR(torch.optim.SGD([parameter], lr=0.1), lr_lambda=lambda step: 1.0).get_last_lr()
torch.optim.lr_scheduler.OneCycleLR(torch.optim.SGD([parameter], lr=0.1), max_lr=0.1, total_steps=10).get_last_lr()
nn.utils.clip_grad_norm_([parameter], max_norm=1.0)
nn.utils.clip_grad_norm_([parameter], 1.0)
parameter.sum().backward(); nn.utils.clip_grad_value_([parameter], 0.5); parameter.grad
nn.init.xavier_uniform_(parameter).shape
nn.init.kaiming_normal_(parameter, mode="fan_out", nonlinearity="relu").shape
nn.init.kaiming_normal_(parameter, 0, "fan_in").shape
(nn.init.kaiming_uniform_(torch.zeros(300, 200), a=5**0.5).abs() < 0.08).all()
(nn.init.kaiming_uniform_(torch.zeros(300, 200), 5**0.5).abs() < 0.08).all()
nn.init.xavier_normal_(parameter).shape
nn.init.kaiming_uniform_(parameter, a=2.0).shape
nn.init.normal_(parameter, mean=0.0, std=0.0)
nn.init.zeros_(parameter)
nn.init.ones_(parameter)
nn.init.constant_(parameter, 0.5)
nn.init.constant_(parameter, val=0.5)
nn.init.uniform_(parameter, -0.1, 0.1).shape
nn.init.trunc_normal_(parameter, std=0.02).shape
nn.init.orthogonal_(parameter).shape
nn.init.eye_(torch.empty(2, 3))
nn.init.dirac_(torch.empty(4, 2, 3))
nn.init.sparse_(torch.empty(4, 3), sparsity=0.5).shape
nn.utils.rnn.pad_sequence([v, v[:2]], batch_first=True)
with torch.no_grad(): r = (parameter * 2).requires_grad
torch.no_grad()(lambda: (parameter * 2).requires_grad)()
with torch.inference_mode(): r = (parameter * 2).sum()
torch.is_grad_enabled()
torch.set_grad_enabled(True); torch.is_grad_enabled()
torch.autograd.grad((parameter * parameter).sum(), parameter)[0]
torch.autograd.grad((parameter ** 3).sum(), parameter, create_graph=True)[0].sum().backward(); parameter.grad
(parameter * x).sum().backward(); parameter.grad
loss = (parameter * x).sum(); loss.backward(retain_graph=True); loss.item()
(parameter * 2).grad_fn is not None
(parameter * x).backward(gradient=torch.ones(3, 4)); parameter.grad
h = parameter * 2; h.retain_grad(); h.sum().backward(); h.grad
parameter.register_hook(lambda g: 2 * g); parameter.sum().backward(); parameter.grad
parameter.requires_grad_(False).requires_grad
m = nn.Linear(4, 2); m.eval(); m.training
m = nn.Linear(4, 2); m.train(False).training
m = nn.Linear(4, 2); m.to("cpu").weight.shape
m = nn.Linear(4, 2); m.to(device=torch.device("cpu")).double().weight.dtype
m = nn.Linear(4, 2); sum(p.numel() for p in m.parameters() if p.requires_grad)
m = nn.Linear(4, 2); [n for n, p in m.named_parameters()]
m = nn.Linear(4, 2); sorted(m.state_dict().keys())
m = nn.Linear(4, 2); m.load_state_dict(m.state_dict()); m.weight.shape
m = nn.Linear(4, 2); m.weight.data.normal_(mean=0.0, std=0.02); m.bias.data.zero_(); m.bias.detach()
m = nn.Linear(4, 2); m.apply(lambda module: None); m.weight.shape
m = nn.Linear(4, 2); m.register_buffer("count", torch.zeros(1)); m.count
m = nn.Linear(4, 2); m.register_forward_hook(lambda module, inputs, output: None); m(x).shape
m = nn.Linear(4, 2); m.zero_grad(set_to_none=True); m.weight.grad is None
m = nn.Linear(4, 2); m.requires_grad_(False); m.weight.requires_grad
torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.cuda.is_available()
torch.get_default_dtype() == torch.float32
torch.set_default_dtype(torch.float32)
with torch.autocast("cpu", enabled=False): r = x + 1
with torch.autograd.set_detect_anomaly(True): r = x + 1
list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=2, shuffle=False))[0][0]
list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), 2, persistent_workers=False, prefetch_factor=None))[0][0]
torch.linalg.matmul(x, y.T)
torch.random.manual_seed(0); torch.rand(2).shape
torch.backends.cudnn.deterministic, torch.backends.mps.is_available()
torch.cuda.empty_cache()
len(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x), batch_size=2, drop_last=True))
torch.utils.data.random_split(torch.utils.data.TensorDataset(x), [2, 1])[0][0][0].shape
torch.save({"x": x}, path); torch.load(path, map_location="cpu")["x"]
torch.save({"x": x}, path + ".npz"); torch.load(path + ".npz", map_location="cpu", weights_only=True)["x"]
torch.save({"x": x}, path + ".pt"); torch.load(path + ".pt", map_location="cpu", weights_only=True)["x"]
torch.distributions.Categorical(logits=x).log_prob(i[0, :3])
torch.distributions.Normal(0.0, 1.0).log_prob(x)
torch.nn.functional.relu(x)
torch.set_num_threads(torch.get_num_threads())
torch.compile(lambda x: x + 1, backend="eager")(x)
torch.jit.is_scripting()
torch.jit.ignore()(lambda: 1.0) is not None
x.clamp(-0.9, 0.9).clone().erfinv_()
nn.init._calculate_fan_in_and_fan_out(torch.ones(4, 3, 2, 2))
parameter.exp().sum().backward(inputs=[parameter]); parameter.grad
from torch.jit.annotations import List; List[int] is not None
isinstance(x.dtype, torch.dtype)
F.softmax(x, dim=-1, dtype=torch.float64)
F.log_softmax(x, dim=-1, dtype=torch.float64)
x.softmax(-1, dtype=torch.float64)
x.softmax(-1, torch.float64)
torch.sum(x, dim=1, dtype=torch.float64)
x.sum(dtype=torch.float64)
x.mean(dim=1, keepdim=True, dtype=torch.float64)
x.prod(dim=1, dtype=torch.float64)
x.cumsum(1, dtype=torch.float64)
from torch.jit import Final; Final[int] is not None
from torch.fx import wrap; wrap("len")
from torch.utils.data import DataLoader, TensorDataset; len(DataLoader(TensorDataset(x), batch_size=2))
from torch.utils.checkpoint import checkpoint; checkpoint(torch.exp, parameter, use_reentrant=False)
from torch.amp import autocast; autocast("cpu", enabled=False) is not None
from torch.special import expit, expm1; expit(x) + expm1(x)
from torch.nn.parameter import Parameter; Parameter(x).requires_grad
import torch.utils.data as data; data.TensorDataset(x)[0][0]
torch._assert(True, "the sizes differ")
isinstance(nn.Linear(4, 2), (nn.Conv3d, nn.SyncBatchNorm))
nn.ModuleList([None, nn.ReLU()])[0] is None
[name for name, _ in nn.Linear(4, 2).named_parameters(remove_duplicate=False)]
torch.jit.unused(lambda: 1.0)()
"""
