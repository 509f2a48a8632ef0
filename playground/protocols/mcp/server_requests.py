"""Requests that an MCP server makes while it answers: elicitation, `ping`, `roots/list`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.events import Event, Note, Unknown
from playground.protocols.jsonrpc import METHOD_NOT_FOUND, JsonRpcMessage
from playground.protocols.mcp import elicitation

#: Requests of one run that are read; a server may send them without end.
MAX_REQUESTS = 50

PING = "ping"


class ServerRequests:
    """Requests of one server, and the automatic responses that are due."""

    def __init__(self) -> None:
        #: Whether the server has sent an elicitation.
        self.has_elicited = False
        self._count = 0
        self._due: list[Mapping[str, Any]] = []

    def read(
        self, seq: int, message: JsonRpcMessage, session: str, version: str
    ) -> Sequence[Event]:
        self._count += 1
        if self._count > MAX_REQUESTS:
            reason = f"Only the first {MAX_REQUESTS} requests of a server are processed."
            return [Unknown(seq, message.method, message.raw, reason)]
        if message.method == elicitation.CREATE:
            self.has_elicited = True
            return [
                elicitation.elicitation_request(seq, message.id, message.params, session, version)
            ]
        answer = _automatic_answer(message)
        call = {"id": message.id, "session": session, "version": version}
        self._due.append({"kind": elicitation.RESPONSE, **call, **answer})
        if "result" in answer:
            return [Note(seq, f"mcp {message.method}", message.params)]
        reason = "Unsupported server request. The playground responded with an error."
        return [Unknown(seq, message.method, message.params, reason)]

    def take_responses(self) -> Sequence[Mapping[str, Any]]:
        """Return the automatic responses that are due, each once."""
        due, self._due = self._due, []
        return due


def _automatic_answer(message: JsonRpcMessage) -> Mapping[str, Any]:
    if message.method == PING:
        return {"result": {}}
    if message.method == elicitation.ROOTS:
        return {"result": {"roots": []}}
    error = jsonrpc.error_response(None, METHOD_NOT_FOUND, "The client does not offer this.")
    return {"error": error["error"]}
