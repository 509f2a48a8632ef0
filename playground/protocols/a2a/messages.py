"""Messages to an A2A agent: JSON-RPC documents of each version, and the calls that carry them.

All differences between the versions are in one table: `VERSIONS`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.calls import HttpCall
from playground.protocols.http import USER_AGENT, encode, merge_headers


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


# --- messages ---------------------------------------------------------------------------------

#: The id of the first call of a run; those that read the task count from it.
FIRST_ID = 1


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A message to an agent, and the URL that the user agreed to send it to."""

    #: The URL that identifies the agent; its card is near it.
    agent_url: str
    #: The URL that the user has seen and agreed to.
    url: str
    #: One of A2A (of any version), a text, or any other JSON value, which is sent as data.
    message: Any
    message_id: str
    skill: str = ""
    #: Headers of the user, for the agreed URL only.
    headers: tuple[tuple[str, str], ...] = ()
    #: Continues a task: its `taskId` and `contextId` and, as `answer`, what replaces `message`.
    resume: Mapping[str, Any] | None = None


# --- calls ------------------------------------------------------------------------------------


def send_call(outgoing: OutgoingMessage, version: A2AVersion, *, streaming: bool) -> HttpCall:
    body = send_message(outgoing, version, streaming=streaming)
    return post_rpc(outgoing, version, body, streaming=streaming)


def post_rpc(
    outgoing: OutgoingMessage, version: A2AVersion, body: Any, *, streaming: bool = False
) -> HttpCall:
    """Return a JSON-RPC call to the agreed URL, in the version of the card."""
    accept = "text/event-stream, application/json" if streaming else "application/json"
    defaults = (
        ("Content-Type", "application/json"),
        ("Accept", accept),
        ("User-Agent", USER_AGENT),
        *version.headers,
    )
    return HttpCall(
        "POST", outgoing.url, merge_headers(defaults, outgoing.headers), encode(body), streaming
    )


# --- documents --------------------------------------------------------------------------------


def send_message(
    outgoing: OutgoingMessage, version: A2AVersion, *, streaming: bool = False
) -> dict[str, Any]:
    """Return the JSON-RPC request that sends a message.

    A2A has no member for the skill; the metadata of the request name it.
    """
    resume = outgoing.resume or {}
    own = resume.get("answer") if resume else outgoing.message
    envelope = {**version.envelope, "messageId": outgoing.message_id, "role": version.role}
    body = {**envelope, **_members(own), "role": version.role, "parts": list(_parts(version, own))}
    body.update((name, resume[name]) for name in ("taskId", "contextId") if resume.get(name))
    params: dict[str, Any] = {"message": body}
    if outgoing.skill:
        params["metadata"] = {"skill": outgoing.skill}
    return jsonrpc.request(
        FIRST_ID, version.stream_method if streaming else version.send_method, params
    )


def get_task(version: A2AVersion, task: str, number: int) -> dict[str, Any]:
    """Return the JSON-RPC request for the state of a task; `number` is its id."""
    return jsonrpc.request(number, version.get_task_method, {"id": task})


def _members(message: Any) -> dict[str, Any]:
    """Return the members of an A2A message besides its parts; nothing for any other value."""
    if not isinstance(message, Mapping) or not isinstance(message.get("parts"), list):
        return {}
    return {name: value for name, value in message.items() if name not in ("kind", "role", "parts")}


def _parts(version: A2AVersion, message: Any) -> Iterator[Any]:
    if isinstance(message, Mapping) and isinstance(message.get("parts"), list):
        for part in message["parts"]:
            yield _part(version, part)
    elif isinstance(message, str):
        yield version.text(message)
    elif isinstance(message, Mapping) and set(message) == {"text"}:
        yield _part(version, message)
    elif message is not None:
        yield version.data(message)


def _part(version: A2AVersion, part: Any) -> Any:
    """Return a part in the form of the version; neither text nor data is sent unchanged."""
    if isinstance(part, str):
        return version.text(part)
    if not isinstance(part, Mapping):
        return part
    metadata = {"metadata": part["metadata"]} if "metadata" in part else {}
    if isinstance(part.get("text"), str):
        return {**version.text(part["text"]), **metadata}
    if "data" in part:
        return {**version.data(part["data"]), **metadata}
    return part
