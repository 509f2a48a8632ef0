"""The specification's own streams and every capture: the findings of a careful reader."""

from __future__ import annotations

from dataclasses import replace

import pytest

from playground.conformance import Verdict
from tests.conformance.agent_api.scripts import at_once
from tests.conformance.scripts import ScriptedResponse, capture
from tests.support.agent_api_examples import REQUEST, SEQUENCE, USE_CASE
from tests.support.replay import CAPTURES

NAMES = sorted(
    path.stem for path in (CAPTURES / "agentscope").glob("*.txt") if ".req" not in path.name
)


def told(reply: ScriptedResponse) -> list[str]:
    """Findings in short; nothing of these replies is too little to be judged."""
    found = reply.report_for("1").problems
    assert {finding.verdict for finding in found} <= {Verdict.FAIL}
    return [
        f"{f.level} {f.rule.removeprefix('agent-api.')} {f.seq} {f.pointer}".strip() for f in found
    ]


#: What every example of the specification lacks.
SPARSE = [
    "info message-type-used 3 /type",
    "info sequence-present 2 /sequence_number",
]


def test_the_streaming_sequence() -> None:
    """Its completed text has an exclamation mark that none of its pieces has."""
    assert told(at_once(*SEQUENCE)) == [
        *SPARSE,
        "info delta-sum-punctuation 7 /text",
        "info usage 9 /usage",
        "info times 9 /created_at",
        "info times 9 /completed_at",
    ]


def test_the_use_case() -> None:
    assert told(replace(at_once(*USE_CASE), request=REQUEST)) == [
        *SPARSE,
        "info usage 8 /usage",
        "info times 8 /created_at",
        "info times 8 /completed_at",
    ]


#: The fields that a message has beside those of the specification.
MEMBERS = ["info members-known 4 /usage", "info members-known 4 /metadata"]

EXPECTED: dict[str, list[str]] = {
    # A refusal with 200, and an error that is a string and stands by itself.
    "bad_request_no_input": [
        "info error-status 1",
        "should bare-error 2 /object",
        "must error-object 2 /error",
    ],
    # The message that was open is never closed.
    "error_midstream": [
        *MEMBERS,
        "should initial-status 4 /status",
        "should message-ended-failed 4 /status",
        "must sequence-type 2 /sequence_number",
    ],
    # Contents within the messages of calls have null as their status.
    "plugin_call": [
        "must content-fields 13 /content/0/status",
        "must content-fields 17 /content/0/status",
        "info content-delta 7 /delta",
        "info content-delta 21 /delta",
        "info message-type-used 4 /type",
        "should role-known 14 /role",
        *MEMBERS,
        "should initial-status 4 /status",
        "should initial-status 9 /status",
        "should initial-status 14 /status",
        "should initial-status 18 /status",
        "must sequence-type 2 /sequence_number",
        # Arguments and outputs come again and again as a whole.
        "info data-in-pieces 10 /delta",
        "info data-in-pieces 11 /delta",
        "info data-in-pieces 15 /delta",
        "info usage 23 /usage",
    ],
    "text": [
        "info content-delta 10 /delta",
        *MEMBERS,
        "should initial-status 4 /status",
        "must sequence-type 2 /sequence_number",
        "info usage 12 /usage",
    ],
}


@pytest.mark.parametrize("name", NAMES)
def test_capture(name: str) -> None:
    assert told(replace(capture(f"agentscope/{name}"), protocol="agent-api")) == EXPECTED[name]


def test_none_is_missing() -> None:
    assert sorted(EXPECTED) == NAMES
