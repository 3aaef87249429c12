"""Wrong arguments by machine: each call with each parameter replaced by things of other kinds."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import autograd, data, nn, optim
from minigrad.nn import functional as F

x, image, pair = minigrad.ones(4, 3), minigrad.ones(2, 4, 6, 6), minigrad.ones(4, 3)
index, one = minigrad.tensor([0, 1, 2, 1]), minigrad.ones(4)
parameter = nn.Parameter(minigrad.ones(3))

CALLS: dict[Callable[..., Any], tuple[Any, ...]] = {
    F.elu: (x,), F.leaky_relu: (x,), F.gumbel_softmax: (x,), F.normalize: (x,), F.glu: (image,),
    F.bilinear: (x, x, minigrad.ones(2, 3, 3)), F.embedding: (index, x), F.one_hot: (index, 5),
    F.linear: (x, x), F.alpha_dropout: (x,), F.layer_norm: (x, (3,)), F.rms_norm: (x, (3,)),
    F.group_norm: (image, 2), F.batch_norm: (x, one[:3], one[:3]), F.instance_norm: (image,),
    F.conv2d: (image, image[:, :, :3, :3]), F.max_pool2d: (image, 2), F.avg_pool2d: (image, 2),
    F.interpolate: (image, (4, 4)), F.pixel_shuffle: (image, 2), F.unfold: (image, 3),
    F.cross_entropy: (x, index), F.nll_loss: (x, index), F.mse_loss: (x, pair), F.kl_div: (x, pair),
    F.huber_loss: (x, pair), F.binary_cross_entropy: (x, pair), F.triplet_margin_loss: (x, x, x),
    F.multi_margin_loss: (x, index), F.cosine_similarity: (x, pair), F.pairwise_distance: (x, pair),
    F.scaled_dot_product_attention: (x[None], x[None], x[None]),
    nn.init.uniform_: (pair,), nn.init.constant_: (pair, 1.0), nn.init.xavier_uniform_: (pair,),
    nn.init.orthogonal_: (pair,), nn.init.kaiming_normal_: (pair,), nn.init.trunc_normal_: (pair,),
    nn.utils.clip_grad_norm_: ([parameter], 1.0), nn.utils.parameters_to_vector: ([parameter],),
    minigrad.split: (x, 2), minigrad.topk: (x, 2), minigrad.sort: (x,), minigrad.mean: (x, 1),
    minigrad.cat: ([x, x],), minigrad.gather: (x, 1, index[:, None]), minigrad.var: (x,),
    autograd.gradcheck: (minigrad.sin, minigrad.ones(2).double().requires_grad_()),
    optim.SGD: ([parameter], 0.1), optim.Adam: ([parameter],),
}  # fmt: skip
WRONG = None, "False", [[1.0, 2.0]], 2.5, -7, (1, "a"), {"a": 1}, nn.Linear(3, 3), object()
ANYTHING = {"generator", "out", "dtype", "name", "_stacklevel", "only_inputs", "sparse_grad"}


def wrong_calls(
    function: Callable[..., Any],
) -> list[tuple[str, Any, tuple[Any, ...], dict[str, Any]]]:
    """(parameter, wrong value, arguments, keywords)."""
    given, found = CALLS[function], []
    for i, each in enumerate(inspect.signature(function).parameters.values()):
        required = each.default is inspect.Parameter.empty and i >= len(given)
        if required or each.kind is inspect.Parameter.VAR_KEYWORD or each.name in ANYTHING:
            continue
        for wrong in WRONG[each.default is None :]:
            if i < len(given):
                found.append((each.name, wrong, (*given[:i], wrong, *given[i + 1 :]), {}))
            else:
                found.append((each.name, wrong, given, {each.name: wrong}))
    return found


@pytest.mark.filterwarnings("ignore")
def test_the_errors_of_wrong_calls_name_function_and_argument() -> None:
    """Of 2,800 calls none ends in an error that names nothing, and nine of ten say what came."""
    bare, unclear, errors = [], 0, 0
    for function in CALLS:
        name = function.__name__.rstrip("_")
        for parameter, wrong, args, kwargs in wrong_calls(function):
            try:
                function(*args, **kwargs)
            except Exception as error:  # noqa: BLE001  # any kind
                errors += 1
                text = str(error)
                came = repr(wrong) in text or type(wrong).__name__ in text
                unclear += not (name in text and came)
                if name not in text and (isinstance(error, AttributeError) or not came):
                    bare.append(f"{name}({parameter}={wrong!r}): {error!r}")
    assert errors > 1500
    assert not bare, "\n".join(bare)
    assert unclear < 0.15 * errors


TENSOR = minigrad.ones(2, 3, requires_grad=True)
FLAGS: dict[str, Callable[[Any], Any]] = {
    "requires_grad of tensor": lambda no: minigrad.tensor([1.0], requires_grad=no),
    "requires_grad": lambda no: setattr(minigrad.ones(2), "requires_grad", no),
    "requires_grad_": lambda no: nn.Linear(2, 3).requires_grad_(no),
    "training of dropout": lambda no: F.dropout(x, 0.5, no),
    "training": lambda no: F.batch_norm(x, None, None, training=no),
    "inplace": lambda no: F.relu(x * 1, inplace=no),
    "nesterov": lambda no: optim.SGD([parameter], 0.1, momentum=0.9, nesterov=no),
    "amsgrad": lambda no: optim.Adam([parameter], amsgrad=no),
    "is_causal": lambda no: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=no),
    "keepdim": lambda no: x.sum(1, keepdim=no),
    "descending": lambda no: x.sort(descending=no),
    "log_target": lambda no: F.kl_div(x, x, log_target=no),
    "retain_graph": lambda no: TENSOR.sum().backward(retain_graph=no),
    "create_graph": lambda no: autograd.grad(TENSOR.sum(), TENSOR, create_graph=no),
    "set_to_none": lambda no: optim.SGD([parameter], 0.1).zero_grad(set_to_none=no),
    "check_nan": lambda no: autograd.detect_anomaly(no),
    "shuffle": lambda no: data.DataLoader([1, 2], shuffle=no),
    "bias": lambda no: nn.Linear(2, 3, bias=no),
    "mode": lambda no: nn.Linear(2, 3).train(no),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_text_is_no_flag(flag: str) -> None:
    """argparse and YAML give the text "False", which is true."""
    with pytest.raises(
        TypeError, match=f"{flag.partition(' ')[0].rstrip('_')}.* must be True or F"
    ):
        FLAGS[flag]("False")


WORDS: dict[str, tuple[Callable[[], Any], str]] = {
    "a class": (lambda: autograd.gradcheck(nn.Linear, x), "got the class Linear"),
    "a module": (lambda: nn.init.zeros_(nn.Linear(2, 3)), "zeros_: tensor must be a tensor, got L"),
    "two unknown sizes": (lambda: x.reshape(2, -3), "sizes of at least 0 expected, and one -1"),
    "a buffer": (lambda: nn.Module().register_buffer("r", range(3)), "r must be a tensor, an arr"),
    "an index": (lambda: F.cross_entropy(x, index, ignore_index=1.5), "must be an int or None"),
    "a number": (lambda: minigrad.viz.explore(3, x), "expected a Module or a function"),
}  # fmt: skip


@pytest.mark.parametrize("case", WORDS)
def test_what_is_said(case: str) -> None:
    call, said = WORDS[case]
    with pytest.raises((TypeError, ValueError), match=said):
        call()


SMALL = np.array([[-1e4, -200.0, -60.0, -1e-30, 0.0, 1e-30, 50.0, 1e4]])


NAMES = (
    "silu softplus sigmoid mish logsigmoid gelu softmax log_softmax rms_norm normalize logsumexp "
    "logcumsumexp erf erfc norm cross_entropy huber_loss scaled_dot_product_attention"
)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES.split())
def test_underflow_is_no_error(name: str, dtype: str) -> None:
    """``np.seterr(all="raise")`` is a habit of debugging; small numbers become 0 on purpose."""
    function = getattr(F, name, None) or getattr(minigrad, name)
    more: dict[str, Any] = {
        "softmax": (-1,), "log_softmax": (-1,), "rms_norm": ((8,),), "logsumexp": (1,),
        "logcumsumexp": (1,), "cross_entropy": (minigrad.tensor([1]),),
        "huber_loss": (minigrad.zeros(1, 8),),
    }  # fmt: skip
    results = []
    for errors in ("ignore", "raise"):
        given = minigrad.tensor(SMALL, dtype=dtype, requires_grad=True)
        args = [given[None]] * 3 if name.startswith("scaled") else [given, *more.get(name, ())]
        with np.errstate(all=errors):  # type: ignore[call-overload]
            result = function(*args)
            result.sum().backward()
        results.append((result.detach().numpy(), given.grad.numpy()))  # type: ignore[union-attr]
    np.testing.assert_array_equal(*(result for result, _ in results))
    np.testing.assert_array_equal(*(gradient for _, gradient in results))
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="overflow|divide"):
        minigrad.exp(minigrad.tensor([1e4]))
