"""Versions of A2A as one table: all differences between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class A2AVersion:
    """One row: the names and members that differ from version to version."""

    name: str
    #: The methods that send a message, send one and stream the response, and read a task.
    send_method: str
    stream_method: str
    get_task_method: str
    #: The role of the client in a message.
    role: str
    #: Members that a message has besides those of every version.
    envelope: Mapping[str, Any]
    #: Headers that each call must have.
    headers: tuple[tuple[str, str], ...] = ()

    def text(self, text: str) -> dict[str, Any]:
        return {"kind": "text", "text": text} if self.envelope else {"text": text}

    def data(self, value: Any) -> dict[str, Any]:
        if self.envelope:
            # 0.3 allows objects only.
            value = value if isinstance(value, Mapping) else {"value": value}
            return {"kind": "data", "data": value}
        return {"data": value, "mediaType": "application/json"}


#: Lowest first.
VERSIONS: Mapping[str, A2AVersion] = MappingProxyType(
    {
        "0.3": A2AVersion(
            "0.3", "message/send", "message/stream", "tasks/get", "user", {"kind": "message"}
        ),
        "1.0": A2AVersion(
            "1.0",
            "SendMessage",
            "SendStreamingMessage",
            "GetTask",
            "ROLE_USER",
            {},
            # Without it the agent reads the call as 0.3.
            (("A2A-Version", "1.0"),),
        ),
    }
)

#: The methods of all versions that read a task.
GET_TASK_METHODS = frozenset(version.get_task_method for version in VERSIONS.values())


def get_version(text: Any) -> A2AVersion | None:
    """Return the row for a version as a card writes it (`0.3.0`, `1.0`), None without one.

    Versions with the same first number are treated as compatible.
    """
    if not isinstance(text, str):
        return None
    major = text.strip().partition(".")[0]
    return {"0": VERSIONS["0.3"], "1": VERSIONS["1.0"]}.get(major)
