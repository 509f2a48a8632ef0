"""The next request of a conversation: another question, or the answer to a call.

The agent keeps what was said under `session_id` (section "Best Practices"), so a request
carries what is new and nothing else. Total: a request of any shape makes an object, and what
is passed in stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols.agent_api import requests
from playground.protocols.events import ToolCall

#: Members of a request that say which conversation it belongs to, in the order of sending.
SESSION = ("session_id", "response_id")


def follow_up_document(
    request: Any,
    *,
    prev: Sequence[str] = (),
    session_context: Mapping[str, Any] | None,
    text: str = "",
) -> dict[str, Any]:
    """The document of the turn after `request`: a new message of the user's.

    Model, parameters and tools stay. `session_context` holds `session_id` and `response_id`,
    as `session` gives them; None leaves both out. `prev` is not needed: the session has it.
    """
    del prev
    return with_input(request, [requests.user_message(text)], session_context)


def with_input(
    request: Any, messages: Sequence[Mapping[str, Any]], session_context: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The document that follows on `request` with these messages as its input.

    A response may leave several calls to its client: what all of them returned goes into one
    document, a message each (sections "Function Call Output" and "MCP Approval").
    """
    document = request if isinstance(request, Mapping) else {}
    kept = {name: value for name, value in document.items() if name not in ("input", *SESSION)}
    return {"input": [dict(entry) for entry in messages], **kept, **_only(session_context or {})}


def session_context(request: Any, returned: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """What the conversation is called after a turn: what was sent, and what came back for it.

    None where neither says anything.
    """
    sent = _only(request) if isinstance(request, Mapping) else {}
    return {**sent, **(_only(returned) if returned else {})} or None


def with_session_context(
    request: Mapping[str, Any], session_context: Mapping[str, Any]
) -> dict[str, Any]:
    """The request as a part of a conversation that `session` has told of."""
    return {**request, **_only(session_context)}


def output_message(call: ToolCall, output: str) -> dict[str, Any]:
    """The message that says what a function returned (section "Function Call Output")."""
    data = {"call_id": call.call_id, "output": output}
    return requests.message("function_call_output", "user", {"type": "data", "data": data})


def approval_message(asked: ToolCall, approve: bool, reason: str = "") -> dict[str, Any]:
    """The message that approves or refuses a call; a reason is sent where there is one.

    The specification names the type and not its members; these are what agents go by.
    """
    data: dict[str, Any] = {"approval_request_id": asked.call_id, "approve": approve}
    if reason:
        data["reason"] = reason
    return requests.message("mcp_approval_response", "user", {"type": "data", "data": data})


def _only(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value[name] for name in SESSION if value.get(name) is not None}
