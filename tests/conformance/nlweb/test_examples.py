"""Every example of the specifications and every capture: the findings of a careful reader.

The expected findings are written by hand from the text of the specifications; the file names
have the section of an example (`http-N`: the HTTP examples of 0.54).
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from playground.conformance import Finding, Verdict
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from tests.conformance.scripts import ScriptedResponse, capture, document, numbered, stream
from tests.support.playbook import CAPTURES, EXAMPLES

NAMES = [
    (version, path.stem)
    for version in ("0.54", "0.55")
    for path in sorted((EXAMPLES / f"nlweb-{version}").iterdir())
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
#: The requests that are shown with the replies.
REQUESTS = {
    "response-4.1.3-elicitation": "ask-4.1.3",
    "response-http-4-processing": "await-http-4",
    "response-http-4-final": "await-http-4",
    "response-B.1-answer": "ask-B.1",
    "response-B.2-elicitation": "ask-B.2",
    "response-B.3-promise": "ask-B.3",
    "response-B.5-failure": "ask-B.5",
    "stream-6.2": "ask-6.2",
    "stream-B.4": "ask-B.4",
    "stream-http-5": "ask-http-5",
    **{f"response-http-{number}": f"ask-http-{number}" for number in (1, 2, 3, 4, 6, 7)},
}


def example(version: str, name: str) -> ScriptedResponse:
    folder = EXAMPLES / f"nlweb-{version}"
    path = next(folder.glob(f"{name}.*[es]*"))
    made = stream if name.startswith("stream") else document
    reply = made(path.read_bytes(), status=STATUSES.get(name, 200))
    if not (asked := REQUESTS.get(name)):
        return reply
    request = json.loads((folder / f"{asked}.json").read_text("utf-8"))
    return replace(reply, request=request, operation=asked.partition("-")[0])


def told(findings: tuple[Finding, ...]) -> list[str]:
    """Findings in short; nothing of these replies is too little to be judged."""
    assert {finding.verdict for finding in findings} <= {Verdict.FAIL}
    return [f"{f.level} {f.rule} {f.seq} {f.pointer}".strip() for f in findings]


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

#: What is wrong with the examples; the others are what the specification asks for.
EXPECTED: dict[tuple[str, str], list[str]] = {
    # The results are shown without the metadata around them.
    ("0.54", "response-4.1.1-conversational-search"): [
        "must meta-present 3 /_meta",
        *PLACEHOLDER["0.54"],
    ],
    # response_type stands at the top.
    ("0.54", "response-4.1.2-promise"): ["info meta-top-level 3 /response_type"],
    ("0.54", "response-4.1.4-failure"): ["info version-in-failure 3 /_meta/version"],
    # The HTTP examples leave the protocol of actions out.
    ("0.54", "response-http-1"): ["info action-protocol 3 /results/0/actions/0/protocol"],
    # Of the session context that was sent, user_preferences does not come back.
    ("0.54", "response-http-2"): ["info session-context-echoed 3 /_meta/session_context"],
    # The reply to the check has no session context, the request has one.
    ("0.54", "response-http-4-processing"): [
        "info session-context-echoed 3 /_meta/session_context"
    ],
    ("0.54", "response-http-4-final"): [
        "info action-protocol 3 /results/0/actions/0/protocol",
        "info action-protocol 3 /results/0/actions/1/protocol",
    ],
    ("0.55", "response-4.1.1-conversational-search"): PLACEHOLDER["0.55"],
}


@pytest.mark.parametrize(("version", "name"), NAMES)
def test_example(version: str, name: str) -> None:
    report = example(version, name).report_for(version)
    assert told(report.problems) == EXPECTED.get((version, name), [])
    assert report.version == version


def test_none_is_missing() -> None:
    assert len(NAMES) == 24
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
    report = example(version, name).report_for(other)
    assert told(report.problems) == AS_OTHER[version, name]


def actions_of(version: str, name: str) -> list[str]:
    """What is said of an example of actions alone, put into an answer."""
    members = json.loads((EXAMPLES / f"nlweb-{version}" / f"{name}.json").read_text("utf-8"))
    meta = {"response_type": "answer", "version": version}
    reply = document({"_meta": meta, "results": [{"@type": "Recipe", **members}]})
    return told(reply.report_for(version).problems)


def test_examples_of_actions() -> None:
    assert actions_of("0.55", "actions-5-http") == []
    assert actions_of("0.55", "actions-5-mcp") == []
    # 0.54 calls the actions an array in section 4.1.1 and shows a single one in section 7.
    assert actions_of("0.54", "actions-7") == ["info actions-single 3 /results/0/actions"]


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


@pytest.mark.parametrize(("name", "version"), CAPTURED)
def test_capture(name: str, version: str) -> None:
    assert told(capture(name).report_for(version).problems) == CAPTURED[name, version]


def test_the_older_public_server() -> None:
    """It speaks no NLWeb of either version: typed messages, no metadata, no names."""
    report = capture("nlweb/get_stream").report_for("0.54")
    failed = {finding.rule for finding in report.findings if finding.verdict is Verdict.FAIL}
    assert failed == {
        "meta-present",
        "item-type",
        "stream-events-named",
        "stream-start-first",
        "stream-complete-present",
    }


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
