"""What is sent to an A2A agent: messages in the words of the version that it speaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from playground.protocols import jsonrpc
from playground.protocols.a2a.versions import A2AVersion

#: The id of the first call of a run; those that look after the task count on from it.
FIRST_ID = 1


def send_message(
    version: A2AVersion,
    message: Any,
    *,
    skill: str = "",
    message_id: str,
    streaming: bool = False,
    resume: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The call that sends a message, as a JSON-RPC document.

    `message` is one of A2A (of any version), a text, or any other JSON value, which then goes
    as data. A2A has no member for the skill that is meant; it is named in the metadata of the
    request. `resume` continues a task: its `taskId` and `contextId` and, as `answer`, what
    goes instead of `message`.
    """
    resume = resume or {}
    own = resume.get("answer") if resume else message
    envelope = {**version.envelope, "messageId": message_id, "role": version.role}
    body = {**envelope, **_members(own), "role": version.role, "parts": list(_parts(version, own))}
    body.update((name, resume[name]) for name in ("taskId", "contextId") if resume.get(name))
    params: dict[str, Any] = {"message": body}
    if skill:
        params["metadata"] = {"skill": skill}
    return jsonrpc.request(
        FIRST_ID, version.stream_method if streaming else version.send_method, params
    )


def get_task(version: A2AVersion, task: str, number: int) -> dict[str, Any]:
    """The call that asks after a task; `number` is its id."""
    return jsonrpc.request(number, version.get_task_method, {"id": task})


def _members(message: Any) -> dict[str, Any]:
    """What a message of A2A has besides its parts, and nothing of what is none."""
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
    """A part in the words of the version; what is neither text nor data goes as it is."""
    if isinstance(part, str):
        return version.text(part)
    if not isinstance(part, Mapping):
        return part
    if isinstance(part.get("text"), str):
        return {**version.text(part["text"]), **_metadata(part)}
    if "data" in part:
        return {**version.data(part["data"]), **_metadata(part)}
    return part


def _metadata(part: Mapping[str, Any]) -> dict[str, Any]:
    return {"metadata": part["metadata"]} if "metadata" in part else {}
