"""What trains something gives the same numbers plainly and captured, bit for bit."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from both_ways import Made, batches, check, owning, updated
from optimizer_kinds import KINDS, kinds, leaf
from schedules import SCHEDULERS

import minigrad
from minigrad import nn, optim
from minigrad.nn import functional as F
from minigrad.optim import lr_scheduler

DATA = batches(6, (4, 8), ((4,), 3))
IMAGES = batches(5, (2, 3, 8, 8), ((2,), 4))
SEQUENCES = batches(5, (3, 5, 4))
WORDS = batches(5, ((2, 6), 11))


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Dropout(0.2), nn.Linear(6, 3))


def with_optimizer(
    model: Callable[[], nn.Module], name: str = "SGD", **options: Any
) -> Callable[[], tuple[Any, Any]]:
    def owners() -> tuple[Any, Any]:
        m = model()
        return m, getattr(optim, name)(m.parameters(), **{"lr": 0.1, **options})

    return owners


def trained(
    model: Callable[[], nn.Module], loss: Callable[..., Any], name: str = "AdamW",
    clip: float | None = None, schedule: Any = None, **options: Any,
) -> Callable[[], Made]:  # fmt: skip
    """A step that trains a model: ``loss(model, *batch)``."""

    def make() -> Made:
        m = model()
        o = getattr(optim, name)(m.parameters(), **{"lr": 0.01, **options})
        schedules = [schedule(o)] if schedule else []

        def step(*batch: Any) -> Any:
            o.zero_grad()
            value = loss(m, *batch)
            value.backward()
            if clip is not None:
                nn.utils.clip_grad_norm(m.parameters(), clip)
            o.step()
            for each in schedules:
                each.step()
            return value

        return step, (m, o, *schedules)

    return make


def classified(m: Any, x: Any, y: Any) -> Any:
    return F.cross_entropy(m(x), y)


def squared(m: Any, x: Any) -> Any:
    out = m(x)
    return ((out[0] if isinstance(out, tuple) else out) ** 2).mean()


def test_every_optimizer_and_schedule_is_here() -> None:
    here = {type(make([leaf([1.0])])).__name__ for make in KINDS.values()}
    others = {"LBFGS", "Muon", "Optimizer", "lr_scheduler", "swa_utils"}
    assert {*optim.__all__} == {*here, *others, "SparseAdam"}  # gradients are dense here
    assert {*lr_scheduler.__all__} == {*SCHEDULERS, "LRScheduler"}


@kinds
def test_optimizers(make: Any) -> None:
    def owners() -> Any:
        m = mlp()
        return m, make(m.parameters())

    step = check(owning(owners, lambda x, y, m, o: updated(o, classified(m, x, y))), DATA)
    assert "cross_entropy" in str(step.program)


@pytest.mark.parametrize("name", [name for name in SCHEDULERS if name != "ReduceLROnPlateau"])
def test_schedules(name: str) -> None:
    make = trained(mlp, classified, "SGD", schedule=SCHEDULERS[name], lr=0.1, momentum=0.9)
    check(make, [*DATA, *DATA[:3]])


def test_a_schedule_that_sees_the_loss() -> None:
    def owners() -> Any:
        m, o = with_optimizer(mlp, lr=0.5)()
        return m, o, lr_scheduler.ReduceLROnPlateau(o, patience=1)

    def step(x: Any, y: Any, m: Any, o: Any, schedule: Any) -> Any:
        loss = updated(o, classified(m, x, y))
        schedule.step(loss)
        return {"loss": loss}

    check(owning(owners, step), [*DATA, *DATA])


def test_clipping_of_values_and_the_returned_norm() -> None:
    def step(x: Any, y: Any, m: Any, o: Any) -> Any:
        m.zero_grad()
        loss = classified(m, x, y)
        loss.backward()
        nn.utils.clip_grad_value(m.parameters(), 0.05)
        norm = nn.utils.clip_grad_norm([*m.parameters()], 0.1)
        o.step()
        return [loss, (norm, None, 3, "done")]

    check(owning(with_optimizer(mlp, lr=0.5), step), DATA)


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
        nn.Dropout2d(0.2), nn.Conv2d(4, 4, 3, groups=2), nn.GroupNorm(2, 4), nn.GELU(),
        nn.AvgPool2d(2), nn.Flatten(), nn.Linear(4, 4),
    )  # fmt: skip


class LanguageModel(nn.Module):
    """Embedding, blocks, and an output layer that may share the embedding's weight."""

    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(11, 8)
        self.positions = nn.LearnedPosEmbedding(6, 8)
        self.body = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, 0.1), 2)
        self.head = nn.Linear(8, 11, bias=False)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, words: Any) -> Any:
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1])
        return self.head(self.body(self.positions(self.embed(words)), mask))


def next_word(m: Any, words: Any) -> Any:
    scores = m(words)[:, :-1]
    return F.cross_entropy(scores.reshape(-1, 11), words[:, 1:].reshape(-1))


class Loop(nn.Module):
    """A cell that is called once for each step."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(4, 3)

    def forward(self, x: Any) -> Any:
        h, c = minigrad.zeros(x.shape[0], 3), minigrad.zeros(x.shape[0], 3)
        outs = []
        for i in range(x.shape[1]):
            h, c = self.cell(x[:, i], (h, c))
            outs.append(h)
        return minigrad.stack(outs, 1) * minigrad.concatenate([h, c], 1)[:, None, 3:]


def translated(m: Any, x: Any, y: Any, real: Any) -> Any:
    mask = nn.Transformer.generate_square_subsequent_mask(y.shape[1])
    padding = real * minigrad.arange(4) > 0  # never of the first
    return (m(x, y, tgt_mask=mask, src_key_padding_mask=padding) ** 2).sum()


def augmented(m: Any, x: Any, y: Any) -> Any:
    noise = minigrad.random.normal(0.0, 0.1, x.shape)
    keep = minigrad.random.bernoulli(minigrad.full((4, 1), 0.7))
    order = minigrad.random.permutation(len(x))
    x = (x * keep + noise.astype(x.dtype)) * minigrad.random.uniform(0.9, 1.1)
    hidden = F.dropout1d(m[0](x[order])[..., None])[..., 0] + minigrad.empty(6).cauchy_()
    logits = m[1:](hidden) + F.gumbel_softmax(m(x), hard=True)
    return F.cross_entropy(logits, y[order]) + minigrad.rand(1).sum() * 0


TRAINED: dict[str, tuple[Callable[[], Made], list[Any]]] = {
    "Muon, which is for matrices": (
        trained(lambda: nn.Sequential(nn.Linear(8, 6, bias=False), nn.ReLU(),
                                      nn.Linear(6, 3, bias=False)), classified, "Muon"), DATA),
    **{f"clipped at {clip}": (trained(mlp, classified, clip=clip), DATA) for clip in (0.01, 100.0)},
    "convolution": (trained(cnn, classified), IMAGES),
    "the mean of all batches": (
        trained(lambda: nn.Sequential(nn.Linear(8, 3), nn.BatchNorm1d(3, momentum=None)),
                classified), DATA),
    **{f"{kind} {options}": (trained(lambda kind=kind, options=options: getattr(nn, kind)(
        4, 3, batch_first=True, **options), squared), SEQUENCES)
       for kind in ("RNN", "GRU", "LSTM")
       for options in ({}, {"num_layers": 2, "bidirectional": True, "dropout": 0.3})},
    "a cell in a loop": (trained(Loop, squared), SEQUENCES),
    "a language model": (trained(lambda: LanguageModel(False), next_word, clip=1.0), WORDS),
    "one with tied weights": (trained(lambda: LanguageModel(True), next_word, clip=1.0), WORDS),
    "an encoder and a decoder": (trained(lambda: nn.Transformer(8, 2, 1, 1, 16, 0.1), translated),
                                 batches(5, (2, 4, 8), (2, 3, 8), ((2, 4), 2))),
    **{dtype: (trained(lambda dtype=dtype: mlp().to(dtype), classified, "SGD"),
               [(x.astype(dtype), y) for x, y in DATA]) for dtype in ("float64", "float16")},
    "shapes that alternate": (trained(mlp, classified), [
        batches(1, (2 + i % 3, 8), ((2 + i % 3,), 3), seed=i)[0] for i in range(12)]),
    "random augmentation": (trained(mlp, augmented), DATA),
}  # fmt: skip


@pytest.mark.parametrize(("make", "calls"), TRAINED.values(), ids=TRAINED)
def test_what_is_trained(make: Callable[[], Made], calls: list[Any]) -> None:
    check(make, calls)


@pytest.mark.slow
def test_training_and_evaluation_that_alternate() -> None:
    def between(i: int, owners: Any) -> None:
        owners[0].train(i % 2 == 0)

    check(trained(cnn, classified, "SGD", lr=0.1), IMAGES * 15, between)


def test_evaluation_without_gradients() -> None:
    @minigrad.no_grad()
    def step(x: Any, y: Any, m: Any) -> Any:
        scores = m(x)
        return classified(m, x, y), (scores.argmax(1) == y).mean()

    check(owning(lambda: [cnn().eval()], step), IMAGES)


STATE = mlp().state_dict()
BETWEEN: dict[str, dict[int, Callable[[Any], Any]]] = {
    "weights loaded or replaced": {
        3: lambda m: m.load_state_dict(STATE),
        4: lambda m: setattr(m[0].weight, "data", np.full((6, 8), 0.25, "f4")),
    },
    "layers and dtypes replaced": {
        3: lambda m: m.__setitem__(0, nn.Linear(8, 6)),
        6: lambda m: m.__setitem__(1, nn.Tanh()),
        9: lambda m: m.to(minigrad.float64),
    },
    "weights frozen": {
        3: lambda m: m[0].requires_grad_(False),
        7: lambda m: m[0].requires_grad_(True),
    },
}


@pytest.mark.parametrize("changes", BETWEEN.values(), ids=BETWEEN)
def test_a_model_that_is_changed_between_calls(changes: Any) -> None:
    optimizer = "SGD" if 9 in changes else "AdamW"
    between = lambda i, owners: changes[i](owners[0]) if i in changes else None
    check(trained(mlp, classified, optimizer), [*DATA, *DATA], between)


def test_two_optimizers() -> None:
    def owners() -> Any:
        generator = nn.Linear(3, 4)
        critic = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 1))
        first = optim.Adam(generator.parameters(), lr=0.01)
        return generator, critic, first, optim.SGD(critic.parameters(), lr=0.1)

    def step(real: Any, generator: Any, critic: Any, first: Any, second: Any) -> Any:
        fake = generator(minigrad.randn(len(real), 3))
        right = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
        loss = updated(second, right)
        return loss, updated(first, F.softplus(-critic(fake)).mean())

    check(owning(owners, step), batches(6, (5, 4)))


@pytest.mark.parametrize("inside", [True, False])
def test_gradients_that_add_up_over_calls(inside: bool) -> None:
    def step(x: Any, y: Any, update: bool, m: Any, o: Any) -> Any:
        loss = classified(m, x, y) / 3
        loss.backward()
        if update:
            o.step()
            if inside:
                o.zero_grad(set_to_none=False)
        return loss

    def between(i: int, owners: Any) -> None:
        if not inside and i % 3 == 0:
            owners[1].zero_grad()

    calls = [(*batch, i % 3 == 2) for i, batch in enumerate(DATA * 3)]
    check(owning(with_optimizer(mlp, momentum=0.9), step), calls, between)


def test_averaged_weights() -> None:
    def owners() -> Any:
        m, o = with_optimizer(mlp)()
        return m, optim.swa_utils.AveragedModel(m), o

    def step(x: Any, y: Any, m: Any, average: Any, o: Any) -> Any:
        loss = updated(o, classified(m, x, y))
        average.update_parameters(m)
        return loss, average(x)

    check(owning(owners, step), DATA)


def test_frozen_parameters_and_groups() -> None:
    def owners() -> Any:
        m = mlp()
        m[0].requires_grad_(False)
        groups = [{"params": m[3].weight, "lr": 0.1}, {"params": [m[3].bias]}]
        return m, optim.Adam(groups, lr=0.01)

    def step(x: Any, y: Any, m: Any, o: Any) -> None:
        updated(o, classified(m, x, y))

    check(owning(owners, step), DATA)


def test_ops_with_several_outputs_and_parts() -> None:
    def owners() -> Any:
        v = np.linspace(0, 1, 12).reshape(3, 4)
        return [minigrad.tensor(a, requires_grad=True) for a in (np.eye(4) + 0.1, v)]

    def step(x: Any, w: Any, v: Any) -> Any:
        w.zero_grad()
        v.grad = None
        sign, logdet = minigrad.linalg.slogdet(w @ w.T)
        a, b = minigrad.split(v * 2, 2, axis=1)
        rows = [v[i] * x[i] for i in range(3)] + [v[1], v[[0, 2]].sum(0)]
        top = minigrad.topk(v.reshape(-1), 3)
        y = minigrad.stack(rows).sum() + (a * b).sum() + sign * logdet + top[0].sum()
        y = y + minigrad.linalg.inv(w).sum() + v.T[1:, ::2].sum() + w[w.shape[0] - 1, 0]
        y.backward()
        return {"y": y, "parts": [a, b], "none": None}

    check(owning(owners, step), [(x.astype("float64"),) for (x,) in batches(5, (3, 4))])


def leaves(*values: Any) -> Callable[[], list[Any]]:
    return lambda: [minigrad.tensor(value, requires_grad=True) for value in values]


def test_in_place_ops_on_local_tensors() -> None:
    def step(x: Any, w: Any) -> Any:
        y = x * w
        y += x
        y.mul_(2)
        z = y + 1
        z.clip_(0, 5)
        view = z.reshape(3, 1)
        n = x + 1
        with minigrad.no_grad():
            n.add_(minigrad.ones(3, dtype="float64") / 3)
        out = (view * n).sum() + z.sum()
        out.backward()
        return out, y, z, n

    check(owning(leaves([1.0, 2.0, 3.0]), step), batches(5, (3,)))


def test_results_and_gradients_that_are_kept() -> None:
    """Later calls write neither to what they returned, nor to gradients that were taken."""
    w, v = leaves([1.0, 2.0], [1.0, 2.0])()

    @minigrad.capture
    def step(x: Any) -> Any:
        w.grad = v.grad = None
        y = x * 2
        z = (w + v + y).relu()
        z.sum().backward()
        return y, z, y.reshape(2, 1)

    kept, copies = [], []
    for (x,) in batches(6, (2,)):
        results = [*step(x), w.grad, v.grad]
        kept.append(results)
        copies.append([each.numpy().copy() for each in results])
        arrays = [each.numpy() for each in results]
        assert not np.shares_memory(arrays[3], arrays[4])
        assert np.shares_memory(arrays[0], arrays[2])
        assert not any(np.shares_memory(arrays[i], x.numpy()) for i in range(5))
    for results, known in zip(kept, copies, strict=True):
        assert all(np.array_equal(a.numpy(), b) for a, b in zip(results, known, strict=True))


def test_gradients_may_be_written_to() -> None:
    def step(x: Any, w: Any, v: Any) -> Any:
        loss = w + v + x
        loss.backward()
        return loss

    def between(i: int, owners: Any) -> None:
        if i:
            owners[0].grad.data[...] = 7
            owners[1].grad = None

    check(owning(leaves(2.0, 3.0), step), batches(6, ()), between)


def test_a_detached_leaf() -> None:
    def owners() -> Any:
        source = minigrad.tensor([1.0, 2.0])
        w = source.detach().requires_grad_()
        return w, source, optim.Adam([w], lr=0.1)

    def step(x: Any, w: Any, _source: Any, o: Any) -> Any:
        return updated(o, ((w - x) ** 2).sum())

    check(owning(owners, step), batches(6, (2,)))


def test_a_model_that_is_frozen_and_thawed_in_each_round_keeps_its_programs() -> None:
    """As the critic of a GAN, from outside and within the step; the leaves become others."""
    generator, critic = nn.Linear(3, 4), nn.Linear(4, 1)
    first, second = (optim.SGD(m.parameters(), lr=0.1) for m in (generator, critic))
    outside = minigrad.capture(lambda x: updated(first, critic(generator(x)).mean()))
    judge = minigrad.capture(lambda x: updated(second, critic(generator(x).detach()).mean()))

    @minigrad.capture
    def within(x: Any) -> Any:
        critic.requires_grad_(False)
        loss = updated(first, critic(generator(x)).mean())
        critic.requires_grad_(True)
        return loss

    for (x,) in batches(12, (5, 3)):
        critic.requires_grad_(False)
        outside(x)
        critic.requires_grad_(True)
        judge(x)
        within(x)
    assert [step._made for step in (outside, judge, within)] == [1, 1, 1]
    assert within.program is not None


@pytest.mark.parametrize("mode", ["nearest", "bilinear"])
def test_counts_that_are_the_same_in_each_call(mode: Any) -> None:
    """The shape of the result depends on them, but they are constants."""
    kept = np.array([True, False, True])
    step = lambda x, m: (m(x).sum((2, 3))[:, kept], minigrad.ops.repeat(x, [1, 2, 0], 1))
    check(owning(lambda: [nn.Upsample(scale_factor=2, mode=mode)], step), batches(6, (2, 3, 4, 4)))


@pytest.mark.parametrize("name", ["Adam", "SGD"])
def test_a_captured_step_is_freed_without_the_collector(name: str) -> None:
    def trained_and_dropped() -> list[Any]:
        model, optimizer = with_optimizer(mlp, name)()
        step = minigrad.capture(lambda x, y: updated(optimizer, classified(model, x, y)))
        for batch in DATA:
            step(*batch)
        return [weakref.ref(each) for each in (model, optimizer, step)]

    gc.collect()
    gc.disable()
    try:
        assert [one() for one in trained_and_dropped()] == [None] * 3
        assert gc.collect() == 0
    finally:
        gc.enable()
