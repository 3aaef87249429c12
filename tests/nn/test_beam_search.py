"""Beam search: beside all sequences, beside a search in plain Python, through every cache."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_generation import PROMPTS, Decodes, Model

from minigrad import Tensor, nn, ops, tensor
from minigrad.nn.generation import beam_search, generate

CLASSES = 3


def table(classes: int = CLASSES, seed: int = 0) -> Callable[[Any, Any], Tensor]:
    """A model whose logits depend on all tokens of a sequence, which a cache has to hold."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(1, 50, 20)
    logits = rng.normal(0.0, 2.0, (101, classes))

    def model(ids: Any, cache: nn.Cache) -> Tensor:
        values = tensor(np.asarray(ids, np.float64)[:, None, :, None] + 1)
        start = cache.get_seq_length()
        cache.update(values, values, 0)
        seen = cache.get(0)[0].numpy()[:, 0, :, 0]
        states = np.cumsum(seen * factors[: seen.shape[1]], axis=1).astype(int) % 101
        return tensor(logits[states[:, start:]])

    return model


def log_p(model: Any, text: tuple[int, ...], length: int) -> float:
    """The log-probability of the tokens after the first `length`, from one call without a past."""
    logits = model(np.array([text]), nn.DynamicKVCache()).numpy()[0].astype(np.float64)
    logits -= np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    return sum(logits[i - 1, text[i]] for i in range(length, len(text)))


def plain(
    model: Any, prompt: list[int], count: int, beams: int, penalty: float, stop: int | None,
    early: bool,
) -> list[tuple[float, tuple[int, ...]]]:  # fmt: skip
    """Beam search of one prompt with lists, without a cache."""
    running: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    complete: list[tuple[float, tuple[int, ...]]] = []
    for step in range(1, count + 1):
        candidates = [
            (log_p(model, (*prompt, *text, token), len(prompt)), (*text, token))
            for _, text in running
            for token in range(CLASSES)
        ]
        candidates.sort(reverse=True)
        complete += [
            (total / step**penalty, text) for total, text in candidates[:beams] if text[-1] == stop
        ]
        running = [each for each in candidates if each[1][-1] != stop][:beams]
        if step == count:
            complete += [(total / step**penalty, text) for total, text in running]
        complete = sorted(complete, reverse=True)[:beams]
        if len(complete) == beams and (
            early
            or all(
                complete[-1][0] >= total / n**penalty
                for total, _ in running
                for n in range(step + 1, count + 1)
            )
        ):
            break
    return complete


def rows(found: Tensor, scores: Tensor, length: int, stop: int | None) -> Any:
    """For each prompt, pairs of score and tokens, without padding."""
    return [
        [
            (score, tuple(text[: text.index(stop) + 1] if stop in text else text))
            for score, text in zip(some, (row[length:] for row in texts), strict=True)
            if score > -math.inf
        ]
        for some, texts in zip(scores.tolist(), found.tolist(), strict=True)
    ]


def same(found: Any, expected: Any) -> None:
    assert [text for _, text in found] == [text for _, text in expected]
    np.testing.assert_allclose([s for s, _ in found], [s for s, _ in expected], rtol=1e-10)


penalties = pytest.mark.parametrize("penalty", [-1.0, 0.0, 2.5])
stops = pytest.mark.parametrize("stop", [None, 0, 2])


@penalties
@stops
@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("beams", [1, 3, 3**6])
def test_beside_plain_python(beams: int, early: bool, stop: int | None, penalty: float) -> None:
    prompts = [[1, 0, 2], [0, 1, 1]]
    found, scores = beam_search(
        table(), prompts, 6, num_beams=beams, length_penalty=penalty, early_stopping=early,
        stop=stop,
    )  # fmt: skip
    assert found.dtype == np.int64
    assert scores.dtype == np.float64
    for prompt, row in zip(prompts, rows(found, scores, 3, stop), strict=True):
        same(row, plain(table(), prompt, 6, beams, penalty, stop, early))


def test_every_cache_gives_the_same_bits() -> None:
    """And so does a model that has none and computes every sequence from its start."""
    model = Model().double()
    options: Any = {"num_beams": 3, "stop": 2, "length_penalty": 0.7}
    beginnings = [[1, 2, 3], [4, 0, 1]]
    growing, scores = beam_search(model, beginnings, 8, **options)
    fixed, others = beam_search(model, beginnings, 8, cache=nn.StaticKVCache(11, 2), **options)
    np.testing.assert_array_equal(growing.numpy(), fixed.numpy())
    np.testing.assert_array_equal(scores.numpy(), others.numpy())

    class Whole(nn.Module):
        """Keeps ids instead of keys and values."""

        def forward(self, ids: Tensor, cache: nn.DynamicKVCache) -> Tensor:
            new = ids.numpy()[:, None, :, None].astype(np.float64)
            start = cache.get_seq_length()
            past, _ = cache.update(tensor(new), tensor(new), 0)
            return model.eval()(past.numpy()[:, 0, :, 0].astype(np.int64))[:, start:]

    whole, from_start = beam_search(Whole(), beginnings, 8, **options)
    np.testing.assert_array_equal(growing.numpy(), whole.numpy())
    np.testing.assert_allclose(scores.numpy(), from_start.numpy(), rtol=1e-12)


def test_it_ends_early() -> None:
    """With two complete sequences, or where no beam can overtake them."""
    chances = np.array([[0.4, 0.3, 0.3], [0.45, 0.54, 0.01], [0.3, 0.3, 0.4]])
    calls: list[tuple[int, ...]] = []

    def model(ids: Any, _cache: Any) -> Tensor:
        calls.append(ids.shape)
        return tensor(np.log(chances[ids.numpy()]))

    def steps(**options: Any) -> int:
        calls.clear()
        found, _ = beam_search(model, [[1]], 50, num_beams=2, stop=0, **options)
        assert found.shape[2] <= 1 + len(calls)
        return len(calls)

    assert steps(early_stopping=True) == 2  # 0.45 and 0.54 · 0.45
    assert calls == [(1, 1), (2, 2)]  # the cache is not written: the whole text
    assert steps(length_penalty=0.0) == 3  # 0.54 · 0.54 could have led to more
    assert steps(length_penalty=8.0) == 50


def test_a_shorter_result_is_padded_and_no_longer_than_needed() -> None:
    found, scores = beam_search(table(), [[1, 0], [2, 2]], 9, num_beams=2, stop=0, length_penalty=0)
    new = found.numpy()[:, :, 2:]
    first = (new == 0).argmax(axis=2)
    assert (first < new.shape[2]).all()
    assert first.max() == new.shape[2] - 1
    for row, end in zip(new.reshape(4, -1), first.reshape(-1), strict=True):
        assert (row[end:] == 0).all()
    assert (np.diff(scores.numpy(), axis=1) <= 0).all()


def test_what_is_not_there_has_no_score() -> None:
    found, scores = beam_search(table(), [[1]], 1, num_beams=5, stop=2)
    assert found.shape == (1, 5, 2)
    assert np.isfinite(scores.numpy()).tolist() == [[True] * 3 + [False] * 2]
    assert found.numpy()[0, 3:, 1].tolist() == [2, 2]


def test_prompts_of_unequal_length() -> None:
    model = Model().double()
    ids, padding = nn.generation.pad_left(PROMPTS)
    found, scores = beam_search(model, ids, 6, num_beams=3, stop=1, key_padding_mask=padding)
    for i, prompt in enumerate(PROMPTS):
        alone, theirs = beam_search(model, [prompt], 6, num_beams=3, stop=1)
        np.testing.assert_allclose(scores.numpy()[i], theirs.numpy()[0], rtol=1e-9)
        for row, other in zip(
            found.numpy()[i, :, 5:], alone.numpy()[0, :, len(prompt) :], strict=True
        ):
            width = min(len(row), len(other))
            assert row[:width].tolist() == other[:width].tolist()


def test_a_filled_cache_is_gone_on_from() -> None:
    model, cache = Model().double(), nn.DynamicKVCache()
    start = generate(model, [[1, 2, 3]], 2, temperature=0, cache=cache)
    found, scores = beam_search(model, start.numpy()[:, -1:], 4, num_beams=3, cache=cache)
    whole, expected = beam_search(model, start, 4, num_beams=3)
    np.testing.assert_array_equal(found.numpy()[:, :, 1:], whole.numpy()[:, :, 5:])
    np.testing.assert_allclose(scores.numpy(), expected.numpy(), rtol=1e-10)


def test_a_decoder_repeats_its_memory() -> None:
    decode, cache = Decodes(), nn.EncoderDecoderCache()
    found, scores = beam_search(decode, [[1], [2]], 5, num_beams=3, cache=cache, length_penalty=0.0)
    log_p = ops.log_softmax(decode(found.numpy().reshape(6, 6)[:, :-1]), -1).numpy()
    chosen = np.take_along_axis(log_p, found.numpy().reshape(6, 6)[:, 1:, None], -1)
    np.testing.assert_allclose(scores.numpy().ravel(), chosen.sum((1, 2)), rtol=1e-10)


@pytest.mark.parametrize("kind", [nn.EncoderDecoderCache, nn.DynamicKVCache])
def test_a_memory_that_was_not_repeated_is_an_error_that_says_how(kind: Any) -> None:
    told = r"^TransformerDecoderLayer: tgt and memory.*interleave.*\(6, 1, 8\) and \(2, 5, 8\)"
    with pytest.raises(ValueError, match=told):
        beam_search(Decodes(repeats=False), [[1], [2]], 3, num_beams=3, cache=kind())
    assert beam_search(Decodes(), [[1], [2]], 3, num_beams=3, cache=kind())[0].shape == (2, 3, 4)


REFUSED = [
    ({"num_beams": 0}, "num_beams must be at least 1, got 0"),
    ({"max_new_tokens": 0}, "max_new_tokens must be at least 1, got 0"),
    ({"length_penalty": math.inf}, "length_penalty .*inf"),
    ({"early_stopping": "never"}, "early_stopping must be True or False, got 'never'"),
    ({"ids": [1, 2]}, r"\(N, L\).*\[ids\]"),
    ({"ids": [[0.5]]}, "ids that are integers expected"),
    ({"key_padding_mask": [[True]]}, "prompt 0 ends in padding"),
    ({"model": lambda ids, cache: tensor(np.zeros((1, 5)))}, "logits of shape"),
    ({"model": lambda ids, cache: tensor(np.full((1, 1, 5), np.nan))}, "largest finite"),
    ({"model": lambda ids, cache: tensor(np.full((1, 1, 5), -np.inf))}, "largest finite"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "message"), REFUSED)
def test_refusals(options: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"model": table(), "ids": [[1]], "max_new_tokens": 2, **options}
    with pytest.raises((TypeError, ValueError), match=f"beam_search: .*{message}"):
        beam_search(given.pop("model"), given.pop("ids"), given.pop("max_new_tokens"), **given)
