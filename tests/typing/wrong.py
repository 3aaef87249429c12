"""Mistakes that a type checker finds, one a line."""

import numpy as np

import minigrad
from minigrad import nn

minigrad.wher(minigrad.ones(2) > 0, 1, 2)
minigrad.zeros(2, dtyp="float32")
nn.Linear(2, 3)(minigrad.ones(2), fullgraph=True)
minigrad.autograd.primitive(np.exp, np.exp2)
