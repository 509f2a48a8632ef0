"""Responses and files as other people's servers, clients and tools wrote them.

Every test of this package stands at a boundary that outlives the code behind it: bytes of a
response or a file go in; JSON lines, an exit code or the text of a page come out. The files are
in `files/`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.test import Client

from tests.support.commands import run_command
from tests.support.markup import read
from tests.support.servers import Script, head, reply, serving

FILES = Path(__file__).parent / "files"


@dataclass(frozen=True)
class Answer:
    """What `send --output jsonl` made of a response."""

    code: int
    lines: list[dict[str, Any]]
    stderr: str
    #: The requests that the agent received, head and body.
    requests: list[bytes]

    @property
    def end(self) -> dict[str, Any]:
        """The last line."""
        return self.lines[-1]

    @property
    def ending(self) -> tuple[str, str, int]:
        """State, outcome, and exit code of the command."""
        return self.end["state"], self.end["outcome"], self.code

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of a type, as lines."""
        return [line for line in self.lines if line["type"] == kind]

    @property
    def findings(self) -> dict[str, str]:
        """Levels of the rules that failed."""
        return {
            found["rule"]: found["level"]
            for found in self.end["findings"]
            if found["verdict"] == "fail"
        }

    @functools.cached_property
    def page(self) -> str:
        """The text of the response's pane, as a tab loads it."""
        return page_text(f"/runs/{self.end['run']}/response/", "response")


def ask(
    *script: Any, arguments: tuple[str, ...] = (), answer: Callable[[bytes], Script] | None = None
) -> Answer:
    """Send a request to an agent that follows a script of bytes (`tests.support.servers`)."""
    with serving(*script, answer=answer) as server:
        # A raw request needs no text.
        is_complete = {"--text", "--request", "-d", "-X", "--path"} & {*arguments}
        given = arguments if is_complete else ("--text", "x", *arguments)
        done = run_command("send", server.url, "--output", "jsonl", *given)
    lines = done.json_lines
    assert lines, done.stderr
    return Answer(done.returncode, lines, done.stderr, server.requests)


#: The tools of NLWeb, as 0.55 A.1 and A.2 define them.
MCP_TOOLS = {
    name: json.loads((FILES.parents[1] / f"examples/mcp-0.55/tool-{name}.json").read_text("utf-8"))
    for name in ("ask", "await")
}
MCP_ARGUMENTS = ("--binding", "mcp", "--mcp-version", "2025-06-18")


def mcp_server(
    called: Callable[[Any], Script],
    *tools: dict[str, Any],
    version: str = "2025-06-18",
    members: dict[str, Any] | None = None,
) -> Callable[[bytes], Script]:
    """The `answer` of an MCP server: `called` scripts a tool call, by its id.

    It keeps sessions, unless it is of the version 2026-07-28. `members` are in every result.
    """
    capabilities = {"capabilities": {"tools": {}}}
    results: dict[str, Any] = {
        "initialize": {"protocolVersion": version, "serverInfo": {"name": "a", "version": "1"}},
        "tools/list": {"tools": tools or [*MCP_TOOLS.values()]},
    }
    results["initialize"] |= capabilities
    if version == "2026-07-28":
        results["server/discover"] = {"supportedVersions": [version], **capabilities}

    def answer(request: bytes) -> Script:
        if not request.startswith(b"POST"):
            return [reply(b"", status="405 Method Not Allowed")]
        message = json.loads(request.partition(b"\r\n\r\n")[2])
        if "id" not in message:
            return [head("202 Accepted", content_length="0")]
        if (method := message["method"]) == "tools/call":
            return called(message["id"])
        found: dict[str, Any] = {"error": {"code": -32601, "message": "Method not found"}}
        if method in results:
            found = {"result": {**results[method], **(members or {})}}
        return [reply(json.dumps({"jsonrpc": "2.0", "id": message["id"], **found}).encode())]

    return answer


def page_text(path: str, part: str = "") -> str:
    """The text of a page of the site, or of an element of it, with single spaces."""
    response = Client().get(path)
    assert response.status_code == 200, response.content
    html = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", "", response.content.decode())
    found = read(html).by_id(part) if part else read(html)
    assert found, part
    return found.words
