"""Differences of two responses, without order, identifiers and times; and of two JSON values.

Pure, and total on any input. Responses are compared as events, so that the same response over
two bindings, streamed or whole, is equal.

=====================  ===================================================
`ignored`              the table of members that a comparison ignores
`json_values`          differences of two JSON values, with JSON Pointers
`matching`             pairs of parts of two responses
`response_parts`       the parts of a response, from its events
`responses`            the comparison of two responses or documents
`version_differences`  differences that versions of a protocol explain
=====================  ===================================================
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
