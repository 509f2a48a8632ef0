"""The examples that the five specification texts print: requests sent, responses served as printed.

The files are those of `tests/examples/`, named for the section of their text. A response without
a printed request answers a plain query, and a request without a printed response gets `ANSWER`.
What is printed as a fragment has the least envelope: a request gets a query, metadata and results
go into a response. Over MCP only the id of a printed response is changed, to that of the request.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cases import Answer, ask, mcp_server
from tests.support.servers import Script, reply

EXAMPLES = Path(__file__).parents[1] / "examples"

#: Generations of MCP that each example is sent in: with a session, and without one.
GENERATIONS = ("2025-06-18", "2026-07-28")
_OMELETTE = {"@type": "Recipe", "name": "Omelette"}
#: Events of a run that the example itself does not contain.
_HANDSHAKE = ("handshake", "tools", "end")
_STREAM, _LINES = "text/event-stream", "application/x-ndjson"


@dataclass(frozen=True)
class Example:
    """A printed request, a printed response, or both, and what becomes of them."""

    #: Files in `tests/examples/`, "" where none is printed.
    request: str
    response: str = ""
    #: Types of the events, each with its number; "" for just what the response is.
    events: str = ""
    #: Rules that fail, with their levels.
    findings: Mapping[str, str] = field(default_factory=dict)
    #: Whether objects are served as lines without the framing of events.
    lines: bool = False

    @property
    def name(self) -> str:
        """The name in the table."""
        lines = " as lines" if self.lines else ""
        return " → ".join(filter(None, (self.request, self.response))) + lines

    @property
    def outcome(self) -> str:
        """What the response says that it is."""
        named = re.search(
            r'response_type\\*": *\\*"(\w+)', text_of(self.response) if self.response else ""
        )
        return named[1] if named else "answer"

    @property
    def status(self) -> str:
        """Status that the text prints, or that belongs to the response by section 7.4 of 0.55."""
        if self.response == "nlweb-0.54/response-http-6.json":
            return "400 Bad Request"
        return "202 Accepted" if self.outcome == "promise" else "200 OK"

    @property
    def types(self) -> str:
        """Types of all events."""
        shown = "result" if self.outcome == "answer" else self.outcome
        return self.events or f"started {shown} completed"

    @property
    def ending(self) -> tuple[str, str, int]:
        """State, outcome and exit code of `send`."""
        return "completed", self.outcome, int(self.outcome == "failure")

    @property
    def binding(self) -> str:
        """Folder of the files without the version."""
        return (self.response or self.request).partition("/")[0].rpartition("-")[0]

    @property
    def version(self) -> str:
        """Version in the name of the folder."""
        return (self.response or self.request).partition("/")[0].rpartition("-")[2]

    @property
    def document(self) -> dict[str, Any]:
        """The document to send."""
        if not self.request:
            return {"query": {"text": "eggs"}}
        printed: dict[str, Any] = json.loads(text_of(self.request))
        if "jsonrpc" in printed:
            return printed["params"]["arguments"]
        return {"query": {"text": "eggs"}, **printed} if "/section-" in self.request else printed

    @property
    def texts(self) -> set[str]:
        """The texts of the response that a page has to show."""
        if not self.response:
            return set()
        text = text_of(self.response)
        if self.response.endswith(".json"):
            payloads = [json.loads(text)]
        else:
            lines = (line.removeprefix("data: ") for line in text.splitlines())
            payloads = [json.loads(line) for line in lines if line.startswith("{")
                        and ", ...}" not in line]  # fmt: skip
        return {" ".join(text.split()) for payload in payloads for text in _texts(payload)}


def text_of(path: str) -> str:
    """The text of a file of an example."""
    return (EXAMPLES / path).read_text("utf-8")


#: Members whose strings are for reading.
_READABLE = frozenset(
    "name title description text message code summary options category items".split()
)


def _texts(value: Any, name: str = "", *, is_action: bool = False) -> Iterator[str]:
    if isinstance(value, str) and value.startswith('{"'):
        yield from _texts(json.loads(value))
    elif isinstance(value, str) and is_action:
        if name == "name":
            yield value.replace("_", " ").capitalize()
    elif isinstance(value, str) and name in _READABLE:
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from _texts(part, name, is_action=is_action)
    elif isinstance(value, dict):
        for key, part in value.items():
            # A delta is part of the text that follows it.
            if not (key == "text" and value.get("delta")):
                yield from _texts(part, key, is_action=is_action or key == "actions")


# --- sending and serving ----------------------------------------------------------------------


def run(example: Example, generation: str = GENERATIONS[0]) -> Answer:
    """Send the request of an example to a server that responds as the text prints it."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
        json.dump(example.document, file)
        file.flush()
        arguments = ["--request", file.name]
        if example.binding == "agent":
            return ask(_agent_api(example), arguments=(*arguments, "--protocol", "agent-api"))
        arguments += ["--protocol-version", example.version]
        if example.binding == "nlweb":
            return ask(_document_or_stream(example), arguments=tuple(arguments))
        arguments += ["--binding", "mcp", "--mcp-version", generation, "--tool", _tool(example)]
        return ask(answer=_mcp_server(example, generation), arguments=tuple(arguments))


def _tool(example: Example) -> str:
    if not example.request:
        return "ask"
    return str(json.loads(text_of(example.request))["params"]["name"])


def _answer(version: str, **members: Any) -> str:
    """A whole answer with a result, for what is printed without one."""
    meta = {"response_type": "answer", "version": version}
    return json.dumps({"_meta": meta, "results": [{**_OMELETTE, **members}]})


def _document_or_stream(example: Example) -> bytes:
    response, version = example.response, example.version
    if response.endswith(".sse"):
        return reply(text_of(response).encode(), _STREAM, example.status)
    body = text_of(response) if response else _answer(version)
    if "/actions-" in response:
        body = _answer(version, **json.loads(body))
    elif response.endswith("4.1.1-conversational-search.json") and version == "0.54":
        # Section 4.1.1 of 0.54 prints the results alone.
        body = json.dumps({**json.loads(_answer(version)), **json.loads(body)})
    return reply(body.encode(), status=example.status)


def _agent_api(example: Example) -> bytes:
    lines = text_of(example.response)
    if example.lines:
        return reply(lines.encode(), _LINES)
    return reply("".join(f"data: {line}\n\n" for line in lines.splitlines()).encode(), _STREAM)


def _mcp_server(example: Example, generation: str) -> Callable[[bytes], Script]:
    """A server with the printed tools. Without a session it responds in an event stream."""
    tools = (
        json.loads(text_of(f"mcp-{example.version}/tool-{name}.json")) for name in ("ask", "await")
    )
    is_stateless = generation == GENERATIONS[1]
    members: dict[str, Any] = {}
    if is_stateless:
        server = {"io.modelcontextprotocol/serverInfo": {"name": "recipes", "version": "1"}}
        members = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": server}

    def called(number: Any) -> Script:
        if not example.response:
            result = {"content": [{"type": "text", "text": _answer(example.version)}], **members}
            return [reply(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode())]
        own = f'"id": {json.dumps(number)}'
        text = re.sub(r'"id": [^,]+', lambda _: own, text_of(example.response), count=1)
        if not is_stateless:
            return [reply(text.encode())]
        data = "".join(f"data: {line}\n" for line in text.splitlines())
        return [reply(f"event: message\n{data}\n".encode(), _STREAM)]

    return mcp_server(called, *tools, version=generation, members=members)


def body_of(raw: bytes) -> Any:
    """The JSON body of a request."""
    return json.loads(raw.partition(b"\r\n\r\n")[2])


def sent(answer: Answer) -> list[tuple[str, Any]]:
    """Request line and document of each request that is not of a handshake.

    Without the session id that a first request to an Agent API agent gets.
    """
    posted = [(raw.partition(b" HTTP")[0].decode(), body_of(raw)) for raw in answer.requests
              if raw.startswith(b"POST")]  # fmt: skip
    for _, body in posted:
        body.pop("session_id", None)
    return [
        (line, body.get("params", {}).get("arguments", body) if "jsonrpc" in body else body)
        for line, body in posted
        if body.get("method", "tools/call") == "tools/call"
    ]


def events_of(answer: Answer) -> str:
    """Types of the events and their numbers, without those of a handshake."""
    counted = Counter(line["type"] for line in answer.lines if line["type"] not in _HANDSHAKE)
    return " ".join(f"{kind}*{n}" if n > 1 else kind for kind, n in counted.items())


def not_shown(example: Example, answer: Answer) -> set[str]:
    """Texts of the response that the page of the run does not show."""
    page = answer.page
    return {text for text in example.texts if text not in page}


# --- the table --------------------------------------------------------------------------------

#: A plain answer does not return the session context of the request.
_NOT_RETURNED = {"session-context-echoed": "info"}
#: 0.54 has actions without a protocol: they are HTTP actions.
_NO_PROTOCOL = {"action-protocol": "info"}
#: 004 prints a response as the result itself; the content that MCP requires is then missing.
_UNWRAPPED = {"mcp.reply-shape": "info", "mcp.result-content": "info"}
#: The streams of 002 have a role as the type of a message, no sequence numbers and no usage.
_STREAMS_OF_002 = {"agent-api.message-type-used": "info", "agent-api.sequence-present": "info"}
#: Members that MCP 2026-07-28 requires of a result and that no text prints.
STATELESS = {"mcp.result-type": "must", "mcp.server-named": "should"}
#: The printed action is a placeholder: `{"...": "..."}`.
_PLACEHOLDER = {"action-complete": "must", "action-protocol": "must", "action-target": "must"}
_PLACEHOLDER_54 = {**_NO_PROTOCOL, "action-complete": "should", "action-target": "should"}
#: An answer of text alone, with the metadata beside the content.
_TEXT_ALONE = {"answer-structured": "info", "mcp.reply-shape": "info"}
#: Parts of the type `instruction`.
_INSTRUCTIONS = {"content-parts-spelled": "info", "mcp.reply-shape": "info",
                 "mcp.content-parts": "info"}  # fmt: skip


def _printed(folder: str, *rows: tuple[Any, ...]) -> Iterator[Example]:
    """Yield the examples of a folder.

    A row is request, response, the events after `started` if they are not just what the response
    is, and findings.
    """
    for request, response, *rest in rows:
        files = (
            name and f"{folder}/{name}" + ".json" * (not name.endswith(".sse"))
            for name in (request, response)
        )
        events, findings = rest if len(rest) == 2 else (*rest, *("", {})[len(rest) :])
        yield Example(*files, events=events and f"started {events}", findings=findings)


TABLE = [
    # 000: NLWeb 0.55
    *_printed(
        "nlweb-0.55",
        ("ask-3.1", "response-4.1.1-conversational-search", "result*3 completed", _PLACEHOLDER),
        ("section-3.2-default", ""),
        ("section-3.2-custom", ""),
        ("section-3.3", "response-4.1.1-chatgpt-app", "text result completed"),
        ("section-3.4-text-user", "", "", _NOT_RETURNED),
        ("section-3.4-object-user", ""),
        ("", "response-4.1.2-promise"),
        ("ask-4.1.3", "response-4.1.3-elicitation"),
        ("", "response-4.1.4-failure"),
        ("await-4.2", ""),
        ("", "actions-5-http"),
        ("", "actions-5-mcp"),
        ("ask-6.2", "stream-6.2.sse", "result*3 completed"),
        ("ask-B.1", "response-B.1-answer"),
        ("ask-B.2", "response-B.2-elicitation"),
        ("ask-B.3", "response-B.3-promise"),
        ("await-B.3", ""),
        ("ask-B.4", "stream-B.4.sse", "result*3 completed"),
        ("ask-B.5", "response-B.5-failure"),
    ),
    # 000, appendices A and C: over MCP
    *_printed(
        "mcp-0.55",
        ("ask-A.3", "response-A.3", "text completed", _TEXT_ALONE),
        ("ask-C.1", "response-C.1"),
        ("", "response-C.2"),
        ("await-C.2", ""),
    ),
    # 001: NLWeb 0.54, and 003: 0.54 over HTTP
    *_printed(
        "nlweb-0.54",
        ("ask-3.1", "response-4.1.1-conversational-search", "result*2 completed", _PLACEHOLDER_54),
        ("section-3.2", ""),
        # A plain answer is not in the format that the request prefers.
        ("section-3.3", "", "", {"format-honoured": "should"}),
        ("section-3.4", "", "", _NOT_RETURNED),
        # `response_type` is at the top, without `_meta`.
        ("", "response-4.1.2-promise", "", {"meta-top-level": "info"}),
        ("ask-4.1.3", "response-4.1.3-elicitation"),
        # The metadata lack the version.
        ("", "response-4.1.4-failure", "", {"version-in-failure": "info"}),
        ("await-4.2", ""),
        # One action without a list around it.
        ("", "actions-7", "", {"actions-single": "info"}),
        ("ask-http-1", "response-http-1", "result*2 completed", _NO_PROTOCOL),
        # The session context comes back without the preferences of the user.
        ("ask-http-2", "response-http-2", "text result*3 completed", _NOT_RETURNED),
        ("ask-http-3", "response-http-3"),
        ("ask-http-4", "response-http-4"),
        ("await-http-4", "response-http-4-processing", "", _NOT_RETURNED),
        ("await-http-4", "response-http-4-final", "", _NO_PROTOCOL),
        # Also the message of the event `end`, which comes after the last one.
        ("ask-http-5", "stream-http-5.sse", "result*4 text*4 completed unknown"),
        ("ask-http-6", "response-http-6"),
        ("ask-http-7", "response-http-7", "text*4 result*3 completed"),
    ),
    # 004: 0.54 over MCP
    *_printed(
        "mcp-0.54",
        ("ask-1", "response-1", "result*2 completed", {**_NO_PROTOCOL, **_UNWRAPPED}),
        ("ask-2", "response-2", "text result*3 completed", {**_NOT_RETURNED, **_UNWRAPPED}),
        ("ask-3", "response-3", "", _UNWRAPPED),
        ("ask-4", "response-4", "", _UNWRAPPED),
        ("await-4", "response-4-processing", "", {**_NOT_RETURNED, **_UNWRAPPED}),
        ("await-4-final", "response-4-final", "", {**_NO_PROTOCOL, **_UNWRAPPED}),
        ("ask-5", "response-5", "text*3 result*4 completed", _INSTRUCTIONS),
        ("ask-6", "response-6"),
        ("ask-7", "response-7", "text*4 result*3 completed", {"mcp.reply-shape": "info"}),
    ),
    # 002: Agent API. It prints the objects as lines, and requests an event stream.
    *(
        Example(
            "agent-api/request-use-case.json", "agent-api/stream-sequence.jsonl",
            events="status unknown*3 message content*4" if lines
            else "status message content*4 unknown*2",
            lines=lines,
            # The last two objects have an ellipsis, so they are no JSON and end nothing.
            findings={
                **_STREAMS_OF_002, "agent-api.data-json": "must",
                "agent-api.response-ended": "must", "agent-api.message-ended": "should",
                "agent-api.delta-sum-punctuation": "info",
            },
        )
        for lines in (False, True)
    ),
    *(
        Example(
            "agent-api/request-use-case.json", "agent-api/stream-use-case.jsonl",
            # A remark on the framing.
            events="status*4 unknown message content*2" if lines
            else "status*4 message content*2",
            lines=lines,
            findings={
                **_STREAMS_OF_002, "agent-api.usage": "info", "agent-api.times": "info",
                **({"agent-api.data-json": "info"} if lines else {}),
            },
        )
        for lines in (False, True)
    ),
]  # fmt: skip
