"""Why an MCP server could not be spoken to, in words that help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from playground.protocols import unreadable
from playground.protocols.mcp.responses import McpResponse
from playground.protocols.problems import Problem, Stage

#: Statuses after which another generation of the protocol would fare no better.
FINAL = frozenset({401, 402, 403, 407, 421, 429, 502, 503, 504})

_FIXES: Mapping[int, str] = {
    403: "Check the agent's credentials and headers: MCP servers also refuse an Origin header"
    " that they do not know.",
    404: "Check the agent's URL: over MCP requests go to exactly that address, often one that"
    " ends in /mcp.",
    405: "Check the agent's URL: an MCP server takes POST requests at its address.",
    406: "Leave Accept out of the agent's own headers: MCP needs both application/json and"
    " text/event-stream in it.",
    421: "Check the host in the agent's URL: this server answers for others only. One on this"
    " machine may insist on localhost or 127.0.0.1.",
}


def no_response(reply: McpResponse) -> Problem:
    """A reply that ended without the answer to its call."""
    found, status = reply.problem, reply.status
    if found is not None and found.state != "failed":
        return found
    if found is None and reply.streamed and status // 100 == 2:
        return _cut_short()
    if found is None:
        came = "holds no answer to the call" if reply.text.strip() else "is empty"
        found = unreadable.unreadable_problem(came, status, reply.headers, reply.text)
    return replace(found, fix=fix_for(status, reply.headers))


def not_nlweb(reply: McpResponse) -> Problem:
    """An answer to the call of an NLWeb tool in which there is nothing of NLWeb."""
    came = "is the result of a tool, but not an NLWeb reply"
    found = unreadable.unreadable_problem(came, reply.status, reply.headers, reply.text)
    return replace(
        found, fix="Check which tool of the server is the one for ask, and set it at the agent."
    )


def fix_for(status: int, headers: Mapping[str, str]) -> str:
    """What to do about a reply of this status, as `replies.fix_for` has it for NLWeb."""
    if status // 100 == 2:
        return "Check that the URL is that of an MCP server; the Wire tab shows what came."
    return _FIXES.get(status) or unreadable.fix_for_status(status, headers)


def no_common_version(versions: Sequence[str]) -> Problem:
    """A server that speaks none of the versions that the playground speaks."""
    listed = ", ".join(each[:40] for each in versions[:10])
    return Problem(
        "failed",
        Stage.DECODE,
        f"The server speaks other versions of MCP than the playground: {listed}.",
        "Ask the server's operator for one of the versions 2024-11-05 to 2026-07-28.",
    )


def _cut_short() -> Problem:
    """A stream that ended before the answer had come."""
    return Problem(
        "truncated",
        Stage.BODY,
        "The event stream ended before the answer to the call had come.",
        "Look into the server's log: it stopped before it had finished its answer.",
    )
