"""What optimizers, schedules and averages refuse: what came, what was expected, and the remedy."""

import pytest
from optimizer_kinds import leaf
from printed import gist

from minigrad import nn, optim, tensor
from minigrad.optim import lr_scheduler, swa_utils

X, COUNT, MODEL = leaf([1.0]), tensor([1]), nn.Linear(2, 1)
SGD1, SGD2 = (optim.SGD([leaf([1.0])], lr=0.2, momentum=0.9) for _ in range(2))
STEP, ELSEWHERE = lr_scheduler.StepLR(SGD1, 2), lr_scheduler.StepLR(SGD2, 2)
REFUSALS: dict[type[Exception], dict[str, str]] = {
    ValueError: {
        # parameters
        "Adam([])": "Adam: no parameters",
        "Adam([X * 2])": "Adam: parameter 0 of shape ... is the result of an op",
        "Adam([COUNT])": "Adam: parameter 0 of shape (1,) has dtype int64",
        "Muon([X])": "Muon: parameter 0 of shape (1,) is not a matrix: give it to AdamW",
        "Adam([{'params': [X], 'lr': -1}])": "Adam: lr must be a number of at",
        "SGD([X, X])": "parameter 1 ... (1,) ... twice",
        "LBFGS([{'params': [X]}, {'params': [leaf([1.0])]}])":
            "LBFGS: all parameters are in one group",
        # options, beside those of test_optim_options.py
        "SGD([X], nesterov=True)": "SGD: nesterov needs momentum",
        "Adam([X], betas=0.9)": "Adam: betas must be 2 numbers",
        "Adam([X], betas=(0.9, 1.0))": "Adam: each of betas ... got 1.0",
        "RMSprop([X], alpha=1.0)": "RMSprop: alpha must be",
        "Rprop([X], etas=(0.5, 0.9))": "Rprop: etas must be",
        "Rprop([X], step_sizes=(1.0, 0.1))": "Rprop: step_sizes must rise",
        "Rprop([X], step_sizes=(-1.0, 0.1))": "Rprop: each of step_sizes",
        "LBFGS([X], line_search_fn='armijo')": "LBFGS: line_search_fn must be ... got 'armijo'",
        # schedules
        "StepLR(SGD([X]), 2, last_epoch=3)": "group 0 ... has no 'initial_lr'",
        "ReduceLROnPlateau(SGD1, 'least')": "mode must be ... or ... got 'least'",
        "ReduceLROnPlateau(SGD1, factor=1.0)": "factor must be a number of",
        "ReduceLROnPlateau(SGD1, threshold_mode='no')": "threshold_mode must be",
        "ReduceLROnPlateau(SGD1, min_lr=[0.0] * 2)": "min_lr has 2 numbers",
        "CyclicLR(SGD1, 0.1, 0.5, mode='square')": "mode must be",
        "CyclicLR(SGD1, 0.1, 0.5, scale_mode='no')": "scale_mode must be",
        "CyclicLR(SGD1, [0.1] * 2, 0.5)": "base_lr has 2 numbers",
        "CyclicLR(Adagrad([X]), 0.1, 0.5)": "Adagrad ... momentum ... cycle_mo",
        "OneCycleLR(SGD1, 0.5)": "pass total_steps, or epochs and steps",
        "OneCycleLR(SGD1, 0.5, epochs=2)": "pass total_steps, or epochs",
        "OneCycleLR(SGD1, 0.5, 9, pct_start=1.1)": "pct_start must be a number",
        "OneCycleLR(SGD1, 0.5, 9, anneal_strategy='no')": "anneal_strategy",
        "WarmupCosineLR(SGD1, 5, 5)": "total_steps must be at least 6",
        "LinearLR(SGD1, 0.0)": "LinearLR: start_factor ... above 0",
        "ConstantLR(SGD1, 1.5)": "ConstantLR: factor must be a number from 0",
        "ChainedScheduler([])": "ChainedScheduler: a list of schedulers",
        "ChainedScheduler([ELSEWHERE], SGD1)":
            "ChainedScheduler: schedulers[0], StepLR, was made for another optimizer",
        "SequentialLR(SGD1, [], [])": "one less than schedulers, got [] for 0",
        "SequentialLR(SGD1, [STEP] * 2, [2, 3])": "got [2, 3] for 2 schedulers",
        "SequentialLR(SGD1, [STEP] * 2, [-1])": "each of milestones must be at least 0",
        "SequentialLR(SGD1, [STEP] * 3, [3, 2])": "milestones must rise, ... got [3, 2]",
        "SequentialLR(SGD1, [ELSEWHERE], [])":
            "schedulers[0], StepLR, was made for another optimizer",
        "SequentialLR(SGD1, [ReduceLROnPlateau(SGD1)], [])":
            "schedulers[0], ReduceLROnPlateau, needs ... by itself",
        "SequentialLR(SGD1, [STEP], [], 3)":
            "SequentialLR: last_epoch must be -1, got 3; ... load_state_dict",
        # averages
        "get_ema_avg_fn(1.1)": "get_ema_avg_fn: decay must be ... got 1.1",
        "AveragedModel(MODEL).update_parameters(nn.Linear(3, 1))":
            "parameters of shapes [(1, 2), (1,)] ... [(1, 3), (1,)]",
        "AveragedModel(MODEL, device='cuda')": "cpu ... cuda",
    },
    TypeError: {
        "Adam([3.0])": "Adam: parameter 0 must be a Tensor, got float",
        "Adam([{'lr': 0.1}])": "Adam: a group is a dict with 'params'",
        "SGD(MODEL)": "SGD: ... got a single Linear; pass a list, or model.parameters",
        "SGD(MODEL.parameters)": "SGD: ... got a single method; pass a list, or model.parameters",
        "SGD(X)": "SGD: ... got a single Tensor; pass a list, or model.parameters",
        "SGD({'params': [X]})": "SGD: ... got a single dict; pass a list, or model.parameters",
        "SGD(None)": "SGD: ... got a single NoneType; pass a list, or model.parameters",
        "SGD(0.1)": "SGD: ... got a single float; pass a list, or model.parameters",
        "SGD({X, leaf([1.0])})": "SGD: parameters in order expected, got a set",
        "SGD([{'params': MODEL}])": "SGD: ... Linear ... parameters",
        "LambdaLR(lambda step: 0.5, SGD1)": "LambdaLR: the first argument is an optimizer",
        **{
            f"LambdaLR(SGD1, {wrong})": "LambdaLR: ... function of the step, or a list of 1"
            for wrong in ("[abs, abs]", "0.5", "[0.5]", "[]")
        },
        "AveragedModel(MODEL.parameters())": "a module expected, got",
    },
}  # fmt: skip
CASES = [(error, *row) for error, rows in REFUSALS.items() for row in rows.items()]


@pytest.mark.parametrize(("error", "call", "message"), CASES)
def test_it_says_what_came(error: type[Exception], call: str, message: str) -> None:
    with pytest.raises(error, match=gist(message)):
        eval(call, vars(optim) | vars(lr_scheduler) | vars(swa_utils) | globals())
