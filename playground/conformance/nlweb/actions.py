"""Rules on actions at any depth of the result items: section 5 (0.54: section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from playground.conformance.nlweb.transcript import Transcript, content, milder_in_054
from playground.conformance.rule import RuleIssue, Violation, info, must, should
from playground.conformance.shape import (
    Place,
    is_array,
    is_nonempty_text,
    is_object,
    never,
    objects,
    present,
    those,
    type_with_article,
)
from playground.conformance.uris import is_uri_reference
from playground.protocols.headers import has_control, is_token
from playground.protocols.json_pointer import escape

rule, row = content.rule, content.row

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


def _all(t: Transcript) -> Iterable[Place]:
    return t.actions


def _lists(t: Transcript) -> Iterable[Place]:
    return t.action_lists


def _judged_lists(t: Transcript) -> Iterator[Place]:
    """Yield the lists without single actions in 0.54."""
    return (p for p in t.action_lists if t.version != "0.54" or not isinstance(p.value, dict))


_actions = objects(_all)


def _is_called_by_url(t: Transcript, action: dict[str, Any]) -> bool:
    """Return whether `url` names the target: 0.54 describes actions so in section 4.1.1."""
    is_open = t.version == "0.54" and action.keys().isdisjoint((*_ADDRESSES, "server"))
    return is_open and is_nonempty_text(action.get("url"))


def _texts(t: Transcript) -> Iterator[Place]:
    for seq, pointer, action in _actions(t):
        for name in ("name", "description")[_is_called_by_url(t, action) :]:
            yield seq, f"{pointer}/{name}", action.get(name)


def action_protocol(t: Transcript) -> Iterator[RuleIssue]:
    for seq, pointer, action in _actions(t):
        protocol, level = action.get("protocol"), None
        if "protocol" not in action:
            if _is_called_by_url(t, action):
                continue
            actual = "is missing, which means HTTP"
        elif not isinstance(protocol, str):
            actual, level = f"is {type_with_article(protocol)}", milder_in_054(t)
        elif protocol in _NEEDED:
            continue
        else:
            actual = f'is "{protocol[:40]}"'
        message = f"protocol {actual}. Set it to HTTP, MCP or A2A."
        yield Violation(message, seq, f"{pointer}/protocol", level)


def action_target(t: Transcript) -> Iterator[RuleIssue]:
    for seq, pointer, action in _actions(t):
        if _is_called_by_url(t, action):
            continue
        protocol = action.get("protocol", "HTTP")
        for name in _NEEDED.get(protocol, ()) if isinstance(protocol, str) else ():
            if not is_nonempty_text(action.get(name)):
                message = f"{protocol} actions require {name}, a string."
                yield Violation(message, seq, f"{pointer}/{name}")


def _addresses(t: Transcript) -> Iterator[Place]:
    for seq, pointer, action in _actions(t):
        for name in ("url",) if _is_called_by_url(t, action) else _ADDRESSES:
            if is_nonempty_text(action.get(name)):
                yield seq, f"{pointer}/{name}", action[name]


_http_actions = those(_actions, lambda action: action.get("protocol", "HTTP") == "HTTP")
_headers = objects(present(_http_actions, "headers"))


def _is_method(method: str) -> bool:
    capitals = method.upper()
    is_misspelled = method != capitals and capitals in _HTTP_METHODS
    return not is_misspelled and is_token(method)


def action_headers(t: Transcript) -> Iterator[RuleIssue]:
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


# fmt: off
RULES = (
    row("actions-list", "The actions of a result are an array of objects.", must("4.1.1"),
        _all, {is_object: "This action is {actual}; expected an object."},
        (_judged_lists, {is_array: "actions is {actual}; expected an array of objects."}),
        when=_lists,
        why="The example in section 7 of 0.54 has a single object: see `actions-single`."),
    row("actions-single", "A single action is in an array.", (None, info("4.1.1")),
        objects(_lists), {
            never: "Section 4.1.1 defines an array of actions, but section 7 shows a single "
                   "object. Most clients expect an array.",
        }, when=_lists,
        why="Section 4.1.1 of 0.54 defines an array; the example in section 7 has an object.\n\n"
            "Both are accepted."),
    row("action-complete", "Actions have a name and a description.", (must("5"), should("7")),
        _texts, {is_nonempty_text: "Set {name} to a string."}, when=_all,
        why="Programs use the name (in 0.54 also url, section 4.1.1), people read the "
            "description."),
    rule("action-protocol", "Actions have a protocol: HTTP, MCP or A2A.", (must("5"), info("7")),
        action_protocol, when=_all,
        why="In 0.54 it is in section 7 only: the HTTP examples leave it out."),
    rule("action-target", "Actions have the members that their protocol requires.",
        (must("5"), should("7")), action_target, when=_all,
        why="HTTP requires method and endpoint; MCP server and tool; A2A agent_url and skill.\n\n"
            "In 0.54 url may name the target of any of them (section 4.1.1)."),
    row("action-address", "Action URLs are absolute and use http or https.",
        (should("5"), should("7")), _addresses, {
            _CALLABLE.match:
                "Use an absolute URL with scheme and host; clients don’t call other URLs.",
        },
        why="A relative URL has no base here, and other schemes may run code."),
    row("action-url", "Action URLs are URLs by their grammar.", (must("5"), should("7")),
        _addresses,
        {is_uri_reference: "This is not a URL. Add a host; escape spaces and other characters."},
        why="URLs of HTTP have a host. Spaces and some other characters have to be "
            "percent-encoded."),
    row("action-method", "The method of an HTTP action is an HTTP method.",
        (must("5"), should("7")), those(present(_http_actions, "method"), is_nonempty_text),
        {_is_method: "This is not an HTTP method. Use one such as POST or GET, in capitals."},
        why="Methods are words without spaces, and case-sensitive (RFC 9110, section 9.1)."),
    rule("action-headers", "The headers of an HTTP action have valid names and values.",
        (must("5"), should("7")), action_headers, when=_headers,
        why="By the grammar of HTTP (RFC 9110, section 5): each value is one line of text."),
)
# fmt: on
