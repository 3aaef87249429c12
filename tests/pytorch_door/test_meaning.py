"""Through the door a call means what it means in PyTorch: by position, by default, by result."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

# `x` (3, 4) with a tie and a NaN in `n`, `b` (2, 3, 4), `i` whole numbers (3, 4), `w` a leaf.
CALLS = """
x.max(1)
x.max(1)[1]
x.max(1, True).indices
torch.max(x, 0).values
torch.max(x)
torch.max(x, y)
x.min(-1)
n.max(1)
n.max(1).values.isnan()
x.median()
x.median(1)
n.median(1).values
torch.sort(x, descending=True)
torch.sort(x, 0, True)
x.sort(1)[0]
x.topk(2)
x.topk(2, 0, False)
y.kthvalue(2, 1)
i.mode(1)
x.std()
x.std(1)
x.std(1, False)
x.std(1, True, True)
x.std(False)
x.var(0)
torch.var(x, 1, False)
torch.std_mean(x, 1)
x.split(2, 1)
x.split([1, 3], 1)
x.split(3, 1)
b.chunk(2, 2)
torch.tensor_split(x, 3, 1)
x.repeat(2, 3)
x.repeat(2, 1, 1)
x.nonzero()
torch.nonzero(x > 0, as_tuple=True)
torch.where(x > 0)
torch.equal(x, x), torch.equal(x, y)
x.eq(x)
x.cumsum(1)
x.cummax(1)
x.cummin(0)
x.logcumsumexp(1)
x.abs().lgamma(), x.digamma(), torch.polygamma(1, x.abs() + 1)
x.scatter_reduce(1, i, y, "amax"), x.index_fill(1, i[0, :1], 2.0)
x.unfold(1, 2, 1)
F.max_pool2d(b[None], 2, return_indices=True)
F.max_unpool2d(*F.max_pool2d(b[None, :, :2], 2, return_indices=True), 2)
nn.init.eye_(torch.empty(3, 3)), nn.init.dirac_(torch.empty(2, 2, 3))
d = torch.distributions; d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 2.0))
x.squeeze(0).shape
x[:, None].squeeze(1).shape
x[:, None].squeeze().shape
x.transpose(0, 1)
b.permute(2, 0, 1)
b.T.shape if False else b.mT
x.size(), x.size(1), x.numel(), x.dim()
torch.Tensor(2, 3).shape
torch.Tensor([1, 2])
torch.FloatTensor([1, 2])
torch.FloatTensor(2, 3).shape
torch.ByteTensor([1, 2])
x.type()
x.type(torch.float64)
x.type("torch.LongTensor")
x.new(2, 3).shape
x.new_tensor([1, 2])
x.new_zeros(2)
torch.softmax(x, 1)
F.softmax(x)
F.softmax(v)
F.log_softmax(b)
torch.linspace(0, 3, 4)
torch.linspace(0, 10, steps=3)
torch.arange(2.0)
torch.full((2,), 3)
torch.full((2,), 1.5)
torch.ones(2, dtype=torch.long)
x[0, :2]
b[0, :, [0, 1]]
b[:, 0, [0, 1, 1]]
b[0, ..., [0, 1]]
b[1, None, :, [0, 2]]
b[torch.tensor(1), :, [0, 1]]
b[0, :, i[0] > 0]
b[[0, 1], :, 1]
x[i[0, 0], [0, 1]]
x[x > 0]
x[i[:, 0]]
x.gather(1, i)
x.index_select(1, i[0, :2])
x.take(i[0])
x.masked_select(x > 0)
x.flip(0)
x.roll(1)
x.tile((2, 1))
x.expand(2, 3, 4)
x.norm()
x.norm(1)
x.norm(2, 1)
x.norm("nuc")
x.prod()
x.prod(1)
x.all(), x.any(1)
x.argmax(), x.argmax(1)
x.mean(1), x.mean((0, 1))
x.sum((0, 1)), x.sum(0, True)
x.amax((0, 1)), x.amin(1)
x.logsumexp(1)
x.clamp(-0.5, 0.5)
x.add(y, alpha=2), x.sub(1), torch.rsub(x, 1)
torch.div(i, 2), torch.div(i, -2, rounding_mode="trunc"), i // 2, i / 2
torch.tril(x, -1), x.triu(1)
torch.cov(x), torch.corrcoef(x), torch.cov(v), torch.corrcoef(x[:1])
torch.std_mean(x, False), torch.var_mean(x, 1)
x[0, 0].cumsum(0), x[0, 0].cumprod(0)
torch.linalg.solve(torch.eye(4) * 2, y.T), torch.linalg.solve(torch.eye(4).expand(3, 4, 4) * 2, x)
torch.bincount(i[0])
torch.searchsorted(v.sort()[0], v), torch.searchsorted(v.sort()[0], v, right=True)
torch.zeros(3, 4).scatter_(1, i, 1.0)
torch.zeros(3, 4).scatter_add_(1, i, x)
torch.zeros(3, 4).index_add_(1, i[0], x)
torch.zeros(3, 4).index_fill_(1, i[0, :1], 2.0)
x.clone().index_copy_(0, torch.tensor([2, 0]), y[:2])
x.masked_fill(x > 0, 0.5)
x.clone().zero_(), x.clone().fill_(2)
x.clone().clamp_(0), x.clone().add_(y, alpha=3), x.clone().mul_(2).sub_(1)
torch.cat([torch.tensor([]), v])
F.batch_norm(x, None, None, training=True)
F.batch_norm(x, torch.zeros(4), torch.ones(4))
F.one_hot(i).shape
F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean")
torch.linalg.norm(x), torch.linalg.norm(x, dim=1), torch.linalg.vector_norm(x, 1)
torch.linalg.svd(x)[1]
float(torch.finfo(x.dtype).eps)
torch.autograd.grad((w * w).sum(), w)
torch.autograd.grad((w ** 3).sum(), w, create_graph=True)[0].sum().backward(); w.grad
torch.autograd.grad(w * w, w, grad_outputs=torch.ones_like(w))[0]
torch.autograd.grad([w.sum(), (w * w).sum()], [w])
torch.autograd.grad(w.sum(), [w, q], allow_unused=True)
torch.autograd.grad(w.sum(), [w, q], materialize_grads=True)
torch.autograd.backward([w.sum(), (w * w).sum()]); w.grad
w.data.normal_().shape; w.data.zero_(); w.sum().backward(); w.detach(), w.grad
w.data += 1; w.data.mul_(2); w.data[0] = 5; w.detach()
w.data = torch.zeros(3, 4); w.detach()
z = w * 2; z.retain_grad(); z.sum().backward(); z.grad, w.grad
h = w.register_hook(lambda g: g * 2 + g.max(1)[0].sum()); w.sum().backward(); w.grad
c = x.clone(); c[0, [0, 1]] = 7.0; c[1, :2] = y[0, :2]; c
c = b.clone(); c[0, :, [0, 1]] = torch.ones(3, 2) * 9; c
m = nn.Linear(4, 2); m.weight.data.fill_(0.5); m.bias.data.zero_(); m(x)
m = nn.Linear(4, 2); nn.init.constant_(m.weight.data, 0.1); nn.init.zeros_(m.bias); m(x)
[type(p).__name__ for p in nn.Linear(4, 2).parameters()]
nn.TransformerEncoderLayer(4, 2, 8)(b).shape
nn.MultiheadAttention(4, 2)(b, b, b)[1].shape
isinstance(nn.Sequential(nn.Linear(2, 2))[0], nn.Linear), isinstance(nn.Linear(2, 2), nn.Module)
isinstance(nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2), 1).layers[0].linear1, nn.Linear)
isinstance(nn.Parameter(x), torch.Tensor), isinstance(x + 1, torch.Tensor)
x[0, 0].sum(0), x[0, 0].max(0), x[0, 0].argmax(-1), x[0, 0].softmax(-1), x[0, 0].unsqueeze(0)
x[0, 0].transpose(0, 0), x[0, 0].flip(0), x[0, 0].std(0, unbiased=False), x[0, 0].squeeze(0)
torch.aminmax(x, dim=1), torch.atleast_2d(v), torch.bucketize(v, v.sort()[0])
torch.cholesky_solve(y[:2].T, torch.linalg.cholesky(torch.eye(4) * 3))
torch.trapezoid(x), torch.trapezoid(x, dx=2.0, dim=0), torch.cumulative_trapezoid(x, v.sort()[0])
x.index_put((i[0, :2], i[1, :2]), v[0]), x.index_put((i[0], i[1]), v, accumulate=True)
x.masked_scatter(x > 0, y), torch.msort(x), torch.mvlgamma(x.abs() + 2, 2), torch.pdist(x)
x.put(i[0], v), x.put(i[0], v, True), x.select_scatter(v, 0, 1), x.slice_scatter(y[:2], 0, 1)
torch.split_with_sizes(x, [1, 2]), x.sum_to_size(1, 4), x.sum_to_size(3, 1), torch.svd(x).S
torch.unravel_index(i, (2, 2)), torch.vander(v)
torch.vander(v, 3, True), torch.renorm(x, 2, 0, 1.0)
torch.hann_window(5), torch.hamming_window(5, False), torch.blackman_window(6)
torch.broadcast_shapes((3, 1), (4,)), torch.logaddexp2(x, y), torch.hsplit(x, 2)
torch.searchsorted(v, v, sorter=v.argsort()), torch.zeros(3, 4).scatter(1, i, x, reduce="add")
torch.linalg.lstsq(x.T, y.T, driver="gels").solution
torch.linalg.matrix_rank(x, atol=1e-3, rtol=0.1)
torch.linalg.tensorinv(torch.eye(4).reshape(2, 2, 4)), torch.linalg.vander(v)
c = x.clone().unsqueeze_(0); c.squeeze_().t_(); c.transpose_(0, 1); c
c = x.clone(); c.triu_(); c.tril_(1); c.index_put_((i[0], i[1]), v); c
torch.relu_(x.clone()), torch.sigmoid_(x.clone()), torch.clamp_(x.clone(), 0), F.elu_(x.clone())
F.interpolate(b, 7, mode="linear"), F.interpolate(b[None], 5, mode="nearest-exact")
F.adaptive_max_pool2d(b[None], (2, 3), return_indices=True), F.adaptive_max_pool1d(b, 3, True)
F.avg_pool2d(b[None], 2, padding=1, divisor_override=3), F.dropout2d(x, 0.0)
F.local_response_norm(b, 2), F.lp_pool1d(b, 2.0, 2), F.lp_pool2d(b[None].abs(), 3.0, 2)
nn.LocalResponseNorm(2)(b), nn.UpsamplingNearest2d(7)(b[None])
nn.PairwiseDistance()(x, y), nn.PoissonNLLLoss()(x, y.abs())
nn.HingeEmbeddingLoss(reduction="sum")(x, (y > 0) * 2 - 1), nn.PixelUnshuffle(2)(b[None, :, :2])
a = torch.autograd.functional; a.jacobian(lambda x: x * x, v), a.hessian(lambda x: (x**3).sum(), v)
a = torch.autograd.functional; a.jacobian(lambda x, y: (x * y, x + y), (v, v))
a = torch.autograd.functional; a.vjp(torch.sin, v, v)
a = torch.autograd.functional; a.jvp(torch.sin, (v,), (v,)), a.hvp(lambda x: (x**3).sum(), v, v)
f = torch.func; f.grad(lambda x: (x**3).sum())(v), f.grad_and_value(lambda x: (x**2).sum())(v)
f = torch.func; f.jacrev(torch.sin)(v), f.hessian(lambda x: (x**3).sum())(v)
f = torch.func; f.vjp(torch.sin, v)[1](v)
f = torch.func; f.jvp(torch.sin, (v,), (v,)), f.linearize(torch.sin, v)[1](v)
f = torch.func; f.jacfwd(torch.sin)(v), f.jacrev(torch.cumsum)(v, 0), f.jacfwd(lambda a: x * a)(v)
f = torch.func; f.vmap(torch.dot)(x, y), f.vmap(torch.mv, (0, None), 1)(b, v)
f = torch.func; f.vmap(lambda a, c: (a * c, c), (1, 0), (0, 1), chunk_size=2)(x, y.T)
f = torch.func; f.functionalize(lambda a: a.clone().mul_(2))(v)
f = torch.func; [s.shape for s in f.stack_module_state([nn.Linear(4, 3)] * 2)[0].values()]
f = torch.func; f.replace_all_batch_norm_modules_(nn.Sequential(nn.BatchNorm1d(4)))[0].running_mean
f = torch.func; f.functional_call(nn.Linear(4, 3, False), {"weight": x}, (x,))
torch.autograd.grad(w * w, w, torch.stack([w.detach(), w.detach() * 2]), is_grads_batched=True)
x.dtype == torch.bfloat16, torch.is_complex(x), x.is_meta
x.storage_offset(), x[1:, 1].storage_offset()
nn.Softmax()(x), nn.Linear(4, 2, True, None, None)(x).shape, nn.modules.utils._pair(3)
"""


def run(line: str, world: str) -> Any:
    """The value of a line's last expression in a world."""
    there = importlib.import_module(world)
    numbers = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return there.tensor(numbers.standard_normal(shape).astype(np.float32))

    names: dict[str, Any] = {
        "torch": there, "nn": there.nn, "F": there.nn.functional, "x": draw(3, 4),
        "y": draw(3, 4), "b": draw(2, 3, 4), "v": draw(4), "n": draw(3, 4),
        "i": there.tensor(numbers.integers(0, 3, (3, 4))),
        "w": there.tensor(np.arange(12, dtype=np.float32).reshape(3, 4) / 7, requires_grad=True),
        "q": there.tensor([1.0, 2.0], requires_grad=True),
    }  # fmt: skip
    names["x"][1, 2] = names["x"][1, 0]
    names["n"][1, 2] = float("nan")
    *before, last = line.split("; ")
    exec("\n".join(before), names)
    return eval(last, names)


def plain(value: Any) -> Any:
    """A value without its world."""
    if isinstance(value, (tuple, list)):
        return [plain(part) for part in value]
    if hasattr(value, "detach"):
        return value.detach().numpy()
    return value


def agree(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list):
        assert isinstance(found, list)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            agree(one, other)
    elif isinstance(wanted, (np.ndarray, float)):
        assert np.shape(found) == np.shape(wanted)
        assert np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(found, wanted, 1e-5, 1e-6)
    else:
        assert found == wanted


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("line", CALLS.strip().splitlines())
def test_a_call_means_what_it_means_in_pytorch(line: str) -> None:
    agree(plain(run(line, "minigrad.torch")), plain(run(line, "torch")))


def test_every_random_function_draws_in_the_shape_of_pytorchs() -> None:
    for line in (
        "torch.randint(5, (3,))", "torch.randint(2, 5, (3, 1))", "torch.randint(5, size=(2,))",
        "torch.randn(2, 3)", "torch.rand((2, 3))", "torch.randn(size=(2,))", "torch.randperm(4)",
        "torch.rand_like(x)", "torch.normal(0.0, 1.0, (2, 3))",
        "torch.bernoulli(x.abs().clamp(0, 1))",
        "x.clone().uniform_()", "x.clone().normal_(1, 2)", "i.clone().random_(3)",
        "x.clone().bernoulli_(0.3)",
        "torch.randint_like(i, 3)", "torch.poisson(x.abs())",
    ):  # fmt: skip
        found, wanted = run(line, "minigrad.torch"), run(line, "torch")
        assert tuple(found.shape) == tuple(wanted.shape), line
        assert str(found.dtype) == str(wanted.dtype).removeprefix("torch."), line


def test_files_go_both_ways(tmp_path: Path) -> None:
    here = importlib.import_module("minigrad.torch")
    ours, theirs = here.nn.Linear(3, 2), torch.nn.Linear(3, 2)
    here.save({"model": ours.state_dict(), "epoch": 3}, tmp_path / "ours")
    found = torch.load(tmp_path / "ours", weights_only=True)
    theirs.load_state_dict(found["model"])
    assert found["epoch"] == 3
    np.testing.assert_array_equal(theirs.weight.detach().numpy(), ours.weight.detach().numpy())
    torch.save(torch.nn.Linear(3, 2).state_dict(), tmp_path / "theirs.pt")
    state = here.load(tmp_path / "theirs.pt", map_location="cpu")
    ours.load_state_dict(state)
    assert type(state["weight"]) is here.Tensor
    torch.save({"p": torch.nn.Parameter(torch.ones(2))}, tmp_path / "parameter.pt")
    assert type(here.load(tmp_path / "parameter.pt")["p"]) is here.nn.Parameter
