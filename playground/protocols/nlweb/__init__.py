"""The NLWeb protocol, versions 0.54 and 0.55, and the legacy server before them.

===========  ====================================================================
`content`    events of the members of a response: results, texts, questions, …
`documents`  assembler of a response as one document
`failures`   explanations of error codes and HTTP status codes
`legacy`     requests and messages of the legacy server
`outcome`    outcome and session context of a response
`reader`     lenient reader: a response, whole or streamed, as events
`requests`   requests: build, follow up, validate
`versions`   the version table
===========  ====================================================================
"""

from playground.protocols.nlweb.legacy import mask_block
from playground.protocols.nlweb.reader import NLWebReader
from playground.protocols.nlweb.requests import (
    follow_up_document,
    http_call,
    new_await,
    new_request,
    omitted_previous,
    operation,
    query_text,
    session_context,
    text_of_request,
    validate_request,
    wants_stream,
    with_request_id,
    with_session_context,
    with_version,
)
from playground.protocols.nlweb.versions import SUPPORTED_VERSIONS, VERSIONS

__all__ = [
    "SUPPORTED_VERSIONS",
    "VERSIONS",
    "NLWebReader",
    "follow_up_document",
    "http_call",
    "mask_block",
    "new_await",
    "new_request",
    "omitted_previous",
    "operation",
    "query_text",
    "session_context",
    "text_of_request",
    "validate_request",
    "wants_stream",
    "with_request_id",
    "with_session_context",
    "with_version",
]
