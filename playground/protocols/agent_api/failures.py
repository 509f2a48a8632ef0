"""Errors in every form that agents give them (section "Error Model", and what is in use)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from playground.protocols.agent_api.parts import canonical
from playground.protocols.events import Failure

#: Reasons of a refused request that are put into words; all of them stay in the details.
_MAX_REASONS = 5


def of_error(seq: int, error: Any, raw: Any) -> Failure:
    """An `error` member: an object with code and message, or a bare string."""
    if isinstance(error, Mapping):
        message = first_text(error, "message", "detail", "msg", "content")
        details = error.get("details", error.get("detail"))
        code = first_text(error, "code", "type")
        return Failure(seq, code, message, None if details == message else details, raw)
    return Failure(seq, "", error if isinstance(error, str) else canonical(error), raw=raw)


def of_detail(seq: int, detail: Any, raw: Any) -> Failure:
    """The body of a 422 as FastAPI writes it: `detail`, a list of what is wrong and where."""
    if not isinstance(detail, list):
        return of_error(seq, detail, raw)
    reasons = [entry for entry in detail if isinstance(entry, Mapping)]
    code = first_text(reasons[0], "type") if reasons else ""
    message = " ".join(_reason(entry) for entry in reasons[:_MAX_REASONS])
    return Failure(seq, code, message or canonical(detail[:_MAX_REASONS]), detail, raw)


def of_message(seq: int, payload: Mapping[str, Any], text: str) -> Failure:
    """A message that is an error, or carries one: `code` and `message` (section "Message")."""
    said = first_text(payload, "message") or text
    return Failure(seq, first_text(payload, "code"), said, raw=payload)


def first_text(value: Mapping[str, Any], *names: str) -> str:
    """The first of these members that is a text or a number, as text; "" for none."""
    for name in names:
        found = value.get(name)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, int) and not isinstance(found, bool):
            return canonical(found)
    return ""


def _reason(entry: Mapping[str, Any]) -> str:
    where = entry.get("loc")
    path = ".".join(str(step)[:80] for step in where[:10]) if isinstance(where, list) else ""
    said = first_text(entry, "msg", "message")
    return f"{path}: {said}." if path else f"{said}."
