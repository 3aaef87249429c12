"""What is asked of every layer, for each line of the table in tests/layer_table.py.

Its formula; that each argument counts; dtypes, empty batches and memory layouts; three derivatives;
modes, copies and states; and what an error says.
"""

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from layer_table import LAYERS, Layer, cases, made, needs_of

import minigrad
from minigrad import Tensor, nn, ops
from minigrad.autograd import grad, gradcheck, gradgradcheck
from minigrad.autograd.call import wrap
from minigrad.nn import functional as F
from minigrad.nn.layers.function_layer import FunctionLayer

CALLED = [line for line in LAYERS if line.is_called]
WITH_INPUTS = cases(line for line in CALLED if line.shapes)


def drawn(line: Layer, dtype: Any = np.float64) -> tuple[Any, list[Tensor]]:
    """A layer with parameters none of which is 0 or 1, and its inputs."""
    rng = np.random.default_rng([17, len(str(line))])
    inputs = [
        minigrad.tensor(rng.standard_normal(shape), dtype=dtype, requires_grad=True)
        for shape in line.shapes
    ]
    module = line.make().to(dtype)
    for parameter in module.parameters():
        parameter.data[...] = rng.standard_normal(parameter.shape) * 0.5
    return module, inputs


def run(line: Layer, module: Any, inputs: Any) -> list[Tensor]:
    minigrad.random.seed(0)  # the same dropout in every call
    return line.run(module, *inputs)


def sum_of(outputs: list[Tensor]) -> Tensor:
    """The outputs, each element times a number of its own, added up."""
    total: Any = 0.0
    for k, output in enumerate(outputs):
        factors = np.random.default_rng([5, k]).standard_normal(output.shape)
        total = total + (output * factors.astype(output.dtype)).sum()
    return total


def everything(line: Layer, module: Any, inputs: list[Tensor]) -> dict[str, Any]:
    """Outputs, gradients and state of one call."""
    outputs = run(line, module, inputs)
    found: dict[str, Any] = {f"output {k}": out.numpy() for k, out in enumerate(outputs)}
    if any(out.requires_grad for out in outputs):
        sum_of([out for out in outputs if out.requires_grad]).backward()
    for name, tensor in [*enumerate(inputs), *module.named_parameters()]:
        found[f"gradient of {name}"] = None if tensor.grad is None else tensor.grad.numpy()
    return found | {f"state {name}": value.numpy() for name, value in module.state_dict().items()}


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("line", cases(line for line in CALLED if line.by))
def test_it_computes_its_formula(line: Layer) -> None:
    module, inputs = drawn(line)
    (found,) = run(line, module, inputs)
    assert line.by is not None
    expected = line.by(module, *(x.numpy() for x in inputs), **line.given)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-9, atol=1e-12)
    assert found.shape == np.shape(expected)


# Arguments

OPTIONS = {
    line.kind: [
        p.name
        for p in inspect.signature(getattr(nn, line.kind)).parameters.values()
        if p.default is not p.empty
    ]
    for line in CALLED
}
ELSEWHERE = {
    "inplace": "test_in_place, below",
    "max_norm": "test_layers", "norm_type": "test_layers", "sparse": "tests/optim",
    "device": "the CPU", "dtype": "tests/one_world", "size_average": "tests/one_world",
    "reduce": "tests/one_world", "_weight": "test_layers", "_freeze": "test_layers",
    "scale_grad_by_freq": "tests/one_world", "Hardtanh.min_value": "min_val",
    "Hardtanh.max_value": "max_val", "include_last_offset": "test_layers_torch",
    "return_indices": "test_layers_torch",
    "custom_encoder": "test_transformers", "custom_decoder": "test_transformers",
    "padding_mode": "one word for the transposed", "GRU.proj_size": "LSTM has one",
    "reduction": "test_layers_torch", "GaussianNLLLoss.eps": "the gradient passes by it",
    "RotaryPosEmbedding.embed_dim": "a limit", "RotaryPosEmbedding.max_seq_len": "a limit",
    "SinusoidalPosEmbedding.embed_dim": "a limit", "SinusoidalPosEmbedding.seq_len": "a limit",
}  # fmt: skip


def elsewhere(kind: str, name: str) -> bool:
    return name in ELSEWHERE or f"{kind}.{name}" in ELSEWHERE


def arguments(line: Layer) -> dict[str, Any]:
    signature = inspect.signature(getattr(nn, line.kind))
    found = dict(signature.bind(*line.sizes, **line.options).arguments)
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:  # lengths of axes
            found |= found.pop(parameter.name, {})
    return found


OPTIONAL = [
    pytest.param(*param.values, name, id=f"{param.id}-{name}", marks=param.marks)
    for param in cases(CALLED)
    for name in arguments(param.values[0])
    if name in OPTIONS[param.values[0].kind] and not elsewhere(param.values[0].kind, name)
]


@pytest.mark.parametrize(("line", "name"), OPTIONAL)
def test_each_argument_counts(line: Layer, name: str) -> None:
    """Without it, the layer is another one, or cannot be called like this."""
    given = arguments(line)
    del given[name]
    other = line._replace(sizes=(), options=given)
    minigrad.random.seed(1)
    found = everything(line, line.make().double(), drawn(line)[1])
    try:
        minigrad.random.seed(1)
        plain = everything(other, other.make().double(), drawn(line)[1])
    except (TypeError, ValueError, UserWarning):
        return
    with pytest.raises(AssertionError):
        assert_same(found, plain)


def test_every_argument_is_given_somewhere() -> None:
    given = {(line.kind, name) for line in CALLED for name in arguments(line)}
    wanted = {(kind, name) for kind, names in OPTIONS.items() for name in names}
    assert not {pair for pair in wanted - given if not elsewhere(*pair)}


MAY_BE_0 = {"dim", "padding", "output_padding", "padding_idx", "proj_size", "seq_len"}
SIZES = {
    (line.kind, p.name): line
    for line in CALLED
    for p in inspect.signature(getattr(nn, line.kind)).parameters.values()
    if str(p.annotation).startswith(("int", "Sizes")) and p.name in {*arguments(line)} - MAY_BE_0
    if "Rotary" not in line.kind and not issubclass(getattr(nn, line.kind), FunctionLayer)
}
"""A line for each size that the constructor checks, and not a function in each call."""


@pytest.mark.parametrize(
    ("kind", "name"), [pytest.param(*size, marks=needs_of(size[0])) for size in SIZES]
)
def test_a_size_is_a_whole_number_above_0(kind: str, name: str) -> None:
    given = {key: made(value) for key, value in arguments(SIZES[kind, name]).items()}
    for wrong in (0, -1, 2.0, True, "3"):
        with pytest.raises((TypeError, ValueError), match=r"^\w+: [\w ]+ must be (an int|at le)"):
            getattr(nn, kind)(**given | {name: wrong})


@pytest.mark.parametrize("kind", [kind for kind in OPTIONS if "inplace" in OPTIONS[kind]])
def test_in_place(kind: str) -> None:
    """The input holds the result, with the gradient of a result of its own."""
    needed = {"threshold": 0.1, "value": 0.2} if kind == "Threshold" else {}
    plain, layer = getattr(nn, kind)(**needed), getattr(nn, kind)(**needed, inplace=True)
    assert "inplace=True" in repr(layer) or kind in ("Hardsigmoid", "Hardswish")  # as PyTorch's
    assert "inplace=True" not in repr(plain)
    shape = (1, 40, 2, 3) if kind == "Dropout2d" else (1, 40, 3)
    x = minigrad.tensor(np.random.default_rng(0).standard_normal(shape) * 3, requires_grad=True)
    found = []
    for each in (plain, layer):
        minigrad.random.seed(0)
        h = 2.0 * x
        out = each(h)
        assert (out is h) == (each is layer)
        found.append((out.numpy().copy(), grad(sum_of([out]), x)[0].numpy()))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.raises(RuntimeError, match="leaf.*requires grad"):
        layer(x)
    saved = x.exp()
    layer(saved)
    with pytest.raises(RuntimeError, match="exp: .*output.* in place"):
        saved.sum().backward()
    constant = minigrad.tensor(x.numpy())
    assert layer(constant) is constant
    if "Drop" in kind:
        before = constant.numpy().copy()
        assert layer.eval()(constant) is constant
        np.testing.assert_array_equal(constant.numpy(), before)


# Inputs


@pytest.mark.parametrize("line", WITH_INPUTS)
def test_dtypes_stay(line: Layer) -> None:
    """All else here is in float64."""
    for dtype in (np.float16, np.float32):
        module, inputs = drawn(line, dtype)
        outputs = run(line, module, inputs)
        assert {out.dtype for out in outputs} == {np.dtype(dtype)}
        sum_of(outputs).backward()
        for leaf in (*inputs, *module.parameters()):
            assert leaf.grad is not None
            assert (leaf.grad.dtype, leaf.grad.shape) == (leaf.dtype, leaf.shape)
            assert np.isfinite(leaf.grad.numpy()).all()


NOT_BATCHED = {
    "Linear(4, 3, bias=False)", "PReLU()", "Unflatten(-1, (2, -1))", "Unflatten(-3, (2, 1))",
    "CosineSimilarity(-1, 1.5)", "KLDivLoss(reduction='batchmean', log_target=True)",
    "Reduce('a b -> 1 b', 'min')",
}  # fmt: skip
BATCHED = cases(
    line
    for line in CALLED
    if str(line) not in NOT_BATCHED
    and not any(isinstance(value, np.ndarray) for value in line.given.values())
    and (line.kind not in ("RNN", "LSTM", "GRU") or "batch_first" in line.options)
)


@pytest.mark.parametrize("line", BATCHED)
def test_a_batch_of_nothing(line: Layer) -> None:
    module, inputs = drawn(line)
    state = {name: value.numpy() for name, value in module.state_dict().items()}
    empty = [minigrad.tensor(x.numpy()[:0], requires_grad=True) for x in inputs]
    outputs = run(line, module, empty)
    sum_of(outputs).backward()
    for leaf in (*empty, *module.parameters()):
        assert leaf.grad is not None
        assert leaf.grad.shape == leaf.shape
        assert not leaf.grad.numpy().any()
    for name, value in module.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), state[name])


@pytest.mark.parametrize("line", WITH_INPUTS)
def test_any_memory_layout(line: Layer) -> None:
    """Columns first, backwards and repeated in memory: the same values and gradients."""
    module, inputs = drawn(line)
    arrays = [x.numpy() for x in inputs]
    for turn in (
        np.asfortranarray, lambda a: np.flip(np.flip(a).copy()),
        lambda a: np.broadcast_to(a[:1], a.shape),
    ):  # fmt: skip
        given = [wrap(turn(array)).requires_grad_() for array in arrays]
        plain = [minigrad.tensor(turn(array).copy(), requires_grad=True) for array in arrays]
        found, expected = (copy.deepcopy(module) for _ in range(2))
        pair = everything(line, found, given), everything(line, expected, plain)
        for name, value in pair[1].items():
            np.testing.assert_allclose(pair[0][name], value, rtol=1e-11, atol=1e-13, err_msg=name)
    turned = [np.array(out.numpy(), order="F") for out in run(line, module, inputs)]
    first = grad(run(line, module, inputs), inputs, turned)
    other = grad(run(line, module, inputs), inputs, [g.copy("C") for g in turned])
    for one, two in zip(first, other, strict=True):
        np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-11, atol=1e-13)


def wrong(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Too wide, of one batch more, with axes too many and too few."""
    wider, longer = (*shape[:-1], shape[-1] + 1), (shape[0] + 1, *shape[1:])
    return [wider, longer, (1, 1, 1, *shape), shape[1:], ()]


EINOPS = ("Rearrange", "Reduce")  # whose errors are its own


@pytest.mark.parametrize("line", cases(x for x in CALLED if x.shapes and x.kind not in EINOPS))
def test_what_does_not_fit_is_refused_by_path(line: Layer) -> None:
    """An error says what came, and where; else the layer takes it."""

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = line.make()

        def forward(self, *inputs: Tensor) -> Any:
            return line.run(self.part, *inputs)

    model = Model()
    for k, own in enumerate(line.shapes):
        for shape, dtype in [*((shape, np.float32) for shape in wrong(own)), (own, np.int64)]:
            inputs = [minigrad.ones(each) for each in line.shapes]
            inputs[k] = minigrad.ones(shape, dtype=dtype)
            try:
                model(*inputs)
            except (TypeError, ValueError, IndexError, RuntimeError) as error:
                text = str(error)
                assert re.search(r"\[in (part|Model)|interpolate: size", text), text
                assert any(word in text for word in ("(", "axis", "must be", "int64")), text
            except UserWarning as warning:
                assert re.search(r"is read as \(N, C, L\)|are broadcast", str(warning))


# Modes, copies and states


@pytest.mark.parametrize("line", cases(CALLED))
def test_modes(line: Layer) -> None:
    """Evaluated, a layer draws nothing; in training it does if it has dropout."""
    module, inputs = drawn(line)
    before = minigrad.random.get_state()
    line.run(module, *inputs)
    drops = any(
        getattr(part, name, 0)
        for part in module.modules()
        for name in ("p", "dropout", "dropout_p", "drop_prob")
        if isinstance(getattr(part, name, 0), float)
        and not line.kind.endswith(("Loss", "Distance"))
    )
    assert (minigrad.random.get_state() != before) == drops
    module.eval()
    before = minigrad.random.get_state()
    outputs, again = line.run(module, *inputs), line.run(module, *inputs)
    assert minigrad.random.get_state() == before
    for one, other in zip(outputs, again, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert all(not part.training for part in module.modules())


@pytest.mark.parametrize("line", cases(CALLED))
def test_copies_and_states(line: Layer) -> None:
    """A copy, a pickled one, and a new layer that loads the state, do and show the same."""
    module, inputs = drawn(line)
    new = line.make().double()
    assert new.load_state_dict(module.state_dict()) == ([], [])
    copies = [copy.deepcopy(module), pickle.loads(pickle.dumps(module)), new]
    expected = everything(line, module, inputs)
    for other in copies:
        leaves = [minigrad.tensor(x.numpy(), requires_grad=True) for x in inputs]
        assert_same(everything(line, other, leaves), expected)
        assert repr(other) == repr(module)
        assert not {id(p) for p in other.parameters()} & {id(p) for p in module.parameters()}


@pytest.mark.parametrize("line", cases(CALLED))
def test_parameters_are_drawn_again(line: Layer) -> None:
    """What is drawn at first is drawn anew; what is a constant is that again."""
    module, one, other = line.make(), line.make(), line.make()
    for parameter in module.parameters():
        nn.init.constant(parameter, 7.0)
    module.reset_parameters()
    for p, a, b in zip(*(m.parameters() for m in (module, one, other)), strict=True):
        constant = a.numpy() == b.numpy()
        np.testing.assert_array_equal(p.numpy()[constant], a.numpy()[constant])
        assert (p.numpy() != 7.0).all()
        assert (p.numpy() != a.numpy())[~constant].all()


# Derivatives


def prepared(case: Layer | str) -> tuple[Callable[..., list[Tensor]], list[Tensor]]:
    """A layer as a function whose second derivatives do not vanish, and all that it depends on."""
    line = FUNCTIONS[case] if isinstance(case, str) else case
    module, inputs = drawn(line)

    def function(*values: Tensor) -> list[Tensor]:
        outputs = run(line, module, values[: len(inputs)])
        return [ops.tanh(0.6 * output) for output in outputs]

    return function, [*inputs, *module.parameters()]


def of_function(call: Callable[..., Any], *shapes: tuple[int, ...]) -> Layer:
    return Layer("Identity", (), {}, list(shapes), {}, lambda m, *inputs: call(*inputs))


FUNCTIONS = {
    "normalize": of_function(lambda x: F.normalize(x, 3.0), (2, 3, 4)),
    "gumbel softmax": of_function(lambda x: F.gumbel_softmax(x, 0.7), (2, 3, 4)),
    "grouped queries": of_function(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True),
        (2, 4, 3, 2), (2, 2, 5, 2), (2, 2, 5, 3)),
}  # fmt: skip
SMOOTH = [line for line in CALLED if line.kind != "Embedding" or not line.options]
EVERY = [*cases(SMOOTH), *FUNCTIONS]


@pytest.mark.parametrize("case", EVERY)
def test_first_and_second_order(case: Layer | str) -> None:
    function, tensors = prepared(case)
    assert gradcheck(function, tensors, directions=2)
    assert gradgradcheck(function, tensors, directions=1)


FUSED = """
AdaptiveMaxPool2d BatchNorm2d Conv2d CrossEntropyLoss EmbeddingBag GRU LSTM MultiHeadAttention
RMSNorm RotaryPosEmbedding SelectiveKernel TransformerEncoderLayer"""
DEEP = {line.kind: line for line in SMOOTH if line.kind in FUSED.split()}


@pytest.mark.parametrize("kind", DEEP)
def test_third_order(kind: str) -> None:
    """The Hessian times a fixed vector, and its own derivative; tests/ops has all ops."""
    function, tensors = prepared(DEEP[kind])
    rng = np.random.default_rng(3)
    along = [rng.standard_normal(tensor.shape) / 4 for tensor in tensors]

    def bend(*values: Tensor) -> list[Tensor]:
        outputs = function(*values)
        weights = [np.cos(np.arange(out._data.size) + 1.0).reshape(out.shape) for out in outputs]
        slopes = grad(outputs, values, weights, create_graph=True, allow_unused=True)
        used = [k for k, slope in enumerate(slopes) if slope is not None and slope.requires_grad]
        found = grad([slopes[k] for k in used], values, [along[k] for k in used],
                     create_graph=True, allow_unused=True)  # fmt: skip
        return [part for part in found if part is not None]

    assert bend(*tensors)
    assert gradcheck(bend, tensors, directions=1)


def test_every_layer_is_here() -> None:
    """In the table, and called there, but for lazy ones, which become others."""
    public = {kind for kind in vars(nn).values() if isinstance(kind, type)}
    layers = {kind.__name__ for kind in public if issubclass(kind, nn.Module)}
    containers = {"Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList"}
    missing = layers - {line.kind for line in LAYERS} - containers - {"Sequential"}
    assert not missing, f"add a line to tests/layer_table.py for {', '.join(sorted(missing))}"
    silent = {line.kind for line in LAYERS} - {line.kind for line in CALLED}
    assert all(kind.startswith("Lazy") for kind in silent)
