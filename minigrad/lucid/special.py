"""`lucid.special`: as in minigrad."""

from minigrad.special import *
