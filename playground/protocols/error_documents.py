"""Error documents: the JSON with which servers of any kind say that a request failed.

Agents send what their framework, gateway or SDK has: problem details (RFC 9457), and the errors of
FastAPI, Django REST framework, ASP.NET, NestJS, Spring, WordPress, OAuth (RFC 6749), JSON:API,
GraphQL and the APIs of model providers. One description for all protocols and bindings; total for
any JSON value.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, NamedTuple

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
#: Members of the envelope, and those that say nothing else than that something failed.
_ENVELOPE = frozenset(
    {"_meta", "jsonrpc", "message_type", "object", "ok", "query_id", "sequence_number", "success"}
)
#: Beginnings of types that are no codes: a URL names the documentation of a problem.
_NO_CODES = ("error", "text", "about:", "http:", "https:")
_ERROR_STATUSES = frozenset({"error", "failed", "failure", "fail"})
#: Most errors of a list, and steps of a path, in a message.
_MAX_REASONS, _MAX_STEPS = 5, 10


class ErrorDescription(NamedTuple):
    """The parts of an error, empty where it has none."""

    code: str = ""
    message: str = ""
    details: Any = None


def failure(seq: int, value: Any, raw: Any = None, *, pointer: str | None = None) -> Failure:
    """Return the failure of an error of any shape; `raw` is the object that had it."""
    return Failure(seq, *describe(value), value if raw is None else raw, pointer=pointer)


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
    if status < 400 and not (isinstance(value, Mapping) and _says_error(value)):
        return False
    return isinstance(value, Mapping | list | str) and any(describe(value)[:2])


def describe(value: Any) -> ErrorDescription:
    """Return the code, the text and the details of an error: an object, a list or a text."""
    if isinstance(value, Mapping):
        return _describe_object(value)
    return _describe_list(value) if isinstance(value, list) else ErrorDescription("", _text(value))


def combined(message: str, inner: str) -> str:
    """Return a message with that of the error in it, unless one includes the other."""
    if not inner or inner in message:
        return message
    return inner if message in inner else f"{message.rstrip('.:')}: {inner}"


def _describe_list(errors: list[Any]) -> ErrorDescription:
    found = [describe(each) for each in errors[:_MAX_REASONS] if isinstance(each, str | Mapping)]
    if not found:
        return ErrorDescription(message=json.dumps(errors[:_MAX_REASONS]) if errors else "")
    code = next((each.code for each in found if each.code), "")
    is_said = len(errors) == len(found) and all(isinstance(each, str) for each in errors)
    message = _sentences(each.message for each in found)
    return ErrorDescription(code, message, None if is_said else errors)


def _describe_fields(errors: Mapping[str, Any]) -> ErrorDescription:
    """Return the errors of the fields of a request, by their names."""
    found = ((name, describe(each).message) for name, each in errors.items())
    said = islice((f"{name}: {text}" for name, text in found if text), _MAX_REASONS)
    return ErrorDescription("", _sentences(said), errors)


def _describe_object(value: Mapping[str, Any]) -> ErrorDescription:
    members = {_plain(name): member for name, member in value.items()}
    texts = {name: _text(members.get(name)) for name in (*_CODES, *_MESSAGES)}
    text_name = next((name for name in _MESSAGES if texts[name]), "")
    # Beside the text of an error, the type is that of the envelope.
    names = [name for name in (*_CODES, "error") if name != "type" or not texts["error"]]
    code_name = next((n for n in names if n != text_name and _is_code(n, texts[n])), "")
    code, message = texts.get(code_name, ""), texts.get(text_name, "")
    inner_name = next((n for n in _NESTED if members.get(n) and not texts.get(n)), "")
    inner_value = members.get(inner_name)
    has_fields = inner_name == "errors" and isinstance(inner_value, Mapping)
    inner = _describe_fields(inner_value) if has_fields else describe(inner_value)  # type: ignore[arg-type]
    if inner_name == "error":
        code, message = inner.code or code, inner.message or message
    else:
        code, message = code or inner.code, combined(message, inner.message)
    if value and not code and not message and all(map(_are_texts, value.values())):
        return _describe_fields(value)  # Django REST framework.
    if isinstance(location := members.get("loc"), list):  # FastAPI: the place in the request.
        message = f"{'.'.join(str(step)[:80] for step in location[:_MAX_STEPS])}: {message}"
    used = {code_name, text_name, inner_name, "loc"}
    rest = {
        name: member
        for name, member in value.items()
        if _plain(name) not in used and name not in _ENVELOPE and member not in (None, "")
    }
    details = (each for each in (value.get("details"), inner.details) if each is not None)
    return ErrorDescription(code, message, next(details, rest or None))


def _says_error(value: Mapping[str, Any]) -> bool:
    """Return whether an object says of itself that it is an error. Items never do."""
    if "@type" in value:
        return False
    members = {_plain(name): member for name, member in value.items()}
    data, detail = members.get("data"), members.get("detail")
    statuses = [members.get(name) for name in ("status", "statuscode", "code")]
    statuses.append(data.get("status") if isinstance(data, Mapping) else None)
    return (
        any(not isinstance(each, int | float) or each is True
            for each in map(members.get, ("error", "errors")) if each)
        or any(members.get(name) is False for name in ("success", "ok"))
        or any(isinstance(each, str) and each in _ERROR_STATUSES
               for each in map(members.get, ("status", "type", "messagetype")))
        or any(type(status) is int and 400 <= status < 600 for status in statuses)
        or (isinstance(detail, list) and bool(detail)
            and all(isinstance(each, Mapping) and "loc" in each for each in detail))
    )  # fmt: skip


def _is_code(name: str, text: str) -> bool:
    is_token = " " not in text and not text.lower().startswith(_NO_CODES)
    return bool(text) and (name == "code" or is_token)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)


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
