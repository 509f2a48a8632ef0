"""Rules on actions at any depth of the result items: section 5 (0.54: section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from playground.conformance.response_parts import Location
from playground.conformance.rule import (
    RuleIssue,
    Violation,
    info,
    must,
    rule,
    should,
    wrong_type,
)
from playground.conformance.transcript import Transcript
from playground.conformance.uris import is_uri_reference
from playground.conformance.values import is_nonempty_text, type_with_article
from playground.protocols.headers import has_control, is_token
from playground.protocols.json_pointer import escape

#: Required members by protocol.
_NEEDED = {
    "HTTP": ("method", "endpoint"),
    "MCP": ("server", "tool"),
    "A2A": ("agent_url", "skill"),
}
#: Members with a URL to call.
_ADDRESSES = ("endpoint", "agent_url")
#: The registry of HTTP methods.
_HTTP_METHODS = frozenset(
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE "
    "MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI "
    "PROPFIND PROPPATCH PUT QUERY REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK "
    "UPDATE UPDATEREDIRECTREF VERSION-CONTROL".split()
)
#: An HTTP scheme and a host.
_CALLABLE = re.compile(r"\s*https?://[^\s/?#@:\\]", re.IGNORECASE)


def _actions(t: Transcript) -> Iterator[Location]:
    return (location for location in t.actions if isinstance(location.value, dict))


def _is_called_by_url(t: Transcript, action: dict[str, Any]) -> bool:
    """Return whether `url` names the target: 0.54 describes actions so in section 4.1.1."""
    is_open = t.version == "0.54" and action.keys().isdisjoint((*_ADDRESSES, "server"))
    return is_open and is_nonempty_text(action.get("url"))


def _has_lists(t: Transcript) -> bool:
    return t.has_response and bool(t.action_lists)


def _has_actions(t: Transcript) -> bool:
    return t.has_response and bool(t.actions)


@rule(
    "actions-list",
    "The actions of a result are an array of objects.",
    v55=must("4.1.1"),
    v54=must("4.1.1"),
    when=_has_lists,
)
def actions_list(t: Transcript) -> Iterator[RuleIssue]:
    """The example in section 7 of 0.54 has a single object: see `actions-single`."""
    for seq, pointer, action in t.actions:
        if not isinstance(action, dict):
            message = f"This action is {type_with_article(action)}; expected an object."
            yield Violation(message, seq, pointer)
    for seq, pointer, value in t.action_lists:
        if not isinstance(value, list) and not (t.version == "0.54" and isinstance(value, dict)):
            actual = type_with_article(value)
            yield Violation(f"actions is {actual}; expected an array of objects.", seq, pointer)


@rule(
    "actions-single",
    "A single action is in an array.",
    v54=info("4.1.1"),
    when=_has_lists,
)
def actions_single(t: Transcript) -> Iterator[RuleIssue]:
    """Section 4.1.1 of 0.54 defines an array; the example in section 7 has an object.

    Both are accepted.
    """
    for seq, pointer, value in t.action_lists:
        if isinstance(value, dict):
            message = (
                "Section 4.1.1 defines an array of actions, but section 7 shows a single object. "
                "Most clients expect an array."
            )
            yield Violation(message, seq, pointer)


@rule(
    "action-complete",
    "Actions have a name and a description.",
    v55=must("5"),
    v54=should("7"),
    when=_has_actions,
)
def action_complete(t: Transcript) -> Iterator[RuleIssue]:
    """Programs use the name (in 0.54 also url, section 4.1.1), people read the description."""
    for seq, pointer, action in _actions(t):
        for name in ("name", "description")[_is_called_by_url(t, action) :]:
            if not is_nonempty_text(action.get(name)):
                yield Violation(f"Set {name} to a string.", seq, f"{pointer}/{name}")


@rule(
    "action-protocol",
    "Actions have a protocol: HTTP, MCP or A2A.",
    v55=must("5"),
    v54=info("7"),
    when=_has_actions,
)
def action_protocol(t: Transcript) -> Iterator[RuleIssue]:
    """In 0.54 it is in section 7 only: the HTTP examples leave it out."""
    for seq, pointer, action in _actions(t):
        protocol = action.get("protocol")
        if isinstance(protocol, str) and protocol in _NEEDED:
            continue
        if "protocol" not in action and _is_called_by_url(t, action):
            continue
        actual = "is missing, which means HTTP"
        if "protocol" in action:
            named_so = (
                f'"{protocol[:40]}"' if isinstance(protocol, str) else type_with_article(protocol)
            )
            actual = f"is {named_so}"
        message = f"protocol {actual}. Set it to HTTP, MCP or A2A."
        if "protocol" in action and not isinstance(protocol, str):
            yield wrong_type(t, message, seq, f"{pointer}/protocol")
        else:
            yield Violation(message, seq, f"{pointer}/protocol")


@rule(
    "action-target",
    "Actions have the members that their protocol requires.",
    v55=must("5"),
    v54=should("7"),
    when=_has_actions,
)
def action_target(t: Transcript) -> Iterator[RuleIssue]:
    """HTTP requires method and endpoint; MCP server and tool; A2A agent_url and skill.

    In 0.54 url may name the target of any of them (section 4.1.1).
    """
    for seq, pointer, action in _actions(t):
        if _is_called_by_url(t, action):
            continue
        protocol = action.get("protocol", "HTTP")
        for name in _NEEDED.get(protocol, ()) if isinstance(protocol, str) else ():
            if not is_nonempty_text(action.get(name)):
                message = f"{protocol} actions require {name}, a string."
                yield Violation(message, seq, f"{pointer}/{name}")


def _addresses(t: Transcript) -> Iterator[Location]:
    for seq, pointer, action in _actions(t):
        for name in ("url",) if _is_called_by_url(t, action) else _ADDRESSES:
            if is_nonempty_text(action.get(name)):
                yield Location(seq, f"{pointer}/{name}", action[name])


@rule(
    "action-address",
    "Action URLs are absolute and use http or https.",
    v55=should("5"),
    v54=should("7"),
    when=lambda t: t.has_response and next(_addresses(t), None) is not None,
)
def action_address(t: Transcript) -> Iterator[RuleIssue]:
    """A relative URL has no base here, and other schemes may run code."""
    for seq, pointer, address in _addresses(t):
        if not _CALLABLE.match(address):
            message = "Use an absolute URL with scheme and host; clients don’t call other URLs."
            yield Violation(message, seq, pointer)


@rule(
    "action-url",
    "Action URLs are URLs by their grammar.",
    v55=must("5"),
    v54=should("7"),
    when=lambda t: t.has_response and next(_addresses(t), None) is not None,
)
def action_url(t: Transcript) -> Iterator[RuleIssue]:
    """URLs of HTTP have a host. Spaces and some other characters have to be percent-encoded."""
    for seq, pointer, address in _addresses(t):
        if not is_uri_reference(address):
            message = "This is not a URL. Add a host; escape spaces and other characters."
            yield Violation(message, seq, pointer)


def _http_actions(t: Transcript) -> Iterator[Location]:
    return (each for each in _actions(t) if each.value.get("protocol", "HTTP") == "HTTP")


def _methods(t: Transcript) -> Iterator[Location]:
    for seq, pointer, action in _http_actions(t):
        if is_nonempty_text(action.get("method")):
            yield Location(seq, f"{pointer}/method", action["method"])


@rule(
    "action-method",
    "The method of an HTTP action is an HTTP method.",
    v55=must("5"),
    v54=should("7"),
    when=lambda t: t.has_response and next(_methods(t), None) is not None,
)
def action_method(t: Transcript) -> Iterator[RuleIssue]:
    """Methods are words without spaces, and case-sensitive (RFC 9110, section 9.1)."""
    for seq, pointer, method in _methods(t):
        capitals = method.upper()
        is_misspelled = method != capitals and capitals in _HTTP_METHODS
        if is_misspelled or not is_token(method):
            message = "This is not an HTTP method. Use one such as POST or GET, in capitals."
            yield Violation(message, seq, pointer)


def _headers(t: Transcript) -> Iterator[Location]:
    for seq, pointer, action in _http_actions(t):
        if isinstance(action.get("headers"), dict):
            yield Location(seq, f"{pointer}/headers", action["headers"])


@rule(
    "action-headers",
    "The headers of an HTTP action have valid names and values.",
    v55=must("5"),
    v54=should("7"),
    when=lambda t: t.has_response and next(_headers(t), None) is not None,
)
def action_headers(t: Transcript) -> Iterator[RuleIssue]:
    """By the grammar of HTTP (RFC 9110, section 5): each value is one line of text."""
    for seq, pointer, headers in _headers(t):
        for name, value in headers.items():
            at = f"{pointer}/{escape(name)}"
            if not is_token(name):
                yield Violation("This is not the name of a header.", seq, at)
            elif value is None or isinstance(value, dict | list):
                message = f"This value is {type_with_article(value)}; expected a string."
                yield Violation(message, seq, at)
            elif isinstance(value, str) and has_control(value):
                yield Violation("Remove line breaks and control characters.", seq, at)


RULES = (
    actions_list,
    actions_single,
    action_complete,
    action_protocol,
    action_target,
    action_address,
    action_url,
    action_method,
    action_headers,
)
