"""Postman Collections (2.0, 2.1): import as fixtures with remarks on what is left out, export.

Nothing of a file is run. Scripts become notes, values of credentials are left out, nested folders
become folders with joined names. An unchanged file that the playground exported is the collection
it was exported from.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from django import forms

from playground.base.fields import parse_json_value
from playground.collections.fixture import (
    FIELDS,
    FOLDER,
    MAX_TEXT,
    REQUEST,
    Fields,
    Fixture,
    FixtureError,
    FixtureProblem,
)
from playground.collections.fixture_parser import decode_json
from playground.import_export.http_request import (
    MAX_NAME,
    REQUEST_DEFAULTS,
    FixtureBuilder,
    UnsupportedRequestError,
    collection_slug,
    saved_request_fields,
    short_name,
)
from playground.lesson_format.lesson import lesson_problems, with_requests
from playground.models.columns import storable
from playground.protocols import lenient, registry
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.protocols.headers import is_credential, is_token
from playground.protocols.origins import MAX_URL
from playground.protocols.text import shorten
from playground.variables.names import PLACEHOLDER, is_name, names_in

LABEL = "Postman Collection"

Item = Mapping[str, Any]

#: Limit on the nesting of JSON, beyond that of a stored document.
_MAX_DEPTH = 200

#: Postman's name for a random UUID beside `$guid`.
_UUIDS = {"$randomUUID": "$uuid"}
#: Built-in variables, and their names in Postman.
BUILT_IN = {"$uuid": "$guid", "$timestamp": "$timestamp", "$isoTimestamp": "$isoTimestamp"}
_BUILT_IN_OF_POSTMAN = {theirs: name for name, theirs in BUILT_IN.items()} | _UUIDS
_TICKS = re.compile("`{3,}")
_SCRIPT_TITLES = {"prerequest": "Pre-request script", "test": "Post-response script"}


class ImportedVariable(NamedTuple):
    """A variable of a collection."""

    name: str
    #: Any JSON value; None for a secret, whose value is left out.
    value: Any
    is_secret: bool


def is_postman(text: str) -> bool:
    """Return whether a text looks like a Postman Collection, of any version."""
    start = text.lstrip("\ufeff \t\r\n")
    return (
        start.startswith("{")
        and ('"info"' in text or '"order"' in text)
        and ('"item"' in text or '"requests"' in text or '"_postman' in text)
    )


def read_postman(text: str) -> tuple[str, list[FixtureProblem]]:
    """Return the text of a fixture, and remarks on parts that are left out or changed.

    Raise `FixtureError` if the text is no such collection.
    """
    whole = _collection_in(text)
    if "requests" in whole and "item" not in whole:
        raise FixtureError(
            "Postman Collection 1 is not supported. Export the collection from Postman "
            "as version 2.1."
        )
    info, items = whole.get("info"), whole.get("item")
    if not isinstance(info, dict) or not isinstance(items, list):
        message = "Not a Postman Collection: an object with “info” and an array “item” is expected."
        raise FixtureError(message)
    return _CollectionReader(whole, info).read(items)


def _collection_in(text: str) -> Item:
    """Return the object in a file; of a response of Postman's API, the collection in it."""
    whole = lenient.members(decode_json(text))
    wrapped = None if "item" in whole else whole.get("collection")
    return wrapped if isinstance(wrapped, dict) else whole


class _CollectionReader:
    """Reader of one collection."""

    def __init__(self, whole: Item, info: Item) -> None:
        self._built = FixtureBuilder()
        self._whole, self._info = whole, info
        #: The playground's own member of a collection that it exported: its slug and lesson.
        self._own = info.get(EXTENSION_KEY)
        self._scripts = 0

    def read(self, items: Sequence[Any]) -> tuple[str, list[FixtureProblem]]:
        """Read all items: first those without a folder, in the order in which they are shown."""
        self._read_level(items, "/item", (), None, self._whole.get("auth"))
        self._built.check()
        own = lenient.members(self._own)
        name, lesson = _name(self._info.get("name"), "Collection"), own.get("lesson")
        if lesson is not None and not any(lesson_problems(lesson)):
            lesson = with_requests(lesson, self._built.requests)  # Some were deleted since.
        collection = {
            "name": name,
            "slug": lenient.text(own.get("slug")) or collection_slug(name),
            "description": self._collection_description(),
            "lesson": lesson,
        }
        if self._scripts:
            subject = (
                "1 script was saved as a note. It is"
                if self._scripts == 1
                else f"{self._scripts} scripts were saved as notes. They are"
            )
            self._built.remarks.insert(0, FixtureProblem("", f"{subject} not run."))
        return self._built.text(collection)

    def _read_level(
        self,
        items: Sequence[Any],
        place: str,
        parents: tuple[str, ...],
        folder: str | None,
        auth: Any,
    ) -> None:
        for number, item in enumerate(items):
            at = f"{place}/{number}"
            if not isinstance(item, dict):
                self._built.skip(at, "Skipped: not a valid item.")
            elif isinstance(item.get("item"), list):
                self._read_folder(item, at, parents, auth)
            elif "request" in item:
                self._read_request(item, at, folder, auth)
            else:
                self._built.skip(at, "Skipped: neither a request nor a folder.")

    def _read_folder(self, item: Item, at: str, parents: tuple[str, ...], auth: Any) -> None:
        path = (*parents, _name(item.get("name"), "Folder"))
        name = " / ".join(path)
        inner = item["item"]
        own = lenient.members(item.get(EXTENSION_KEY))
        text = _text(item.get("description"))
        description = self._with_notes(at, text, self._script_notes(item))
        is_needed = any(isinstance(each, dict) and "request" in each for each in inner)
        slug: str | None = None
        if is_needed or not inner or description:
            fields = {"name": name[:MAX_NAME], "description": description}
            slug = self._built.add(FOLDER, fields, own)
        if parents:
            self._built.remark(at, f"Folders cannot be nested. Imported as “{name[:100]}”.")
        self._read_level(inner, f"{at}/item", path, slug, item.get("auth") or auth)

    def _read_request(self, item: Item, at: str, folder: str | None, auth: Any) -> None:
        own, name = _extension_fields(item), _name(item.get("name"), "Request")
        try:
            fields = _unchanged_fields(item, own) or self._convert_request(item, own, at, auth)
        except UnsupportedRequestError as error:
            self._built.skip(at, f"Skipped “{name[:60]}”. {error}")
            return
        self._built.add(REQUEST, {**fields, "name": name, "folder": folder}, own)

    def _convert_request(
        self, item: Item, own: Mapping[str, Any], at: str, inherited: Any
    ) -> dict[str, Any]:
        """Return the fields of a foreign request. Raise the reason if it is unsupported."""
        request = item["request"]
        request = request if isinstance(request, dict) else {"url": request, "method": "GET"}
        request_headers = _headers(request.get("header"))
        body, kind = _body(request.get("body"))
        method = request.get("method")
        method = method.upper() if isinstance(method, str) else "GET"
        url = _address(request.get("url"))
        auth, auth_remark = _auth(request.get("auth") or inherited)
        converted, remarks = saved_request_fields(method, url, request_headers, body, kind, auth)
        self._built.remark(at, *remarks, *filter(None, [auth_remark]))
        if lenient.items(item.get("response")):
            self._built.remark(at, "Skipped the saved responses.")
        notes = _text(request.get("description")) or _text(item.get("description"))
        return {
            **converted,
            **{name: own[name] for name in ("agent", "expectations", "captures") if name in own},
            "notes": self._with_notes(at, notes, self._script_notes(item)),
        }

    def _script_notes(self, owner: Item) -> list[str]:
        found = list(_scripts(owner))
        self._scripts += len(found)
        return found

    def _collection_description(self) -> str:
        description = _text(self._info.get("description"))
        if isinstance(self._own, dict):  # It has all of it already.
            return description
        notes = self._script_notes(self._whole)
        if variables := list(map(_variable_note, _variables(self._whole.get("variable")))):
            self._built.remark(
                "/variable",
                "Variables were copied to the description; create an environment to use them.",
            )
            notes.append("Collection variables:\n\n" + "\n".join(variables))
        return self._with_notes("/info", description, notes)

    def _with_notes(self, place: str, text: str, notes: Sequence[str]) -> str:
        """Return a text and the notes below it, cut at the limit."""
        whole = storable("\n\n".join(filter(None, [text, *notes])))
        if len(whole) <= MAX_TEXT:
            return whole
        self._built.remark(place, f"Notes and scripts were truncated to {MAX_TEXT:,} characters.")
        return shorten(whole, MAX_TEXT)


def read_variables(text: str) -> list[ImportedVariable]:
    """Return the variables of a collection that an environment can have, the last of each name."""
    variables = _variables(_collection_in(text).get("variable"))
    return list({each.name: each for each in variables if is_name(each.name)}.values())


def _variables(rows: Any) -> Iterator[ImportedVariable]:
    for row in map(lenient.members, lenient.items(rows)):
        if name := lenient.text(row.get("key")):
            is_secret = row.get("type") == "secret" or is_credential(name)
            yield ImportedVariable(name, None if is_secret else row.get("value"), is_secret)


def _variable_note(variable: ImportedVariable) -> str:
    name, value, is_secret = variable
    text = value if isinstance(value, str) else json.dumps(value)
    remark = "omitted, as it may be a secret" if is_secret else f"`{text[:200]}`"
    return f"- `{name[:80]}`: {remark}"


def _name(value: Any, fallback: str) -> str:
    text = lenient.text(value)
    return short_name(text if text.strip() else fallback)


def _extension_fields(item: Item) -> dict[str, Any]:
    """Return the playground's own fields of an item; {} if they are missing or invalid."""
    own = lenient.members(item.get(EXTENSION_KEY))
    known = {name: value for name, value in own.items() if name in FIELDS[REQUEST]}
    if not all(isinstance(own.get(name), str) for name in AS_TEXT):
        return {}
    try:
        return known | {name: parse_json_value(own[name], _MAX_DEPTH) for name in AS_TEXT}
    except forms.ValidationError:
        return {}  # The member was edited.


def _unchanged_fields(item: Item, extension: Mapping[str, Any]) -> dict[str, Any]:
    """Return the playground's own fields if the request is still that exported with them; or {}."""
    request = item.get("request")
    if not extension or not isinstance(request, dict) or next(_scripts(item), None) is not None:
        return {}
    fields = {**REQUEST_DEFAULTS, **extension, "notes": _text(request.get("description"))}
    try:
        written = json.loads(json.dumps(build_request(fields)))
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}  # The member was edited.
    return fields if written == request else {}


def _text(value: Any) -> str:
    """Return a description: text, or an object that holds it."""
    return lenient.text(value.get("content") if isinstance(value, Mapping) else value)


def _convert_variables(text: str) -> str:
    """Return a text with the playground's names for built-in variables."""
    names = _BUILT_IN_OF_POSTMAN
    return PLACEHOLDER.sub(
        lambda found: f"{{{{{names[found[1]]}}}}}" if found[1] in names else found[0], text
    )


def _address(url: Any) -> str:
    """Return the address of a request. Raise `UnsupportedRequestError` if there is none."""
    found = _address_of_parts(url) if isinstance(url, Mapping) else url
    if not isinstance(found, str) or not found.strip():
        raise UnsupportedRequestError("The request has no URL.")
    found = _bounded(found.strip())
    return _convert_variables(
        found if "://" in found or found.startswith("{{") else f"http://{found}"
    )


def _address_of_parts(url: Mapping[str, Any]) -> str:
    """Return an address that is given in parts, with its path variables (segments like “:id”)."""
    found = lenient.text(url.get("raw")) or _joined_address(url)
    for row in _enabled_rows(url.get("variable")):
        name, value = row.get("key"), row.get("value")
        if isinstance(name, str) and isinstance(value, str) and name:
            # At every step: values that contain one another would multiply.
            found, value = _bounded(found), _bounded(value)
            found = f"/{value}".join(re.split(rf"/:{re.escape(name)}(?=[/?#]|$)", found))
    return found


def _bounded(address: str) -> str:
    """Return an address, or a part of one. Raise `UnsupportedRequestError` if it is too long."""
    if len(address) > MAX_URL:
        raise UnsupportedRequestError(f"The URL is longer than {MAX_URL:,} characters.")
    return address


def _joined_address(url: Mapping[str, Any]) -> str:
    host, path = _join(url.get("host"), "."), _join(url.get("path"), "/")
    if not host:
        return ""
    query = "&".join(
        f"{row.get('key') or ''}={row.get('value') or ''}"
        for row in _enabled_rows(url.get("query"))
    )
    scheme = url.get("protocol") if isinstance(url.get("protocol"), str) else "http"
    if port := lenient.text(url.get("port")):
        host = f"{host}:{port}"
    start = host if host.startswith("{{") else f"{scheme}://{host}"
    return start + (f"/{path.lstrip('/')}" if path else "") + (f"?{query}" if query else "")


def _join(value: Any, sign: str) -> str:
    if not isinstance(value, list):
        return lenient.text(value)
    parts = [part.get("value") if isinstance(part, Mapping) else part for part in value]
    return sign.join(lenient.texts(parts))


def _headers(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, str):
        lines = (line.partition(":") for line in value.splitlines())
        return [(name.strip(), text.strip()) for name, _, text in lines if name.strip()]
    found = ((row.get("key"), row.get("value", "")) for row in _enabled_rows(value))
    return [
        (k, _convert_variables(v))
        for k, v in found
        if isinstance(k, str) and isinstance(v, str) and k
    ]


def _body(value: Any) -> tuple[str | None, str]:
    """Return the body and its media type. Raise `UnsupportedRequestError` for one not supported."""
    if not isinstance(value, Mapping) or value.get("disabled") is True:
        return None, ""
    mode = value.get("mode")
    if mode == "raw":
        raw = lenient.text(value.get("raw"))
        return _convert_variables(raw) if raw.strip() else None, "application/json"
    if mode in ("urlencoded", "formdata"):
        rows = _enabled_rows(value.get(mode))
        if any(row.get("type") == "file" for row in rows):
            raise UnsupportedRequestError("File uploads are not supported.")
        if mode == "formdata":
            raise UnsupportedRequestError("Multipart form bodies are not supported.")
        pairs = ((row.get("key"), row.get("value")) for row in rows)
        found = "&".join(f"{_encoded(k)}={_encoded(v)}" for k, v in pairs if isinstance(k, str))
        return found or None, "application/x-www-form-urlencoded"
    if mode in (None, "none"):
        return None, ""
    shown = mode[:20] if isinstance(mode, str) else "unknown"
    raise UnsupportedRequestError(f"Unsupported body mode: {shown}.")


def _encoded(value: Any) -> str:
    return quote(_convert_variables(lenient.text(value)), safe="{}$")


def _enabled_rows(value: Any) -> list[Mapping[str, Any]]:
    rows = lenient.items(value)
    return [row for row in rows if isinstance(row, Mapping) and row.get("disabled") is not True]


def _auth(value: Any) -> tuple[dict[str, str], str]:
    """Return the authentication of a request, with names for secrets, and a remark.

    Values are left out. {} if the playground does not support it.
    """
    kind = value.get("type") if isinstance(value, Mapping) else None
    settings = _settings(value.get(kind)) if isinstance(kind, str) else {}
    match kind:
        case "noauth":
            return {"type": "none"}, ""
        case "bearer":
            name, remark = _secret_name(settings.get("token"), "token")
            return {"type": "bearer", "secret": name}, remark
        case "basic":
            name, remark = _secret_name(settings.get("password"), "password")
            return {
                "type": "basic",
                "user": settings.get("username", "")[:200],
                "secret": name,
            }, remark
        case "apikey" if settings.get("in", "header") == "header":
            name, remark = _secret_name(settings.get("value"), "api-key")
            header = settings.get("key") or "X-API-Key"
            if not is_token(header):
                remark = f"“{header[:40]}” is not a valid header name. Choose another one."
                return {}, remark
            return {"type": "api_key", "header": header, "secret": name}, remark
    if kind is None:
        return {}, ""
    way = "an API key in the URL" if kind == "apikey" else f"“{str(kind)[:30]}”"
    return {}, f"Unsupported authentication: {way}. Choose another type."


def _settings(value: Any) -> dict[str, str]:
    """Return the settings of an authentication: a list of rows (2.1) or an object (2.0)."""
    if isinstance(value, Mapping):
        return {name: text for name, text in value.items() if isinstance(text, str)}
    found = {str(row.get("key")): row.get("value") for row in _enabled_rows(value)}
    return {name: text for name, text in found.items() if isinstance(text, str)}


def _secret_name(value: str | None, fallback: str) -> tuple[str, str]:
    """Return the name of the secret, and a remark if a value was left out."""
    found = PLACEHOLDER.fullmatch((value or "").strip())
    if found and not found[1].startswith("$"):
        return found[1], ""
    if not value:
        return fallback, f"Authentication uses the secret “{fallback}”, which has no value yet."
    return fallback, (
        f"A credential was removed. Store it as the secret “{fallback}” in an environment."
    )


def _scripts(owner: Mapping[str, Any]) -> Iterator[str]:
    """Yield the scripts of an item, a folder or a collection as notes: they are never run."""
    for event in _enabled_rows(owner.get("event")):
        script = event.get("script")
        lines = script.get("exec") if isinstance(script, Mapping) else script
        lines = lines if isinstance(lines, list) else [lines]
        text = "\n".join(line for line in lines if isinstance(line, str)).strip()
        if text:
            longest = max(map(len, _TICKS.findall(text)), default=2)
            fence = "`" * max(3, longest + 1)
            title = _SCRIPT_TITLES.get(str(event.get("listen")), "Script")
            yield f"{title} (not run):\n\n{fence}js\n{text}\n{fence}"


SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

#: The member with the playground's own fields.
EXTENSION_KEY = "_nlweb"

#: Fields that are stored as the text of their JSON: they may be nested deeper than a file may.
AS_TEXT = ("document", "expectations", "reply")


#: Fields that are elsewhere in the item.
_ELSEWHERE = ("name", "folder", "notes")


def to_postman(fixture: Fixture) -> str:
    collection = fixture.collection
    extension: dict[str, Any] = {"slug": fixture.slug}
    if lesson := collection.get("lesson"):
        extension["lesson"] = lesson
    whole = {
        "info": {
            "name": collection["name"],
            "description": collection["description"],
            "schema": SCHEMA,
            EXTENSION_KEY: extension,
        },
        "item": list(_items(fixture)),
        "variable": [{"key": name, "value": ""} for name in _names(fixture.requests.values())],
    }
    text = json.dumps(whole, ensure_ascii=False, indent=2)
    return text.encode("utf-8", "backslashreplace").decode() + "\n"


def _items(fixture: Fixture) -> Iterator[dict[str, Any]]:
    requests = fixture.requests.values()
    yield from (build_item(fields) for fields in requests if fields["folder"] is None)
    for slug, folder in fixture.folders.items():
        yield {
            "name": folder["name"],
            "description": folder["description"],
            "item": [build_item(fields) for fields in requests if fields["folder"] == slug],
            EXTENSION_KEY: {"slug": slug, "position": folder["position"]},
        }


def build_item(fields: Fields) -> dict[str, Any]:
    extension = {name: value for name, value in fields.items() if name not in _ELSEWHERE}
    extension |= {name: json.dumps(fields[name]) for name in AS_TEXT}
    return {
        "name": fields["name"],
        "request": build_request(fields),
        "response": [],
        EXTENSION_KEY: extension,
    }


def build_request(fields: Fields) -> dict[str, Any]:
    address = fields["address"] or f"{{{{{fields['agent'] or 'agent'}}}}}"
    target = Target(
        address,
        fields["protocol"],
        fields["binding"],
        registry.known_version(fields["protocol"], fields["version"]),
        headers=tuple((name, value) for name, value in fields["headers"]),
    )
    call = registry.preview(target, fields["document"]) or HttpCall("POST", address)
    request: dict[str, Any] = {
        "method": call.method,
        "header": [
            {"key": name, "value": _with_postman_variables(value)}
            for name, value in call.headers
            if name != "User-Agent"
        ],
        "url": {"raw": _with_postman_variables(call.url)},
        "description": fields["notes"],
    }
    if call.body:
        text, language = call.body.decode("utf-8", "replace"), "text"
        with contextlib.suppress(ValueError):
            text, language = json.dumps(json.loads(text), ensure_ascii=False, indent=2), "json"
        request["body"] = {
            "mode": "raw",
            "raw": _with_postman_variables(text),
            "options": {"raw": {"language": language}},
        }
    if auth := _exported_auth(fields["auth"]):
        request["auth"] = auth
    return request


def _with_postman_variables(text: str) -> str:
    """Return a text with Postman's names for built-in variables."""
    for own, theirs in BUILT_IN.items():
        text = text.replace(f"{{{{{own}}}}}", f"{{{{{theirs}}}}}")
    return text


def _exported_auth(auth: Mapping[str, str]) -> dict[str, Any]:
    """Return the authentication of a request; {} inherits it, like an agent's own."""
    secret = f"{{{{{auth.get('secret', '')}}}}}"
    match auth.get("type"):
        case "none":
            return {"type": "noauth"}
        case "bearer":
            return {"type": "bearer", "bearer": _rows(token=secret)}
        case "api_key":
            row = {"key": auth.get("header", ""), "value": secret, "in": "header"}
            return {"type": "apikey", "apikey": _rows(**row)}
        case "basic":
            return {"type": "basic", "basic": _rows(username=auth.get("user", ""), password=secret)}
    return {}


def _rows(**values: str) -> list[dict[str, str]]:
    return [{"key": name, "value": value, "type": "string"} for name, value in values.items()]


def _names(requests: Sequence[Fields] | Any) -> list[str]:
    """Return the names of all variables that need a value, each once."""
    found: dict[str, None] = {}
    for fields in requests:
        parts = [fields[name] for name in ("address", "document", "headers")]
        names = [*names_in(parts), fields["auth"].get("secret", "")]
        found |= dict.fromkeys(name for name in names if name and not name.startswith("$"))
    return list(found)
