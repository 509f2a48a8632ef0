"""Requests that a server makes while it answers: of the user, or of its client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.events import Event, Note, Unknown
from playground.protocols.jsonrpc import JsonRpcMessage
from playground.protocols.mcp import elicitation
from playground.protocols.rpc_codes import METHOD_NOT_FOUND

#: Requests of one run that are taken in; a server may send them without end.
MAX_REQUESTS = 50

PING = "ping"


class ServerRequests:
    """What a server has asked for in mid-call."""

    def __init__(self) -> None:
        #: Whether it has asked the user.
        self.has_elicited = False
        self._taken = 0
        self._due: list[Mapping[str, Any]] = []

    def read(
        self, seq: int, message: JsonRpcMessage, session: str, version: str
    ) -> Sequence[Event]:
        """A request, received in the session and the version of the call that it came with."""
        self._taken += 1
        if self._taken > MAX_REQUESTS:
            reason = f"Only the first {MAX_REQUESTS} requests of a server are taken in."
            return [Unknown(seq, message.method, message.raw, reason)]
        if message.method == elicitation.CREATE:
            self.has_elicited = True
            return [
                elicitation.elicitation_request(seq, message.id, message.params, session, version)
            ]
        answer = _answer(message)
        where = {"id": message.id, "session": session, "version": version}
        self._due.append({"kind": elicitation.RESPONSE, **where, **answer})
        if "result" in answer:
            return [Note(seq, f"mcp {message.method}", message.params)]
        reason = (
            "The server wants this of its client. The playground does not offer it, and says so."
        )
        return [Unknown(seq, message.method, message.params, reason)]

    def take_responses(self) -> Sequence[Mapping[str, Any]]:
        """The answers that need no user, each once."""
        due, self._due = self._due, []
        return due


def _answer(message: JsonRpcMessage) -> Mapping[str, Any]:
    if message.method == PING:
        return {"result": {}}
    if message.method == elicitation.ROOTS:
        return {"result": {"roots": []}}
    error = jsonrpc.error_response(None, METHOD_NOT_FOUND, "The client does not offer this.")
    return {"error": error["error"]}
