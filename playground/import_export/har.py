"""Import of the requests of HTTP archives (HAR 1.2) as fixtures: what a browser or a tool sent.

Each entry that an agent could have received becomes a saved request. Of the others, which in an
archive of a browser are most, the reasons are listed. Responses are not imported, and values of
credentials are left out.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from playground.collections.fixture import Fixture, FixtureError, FixtureProblem, SlugAllocator
from playground.collections.fixture import render as render_fixture
from playground.collections.fixture_parser import decode_json
from playground.import_export.http_request import (
    REQUEST_DEFAULTS,
    UnsupportedRequestError,
    saved_request_fields,
)
from playground.models.collections import RESERVED, STEP
from playground.models.json_text import storable
from playground.protocols import registry

LABEL = "HAR file"
_MAX_NAME, _MAX_REMARKS = 120, 100
_START = re.compile(r'\s*\{\s*"log"\s*:')


def is_har(text: str) -> bool:
    """Return whether a text looks like an archive, whose only member is the log."""
    return _START.match(text.lstrip("\ufeff")) is not None


def read_har(text: str) -> tuple[str, list[FixtureProblem]]:
    """Return the text of a fixture, and remarks on entries that were skipped or changed.

    Raise `FixtureError` if the text is not an archive, or none of its entries can be imported.
    """
    requests: dict[str, dict[str, Any]] = {}
    remarks: list[FixtureProblem] = []
    #: Location of the first skipped entry and their number, by reason.
    skipped: dict[str, tuple[str, int]] = {}
    slugs = SlugAllocator("request")
    for number, entry in enumerate(_entries(decode_json(text))):
        location = f"/log/entries/{number}"
        try:
            fields, own_remarks = _request_fields(entry)
        except UnsupportedRequestError as error:
            first, count = skipped.get(str(error), (location, 0))
            skipped[str(error)] = first, count + 1
            continue
        remarks += [FixtureProblem(location, remark) for remark in own_remarks]
        name = _request_name(fields)
        slug = slugs.free(name)
        position = STEP * (len(requests) + 1)
        requests[slug] = {
            **REQUEST_DEFAULTS, **fields, "name": name, "slug": slug, "position": position,
        }  # fmt: skip
    for reason, (location, count) in skipped.items():
        subject = f"Skipped {count:,} entries." if count > 1 else "Skipped."
        remarks.append(FixtureProblem(location, f"{subject} {reason}"))
    if not requests:
        total = sum(count for _, count in skipped.values())
        message = f"0 of {total:,} requests can be imported."
        raise FixtureError(FixtureProblem("", message), *remarks[:_MAX_REMARKS])
    host = urlsplit(next(iter(requests.values()))["address"]).netloc.rpartition("@")[2]
    name = storable(f"Requests to {host or 'an agent'}"[:_MAX_NAME])
    slug = SlugAllocator("collection", RESERVED).free(re.sub(r"[.:]", "-", name))
    collection = {"name": name, "slug": slug, "description": "", "lesson": None}
    fixture = Fixture(slug, collection, {}, requests)
    return render_fixture(fixture), remarks[:_MAX_REMARKS]


def _entries(archive: Any) -> list[Any]:
    log = archive.get("log") if isinstance(archive, dict) else None
    entries = log.get("entries") if isinstance(log, dict) else None
    if not isinstance(entries, list):
        message = "Not a HAR file: an object with a “log” that has an array of entries is expected."
        raise FixtureError(FixtureProblem("/log/entries", message))
    if not entries:
        raise FixtureError(FixtureProblem("/log/entries", "The log has no entries."))
    return entries


def _request_fields(entry: Any) -> tuple[dict[str, Any], list[str]]:
    """Return the fields of a saved request. Raise `UnsupportedRequestError` with the reason."""
    request = entry.get("request") if isinstance(entry, Mapping) else None
    if not isinstance(request, Mapping):
        raise UnsupportedRequestError("An entry must be an object with a request.")
    method, url = request.get("method"), request.get("url")
    if not isinstance(method, str) or not isinstance(url, str):
        raise UnsupportedRequestError("A request must have a method and a URL, both strings.")
    data = request.get("postData")
    body, media_type = _body(data) if isinstance(data, Mapping) else (None, "")
    headers = list(_headers(request.get("headers")))
    if media_type and not any(name.lower() == "content-type" for name, _ in headers):
        headers.append(("Content-Type", media_type))
    fields, remarks = saved_request_fields(method.upper(), url, headers, body, {})
    # A version that the body does not name, in an archive that the playground exported.
    own = entry.get("_nlweb")
    version = own.get("version") if isinstance(own, Mapping) else None
    if version in [known.name for known in registry.versions(fields["protocol"])]:
        fields["version"] = version
    return fields, remarks


def _headers(rows: Any) -> Iterator[tuple[str, str]]:
    """Yield the valid headers, without the pseudo-headers of HTTP/2."""
    for row in rows if isinstance(rows, list) else []:
        name, value = (row.get("name"), row.get("value")) if isinstance(row, Mapping) else (0, 0)
        if isinstance(name, str) and not name.startswith(":"):
            yield name, value if isinstance(value, str) else ""


def _body(data: Mapping[str, Any]) -> tuple[str | None, str]:
    """Return the body of a request, and its media type."""
    text, media_type, fields = data.get("text"), data.get("mimeType"), data.get("params")
    if not text and isinstance(fields, list):  # A form of which only the fields are given.
        rows = [row for row in fields if isinstance(row, Mapping)]
        pairs = [(row.get("name"), row.get("value")) for row in rows]
        text = urlencode([(k, v) for k, v in pairs if isinstance(k, str) and isinstance(v, str)])
    if isinstance(text, str) and data.get("_encoding") == "base64":
        try:
            text = base64.b64decode(text, validate=True).decode()
        except ValueError:
            raise UnsupportedRequestError("The body is not text.") from None
    body = text if isinstance(text, str) and text else None
    return body, media_type if isinstance(media_type, str) else ""


def _request_name(fields: Mapping[str, Any]) -> str:
    text = registry.request_text(fields["protocol"], fields["document"]).strip()
    return storable((text or urlsplit(fields["address"]).path or "Request")[:_MAX_NAME])
