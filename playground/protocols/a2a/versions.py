"""The versions of A2A that are spoken, as one table: all that differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class A2AVersion:
    """One row: how a version names what the others name differently."""

    name: str
    #: The methods that send a message, send one and stream the reply, and ask after a task.
    send_method: str
    stream_method: str
    get_task_method: str
    #: What the user's side is called.
    role: str
    #: Members that a message has besides those of every version.
    envelope: Mapping[str, Any]
    #: Headers that a call must have.
    headers: tuple[tuple[str, str], ...] = ()

    def text(self, text: str) -> dict[str, Any]:
        """A part that is a text."""
        return {"kind": "text", "text": text} if self.envelope else {"text": text}

    def data(self, value: Any) -> dict[str, Any]:
        """A part that is a JSON value."""
        if self.envelope:
            # 0.3 has objects only.
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
            # Without it the agent takes the call for one of 0.3.
            (("A2A-Version", "1.0"),),
        ),
    }
)

#: Every method that asks after a task.
GET_TASK_METHODS = frozenset(version.get_task_method for version in VERSIONS.values())


def get_version(text: Any) -> A2AVersion | None:
    """The row that speaks a version as a card writes it (`0.3.0`, `1.0`), None for no row.

    Versions with the same first number are taken to understand each other.
    """
    if not isinstance(text, str):
        return None
    major = text.strip().partition(".")[0]
    return {"0": VERSIONS["0.3"], "1": VERSIONS["1.0"]}.get(major)
