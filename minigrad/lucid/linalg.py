"""`lucid.linalg`: as in minigrad."""

from minigrad.linalg import *
