"""Which call a reply belongs to: read from the CALL frame, so that old runs need nobody to ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols import json_decoder, jsonrpc
from playground.protocols.http import read_head
from playground.protocols.mcp.messages import SESSION_HEADER, VERSION_HEADER


@dataclass(frozen=True, slots=True)
class SentMessage:
    """A message of ours, as it went over the wire."""

    message: jsonrpc.JsonRpcMessage
    #: What its headers said, "" where they did not.
    session: str = ""
    version: str = ""

    @property
    def method(self) -> str:
        """The method; "" for a response."""
        return self.message.method

    @property
    def wants_answer(self) -> bool:
        """Whether it is a request: notifications and responses are only taken note of."""
        return self.message.kind is jsonrpc.MessageKind.REQUEST

    @property
    def params(self) -> Mapping[str, Any]:
        """The params, where they are an object."""
        params = self.message.params
        return params if isinstance(params, Mapping) else {}


def read_call(data: bytes) -> SentMessage:
    """The message in the data of a CALL frame; a request that says nothing for anything else."""
    head, _, body = data.partition(b"\r\n\r\n")
    headers = read_head(head)[1]
    try:
        payload = json_decoder.decode(body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        payload = None
    return SentMessage(
        jsonrpc.read(payload),
        headers.get(SESSION_HEADER.lower(), ""),
        headers.get(VERSION_HEADER.lower(), ""),
    )
