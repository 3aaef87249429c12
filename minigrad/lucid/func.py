"""`lucid.func`: as in minigrad."""

from minigrad.func import *
