"""Rules on actions at any depth of the result items: section 5 (0.54: section 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from playground.conformance.response_parts import Location
from playground.conformance.rule import RuleIssue, Violation, info, must, rule, should
from playground.conformance.transcript import Transcript
from playground.conformance.values import is_nonempty_text, type_with_article

#: Required members by protocol.
_NEEDED = {
    "HTTP": ("method", "endpoint"),
    "MCP": ("server", "tool"),
    "A2A": ("agent_url", "skill"),
}
#: Members with a URL to call.
_ADDRESSES = ("endpoint", "agent_url")
#: An HTTP scheme and a host.
_CALLABLE = re.compile(r"\s*https?://[^\s/?#@:\\]", re.IGNORECASE)


def _actions(t: Transcript) -> Iterator[Location]:
    return (location for location in t.actions if isinstance(location.value, dict))


def _has_lists(t: Transcript) -> bool:
    return t.has_response and bool(t.action_lists)


def _has_actions(t: Transcript) -> bool:
    return t.has_response and bool(t.actions)


@rule(
    "actions-list",
    "The actions of a result are an array.",
    v55=must("4.1.1"),
    v54=should("4.1.1"),
    when=_has_lists,
)
def actions_list(t: Transcript) -> Iterator[RuleIssue]:
    """0.54 requires it in section 4.1.1 and shows a single object in section 7."""
    for seq, pointer, value in t.action_lists:
        if not isinstance(value, list):
            actual = type_with_article(value)
            yield Violation(f"actions is {actual}; expected an array of objects.", seq, pointer)


@rule(
    "action-complete",
    "Actions are objects with a name and a description.",
    v55=must("5"),
    v54=should("7"),
    when=_has_actions,
)
def action_complete(t: Transcript) -> Iterator[RuleIssue]:
    """The name for programs, the description for people."""
    for seq, pointer, action in t.actions:
        if not isinstance(action, dict):
            yield Violation(
                f"This action is {type_with_article(action)}; expected an object.", seq, pointer
            )
            continue
        for name in ("name", "description"):
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
    """0.54 shows it in section 7, and its HTTP examples leave it out."""
    for seq, pointer, action in _actions(t):
        protocol = action.get("protocol")
        if isinstance(protocol, str) and protocol in _NEEDED:
            continue
        actual = "is missing, which means HTTP"
        if "protocol" in action:
            named_so = (
                f'"{protocol[:40]}"' if isinstance(protocol, str) else type_with_article(protocol)
            )
            actual = f"is {named_so}"
        yield Violation(
            f"protocol {actual}. Set it to HTTP, MCP or A2A.", seq, f"{pointer}/protocol"
        )


@rule(
    "action-target",
    "Actions have the members that their protocol requires.",
    v55=must("5"),
    v54=should("7"),
    when=_has_actions,
)
def action_target(t: Transcript) -> Iterator[RuleIssue]:
    """HTTP: method and endpoint. MCP: server and tool. A2A: agent_url and skill."""
    for seq, pointer, action in _actions(t):
        protocol = action.get("protocol", "HTTP")
        for name in _NEEDED.get(protocol, ()) if isinstance(protocol, str) else ():
            if not is_nonempty_text(action.get(name)):
                message = f"{protocol} actions require {name}, a string."
                yield Violation(message, seq, f"{pointer}/{name}")


def _addresses(t: Transcript) -> Iterator[Location]:
    for seq, pointer, action in _actions(t):
        for name in _ADDRESSES:
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
    """The URL to call: a relative one has no base, and other schemes may run code."""
    for seq, pointer, address in _addresses(t):
        if not _CALLABLE.match(address):
            message = "Use an absolute URL with scheme and host; clients don’t call other URLs."
            yield Violation(message, seq, pointer)


RULES = (actions_list, action_complete, action_protocol, action_target, action_address)
