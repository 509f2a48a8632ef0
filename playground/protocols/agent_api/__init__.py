"""The Agent API: messages to an agent, and its response as a stream of messages and contents."""

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
