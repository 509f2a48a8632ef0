"""The parts of a Postman item: its address, headers, body, scripts, and how it authenticates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from playground.library.checking import MAX_ADDRESS
from playground.library.postman import BUILT_IN
from playground.protocols.headers import is_token
from playground.variables.names import PLACEHOLDER

#: What Postman calls a new random UUID, beside `$guid`.
_UUIDS = {"$randomUUID": "$uuid"}
_OURS = {theirs: own for own, theirs in BUILT_IN.items()} | _UUIDS
_TICKS = re.compile("`{3,}")
_SCRIPTS = {"prerequest": "Script before the request", "test": "Tests after the reply"}


class PartError(ValueError):
    """A part that no request of the playground can have; says why."""


def text_of(value: Any) -> str:
    """A description: text, or an object that holds it."""
    if isinstance(value, Mapping):
        value = value.get("content")
    return value if isinstance(value, str) else ""


def convert_variables(text: str) -> str:
    """A text with built-in variables as they are called here."""
    return PLACEHOLDER.sub(_own_name, text)


def _own_name(found: re.Match[str]) -> str:
    own = _OURS.get(found[1])
    return f"{{{{{own}}}}}" if own else found[0]


def address(url: Any) -> str:
    """The address of a request. Raises `PartError` where there is none."""
    found = _written(url) if isinstance(url, Mapping) else url
    if not isinstance(found, str) or not found.strip():
        raise PartError("It has no address.")
    found = _bounded(found.strip())
    return convert_variables(
        found if "://" in found or found.startswith("{{") else f"http://{found}"
    )


def _written(url: Mapping[str, Any]) -> str:
    """An address that is given in parts, with its path variables: segments with a colon before."""
    raw = url.get("raw")
    found = raw if isinstance(raw, str) and raw else _joined(url)
    for row in _rows(url.get("variable")):
        name, value = row.get("key"), row.get("value")
        if isinstance(name, str) and isinstance(value, str) and name:
            # At every step: values that name one another in turn would multiply.
            found, value = _bounded(found), _bounded(value)
            found = re.sub(rf"/:{re.escape(name)}(?=[/?#]|$)", f"/{_literal(value)}", found)
    return found


def _bounded(address: str) -> str:
    """An address, or a part of one, that is not too long. Raises `PartError` for one that is."""
    if len(address) > MAX_ADDRESS:
        raise PartError(f"Its address has more than {MAX_ADDRESS:,} characters.")
    return address


def _literal(text: str) -> str:
    """A text that takes the place of a match as it is."""
    return text.replace("\\", r"\\")


def _joined(url: Mapping[str, Any]) -> str:
    host, path = _dotted(url.get("host"), "."), _dotted(url.get("path"), "/")
    if not host:
        return ""
    query = "&".join(
        f"{row.get('key') or ''}={row.get('value') or ''}" for row in _rows(url.get("query"))
    )
    scheme = url.get("protocol") if isinstance(url.get("protocol"), str) else "http"
    if isinstance(url.get("port"), str) and url["port"]:
        host = f"{host}:{url['port']}"
    start = host if host.startswith("{{") else f"{scheme}://{host}"
    return start + (f"/{path.lstrip('/')}" if path else "") + (f"?{query}" if query else "")


def _dotted(value: Any, sign: str) -> str:
    if isinstance(value, list):
        parts = (part.get("value") if isinstance(part, Mapping) else part for part in value)
        return sign.join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else ""


def headers(value: Any) -> list[tuple[str, str]]:
    """The headers that are switched on."""
    if isinstance(value, str):
        lines = (line.partition(":") for line in value.splitlines())
        return [(name.strip(), text.strip()) for name, _, text in lines if name.strip()]
    found = ((row.get("key"), row.get("value", "")) for row in _rows(value))
    return [
        (k, convert_variables(v))
        for k, v in found
        if isinstance(k, str) and isinstance(v, str) and k
    ]


def body(value: Any) -> tuple[str | None, str]:
    """The body and its media type. Raises `PartError` for one that no agent expects."""
    if not isinstance(value, Mapping) or value.get("disabled") is True:
        return None, ""
    mode = value.get("mode")
    if mode == "raw":
        raw = value.get("raw")
        return (
            convert_variables(raw) if isinstance(raw, str) and raw.strip() else None
        ), "application/json"
    if mode in ("urlencoded", "formdata"):
        rows = _rows(value.get(mode))
        if any(row.get("type") == "file" for row in rows):
            raise PartError("Its body is a form with a file, and no file is read here.")
        if mode == "formdata":
            raise PartError("Its body is a form of several parts, which no agent expects.")
        pairs = ((row.get("key"), row.get("value")) for row in rows)
        found = "&".join(f"{_encoded(k)}={_encoded(v)}" for k, v in pairs if isinstance(k, str))
        return found or None, "application/x-www-form-urlencoded"
    if mode in (None, "none"):
        return None, ""
    shown = mode[:20] if isinstance(mode, str) else "something else"
    raise PartError(f"Its body is {shown}, which no agent expects.")


def _encoded(value: Any) -> str:
    return quote(convert_variables(value), safe="{}$") if isinstance(value, str) else ""


def _rows(value: Any) -> list[Mapping[str, Any]]:
    """The rows of a list that are switched on."""
    rows = value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, Mapping) and row.get("disabled") is not True]


def auth(value: Any) -> tuple[dict[str, str], str]:
    """How a request authenticates, with names for secrets, and what has to be known of it.

    Values are left out. {} for what the playground has no way for.
    """
    kind = value.get("type") if isinstance(value, Mapping) else None
    given = _settings(value.get(kind)) if isinstance(kind, str) else {}
    match kind:
        case "noauth":
            return {"type": "none"}, ""
        case "bearer":
            name, said = _secret(given.get("token"), "token")
            return {"type": "bearer", "secret": name}, said
        case "basic":
            name, said = _secret(given.get("password"), "password")
            return {"type": "basic", "user": given.get("username", "")[:200], "secret": name}, said
        case "apikey" if given.get("in", "header") == "header":
            name, said = _secret(given.get("value"), "api-key")
            header = given.get("key") or "X-API-Key"
            if not is_token(header):
                return {}, f"“{header[:40]}” is no header: choose another way to authenticate."
            return {"type": "api_key", "header": header, "secret": name}, said
    if kind is None:
        return {}, ""
    way = "a key in the address" if kind == "apikey" else f"“{str(kind)[:30]}”"
    return {}, f"It authenticates by {way}, which the playground does not do: choose another way."


def _settings(value: Any) -> dict[str, str]:
    """The settings of a way to authenticate: a list of rows (2.1) or an object (2.0)."""
    if isinstance(value, Mapping):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    found = {str(row.get("key")): row.get("value") for row in _rows(value)}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _secret(value: str | None, otherwise: str) -> tuple[str, str]:
    """The name of the secret, and a remark where a value was left out."""
    found = PLACEHOLDER.fullmatch((value or "").strip())
    if found and not found[1].startswith("$"):
        return found[1], ""
    if not value:
        return otherwise, f"It authenticates with the secret “{otherwise}”, which has no value yet."
    return otherwise, (
        f"A credential was left out: keep it as the secret “{otherwise}” of an environment."
    )


def scripts(owner: Mapping[str, Any]) -> Iterator[str]:
    """The scripts of an item, a folder or a collection as notes: they are never run."""
    for event in _rows(owner.get("event")):
        script = event.get("script")
        lines = script.get("exec") if isinstance(script, Mapping) else script
        lines = lines if isinstance(lines, list) else [lines]
        text = "\n".join(line for line in lines if isinstance(line, str)).strip()
        if text:
            longest = max(map(len, _TICKS.findall(text)), default=2)
            fence = "`" * max(3, longest + 1)
            title = _SCRIPTS.get(str(event.get("listen")), "Script")
            yield f"{title} (kept as a note, never run):\n\n{fence}js\n{text}\n{fence}"
