"""Error documents: the JSON with which servers of any kind say that a request failed.

Agents send what their framework, gateway or SDK has: problem details (RFC 9457), and the errors of
FastAPI, Django REST framework, ASP.NET, NestJS, Spring, WordPress, OAuth (RFC 6749), JSON:API,
GraphQL and the APIs of model providers. One description for all protocols and bindings; total for
any JSON value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.protocols import json_decoder
from playground.protocols.events import Failure

#: Names of events that hold an error.
EVENTS = frozenset({"error", "failure"})

#: Members by their meaning, the most specific first; compared in lower case, without underscores.
_CODES = ("code", "errorcode", "type")
_MESSAGES = ("message", "errormessage", "detail", "errordescription", "msg", "description",
             "reason", "content", "text", "error", "title")  # fmt: skip
#: Members that may hold another error, or a list of them.
_NESTED = ("error", "errors", "detail", "message", "content", "data")
#: Members that may repeat the HTTP status.
_STATUSES = ("status", "statuscode", "code")
#: Members of the envelope, and those that say nothing else than that something failed.
_ENVELOPE = frozenset(
    {"_meta", "jsonrpc", "message_type", "object", "ok", "query_id", "sequence_number", "success"}
)
#: Types that are no codes: they name the type of a problem by its documentation, or a text.
_NO_CODES = ("error", "text", "about:", "http:", "https:")

#: Most errors of a list and steps of a path in a message, and levels of nesting that are read.
_MAX_REASONS, _MAX_STEPS, _MAX_LEVELS = 5, 10, 6


@dataclass(frozen=True, slots=True)
class ErrorDescription:
    """The parts of an error, empty where it has none."""

    code: str = ""
    message: str = ""
    details: Any = None


def failure(seq: int, value: Any, raw: Any = None) -> Failure:
    """Return the failure of an error of any shape; `raw` is the object that had it."""
    found = describe(value)
    return Failure(seq, found.code, found.message, found.details, value if raw is None else raw)


def of_event(seq: int, name: str | None, data: str) -> Failure | None:
    """Return the failure of a stream message that is named as an error, None for any other."""
    if name not in EVENTS or not data.strip():
        return None
    try:
        return failure(seq, json_decoder.decode_event(data))
    except (ValueError, RecursionError):
        return failure(seq, data)


def is_error(value: Any, status: int = 0) -> bool:
    """Return whether JSON that is no response of its protocol is an error with a code or a text.

    With an HTTP error status, any object, list or string with one of them is. Without, only an
    object that says so.
    """
    if not isinstance(value, Mapping if status < 400 else Mapping | list | str):
        return False
    if status < 400 and not _says_error(value):
        return False
    found = describe(value)
    return bool(found.code or found.message)


def describe(value: Any, levels: int = _MAX_LEVELS) -> ErrorDescription:
    """Return the code, the text and the details of an error: an object, a list or a text."""
    if not isinstance(value, list | Mapping):
        return ErrorDescription(message=_text(value))
    if not levels:
        return ErrorDescription(details=value)
    return (_describe_list if isinstance(value, list) else _describe_object)(value, levels - 1)


def _describe_list(errors: Any, levels: int) -> ErrorDescription:
    known = [each for each in errors[:_MAX_REASONS] if isinstance(each, str | Mapping)]
    if not known:
        return ErrorDescription(message=json.dumps(errors[:_MAX_REASONS]) if errors else "")
    found = [describe(each, levels) for each in known]
    code = next((each.code for each in found if each.code), "")
    is_said = len(errors) == len(found) and all(isinstance(each, str) for each in errors)
    return ErrorDescription(
        code, _sentences(each.message for each in found), None if is_said else errors
    )


def _describe_object(value: Any, levels: int) -> ErrorDescription:
    members = {_plain(name): member for name, member in value.items()}
    texts = {name: _text(members.get(name)) for name in (*_CODES, *_MESSAGES)}
    text_name = next((name for name in _MESSAGES if texts[name]), "")
    code_name = next((name for name in (*_CODES, "error") if _is_code(name, text_name, texts)), "")
    code, message = texts.get(code_name, ""), texts.get(text_name, "")
    inner_name = next(
        (name for name in _NESTED if members.get(name) and not texts.get(name, "")), ""
    )
    inner = _describe_member(inner_name, members.get(inner_name), levels)
    if inner_name == "error":
        code, message = inner.code or code, inner.message or message
    else:
        code, message = code or inner.code, combined(message, inner.message)
    if not code and not message and _is_map_of_texts(value):
        return _describe_member("errors", value, levels)
    if isinstance(location := members.get("loc"), list):
        # FastAPI: the place in the request.
        path = ".".join(str(step)[:80] for step in location[:_MAX_STEPS])
        message = f"{path}: {message}" if path else message
    used = {code_name, text_name, inner_name, "loc"}
    rest = {
        name: member
        for name, member in value.items()
        if _plain(name) not in used and name not in _ENVELOPE and member not in (None, "")
    }
    details = next((each for each in (value.get("details"), inner.details) if each is not None),
                   rest or None)  # fmt: skip
    return ErrorDescription(code, message, details)


def _describe_member(name: str, value: Any, levels: int) -> ErrorDescription:
    """Return the error in a member; `errors` may hold those of each field by its name."""
    if name != "errors" or not isinstance(value, Mapping) or not levels:
        return describe(value, levels)
    found = [(str(field), describe(value[field], levels - 1)) for field in [*value][:_MAX_REASONS]]
    said = (f"{field}: {each.message}" for field, each in found if each.message)
    return ErrorDescription("", _sentences(said), value)


def _says_error(value: Mapping[str, Any]) -> bool:
    """Return whether an object says of itself that it is an error."""
    if "@type" in value:
        return False
    members = {_plain(name): member for name, member in value.items()}
    data, detail = members.get("data"), members.get("detail")
    statuses = [members.get(name) for name in _STATUSES]
    statuses += [data.get("status")] if isinstance(data, Mapping) else []
    return (
        any(isinstance(members.get(n), str | list | Mapping | bool) and members[n]
            for n in ("error", "errors"))
        or any(members.get(name) is False for name in ("success", "ok"))
        or any(members.get(name) in ("error", "failed", "failure", "fail")
               for name in ("status", "type", "messagetype"))
        or any(type(status) is int and 400 <= status < 600 for status in statuses)
        or (isinstance(detail, list) and bool(detail)
            and all(isinstance(each, Mapping) and "loc" in each for each in detail))
    )  # fmt: skip


def _is_code(name: str, text_name: str, texts: Mapping[str, str]) -> bool:
    text = texts[name]
    if not text or name == text_name:
        return False
    return name == "code" or (" " not in text and not text.lower().startswith(_NO_CODES))


def _is_map_of_texts(value: Mapping[str, Any]) -> bool:
    """Return whether every member is a list of texts (Django REST framework)."""
    return bool(value) and all(
        isinstance(each, list) and each and all(isinstance(text, str) for text in each)
        for each in value.values()
    )


def combined(message: str, inner: str) -> str:
    """Return a message with that of the error in it, unless one includes the other."""
    if not inner or inner in message:
        return message
    return inner if message in inner else f"{message.rstrip('.:')}: {inner}"


def _sentences(messages: Iterable[str]) -> str:
    found = [each for each in messages if each]
    ended = (each if each.endswith((".", "!", "?")) else f"{each}." for each in found)
    return " ".join(ended) if len(found) > 1 else "".join(found)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _text(value: Any) -> str:
    """Return a text, or a number as one; "" for anything else."""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""
