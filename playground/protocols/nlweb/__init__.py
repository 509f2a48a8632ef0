"""The NLWeb protocol, versions 0.54 and 0.55, and the legacy server before them."""

from playground.protocols.nlweb.form import FORM
from playground.protocols.nlweb.legacy import mask_block
from playground.protocols.nlweb.reader import NLWebReader
from playground.protocols.nlweb.requests import (
    follow_up_document,
    http_call,
    new_await,
    new_checkin,
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
    "FORM",
    "SUPPORTED_VERSIONS",
    "VERSIONS",
    "NLWebReader",
    "follow_up_document",
    "http_call",
    "mask_block",
    "new_await",
    "new_checkin",
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
