"""A slot of a cache belongs to one module: decoding gives the full forward pass, or an error."""

import copy
import gc
import pickle
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from test_cache import E, H, L, N, S, assert_equal, draw

import minigrad
from minigrad import Tensor, nn, tensor

kinds = pytest.mark.parametrize("kind", ["dynamic", "static"])


@pytest.fixture(autouse=True)
def no_gradients() -> Iterator[None]:
    with minigrad.no_grad():
        yield


def cache_of(kind: str, layers: int = 8) -> Any:
    return nn.DynamicKVCache() if kind == "dynamic" else nn.StaticKVCache(L + 2, layers)


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def decoded(model: Any, x: Tensor, cache: Any, sizes: tuple[int, ...] = (3, 1, 2)) -> Tensor:
    parts, start = [], 0
    for size in sizes:
        parts.append(model(x[:, start : start + size], cache))
        start += size
    return minigrad.concatenate(parts, axis=1)


class Block(nn.Module):
    """What a reader of a tutorial writes: attention and a residual, no index anywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(E), nn.MultiHeadAttention(E, H)

    def forward(self, x: Tensor, cache: Any = None) -> Tensor:
        h = self.norm(x)
        options = {} if cache is None else {"kv_cache": cache, "use_cache": True}
        return x + self.attention(h, h, h, is_causal=True, **options)


class Layer(nn.TransformerEncoderLayer):
    def __init__(self) -> None:
        super().__init__(E, H, 8, 0.0)

    def forward(self, x: Tensor, cache: Any = None) -> Tensor:  # type: ignore[override]
        use = {} if cache is None else {"kv_cache": cache, "use_cache": True}
        return super().forward(x, is_causal=True, **use)


class Stack(nn.TransformerEncoder):
    def __init__(self, start: int | None = None) -> None:
        super().__init__(nn.TransformerEncoderLayer(E, H, 8, 0.0), 2)
        self.start = start

    def forward(self, x: Tensor, cache: Any = None) -> Tensor:  # type: ignore[override]
        return super().forward(
            x, is_causal=True, kv_cache=cache, use_cache=cache is not None,
            cache_start_layer_idx=self.start,
        )  # fmt: skip


class GPT(nn.Module):
    def __init__(self, *blocks: nn.Module) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.double().eval()

    def forward(self, x: Tensor, cache: Any = None) -> Tensor:
        for block in self.blocks:
            x = block(x, cache)
        return x


class Albert(GPT):
    """One block at two depths; with indices if it is told so."""

    def __init__(self, indexed: bool = False) -> None:
        super().__init__(nn.MultiHeadAttention(E, H))
        self.indexed = indexed

    def forward(self, x: Tensor, cache: Any = None) -> Tensor:
        for depth in range(2):
            options: Any = {} if cache is None else {"kv_cache": cache, "use_cache": True}
            if self.indexed and cache is not None:
                options["cache_layer_idx"] = depth
            x = x + self.blocks[0](x, x, x, is_causal=True, **options)
        return x


@kinds
def test_blocks_need_no_index_and_stacks_may_have_one(kind: str) -> None:
    x, cache, slots = draw(N, L, E), cache_of(kind), []
    for model in (
        GPT(Block(), Block(), Block()), GPT(Layer(), Layer()), GPT(Stack(), Stack()),
        GPT(Block(), Stack(), Layer()), GPT(Stack(0), Stack(2)),
        GPT(Stack(1), Block(), Stack(3), Layer()),
    ):  # fmt: skip
        assert_equal(decoded(model, x, cache), model(x))
        slots.append(cache.cached_layers())
        cache.reset()
    assert slots[0] == [0, 1, 2]
    model = GPT(Stack(0), Stack(0))
    with pytest.raises(ValueError, match=r"slot 0 .*another MultiHeadAttention.*cache_start_layer"):
        model(x, cache_of(kind))
    with pytest.raises(ValueError, match="cache_layer_idx"):  # the first block has slot 0 by itself
        GPT(Block(), Stack(0))(x, cache_of(kind))


@pytest.mark.parametrize("use_cache", [False, True])
def test_another_stack_does_not_read_either(use_cache: bool) -> None:
    one, other = nn.TransformerEncoderLayer(E, H, 8), nn.TransformerEncoderLayer(E, H, 8)
    x, cache = minigrad.randn(N, L, E), nn.DynamicKVCache()
    one(x, kv_cache=cache, use_cache=True)
    for index in (None, 0):
        with pytest.raises(ValueError, match="cache_layer_idx"):
            other(x[:, :2], kv_cache=cache, use_cache=use_cache, cache_layer_idx=index)
    assert cache.get_seq_length() == L
    assert cache.cached_layers() == [0]


@kinds
def test_one_module_at_two_depths(kind: str) -> None:
    x = draw(N, L, E)
    with pytest.raises(ValueError, match=r"twice in one call of Albert.*cache_layer_idx"):
        Albert()(x, cache_of(kind))
    model = Albert(indexed=True)
    cache = cache_of(kind)
    assert_equal(decoded(model, x, cache), model(x))
    with pytest.raises(ValueError, match=r"slots \[0, 1\] .*cache_layer_idx"):
        model.blocks[0](x, x, x, kv_cache=cache, use_cache=True)
    with pytest.raises(ValueError, match=r"no slot for layer_idx 1, .*num_layers=1"):
        model(x, nn.StaticKVCache(L, 1))


@kinds
def test_several_steps_within_one_call_of_a_module(kind: str) -> None:
    """A cache that is made there tells steps from depths; one from outside cannot."""

    class Decodes(nn.Module):
        def __init__(self, model: nn.Module) -> None:
            super().__init__()
            self.model = model

        def forward(self, x: Tensor, cache: Any = None) -> Tensor:
            return decoded(self.model, x, cache or cache_of(kind))

    model, x = GPT(Block(), Stack()), draw(N, L, E)
    assert_equal(Decodes(model)(x), model(x))
    albert = Albert(indexed=True)
    assert_equal(Decodes(albert)(x, cache_of(kind)), albert(x))
    with pytest.raises(ValueError, match="twice in one call of Albert"):
        Decodes(Albert())(x)
    with pytest.raises(ValueError, match=r"twice in one call of Decodes.*cache_layer_idx"):
        Decodes(model)(x, cache_of(kind))


def test_who_was_not_there_in_the_first_step_has_no_slot() -> None:
    class Skips(GPT):
        def forward(self, x: Tensor, cache: Any = None) -> Tensor:
            first = cache is None or cache.get_seq_length() == 0
            for block in list(self.blocks)[: 1 if first else 2]:
                x = block(x, cache)
            return x

    model, x = Skips(Block(), Block()), draw(N, L, E)
    with pytest.raises(ValueError, match="no slot .*earlier calls.*cache_layer_idx"):
        decoded(model, x, nn.DynamicKVCache())


# Copies


COPIES: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "the cache": lambda model, cache: (model, copy.deepcopy(cache)),
    "both": lambda model, cache: copy.deepcopy((model, cache)),
    "pickled cache": lambda model, cache: (model, pickled(cache)),
    "both pickled": lambda model, cache: pickled((model, cache)),
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("make", [lambda: GPT(Block(), Layer()), lambda: Albert(indexed=True)])
@kinds
def test_a_copy_goes_on(kind: str, make: Any, copied: Any) -> None:
    model, x, cache = make(), draw(N, L, E), cache_of(kind)
    expected = model(x)
    model(x[:, :3], cache)
    twin, other = copied(model, cache)
    assert_equal(decoded(twin, x[:, 3:], other, (1, 2)), expected[:, 3:])
    assert_equal(decoded(model, x[:, 3:], cache, (2, 1)), expected[:, 3:])  # as if there were none


@kinds
def test_a_copy_of_the_model_alone_is_another_model(kind: str) -> None:
    model, x, cache = GPT(Block(), Block()), draw(N, L, E), cache_of(kind)
    twin = copy.deepcopy(model)
    model(x[:, :3], cache)
    with pytest.raises(ValueError, match=r"no slot .*reset\(\)"):
        twin(x[:, 3:4], cache)
    cache.reset()
    assert_equal(decoded(twin, x, cache), model(x))


@kinds
def test_a_cache_keeps_no_module_alive(kind: str) -> None:
    model, x, cache = GPT(Block()), draw(N, L, E), cache_of(kind)
    model(x[:, :3], cache)
    known = weakref.ref(model.blocks[0].attention)
    del model
    gc.collect()
    assert known() is None
    another = GPT(Block())
    with pytest.raises(ValueError, match=r"no slot .*reset\(\)"):
        another(x[:, :3], cache)
    again = copy.deepcopy(cache)
    again.reset()
    assert_equal(decoded(another, x, again), another(x))


def test_what_a_program_put_into_a_cache_is_taken_in_order() -> None:
    model, x = GPT(Block(), Block()), draw(N, L, E)
    cache, filled = nn.DynamicKVCache(), nn.DynamicKVCache()
    model(x[:, :3], filled)
    for index in filled.cached_layers():
        cache.update(*filled.get(index), index)
    assert_equal(decoded(model, x[:, 3:], cache, (1, 2)), model(x)[:, 3:])


# Any model, any program


def model_of(rng: np.random.Generator) -> GPT:
    """Blocks of all kinds in any order, some of them twice."""
    blocks: list[nn.Module] = []
    for _ in range(rng.integers(1, 5)):
        pick = rng.integers(7)
        shared = [block for block in blocks if getattr(block, "start", None) is None]
        if pick == 0 and shared:
            blocks.append(shared[rng.integers(len(shared))])
        elif pick <= 2:
            blocks.append(Stack(int(rng.integers(4)) if pick == 1 else None))
        else:
            blocks.append(Block() if pick % 2 else Layer())
    return GPT(*blocks)


@pytest.mark.parametrize("seed", range(60))
@kinds
def test_no_program_is_silently_wrong(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    minigrad.random.seed(seed)
    model, x, cache = model_of(rng), draw(N, L, E), cache_of(kind, 12)
    models = [model, copy.deepcopy(model)]
    at = 0
    while at < L:
        size = int(rng.integers(1, L - at + 1))
        expected = models[0](x[:, : at + size])[:, at:]
        change = rng.choice(["none", "none", "copy", "both", "crop", "batch", "reset", "other"])
        if change == "copy":
            cache = copy.deepcopy(cache)
        elif change == "both":
            models[0], cache = copy.deepcopy((models[0], cache))
        elif change == "crop" and at:
            at -= 1
            cache.crop(at)
            continue
        elif change == "batch":
            order = rng.permutation(N)
            x = x[order]
            expected = expected[order]
            cache.batch_select_indices(order)
        elif change == "reset":
            cache.reset()
            expected, at = models[0](x[:, :size]), 0
        elif change == "other" and at:
            if len(cache.cached_layers()) > 1 or size != at:  # else it may be a first step
                with pytest.raises(ValueError, match="cache_layer_idx"):
                    models[1](x[:, at : at + size], cache)
            return
        try:
            found = models[0](x[:, at : at + size], cache)
        except ValueError as error:
            assert "cache_layer_idx" in str(error)
            return
        assert_equal(found, expected)
        at += size


# A memory


class Decoder(nn.Module):
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        layer = nn.TransformerDecoderLayer
        self.layers = nn.ModuleList(layer(E, H, 8, 0.0) for _ in range(layers))
        self.double().eval()

    def forward(self, tgt: Tensor, memory: Tensor, cache: Any = None, **options: Any) -> Tensor:
        use = {"use_cache": True} if cache is not None else {}
        for layer in self.layers:
            tgt = layer(tgt, memory, tgt_is_causal=True, kv_cache=cache, **(use | options))
        return tgt


def pair(kind: str) -> nn.EncoderDecoderCache:
    return nn.EncoderDecoderCache(cache_of(kind, 2), cache_of(kind, 2))


@kinds
def test_a_decoder_needs_no_index(kind: str) -> None:
    model, tgt, memory = Decoder(), draw(N, L, E), draw(N, S, E)
    cache = pair(kind)
    steps = [model(tgt[:, i : i + 1], memory, cache) for i in range(L)]
    assert_equal(minigrad.concatenate(steps, axis=1), model(tgt, memory))
    plain = nn.DynamicKVCache()  # without a place for the memory
    steps = [model(tgt[:, i : i + 1], memory, plain) for i in range(L)]
    assert_equal(minigrad.concatenate(steps, axis=1), model(tgt, memory))


@pytest.mark.parametrize("options", [{}, {"cache_layer_idx": 0}])
def test_one_cache_is_not_both(options: Any) -> None:
    one = nn.DynamicKVCache()
    cache = nn.EncoderDecoderCache(one, one)
    with pytest.raises(ValueError, match="cache_layer_idx"):
        Decoder(1)(draw(N, 2, E), draw(N, S, E), cache, **options)


@kinds
def test_a_layer_does_not_read_the_memory_of_another(kind: str) -> None:
    model, tgt, memory = Decoder(), draw(N, L, E), draw(N, S, E)
    cache = pair(kind)
    model.layers[0](tgt, memory, kv_cache=cache, use_cache=True)
    for options in ({"cache_layer_idx": 0}, {}):
        with pytest.raises(ValueError, match="cache_layer_idx"):
            model.layers[1](tgt[:, :1], memory, kv_cache=cache, **options)


@pytest.mark.parametrize("use_cache", [False, True])
@kinds
def test_another_memory_is_an_error(kind: str, use_cache: bool) -> None:
    model, tgt, memory = Decoder(), draw(N, L, E), draw(N, S, E)
    cache, expected = pair(kind), model(tgt, memory)
    model(tgt[:, :2], memory, cache)
    for other in (draw(N, S, E), memory[:, :0], memory * 2, memory[::-1], draw(N, S + 1, E)):
        with pytest.raises(ValueError, match=r"layer 0 .*another memory.*reset\(\)"):
            model(tgt[:, 2:3], other, cache, use_cache=use_cache)
    assert cache.get_seq_length() == 2 + use_cache * 0
    again = tensor(memory.numpy())  # encoded once more
    assert_equal(model(tgt[:, 2:3], again, cache, use_cache=use_cache), expected[:, 2:3])
    memory[0, 0, 0] = 9.0
    with pytest.raises(ValueError, match="another memory"):
        model(tgt[:, 3:4], memory, cache, use_cache=use_cache)
    cache.reset()
    assert_equal(model(tgt, memory, cache), model(tgt, memory))


@pytest.mark.parametrize("twin", [copy.deepcopy, pickled])
@kinds
def test_the_memory_after_a_change_of_the_batch(kind: str, twin: Any) -> None:
    model, tgt, memory = Decoder(), draw(N, L, E), draw(N, S, E)
    cache, order = pair(kind), np.array([1, 0, 1])
    model(tgt[:, :2], memory, cache)
    cache = twin(cache)
    if twin is copy.deepcopy:
        with pytest.raises(ValueError, match="another memory"):
            model(tgt[:, 2:3], draw(N, S, E), cache)
    cache.batch_select_indices(order)
    beams, chosen = tgt[order], memory[order]
    expected = model(beams, chosen)
    assert_equal(model(beams[:, 2:4], chosen, cache), expected[:, 2:4])
    with pytest.raises(ValueError, match="another memory"):
        model(beams[:, 4:], chosen * 2, cache)
    cache.crop(3)
    assert_equal(model(beams[:, 3:], chosen, cache), expected[:, 3:])
