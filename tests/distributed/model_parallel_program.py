"""Models divided among ranks beside the same models undivided: values, gradients, training."""

import copy
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, distributed, nn, optim, pretrained, viz
from minigrad.autograd import grad
from minigrad.distributed.tensor_parallel import divided_parameters, share

WORLD = distributed.world()
RANK, SIZE = WORLD.rank, WORLD.size
HEADS = 2 * SIZE
WIDTH = 4 * HEADS
rng = np.random.default_rng(0)


def close(got: Any, want: Any, name: str = "") -> None:
    """Equal to 1e-12 of the largest entry."""
    want = np.asarray(want)
    np.testing.assert_allclose(got, want, 1e-12, 1e-12 * max(1.0, abs(want).max()), err_msg=name)


def own(name: str, whole: Any, axes: dict[str, int]) -> np.ndarray:
    """This rank's part of an array of the undivided model."""
    array = np.asarray(whole)
    if name not in axes:
        return array
    start, end = share(array.shape[axes[name]], WORLD)
    return array.take(range(start, end), axes[name])


def compare(
    model: nn.Module, loss: Callable[[Any], Tensor], steps: int = 4, **options: Any
) -> nn.Module:
    """Train the model and a divided copy of it: the losses, gradients and weights are equal."""
    model = model.double()
    mine = copy.deepcopy(model)
    for parameter in mine.parameters():  # rank 0's values count
        parameter.data[...] *= 1.0 if RANK == 0 else np.nan
    divided = distributed.parallelize(mine, WORLD, **options)
    axes = {
        path: module.divided[path.rpartition(".")[2]]
        for path, _, module in divided_parameters(divided)
    }
    assert axes
    assert list(divided.state_dict()) == list(model.state_dict())
    optimizers = [optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, divided)]
    for _ in range(steps):
        losses = [loss(m) for m in (model, divided)]
        close(losses[1].item(), losses[0].item())
        for value, optimizer in zip(losses, optimizers, strict=True):
            optimizer.zero_grad()
            value.backward()
        whole = dict(model.named_parameters())
        for name, parameter in divided.named_parameters():
            assert parameter.grad is not None
            close(parameter.grad.numpy(), own(name, whole[name].grad.numpy(), axes), name)
        for norm_type in (2.0, 1.0, 3.0, np.inf):
            norms = [nn.utils.grad_norm(m.parameters(), norm_type) for m in (model, divided)]
            close(norms[1], norms[0])
        norms = [nn.utils.clip_grad_norm(m.parameters(), norms[0]) for m in (model, divided)]
        close(norms[1], norms[0])
        assert len({*WORLD.mpi.allgather(norms[1])}) == 1
        for optimizer in optimizers:
            optimizer.step()
        for name, parameter in divided.named_parameters():
            close(parameter.numpy(), own(name, whole[name].numpy(), axes), name)
    return divided


def tensors(*shapes: tuple[int, ...]) -> list[Tensor]:
    return [minigrad.tensor(rng.normal(size=shape)) for shape in shapes]


minigrad.random.seed(1)
x, memory = tensors((2, 5, WIDTH), (2, 7, WIDTH))
padding = np.array([[False] * 5, [False] * 3 + [True] * 2])
bias = minigrad.tensor(rng.normal(size=(1, HEADS, 5, 5)), requires_grad=True)

sizes = WIDTH, HEADS, 3 * SIZE, 0.0
for norm_first in (False, True):
    options: Any = {"norm_first": norm_first, "num_kv_heads": SIZE}
    layer: Any = nn.TransformerEncoderLayer(*sizes, nn.functional.gelu, **options)
    encoder = nn.TransformerEncoder(layer, 2, nn.LayerNorm(WIDTH))
    compare(encoder, lambda m: (m(x, src_key_padding_mask=padding, is_causal=True) ** 2).mean())
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(*sizes, norm_first=norm_first), 2)
    compare(decoder, lambda m: (m(x, memory, tgt_is_causal=True) ** 2).mean())
compare(nn.Transformer(WIDTH, HEADS, 1, 1, 3 * SIZE, 0.0), lambda m: (m(memory, x) ** 2).mean())
compare(nn.SwiGLU(WIDTH, 3 * SIZE), lambda m: (m(x) ** 2).mean())
keyed = nn.ModuleDict({"7": nn.SwiGLU(WIDTH, 3 * SIZE)})  # a key that is a digit is not an index
compare(keyed, lambda m: (m["7"](x) ** 2).mean(), 1)

# Drawn anew after the division, as one process draws: each rank takes its part of the whole.
draws: list[Callable[[Any], Any]] = [
    nn.init.xavier_uniform_, nn.init.kaiming_normal_, nn.init.orthogonal_, nn.init.trunc_normal_,
    nn.init.eye_, lambda p: nn.init.sparse_(p, 0.5), lambda p: nn.init.constant_(p, 3.0),
    lambda p: p.normal_(), lambda p: p.uniform_(-1, 1),
]  # fmt: skip
plain = nn.TransformerEncoderLayer(*sizes).double()
divided = distributed.parallelize(copy.deepcopy(plain))
axes = {path: m.divided[path.rpartition(".")[2]] for path, _, m in divided_parameters(divided)}
for draw in draws:
    drawn: list[dict[str, Any]] = []
    for m in (plain, divided):
        minigrad.random.seed(7)
        drawn.append({name: p for name, p in m.named_parameters() if p.ndim == 2})
        with minigrad.no_grad():
            for parameter in drawn[-1].values():
                draw(parameter)
    for name, parameter in drawn[1].items():
        np.testing.assert_array_equal(
            parameter.numpy(), own(name, drawn[0][name].numpy(), axes), name
        )

# What takes all parameters, or a whole matrix, together refuses the parts.
encoder = distributed.parallelize(nn.TransformerEncoderLayer(WIDTH, HEADS, 3 * SIZE))
for refusing in (optim.LBFGS, optim.Muon):
    with pytest.raises(ValueError, match=f"{refusing.__name__}.* is divided among ranks"):
        refusing([copy.deepcopy(encoder).linear1.weight])

# The mask of each head, its gradient, and the weights of all heads.
gradients = []


def weighted(attention: Any) -> Tensor:
    output, weights = attention(x, x, x, attn_mask=bias, need_weights=True)
    assert weights.shape == (2, HEADS, 5, 5)
    value: Tensor = (output**2).mean() + (weights**3).sum()
    gradients.append(grad(value, [bias], retain_graph=True)[0].numpy())
    return value


compare(nn.MultiHeadAttention(WIDTH, HEADS, add_bias_kv=False), weighted, 1)
close(gradients[1], gradients[0])
attention = nn.MultiHeadAttention(WIDTH, HEADS, add_bias_kv=True, add_zero_attn=True)
compare(attention, lambda m: (m(x, memory, memory) ** 2).mean(), 2)

# GPT-2 with a vocabulary that no number of ranks divides.
config = pretrained.GPT2Config(
    vocab_size=7 * SIZE + 1, n_positions=8, n_embd=WIDTH, n_layer=2, n_head=HEADS, n_inner=3 * SIZE,
    resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
)  # fmt: skip
ids = rng.integers(0, config.vocab_size, (2, 6))
target = np.where(rng.random((2, 6)) < 0.2, -100, np.roll(ids, -1, 1))


def language_loss(model: Any) -> Tensor:
    flat = model(ids).reshape(-1, config.vocab_size)
    return nn.functional.cross_entropy(flat, target.reshape(-1), label_smoothing=0.1)


gpt = compare(pretrained.GPT2(config), language_loss)
assert gpt.tokens.weight is gpt.head.weight
assert len(gpt.tokens.weight) <= 8

bert_config = pretrained.BertConfig(
    vocab_size=5 * SIZE + 1, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=HEADS,
    intermediate_size=3 * SIZE, max_position_embeddings=8, hidden_dropout_prob=0.0,
    attention_probs_dropout_prob=0.0, pad_token_id=SIZE,
)  # fmt: skip
tokens = rng.integers(0, bert_config.vocab_size, (2, 6))
compare(
    pretrained.Bert(bert_config, masked_lm=True, pooler=False),
    lambda m: (m.masked_lm(m(tokens, key_padding_mask=tokens == SIZE)) ** 2).mean(),
)

# Greedy generation with caches that hold the heads of one rank; all ranks write the same.
minigrad.random.seed(5)
model = pretrained.GPT2(config)
divided = distributed.parallelize(copy.deepcopy(model))
prompt = ids[:, :2].tolist()
one, other = (nn.generation.generate(m.eval(), prompt, 6, temperature=0) for m in (model, divided))
assert one.tolist() == other.tolist()

# Dropout: ranks differ inside the divided parts and agree outside, and it is reproducible.
layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 3 * SIZE, 0.5)
divided = distributed.parallelize(layer)
masks: list[np.ndarray] = []
divided.dropout.register_forward_hook(lambda module, args, out: masks.append(out.numpy() == 0))
results = []
for _ in range(2):
    minigrad.random.seed(3)
    results.append(divided(x.astype("float32")).numpy())
for first, second in (results, masks):
    np.testing.assert_array_equal(first, second)
everywhere = distributed.all_gather(results[0][None]).numpy()
assert (everywhere == results[0]).all()
assert len(np.unique(distributed.all_gather(minigrad.random.rand(1)).numpy())) == 1
with_ones = distributed.tensor_parallel.ParallelDropout(nn.Dropout(0.5), WORLD)
kept = distributed.all_gather(with_ones(minigrad.ones(1, 64))).numpy()
assert len(np.unique(kept, axis=0)) == SIZE

start = x.astype("float32").detach().requires_grad_()
slopes = []
for run in (divided, lambda x: minigrad.autograd.checkpoint(divided, x)):
    minigrad.random.seed(4)
    slopes += grad((run(start) ** 2).sum(), [start])
np.testing.assert_allclose(slopes[1].numpy(), slopes[0].numpy(), 1e-4, 1e-4)  # the same dropped

# What does not divide is an error that says what, and leaves the model as it was.
if SIZE > 1:
    wrong: list[tuple[Any, str]] = [
        (nn.MultiHeadAttention(4 * SIZE + 4, SIZE + 1), "num_heads"),
        (nn.MultiHeadAttention(WIDTH, HEADS, num_kv_heads=1), "num_kv_heads"),
        (nn.TransformerEncoderLayer(WIDTH, HEADS, SIZE + 1), "in_features"),
        (nn.LayerNorm(3), "nothing to divide"),
        (nn.TransformerEncoderLayer(WIDTH, HEADS, SIZE, activation=nn.PReLU()), "activation"),
    ]
    for module, what in wrong:
        before = repr(module)
        with pytest.raises(ValueError, match=what):
            distributed.parallelize(module)
        assert repr(module) == before
with pytest.raises(IndexError, match=f"0 to {config.vocab_size - 1}"):
    gpt.tokens([[config.vocab_size]])

# The two ends: second derivatives, of the loss that all ranks share.
weight = minigrad.tensor([[1.0 + RANK], [2.0]], dtype="float64", requires_grad=True)
point = minigrad.tensor([0.5, -1.0], dtype="float64", requires_grad=True)
total = distributed.sum_of_parts((distributed.copy_to_parts(point) @ weight).sin())
(slope,) = grad((total**2).sum(), [point], create_graph=True)
(curvature,) = grad((slope * slope).sum(), [point])
weights = [minigrad.tensor([[1.0 + r], [2.0]], dtype="float64") for r in range(SIZE)]
everything = sum((point @ w).sin() for w in weights)
(whole_slope,) = grad((everything**2).sum(), [point], create_graph=True)
close(slope.detach(), whole_slope.detach())
close(curvature, grad((whole_slope * whole_slope).sum(), [point])[0])

# ZeRO: each rank has some of the states, and the weights are those of one optimizer.
for kind, options in ((optim.AdamW, {"lr": 0.01}), (optim.SGD, {"lr": 0.1, "momentum": 0.9})):
    minigrad.random.seed(9)
    plain = nn.TransformerEncoderLayer(8, 2, 16, 0.0)
    shared = copy.deepcopy(plain)
    optimizers = [kind([*m.parameters()], **options) for m in (plain, shared)]
    zero = distributed.ZeroRedundancyOptimizer(optimizers[1])
    schedule = [optim.lr_scheduler.StepLR(each, 2, 0.5) for each in (zero, optimizers[0])]
    data = minigrad.tensor(rng.normal(size=(2, 3, 8)), dtype="float32")
    for _ in range(5):
        for m, optimizer in ((plain, optimizers[0]), (shared, zero)):
            optimizer.zero_grad()
            (m(data) ** 2).mean().backward()
            optimizer.step()
        for each in schedule:
            each.step()
    for ours, theirs in zip(shared.parameters(), plain.parameters(), strict=True):
        assert (ours.data == theirs.data).all()
    counts = distributed.all_gather(np.array([len(zero.state)])).numpy()
    numbers = distributed.all_gather(np.array([sum(p.numel() for p in zero.state)])).numpy()
    assert counts.sum() == len([*plain.parameters()])
    assert numbers.sum() == plain.count_parameters()
    assert numbers.max() < 1.5 * numbers.mean()
with pytest.raises(TypeError, match="LBFGS"):
    distributed.ZeroRedundancyOptimizer(optim.LBFGS(plain.parameters()))
# Drawings: what one rank sends where, and the graphs of all ranks in one.
point = minigrad.ones(2, requires_grad=True)
sent = distributed.ppermute(distributed.all_reduce(point * point, comm=WORLD), 1) * 2.0
mine_alone = viz.graph(sent, point=point)
notes = {node.label: node.notes for node in mine_alone.nodes}
if SIZE > 1:
    before, after = (RANK - 1) % SIZE, (RANK + 1) % SIZE
    assert notes["ppermute"][-2:] == (f"to {after}", f"from {before}"), notes
    others = ", ".join(str(rank) for rank in range(SIZE) if rank != RANK)
    assert notes["all_reduce"][-2:] == (f"to {others}", f"from {others}"), notes
together = viz.all_ranks(mine_alone)
labels = [node.label for node in together.nodes]
assert labels.count("ppermute") == labels.count("all_reduce") == 1
assert labels.count("multiply") == 2 * SIZE
assert labels.count("output") == SIZE
places = {node.id: i for i, node in enumerate(together.nodes)}
assert all(places[edge.source] < places[edge.target] for edge in together.edges)
assert {group.name for group in together.groups} == {f"rank {rank}" for rank in range(SIZE)}
[ring] = [node.id for node in together.nodes if node.label == "ppermute"]
assert len([edge for edge in together.edges if ring in (edge.source, edge.target)]) == 2 * SIZE
assert together.to_svg().count("all_reduce") >= 1
assert notes["ppermute"][-1] in viz.explore(sent).path.read_text(encoding="utf-8")
# The backward pass of all ranks: at a collective, a step of each rank with its own gradient.
with viz.trace() as traced:
    parts = distributed.copy_to_parts(point, comm=WORLD) * (RANK + 1.0)
    distributed.sum_of_parts(parts, comm=WORLD).sum().backward()
steps = viz.all_ranks(traced.graph(point=point)).steps
shown = [(step.op, step.rank) for step in steps]
order = ["sum", "sum_of_parts", "multiply", "copy_to_parts"]
assert shown == [(op, rank) for op in order for rank in range(SIZE)], shown
for step in steps[-SIZE:]:
    (given,), want = step.parts, sum(range(1, SIZE + 1))
    assert step.cotangent.values == (step.rank + 1.0,) * 2, step
    assert given.sent.values == (want,) * 2, step
    assert (given.arrival, given.arrivals) == (1, 1), step
# One rank alone may watch: nothing is run again that would wait for the others.
with viz.trace() if RANK == 0 else nullcontext() as traced:
    rows = minigrad.ones((1, 2, 3, 4), requires_grad=True)
    heard = distributed.ppermute(rows, 1, comm=WORLD)
    distributed.all_reduce(heard * point.sum(), comm=WORLD).sum().backward()
if traced is not None:
    steps = traced.graph().steps
    alone = [part.unchecked for step in steps for part in step.parts]
    assert alone.count("an op with side effects is not run again") == 2, alone
print("passed")
