"""Generation: what is drawn, through which cache, in which mode."""

import math
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, nn, ops, tensor
from minigrad.nn.generation import generate, pad_left, sample, stream

CLASSES, WIDTH = 11, 8


class Model(nn.Module):
    """A small language model, dropout and all."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = nn.Embedding(CLASSES, WIDTH)
        self.positions = nn.SinusoidalPosEmbedding()
        layer = nn.TransformerEncoderLayer(WIDTH, 2, 8, 0.5, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, nn.LayerNorm(WIDTH))
        self.head = nn.Linear(WIDTH, CLASSES)
        self.seen: list[tuple[int, ...]] = []

    def forward(
        self,
        ids: Tensor,
        cache: nn.Cache | None = None,
        key_padding_mask: Any = None,
        position_ids: Any = None,
    ) -> Tensor:
        self.seen.append(ids.shape)
        start = 0 if cache is None or position_ids is not None else cache.get_seq_length()
        x = self.positions(self.tokens(ids), offset=start, position_ids=position_ids)
        x = self.layers(
            x, src_key_padding_mask=key_padding_mask, is_causal=True, kv_cache=cache,
            use_cache=cache is not None,
        )  # fmt: skip
        return self.head(x)


def without_cache(model: Model, ids: Any, count: int) -> np.ndarray:
    """Greedy generation by the full forward pass."""
    model.eval()
    found = np.asarray(ids)
    for _ in range(count):
        following = model(found).numpy()[:, -1].argmax(axis=-1)
        found = np.concatenate([found, following[:, None]], axis=1)
    return found


BEGINNINGS = np.array([[1, 2, 3], [4, 0, 1]])


@pytest.mark.parametrize("kind", ["default", "growing", "fixed"])
def test_greedy_through_the_cache_is_greedy_without(kind: str) -> None:
    model = Model()
    expected = without_cache(model, BEGINNINGS, 9)
    model.seen.clear()
    cache = {"default": None, "growing": nn.DynamicKVCache(), "fixed": nn.StaticKVCache(11, 2)}
    found = generate(model, BEGINNINGS, 9, temperature=0, cache=cache[kind])
    np.testing.assert_array_equal(found.numpy(), expected)
    assert found.dtype == np.int64
    assert model.seen == [(2, 3)] + [(2, 1)] * 8
    steps = [step.numpy() for step in stream(model, BEGINNINGS, 9, temperature=0.0)]
    np.testing.assert_array_equal(np.stack(steps, axis=1), expected[:, 3:])


class Decodes(nn.Module):
    """A decoder of two memories, each repeated for its beams; without a cache, the whole text."""

    def __init__(self, repeats: bool = True) -> None:
        super().__init__()
        self.model = nn.Transformer(WIDTH, 2, 1, 2, 8)
        self.tokens, self.head = nn.Embedding(CLASSES, WIDTH), nn.Linear(WIDTH, CLASSES)
        self.memory, self.repeats = minigrad.randn(2, 5, WIDTH, dtype="float64"), repeats
        self.double().eval()

    def forward(self, ids: Any, cache: Any = None) -> Tensor:
        use = {"kv_cache": cache, "use_cache": True} if cache is not None else {}
        memory = self.memory.repeat_interleave(len(ids) // 2 if self.repeats else 1, dim=0)
        return self.head(self.model.decoder(self.tokens(ids), memory, tgt_is_causal=True, **use))


def test_a_decoder() -> None:
    decode = Decodes()
    cache = nn.EncoderDecoderCache()
    found = generate(decode, BEGINNINGS, 5, temperature=0, cache=cache).numpy()
    whole = decode(found[:, :-1])
    np.testing.assert_array_equal(whole.numpy()[:, 2:].argmax(axis=-1), found[:, 3:])


class Deaf(Model):
    """It ignores the cache that it gets: the logits of what it is given."""

    def forward(self, ids: Any, cache: Any = None, **options: Any) -> Tensor:
        return super().forward(ids, None, **options)


class High(Model):
    """It uses slots of the cache above 0."""

    def forward(self, ids: Any, cache: Any = None, **options: Any) -> Tensor:
        if cache is None:
            return super().forward(ids)
        x = self.positions(self.tokens(ids), offset=cache.get_seq_length(3))
        for i, layer in enumerate(self.layers.layers, 3):
            x = layer(x, is_causal=True, kv_cache=cache, use_cache=True, cache_layer_idx=i)
        assert self.layers.norm is not None
        return self.head(self.layers.norm(x))


@pytest.mark.parametrize("kind", [Model, Deaf, High])
@pytest.mark.parametrize("padded", [False, True])
def test_the_text_is_that_of_its_own_logits(kind: type[Model], padded: bool) -> None:
    if kind is High and padded:
        return
    model = kind()
    options: dict[str, Any] = (
        {"key_padding_mask": np.array([[True, True, False], [False] * 3])} if padded else {}
    )
    found = generate(model, BEGINNINGS, 6, temperature=0, **options).numpy()
    for row, start in zip(found, (2 * padded, 0), strict=True):
        expected = without_cache(model, row[None, start:3], 6)
        np.testing.assert_array_equal(row[start:], expected[0])
    best, scores = nn.generation.beam_search(model, BEGINNINGS, 6, num_beams=3, **options)
    with minigrad.no_grad():
        for row, start, beams in zip(scores.numpy(), (2 * padded, 0), best.numpy(), strict=True):
            log_p = ops.log_softmax(model(beams[:, start:-1]), -1).numpy()[:, 2 - start :]
            own = np.take_along_axis(log_p, beams[:, 3:, None], -1).sum((1, 2)) / 6
            np.testing.assert_allclose(row, own, atol=1e-5)


def test_it_repeats_from_a_seed() -> None:
    model = Model()

    def run(seed: int) -> np.ndarray:
        minigrad.random.seed(seed)
        return generate(model, BEGINNINGS, 20).numpy()

    np.testing.assert_array_equal(run(1), run(1))
    assert (run(1) != run(2)).any()


def test_modes_are_restored_and_nothing_is_recorded() -> None:
    model = Model()
    model.head.eval()
    before = [m.training for m in model.modules()]
    modes: list[bool] = []
    model.layers.register_forward_hook(
        lambda module, args, out: modes.append(module.training or out.requires_grad)
    )
    for _ in stream(model, BEGINNINGS, 3):
        assert [m.training for m in model.modules()] == before
        assert minigrad.is_grad_enabled()
    assert modes == [False] * 3

    def fail(*_: Any) -> None:
        raise RuntimeError("no more")

    model.head.register_forward_hook(fail)
    with pytest.raises(RuntimeError, match="no more"):
        generate(model, BEGINNINGS, 1)
    assert [m.training for m in model.modules()] == before
    assert minigrad.is_grad_enabled()


def counting(ids: Any, _cache: Any) -> Tensor:
    return tensor(1000.0 * (np.asarray(ids)[..., None] + 1 == np.arange(CLASSES)))


def test_stop() -> None:
    found = generate(counting, [[1, 2], [3, 4]], 8, stop=6)
    assert found.tolist() == [[1, 2, 3, 4, 5, 6], [3, 4, 5, 6, 6, 6]]
    assert generate(counting, [[1]], 3, stop=9).tolist() == [[1, 2, 3, 4]]


def test_edges() -> None:
    assert generate(counting, [[1, 2]], 0).tolist() == [[1, 2]]
    assert generate(counting, np.zeros((0, 2), int), 3).shape == (0, 5)


class TestSample:
    LOGITS = np.log([0.4, 0.3, 0.2, 0.1])
    A, B = math.sqrt(0.4), math.sqrt(0.3)
    FREQUENCIES: tuple[tuple[dict[str, Any], list[float]], ...] = (
        ({}, [0.4, 0.3, 0.2, 0.1]), ({"temperature": 0.5}, [16 / 30, 9 / 30, 4 / 30, 1 / 30]),
        ({"temperature": 1e-9}, [1, 0, 0, 0]), ({"temperature": 1e300}, [0.25] * 4),
        ({"top_k": 1}, [1, 0, 0, 0]), ({"top_k": 2}, [4 / 7, 3 / 7, 0, 0]),
        ({"top_k": 9}, [0.4, 0.3, 0.2, 0.1]), ({"top_p": 0.39}, [1, 0, 0, 0]),
        ({"top_p": 0.41}, [4 / 7, 3 / 7, 0, 0]), ({"top_p": 0.71}, [4 / 9, 3 / 9, 2 / 9, 0]),
        ({"top_p": 1.0}, [0.4, 0.3, 0.2, 0.1]), ({"top_k": 2, "top_p": 0.5}, [1, 0, 0, 0]),
        # the temperature comes first: √0.4 alone is below half
        ({"temperature": 2.0, "top_p": 0.5}, [A / (A + B), B / (A + B), 0, 0]),
    )  # fmt: skip

    @pytest.mark.parametrize(("options", "expected"), FREQUENCIES, ids=str)
    def test_frequencies(self, options: Any, expected: Any) -> None:
        drawn = sample(np.broadcast_to(self.LOGITS, (40000, 4)), **options).numpy()
        found = np.bincount(drawn, minlength=4) / 40000
        np.testing.assert_allclose(found, expected, atol=0.015)
        assert (found[np.array(expected) == 0] == 0).all()

    def test_greedy_draws_nothing(self) -> None:
        before = minigrad.random.get_state()
        assert sample(Tensor([[1.0, 3.0, 3.0]]), 0.0).tolist() == [1]
        assert minigrad.random.get_state() == before

    def test_ties_and_shapes(self) -> None:
        assert set(sample(np.zeros((500, 3)), top_k=2).tolist()) == {0, 1}
        assert sample(np.zeros((2, 3, 4))).shape == (2, 3)
        assert sample(np.zeros(4)).shape == ()

    def test_minus_infinity_never_comes(self) -> None:
        logits = np.array([-np.inf, 0.0, -np.inf, -1000.0])
        assert set(sample(np.broadcast_to(logits, (500, 4)), 0.1, 4, 1.0).tolist()) == {1}


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"temperature": -1.0}, "temperature .*0"), ({"temperature": np.inf}, "temperature"),
    ({"temperature": np.nan}, "temperature"), ({"top_k": 0}, "top_k .*1"),
    ({"top_p": 0.0}, "top_p .*0"), ({"top_p": 1.5}, "top_p .*0 to 1"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), OPTIONS, ids=str)
def test_refused_options(options: Any, message: str) -> None:
    for call in (
        lambda: sample(np.zeros(3), **options), lambda: generate(counting, [[1]], 2, **options),
        lambda: stream(counting, [[1]], 2, **options),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            call()


MODEL = lambda ids, cache: tensor(np.zeros((1, 5)))
REFUSED: list[tuple[Any, Any, str]] = [
    *[(ValueError, lambda logits=logits: sample(np.array([logits])), "sample: .*logits")
      for logits in ([0.0, np.nan], [-np.inf, -np.inf], [np.inf, 0.0])],
    (ValueError, lambda: generate(counting, [1, 2], 2), r"\(N, L\).*\[ids\]"),
    (TypeError, lambda: generate(counting, [[]], 2), "integers"),
    (TypeError, lambda: generate(counting, [[0.5]], 2), "integers"),
    (ValueError, lambda: generate(counting, np.zeros((2, 0), int), 2), "at least 1"),
    (ValueError, lambda: generate(MODEL, [[1, 2]], 1), r"logits .*N, L = \(1, 2\)"),
    (ValueError, lambda: generate(counting, [[1]], -1), "max_new_tokens .*0"),
    (ValueError, lambda: generate(counting, PROMPTS, 3), r"generate: .*unequal length.*pad_left"),
    (ValueError, lambda: pad_left([]), "empty"),
    (ValueError, lambda: pad_left([[1], []]), r"prompts of one or more integers, got \[\]"),
    (ValueError, lambda: pad_left([[[1]]]), "pad_left: prompts of one or more"),
    (ValueError, lambda: pad_left([[1.5]]), "pad_left: prompts of one or more"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "call", "message"), REFUSED)
def test_refusals(error: type[Exception], call: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


PROMPTS = [[1, 2, 3, 4, 5], [6], [7, 8, 9]]


class TestUnequalLengths:
    @pytest.mark.parametrize("pad", [0, 10])
    @pytest.mark.parametrize("kind", ["default", "fixed"])
    def test_each_prompt_as_if_it_were_alone(self, kind: str, pad: int) -> None:
        """Whatever the padding is, and whatever the others are."""
        model = Model()
        ids, padding = pad_left(PROMPTS, pad)
        cache = nn.StaticKVCache(13, 2) if kind == "fixed" else None
        found = generate(model, ids, 8, temperature=0, cache=cache, key_padding_mask=padding)
        assert found.shape == (3, 13)
        np.testing.assert_array_equal(found.numpy()[:, :5], ids.numpy())
        for row, prompt in zip(found.numpy(), PROMPTS, strict=True):
            alone = generate(model, [prompt], 8, temperature=0).numpy()[0]
            np.testing.assert_array_equal(row[5 - len(prompt) :], alone)

    def test_a_cache_that_is_not_empty(self) -> None:
        """A second turn, again of unequal lengths, behind what was said in the first."""
        model, cache = Model(), nn.DynamicKVCache()
        ids, padding = pad_left(PROMPTS)
        said = generate(model, ids, 3, temperature=0, cache=cache, key_padding_mask=padding)
        more, gaps = pad_left([[3], [5, 6], [9]])
        turn = np.concatenate([said.numpy()[:, -1:], more.numpy()], axis=1)  # not in the cache yet
        whole = np.concatenate([padding, np.zeros((3, 3), bool), gaps], axis=1)
        found = generate(model, turn, 4, temperature=0, cache=cache, key_padding_mask=whole)
        for i, prompt in enumerate(PROMPTS):
            before = generate(model, [prompt], 3, temperature=0).tolist()[0]
            alone = generate(model, [before + more.numpy()[i][~gaps[i]].tolist()], 4, temperature=0)
            assert found.tolist()[i][-4:] == alone.tolist()[0][-4:]

    def test_gpt2(self) -> None:
        config = minigrad.pretrained.GPT2Config(
            vocab_size=CLASSES, n_positions=16, n_embd=8, n_layer=2, n_head=2
        )
        model = minigrad.pretrained.GPT2(config)
        ids, padding = pad_left(PROMPTS)
        found = generate(model, ids, 8, temperature=0, key_padding_mask=padding)
        for row, prompt in zip(found.tolist(), PROMPTS, strict=True):
            assert row[5 - len(prompt) :] == generate(model, [prompt], 8, temperature=0).tolist()[0]

    def test_refused_masks(self) -> None:
        none = np.zeros((2, 2), bool)
        for mask, message in (
            (none.astype(int), r"must be bool of shape \(2, 2\), True = padding; got int64"),
            (none[:1], r"bool of shape \(2, 2\), .* got bool \(1, 2\)"),
            ([[False, True], [False, False]], "prompt 0 ends in padding; pad on the left"),
            ([[False, False], [True, True]], "prompt 1 ends in padding"),
        ):
            with pytest.raises(ValueError, match=f"generate: .*{message}"):
                generate(counting, [[1, 2], [3, 4]], 3, key_padding_mask=mask)
