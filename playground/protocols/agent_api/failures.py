"""Errors of the Agent API in every form (section "Error Model", and those that agents use)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.agent_api.parts import canonical
from playground.protocols.events import Failure

#: Most errors of a rejected request in the message; all of them are in the details.
_MAX_REASONS = 5


def of_error(seq: int, error: Any, raw: Any) -> Failure:
    """Return the failure of an `error` member: an object, or a bare string as its message."""
    if isinstance(error, Mapping):
        message = first_text(error, "message", "detail", "msg", "content")
        details = error.get("details", error.get("detail"))
        code = first_text(error, "code", "type")
        return Failure(seq, code, message, None if details == message else details, raw)
    return Failure(seq, "", error if isinstance(error, str) else canonical(error), raw=raw)


def of_detail(seq: int, detail: Any, raw: Any) -> Failure:
    """Return the failure of a 422 body of FastAPI: `detail`, a list of errors with locations."""
    if not isinstance(detail, list):
        return of_error(seq, detail, raw)
    reasons = [entry for entry in detail if isinstance(entry, Mapping)]
    code = first_text(reasons[0], "type") if reasons else ""
    message = " ".join(_reason(entry) for entry in reasons[:_MAX_REASONS])
    return Failure(seq, code, message or canonical(detail[:_MAX_REASONS]), detail, raw)


def of_message(seq: int, payload: Mapping[str, Any], text: str) -> Failure:
    """Return the failure of a message that is an error or has one (section "Message")."""
    text = first_text(payload, "message") or text
    return Failure(seq, first_text(payload, "code"), text, raw=payload)


def first_text(value: Mapping[str, Any], *names: str) -> str:
    """Return the first of these members that is a text or a number, as text, "" if none is."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return canonical(found)
    return ""


def _reason(entry: Mapping[str, Any]) -> str:
    location = entry.get("loc")
    steps = location[:10] if isinstance(location, list) else []
    path = ".".join(str(step)[:80] for step in steps)
    text = first_text(entry, "msg", "message")
    return f"{path}: {text}." if path else f"{text}."
