"""Every MCP example of the specification and every capture: the findings of a careful reader."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from playground.conformance import ConformanceReport, Verdict
from playground.protocols.frames import FrameKind
from tests.conformance.mcp.scripts import Pair, call, pairs, response, run, said
from tests.conformance.scripts import ScriptedResponse, capture, sent
from tests.support.playbook import EXAMPLES

NAMES = [
    (version, path.stem)
    for version in ("0.54", "0.55")
    for path in sorted((EXAMPLES / f"mcp-{version}").iterdir())
]
#: The requests that are shown with the replies; C.2 shows none for the promise.
REQUESTS = {
    "response-4-processing": "await-4",
    "response-4-final": "await-4-final",
    "response-A.3": "ask-A.3",
    "response-C.1": "ask-C.1",
    **{f"response-{number}": f"ask-{number}" for number in range(1, 8)},
}


def read(version: str, name: str) -> Any:
    return json.loads((EXAMPLES / f"mcp-{version}" / f"{name}.json").read_text("utf-8"))


def example(version: str, name: str) -> ScriptedResponse:
    """A reply with the call that is shown with it; findings about its JSON stand at 4."""
    value = read(version, name)
    asked = read(version, REQUESTS[name]) if name in REQUESTS else None
    number = asked["id"] if asked else value["id"]
    params = asked["params"] if asked else {"name": "ask", "arguments": {}}
    operation = str(params["name"])
    sending = call("tools/call", number, version="", **params)
    return replace(run(sending, said(value), operation=operation), request=params["arguments"])


def told(report: ConformanceReport) -> list[str]:
    """Findings in short; nothing of these replies is too little to be judged."""
    assert {finding.verdict for finding in report.problems} <= {Verdict.FAIL}
    return [f"{f.level} {f.rule} {f.seq} {f.pointer}".strip() for f in report.problems]


#: 0.54 puts the reply where MCP has its own members, and leaves content out.
BESIDE = ["info mcp.reply-shape 4 /result", "info mcp.result-content 4 /result/content"]
EXPECTED: dict[tuple[str, str], list[str]] = {
    # The examples of 0.54 leave the protocol of actions out.
    ("0.54", "response-1"): [
        "info action-protocol 4 /result/results/0/actions/0/protocol",
        *BESIDE,
    ],
    # Of the session context that was sent, user_preferences does not come back.
    ("0.54", "response-2"): [
        "info session-context-echoed 4 /result/_meta/session_context",
        *BESIDE,
    ],
    ("0.54", "response-3"): BESIDE,
    ("0.54", "response-4"): BESIDE,
    # The reply to the check has no session context, the request has one.
    ("0.54", "response-4-processing"): [
        "info session-context-echoed 4 /result/_meta/session_context",
        *BESIDE,
    ],
    ("0.54", "response-4-final"): [
        "info action-protocol 4 /result/results/0/actions/0/protocol",
        "info action-protocol 4 /result/results/0/actions/1/protocol",
        *BESIDE,
    ],
    # Its content has instructions, which MCP does not have as a type.
    ("0.54", "response-5"): [
        "info content-parts-spelled 4 /result/content/1/type",
        "info content-parts-spelled 4 /result/content/2/type",
        "info mcp.reply-shape 4 /result",
        "info mcp.content-parts 4 /result/content/1/type",
        "info mcp.content-parts 4 /result/content/2/type",
    ],
    ("0.54", "response-6"): [],
    ("0.54", "response-7"): ["info mcp.reply-shape 4 /result"],
    # Words alone, and the metadata beside them.
    ("0.55", "response-A.3"): [
        "info answer-structured 4 /result/structuredData",
        "info mcp.reply-shape 4 /result",
    ],
    ("0.55", "response-C.1"): [],
    ("0.55", "response-C.2"): [],
}


@pytest.mark.parametrize(("version", "name"), EXPECTED)
def test_example(version: str, name: str) -> None:
    assert told(example(version, name).report_for(version)) == EXPECTED[version, name]


def test_none_is_missing() -> None:
    assert len(NAMES) == 28
    assert {(version, name) for version, name in NAMES if name.startswith("response")} == set(
        EXPECTED
    )


def test_no_example_breaks_what_is_required_or_recommended() -> None:
    for version, name in EXPECTED:
        report = example(version, name).report_for(version)
        assert not report.failed("should"), (version, name)


@pytest.mark.parametrize("version", ["0.54", "0.55"])
def test_the_tools_that_the_specification_shows(version: str) -> None:
    tools = [read(version, "tool-ask"), read(version, "tool-await")]
    listing = run(call("tools/list"), said(response({"tools": tools})))
    assert told(listing.report_for(version)) == []


# Captures


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
def test_capture(name: str) -> None:
    """Replies of the official package, which say that they are written in 0.55."""
    made = run(*(hop(each) for each in RUNS[name]), query={"text": "eggs"})
    report = made.report_for("0.55")
    assert told(report) == []
    assert {r for r in PASSED[name] if report.verdicts[r] is Verdict.PASS} == PASSED[name]
    # Nobody asked for a version.
    assert made.report_for("0.54").problems == ()


def test_every_capture_is_judged() -> None:
    names = {path.stem for path in (EXAMPLES.parent / "captures" / "mcp").glob("*.txt")}
    assert {name for parts in RUNS.values() for name in parts} == {
        name for name in names if not name.endswith(".req")
    }
