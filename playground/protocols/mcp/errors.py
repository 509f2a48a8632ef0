"""Problems of MCP servers: why an exchange failed, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from playground.protocols import unreadable
from playground.protocols.mcp import http_sse
from playground.protocols.mcp.responses import McpResponse
from playground.protocols.mcp.versions import VERSIONS
from playground.protocols.problems import Problem, Stage

#: Statuses after which another generation of the protocol would fare no better.
FINAL = frozenset({401, 402, 403, 407, 421, 429, 502, 503, 504})

_FIXES: Mapping[int, str] = {
    403: "Check the credentials and headers: MCP servers also refuse an unknown Origin header.",
    404: "Check the URL: over MCP, requests are sent to exactly this URL, often ending in /mcp.",
    405: "Check the URL: an MCP server accepts POST requests at its URL.",
    406: "Remove Accept from the agent’s headers: MCP needs both application/json and"
    " text/event-stream in it.",
    421: "Check the host in the URL: this server serves other hosts only. A local one may require"
    " localhost or 127.0.0.1.",
}


def no_response(response: McpResponse) -> Problem:
    """Return the problem of an HTTP response that ended without the answer to its call."""
    found, status = response.problem, response.status
    if found is not None and found.state == "refused":
        return found
    if response.is_resumable:
        return _cut_short(response.position.refusal)
    if response.is_resumption and status and not response.streamed:
        return _cut_short(f"Resuming it failed: HTTP {status}.", response.text)
    if found is not None and found.state != "failed":
        return found
    is_empty = response.streamed and not response.has_message
    if (found is None or is_empty) and response.streamed and status // 100 == 2:
        return _cut_short()
    if found is None:
        what = "contains no response to the call" if response.text.strip() else "is empty"
        found = unreadable.unreadable_problem(what, status, response.headers, response.text)
    return replace(found, fix=fix_for(status, response.headers))


def not_nlweb(response: McpResponse) -> Problem:
    """Return the problem of an answer to an NLWeb tool that holds nothing of NLWeb."""
    what = "is the result of a tool, but not an NLWeb response"
    found = unreadable.unreadable_problem(what, response.status, response.headers, response.text)
    return replace(
        found,
        fix="Check which tool accepts queries, and set it as the tool for ask in the agent’s form.",
    )


def fix_for(status: int, headers: Mapping[str, str]) -> str:
    """Return what to do about an HTTP status, as `unreadable.fix_for_status` does for NLWeb."""
    if status // 100 == 2:
        return "Check that this is the URL of an MCP server; the response is in the Wire tab."
    if status in unreadable.DENIALS and headers.get("www-authenticate"):
        return unreadable.fix_for_status(status, headers)
    return _FIXES.get(status) or unreadable.fix_for_status(status, headers)


def no_common_version(versions: Sequence[str]) -> Problem:
    listed = ", ".join(each[:40] for each in versions[:10])
    oldest, *_, newest = VERSIONS
    return Problem(
        "failed",
        Stage.DECODE,
        f"The server supports only other versions of MCP: {listed}.",
        f"The server must support a version from {oldest} to {newest}.",
    )


def old_transport() -> Problem:
    """Return the problem of a server with the transport before streamable HTTP."""
    return Problem("failed", Stage.DECODE, http_sse.CAUSE, http_sse.FIX)


def not_stateless(version: str) -> Problem:
    return Problem(
        "failed",
        Stage.DECODE,
        f"The server does not support MCP {version}, which is set as the version to use.",
        "Set the MCP version to Automatic, or to a version with sessions.",
    )


def _cut_short(reason: str = "", detail: str = "") -> Problem:
    cause = "The event stream ended before the response to the call."
    return Problem(
        "truncated",
        Stage.BODY,
        f"{cause} {reason}".rstrip(),
        "Check the server’s log: it stopped before its response was complete.",
        detail,
    )
