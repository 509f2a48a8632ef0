"""The Agent API: messages to an agent, and its response as a stream of messages and contents.

==================  ============================================================
`constants`         roles, types and statuses, of the specification and extra
`documents`         assembler of a response as one document
`messages`          reader of messages and contents, each only once
`outcome`           outcome of a response
`parameters`        model and sampling parameters with their ranges
`partial_messages`  messages and contents that are not complete yet
`parts`             type and value of a content
`reader`            lenient reader: a response, whole or streamed, as events
`requests`          requests: build, follow up, validate
`tools`             tool calls and tool outputs
`transitions`       the table of statuses that may follow each other
`versions`          the version table, of one row
==================  ============================================================
"""

from playground.protocols.agent_api.reader import AgentAPIReader
from playground.protocols.agent_api.requests import (
    follow_up_document,
    new_request,
    operation,
    session_context,
    text_of_request,
    validate_request,
    wants_stream,
    with_session_context,
)
from playground.protocols.agent_api.versions import VERSIONS

__all__ = [
    "VERSIONS",
    "AgentAPIReader",
    "follow_up_document",
    "new_request",
    "operation",
    "session_context",
    "text_of_request",
    "validate_request",
    "wants_stream",
    "with_session_context",
]
