"""What comes of a call of a tool, step by step, whatever generation of MCP carries it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from playground.demo.responses import Document

#: Severities of log messages, least first.
LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, and what its caller can take besides a result."""

    request: HttpRequest
    tool: str
    arguments: Mapping[str, Any]
    #: Multiplies every deliberate delay; 0 means none.
    pace: float = 1.0
    #: What progress is reported under; None for no reports.
    token: str | int | None = None
    #: The least severity that is logged to the caller; "" for no log.
    level: str = ""
    #: Whether the caller's user can be asked through MCP.
    can_ask: bool = False
    #: Whether a question may be answered with a list (since 2025-11-25).
    lists: bool = True
    #: The reply to the question of this call: `{"action": …, "content": …}`.
    answer: Mapping[str, Any] | None = None

    def logs(self, level: str) -> bool:
        """Whether messages of a severity are wanted."""
        return self.level in LEVELS and LEVELS.index(level) >= LEVELS.index(self.level)


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification that goes before the result."""

    method: str
    params: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ElicitationRequest:
    """MCP's own elicitation: the call goes on when its user has answered."""

    message: str
    schema: Mapping[str, Any]

    @property
    def params(self) -> Document:
        """The params of `elicitation/create`."""
        return {
            "mode": "form",
            "message": self.message,
            "requestedSchema": dict(self.schema),
        }


@dataclass(frozen=True, slots=True)
class Done:
    """The result of the call."""

    result: Document


Step = Notification | ElicitationRequest | Done


def text_result(text: str, *, failed: bool = False) -> Done:
    """A result in words."""
    return Done({"content": [{"type": "text", "text": text}], "isError": failed})
