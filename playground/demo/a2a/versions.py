"""Versions of A2A, 0.3 and 1.0: names of methods and states, and the form of objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.demo.a2a.tasks import Part, Task, TaskMessage
from playground.demo.jsonrpc import INVALID_PARAMS, RpcError
from playground.demo.responses import Document

TASK_NOT_FOUND = -32001
NOT_CANCELABLE = -32002
NO_PUSH = -32003
UNSUPPORTED = -32004
CONTENT_TYPE = -32005
VERSION_NOT_SUPPORTED = -32009
#: The reasons of errors in 1.0.
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
    """A received message."""

    parts: TaskMessage
    task: str
    context: str
    #: The named skill; "" for none.
    skill: str
    #: True if the response is sent when the task has ended.
    is_blocking: bool


@dataclass(frozen=True, slots=True)
class ServedVersion:
    """A version of A2A, with a reader and a writer of its objects."""

    is_v1: bool
    #: Operations by method: send, stream, get, cancel, push or other.
    methods: Mapping[str, str]

    def read(self, params: Mapping[str, Any]) -> Incoming:
        """Read the message in the params of a call. Raise `RpcError`."""
        message = params.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("messageId"), str):
            raise RpcError(INVALID_PARAMS, "params.message must be a message with a messageId.")
        found = message.get("parts")
        parts = [p for each in found if (p := _part(each))] if isinstance(found, list) else []
        if not parts:
            raise RpcError(CONTENT_TYPE, "The message must have at least one text or data part.")
        received = TaskMessage("user", parts, message["messageId"])
        options = params.get("configuration")
        options = options if isinstance(options, dict) else {}
        is_blocking = (
            options.get("blocking") is not False and options.get("returnImmediately") is not True
        )
        skill = _skill(message.get("metadata")) or _skill(params.get("metadata"))
        task, context = (_text(message.get(name)) for name in ("taskId", "contextId"))
        return Incoming(received, task, context, skill, is_blocking)

    def sent(self, value: DirectAnswer | Task) -> Document:
        if isinstance(value, DirectAnswer):
            message = self.message(value.parts, value.context)
            return {"message": message} if self.is_v1 else message
        return {"task": self.task(value)} if self.is_v1 else self.task(value)

    def task(self, task: Task) -> Document:
        """Return a task with its history and artifacts."""
        document: Document = {
            "id": task.id,
            "contextId": task.context,
            "status": self.status(task),
            "history": [self.message(each, task.context, task.id) for each in task.history],
        }
        if task.artifacts:
            document["artifacts"] = [self.artifact(*artifact) for artifact in task.artifacts]
        return document if self.is_v1 else {"kind": "task", **document}

    def status(self, task: Task) -> Document:
        state = task.state
        if self.is_v1:
            state = f"TASK_STATE_{state.replace('-', '_').upper()}"
        document: Document = {"state": state, "timestamp": task.timestamp}
        if task.message:
            message = TaskMessage("agent", [{"text": task.message}])
            document["message"] = self.message(message, task.context, task.id)
        return document

    def moved(self, task: Task) -> Document:
        ids = {"taskId": task.id, "contextId": task.context}
        if self.is_v1:
            return {"statusUpdate": {**ids, "status": self.status(task)}}
        final = task.state not in ("submitted", "working")
        return {"kind": "status-update", **ids, "status": self.status(task), "final": final}

    def artifact_update(
        self, task: Task, artifact: Document, *, first: bool, last: bool
    ) -> Document:
        ids = {"taskId": task.id, "contextId": task.context}
        update = {**ids, "artifact": artifact, "append": not first, "lastChunk": last}
        return {"artifactUpdate": update} if self.is_v1 else {"kind": "artifact-update", **update}

    def artifact(self, artifact_id: str, name: str, parts: Any) -> Document:
        return {"artifactId": artifact_id, "name": name, "parts": [self._part(p) for p in parts]}

    def message(self, message: TaskMessage, context: str, task: str = "") -> Document:
        role = f"ROLE_{message.role.upper()}" if self.is_v1 else message.role
        parts = [self._part(part) for part in message.parts]
        document = {"messageId": message.id, "role": role, "parts": parts, "contextId": context}
        if task:
            document["taskId"] = task
        return document if self.is_v1 else {"kind": "message", **document}

    def _part(self, part: Part) -> Document:
        if "data" in part:
            more = {"mediaType": "application/json"} if self.is_v1 else {"kind": "data"}
            return {**more, "data": part["data"]}
        return {"text": part["text"]} if self.is_v1 else {"kind": "text", "text": part["text"]}

    def error(self, failed: RpcError) -> RpcError:
        """Return an error with the details of this version."""
        reason = _REASONS.get(failed.code)
        if not self.is_v1 or reason is None:
            return failed
        kind = "type.googleapis.com/google.rpc.ErrorInfo"
        details = [{"@type": kind, "reason": reason, "domain": "a2a-protocol.org"}]
        return RpcError(failed.code, failed.message, details)


@dataclass(frozen=True, slots=True)
class DirectAnswer:
    """An answer without a task."""

    parts: TaskMessage
    context: str


V0_3 = ServedVersion(
    is_v1=False,
    methods={
        "message/send": "send", "message/stream": "stream", "tasks/get": "get",
        "tasks/cancel": "cancel", "tasks/resubscribe": "other",
        "tasks/pushNotificationConfig/set": "push", "tasks/pushNotificationConfig/get": "push",
        "tasks/pushNotificationConfig/list": "push", "tasks/pushNotificationConfig/delete": "push",
        "agent/getAuthenticatedExtendedCard": "other",
    },
)  # fmt: skip
V1_0 = ServedVersion(
    is_v1=True,
    methods={
        "SendMessage": "send", "SendStreamingMessage": "stream", "GetTask": "get",
        "CancelTask": "cancel", "ListTasks": "other", "SubscribeToTask": "other",
        "CreateTaskPushNotificationConfig": "push", "GetTaskPushNotificationConfig": "push",
        "ListTaskPushNotificationConfigs": "push", "DeleteTaskPushNotificationConfig": "push",
        "GetExtendedAgentCard": "other",
    },
)  # fmt: skip


def served_version(version: str | None) -> ServedVersion:
    """Return the version of an `A2A-Version` header. Raise `RpcError` -32009 for an unknown one."""
    # No header means 0.3, which has none.
    requested = ".".join((version or "0.3").strip().split(".")[:2])
    if requested not in ("0.3", "1.0"):
        raise RpcError(
            VERSION_NOT_SUPPORTED, f"A2A {requested[:20]} is not supported; use 0.3 or 1.0."
        )
    return V1_0 if requested == "1.0" else V0_3


def _part(part: Any) -> Part | None:
    """Return a part of either version as text or data; None for any other part."""
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


def message_text(message: TaskMessage) -> str:
    """Return the text of a message, with data as JSON."""
    texts = [str(p["text"]) if "text" in p else json.dumps(p["data"]) for p in message.parts]
    return "\n".join(texts).strip()
