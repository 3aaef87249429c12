"""Dtypes and indices: thousands of calls beside PyTorch, which is asked when the tests run.

Where PyTorch has a result, it is ours: its dtype, its shape and its values. What differs on purpose
is in one list, with the reason. Where PyTorch refuses, an answer is free, except for what is out of
range.
"""

import re
import warnings
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

import minigrad.torch as door

torch = pytest.importorskip("torch")

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int8", "uint8", "bool"]
VALUES: list[Any] = [3.0, [0.0, 1.0, 3.0], [[0.0, 1.0, 2.0], [3.0, 2.0, 1.0]]]

OF_ONE = """
abs acos acosh asin asinh atan atanh ceil cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1
fix floor frac lgamma log log10 log1p log2 logical_not neg rad2deg reciprocal relu round rsqrt sgn
sigmoid sign signbit sin sinc sinh sqrt square tan tanh trunc isfinite isinf isnan isneginf
isposinf isreal bitwise_not positive sum mean prod max min amax amin any all std var median nansum
nanmean argmax argmin argsort sort cumsum cumprod logcumsumexp norm trace tril triu diag diagonal
flip fliplr count_nonzero nonzero unique mode numel logsumexp softmax log_softmax msort aminmax
argwhere flatten ravel t clone nan_to_num corrcoef cov histc bincount diff square_ abs_ neg_ sqrt_
exp_ floor_ round_ logical_not_ zero_ relu_ sign_ trunc_ sigmoid_ float double long int short byte
char bool half item tolist logit cummax cummin rot90 diagflat logdet det inverse pinverse
"""
ALONG = """
sum mean prod max min amax amin any all std var median argmax argmin argsort sort cumsum cumprod
norm count_nonzero logsumexp softmax cummax cummin mode nansum log_softmax
"""
OF_TWO = """
add sub mul div floor_divide remainder fmod pow maximum minimum fmax fmin atan2 hypot copysign
nextafter heaviside eq ne lt le gt ge equal logical_and logical_or logical_xor bitwise_and
bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift gcd lcm ldexp float_power logaddexp
logaddexp2 xlogy isclose allclose dot outer inner vdot add_ sub_ mul_ div_ floor_divide_
remainder_ pow_ copy_ fmod_ eq_ lt_ logical_and_ bitwise_and_ atan2_ ldexp_ kron clamp_min
clamp_max copysign_ rsub
"""
FEW = ["float32", "float16", "int64", "uint8", "bool"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "==", "<", "&", "|", "^", "<<", ">>"]
NUMBERS = [2.5, True, 0, -1]

# `f` are floats, `i` integers, `u` uint8, `b` bools, `mask` uint8; `g` is a matrix, `c` a cube.
CALLS = """
m.linspace(0, 10, 4, dtype=m.int64); m.linspace(0, 9.9, 4, dtype=m.int32)
m.linspace(-5, 5, 4, dtype=m.int64); m.linspace(0, 1, 3, dtype=float)
m.arange(0, 5, 1.5, dtype=m.int64); m.arange(3.); m.arange(1, 2, 0.3); m.arange(5, dtype=m.float64)
m.arange(0.5, 3, dtype=m.int64); m.linspace(5, 0, 4, dtype=m.uint8)
m.logspace(0, 2, 3, dtype=m.int64); m.full((2,), True); m.full((2,), 2)
m.full((2,), 2, dtype=m.bool); m.full_like(i, 2.7); m.full_like(f, 2); m.ones_like(b)
m.zeros(2, dtype=bool); m.zeros(2, dtype=int); m.eye(2, dtype=m.int64); m.range(1, 3)
m.tensor([1, 2.5], dtype=m.int64); m.tensor([-1.5]).long(); m.tensor([300]).to(m.uint8)
m.tensor([-1]).to(m.uint8); m.tensor([2.9]).to(m.int32); m.tensor(2.9).int(); m.tensor([256]).byte()
m.tensor([-1.0]).byte(); m.tensor([200]).char(); m.tensor([0.5]).bool(); m.tensor([2**40]).int()
f.narrow(0, 0, 5); f.narrow(0, -2, 2); f.narrow(0, 4, 2); f.narrow(0, 1, 0); f.narrow(0, 5, 0)
f.narrow(0, 6, 0); f.narrow(0, -6, 1); f.narrow(0, 0, -1); f.narrow(1, 0, 1)
f.narrow(0, m.tensor(1), 2); f.narrow(-1, 3, 2); f.chunk(0); f.chunk(-1); f.chunk(7); f.chunk(3)
f.chunk(2, 1); g.chunk(2, 1); g.chunk(3, -1); f.chunk(2, 5); f.split(0); f.split(-1)
f.split([2, 2]); f.split([2, 3]); f.split(7); f.split([]); f.split(2, 1); f.tensor_split(0)
f.tensor_split(7); f.tensor_split((1, 7)); f.tensor_split((-2,)); m.empty(0).split(2)
m.empty(0).chunk(3); f.unbind(1); f.select(0, 5); f.select(0, -6); f.select(0, -1); f[5]; f[-6]
f[10:]; f[:10]; f[-10:2]; f[3:1]; f[::0]; f[::-1]; f[::2]; f[4:100:2]; g[0, 5]; g[:, 5]; g[5:, 0]
g[:, 2:9]; g[0, 0, 0]; f[0.5]; f['a']; f[None, 0]; f[True]; f[False]; f[m.tensor(2)]
f[m.tensor(2.)]; f[m.tensor([1, 5])]; f[m.tensor([-1, -6])]; f[m.tensor([0.5])]
f[m.tensor([True, False])]; f[m.tensor([True, False, True, False, True])]
f[[True, False, True, False, True]]; f[u]; f[mask]; f[mask].shape; g[mask2]; g[:, mask3]
f[np.array([1, 2])]; f[np.array([True, False, True, False, True])]
f[np.array([1, 0, 1, 0, 1], np.uint8)]; f[np.int64(2)]; f[range(2)]; f[(0,)]; f[[0, 1]]; f[[[0, 1]]]
g[[i8, i32]]; c[[slice(1), 0]]; c[[0, None]]; c[[np.array([0, 1]), [1, 2]]]
g[[0, 1]]; g[[0, 1], [1, 2]]; g[[0, 1], 1]; g[0, [1, 2]]; g[[[0], [1]], [0, 1]]; g[m.tensor([0]), :]
g[:, m.tensor([0, 0])]; g[m.tensor([[True, False, False], [True, True, False]])]; c[0, :, [1, 2]]
c[[0, 1], :, 1]; c[:, [0, 1], [1, 2]]; c[[0, 1], :, [1, 2]]; c[..., [0, 1]]; c[None, ..., 0]
c[0, ..., [1]]; c[[0], ..., [1]]; c[:, 0, [1, 2]]; c[m.tensor(0), :, m.tensor([1])]; c[True]
c[True, 0]; c[[True, False], 0]; c[:, [True, False, True]]; c[..., None, 0]; c[0][1][2]; c[i8]
c[i32]; g[i32, i8]; f[m.tensor([], dtype=m.int64)]; f[[]]; f[m.empty(0)]
f[m.tensor([1], dtype=m.int32)]; f[m.tensor([1], dtype=m.int16)]; f[m.tensor(True)]
f[m.tensor(False)]; f[m.tensor(1, dtype=m.uint8)]; f[m.tensor([1], dtype=m.int8)]
m.index_select(f, 0, m.tensor([1, 5])); f.index_select(0, m.tensor([1, 2], dtype=m.int32))
f.index_select(0, m.tensor(1)); f.gather(0, m.tensor([4, 5])); f.gather(0, m.tensor([-1]))
f.take(m.tensor([-1])); f.take(m.tensor([5])); g.gather(1, m.tensor([[0], [1]]))
f.gather(0, m.tensor([1], dtype=m.int32)); f.index_fill(0, m.tensor([1]), 2)
i.index_fill(0, m.tensor([1]), 2.7); f.index_add(0, m.tensor([0, 0]), m.tensor([1., 2.]))
f.index_add(0, m.tensor([0]), m.tensor([1])); f.scatter(0, m.tensor([1]), 5)
f.scatter(0, m.tensor([1]), m.tensor([5.])); i.scatter(0, m.tensor([1]), 2.7); f.masked_fill(b, 2)
i.masked_fill(b, 2.7); f.masked_fill(mask, 2); f.masked_select(b); f.masked_select(mask)
m.where(b, f, 0); m.where(b, i, 0.5); m.where(b, i, f); m.where(b, 1, 0); m.where(b, 1., 0)
m.where(b, 1., 0.); m.where(mask, f, f); m.where(b); m.where(b, i, u)
m.where(b, f, m.tensor(1., dtype=m.float64)); m.where(b, i, m.tensor(1., dtype=m.float64))
m.take_along_dim(f, m.tensor([1, 0])); m.nn.functional.one_hot(m.tensor([0, 2]))
m.nn.functional.one_hot(m.tensor([0, 2]), 2)
m.nn.functional.embedding(m.tensor([1, 0], dtype=m.int32), g)
m.nn.functional.embedding(m.tensor([5]), g); m.nn.functional.embedding(m.tensor([-1]), g)
i + m.tensor(1.5, dtype=m.float64); i * m.tensor(1.5); f * m.tensor(1.5, dtype=m.float64)
m.tensor(1., dtype=m.float64) * f; u + m.tensor(300); u + m.tensor(300, dtype=m.int64); -b; ~b; ~i
b + 1; b + 1.5; b * 2; b / 2; b.sum() - 3; u.sum() - 20; (u > 1).sum() - 7; (f > 1).sum() / 2; u - 5
u - u * 2; u - i; mask - 1; 1 - mask; 1 - b; i.float().mean(); u.sum(0, dtype=m.uint8); i8.sum()
i.sum(dtype=m.float32); f.sum(dtype=m.int64); f.sum(dtype=float); u.cumsum(0); b.cumsum(0); u.any(0)
u.all(-1); u.max(0); i.softmax(0); i.topk(2).values; i.float() @ m.eye(5); i @ i; i @ f; u @ u
b @ b; f.dot(i.float()); m.clamp(i, 0.5); m.clamp(i, 1, 2); m.clamp(f, 1, 2)
m.clamp(i, min=m.tensor(1.5)); i ** 2; i ** 0.5; 2 ** i; i // 2; i // 2.0; i % 3; -i % 3; i % -3
i / 2; (-f) // 2; (-f) % 2; u // 2; u % 2; m.fmod(-f, 2); m.remainder(-i, 3)
m.div(i, 2, rounding_mode='trunc'); m.div(-i, 2, rounding_mode='floor'); m.true_divide(i, 2)
m.floor_divide(-i, 2); m.heaviside(f, m.tensor(0.5)); m.heaviside(i, m.tensor(1))
m.heaviside(i, m.tensor(1.5)); m.heaviside(f, m.tensor([0.5])); m.heaviside(f, 0.5)
m.heaviside(f.double(), m.tensor(.5)); m.logical_and(i, f); m.logical_xor(b, i); m.bitwise_and(i, 3)
m.bitwise_and(f, 3); b & 1; b & i; b; u; i << 1; u << 7; u >> 1; i >> 1; f << 1; 1 << i
m.cat([i, f]); m.cat([u, i]); m.cat([b, u]); m.cat([f, f.double()]); m.cat([i8, u]); m.stack([i, f])
m.stack([b, i]); m.hstack([i, f]); m.equal(i, i.float()); m.eq(i, f); i == 2; i == 2.0; u == 300
b == 1; b == 2; m.allclose(i, f); m.maximum(i, f); m.maximum(u, i); m.minimum(f, f.double())
m.max(i, u); m.lerp(f, f * 2, 0.5); m.lerp(i, i * 2, 0.5); m.addcmul(i, i, i)
m.addcmul(i, i, i, value=0.5); m.addcdiv(i, i, i); m.addcdiv(f, f, f); i.add(i, alpha=2)
i.add(i, alpha=2.5); b.add(b, alpha=True); i.sub(i, alpha=2); f.add(1, alpha=2); m.cumsum(mask, 0)
m.cumprod(u, 0); m.logcumsumexp(i, 0); m.bincount(i, f); m.bincount(i, i); m.histc(f, 3)
m.histc(i, 3); m.bucketize(i, m.tensor([1, 2])); m.searchsorted(m.tensor([1, 2]), i)
m.searchsorted(m.tensor([1., 2.]), i); m.isin(i, m.tensor([1.])); m.tril(m.ones(2, 2, dtype=m.bool))
m.triu(m.ones(2, 2, dtype=m.uint8)); m.trace(m.ones(2, 2, dtype=m.uint8))
m.trace(m.ones(2, 2, dtype=m.bool)); m.dist(i, i); m.cdist(g, g).shape; m.logsumexp(i, 0)
m.quantile(f, 0.5); m.quantile(i, 0.5); m.quantile(f.double(), 0.5); m.kthvalue(i, 2); m.outer(i, f)
m.outer(b, i); m.tensordot(i, i, 1); m.einsum('i,i', i, i); m.einsum('i,i', i, f)
m.nn.functional.relu(i); m.nn.functional.softmax(i, 0); m.nn.functional.gelu(i)
m.nn.functional.one_hot(mask); m.nn.functional.pad(i, (1, 1), value=2)
m.nn.functional.pad(i, (1, 1), value=2.5); m.nn.functional.pad(b, (1, 1), value=True)
m.nn.functional.mse_loss(i, i); m.nn.functional.cross_entropy(g, m.tensor([0, 1], dtype=m.int32))
m.nn.functional.cross_entropy(g, m.tensor([0, 1]))
m.nn.functional.cross_entropy(g.long(), m.tensor([0, 1]))
m.nn.functional.nll_loss(g, m.tensor([0, 5])); m.nn.functional.dropout(i, 0.0)
m.nn.functional.linear(i.float(), m.ones(2, 5, dtype=m.float64)); m.result_type(i, f)
m.result_type(i, 1.5); m.result_type(f, m.tensor(1., dtype=m.float64))
m.promote_types(m.int64, m.float32); m.promote_types(m.uint8, m.int8)
m.can_cast(m.float32, m.int64); m.can_cast(m.int64, m.uint8); m.can_cast(m.float64, m.float32)
i.type(); f.type_as(i); i.to(f); i[0].item(); b[0].item(); float(i[1]); int(f[1]); bool(u[0])
i.sum().item(); m.iinfo(m.int64).max; m.is_floating_point(i); i.is_signed(); u.is_signed()
f.element_size(); m.as_tensor(np.float64(2)).dtype; (f + np.float64(2)).dtype
(i + np.float64(2)).dtype; (i + np.float32(2)).dtype; (f + np.int64(2)).dtype
(np.float64(2) * f).dtype; (np.int64(2) * f).dtype; (np.float64(2.5) * i).dtype
(i * np.int32(2)).dtype; (u * np.int64(2)).dtype; (u + np.uint8(2)).dtype; (f * np.array(2.)).dtype
m.tensor(3) / 2; m.tensor(3) * 2.5; m.tensor(3) + m.tensor(2.5); m.tensor(True) + m.tensor(True)
m.tensor(3, dtype=m.uint8) + 300; m.tensor(3, dtype=m.int8) * 100
m.tensor(3.0, dtype=m.float16) * 2.5; f.half() + f; f.half() * 1e6; f.half().sum()
m.tensor([60000.], dtype=m.float16) * 2; m.ones(3).bool().float().mean()
m.randint(0, 2, (3,), dtype=m.uint8).dtype; m.randint(5, 6, (2,)).dtype
m.randint(5, 6, (2,), dtype=m.float32); m.rand(2, dtype=float).dtype
m.float_power(f.double(), 2.1); m.float_power(2.1, f); m.heaviside(f * m.nan, f)
m.einsum('i->', u * 100); m.einsum('i->', i8); m.linalg.vander(i8); m.linalg.vander(u)
u.sum_to_size(1); i8.sum_to_size(()); m.arange(0, -3, 2); m.arange(0, 64, 0.5, dtype=m.int64)
m.arange(3, 3, -1); m.isclose(f, f, rtol=-1.0); m.allclose(f, f, atol=-1.0); m.roll(f, (1, 2), 0)
m.roll(f, (1, 2)); m.roll(g, (1, 2), (0, 1)); f.clone().exponential_(0.0); f.clone().bernoulli_(2)
f.clone().cauchy_(0, 0); f.clone().log_normal_(0, 0); m.cov(g[None]); m.cov(g, fweights=f)
m.cov(g, aweights=-f[:2], correction=0); m.frexp(f); m.gcd(i, 4); m.lcm(u, u)
m.put(f[0], i[:1], f[:1]); f.clone().exponential_(m.inf)
m.all(g, dim=()); g.any(dim=[]); f[0].sum((0,)); m.amax(f[0], [0]); m.fill(f, 2).add_(1)
m.nn.functional.multi_margin_loss(f, m.tensor([1]), reduction='none')
m.nn.functional.pad(g[None], (-1, 1), mode='reflect'); m.gcd(f, 2)
m.nn.functional.pad(g[None], (-2, 3), mode='replicate')
m.nn.functional.pad(g[None], (2, -1), mode='circular')
m.rand(2, dtype=m.float64).dtype; m.rand(2, dtype=m.int64); m.randn(2, dtype=m.int64)
m.randperm(3).dtype; m.randperm(3, dtype=m.int32).dtype; m.bernoulli(f * 0); m.bernoulli(i * 0)
m.multinomial(i + 1, 1).dtype; m.multinomial(m.tensor([0., 1.]), 1); m.normal(0., 1., (2,)).dtype
m.zeros(2, 3, dtype=m.uint8).sum(0); m.zeros(0).sum(); m.zeros(0).prod(); m.zeros(0).mean()
m.zeros(0).max(); m.zeros(0).argmax(); m.zeros(0, 3).max(0); m.zeros(0, 3).sum(0)
m.zeros(3, 0).any(1); m.zeros(3, 0).all(1); m.zeros(0).any(); m.zeros(0).all()
m.zeros(0, dtype=m.int64).sum(); m.zeros(0).std(); m.zeros(1).std(); m.zeros(0).sort()
m.zeros(0).cumsum(0); m.zeros(0).norm(); m.zeros(0).unique(); m.zeros(0).nonzero()
m.zeros(0).logsumexp(0); m.zeros(0, 2).softmax(0); f.sum(1); f.sum(-2); f.max(1); f.squeeze(1)
f.unsqueeze(2); f.unsqueeze(-3); f.unsqueeze(-2); f.transpose(0, 1); g.permute(0); g.permute(0, 0)
g.permute(1, -2); g.flatten(2); g.flatten(1, 0); f.view(2, 3); f.view(-1, -1); f.view(-1, 2)
f.reshape(0); f.expand(2); f.expand(-1, 5); f.expand(2, -1); f.repeat(2, 2); g.repeat(2); f.roll(7)
f.roll(-1, 0); f.flip(1); f.cumsum(1); m.cat([f, g]); m.cat([]); m.stack([f, g[0]])
m.tile(f, (2, 1)); g.t(); c.t(); c.T; f.diag(1); g.diagonal(5); g.tril(5); g.triu(-5); m.eye(0)
m.eye(2, 0); m.eye(-1); m.zeros(-1); m.arange(0); m.arange(3, 0); m.arange(3, 0, -1)
m.arange(0, 1, 0); m.linspace(0, 1, 0); m.linspace(0, 1, 1); m.linspace(0, 1, -1); m.topk(f, 6)
m.topk(f, 0); m.kthvalue(f, 0); m.kthvalue(f, 6); f.unfold(0, 6, 1); f.repeat_interleave(2)
f.repeat_interleave(m.tensor([1, 0, 2, 0, 1])); f.repeat_interleave(-1)
m.meshgrid(f[:2], f[:1], indexing='ij'); m.combinations(i[:3]); m.tril_indices(2, 3)
m.nonzero(b, as_tuple=True); m.nonzero(m.tensor(1.)); m.nonzero(m.tensor(0)); m.tensor(5).unbind()
m.tensor(5)[None]; m.tensor(5)[...]; m.tensor(5)[()]; m.tensor(5)[0]; m.tensor(5)[True]
m.tensor(5).sum(0); m.tensor(5.).max(0); m.tensor(5.).cumsum(0); m.tensor(5.).argmax(0)
m.tensor(5.).squeeze(0); m.tensor(5.).unsqueeze(0); m.tensor(5.).expand(2); m.tensor(5.).size()
len(m.tensor(5.)); m.tensor(5.).softmax(0); m.tensor(5.).sum(-1); m.tensor(5.).sum(1)
m.tensor(5.).mean(0); m.tensor(5.).std(0); m.tensor(5.).topk(1); m.tensor(5.).transpose(0, 0)
m.tensor(5.).flip(0); m.tensor(5.).roll(1); m.tensor(5.).select(0, 0); m.tensor(5.).narrow(0, 0, 1)
m.tensor(5.).split(1); m.tensor(5.).chunk(1); m.tensor(5.).gather(0, m.tensor(0))
m.tensor(5.).index_select(0, m.tensor(0)); m.tensor(5.).take(m.tensor(0)); m.tensor(5.).repeat(2)
m.tensor(5).item(); m.tensor(5.).kthvalue(1); m.tensor(5.).median(0); m.tensor(5.).cummax(0)
m.tensor(5.).logsumexp(0); m.tensor(5.).prod(0); m.tensor(5.).any(0); m.tensor(5.).amax(0)
m.tensor(5.).amax(()); m.tensor(5.).index_fill(0, m.tensor(0), 1)
m.tensor(5.).masked_fill(m.tensor(True), 1); m.tensor(5.).masked_select(m.tensor(True))
m.tensor(5.).T; m.tensor(5.).repeat_interleave(2); m.tensor(5.).view(1); m.tensor(5.).view(-1)
m.cat([m.tensor(5.), m.tensor(5.)]); m.stack([m.tensor(5.), m.tensor(5.)])
m.hstack([m.tensor(5.), m.tensor(5.)]); m.dot(m.tensor(5.), m.tensor(5.))
m.matmul(m.tensor(5.), m.tensor(5.)); m.outer(m.tensor(5.), m.tensor(5.))
m.addr(b[:2], b[:2], b[:2])
m.addbmm(mask2[0, :2], u[:4].view(1, 2, 2), u[1:].view(1, 2, 2)); m.result_type(u, m.empty(0))
m.result_type(u, 1000); m.result_type(u, m.tensor(1.5)); m.nonzero(m.tensor(1.), as_tuple=True)
m.nonzero(m.tensor(0.), as_tuple=True); m.cat([m.empty(0), m.empty(0)], 1); m.block_diag()
m.combinations(i[:3], 0); m.zeros(0).median(); m.nanmedian(m.tensor([m.nan, 3., 1.]))
m.nanmedian(m.tensor([[m.nan, 3., 1.], [m.nan, m.nan, m.nan], [2., 1., 3.]]), 1).values
m.nanmedian(i); m.unique(m.tensor([m.nan, 1., m.nan])); b.scatter_reduce(0, i[:2], b, 'prod')
b.scatter_reduce(0, i[:2], b, 'sum', include_self=False); u.scatter_reduce(0, i[:2], u, 'prod')
f.gather(0, m.tensor(1)); g.scatter(0, i[:0], g)
g.scatter_add(0, i[:0], g); g.scatter_reduce(0, i[:0], g, 'sum')
m.tensor(5.).index_fill(0, m.tensor(0), m.tensor(1.)); m.tensordot(g, g, 2, out=m.empty(()))
m.arange(0., 4); m.arange(0., 4, 2); reversed(g); reversed(m.tensor(5.)); m.result_type(1, 2.5)
m.max(m.tensor(0.), f[:1]); m.min(f[:1], m.tensor(0.)); m.tensor(5.).max(-1); m.tensor(5).min()
m.repeat_interleave(f, i, output_size=7); m.repeat_interleave(i)
g.scatter(0, m.empty(0, 1, 1).long(), g)
m.linalg.tensorsolve(m.ones(0, 0, 1, 2, 3, 0), m.ones(0, 0, 1))
"""

WRITES = """
f[mask] = 9; f[u] = 9; i[0] = 2.7; i[0] = f[3]; b[0] = 5; b[0] = 0.0; u[0] = 300; u[0] = -1
u[0] = i[2] - 10; f[0] = True; f[0:2] = i[0:2]; i[0:2] = f[0:2] + .7; f[5] = 1
f[1:3] = m.tensor([1., 2., 3.]); f[7:9] = 1; f[[0, 0]] = m.tensor([1., 2.]); g[0] = 5
g[:, 0] = m.tensor([1, 2]); g[g > 1] = 0; g[mask2] = 7; i.copy_(f); f.copy_(i); b.copy_(f)
u.copy_(f - 3); u.copy_(i); f.copy_(b); b.zero_(); b.fill_(1); b.fill_(0.5); i.fill_(2.7)
u.fill_(300); u.fill_(-1); u.random_(0, 300); i8.random_(-128, -127); f.random_(1); i += 1.5
i += 1; i *= 2; i /= 2; i //= 2; f += i; i += f; b &= b
b += 1; u += 1; u -= 10; u += i; f += m.tensor(1., dtype=m.float64)
f += m.ones(5, dtype=m.float64); i.add_(1.0); i.masked_fill_(b, 2.7); u.masked_fill_(b, 300)
i.clamp_(0.5, 2.5); i.mul_(2.5); i.pow_(2); i.sqrt_(); i.floor_(); i.exp_(); i.random_(5, 6)
i.uniform_(); i.normal_(); b.bernoulli_(1.0); i.bernoulli_(1.0)
f.index_fill_(0, m.tensor([0]), m.tensor(3.)); b |= True
"""

DIFFERENT = {
    "a number that uint8 cannot hold is an error, and is compared as it is": r"""
        \|uint8\d\|-1$ | \ -1\|uint8\d$ | ^-1\ .*\|uint8\d$ | ^u\[0\]\ =\ -1 | ^u\.fill_\(-1\)
        | ^u\ \+\ m\.tensor\(300 | uint8\)\ \+\ 300$""",
    "bools to a power are int8, as in NumPy": r"^pow_?\|bool\d\|True$ | ^x\ \*\*\ True\|bool",
    "a fraction makes floats of integers; PyTorch cuts it off": r"addcmul\(i,\ i,\ i,\ value=0\.5",
    "an index of equal elements: both are right": r"^m\.kthvalue",
    "a fraction does not fit between integers": r"pad\(i,.*2\.5\)$",
    "an array without axes is weak within its kind": r"^\(f\ \*\ np\.array\(2\.\)\)",
    "a number that float16 cannot hold is infinite": r"^f\.half\(\)\ \*\ 1e6$",
}
"""What differs, by a reason: patterns of calls, each of which some call must match."""

OUT_OF_RANGE = """
f.narrow(0, 4, 2); f.narrow(0, 6, 0); f.narrow(0, -6, 1); f.narrow(0, 0, -1); f.chunk(0)
f.chunk(-1); f.split(0); f.split(-1); f.split([2, 2]); f.select(0, 5); f.select(0, -6); f[5]
f[-6]; g[0, 5]; g[0, 0, 0]; f[0.5]; f[m.tensor([5])]; f[m.tensor([-6])]
f[m.tensor([True, False])]; f[m.tensor(2.0)]; f.take(m.tensor([5]))
f.index_select(0, m.tensor([5])); f.gather(0, m.tensor([5])); f.sum(1); m.topk(f, 6)
m.kthvalue(f, 6); f.view(2, 3); f.transpose(0, 1); g.permute(0, 0); m.zeros(-1)
f.unfold(0, 6, 1); u.fill_(300); u.random_(0, 300)
m.trapezoid(g, f[:2]); m.cumulative_trapezoid(g, f[:1]); m.hann_window(3, dtype=m.int64)
f.chunk(2, 5); f[1:3].copy_(f); i.sqrt_(); i.add_(1.5); b.add_(1)
"""


def parts(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split("; ")]


def tensor(m: Any, dtype: str, ndim: int) -> Any:
    values = np.array(VALUES[ndim]).astype(dtype).tolist()
    return m.tensor(values, dtype=getattr(m, dtype))


def names(m: Any) -> dict[str, Any]:
    return {
        "m": m, "np": np, "f": m.tensor([0.0, 1.0, 2.0, 3.0, 1.0]), "i": m.tensor([0, 1, 2, 3, 1]),
        "u": m.tensor([0, 1, 2, 3, 1], dtype=m.uint8),
        "b": m.tensor([True, False, True, False, True]),
        "mask": m.tensor([1, 0, 1, 0, 1], dtype=m.uint8),
        "mask2": m.tensor([[1, 0, 1], [0, 0, 1]], dtype=m.uint8),
        "mask3": m.tensor([1, 0, 1], dtype=m.uint8), "c": m.arange(24.0).reshape(2, 3, 4),
        "g": m.tensor([[0.0, 1.0, 2.0], [3.0, 2.0, 1.0]]), "i8": m.tensor([1, 0], dtype=m.int8),
        "i32": m.tensor([1, 0], dtype=m.int32),
    }  # fmt: skip


Call = tuple[str, Callable[[Any], Any]]
"""A text, and a call by a library."""


def method(name: str, *given: Any, **options: Any) -> Callable[[Any], Any]:
    """A call of a method, or of a function where there is no such method; pairs are tensors."""

    def call(m: Any) -> Any:
        x, *others = [tensor(m, *each) if isinstance(each, tuple) else each for each in given]
        dtype = {"dtype": getattr(m, options["dtype"])} if "dtype" in options else {}
        if hasattr(x, name):
            return getattr(x, name)(*others, **{**options, **dtype})
        return getattr(m, name)(x, *others, **{**options, **dtype})

    return call


def of_one() -> Iterator[Call]:
    for name in OF_ONE.split():
        for dtype in DTYPES:
            for ndim in range(3):
                yield f"{name}|{dtype}{ndim}", method(name, (dtype, ndim))
    for name in ALONG.split():
        for dtype in FEW:
            yield f"{name} along 0|{dtype}", method(name, (dtype, 2), dim=0)
            yield f"{name} along -1|{dtype}", method(name, (dtype, 2), dim=-1)
            yield (f"{name} in float64|{dtype}", method(name, (dtype, 2), dim=0, dtype="float64"))


def of_two() -> Iterator[Call]:
    pairs = [("float32", "float64"), ("float16", "float32"), ("int64", "uint8"), ("int32", "int8"),
             ("bool", "uint8"), ("float32", "int64"), ("float64", "int32"), ("float16", "bool"),
             *((dtype, dtype) for dtype in DTYPES)]  # fmt: skip
    for name in OF_TWO.split():
        for a, b in pairs:
            for i, j in ((1, 1), (1, 0), (0, 1)):
                yield f"{name}|{a}{i}|{b}{j}", method(name, (a, i), (b, j))
        for dtype in FEW:
            for number in NUMBERS:
                yield f"{name}|{dtype}1|{number}", method(name, (dtype, 1), number)


def of_operators() -> Iterator[Call]:
    for sign in OPERATORS:
        for dtype in FEW:
            for number in NUMBERS:
                for text in (f"x {sign} {number}", f"{number} {sign} x"):
                    yield (
                        f"{text}|{dtype}1",
                        lambda m, text=text, dtype=dtype: eval(text, {"x": tensor(m, dtype, 1)}),
                    )


def written() -> Iterator[Call]:
    def write(m: Any, text: str) -> Any:
        known = names(m)
        exec(text, known)
        return known[re.split(r"\W", text)[0]]

    for text in parts(CALLS):
        yield text, lambda m, text=text: eval(text, names(m))
    for text in parts(WRITES):
        yield text, lambda m, text=text: write(m, text)


def outcome(m: Any, call: Callable[[Any], Any]) -> Any:
    """The dtype, the shape and the values of what a call returns; its error if it fails."""
    try:
        return described(call(m))
    except Exception as error:  # noqa: BLE001 - PyTorch's are of all kinds
        return error


def described(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return [described(each) for each in value]
    if not hasattr(value, "ndim"):
        shown = value if isinstance(value, (bool, int, float)) else str(value).rpartition(".")[2]
        return type(value).__name__, shown
    numbers = value.detach().numpy() if hasattr(value, "detach") else value
    return str(value.dtype).rpartition(".")[2], numbers


def equal(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        same = isinstance(ours, list) and len(ours) == len(theirs)
        return same and all(map(equal, ours, theirs))
    if not isinstance(ours, tuple) or ours[0] != theirs[0]:
        return False
    (kind, mine), (_, their) = ours, theirs
    if isinstance(their, (str, bool)):
        return bool(mine == their)
    tolerance = 5e-3 if kind == "float16" else 1e-5
    return np.shape(mine) == np.shape(their) and np.allclose(
        np.float64(mine), np.float64(their), tolerance, 1e-3 if kind == "float16" else 1e-5, True
    )


def test_calls_are_pytorchs_or_listed() -> None:
    wrong, answered = [], 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for text, call in chain(of_one(), of_two(), of_operators(), written()):
            theirs = outcome(torch, call)
            if isinstance(theirs, Exception):
                continue
            answered += 1
            if not equal(ours := outcome(door, call), theirs):
                wrong.append((text, ours, theirs))
    unlisted = [each for each in wrong if not any(known(each[0], p) for p in DIFFERENT.values())]
    assert not unlisted, (len(unlisted), unlisted[:20])
    assert answered > 5000
    for pattern in DIFFERENT.values():
        for one in pattern.split(" | "):
            assert any(known(text, one) for text, *_ in wrong), one


def known(text: str, pattern: str) -> bool:
    return re.search(pattern, text, re.VERBOSE) is not None


def test_what_is_out_of_range_is_an_error() -> None:
    for text in parts(OUT_OF_RANGE):
        for m in (torch, door):
            with pytest.raises((IndexError, RuntimeError, TypeError, ValueError, OverflowError)):
                eval(text, names(m))
