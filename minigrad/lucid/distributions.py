"""`lucid.distributions`: as in minigrad."""

from minigrad.distributions import *
