"""Differences of two responses, without order, identifiers and times; and of two JSON values.

Pure, and total on any input. Responses are compared as events, so that the same response over
two bindings, streamed or whole, is equal.
"""

from playground.protocols.diff.ignored import IGNORED, UNSEEN
from playground.protocols.diff.responses import (
    MAX_LISTED,
    Comparison,
    Difference,
    OrderScope,
    ResponseSide,
    compare,
    compare_documents,
)

__all__ = [
    "IGNORED",
    "MAX_LISTED",
    "UNSEEN",
    "Comparison",
    "Difference",
    "OrderScope",
    "ResponseSide",
    "compare",
    "compare_documents",
]
