"""Conversion of any HTTP request to a request of the playground: a document and its protocol.

Commands, collections and archives of other tools contain whole HTTP requests. The protocol is
detected from the body, and for legacy NLWeb servers from the query string. Nothing is sent or
looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit, urlunsplit

from django import forms

from playground.base.fields import parse_json_value
from playground.collections.fixture import (
    FIELDS,
    FOLDER,
    REQUEST,
    Fields,
    Fixture,
    FixtureError,
    FixtureProblem,
    SlugAllocator,
    fixture_text,
)
from playground.collections.fixture_parser import validate_field
from playground.models.collections import RESERVED, STEP
from playground.models.columns import storable
from playground.protocols import headers as header_rules
from playground.protocols import lenient, registry
from playground.protocols.mcp.messages import CALL
from playground.protocols.nlweb.legacy import parameters_of_members
from playground.variables.names import PLACEHOLDER

#: Headers that are generated for every request, in lower case.
_GENERATED = frozenset(
    "content-type accept user-agent accept-encoding mcp-session-id mcp-protocol-version mcp-method"
    " mcp-name".split()
)

#: Headers of browsers and tools, which mean nothing to an agent, and the trace of one request.
_BROWSER_HEADERS = frozenset(
    "accept-language cache-control dnt origin pragma priority referer postman-token traceparent"
    " tracestate upgrade-insecure-requests x-requested-with".split()
)

#: A string, a placeholder (group 1) or a comment. What does not end reaches to the end of the text,
#: so that the search takes linear time.
_TOKEN = re.compile(
    rf'"(?:[^"\\]|\\.)*+"?|({PLACEHOLDER.pattern})|//[^\r\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL
)

#: Value of a header for authentication with a placeholder for the secret.
_SCHEME = re.compile(rf"\s*(?:(bearer)\s+)?{PLACEHOLDER.pattern}\s*", re.IGNORECASE)
Headers = Sequence[tuple[str, str]]

#: Limits on the characters of a name, and on the remarks on one file.
MAX_NAME, MAX_REMARKS = 120, 100

#: The optional fields of a saved request.
REQUEST_DEFAULTS = {name: value for name, value in FIELDS[REQUEST].items() if value is not ...}

#: Media type of a form.
FORM = "application/x-www-form-urlencoded"


class UnsupportedRequestError(ValueError):
    """A request that the playground could not have sent, with the reasons."""


@dataclass(slots=True)
class ImportedRequest:
    """A converted request; `address` and `document` may contain `{{name}}`."""

    address: str = ""
    protocol: str = registry.DEFAULT
    binding: str = "http"
    version: str = ""
    document: dict[str, Any] = field(default_factory=dict)
    #: Pairs as written: of a command, literal credentials among them are for one send and never
    #: stored.
    headers: list[list[str]] = field(default_factory=list)
    #: Like `SavedRequest.auth`.
    auth: Mapping[str, str] = field(default_factory=dict)
    #: Remarks for the user on the conversion.
    remarks: list[str] = field(default_factory=list)
    #: Why there is no request. If there are any, nothing else counts.
    refusals: list[str] = field(default_factory=list)


def from_http_request(
    method: str, url: str, headers: Headers, body: str | None, auth: Mapping[str, str] | None = None
) -> ImportedRequest:
    """Return an HTTP request as one of the playground. Raise `UnsupportedRequestError`.

    Without `auth`, a header with a `{{name}}` becomes the authentication.
    """
    found = _converted(method, url, headers, body)
    found.auth, others = (auth, headers) if auth else auth_of(headers)
    found.headers, left_out = custom_headers(others)
    if left_out:
        names = ", ".join(dict.fromkeys(left_out))
        found.remarks.append(
            f"Skipped headers, not needed or set by the playground: {names[:300]}."
        )
    return found


def _converted(method: str, url: str, headers: Headers, body: str | None) -> ImportedRequest:
    """Return the request without headers and authentication."""
    if method not in ("GET", "POST"):
        raise UnsupportedRequestError(f"Unsupported method {method[:20]}. Use GET or POST.")
    kind = _header(headers, "content-type").partition(";")[0].strip().lower()
    if body is None or not body.strip():
        return _from_query(url)
    if method == "GET":
        raise UnsupportedRequestError("GET requests with a body are not supported.")
    if kind == FORM and body.lstrip()[:1] not in "{[":
        return _from_form(url, body)
    document = _decode_body(body)
    if document.get("jsonrpc") is not None:
        return _from_jsonrpc(url, document)
    return _from_document(url, document)


def saved_request_fields(
    method: str,
    url: str,
    headers: Headers,
    body: str | None,
    media_type: str,
    auth: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return an HTTP request as the fields of a saved request, and remarks for the user.

    `media_type` is that of the body where no header names it. Raise `UnsupportedRequestError`, also
    for values that a saved request cannot have.
    """
    headers = [*headers, ("Content-Type", media_type)]  # The first one counts.
    fields = asdict(from_http_request(method, url, headers, body, auth))
    del fields["refusals"]
    remarks = fields.pop("remarks")
    for name in ("address", "document", "headers", "auth"):
        for pointer, message in validate_field(name, fields[name]):
            raise UnsupportedRequestError(f"Invalid {name}{pointer}: {message}")
    return {**REQUEST_DEFAULTS, **fields}, remarks


class FixtureBuilder:
    """A collection that is made from another tool's requests, and remarks on what is left out."""

    def __init__(self) -> None:
        self.folders: dict[str, Fields] = {}
        self.requests: dict[str, Fields] = {}
        self.remarks: list[FixtureProblem] = []
        self._skipped = 0
        self._slugs = {FOLDER: SlugAllocator("folder"), REQUEST: SlugAllocator("request")}

    def add(self, model: str, fields: Fields, own: Fields) -> str:
        """Add a folder or a request at the end; return its slug.

        `own` may have the slug and the position that the item had when it was exported.
        """
        items = self.folders if model == FOLDER else self.requests
        slug = self._slugs[model].reserve(own.get("slug"), fields["name"])
        position = own.get("position")
        position = position if type(position) is int else STEP * (len(items) + 1)
        items[slug] = {**fields, "slug": slug, "position": position}
        return slug

    def remark(self, place: str, *messages: str) -> None:
        self.remarks += [FixtureProblem(place, message) for message in messages]

    def skip(self, place: str, message: str, count: int = 1) -> None:
        """Remark on items that are no requests, or none that can be imported."""
        self._skipped += count
        self.remark(place, message)

    def check(self) -> None:
        """Raise `FixtureError` if there are no requests because all were skipped."""
        if self._skipped and not self.requests:
            message = f"0 of {self._skipped:,} requests can be imported."
            raise FixtureError(message, *self.remarks[:MAX_REMARKS])

    def text(self, collection: Fields) -> tuple[str, list[FixtureProblem]]:
        """Return the text of the fixture, and the first remarks."""
        fields = {"description": "", "lesson": None, **collection}
        fixture = Fixture(fields["slug"], fields, self.folders, self.requests)
        return fixture_text(fixture), self.remarks[:MAX_REMARKS]


def short_name(text: str) -> str:
    return storable(text[:MAX_NAME])


def collection_slug(name: str) -> str:
    return SlugAllocator("collection", RESERVED).free(name)


def custom_headers(headers: Headers) -> tuple[list[list[str]], list[str]]:
    """Return the headers to keep, and the names of those left out that the user should know.

    Headers that every request gets anew are left out silently.
    """
    custom, left_out = [], []
    for name, value in headers:
        lower = name.lower()
        if lower in _GENERATED:
            continue
        if lower in _BROWSER_HEADERS or lower.startswith("sec-"):
            left_out.append(name)
        elif header_rules.header_error(name, PLACEHOLDER.sub("x", value)):
            left_out.append(name[:60])
        else:
            custom.append([name, value])
    return custom, left_out


def auth_of(headers: Headers) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the authentication that a header with a `{{name}}` stands for, and the other headers.

    {} if no header has one, or more than one has.
    """
    found = [
        (auth, pair)
        for pair in headers
        if header_rules.is_credential(pair[0]) and (auth := _auth_in(*pair))
    ]
    if len(found) != 1:
        return {}, list(headers)
    auth, own = found[0]
    return auth, [pair for pair in headers if pair != own]


def _auth_in(name: str, value: str) -> dict[str, str]:
    match = _SCHEME.fullmatch(value)
    if match is None or match[2].startswith("$"):
        return {}
    if name.lower() == "authorization":
        return {"type": "bearer", "secret": match[2]} if match[1] else {}
    return {} if match[1] else {"type": "api_key", "header": name, "secret": match[2]}


def _header(headers: Headers, lower_name: str) -> str:
    return next((value for name, value in headers if name.lower() == lower_name), "")


def _decode_body(body: str) -> dict[str, Any]:
    # Tools that substitute text allow `{{name}}` in place of a number; here a string that is
    # nothing but the placeholder stands for any value just as well. Postman removes comments.
    text = _TOKEN.sub(_json_token, body)
    try:
        value = parse_json_value(text)
    except forms.ValidationError as error:
        raise UnsupportedRequestError(f"The body is not valid JSON: {error.messages[0]}") from None
    if not isinstance(value, dict):
        raise UnsupportedRequestError("The body must be a JSON object.")
    return value


def _json_token(found: re.Match[str]) -> str:
    if found[1]:
        return f'"{found[1]}"'
    if found[0].startswith('"'):
        return found[0]
    return re.sub(r"[^\r\n]", " ", found[0])  # Errors keep their line and column.


def _from_document(url: str, document: dict[str, Any]) -> ImportedRequest:
    if isinstance(document.get("query"), str):
        return _legacy_request(url, document, streaming=False)
    address = _without_fragment(url)
    for name, row in registry.PROTOCOLS.items():
        if row.is_request(document):
            version = row.versions[-1].name
            return ImportedRequest(address, name, "http", version, document)
    remarks = []
    if not {"query", "promise_token"} & document.keys():
        remarks = ["Unknown request format. The body was imported unchanged as an NLWeb request."]
    if registry.of(registry.DEFAULT).operation(document) == "await":
        parts = urlsplit(address)
        address = urlunsplit(parts._replace(path=parts.path.removesuffix("/await")))
    version = _version(document)
    return ImportedRequest(address, version=version, document=document, remarks=remarks)


def _from_jsonrpc(url: str, message: Mapping[str, Any]) -> ImportedRequest:
    """Return a tool call over MCP; other JSON-RPC messages are not supported."""
    method, params = message.get("method"), message.get("params")
    if method != CALL or not isinstance(params, Mapping):
        shown = f"“{method[:40]}”" if isinstance(method, str) else "no method"
        raise UnsupportedRequestError(
            f"The body is a JSON-RPC message with {shown}. Only MCP tool calls (“{CALL}”) "
            "can be imported. The playground sends the handshake itself."
        )
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(arguments, dict):
        raise UnsupportedRequestError("The arguments of the tool call must be an object.")
    remarks = []
    if name != registry.of(registry.DEFAULT).operation(arguments):
        shown = name[:60] if isinstance(name, str) else "no tool"
        remarks = [
            f"The request calls “{shown}”. The playground calls the tool set for the agent, "
            "or else the one suggested by tools/list."
        ]
    return ImportedRequest(
        _without_fragment(url),
        binding="mcp",
        version=_version(arguments),
        document=arguments,
        remarks=remarks,
    )


def _from_query(url: str) -> ImportedRequest:
    """Return a request of a legacy server, in the query string."""
    parts = _split(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    known = parameters_of_members().values()
    values = {name: value for name, value in pairs if name in known}
    if "query" not in values:
        raise UnsupportedRequestError("No body and no query parameters.")
    # Other parameters belong to the address and stay there, spelled as they were.
    rest = [part for part in parts.query.split("&") if part.partition("=")[0] not in values]
    address = urlunsplit(parts._replace(query="&".join(rest), fragment=""))
    streaming = values.pop("streaming", "true").lower() not in ("false", "0", "no")
    return _legacy_request(address, values, streaming=streaming)


def _from_form(url: str, body: str) -> ImportedRequest:
    values = dict(parse_qsl(body, keep_blank_values=True))
    if "query" not in values:
        raise UnsupportedRequestError("The form has no “query” field.")
    return _legacy_request(url, values, streaming=False)


def _legacy_request(url: str, values: Mapping[str, Any], *, streaming: bool) -> ImportedRequest:
    document: dict[str, Any] = {}
    members = {name: place for place, name in parameters_of_members().items()}
    for name, (section, member) in members.items():
        if values.get(name) not in (None, ""):
            document.setdefault(section, {})[member] = _value(name, values[name])
    document.setdefault("prefer", {})["streaming"] = streaming
    left = sorted(set(values) - set(members))
    remarks = ["This is a legacy NLWeb request with flat parameters."]
    if left:
        remarks.append(f"Skipped unknown parameters: {', '.join(left)[:200]}.")
    address = _without_fragment(url)
    return ImportedRequest(address, version="legacy", document=document, remarks=remarks)


def _value(name: str, value: Any) -> Any:
    """Return the value of a parameter; `prev` is a list, written as JSON in a URL."""
    if name != "prev" or not isinstance(value, str):
        return value
    found = lenient.decode(value)
    return found if isinstance(found, list) else [value]


def _version(document: Mapping[str, Any]) -> str:
    known = [
        version.name
        for version in registry.of(registry.DEFAULT).versions
        if version.name != "legacy"
    ]
    meta = document.get("meta")
    named = (
        [meta.get(name) for name in ("version", "api_version")] if isinstance(meta, dict) else []
    )
    return next((name for name in named if name in known), known[-1])


def _without_fragment(url: str) -> str:
    return urlunsplit(_split(url)._replace(fragment=""))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise UnsupportedRequestError(f"{quote(url[:60])} is not a valid URL.") from None
