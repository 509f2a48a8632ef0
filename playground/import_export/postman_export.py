"""Export of a collection as a Postman Collection 2.1: every request as the HTTP request it becomes.

Fields that Postman has no place for are in `_nlweb` members, which its schema allows: an import
(`playground.import_export.postman`) restores the collection from them, as long as its requests
were not changed. Secrets are names in it, as everywhere.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from playground.collections.fixture import Fields, Fixture
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.variables import names_in

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

#: The member with the playground's own fields.
EXTENSION_KEY = "_nlweb"

#: Fields that are stored as the text of their JSON: they may be nested deeper than a file may.
AS_TEXT = ("document", "expectations", "reply")

#: Built-in variables, and their names in Postman.
BUILT_IN = {"$uuid": "$guid", "$timestamp": "$timestamp", "$isoTimestamp": "$isoTimestamp"}

#: Fields that are elsewhere in the item.
_ELSEWHERE = ("name", "folder", "notes")


def to_postman(fixture: Fixture) -> str:
    """Return the text of the file."""
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
    """Return a request as an item."""
    extension = {name: value for name, value in fields.items() if name not in _ELSEWHERE}
    extension |= {name: json.dumps(fields[name]) for name in AS_TEXT}
    return {
        "name": fields["name"],
        "request": build_request(fields),
        "response": [],
        EXTENSION_KEY: extension,
    }


def build_request(fields: Fields) -> dict[str, Any]:
    """Return the HTTP request of the fields, in Postman's format."""
    address = fields["address"] or f"{{{{{fields['agent'] or 'agent'}}}}}"
    known = [version.name for version in registry.versions(fields["protocol"])]
    target = Target(
        address,
        fields["protocol"],
        fields["binding"],
        fields["version"] if fields["version"] in known else known[-1],
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
    if auth := _auth(fields["auth"]):
        request["auth"] = auth
    return request


def _with_postman_variables(text: str) -> str:
    """Return a text with Postman's names for built-in variables."""
    for own, theirs in BUILT_IN.items():
        text = text.replace(f"{{{{{own}}}}}", f"{{{{{theirs}}}}}")
    return text


def _auth(auth: Mapping[str, str]) -> dict[str, Any]:
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
