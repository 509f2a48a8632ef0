"""What an HTTP request asks, as the playground composes it: a document and how it travels.

Commands, collections and recordings of other tools hold whole requests. Which protocol one speaks
is read from its body, and for the older server from its query string. Nothing is sent or looked up.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, urlsplit, urlunsplit

from django import forms

from playground.forms import read_value
from playground.protocols import headers as header_rules
from playground.protocols import registry
from playground.protocols.mcp.messages import CALL
from playground.variables.names import PLACEHOLDER

Headers = Sequence[tuple[str, str]]


class UnsupportedRequestError(ValueError):
    """A request that the playground could not have composed; says why."""


@dataclass(frozen=True, slots=True)
class ImportedRequest:
    """A request as a composition has it; `address` and `document` may hold `{{name}}`."""

    address: str
    protocol: str
    binding: str
    version: str
    document: dict[str, Any]
    #: What the reader has to know about how it was taken.
    remarks: tuple[str, ...] = ()


#: Headers that every request gets anew, in lower case.
_MADE = frozenset(
    "content-type accept user-agent accept-encoding mcp-session-id mcp-protocol-version mcp-method"
    " mcp-name".split()
)
#: Headers of browsers and tools, which say nothing to an agent.
_FOREIGN = frozenset(
    "accept-language cache-control dnt origin pragma priority referer postman-token"
    " upgrade-insecure-requests x-requested-with".split()
)
_BARE = re.compile(rf'"(?:[^"\\]|\\.)*"|({PLACEHOLDER.pattern})', re.DOTALL)
_TYPES = ("", "application/json", "text/plain")
#: What a form is sent as.
FORM = "application/x-www-form-urlencoded"

#: Parameters of the older server, and where a request has them.
_FLAT: Mapping[str, tuple[str, str]] = {
    "query": ("query", "text"),
    "site": ("query", "site"),
    "prev": ("context", "prev"),
    "generate_mode": ("prefer", "generate_mode"),
    "query_id": ("meta", "query_id"),
}


def from_http_request(method: str, url: str, headers: Headers, body: str | None) -> ImportedRequest:
    """The composition of a request. Raises `UnrecognisedError` for one that is none."""
    if method not in ("GET", "POST"):
        raise UnsupportedRequestError(
            f"The request is a {method[:20]}; agents are asked by GET or POST."
        )
    kind = _header(headers, "content-type").partition(";")[0].strip().lower()
    if body is None or not body.strip():
        return _from_query(url)
    if method == "GET":
        raise UnsupportedRequestError("The request is a GET with a body, which no agent expects.")
    if kind == FORM and body.lstrip()[:1] not in "{[":
        return _from_form(url, body)
    document = _document(body)
    if document.get("jsonrpc") is not None:
        return _from_rpc(url, document)
    return _from_document(url, document)


def custom_headers(headers: Headers) -> tuple[list[tuple[str, str]], list[str]]:
    """The headers that a composition keeps, and the names of those left out that matter.

    Left out without a word is what every request gets anew.
    """
    kept, out = [], []
    for name, value in headers:
        lower = name.lower()
        if lower in _MADE:
            continue
        if lower in _FOREIGN or lower.startswith("sec-"):
            out.append(name)
        elif header_rules.header_error(name, PLACEHOLDER.sub("x", value)):
            out.append(name[:60])
        else:
            kept.append((name, value))
    return kept, out


#: How a header says who asks, where a placeholder stands for the secret.
_SCHEME = re.compile(rf"\s*(?:(bearer)\s+)?{PLACEHOLDER.pattern}\s*", re.IGNORECASE)


def auth_of(headers: Headers) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """How a request authenticates where a header says it with a `{{name}}`, and the other headers.

    {} where none does, or more than one.
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


def _header(headers: Headers, wanted: str) -> str:
    return next((value for name, value in headers if name.lower() == wanted), "")


def _document(body: str) -> dict[str, Any]:
    # A tool that puts values in as text lets `{{name}}` stand for a number; here it is a string
    # that is nothing but the name, which stands for any value just as well.
    text = _BARE.sub(lambda found: f'"{found[1]}"' if found[1] else found[0], body)
    try:
        value = read_value(text)
    except forms.ValidationError as error:
        raise UnsupportedRequestError(f"The body is no JSON: {error.messages[0]}") from None
    if not isinstance(value, dict):
        raise UnsupportedRequestError("The body is JSON, but no object: a request is one.")
    return value


def _from_document(url: str, document: dict[str, Any]) -> ImportedRequest:
    if isinstance(document.get("query"), str):
        return _flat(url, document, streaming=False)
    if "input" in document and "query" not in document:
        version = registry.versions("agent-api")[-1].name
        return ImportedRequest(_plain(url), "agent-api", "http", version, document)
    remarks: tuple[str, ...] = ()
    if not {"query", "promise_token"} & document.keys():
        remarks = ("The body is no request that is known here. It was taken as it is, for NLWeb.",)
    address = _plain(url)
    if registry.operation("nlweb", document) == "await":
        parts = urlsplit(address)
        address = urlunsplit(parts._replace(path=parts.path.removesuffix("/await")))
    return ImportedRequest(address, "nlweb", "http", _version(document), document, remarks)


def _from_rpc(url: str, message: Mapping[str, Any]) -> ImportedRequest:
    """A call of a tool over MCP; nothing else that JSON-RPC carries is composed here."""
    method, params = message.get("method"), message.get("params")
    if method != CALL or not isinstance(params, Mapping):
        shown = f"“{method[:40]}”" if isinstance(method, str) else "no method"
        raise UnsupportedRequestError(
            f"The body is a JSON-RPC message with {shown}. Of MCP, the call of a tool (“{CALL}”) "
            "can be taken; everything before it is said anew."
        )
    name, arguments = params.get("name"), params.get("arguments")
    if not isinstance(arguments, dict):
        raise UnsupportedRequestError("The call of the tool has no arguments that are an object.")
    remarks: tuple[str, ...] = ()
    if name != registry.operation("nlweb", arguments):
        shown = name[:60] if isinstance(name, str) else "no tool"
        remarks = (
            f"It calls “{shown}”. Here the tool is the one that the agent names, or else the one "
            "that the server's list suggests.",
        )
    return ImportedRequest(_plain(url), "nlweb", "mcp", _version(arguments), arguments, remarks)


def _from_query(url: str) -> ImportedRequest:
    """A request of the older server, in the query string."""
    parts = _split(url)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    values = {name: value for name, value in pairs if name in (*_FLAT, "streaming")}
    if "query" not in values:
        raise UnsupportedRequestError(
            "The request asks nothing: it has neither a body nor a query."
        )
    # What belongs to the address stays there, spelled as it was.
    rest = [part for part in parts.query.split("&") if part.partition("=")[0] not in values]
    address = urlunsplit(parts._replace(query="&".join(rest), fragment=""))
    streaming = values.pop("streaming", "true").lower() not in ("false", "0", "no")
    return _flat(address, values, streaming=streaming)


def _from_form(url: str, body: str) -> ImportedRequest:
    values = dict(parse_qsl(body, keep_blank_values=True))
    if "query" not in values:
        raise UnsupportedRequestError("The body is a form without a query, which no agent expects.")
    return _flat(url, values, streaming=False)


def _flat(url: str, values: Mapping[str, Any], *, streaming: bool) -> ImportedRequest:
    document: dict[str, Any] = {}
    for name, (section, member) in _FLAT.items():
        if values.get(name) not in (None, ""):
            document.setdefault(section, {})[member] = _value(name, values[name])
    document.setdefault("prefer", {})["streaming"] = streaming
    left = sorted(set(values) - set(_FLAT) - {"streaming"})
    remarks = ["It is a request of the older server: flat parameters."]
    if left:
        remarks.append(f"Not taken, because no such server has it: {', '.join(left)[:200]}.")
    return ImportedRequest(_plain(url), "nlweb", "http", "legacy", document, tuple(remarks))


def _value(name: str, value: Any) -> Any:
    """A parameter; what was asked before is a list, written as JSON in an address."""
    if name != "prev" or not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return [value]
    return found if isinstance(found, list) else [value]


def _version(document: Mapping[str, Any]) -> str:
    known = [version.name for version in registry.versions("nlweb") if version.name != "legacy"]
    meta = document.get("meta")
    said = [meta.get(name) for name in ("version", "api_version")] if isinstance(meta, dict) else []
    return next((name for name in said if name in known), known[-1])


def _plain(url: str) -> str:
    """An address without what a server never sees."""
    return urlunsplit(_split(url)._replace(fragment=""))


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise UnsupportedRequestError(f"{quote(url[:60])} is no address.") from None
