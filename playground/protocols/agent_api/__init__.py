"""The Agent API: messages to an agent, and its response as a stream of messages and contents."""

from playground.protocols.agent_api.documents import ResponseAssembler
from playground.protocols.agent_api.form import form
from playground.protocols.agent_api.reader import AgentAPIReader
from playground.protocols.agent_api.requests import (
    follow_up_document,
    new_request,
    operation,
    output_message,
    session_context,
    text_of_request,
    validate_request,
    wants_stream,
    with_input,
    with_own_ids,
    with_session_context,
)
from playground.protocols.agent_api.versions import VERSIONS

__all__ = [
    "VERSIONS",
    "AgentAPIReader",
    "ResponseAssembler",
    "follow_up_document",
    "form",
    "new_request",
    "operation",
    "output_message",
    "session_context",
    "text_of_request",
    "validate_request",
    "wants_stream",
    "with_input",
    "with_own_ids",
    "with_session_context",
]
