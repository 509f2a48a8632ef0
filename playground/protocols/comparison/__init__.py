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

from playground.protocols.comparison.comparing import (
    MAX_LISTED,
    Comparison,
    Difference,
    Order,
    Reply,
    compare,
    compare_documents,
)
from playground.protocols.comparison.volatile import IGNORED, UNSEEN

__all__ = [
    "IGNORED",
    "MAX_LISTED",
    "UNSEEN",
    "Comparison",
    "Difference",
    "Order",
    "Reply",
    "compare",
    "compare_documents",
]
