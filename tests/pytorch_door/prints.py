"""Expressions whose texts are compared with PyTorch's, between semicolons.

They begin with a leaf `w` (2, 3), another `q` (3,), a matrix `m`, an image `x`, a parameter `p`,
an optimizer `o`, and `A`, the class of a module.
"""

TENSORS = """
torch.tensor(3) ; torch.tensor([1.5, 2]).half() ; torch.tensor([1, 2], dtype=torch.uint8) ; [q, m]
torch.tensor([[True], [False]]) ; torch.zeros(2, 0, 3) ; torch.tensor([float("inf"), 1, -2])
f"{m}" ; torch.tensor([1e-10, 1e10]) ; torch.arange(2000.0) ; torch.zeros(20, 60)
"%.3f" % torch.tensor(2.5) ; torch.arange(60.0).reshape(3, 4, 5)
torch.arange(16).reshape(2, 2, 2, 2) ; w.detach() ; {"a": q} ; torch.float32 ; torch.half
torch.bfloat16 ; w.dtype ; w.size() ; torch.Size([1, 2]) ; w.layout ; w.device ; torch.device("cpu")
str(w.device) ; torch.device("cpu", 0).index ; torch.device("cpu").index
torch.finfo(torch.float32) ; torch.finfo(torch.float64).min ; torch.finfo(torch.half)
torch.strided ; torch.iinfo(torch.int32) ; torch.iinfo(torch.uint8) ; torch.iinfo(torch.int64).max
torch.channels_last ; torch.get_default_dtype() ; w.stride() ; w.type() ; torch.preserve_format
torch.contiguous_format ; p ; nn.Parameter(m, requires_grad=False) ; nn.Parameter(m.double())
F.one_hot(torch.tensor([0, 2])) ; m.max(1) ; m.min(1) ; m.topk(1) ; m.sort() ; m.median(1)
m.mode() ; m.kthvalue(1) ; m.cummax(1) ; m.aminmax() ; torch.frexp(m) ; m[0].histogram(4)
torch.linalg.qr(torch.eye(2)) ; m.svd().S ; torch.linalg.svd(torch.eye(2))
torch.linalg.eigh(torch.eye(2)) ; torch.linalg.slogdet(torch.eye(2))
torch.linalg.lstsq(torch.eye(2), torch.eye(2)) ; torch.linalg.inv_ex(torch.eye(2)) ; m.max(0).values
torch.linalg.cholesky_ex(torch.eye(2)) ; m.unique(return_counts=True) ; type(m.max(1)).__name__
nn.utils.rnn.pack_padded_sequence(torch.ones(2, 2, 1), [2, 1]) ; torch.tensor(2.5) ; m.shape[0]
m.shape[1:] ; m.size()[:-1] + (1, 2) ; (4,) + m.shape ; m.shape * 2 ; 2 * m.shape[1:]
torch.linalg.lu(torch.eye(2)) ; torch.linalg.lu_factor(torch.eye(2)) ; m.shape[::-1] == (2, 3)
nn.Buffer(m) ; f"{w}" ; f"{torch.tensor(1.5)}" ; f"{torch.tensor(1.5):.3f}" ; w * 2
torch.linalg.lu_factor_ex(torch.eye(2)) ; torch.lu_unpack(*torch.linalg.lu_factor(torch.eye(2)))
torch.lu(m[:2]) ; m.lu(get_infos=True) ; m[:2, :1].triangular_solve(m[:2], transpose=True)
torch.triangular_solve(m[:2], m[:2]) ; m[:2, :1].triangular_solve(m[:2], upper=False)
m[:2].triangular_solve(m[:2], False, True, True) ; m[:, :2].size()
"""

HISTORIES = """
w.sum() ; w @ q ; w @ w.T ; q @ q ; x @ x ; w + 1 ; w - 2 ; w / 2 ; w * w ; w**2 ; -w ; w.view(6)
w.T ; w.reshape(3, 2) ; w.transpose(0, 1) ; w.permute(1, 0) ; w[0] ; w[:, 0] ; w[0, 0] ; w[None]
w[:, 1:] ; w[[0, 1]] ; w[w > 0] ; w[0, 1:] ; w[..., 0] ; w.clone() ; w.double() ; w.mean()
w.mean(0) ; w.sum(0) ; w.prod() ; w.max() ; w.min() ; w.std() ; w.var(0) ; w.norm() ; w.norm(dim=1)
w.exp() ; w.log() ; w.abs() ; w.sqrt() ; w.clamp(0, 1) ; w.clamp(min=0) ; w.softmax(1)
w.log_softmax(1) ; w.logsumexp(1) ; w.relu() ; w.unsqueeze(0) ; w.squeeze() ; w[:, :1].expand(2, 4)
w.repeat(2, 4) ; w.cumsum(0) ; w.tril() ; w.flatten() ; w.masked_fill(w > 0, 0)
w.gather(1, torch.tensor([[0], [1]])) ; w.index_select(1, torch.tensor([0])) ; q.diag()
w.diagonal() ; torch.cat([w, w]) ; torch.stack([w, w]) ; torch.where(w > 0, w, 0.0) ; q.outer(q)
torch.maximum(w, w) ; torch.linalg.inv(x[0, 0]) ; torch.linalg.det(x[0, 0]) ; torch.linalg.norm(q)
F.linear(w, m.T) ; nn.Linear(3, 2)(w * 0).grad_fn ; nn.Linear(3, 2, bias=False)(w * 0)
w.sum().grad_fn ; F.mse_loss(w, m.T) ; F.l1_loss(w, m.T) ; F.smooth_l1_loss(w, m.T)
F.huber_loss(w, m.T) ; F.gelu(q) ; F.cross_entropy(w, torch.tensor([0, 1]))
F.nll_loss(w, torch.tensor([0, 1])) ; F.silu(w) ; F.elu(w)
F.binary_cross_entropy(w / 9, m.T.abs() / 9) ; F.binary_cross_entropy_with_logits(w, m.T)
F.kl_div(w, m.T.abs()) ; F.leaky_relu(w) ; F.softplus(w) ; F.hardtanh(w) ; F.logsigmoid(w)
F.glu(w.T) ; F.prelu(w, q[:1]) ; F.layer_norm(w, (3,)) ; F.batch_norm(w, None, None, training=True)
F.group_norm(w, 3) ; F.dropout(w, 0.0) ; F.embedding(torch.tensor([0]), w)
F.conv2d(x, torch.ones(1, 1, 1, 1)) ; F.max_pool2d(x, 2) ; w.tanh() ; F.avg_pool2d(x, 2)
F.adaptive_avg_pool2d(x, 1) ; F.pad(x, (1, 1)) ; F.cosine_similarity(w, m.T) ; F.normalize(w)
F.unfold(x, 2) ; F.pixel_shuffle(x.expand(1, 4, 2, 2), 2) ; nn.Flatten()(x).grad_fn
(w * 1).add_(2) ; (w * 1).mul_(2) ; w.sum().grad_fn.next_functions ; w.sum().grad_fn.name() ; w.grad
type(w.sum().grad_fn) ; (lambda y: y.grad_fn is y.grad_fn)(w.sum()) ; w[0]._is_view() ; w._is_view()
w.log1p() ; w.movedim(0, 1) ; torch.einsum("ij,kj->ik", w, w) ; nn.GRUCell(3, 2)(w).grad_fn
nn.RNNCell(3, 2)(w).grad_fn ; (cell := nn.RNNCell(3, 2, nonlinearity="relu"))(w).grad_fn ; w.prod(1)
nn.LSTM(3, 2)(w[None])[0].grad_fn
nn.GRU(3, 2)(w[None])[0].grad_fn ; nn.RNN(3, 2)(w[None])[0].grad_fn
F.hardswish(w) ; F.mish(w)
F.conv_transpose2d(x, torch.ones(1, 1, 2, 2)) ; F.hardsigmoid(w) ; F.selu(w) ; F.celu(w)
F.conv_transpose1d(w[None], torch.ones(2, 1, 1), q[:1]) ; F.avg_pool1d(w[None], 2)
F.soft_margin_loss(w, m.T.sign()) ; F.softshrink(w) ; F.hardshrink(w)
F.instance_norm(w[None]).grad_fn ; F.rms_norm(w, (3,)) ; F.adaptive_max_pool2d(x, 1)
F.pairwise_distance(w, w + 1) ; w.scatter_reduce(0, torch.tensor([[0, 0, 0]]), w, "amax")
F.threshold(w, 2, 0) ; F.pixel_unshuffle(x[..., :1].expand(1, 1, 1, 1), 1)
w**w ; 2**w ; m**w ; w.amax(1) ; w.amin(0) ; w[...] ; w[:] ; w.flip(0) ; w.fliplr() ; w.median()
w[None].squeeze() ; w.ravel() ; w.repeat_interleave(2, 0) ; F.rms_norm(w, (3,))
F.scaled_dot_product_attention(x, x, x) ; nn.LSTMCell(3, 2)(w)[0].grad_fn ; F.hardshrink(w)
F.softshrink(w) ; F.soft_margin_loss(w, m.T) ; F.instance_norm(x) ; F.dropout2d(x, 0.0)
F.pairwise_distance(w, m.T) ; F.adaptive_max_pool2d(x, 1) ; F.affine_grid(w[None], (1, 1, 1, 2))
"""

MODULES = """
nn.Sequential() ; nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Dropout(0.2), nn.ReLU())) ; A()
[A()] ; nn.ModuleList([nn.Linear(1, 2)] * 3) ; nn.ModuleList([nn.Linear(1, 2), nn.ReLU()])
nn.ModuleList() ; nn.ModuleDict({"a": nn.Linear(1, 2)}) ; nn.ParameterList([p, p])
nn.ParameterList([p, None]) ; nn.ParameterList() ; nn.ParameterDict({"a": p})
nn.ParameterDict({"a": p, "b": p}) ; nn.Transformer(8, 2, 1, 2, 16)
nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 2) ; nn.MultiheadAttention(8, 2)
nn.Module() ; nn.LSTM(2, 3, 2, batch_first=True, bidirectional=True, dropout=0.1)
nn.GRU(2, 3, bias=False) ; nn.CTCLoss() ; nn.RNN(2, 3, nonlinearity="relu")
nn.LSTM(2, 4, proj_size=2) ; nn.RNNCell(2, 3, bias=False) ; nn.Embedding(3, 4)
nn.Embedding(torch.tensor(3), 4) ; nn.Linear(2, max(torch.tensor([1, 2])) + 1)
nn.Conv2d(2, 2, (3, 5), stride=2, padding=1, groups=2, bias=False, padding_mode="reflect")
nn.Conv1d(1, 2, 3, padding="same") ; nn.ConvTranspose2d(1, 2, 3, output_padding=1, stride=2)
nn.MaxPool2d(2) ; nn.MaxPool2d(2, 1, 1, 2, True, True) ; nn.AvgPool2d(2) ; nn.LPPool2d(2, 2)
nn.AdaptiveAvgPool2d((1, 1)) ; nn.BatchNorm1d(3, affine=False)
nn.LayerNorm([3, 2], elementwise_affine=False) ; nn.RMSNorm(3) ; nn.GroupNorm(1, 3)
nn.Dropout(0.1, True) ; nn.EmbeddingBag(3, 4, mode="sum") ; nn.Bilinear(1, 2, 3)
nn.LeakyReLU(0.1, True) ; nn.GELU("tanh") ; nn.SiLU(inplace=True) ; nn.Softmax(dim=1) ; nn.Softmax()
nn.PReLU() ; nn.Threshold(1, 2) ; nn.Unflatten(1, (2, 3))
nn.Upsample(size=(2, 3), mode="bilinear") ; nn.PixelShuffle(2) ; nn.Unfold(2) ; nn.Identity()
nn.ReflectionPad2d((1, 2, 3, 4)) ; nn.ConstantPad1d(1, 2.0) ; nn.LazyLinear(3)
nn.utils.parametrizations.weight_norm(nn.Linear(1, 2))
nn.CrossEntropyLoss(weight=m[0]) ; nn.utils.weight_norm(nn.Linear(1, 2))
nn.utils.spectral_norm(nn.Linear(1, 2)) ; nn.BatchNorm1d(2).state_dict() ; o
optim.SGD([p], lr=0.1, momentum=0.9, nesterov=True)
optim.SGD([{"params": [p]}], lr=torch.tensor(0.5)) ; optim.Adam([p]) ; optim.AdamW([p])
optim.RMSprop([p]) ; optim.Adagrad([p]) ; optim.Adadelta([p]) ; optim.Adamax([p]) ; optim.NAdam([p])
optim.RAdam([p]) ; optim.Rprop([p]) ; optim.ASGD([p]) ; optim.LBFGS([p]) ; o.state_dict()
o.param_groups ; optim.lr_scheduler.ExponentialLR(o, 0.9).get_last_lr()
nn.ReLU(True) ; nn.Softplus(2) ; nn.LogSoftmax(1) ; nn.Softmin(1) ; nn.Hardtanh() ; nn.GLU()
nn.Hardswish() ; nn.Hardsigmoid() ; nn.Hardshrink() ; nn.Softshrink() ; nn.Tanhshrink()
nn.RReLU() ; nn.Softmax2d() ; nn.MSELoss() ; nn.KLDivLoss() ; nn.TripletMarginLoss()
nn.GaussianNLLLoss() ; nn.CosineSimilarity() ; nn.PairwiseDistance() ; nn.PoissonNLLLoss()
nn.TripletMarginWithDistanceLoss() ; nn.MaxPool1d(2) ; nn.AvgPool1d(2) ; nn.MaxUnpool2d(2)
nn.LPPool1d(2, 3) ; nn.AdaptiveMaxPool1d(3) ; nn.Dropout2d(inplace=True) ; nn.AlphaDropout()
nn.Flatten() ; nn.Upsample(scale_factor=2) ; nn.UpsamplingNearest2d(scale_factor=2)
nn.PixelUnshuffle(2) ; nn.ChannelShuffle(2) ; nn.Fold((4, 5), 2) ; nn.ZeroPad2d(1)
nn.InstanceNorm1d(3) ; nn.LocalResponseNorm(2) ; nn.LazyConv2d(3, 2) ; nn.LazyBatchNorm1d()
nn.Conv1d(4, 8, 3, 2, "valid", 2, 4, False, "reflect") ; nn.Embedding(3, 4, 0, 1.0)
nn.BatchNorm2d(3, momentum=None) ; nn.GroupNorm(2, 4, affine=False) ; nn.LSTMCell(3, 4, bias=False)
nn.GRU(3, 4, 2, False, True, 0.1, True)
optim.SGD([{"params": [p]}, {"params": [q], "lr": 0.5}], 0.1, dampening=0.0) ; nn.Identity(3, a=4)
nn.Linear(2, 3).load_state_dict(nn.Linear(2, 3).state_dict()) ; torch.distributions.Normal(0.0, 1.0)
torch.distributions.Categorical(torch.ones(3)) ; torch.distributions.Bernoulli(torch.tensor(0.5))
"""
