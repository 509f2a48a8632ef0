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

from tests.cases import Answer, ask
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
    outcome: str = "answer"
    #: Types of the events, each with its number.
    events: str = ""
    #: Rules that fail, with their levels.
    findings: Mapping[str, str] = field(default_factory=dict)
    #: Status that the text prints, or that belongs to the response by section 7.4 of 0.55.
    status: str = "200 OK"
    #: Whether objects are served as lines without the framing of events.
    lines: bool = False

    @property
    def name(self) -> str:
        """The name in the table."""
        lines = " as lines" if self.lines else ""
        return " → ".join(filter(None, (self.request, self.response))) + lines

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
            arguments: dict[str, Any] = printed["params"]["arguments"]
            return arguments
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
    wrapped = {"content": [{"type": "text", "text": _answer(example.version)}]}
    tools = [json.loads(text_of(f"mcp-{example.version}/tool-{name}.json"))
             for name in ("ask", "await")]  # fmt: skip
    server = {"name": "recipes", "version": "1"}
    results = {
        "server/discover": {"supportedVersions": [generation], "capabilities": {"tools": {}}},
        "initialize": {"protocolVersion": generation, "capabilities": {"tools": {}},
                       "serverInfo": server},
        "tools/list": {"tools": tools},
        "tools/call": wrapped,
    }  # fmt: skip
    if is_stateless := generation == GENERATIONS[1]:
        for result in results.values():
            result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                              "_meta": {"io.modelcontextprotocol/serverInfo": server}}  # fmt: skip

    def answer(raw: bytes) -> Script:
        if not raw.startswith(b"POST"):
            return [reply(b"", status="405 Method Not Allowed")]
        message = body_of(raw)
        if "id" not in message:
            return [reply(b"", status="202 Accepted")]
        own, method = json.dumps(message["id"]), message["method"]
        if method != "tools/call" or not example.response:
            found = {"jsonrpc": "2.0", "id": message["id"], "result": results[method]}
            return [reply(json.dumps(found).encode())]
        text = re.sub(r'"id": [^,]+', lambda _: f'"id": {own}', text_of(example.response), count=1)
        if not is_stateless:
            return [reply(text.encode())]
        data = "".join(f"data: {line}\n" for line in text.splitlines())
        return [reply(f"event: message\n{data}\n".encode(), _STREAM)]

    return answer


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

_V55, _V54, _MCP55, _MCP54 = "nlweb-0.55/", "nlweb-0.54/", "mcp-0.55/", "mcp-0.54/"
_USE_CASE = "agent-api/request-use-case.json"
_ACCEPTED = "202 Accepted"

TABLE = [
    # 000: NLWeb 0.55
    Example(
        _V55 + "ask-3.1.json", _V55 + "response-4.1.1-conversational-search.json",
        events="started result*3 completed",
        # The action is a placeholder: `{"...": "..."}`.
        findings={"action-complete": "must", "action-protocol": "must", "action-target": "must"},
    ),
    Example(_V55 + "section-3.2-default.json", events="started result completed"),
    Example(_V55 + "section-3.2-custom.json", events="started result completed"),
    Example(
        _V55 + "section-3.3.json", _V55 + "response-4.1.1-chatgpt-app.json",
        events="started text result completed",
    ),
    Example(
        _V55 + "section-3.4-text-user.json", events="started result completed",
        findings=_NOT_RETURNED,
    ),
    Example(_V55 + "section-3.4-object-user.json", events="started result completed"),
    Example(
        "", _V55 + "response-4.1.2-promise.json", "promise", "started promise completed",
        status=_ACCEPTED,
    ),
    Example(
        _V55 + "ask-4.1.3.json", _V55 + "response-4.1.3-elicitation.json", "elicitation",
        "started elicitation completed",
    ),
    Example("", _V55 + "response-4.1.4-failure.json", "failure", "started failure completed"),
    Example(_V55 + "await-4.2.json", events="started result completed"),
    Example("", _V55 + "actions-5-http.json", events="started result completed"),
    Example("", _V55 + "actions-5-mcp.json", events="started result completed"),
    Example(
        _V55 + "ask-6.2.json", _V55 + "stream-6.2.sse", events="started result*3 completed"
    ),
    Example(
        _V55 + "ask-B.1.json", _V55 + "response-B.1-answer.json",
        events="started result completed",
    ),
    Example(
        _V55 + "ask-B.2.json", _V55 + "response-B.2-elicitation.json", "elicitation",
        "started elicitation completed",
    ),
    Example(
        _V55 + "ask-B.3.json", _V55 + "response-B.3-promise.json", "promise",
        "started promise completed", status=_ACCEPTED,
    ),
    Example(_V55 + "await-B.3.json", events="started result completed"),
    Example(
        _V55 + "ask-B.4.json", _V55 + "stream-B.4.sse", events="started result*3 completed"
    ),
    Example(
        _V55 + "ask-B.5.json", _V55 + "response-B.5-failure.json", "failure",
        "started failure completed",
    ),
    # 000, appendices A and C: over MCP
    Example(
        _MCP55 + "ask-A.3.json", _MCP55 + "response-A.3.json", events="started text completed",
        # An answer of text alone, with the metadata beside the content.
        findings={"answer-structured": "info", "mcp.reply-shape": "info"},
    ),
    Example(
        _MCP55 + "ask-C.1.json", _MCP55 + "response-C.1.json", events="started result completed"
    ),
    Example("", _MCP55 + "response-C.2.json", "promise", "started promise completed"),
    Example(_MCP55 + "await-C.2.json", events="started result completed"),
    # 001: NLWeb 0.54
    Example(
        _V54 + "ask-3.1.json", _V54 + "response-4.1.1-conversational-search.json",
        events="started result*2 completed",
        # The action is a placeholder.
        findings={**_NO_PROTOCOL, "action-complete": "should", "action-target": "should"},
    ),
    Example(_V54 + "section-3.2.json", events="started result completed"),
    # A plain answer is not in the format that the request prefers.
    Example(
        _V54 + "section-3.3.json", events="started result completed",
        findings={"format-honoured": "should"},
    ),
    Example(
        _V54 + "section-3.4.json", events="started result completed", findings=_NOT_RETURNED
    ),
    Example(
        "", _V54 + "response-4.1.2-promise.json", "promise", "started promise completed",
        # `response_type` is at the top, without `_meta`.
        findings={"meta-top-level": "info"}, status=_ACCEPTED,
    ),
    Example(
        _V54 + "ask-4.1.3.json", _V54 + "response-4.1.3-elicitation.json", "elicitation",
        "started elicitation completed",
    ),
    Example(
        "", _V54 + "response-4.1.4-failure.json", "failure", "started failure completed",
        # The metadata lack the version.
        findings={"version-in-failure": "info"},
    ),
    Example(_V54 + "await-4.2.json", events="started result completed"),
    Example(
        "", _V54 + "actions-7.json", events="started result completed",
        # One action without a list around it.
        findings={"actions-single": "info"},
    ),
    # 003: 0.54 over HTTP
    Example(
        _V54 + "ask-http-1.json", _V54 + "response-http-1.json",
        events="started result*2 completed", findings=_NO_PROTOCOL,
    ),
    Example(
        _V54 + "ask-http-2.json", _V54 + "response-http-2.json",
        events="started text result*3 completed",
        # The session context comes back without the preferences of the user.
        findings=_NOT_RETURNED,
    ),
    Example(
        _V54 + "ask-http-3.json", _V54 + "response-http-3.json", "elicitation",
        "started elicitation completed",
    ),
    Example(
        _V54 + "ask-http-4.json", _V54 + "response-http-4.json", "promise",
        "started promise completed", status=_ACCEPTED,
    ),
    Example(
        _V54 + "await-http-4.json", _V54 + "response-http-4-processing.json", "promise",
        "started promise completed", findings=_NOT_RETURNED, status=_ACCEPTED,
    ),
    Example(
        _V54 + "await-http-4.json", _V54 + "response-http-4-final.json",
        events="started result completed", findings=_NO_PROTOCOL,
    ),
    Example(
        _V54 + "ask-http-5.json", _V54 + "stream-http-5.sse",
        # Also the message of the event `end`.
        events="started result*4 text*4 completed unknown",
    ),
    Example(
        _V54 + "ask-http-6.json", _V54 + "response-http-6.json", "failure",
        "started failure completed", status="400 Bad Request",
    ),
    Example(
        _V54 + "ask-http-7.json", _V54 + "response-http-7.json",
        events="started text*4 result*3 completed",
    ),
    # 004: 0.54 over MCP
    Example(
        _MCP54 + "ask-1.json", _MCP54 + "response-1.json", events="started result*2 completed",
        findings={**_NO_PROTOCOL, **_UNWRAPPED},
    ),
    Example(
        _MCP54 + "ask-2.json", _MCP54 + "response-2.json",
        events="started text result*3 completed", findings={**_NOT_RETURNED, **_UNWRAPPED},
    ),
    Example(
        _MCP54 + "ask-3.json", _MCP54 + "response-3.json", "elicitation",
        "started elicitation completed", _UNWRAPPED,
    ),
    Example(
        _MCP54 + "ask-4.json", _MCP54 + "response-4.json", "promise",
        "started promise completed", _UNWRAPPED,
    ),
    Example(
        _MCP54 + "await-4.json", _MCP54 + "response-4-processing.json", "promise",
        "started promise completed", {**_NOT_RETURNED, **_UNWRAPPED},
    ),
    Example(
        _MCP54 + "await-4-final.json", _MCP54 + "response-4-final.json",
        events="started result completed", findings={**_NO_PROTOCOL, **_UNWRAPPED},
    ),
    Example(
        _MCP54 + "ask-5.json", _MCP54 + "response-5.json",
        events="started text*3 result*4 completed",
        # Parts of the type `instruction`.
        findings={"content-parts-spelled": "info", "mcp.reply-shape": "info",
                  "mcp.content-parts": "info"},
    ),
    Example(
        _MCP54 + "ask-6.json", _MCP54 + "response-6.json", "failure", "started failure completed"
    ),
    Example(
        _MCP54 + "ask-7.json", _MCP54 + "response-7.json",
        events="started text*4 result*3 completed", findings={"mcp.reply-shape": "info"},
    ),
    # 002: Agent API. It prints the objects as lines, and requests an event stream.
    *(
        Example(
            _USE_CASE, "agent-api/stream-sequence.jsonl",
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
            _USE_CASE, "agent-api/stream-use-case.jsonl",
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
