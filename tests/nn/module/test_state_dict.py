"""State dicts: complete, copied, and loaded whole or not at all."""

from typing import Any

import numpy as np
import pytest
from printed import gist

import minigrad
from minigrad import Tensor, nn, tensor


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 2)
        self.head = nn.Linear(4, 3)
        self.register_buffer("steps", np.array([0]))
        self.register_buffer("scratch", np.zeros(2), persistent=False)


def tied() -> nn.Module:
    model = nn.Module()
    model.embed = nn.Embedding(3, 2)
    model.head = nn.Linear(2, 3, bias=False)
    model.head.weight = model.embed.weight
    return model


def snapshot(model: nn.Module) -> dict[str, np.ndarray]:
    return {key: value.numpy().copy() for key, value in model.state_dict(keep_vars=True).items()}


def assert_same(a: dict[str, Any], b: dict[str, Any]) -> None:
    assert a.keys() == b.keys()
    for key in a:
        np.testing.assert_array_equal(a[key], b[key], err_msg=key)


def test_keys_and_order() -> None:
    keys = list(Model().state_dict())
    assert keys[:2] == ["steps", "encoder.layers.0.self_attn.q_proj.weight"]
    assert keys[-1] == "head.bias"
    assert "scratch" not in keys
    assert list(nn.Linear(1, 1).state_dict(prefix="p.")) == ["p.weight", "p.bias"]
    assert list(tied().state_dict()) == ["embed.weight", "head.weight"]


def test_values_are_detached_and_share_memory() -> None:
    model = nn.Linear(2, 2)
    state = model.state_dict()
    assert all(type(value) is Tensor and not value.requires_grad for value in state.values())
    model.weight.data[...] = 7.0
    assert (state["weight"].numpy() == 7.0).all()
    state["bias"].data[...] = 8.0
    assert (model.bias.numpy() == 8.0).all()
    assert model.state_dict(keep_vars=True)["weight"] is model.weight


@pytest.mark.parametrize("convert", [lambda t: t, lambda t: t.numpy(), lambda t: t.tolist()])
def test_round_trip(convert: Any) -> None:
    source, target = Model(), Model()
    source.steps = tensor(np.array([5]))
    result = target.load_state_dict({k: convert(v) for k, v in source.state_dict().items()})
    assert result == ([], [])
    assert_same(snapshot(target), snapshot(source))
    assert target.steps.dtype == np.int64


@pytest.mark.parametrize("rows", [1, 2])
def test_a_buffer_made_by_expand(rows: int) -> None:
    """Its memory cannot be written, so it gets its own; the source stays as it is."""
    ids = minigrad.arange(3)
    model = nn.Module()
    model.register_buffer("position_ids", ids.expand(rows, -1))
    buffer = model.position_ids
    model.load_state_dict({"position_ids": np.full((rows, 3), 7)})
    assert model.position_ids is buffer
    assert buffer.tolist() == [[7, 7, 7]] * rows
    assert ids.tolist() == [0, 1, 2]


def test_the_parameters_stay_and_what_is_loaded_is_converted() -> None:
    model = nn.Linear(2, 2)
    weight, data = model.weight, model.weight._data
    loss = model(minigrad.ones(1, 2, requires_grad=True)).sum()
    model.load_state_dict({"weight": np.eye(2, dtype=np.float64), "bias": np.array([1, 2])})
    assert model.weight is weight
    assert model.weight._data is data
    assert model.weight.requires_grad
    assert model.weight.dtype == model.bias.dtype == np.float32
    assert model.bias.tolist() == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="written in place"):  # the graph was made before
        loss.backward()


def test_swapping_live_tensors() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    first, second = (snapshot(layer) for layer in model)
    live = model.state_dict(keep_vars=True)
    model.load_state_dict({f"{1 - int(k[0])}{k[1:]}": v for k, v in live.items()})
    assert_same(snapshot(model[0]), second)
    assert_same(snapshot(model[1]), first)


def test_not_strict() -> None:
    model, other = nn.Linear(2, 2), nn.Linear(2, 2)
    result = model.load_state_dict({"bias": other.bias, "extra": 1}, strict=False)
    assert result == (["weight"], ["extra"])
    assert (result.missing_keys, result.unexpected_keys) == result
    np.testing.assert_array_equal(model.bias.numpy(), other.bias.numpy())


GONE = object()
BAD: dict[str, tuple[dict[str, Any], list[str]]] = {
    "missing": ({"head.weight": GONE}, ["head.weight: missing"]),
    "unexpected": ({"foot": np.ones(1)}, ["foot: unexpected"]),
    "shape": ({"head.bias": np.ones(4)}, ["head.bias: shape (4,) given, (3,) expected"]),
    "transposed": (
        {"head.weight": np.ones((4, 3))}, ["head.weight: shape (4, 3) given, (3, 4) expected"]),
    "broadcast": ({"head.bias": np.ones(())}, ["head.bias: shape () given, (3,) expected"]),
    "complex": (
        {"head.bias": np.ones(3, complex)},
        ["head.bias: complex128 values given, float32 expected"]),
    "strings": (
        {"head.bias": np.array([*"abc"])}, ["head.bias: <U1 values given, float32 expected"]),
    "floats": ({"steps": np.array([0.5])}, ["steps: float64 values given, int64 expected"]),
    "several": (
        {"head.weight": GONE, "x": 1, "head.bias": np.ones(4)},
        ["head.bias: shape", "head.weight: missing", "x: unexpected"]),
}  # fmt: skip


@pytest.mark.parametrize(("change", "messages"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_named_and_nothing_is_loaded(change: Any, messages: list[str]) -> None:
    model = Model()
    before, state = snapshot(model), Model().state_dict() | change
    with pytest.raises(RuntimeError, match="Model; nothing was loaded") as caught:
        model.load_state_dict({name: value for name, value in state.items() if value is not GONE})
    for message in messages:
        assert caught.match(gist(message))
    assert_same(snapshot(model), before)


def test_of_a_shared_tensor_one_path_is_enough() -> None:
    values = np.arange(6.0).reshape(3, 2)
    for key in ("embed.weight", "head.weight"):
        model = tied()
        assert model.load_state_dict({key: values}) == ([], [])
        np.testing.assert_array_equal(model.head.weight.numpy(), values)
    with pytest.raises(RuntimeError, match="head.weight: .*embed.weight"):
        model.load_state_dict({"embed.weight": values + 1, "head.weight": values + 2})
    np.testing.assert_array_equal(model.head.weight.numpy(), values)


def test_a_layer_can_translate_its_own_names() -> None:
    class Renamed(nn.Linear):
        def adapt_state_dict(self, state: dict[str, Any]) -> dict[str, Any]:
            return {key.replace("kernel", "weight"): value for key, value in state.items()}

    model = nn.Sequential(nn.Sequential(Renamed(2, 2)), nn.Linear(2, 2))
    state = model.state_dict()
    state["0.0.kernel"] = state.pop("0.0.weight")
    assert model.load_state_dict(state) == ([], [])
    state["1.kernel"] = state.pop("1.weight")
    with pytest.raises(RuntimeError, match="1.kernel: unexpected"):
        model.load_state_dict(state)


class TestPackedAttention:
    def packed(self, mha: nn.MultiHeadAttention) -> dict[str, Any]:
        state: dict[str, Any] = mha.state_dict()
        for kind in ("weight", "bias"):
            parts = [state.pop(f"{name}_proj.{kind}").numpy() for name in "qkv"]
            state[f"in_proj_{kind}"] = np.concatenate(parts)
        return state

    @pytest.mark.parametrize("options", [{"add_bias_kv": True}, {"num_kv_heads": 2}], ids=str)
    def test_it_is_loaded(self, options: Any) -> None:
        source, target = (nn.MultiHeadAttention(8, 4, **options) for _ in range(2))
        nn.init.normal(source.k_proj.bias)
        target.load_state_dict(self.packed(source))
        assert_same(snapshot(target), snapshot(source))

    def test_of_another_size(self) -> None:
        mha = nn.MultiHeadAttention(4, 2)
        before, state = snapshot(mha), self.packed(nn.MultiHeadAttention(4, 2))
        for rows in (0, 11, 13):
            state["in_proj_weight"] = np.zeros((rows, 4))
            with pytest.raises(RuntimeError, match=r"v_proj.weight: .*\(4, 4\)"):
                mha.load_state_dict(dict(state))
            assert_same(snapshot(mha), before)
        with pytest.raises(RuntimeError, match="q_proj.bias: unexpected"):
            nn.MultiHeadAttention(4, 2, bias=False).load_state_dict(self.packed(mha))
