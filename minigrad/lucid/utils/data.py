"""`lucid.utils.data`: `minigrad.data`."""

from minigrad.data import *
