"""Options with which every optimizer is compared, with its formula and with PyTorch's."""

from typing import Any

__all__ = ["CASES", "OPTIONS", "OTHER"]

OTHER = {"lr": 0.1, "betas": (0.6, 0.8), "eps": 0.3, "weight_decay": 0.2}
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "SGD": [
        {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.2, "dampening": 0.25},
        {"lr": 0.1, "momentum": 0.5, "weight_decay": 0.2, "nesterov": True},
    ],
    "ASGD": [{"lr": 0.1, "lambd": 0.3, "alpha": 0.5, "weight_decay": 0.2}],
    "Adam": [OTHER, OTHER | {"amsgrad": True}],
    "AdamW": [OTHER, OTHER | {"amsgrad": True}],
    "Adamax": [OTHER],
    "NAdam": [OTHER | {"momentum_decay": 2.0}, OTHER | {"decoupled_weight_decay": True}],
    "RAdam": [
        OTHER | {"betas": (0.6, 0.9)},
        OTHER | {"betas": (0.6, 0.9), "decoupled_weight_decay": True},
    ],
    "Adagrad": [
        {"lr": 0.1, "lr_decay": 0.5, "initial_accumulator_value": 2.0},
        {"lr": 0.1, "eps": 0.3, "weight_decay": 0.2},
    ],
    "RMSprop": [
        {"lr": 0.1, "alpha": 0.7, "eps": 0.3, "weight_decay": 0.2},
        {"alpha": 0.7, "eps": 0.01, "momentum": 0.5, "centered": True},
    ],
    "Adadelta": [{"lr": 0.5, "rho": 0.6, "eps": 0.3, "weight_decay": 0.2}],
    "Rprop": [{"lr": 0.1, "etas": (0.25, 1.5)}, {"lr": 0.1, "step_sizes": (0.09, 0.11)}],
}
CASES = [(name, options) for name, several in OPTIONS.items() for options in [{}, *several]]
