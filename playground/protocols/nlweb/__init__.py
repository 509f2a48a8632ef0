"""The NLWeb protocol, versions 0.54 and 0.55, and the older server before them.

=============  =====================================================================
`versions`     the table of how the versions differ
`requests`     build a request, check a request
`legacy`       requests of the older public server
`reader`       a reply, whole or streamed, as events
`content`      the parts of a reply
`typed`        messages of the older public server
`outcome`      what the agent has answered so far
`whole`        a reply as one document, put together from its events
=============  =====================================================================
"""

from playground.protocols.nlweb.legacy_messages import mask_block
from playground.protocols.nlweb.reader import NLWebReader
from playground.protocols.nlweb.requests import (
    http_call,
    new_await,
    new_request,
    operation,
    validate_request,
    wants_stream,
)
from playground.protocols.nlweb.turns import (
    follow_up_document,
    query_text,
    session_context,
    text_of_request,
    with_session_context,
)
from playground.protocols.nlweb.versions import SPOKEN, VERSIONS

__all__ = [
    "SPOKEN",
    "VERSIONS",
    "NLWebReader",
    "follow_up_document",
    "http_call",
    "mask_block",
    "new_await",
    "new_request",
    "operation",
    "query_text",
    "session_context",
    "text_of_request",
    "validate_request",
    "wants_stream",
    "with_session_context",
]
