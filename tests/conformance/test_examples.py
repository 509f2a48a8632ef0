"""Every example of the specifications and every capture: the findings of a careful reader.

The expected findings are written by hand from the text of the specifications. The folders are those
of `tests/examples/`; a file name has the section of its example (`http-N`: the HTTP examples of
0.54).
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from playground.conformance import Verdict
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from tests.conformance.agent_api.scripts import at_once
from tests.conformance.mcp.scripts import Pair, call, pairs, response, run, said
from tests.conformance.scripts import ScriptedResponse, capture, document, numbered, sent, stream
from tests.support.agent_api_examples import REQUEST, SEQUENCE, USE_CASE
from tests.support.playbook import CAPTURES, EXAMPLES

NAMES = [
    (path.parent.name, path.stem)
    for path in sorted(EXAMPLES.glob("*-0.5[45]/*"))
    if path.stem.startswith(("response", "stream"))
]

#: The statuses that the examples are shown with; those shown without HTTP have the fitting one.
STATUSES = {
    "response-4.1.2-promise": 202,
    "response-http-4": 202,
    "response-http-4-processing": 202,
    "response-B.3-promise": 202,
    "response-http-6": 400,
}
#: The requests that are shown with the replies; C.2 of the MCP examples shows none for the promise.
REQUESTS = {
    "response-4.1.3-elicitation": "ask-4.1.3",
    "response-http-4-processing": "await-http-4",
    "response-http-4-final": "await-http-4",
    "stream-6.2": "ask-6.2",
    "stream-B.4": "ask-B.4",
    "stream-http-5": "ask-http-5",
    **{f"response-{name}": f"ask-{name.partition('-')[0]}" for name in (
        "B.1-answer", "B.2-elicitation", "B.3-promise", "B.5-failure")},
    **{f"response-http-{number}": f"ask-http-{number}" for number in (1, 2, 3, 4, 6, 7)},
    # Of MCP.
    "response-4-processing": "await-4",
    "response-4-final": "await-4-final",
    "response-A.3": "ask-A.3",
    "response-C.1": "ask-C.1",
    **{f"response-{number}": f"ask-{number}" for number in range(1, 8)},
}  # fmt: skip


def read(folder: str, name: str) -> Any:
    return json.loads((EXAMPLES / folder / f"{name}.json").read_text("utf-8"))


def example(folder: str, name: str) -> ScriptedResponse:
    """A reply with the request that is shown with it; findings stand at 3, over MCP at 4."""
    asked = read(folder, REQUESTS[name]) if name in REQUESTS else None
    if folder.startswith("mcp"):
        return over_mcp(read(folder, name), asked)
    path = next((EXAMPLES / folder).glob(f"{name}.*[es]*"))
    made = stream if name.startswith("stream") else document
    reply = made(path.read_bytes(), status=STATUSES.get(name, 200))
    if not asked:
        return reply
    return replace(reply, request=asked, operation=REQUESTS[name].partition("-")[0])


def over_mcp(value: Any, asked: Any) -> ScriptedResponse:
    params = asked["params"] if asked else {"name": "ask", "arguments": {}}
    sending = call("tools/call", (asked or value)["id"], version="", **params)
    reply = run(sending, said(value), operation=str(params["name"]))
    return replace(reply, request=params["arguments"])


def told(reply: ScriptedResponse, version: str) -> list[str]:
    """Findings in short; nothing of these replies is too little to be judged."""
    found = reply.report_for(version).problems
    assert {finding.verdict for finding in found} <= {Verdict.FAIL}
    return [f"{f.level} {f.rule} {f.seq} {f.pointer}".strip() for f in found]


#: A placeholder that stands for an action.
PLACEHOLDER = {
    "0.54": [
        "should action-complete 3 /results/0/actions/0/name",
        "should action-complete 3 /results/0/actions/0/description",
        "info action-protocol 3 /results/0/actions/0/protocol",
        "should action-target 3 /results/0/actions/0/method",
        "should action-target 3 /results/0/actions/0/endpoint",
    ],
    "0.55": [
        "must action-complete 3 /results/1/actions/0/name",
        "must action-complete 3 /results/1/actions/0/description",
        "must action-protocol 3 /results/1/actions/0/protocol",
        "must action-target 3 /results/1/actions/0/method",
        "must action-target 3 /results/1/actions/0/endpoint",
    ],
}

#: 0.54 puts the reply where MCP has its own members, and leaves content out.
BESIDE = ["info mcp.reply-shape 4 /result", "info mcp.result-content 4 /result/content"]
#: What is wrong with the examples; the others are what the specification asks for.
EXPECTED: dict[tuple[str, str], list[str]] = {
    # The results are shown without the metadata around them.
    ("nlweb-0.54", "response-4.1.1-conversational-search"): [
        "must meta-present 3 /_meta",
        *PLACEHOLDER["0.54"],
    ],
    # response_type stands at the top.
    ("nlweb-0.54", "response-4.1.2-promise"): ["info meta-top-level 3 /response_type"],
    ("nlweb-0.54", "response-4.1.4-failure"): ["info version-in-failure 3 /_meta/version"],
    # The HTTP examples leave the protocol of actions out.
    ("nlweb-0.54", "response-http-1"): ["info action-protocol 3 /results/0/actions/0/protocol"],
    # Of the session context that was sent, user_preferences does not come back.
    ("nlweb-0.54", "response-http-2"): ["info session-context-echoed 3 /_meta/session_context"],
    # The reply to the check has no session context, the request has one.
    ("nlweb-0.54", "response-http-4-processing"): [
        "info session-context-echoed 3 /_meta/session_context"
    ],
    ("nlweb-0.54", "response-http-4-final"): [
        "info action-protocol 3 /results/0/actions/0/protocol",
        "info action-protocol 3 /results/0/actions/1/protocol",
    ],
    ("nlweb-0.55", "response-4.1.1-conversational-search"): PLACEHOLDER["0.55"],
    # Over MCP.
    # The examples of 0.54 leave the protocol of actions out.
    ("mcp-0.54", "response-1"): [
        "info action-protocol 4 /result/results/0/actions/0/protocol",
        *BESIDE,
    ],
    # Of the session context that was sent, user_preferences does not come back.
    ("mcp-0.54", "response-2"): [
        "info session-context-echoed 4 /result/_meta/session_context",
        *BESIDE,
    ],
    ("mcp-0.54", "response-3"): BESIDE,
    ("mcp-0.54", "response-4"): BESIDE,
    # The reply to the check has no session context, the request has one.
    ("mcp-0.54", "response-4-processing"): [
        "info session-context-echoed 4 /result/_meta/session_context",
        *BESIDE,
    ],
    ("mcp-0.54", "response-4-final"): [
        "info action-protocol 4 /result/results/0/actions/0/protocol",
        "info action-protocol 4 /result/results/0/actions/1/protocol",
        *BESIDE,
    ],
    # Its content has instructions, which MCP does not have as a type.
    ("mcp-0.54", "response-5"): [
        "info content-parts-spelled 4 /result/content/1/type",
        "info content-parts-spelled 4 /result/content/2/type",
        "info mcp.reply-shape 4 /result",
        "info mcp.content-parts 4 /result/content/1/type",
        "info mcp.content-parts 4 /result/content/2/type",
    ],
    ("mcp-0.54", "response-6"): [],
    ("mcp-0.54", "response-7"): ["info mcp.reply-shape 4 /result"],
    # Words alone, and the metadata beside them.
    ("mcp-0.55", "response-A.3"): [
        "info answer-structured 4 /result/structuredData",
        "info mcp.reply-shape 4 /result",
    ],
    ("mcp-0.55", "response-C.1"): [],
    ("mcp-0.55", "response-C.2"): [],
}


@pytest.mark.parametrize(("folder", "name"), NAMES)
def test_example(folder: str, name: str) -> None:
    version = folder.rpartition("-")[2]
    assert told(example(folder, name), version) == EXPECTED.get((folder, name), [])


def test_none_is_missing() -> None:
    assert len(NAMES) == 24 + len([key for key in EXPECTED if key[0].startswith("mcp")])
    assert EXPECTED.keys() <= set(NAMES)
    assert STATUSES.keys() | REQUESTS.keys() <= {name for _, name in NAMES}


#: Examples judged as the other version.
AS_OTHER = {
    ("0.54", "response-http-2"): [
        "info session-context-echoed 3 /_meta/session_context",
        # 0.55 wants the summary among the results.
        "should mode-summarize-honoured 3 /_meta/summary",
    ],
    ("0.54", "response-http-6"): [
        "info failure-code-known 3 /error/code",
    ],
    ("0.54", "response-http-1"): [
        "must action-protocol 3 /results/0/actions/0/protocol",
    ],
    ("0.54", "stream-http-5"): [
        # 0.55 dropped content and end.
        "info stream-events-known 4",
        "info stream-events-known 6",
        "info stream-events-known 8",
        "info stream-events-known 11",
        "must stream-complete-last 11",
    ],
    # The version is that of the request, or none was asked for.
    ("0.55", "response-4.1.1-chatgpt-app"): [],
    ("0.55", "stream-B.4"): [],
}


@pytest.mark.parametrize(("version", "name"), AS_OTHER)
def test_as_the_other_version(version: str, name: str) -> None:
    (other,) = {"0.54", "0.55"} - {version}
    assert told(example(f"nlweb-{version}", name), other) == AS_OTHER[version, name]


@pytest.mark.parametrize(
    ("version", "name", "found"),
    [
        ("0.55", "actions-5-http", []),
        ("0.55", "actions-5-mcp", []),
        # 0.54 calls the actions an array in section 4.1.1 and shows a single one in section 7.
        ("0.54", "actions-7", ["info actions-single 3 /results/0/actions"]),
    ],
)
def test_examples_of_actions(version: str, name: str, found: list[str]) -> None:
    """Put into an answer."""
    meta = {"response_type": "answer", "version": version}
    item = {"@type": "Recipe", **read(f"nlweb-{version}", name)}
    assert told(document({"_meta": meta, "results": [item]}), version) == found


@pytest.mark.parametrize("version", ["0.54", "0.55"])
def test_the_tools_that_the_specification_shows(version: str) -> None:
    tools = [read(f"mcp-{version}", name) for name in ("tool-ask", "tool-await")]
    assert told(run(call("tools/list"), said(response({"tools": tools}))), version) == []


# The Agent API

#: What every example of the specification lacks.
SPARSE = [
    "info agent-api.message-type-used 3 /type",
    "info agent-api.sequence-present 2 /sequence_number",
]


def test_the_streaming_sequence() -> None:
    """Its completed text has an exclamation mark that none of its pieces has."""
    assert told(at_once(*SEQUENCE), "1") == [
        *SPARSE,
        "info agent-api.delta-sum-punctuation 7 /text",
        "info agent-api.usage 9 /usage",
        "info agent-api.times 9 /created_at",
        "info agent-api.times 9 /completed_at",
    ]


def test_the_use_case() -> None:
    assert told(replace(at_once(*USE_CASE), request=REQUEST), "1") == [
        *SPARSE,
        "info agent-api.usage 8 /usage",
        "info agent-api.times 8 /created_at",
        "info agent-api.times 8 /completed_at",
    ]


# Captures

CAPTURED: dict[tuple[str, str], list[str]] = {
    # Asked as 0.55, answered as 0.54.
    ("ask_agent/ask_json", "0.55"): [
        "info version-asked 3 /_meta/version",
        "must response-type-lowercase 3 /_meta/response_type",
    ],
    ("ask_agent/ask_json", "0.54"): [
        "info version-asked 3 /_meta/version",
        "info response-type-lowercase 3 /_meta/response_type",
    ],
    ("ask_agent/ask_stream", "0.54"): [
        "info response-type-lowercase 2 /_meta/response_type",
        "should stream-events-named 2",
        "should stream-events-named 3",
        "should stream-events-named 4",
        "info stream-start-first 2",
        "should stream-complete-present 4",
    ],
    ("ask_agent/ask_stream", "0.55"): [
        "must response-type-lowercase 2 /_meta/response_type",
        "must stream-events-named 2",
        "must stream-events-named 3",
        "must stream-events-named 4",
        "must stream-start-first 2",
        "must stream-complete-present 4",
    ],
    ("ask_agent/ask_stream_elicitation", "0.54"): [
        "info response-type-lowercase 2 /_meta/response_type",
        "info question-type-known 3 /elicitation/questions/0/type",
        "info question-type-known 3 /elicitation/questions/1/type",
        "should stream-events-named 2",
        "should stream-events-named 3",
        "info stream-start-first 2",
        "should stream-complete-present 3",
    ],
}


#: The fields that a message has beside those of the specification.
MEMBERS = ["info agent-api.members-known 4 /usage", "info agent-api.members-known 4 /metadata"]

OF_AGENTSCOPE: dict[str, list[str]] = {
    # A refusal with 200, and an error that is a string and stands by itself.
    "agentscope/bad_request_no_input": [
        "info agent-api.error-status 1",
        "should agent-api.bare-error 2 /object",
        "must agent-api.error-object 2 /error",
    ],
    # The message that was open is never closed.
    "agentscope/error_midstream": [
        *MEMBERS,
        "should agent-api.initial-status 4 /status",
        "should agent-api.message-ended-failed 4 /status",
        "must agent-api.sequence-type 2 /sequence_number",
    ],
    # Contents within the messages of calls have null as their status.
    "agentscope/plugin_call": [
        "must agent-api.content-fields 13 /content/0/status",
        "must agent-api.content-fields 17 /content/0/status",
        "info agent-api.content-delta 7 /delta",
        "info agent-api.content-delta 21 /delta",
        "info agent-api.message-type-used 4 /type",
        "should agent-api.role-known 14 /role",
        *MEMBERS,
        "should agent-api.initial-status 4 /status",
        "should agent-api.initial-status 9 /status",
        "should agent-api.initial-status 14 /status",
        "should agent-api.initial-status 18 /status",
        "must agent-api.sequence-type 2 /sequence_number",
        # Arguments and outputs come again and again as a whole.
        "info agent-api.data-in-pieces 10 /delta",
        "info agent-api.data-in-pieces 11 /delta",
        "info agent-api.data-in-pieces 15 /delta",
        "info agent-api.usage 23 /usage",
    ],
    "agentscope/text": [
        "info agent-api.content-delta 10 /delta",
        *MEMBERS,
        "should agent-api.initial-status 4 /status",
        "must agent-api.sequence-type 2 /sequence_number",
        "info agent-api.usage 12 /usage",
    ],
}


@pytest.mark.parametrize(("name", "version"), CAPTURED)
def test_capture(name: str, version: str) -> None:
    assert told(capture(name), version) == CAPTURED[name, version]


@pytest.mark.parametrize("name", OF_AGENTSCOPE)
def test_capture_of_the_agent_api(name: str) -> None:
    assert told(replace(capture(name), protocol="agent-api"), "1") == OF_AGENTSCOPE[name]


def test_a_failure_in_mid_stream() -> None:
    """A second response head within the body: the transfer breaks, the first event stays."""
    raw = (CAPTURES / "ask_agent/rawsocket_stream_failure_midstream.txt").read_bytes()
    top, _, chunked = raw.partition(b"\r\n\r\n")
    size, _, rest = chunked.partition(b"\r\n")
    broken = rest[int(size, 16) :].strip().decode()
    problem = Problem("truncated", Stage.BODY, "The framing broke.", "Look.", broken)
    frames = numbered(
        [
            (FrameKind.HEAD, top + b"\r\n\r\n"),
            (FrameKind.EVENT, rest[: int(size, 16)]),
            (FrameKind.ERROR, problem.to_bytes()),
        ]
    )
    report = ScriptedResponse(frames, state="truncated").report_for("0.54")
    assert [
        f"{f.verdict} {f.level} {f.rule} {f.seq} {f.pointer}".strip() for f in report.problems
    ] == [
        "fail info response-type-lowercase 2 /_meta/response_type",
        "incomplete should stream-closed None",
        "fail should stream-events-named 2",
        "fail info stream-start-first 2",
        "incomplete should stream-complete-present 2",
        "incomplete must one-reply None",
    ]


def hop(name: str) -> list[Pair]:
    """A captured call and its reply, as frames."""
    top, body = sent(f"mcp/{name}")
    return [(FrameKind.CALL, top + body), *pairs(capture(f"mcp/{name}"))]


RUNS = {
    "handshake": (
        "raw_sse_initialize", "raw_sse_initialized", "raw_sse_tools_list", "raw_sse_tools_call",
    ),
    "modern": ("raw_modern_discover", "raw_modern_call"),
    "document": ("raw_json_tools_call",),
}  # fmt: skip
#: What a capture has passed that others do not ask.
PASSED = {
    "handshake": {"mcp.initialize", "mcp.accepted", "mcp.tool-ask-schema", "mcp.session-id"},
    "modern": {"mcp.discover", "mcp.result-type", "mcp.server-named", "mcp.session-modern"},
    "document": {"mcp.content-type", "mcp.reply-shape", "answer-content"},
}


@pytest.mark.parametrize("name", RUNS)
def test_capture_over_mcp(name: str) -> None:
    """Replies of the official package, which say that they are written in 0.55."""
    made = run(*(hop(each) for each in RUNS[name]), query={"text": "eggs"})
    report = made.report_for("0.55")
    assert told(made, "0.55") == []
    assert {r for r in PASSED[name] if report.verdicts[r] is Verdict.PASS} == PASSED[name]
    # Nobody asked for a version.
    assert made.report_for("0.54").problems == ()


def test_every_capture_is_judged() -> None:
    judged = {f"mcp/{name}" for parts in RUNS.values() for name in parts} | OF_AGENTSCOPE.keys()
    paths = [path for folder in ("mcp", "agentscope") for path in (CAPTURES / folder).glob("*.txt")]
    assert judged == {f"{p.parent.name}/{p.stem}" for p in paths if not p.stem.endswith(".req")}
