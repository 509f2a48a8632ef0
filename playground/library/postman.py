"""A collection as a Postman Collection 2.1: every request as the HTTP request that it becomes.

What Postman has no place for stands in `_nlweb` members, which its schema leaves room for: who
reads the file again (`playground.library.postman_reading`) has the collection as it was, as long
as nobody changed the requests. Secrets are names in it, as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from playground.library.shape import Fields, Fixture
from playground.protocols import registry
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Target
from playground.variables import names_in

SCHEMA = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
#: The member that is ours.
EXTENSION_KEY = "_nlweb"
#: Fields that are kept as the text of their JSON: they may be nested deeper than a file may.
AS_TEXT = ("document", "expectations", "reply")
#: Our built-in variables, and what Postman calls the same.
BUILT_IN = {"$uuid": "$guid", "$timestamp": "$timestamp", "$isoTimestamp": "$isoTimestamp"}
#: Fields that stand elsewhere in the item.
_ELSEWHERE = ("name", "folder", "notes")


def to_postman(fixture: Fixture) -> str:
    """The text of the file. The fixture is a whole collection."""
    collection = fixture.collection or {"name": fixture.slug, "description": ""}
    whole = {
        "info": {
            "name": collection["name"],
            "description": collection["description"],
            "schema": SCHEMA,
            EXTENSION_KEY: {"slug": fixture.slug},
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
    """One request as an item."""
    kept = {name: value for name, value in fields.items() if name not in _ELSEWHERE}
    kept |= {name: json.dumps(fields[name]) for name in AS_TEXT}
    return {
        "name": fields["name"],
        "request": build_request(fields),
        "response": [],
        EXTENSION_KEY: kept,
    }


def build_request(fields: Fields) -> dict[str, Any]:
    """The HTTP request that the fields become, in Postman's words."""
    address = fields["address"] or f"{{{{{fields['agent'] or 'agent'}}}}}"
    target = Target(
        address,
        fields["protocol"],
        fields["binding"],
        fields["version"],
        headers=tuple((name, value) for name, value in fields["headers"]),
    )
    call = registry.preview(target, fields["document"]) or HttpCall("POST", address)
    request: dict[str, Any] = {
        "method": call.method,
        "header": [
            {"key": name, "value": _renamed(value)}
            for name, value in call.headers
            if name != "User-Agent"
        ],
        "url": {"raw": _renamed(call.url)},
        "description": fields["notes"],
    }
    if call.body:
        pretty = json.dumps(json.loads(call.body), ensure_ascii=False, indent=2)
        language = {"raw": {"language": "json"}}
        request["body"] = {"mode": "raw", "raw": _renamed(pretty), "options": language}
    if auth := _auth(fields["auth"]):
        request["auth"] = auth
    return request


def _renamed(text: str) -> str:
    """A text with the built-in variables as Postman calls them."""
    for own, theirs in BUILT_IN.items():
        text = text.replace(f"{{{{{own}}}}}", f"{{{{{theirs}}}}}")
    return text


def _auth(auth: Mapping[str, str]) -> dict[str, Any]:
    """How the request authenticates; {} leaves it to the collection, as an agent's own way."""
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
    """The names that somebody has to give values to, each once."""
    found: dict[str, None] = {}
    for fields in requests:
        parts = [fields[name] for name in ("address", "document", "headers")]
        names = [*names_in(parts), fields["auth"].get("secret", "")]
        found |= dict.fromkeys(name for name in names if name and not name.startswith("$"))
    return list(found)
