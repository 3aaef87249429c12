"""Programs that print; a line of === ends each."""

FUNCTIONS = """
class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.set_materialize_grads(False)
        return a * 1, b * 1
    @staticmethod
    def backward(ctx, g, h):
        print(g, h)
        return g, h
x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
y, z = Pair.apply(x, w)
z.sum().backward(retain_graph=True)
y.sum().backward()
print(x.grad, w.grad)
===
class Checkpoint(torch.autograd.Function):  # of guided diffusion: it keeps its arguments themselves
    @staticmethod
    def forward(ctx, run, x, *weights):
        ctx.run, ctx.x, ctx.weights = run, x, weights
        print(x.requires_grad, x.is_leaf, [one is w for one in weights], torch.is_grad_enabled())
        return run(x)
    @staticmethod
    def backward(ctx, g):
        x = ctx.x.detach().requires_grad_()
        with torch.enable_grad():
            y = ctx.run(x)
        return None, *torch.autograd.grad(y, (x, *ctx.weights), g)
x, w = torch.ones(2, requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)
Checkpoint.apply(lambda x: w * x**2, x * 3, w).sum().backward()
print(x.grad, w.grad)
===
for function in torch.log, torch.log2, torch.log10, lambda x: torch.tensor([1e-40, 2e-39, 1.0]) / x:
    x = torch.tensor([1e-40, 2e-39, 1.0], requires_grad=True)
    print(torch.autograd.grad(function(x), x, torch.full((3,), 1e-12))[0][:2] > 1e20)
x = torch.tensor([1e-40, 2e-39, 1.0], requires_grad=True)
print(torch.autograd.grad((x / x.detach()).sum() * 1e-9, x)[0])
print(torch.autograd.grad(x.log().sum() * 1e-9, x)[0])
===
import warnings
from torch.nn import _reduction
warnings.simplefilter("ignore")
for args in (None, None), (False, None), (True, False):
    print(_reduction.legacy_get_string(*args))
print(torch.arange(6).resize(2, 3), torch.arange(6.0).resize_as(torch.ones(3, 2)))
print(torch.torch is torch)
batches = iter(torch.utils.data.DataLoader(range(5), 2))
print(len(batches), next(batches), len(batches))
print(torch.broadcast_to(torch.ones(3), (2, -1)), torch.ones(1, 2).broadcast_to((3, -1)).shape)
===
class Boxed(torch.autograd.Function):
    boxed_grads_call = True
    @staticmethod
    def forward(ctx, a, b):
        return a * 1, b * 2
    @staticmethod
    def vjp(ctx, grads):
        print(type(grads), len(grads))
        return grads[0], 2 * grads.pop()
x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
y, z = Boxed.apply(x, w)
(y + 5 * z).sum().backward()
print(x.grad, w.grad)
===
torch.set_default_tensor_type(torch.DoubleTensor)
print(torch.ones(1).dtype)
torch.set_default_tensor_type("torch.FloatTensor")
try:
    torch.set_default_tensor_type("torch.cuda.FloatTensor")
except (TypeError, ValueError):
    print(torch.ones(1).dtype)
===
class Triple(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        ctx.mark_dirty(a)
        ctx.save_for_backward(a.mul_(3))
        return a
    @staticmethod
    def backward(ctx, g):
        print(ctx.saved_tensors[0].detach(), ctx.saved_variables[0].detach())
        return g * 3
x = torch.ones(3, requires_grad=True)
y = x * 1
part = y[1:]
z = Triple.apply(y)
print(z is y, z.detach(), part.detach())
(part * torch.tensor([5.0, 7.0])).sum().backward()
print(x.grad)
y = torch.ones(2)
print(Triple.apply(y) is y, y)
y = x.exp()
Triple.apply(y)
y.sum().backward()
===
class Into(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b):
        ctx.mark_dirty(b)
        return a * 2, b.add_(a)
    @staticmethod
    def backward(ctx, g, h):
        return g * 2 + h, h
x, b = torch.ones(3, requires_grad=True), torch.zeros(3)
u, v = Into.apply(x, b)
print(v is b, b.requires_grad, b.detach())
(u + v * 5).sum().backward()
print(x.grad)
Into.apply(b, x)
===
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(x, factor=3):
        return factor, x * factor, None
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.factor = inputs[1]
        print(len(inputs), [type(part).__name__ for part in output])
    @staticmethod
    def backward(ctx, count, grad, nothing):
        print(count, nothing)
        return ctx.factor * grad, None
for arguments in (), (5,):
    x = torch.ones(2, requires_grad=True)
    factor, y, nothing = Scaled.apply(x, *arguments)
    y.sum().backward()
    print(factor, y.tolist(), nothing, x.grad)
===
x = torch.ones(3, requires_grad=True)
y = torch.cat([x.reshape(1, 3), x.unsqueeze(0)]).permute(1, 0).sum() - 3
y.backward()
y.backward()
print(x.grad)
y = x.exp().sum()
y.backward()
y.backward()
"""

NAMES = """
x = torch.tensor([[4.0, 1.0], [5.0, 3.0], [2.0, 1.0]])
memory = x.storage()
print(memory, memory[1], len(memory), memory.size())
memory[0] = 7
print(x, list(x[1].storage()), memory.dtype, torch.is_storage(memory))
print(x.t().storage().data_ptr() == x[1:].storage().data_ptr(), x[:1].expand(3, 2).storage().size())
print(torch.tensor([True, False]).storage(), x.t().contiguous().storage().tolist())
print(memory[5])
===
x, y = torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)
print(x.add_(0.5, y), x.sub(2, y), torch.add(x, 2, y), x.sub_(-1, y))
print(x.addcmul_(2, y, y), x.addcdiv_(-0.5, y, y + 1), torch.addcmul(x, 2, y, y))
print(torch.repeat_interleave(torch.tensor([1, 0, 2])), x.repeat_interleave(2, 1))
import numpy as np
print(torch.from_numpy(np.dot(np.ones((3, 2)), y[0, :2]) + 4))
print(torch.asarray([1.0, 2.0], dtype=torch.float64, device="cpu"), torch.asarray(x) is x)
print(torch.cdist(x, x, p=1), x.norm(1), torch.norm(x, p=1, dim=1))
===
class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("weight", torch.ones(2))
    def _load_from_state_dict(self, state_dict, prefix, *others):
        state_dict.pop(prefix + "num_batches_tracked", None)
        super()._load_from_state_dict(state_dict, prefix, *others)
model = nn.Sequential(Frozen(), nn.Linear(2, 2))
state = {**model.state_dict(), "0.num_batches_tracked": torch.tensor(1), "0.weight": torch.zeros(2)}
print(model.load_state_dict(state), model[0].weight)
===
class Blocks(nn.Module):
    def __init__(self, *blocks):
        super().__init__()
        for block in blocks:
            self._modules[block] = block
    def forward(self, x):
        for block in self._modules.values():
            x = block(x)
        return x
print(Blocks(nn.Linear(2, 3), nn.ReLU(), nn.Flatten(0))(torch.ones(4, 2)).shape)
class Frozen(nn.BatchNorm1d):
    def train(self, mode=True):
        return super().train(False)
model = nn.Sequential(nn.Linear(1, 1), nn.Sequential(Frozen(1))).train()
print([module.training for module in model.modules()])
model.register_parameter("mask", nn.Parameter(torch.tensor([True]), requires_grad=False))
print([value.dtype for value in model.double().state_dict().values()])
model = nn.Sequential(nn.ReLU())
model._modules.update(last=nn.Tanh(), first=nn.Identity())
print(model, model._modules.pop("last"), len(model), model._modules)
===
from torch.utils import _pytree as pytree
import collections
from torch.utils._pytree import tree_map, tree_map_only, register_pytree_node
leaves, spec = pytree.tree_flatten({"a": [torch.ones(2), 2], "b": (3, None)})
print(leaves, pytree.tree_unflatten(leaves, spec), spec.num_leaves)
print(tree_map(lambda x: x, [1, (2,)]))
print(tree_map_only(torch.Tensor, lambda t: t + 1, {"a": torch.ones(1), "b": 3}))
print(pytree.tree_leaves({"a": [1, 2]}), pytree.tree_all(lambda x: x > 0, [1, 2]))
print(pytree.tree_any(lambda x: x > 1, [1, 2]), tree_map(lambda a, b: a + b, [1, 2], [3, 4]))
print(pytree.tree_structure([1, 2]) == pytree.tree_structure([3, 4]))
print(pytree.tree_any_only(int, bool, [0]))
print(pytree._dict_unflatten([1, 2], "ab"), pytree._dict_flatten({"a": 1}))
print(pytree.tree_all_only(int, lambda x: x > 0, [1, "a"]), pytree.tree_structure(1).is_leaf())
Pair = collections.namedtuple("Pair", "a b")
boxes = [collections.OrderedDict(a=1), collections.deque([1], 2), Pair(1, [2])]
for box in *boxes, collections.defaultdict(list, a=1):
    print(tree_map(lambda x: x + 1, box), pytree.tree_map_(print, box) is box)
class Box:
    def __init__(self, value):
        self.value = value
register_pytree_node(Box, lambda box: ([box.value], None), lambda parts, _: Box(*parts))
print(tree_map(lambda x: x + 1, [Box(1)])[0].value)
print(pytree.tree_leaves([[1], 2], is_leaf=lambda x: x == [1]))
pytree.tree_unflatten([1], spec)
===
import torch.distributed.nn
import torch.distributed as dist
from torch.distributed.nn.functional import all_gather
from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
print(dist.is_initialized(), dist.ReduceOp.SUM == dist.ReduceOp.MAX)
parts = [torch.ones(2, 2), torch.zeros(3)]
flat = _flatten_dense_tensors(parts)
print(flat, _unflatten_dense_tensors(flat, parts))
===
from torch.utils.checkpoint import checkpoint_sequential, get_device_states
model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
x = torch.ones(1, 2, requires_grad=True)
y = checkpoint_sequential(model, 2, x, use_reentrant=False)
y.sum().backward()
print(torch.allclose(model(x), y), x.grad is not None, get_device_states(x))
===
class Outer(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def __getattr__(self, name):
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.inner, name)
print(Outer(nn.Linear(1, 2)).in_features, Outer(nn.Linear(1, 2)).weight.shape)
scales = nn.ParameterList([None, nn.Parameter(torch.ones(1))])
print(len(scales), scales[0], scales[1], [*scales.state_dict()], len([*scales.parameters()]))
===
from collections import OrderedDict
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.level1, self.down, self.plain = nn.Linear(1, 2), nn.Linear(1, 1), None
        self.down = None
        self.register_module("up", None)
    def forward(self, x):
        return self.__getattr__("level%d" % 1)(x)
print(Block(), Block()(torch.ones(1, 1)).shape, [*Block().state_dict()])
steps = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 3))
print(steps[1:], [*steps[1:].state_dict()], steps[1:][0], [*nn.ModuleList(steps)[2:].state_dict()])
print(nn.Sequential(OrderedDict({"-1": nn.ReLU(), "0": nn.Tanh(), "7": nn.ReLU()})))
layers = nn.ModuleList([None, None])
layers.add_module("body", nn.ReLU())
print(layers, nn.ModuleDict({"a": None, "b": nn.ReLU()}))
x = torch.ones(1, 2, 8, 8)
print(nn.Conv2d(2, 3, 3, stride=(2,))(x).shape, nn.MaxPool2d((2,))(x).shape)
print(nn.Conv1d(1, 1, 1).output_padding, nn.ConvTranspose2d(1, 1, 2, 2, 0, 1).output_padding)
print(nn.InstanceNorm2d(5)(x).shape, torch.cuda._initialized, torch.hub.urlparse("a/b").path)
from torch.utils.checkpoint import set_device_states
import torch.utils.model_zoo as model_zoo
print(model_zoo.load_url.__name__ != "", torch.asarray([1, 2], device=x.device))
set_device_states([], [])
===
from torch.optim.optimizer import Optimizer, ParamsT, required
from torch.utils.data.distributed import DistributedSampler
print(isinstance(nn.ReLU(), torch.jit.ScriptModule), torch.jit.annotate(int, 3), required is None)
print(isinstance(nn.ReLU(), (torch.fx.Proxy, torch._C.Graph)), torch._C._get_tracing_state())
print(torch.zeros_like(torch.ones(1), memory_format=torch.legacy_contiguous_format))
print(torch._softmax_backward_data(torch.eye(2), torch.eye(2) / 4, 1, torch.float32))
w, x = torch.arange(192.0).reshape(24, 8).sin(), torch.arange(80.0).reshape(5, 2, 8).cos()
output = F.multi_head_attention_forward(
    query=x[:1], key=x, value=x, embed_dim_to_check=8, num_heads=2, in_proj_weight=None,
    in_proj_bias=w[:, 0], bias_k=None, bias_v=None, add_zero_attn=False, dropout_p=0.0,
    out_proj_weight=w[:6], out_proj_bias=w[0, :6], use_separate_proj_weight=True, training=True,
    q_proj_weight=w[:8], k_proj_weight=w[8:16], v_proj_weight=w[16:], need_weights=False)
print(output[0].shape, output[1], round(output[0].sum().item(), 3))
mask, one = torch.ones(5, 5).triu(1).bool(), torch.ones(1, 1, 8)
output, weights = F.multi_head_attention_forward(
    x, x, x, 8, 2, w, None, one, one, True, 0.0, w[:8], None, True, None, True, mask)
print(output.shape, weights.shape, round(output.sum().item(), 3))
===
deep = nn.LSTM(2, 3, 2, bidirectional=True)
for layer in deep, nn.GRU(2, 3, bias=False), nn.LSTM(2, 3, proj_size=2):
    print(layer._flat_weights_names, layer._all_weights, len(layer._flat_weights))
    print([[tuple(weight.shape) for weight in weights] for weights in layer.all_weights])
===
x = torch.arange(6.0)
print(x.resize_(2, 3), x.resize_((3, 2)).shape, x.resize_as_(torch.ones(6)).shape, x.resize_(4))
x.resize_(0)
print(x, torch.empty(0).resize_(2, 3).shape, torch.arange(6).reshape(2, 3).narrow_copy(1, 0, 2))
print(torch.narrow_copy(torch.arange(3), 0, 1, 2))
base = torch.arange(8.0)
print(base[2:3].resize_(2, 2).mul_(10), base.view(4, 2)[:, 1].resize_(3))
print(base.view(2, 4).t().resize_(3))
part = base[5:7]
torch.add(torch.ones(1), 1, out=part)
print(part, base, part.resize_(3))
out = torch.empty(0, requires_grad=True)
with torch.no_grad():
    print(torch.add(torch.ones(2), 1, out=out), out)
torch.ones(2, requires_grad=True).resize_(1, 2)
===
class Sized:
    def __new__(cls, size, scale=1):
        made = super().__new__(cls)
        made.size = size * scale
        return made
class Layer(nn.Module, Sized):
    def __init__(self, size, scale=1):
        super().__init__()
        self.linear = nn.Linear(size, 1)
print(Layer(2).size, Layer(2, scale=3).size, Layer(size=2).linear)
===
x = torch.ones(2, requires_grad=True)
for one in torch.real(x), x.real, torch.conj(x), x.conj(), x.conj_physical(), torch.resolve_conj(x):
    print(one is x or one)
print(torch.ones(2, 3).mH.shape, torch.ones(2, 3).H.shape)
print(torch.angle(torch.tensor([1.0, -1.0, 0.0, float("nan")])))
===
x = torch.arange(9.0, requires_grad=True)
y = x.as_strided((4, 3), (2, 1))
print(y.detach(), torch.as_strided(x.detach(), (2,), (3,), 1))
print(x[2:].detach().as_strided((2,), (3,)))
(y * torch.arange(12.0).reshape(4, 3)).sum().backward()
print(x.grad)
part = (x * 2)[1:].reshape(4, 2).T
print(torch.autograd.grad(part.as_strided((3, 2), (1, 3), 2).sum(), x)[0])
z = torch.arange(6.0)
z.as_strided((3, 2), (2, 1))[1, 0] = 9
print(z, z.reshape(2, 3).t().as_strided((3, 2), (2, 1)))
print(z.as_strided((), ()), z.as_strided((0,), (1,)))
z.as_strided((4,), (2,))
===
a, b = torch.arange(6.0).reshape(2, 3), torch.arange(6.0).reshape(3, 2)
print(torch.einsum(a, [0, 1], b, [1, 2], [0, 2]), torch.einsum(a, [1, 0]))
print(torch.einsum(a, [0, 1], b, [1, 2]))
c = torch.ones(4, 2, 3)
print(torch.einsum(c, [..., 0, 1], c, [..., 2, 1], [..., 0, 2]).shape)
===
rows, values = torch.tensor([[1.0, 3, 5], [2, 4, 6]]), torch.tensor([[3.0, 6], [3, 6]])
print(torch.searchsorted(rows, values), torch.searchsorted(rows, values, right=True))
print(torch.searchsorted(rows[0], 3), torch.searchsorted(rows[0], values.T))
print(torch.searchsorted(rows, values[:, :1], side="right", out_int32=True))
print(torch.searchsorted(rows.flip(1), values, sorter=torch.tensor([[2, 1, 0], [2, 1, 0]])))
torch.searchsorted(rows, values[:1])
===
x = torch.arange(16.0).reshape(1, 1, 4, 4).double().requires_grad_()
for options in {"size": (7, 3)}, {"scale_factor": 2}, {"size": (3, 5), "align_corners": True}:
    y = F.interpolate(x, mode="bicubic", **options)
    print(y.detach(), torch.autograd.grad((y**2).sum(), x))
print(torch.tensor(3.0).tile((1, 1)), torch.tensor(3.0).tile(2), torch.tensor(3.0).repeat(2, 2))
===
for empty in torch.zeros(0, requires_grad=True), torch.zeros(0, 2, requires_grad=True):
    full = torch.ones(2, 2, requires_grad=True)
    torch.cat([empty, full]).sum().backward()
    print(empty.grad, full.grad, torch.cat([empty, full], -2).shape)
print(torch.cat([torch.zeros(0), torch.ones(2, 3)], 1).shape, torch.cat([torch.zeros(0)] * 2))
===
for kind in optim.Adam, optim.AdamW, optim.SGD, optim.RMSprop:
    p = nn.Parameter(torch.ones(2))
    o = kind([p], lr=torch.tensor(0.1))
    p.sum().backward()
    o.step()
    print(p, o.param_groups[0]["lr"], o.state_dict()["param_groups"][0]["lr"])
    o.param_groups[0]["lr"].fill_(1.0)
    o.step()
    s = optim.lr_scheduler.StepLR(o, 1)
    s.step()
    print(p, o.param_groups[0]["lr"], s.get_last_lr())
===
from torch.optim import lr_scheduler as rates
makers = (lambda o: rates.StepLR(o, 1), lambda o: rates.ExponentialLR(o, 0.9), rates.LinearLR,
          lambda o: rates.CosineAnnealingLR(o, 10),
          lambda o: rates.ReduceLROnPlateau(o, patience=0))
for make in makers:
    p, q = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    o = optim.SGD([p], lr=0.1)
    s = make(o)
    o.add_param_group({"params": [q], "lr": 0.5})
    for _ in range(3):
        o.step()
        s.step(*[1.0] * isinstance(s, rates.ReduceLROnPlateau))
    print([round(group["lr"], 9) for group in o.param_groups])
===
from torch.optim import lr_scheduler as rates, swa_utils
low, high = torch.tensor(0.125), torch.tensor(0.5)
makers = (lambda o: rates.CyclicLR(o, low, high, 2, base_momentum=low, max_momentum=high),
          lambda o: rates.OneCycleLR(o, high, 4, base_momentum=low, max_momentum=high),
          lambda o: swa_utils.SWALR(o, high, 2, "linear"))
for make in makers:
    o = optim.SGD([nn.Parameter(torch.ones(2))], lr=low.clone(), momentum=0.5)
    s = make(o)
    for _ in range(3):
        o.step()
        s.step()
        print([round(float(o.param_groups[0][name]), 5) for name in ("lr", "momentum")])
===
m, x = nn.ConvTranspose2d(1, 1, 3, stride=2, padding=1), torch.ones(1, 1, 4, 4)
print(m(x, output_size=(8, 8)).shape, m(x, output_size=torch.Size([1, 1, 7, 7])).shape)
print(nn.ConvTranspose1d(1, 1, 3, stride=2, padding=1)(torch.ones(1, 1, 4), output_size=[8]).shape)
m(x, output_size=(20, 20))
===
x = torch.arange(40.0).double().reshape(5, 2, 4).sin().requires_grad_()
p = x.log_softmax(2)
loss = nn.CTCLoss()(p, torch.tensor([[1, 2], [3, 3]]), torch.tensor([5, 5]), torch.tensor([2, 2]))
print(loss.detach(), torch.autograd.grad(loss, x, retain_graph=True))
for reduction in "none", "sum", "mean":
    print(F.ctc_loss(p, torch.tensor([1, 2, 3]), (5, 4), (2, 1), reduction=reduction).detach())
    print(F.ctc_loss(p, torch.tensor([0, 2, 3]), (5, 4), (2, 1), 1, reduction).detach())
labels = torch.tensor([[1, 1, 1], [1, 2, 3]])
for zero in True, False:
    loss = F.ctc_loss(p, labels, (3, 5), (3, 3), reduction="none", zero_infinity=zero)
    print(loss.detach(), *([torch.autograd.grad(loss.sum(), x, retain_graph=True)] * zero))
print(F.ctc_loss(p, labels, (5, 5), (0, 2), reduction="none").detach())
print(F.ctc_loss(p, labels, (0, 0), (0, 1), reduction="none").detach())
print(F.ctc_loss(p[:, 0], labels[1], torch.tensor(5), torch.tensor(3)).detach())
F.ctc_loss(p, labels, (5, 9), (1, 1))
"""

PROGRAMS = [text.strip() for texts in (FUNCTIONS, NAMES) for text in texts.split("===\n")]
