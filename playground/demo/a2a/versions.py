"""The two versions of A2A: what methods, states and objects are called in each."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.demo.a2a.tasks import Part, Task, TaskMessage
from playground.demo.responses import Document
from playground.demo.rpc import INVALID_PARAMS, RpcError

TASK_NOT_FOUND = -32001
NOT_CANCELABLE = -32002
NO_PUSH = -32003
UNSUPPORTED = -32004
CONTENT_TYPE = -32005
VERSION_NOT_SUPPORTED = -32009
#: What 1.0 calls the reasons of its errors.
_REASONS = {
    TASK_NOT_FOUND: "TASK_NOT_FOUND",
    NOT_CANCELABLE: "TASK_NOT_CANCELABLE",
    NO_PUSH: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    UNSUPPORTED: "UNSUPPORTED_OPERATION",
    CONTENT_TYPE: "CONTENT_TYPE_NOT_SUPPORTED",
    VERSION_NOT_SUPPORTED: "VERSION_NOT_SUPPORTED",
}
_SKILL_NAMES = ("skill", "skillId", "skill_id")


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message as it came in."""

    parts: TaskMessage
    task: str
    context: str
    #: The skill that it names; "" for none.
    skill: str
    #: Whether its sender wants to wait for the end of what it starts.
    is_blocking: bool


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """One version of A2A."""

    newer: bool
    #: What methods do: send, stream, get, cancel, push or other.
    methods: Mapping[str, str]

    def read(self, params: Mapping[str, Any]) -> Incoming:
        """The message in the params of a call that sends one. Raises `RpcError`."""
        message = params.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("messageId"), str):
            raise RpcError(INVALID_PARAMS, "params.message must be a message with a messageId.")
        found = message.get("parts")
        parts = [p for each in found if (p := _part(each))] if isinstance(found, list) else []
        if not parts:
            raise RpcError(CONTENT_TYPE, "A message has a part of text or data here.")
        told = TaskMessage("user", parts, message["messageId"])
        options = params.get("configuration")
        options = options if isinstance(options, dict) else {}
        waits = (
            options.get("blocking") is not False and options.get("returnImmediately") is not True
        )
        skill = _skill(message.get("metadata")) or _skill(params.get("metadata"))
        task, context = (_text(message.get(name)) for name in ("taskId", "contextId"))
        return Incoming(told, task, context, skill, waits)

    def sent(self, value: DirectAnswer | Task) -> Document:
        """The result of a call that sends a message."""
        if isinstance(value, DirectAnswer):
            written = self.message(value.parts, value.context)
            return {"message": written} if self.newer else written
        return {"task": self.task(value)} if self.newer else self.task(value)

    def task(self, task: Task) -> Document:
        """A task, with its history and what has been made."""
        document: Document = {
            "id": task.id,
            "contextId": task.context,
            "status": self.status(task),
            "history": [self.message(told, task.context, task.id) for told in task.history],
        }
        if task.artifacts:
            document["artifacts"] = [self.artifact(*made) for made in task.artifacts]
        return document if self.newer else {"kind": "task", **document}

    def status(self, task: Task) -> Document:
        """The state of a task, and what the agent says of it."""
        state = task.state
        if self.newer:
            state = f"TASK_STATE_{state.replace('-', '_').upper()}"
        document: Document = {"state": state, "timestamp": task.timestamp}
        if task.message:
            told = TaskMessage("agent", [{"text": task.message}])
            document["message"] = self.message(told, task.context, task.id)
        return document

    def moved(self, task: Task) -> Document:
        """An event: the task has got into another state."""
        ids = {"taskId": task.id, "contextId": task.context}
        if self.newer:
            return {"statusUpdate": {**ids, "status": self.status(task)}}
        final = task.state not in ("submitted", "working")
        return {"kind": "status-update", **ids, "status": self.status(task), "final": final}

    def artifact_update(self, task: Task, made: Document, *, first: bool, last: bool) -> Document:
        """An event: a piece of an artifact."""
        ids = {"taskId": task.id, "contextId": task.context}
        update = {**ids, "artifact": made, "append": not first, "lastChunk": last}
        return {"artifactUpdate": update} if self.newer else {"kind": "artifact-update", **update}

    def artifact(self, artifact: str, name: str, parts: Any) -> Document:
        """An artifact, or a piece of it."""
        return {"artifactId": artifact, "name": name, "parts": [self._part(p) for p in parts]}

    def message(self, told: TaskMessage, context: str, task: str = "") -> Document:
        """A message."""
        role = f"ROLE_{told.role.upper()}" if self.newer else told.role
        parts = [self._part(part) for part in told.parts]
        document = {"messageId": told.id, "role": role, "parts": parts, "contextId": context}
        if task:
            document["taskId"] = task
        return document if self.newer else {"kind": "message", **document}

    def _part(self, part: Part) -> Document:
        if "data" in part:
            more = {"mediaType": "application/json"} if self.newer else {"kind": "data"}
            return {**more, "data": part["data"]}
        return {"text": part["text"]} if self.newer else {"kind": "text", "text": part["text"]}

    def error(self, failed: RpcError) -> RpcError:
        """An error with the details that this version gives of it."""
        reason = _REASONS.get(failed.code)
        if not self.newer or reason is None:
            return failed
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        details = [{"@type": kind, "reason": reason, "domain": "a2a-protocol.org"}]
        return RpcError(failed.code, failed.message, details)


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """An answer that takes no task."""

    parts: TaskMessage
    context: str


OLDER = ServedVersion(
    newer=False,
    methods={
        "message/send": "send", "message/stream": "stream", "tasks/get": "get",
        "tasks/cancel": "cancel", "tasks/resubscribe": "other",
        "tasks/pushNotificationConfig/set": "push", "tasks/pushNotificationConfig/get": "push",
        "tasks/pushNotificationConfig/list": "push", "tasks/pushNotificationConfig/delete": "push",
        "agent/getAuthenticatedExtendedCard": "other",
    },
)  # fmt: skip
NEWER = ServedVersion(
    newer=True,
    methods={
        "SendMessage": "send", "SendStreamingMessage": "stream", "GetTask": "get",
        "CancelTask": "cancel", "ListTasks": "other", "SubscribeToTask": "other",
        "CreateTaskPushNotificationConfig": "push", "GetTaskPushNotificationConfig": "push",
        "ListTaskPushNotificationConfigs": "push", "DeleteTaskPushNotificationConfig": "push",
        "GetExtendedAgentCard": "other",
    },
)  # fmt: skip


def dialect(version: str | None) -> ServedVersion:
    """The dialect of an `A2A-Version` header. Raises `RpcError` -32009 for an unknown one."""
    # No header means 0.3, which did not have it.
    wanted = ".".join((version or "0.3").strip().split(".")[:2])
    if wanted not in ("0.3", "1.0"):
        raise RpcError(VERSION_NOT_SUPPORTED, f"A2A {wanted[:20]} is not spoken; 0.3 and 1.0 are.")
    return NEWER if wanted == "1.0" else OLDER


def _part(part: Any) -> Part | None:
    """A part in either version as text or data; None for what this agent cannot read."""
    if not isinstance(part, dict):
        return None
    if isinstance(text := part.get("text"), str):
        return {"text": text}
    return {"data": part["data"]} if isinstance(part.get("data"), dict | list) else None


def _skill(metadata: Any) -> str:
    found = metadata if isinstance(metadata, dict) else {}
    return next((s for name in _SKILL_NAMES if isinstance(s := found.get(name), str)), "")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def message_text(told: TaskMessage) -> str:
    """What a message says, data as JSON."""
    texts = [str(p["text"]) if "text" in p else json.dumps(p["data"]) for p in told.parts]
    return "\n".join(texts).strip()
