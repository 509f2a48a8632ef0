"""The NLWeb protocol, versions 0.54 and 0.55: documents and what they mean.

=============  =====================================================================
`versions`     the table of how the versions differ
`requests`     build a request, check a request
`reader`       a reply, whole or streamed, as events
`content`      the parts of a reply
`typed`        the older public server's dialect
`outcome`      what the agent has answered so far
=============  =====================================================================
"""

from playground.protocols.nlweb.reader import NLWebReader
from playground.protocols.nlweb.requests import (
    check,
    new_await,
    new_request,
    operation,
    wants_stream,
)
from playground.protocols.nlweb.turns import continuation, text_of_request
from playground.protocols.nlweb.typed import mask_block
from playground.protocols.nlweb.versions import VERSIONS

__all__ = [
    "VERSIONS",
    "NLWebReader",
    "check",
    "continuation",
    "mask_block",
    "new_await",
    "new_request",
    "operation",
    "text_of_request",
    "wants_stream",
]
