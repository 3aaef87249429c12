"""Walks that are prepared: the questions that are asked on the page of an attention layer.

They are written in ``static/walks.md``. Where a box or a step does not exist, as without a bias, a
mask or dropout, its stop is left out.
"""

from minigrad.nn import Module, MultiHeadAttention, TransformerEncoderLayer
from minigrad.viz.page.html import static
from minigrad.viz.page.walk import Stop


def _stops(walk: str, texts: dict[str, str]) -> tuple[Stop, ...]:
    """The stops of a walk; `texts` are by title, for a stop that another walk has too.

    The places ``zero:`` and ``not zero:`` are gradients of which the text says so.
    """
    stops = []
    for stop in walk.split("\n## ")[1:]:
        title, place, *text = stop.strip().split("\n\n")
        kind, _, name = place.partition(": ")
        zero = {"zero": True, "not zero": False}.get(kind)
        kind = kind if zero is None else "gradient"
        if text:
            texts[title] = text[0].replace("\n", " ")
        stops.append(Stop(title, texts[title], optional=True, zero=zero, **{kind: name}))
    return tuple(stops)


_, *_walks = static("walks.md").split("\n# ")
_texts: dict[str, str] = {}
MULTI_HEAD_ATTENTION, TRANSFORMER_ENCODER_LAYER = (_stops(walk, _texts) for walk in _walks)
"""For the pages of `nn.MultiHeadAttention` and `nn.TransformerEncoderLayer`, which offer them."""

PREPARED: dict[type[Module], tuple[Stop, ...]] = {
    MultiHeadAttention: MULTI_HEAD_ATTENTION,
    TransformerEncoderLayer: TRANSFORMER_ENCODER_LAYER,
}
"""The walk that a page offers if none is given, by the exact class of the module."""
