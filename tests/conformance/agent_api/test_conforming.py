"""Variations of responses that the specification allows: no finding of must or should."""

from __future__ import annotations

from typing import Any

import pytest

from playground.conformance import Level, Verdict
from tests.conformance.agent_api.scripts import (
    CALL,
    HELLO,
    OUTPUT,
    REPEATING,
    around,
    data,
    message,
    numbered,
    response,
    text,
    tool,
    whole,
)
from tests.conformance.scripts import ScriptedResponse, without

ERROR = {"code": "E", "message": "Broke."}
SNAPSHOTS = [
    response(output=[message()]),
    response("in_progress", output=[message()]),
    response("in_progress", output=[message("in_progress", content=[text("Hel")])]),
    response("completed", output=[message("completed", content=[text("Hello", "completed")])]),
]
IN_PARALLEL = [
    response(), message(name="a"), message(name="b"),
    text("A", msg_id="a"), text("B", msg_id="b"),
    text("A", "completed", msg_id="a"), text("B", "completed", msg_id="b"),
    message("completed", "b"), message("completed", "a"), response("completed"),
]  # fmt: skip


def bare(value: Any) -> Any:
    """An object with null for each member that may be null."""
    return {**value, "index": None, "msg_id": None, "delta": None, "sequence_number": None}


CONFORMING: dict[str, ScriptedResponse] = {
    "repetitions": numbered(*REPEATING),
    "snapshots of the output": numbered(*SNAPSHOTS),
    "two messages at once": numbered(*IN_PARALLEL),
    "contents without msg_id": numbered(*around(*(without(each, "msg_id") for each in HELLO))),
    "null in repeated contents": numbered(
        *around(*HELLO)[:-2],
        message("completed", content=[bare(text("Hello", "completed"))]),
        response("completed"),
    ),
    "a message without its contents": numbered(
        *around(*HELLO)[:-1], response("completed", output=[message("completed", content=None)])
    ),
    "whole messages": numbered(
        response(), message("completed", content=[text("a", "completed")]), response("completed")
    ),
    "work that is rejected": numbered(
        response(), response("in_progress"), response("rejected", error=ERROR)
    ),
    "an incomplete message": numbered(
        response(), message(), message("incomplete"), response("completed")
    ),
    "a heartbeat between contents": numbered(
        response(), message(), HELLO[0], message(name="h", type="heartbeat"), *HELLO[1:],
        message("completed"), response("completed", output=[message("completed")]),
    ),
    "arguments that are no JSON": whole(
        response("completed", output=[
            message("completed", type="function_call", content=[
                data({**CALL, "arguments": '{"city": '})
            ]),
        ])
    ),
    "a call without an id": numbered(
        response(), *tool("plugin_call", without(CALL, "call_id"), "a"),
        *tool("plugin_call_output", OUTPUT, "b"), response("completed"),
    ),
    "a last piece that is a delta": numbered(
        *around(text("Hel"), text("lo", "completed", delta=True))[:-2],
        message("completed", content=[text("Hello", "completed")]), response("completed"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CONFORMING)
def test_no_finding(name: str) -> None:
    found = CONFORMING[name].report_for("1").findings
    assert [f for f in found if f.verdict is not Verdict.PASS and _is_strict(f)] == []


def _is_strict(finding: Any) -> bool:
    return finding.level is not Level.INFO and finding.verdict is not Verdict.NOT_APPLICABLE
