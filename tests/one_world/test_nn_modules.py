"""Layers, losses, initialization and utilities of models mean what they mean in PyTorch."""

import copy
import inspect
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import nn, tensor
from minigrad import torch as door

OWN_CONTRACT = {
    "MultiheadAttention", "TransformerEncoderLayer", "TransformerEncoder",
    "TransformerDecoderLayer", "TransformerDecoder", "Transformer",
}  # fmt: skip
NOT_COMPARED = {
    "Module", "Parameter", "Buffer", "RNN", "LSTM", "GRU", "Sequential",  # *args in PyTorch
    "Hardtanh",  # without the old names of its arguments
    "LogSigmoid", "Sigmoid", "Softmax2d", "Softsign", "Tanh", "Tanhshrink",  # any arguments there
}  # fmt: skip


def their_layers() -> list[str]:
    try:
        import torch
    except ImportError:
        return []
    return [
        name
        for name in sorted({*dir(torch.nn)} & {*nn.__all__} - OWN_CONTRACT - NOT_COMPARED)
        if isinstance(getattr(torch.nn, name), type)
    ]


@pytest.mark.parametrize("name", their_layers())
def test_a_constructor_and_a_call_have_pytorchs_arguments(name: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = getattr(nn, name), getattr(torch.nn, name)

    def said(function: Any) -> list[Any]:
        parameters = inspect.signature(function).parameters.values()
        return [(p.name, p.default, p.kind) for p in parameters]

    assert said(ours.__init__) == said(theirs.__init__)
    if "forward" in vars(theirs) and "inputs" not in inspect.signature(ours.forward).parameters:
        names = list(inspect.signature(ours.forward).parameters)
        assert names == list(inspect.signature(theirs.forward).parameters)


LOSSES = [
    "MSELoss", "L1Loss", "SmoothL1Loss", "BCELoss", "BCEWithLogitsLoss", "CrossEntropyLoss",
    "NLLLoss", "KLDivLoss", "CosineEmbeddingLoss", "MarginRankingLoss", "TripletMarginLoss",
    "HingeEmbeddingLoss", "SoftMarginLoss", "MultiLabelSoftMarginLoss", "MultiMarginLoss",
    "PoissonNLLLoss",
]  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_the_old_words_for_reduction_are_none_or_a_bool(name: str) -> None:
    loss = getattr(nn, name)
    for size_average, reduce, wanted in (
        (None, None, "sum"), (True, None, "mean"), (False, None, "sum"), (None, False, "none"),
        (False, True, "sum"), (None, True, "mean"),
    ):  # fmt: skip
        made = loss(size_average=size_average, reduce=reduce, reduction="sum")
        assert made.reduction == wanted
    for word in ("size_average", "reduce"):
        with pytest.raises(TypeError, match=f"^{name}: {word} .*'sum': write reduction='sum'"):
            loss(**{word: "sum"})
        with pytest.raises(TypeError, match=f"^{name}: {word} .* got 0.5"):
            loss(**{word: 0.5})


@pytest.mark.parametrize(
    "make",
    [
        lambda **o: nn.Linear(2, 3, **o), lambda **o: nn.Conv2d(2, 3, 3, **o),
        lambda **o: nn.ConvTranspose1d(2, 3, 3, **o), lambda **o: nn.Bilinear(2, 3, 4, **o),
        lambda **o: nn.LSTM(2, 3, **o), lambda **o: nn.GRUCell(2, 3, **o),
        lambda **o: nn.Embedding(2, 3, **o), lambda **o: nn.EmbeddingBag(2, 3, **o),
        lambda **o: nn.LayerNorm(2, **o), lambda **o: nn.RMSNorm(2, **o),
        lambda **o: nn.BatchNorm1d(2, **o), lambda **o: nn.GroupNorm(1, 2, **o),
        lambda **o: nn.PReLU(**o), lambda **o: nn.LazyLinear(2, **o),
        lambda **o: nn.LazyConv1d(2, 3, **o), lambda **o: nn.LazyBatchNorm1d(**o),
        lambda **o: door.nn.TransformerEncoderLayer(4, 2, 8, **o),
        lambda **o: door.nn.Transformer(4, 2, 1, 1, 8, **o),
    ],
)  # fmt: skip
def test_device_and_dtype(make: Any) -> None:
    made = make(device="cpu", dtype=minigrad.float64)
    assert {p.dtype for p in made.parameters()} == {np.dtype(np.float64)}
    with pytest.raises(ValueError, match="minigrad runs on the CPU"):
        make(device="cuda")
    with pytest.raises(TypeError, match="a floating dtype expected"):
        make(dtype=minigrad.int64)


def test_a_parameter_shares_memory_and_may_stay_untrained() -> None:
    x = minigrad.zeros(2)
    frozen = nn.Parameter(x, False)
    assert not frozen.requires_grad
    with minigrad.no_grad():
        frozen[0] = 5.0
    assert x.tolist() == [5.0, 0.0]
    assert nn.Parameter().tolist() == nn.Buffer().tolist() == []
    with pytest.raises(TypeError, match="Parameter: requires_grad must be True or False"):
        nn.Parameter(x, minigrad.float64)  # Lucid 2's second argument
    assert nn.Parameter(x, dtype=minigrad.float64).dtype == np.float64


def test_a_state_dict_is_ordered_and_shares_memory() -> None:
    layer = nn.Linear(2, 1)
    state = layer.state_dict()
    assert type(state) is OrderedDict
    kept = copy.deepcopy(state)
    nn.init.ones_(layer.weight)
    assert state["weight"].tolist() == [[1.0, 1.0]] != kept["weight"].tolist()
    target: dict[str, Any] = {"before": 1}
    assert layer.state_dict(target, "layer.") is target
    assert list(target) == ["before", "layer.weight", "layer.bias"]
    assert repr(layer.load_state_dict(kept)) == "<All keys matched successfully>"
    assert layer.weight.tolist() == kept["weight"].tolist()
    with pytest.raises(RuntimeError, match="bias: missing"):
        layer.load_state_dict({"weight": kept["weight"]})
    double = {name: value.double() for name, value in kept.items()}
    weight = layer.weight
    layer.load_state_dict(double, assign=True)
    assert layer.weight is weight
    assert weight.dtype == np.float64
    nn.init.zeros_(double["weight"])
    assert weight.tolist() == [[0.0, 0.0]]


def test_the_tables_of_a_module() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    assert list(model._modules) == ["0", "1"]
    model._modules["0"] = nn.Identity()
    assert isinstance(model[0], nn.Identity)
    assert list(model[1]._parameters) == ["weight", "bias"]
    model[1]._buffers["running_mean"] = tensor([1.0, 2.0])
    assert model.get_buffer("1.running_mean").tolist() == [1.0, 2.0]
    with pytest.raises(AttributeError, match="BatchNorm1d at '1' has no buffer 'mean'"):
        model.get_buffer("1.mean")
    model.set_submodule("1", nn.ReLU())
    assert repr(model[1]) == "ReLU()"
    assert model[1]._get_name() == "ReLU"
    model.register_module("last", nn.Tanh())
    assert isinstance(model[-1], nn.Tanh)


def test_containers_are_added() -> None:
    model = nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh())
    assert [type(part).__name__ for part in model] == ["ReLU", "Tanh"]
    assert type(nn.ModuleList([nn.ReLU()]) + nn.ModuleList()) is nn.ModuleList
    with pytest.raises(TypeError, match="must be a Module, got str"):
        model + nn.ModuleDict({"entry": nn.ReLU()})
    for kind in (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict):
        assert len(kind(None)) == 0


def test_init_has_pytorchs_order_and_lucid_2s() -> None:
    wide = minigrad.empty(4, 400)
    assert nn.init.kaiming_uniform_(wide, 5**0.5).abs().max().item() <= 400**-0.5
    assert nn.init.kaiming_uniform_(wide, 0, "fan_out").abs().max().item() > 1
    assert nn.init.kaiming_uniform(wide, "fan_out").abs().max().item() > 1
    assert nn.init.normal is nn.init.normal_
    one, other = (np.random.default_rng(0) for _ in range(2))
    first = nn.init.trunc_normal_(minigrad.empty(5), generator=one).tolist()
    assert nn.init.trunc_normal_(minigrad.empty(5), generator=other).tolist() == first
    assert nn.init.calculate_gain("conv2d") == 1


def with_gradient(*values: float) -> Any:
    x = minigrad.zeros(len(values), requires_grad=True)
    (x * tensor(list(values))).sum().backward()
    return x


def test_clipping_has_pytorchs_meaning_and_lucid_2s() -> None:
    x = with_gradient(3.0, 4.0)
    norm = nn.utils.clip_grad_norm_(x, 1.0)
    assert isinstance(norm, minigrad.Tensor)
    assert norm.item() == 5.0
    np.testing.assert_allclose(x.grad.numpy(), np.array([3, 4]) / (5 + 1e-6), rtol=1e-6)
    assert type(nn.utils.clip_grad_norm([x], 9.0)) is float
    with pytest.raises(TypeError, match="clip_grad_norm_: error_if_nonfinite must be True"):
        nn.utils.clip_grad_norm_(x, 1.0, 2.0, 1e-7)  # Lucid 2's eps
    infinite = minigrad.zeros(1, requires_grad=True)
    infinite.grad = tensor([np.inf], dtype=minigrad.float32)
    with pytest.raises(RuntimeError, match="clip_grad_norm_: the norm of the gradients is inf"):
        nn.utils.clip_grad_norm_(infinite, 1.0, error_if_nonfinite=True)
    y = with_gradient(3.0, 4.0)
    total = nn.utils.get_total_norm([y.grad])
    nn.utils.clip_grads_with_norm_(y, 1.0, total)
    np.testing.assert_allclose(nn.utils.grad_norm([y]), 1.0, rtol=1e-6)
    nn.utils.clip_grad_value_(y, 0.5, foreach=True)
    assert y.grad.max().item() == 0.5


def test_padded_and_packed_sequences_are_taken_apart() -> None:
    given = [tensor([1, 2]), tensor([3])]
    padded = nn.utils.rnn.pad_sequence(given)
    assert [x.tolist() for x in nn.utils.rnn.unpad_sequence(padded, [2, 1])] == [[1, 2], [3]]
    packed = nn.utils.rnn.pack_sequence(given)
    assert [x.tolist() for x in nn.utils.rnn.unpack_sequence(packed)] == [[1, 2], [3]]


@pytest.mark.filterwarnings("ignore:LSTM with projections")  # PyTorch, of its speed
def test_an_lstm_projects() -> None:
    torch = pytest.importorskip("torch")
    options = {"num_layers": 2, "bidirectional": True, "proj_size": 2}
    ours, theirs = nn.LSTM(3, 4, **options), torch.nn.LSTM(3, 4, **options)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    shapes = [[tuple(w.shape) for w in part] for part in theirs.all_weights]
    assert [[tuple(w.shape) for w in part] for part in ours.all_weights] == shapes
    assert ours.bias is True
    ours.flatten_parameters()
    with pytest.raises(ValueError, match="GRU: proj_size"):
        nn.GRU(3, 4, proj_size=2)


def test_an_embedding_takes_a_table_and_divides_by_frequencies() -> None:
    table = minigrad.ones(4, 2)
    words = nn.Embedding(4, 2, _weight=table, _freeze=True)
    assert not words.weight.requires_grad
    assert words.weight._data is table._data
    with pytest.raises(ValueError, match=r"Embedding: a table of shape \(4, 3\) expected"):
        nn.Embedding(4, 3, _weight=table)
    bag = nn.EmbeddingBag.from_pretrained(table, freeze=False, mode="sum")
    assert bag.weight.requires_grad
    assert bag(tensor([[0, 1]])).tolist() == [[2.0, 2.0]]
    often = nn.Embedding(3, 1, scale_grad_by_freq=True)
    often(tensor([0, 0, 1])).sum().backward()
    assert often.weight.grad.tolist() == [[1.0], [1.0], [0.0]]


def test_a_transposed_convolution_of_a_given_size() -> None:
    torch = pytest.importorskip("torch")
    theirs = torch.nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    ours = nn.ConvTranspose2d(2, 3, 3, stride=2, padding=1)
    ours.load_state_dict(theirs.state_dict())
    x = np.random.default_rng(0).standard_normal((1, 2, 4, 5)).astype(np.float32)
    for size in ([7, 10], [1, 3, 8, 9]):
        wanted = theirs(torch.tensor(x), output_size=size).detach().numpy()
        np.testing.assert_allclose(ours(tensor(x), size).detach().numpy(), wanted, atol=1e-5)
    with pytest.raises(ValueError, match=r"ConvTranspose2d: output_size \(9, 9\)"):
        ours(tensor(x), (9, 9))
    with pytest.raises(ValueError, match="padding_mode must be .*zeros.*reflect"):
        nn.ConvTranspose2d(2, 3, 3, padding_mode="reflect")


def test_one_letter_does_not_invert_a_mask() -> None:
    with pytest.raises(AttributeError, match=r"nn\.MultiHeadAttention.*torch\.nn\.MultiheadAtt"):
        _ = nn.MultiheadAttention
    assert door.nn.Linear is nn.Linear
    for kind in (nn.TransformerEncoderLayer, nn.TransformerDecoderLayer):
        with pytest.raises(TypeError, match="positional"):
            kind(4, 2, 8, 0.1, "relu", 1e-5, True)  # norm_first here, batch_first in PyTorch
