"""Whether two replies say the same: what is left of their difference when order, identifiers
and times are taken out.

Pure, and total on whatever agents send. Replies are compared as what they mean, as events, so
that the same answer over two bindings, streamed or whole, is the same answer.

=============  ===================================================================
`volatile`     what is ignored, as one table
`things`       events to the things that a reply is made of
`matching`     which thing of one reply is which of the other
`known`        differences that the versions of a protocol explain
`comparing`    all of it together
=============  ===================================================================
"""

from playground.protocols.diff.ignored import IGNORED, UNSEEN
from playground.protocols.diff.responses import (
    MAX_LISTED,
    Comparison,
    Difference,
    OrderScope,
    Reply,
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
    "Reply",
    "compare",
    "compare_documents",
]
