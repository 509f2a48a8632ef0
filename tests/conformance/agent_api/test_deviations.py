"""Single deviations, wherever an object is repeated: the rule, the level and the place of each.

The stream repeats contents in messages and messages in the output; each deviation is made in one
place of it. Those of a whole response are made in one document.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from typing import Any

import pytest

from playground.conformance import Level, Verdict
from playground.conformance.rule import Finding
from playground.protocols.json_pointer import keys_of
from tests.conformance.agent_api.scripts import REPEATING, WHOLE, numbered, whole
from tests.conformance.pointers import resolves
from tests.conformance.scripts import ScriptedResponse, without

MUST, SHOULD, INFO = Level.MUST, Level.SHOULD, Level.INFO
#: Stands for the removal of a member.
GONE = object()


@dataclass(frozen=True)
class Deviation:
    """A value at a place, and the finding it causes."""

    #: The object of the stream.
    at: int
    pointer: str
    value: Any
    rule: str
    level: Level
    #: The place of the finding, if it is another one.
    found_at: tuple[int, str] | None = None

    def __str__(self) -> str:
        value = "gone" if self.value is GONE else json.dumps(self.value)
        return f"{self.at}{self.pointer}={value:.30}"


def changed(document: Any, pointer: str, value: Any) -> Any:
    """A copy of a document with another value at a place."""
    made = copy.deepcopy(document)
    *above, last = keys_of(pointer)
    inner = made
    for key in above:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    if value is GONE:
        del inner[last]
    elif isinstance(inner, list):
        inner[int(last)] = value
    else:
        inner[last] = value
    return made


def deviating(deviation: Deviation) -> ScriptedResponse:
    objects = list(REPEATING)
    objects[deviation.at] = changed(objects[deviation.at], deviation.pointer, deviation.value)
    return numbered(*objects)


def problems(reply: ScriptedResponse, *levels: Level) -> list[Finding]:
    found = reply.report_for("1").findings
    return [f for f in found if f.verdict is Verdict.FAIL and f.level in (levels or Level)]


def everywhere(
    kind: str, pointer: str, value: Any, rule: str, level: Level, streamed: bool = True
) -> list[Deviation]:
    """The same deviation at each place of the first message or of its content."""
    places = {
        "message": [(7, ""), (14, "/output/0")],
        "content": [(7, "/content/0"), (14, "/output/0/content/0")],
        "call": [(10, "/content/0/data"), (14, "/output/1/content/0/data")],
        "output": [(13, "/content/0/data"), (14, "/output/2/content/0/data")],
    }[kind]
    alone = {"content": [(6, "")], "call": [(9, "/data")], "output": [(12, "/data")]}
    places = [*(alone.get(kind, []) if streamed else []), *places]
    return [Deviation(at, above + pointer, value, rule, level) for at, above in places]


DEVIATIONS = (
    # Types of members.
    Deviation(1, "/created_at", None, "response-fields", MUST),
    Deviation(14, "/output", {}, "response-fields", MUST),
    Deviation(14, "/output/1", "c1", "response-fields", MUST),
    Deviation(14, "/output/1", None, "response-fields", MUST),
    Deviation(14, "/usage", "none", "response-fields", MUST),
    Deviation(14, "/error", "broken", "error-object", MUST),
    *everywhere("message", "/status", GONE, "message-members", SHOULD),
    *everywhere("message", "/status", None, "message-fields", MUST),
    *everywhere("message", "/id", GONE, "message-members", SHOULD),
    *everywhere("message", "/id", 4, "message-fields", MUST),
    *everywhere("message", "/type", None, "message-fields", MUST),
    *everywhere("message", "/role", 4, "message-fields", MUST),
    *everywhere("message", "/content", "Hello", "message-fields", MUST),
    *everywhere("message", "/content/0", "Hello", "message-fields", MUST),
    *everywhere("message", "/content/0", None, "message-fields", MUST),
    *everywhere("message", "/object", GONE, "object-present", SHOULD)[1:],
    *everywhere("content", "/object", GONE, "object-present", SHOULD, streamed=False),
    *everywhere("content", "/status", None, "content-fields", MUST),
    *everywhere("message", "/type", "", "message-type-known", MUST),
    *everywhere("message", "/role", "", "role-known", SHOULD),
    *everywhere("message", "/code", 4, "message-fields", MUST),
    *everywhere("message", "/error", "broken", "error-object", MUST),
    *everywhere("message", "/object", "content", "object-known", MUST)[1:],
    *everywhere("content", "/type", GONE, "content-fields", MUST),
    *everywhere("content", "/type", 4, "content-fields", MUST),
    *everywhere("content", "/index", "0", "content-fields", MUST),
    *everywhere("content", "/delta", 0, "content-fields", MUST),
    *everywhere("content", "/msg_id", 4, "content-fields", MUST),
    *everywhere("content", "/text", ["Hello"], "content-fields", MUST),
    *everywhere("content", "/text", None, "content-payload", INFO),
    *everywhere("content", "/error", "broken", "error-object", MUST),
    *everywhere("content", "/object", "message", "object-known", MUST, streamed=False),
    # Words.
    *everywhere("message", "/type", "telepathy", "message-type-known", MUST),
    *everywhere("message", "/type", "reasoning", "message-type-used", INFO),
    *everywhere("message", "/role", "ghost", "role-known", SHOULD),
    *everywhere("message", "/status", "done", "status-known", MUST),
    *everywhere("message", "/status", "incomplete", "status-incomplete", INFO),
    *everywhere("message", "/colour", "red", "members-known", INFO),
    *everywhere("content", "/type", "hologram", "content-type-known", MUST),
    *everywhere("content", "/status", "done", "status-known", MUST),
    # What does not change.
    Deviation(14, "/id", "other", "response-id-kept", MUST),
    Deviation(1, "/session_id", "t", "session-kept", SHOULD),
    Deviation(14, "/session_id", "t", "session-kept", SHOULD),
    Deviation(1, "/created_at", 0, "created-at-kept", SHOULD),
    Deviation(14, "/created_at", 0, "created-at-kept", SHOULD),
    Deviation(3, "/type", "function_call", "message-kept", SHOULD),
    Deviation(3, "/role", "user", "message-kept", SHOULD),
    *everywhere("message", "/type", "function_call", "message-kept", SHOULD),
    *everywhere("message", "/role", "user", "message-kept", SHOULD),
    *everywhere("message", "/id", "other", "message-id-kept", MUST)[1:],
    Deviation(14, "/output/0/id", "c1", "message-id-unique", MUST, (14, "/output/1/id")),
    Deviation(5, "/type", "image", "content-kept", SHOULD),
    *everywhere("content", "/type", "data", "content-kept", SHOULD),
    *everywhere("content", "/msg_id", "c1", "content-in-message", MUST, streamed=False),
    *everywhere("content", "/index", 1, "content-index-gapless", MUST, streamed=False),
    *everywhere("content", "/delta", True, "listed-delta", SHOULD, streamed=False),
    # What is in progress, and what was different.
    Deviation(14, "/output/0/status", "in_progress", "output-ended", MUST),
    Deviation(14, "/output/0/status", "in_progress", "status-transitions", MUST),
    Deviation(7, "/status", "in_progress", "message-ended", SHOULD, (2, "/status")),
    *everywhere("content", "/status", "in_progress", "content-ended", MUST),
    *everywhere("content", "/status", "created", "content-ended", MUST),
    Deviation(14, "/output/0/content", [], "message-content", SHOULD),
    Deviation(7, "/content/0/text", "Hullo", "message-content", SHOULD, (7, "/content/0")),
    Deviation(14, "/output/0/content/0/text", "H", "message-content", SHOULD,
              (14, "/output/0/content/0")),
    # Tools.
    *everywhere("call", "/call_id", GONE, "call-fields", INFO),
    *everywhere("call", "/name", "", "call-fields", INFO),
    *everywhere("call", "/name", 4, "call-types", MUST),
    *everywhere("call", "/arguments", {}, "call-types", MUST),
    *everywhere("call", "/arguments", "{", "call-arguments", INFO),
    *everywhere("output", "/call_id", None, "output-fields", MUST),
    *everywhere("output", "/output", {"a": 1}, "output-fields", MUST),
    *everywhere("output", "/call_id", "other", "output-paired", SHOULD),
    # Times and errors.
    Deviation(14, "/completed_at", 0, "times-order", SHOULD),
    Deviation(14, "/completed_at", GONE, "times", INFO),
    Deviation(14, "/error", {"code": "", "message": "Broke."}, "error-explained", SHOULD,
              (14, "/error/code")),
    *(
        Deviation(at, f"{above}/error", {"code": "E", "message": "Broke."}, "error-failed", SHOULD,
                  (at, f"{above}/status"))
        for at, above in ((14, ""), (7, ""), (14, "/output/0"))
    ),
)  # fmt: skip

#: Of a whole response; `at` is not used.
OF_A_DOCUMENT = (
    Deviation(0, "/output/0", "Hello", "response-fields", MUST),
    Deviation(0, "/output/0/content/0", None, "message-fields", MUST),
    Deviation(0, "/output/0/content/0/data", "x", "content-fields", MUST),
    Deviation(0, "/output/0/object", "content", "object-known", MUST),
    Deviation(0, "/output/0/content/0/object", None, "object-known", MUST),
    Deviation(0, "/output/0/status", "in_progress", "output-ended", MUST),
    Deviation(0, "/output/0/content/0/status", "in_progress", "content-ended", MUST),
    Deviation(0, "/output/0/content/0/delta", True, "listed-delta", SHOULD),
    Deviation(0, "/output/0/content/0/index", 3, "content-index-gapless", MUST),
    Deviation(0, "/output/0/content/0/msg_id", "x", "content-in-message", MUST),
    Deviation(0, "/output/1/id", "m", "message-id-unique", MUST),
    Deviation(0, "/object", "message", "reply", MUST),
    Deviation(0, "/output/2/content/0/data/call_id", "x", "output-paired", SHOULD),
    Deviation(0, "/completed_at", 0, "times-order", SHOULD),
)


#: Of a stream: what is missing is should, whatever follows from it.
MISSING = [
    (at, name) for at, each in enumerate(REPEATING) for name in ("object", "id") if name in each
]


@pytest.mark.parametrize(("at", "name"), MISSING)
def test_a_missing_member(at: int, name: str) -> None:
    objects = [*REPEATING[:at], without(REPEATING[at], name), *REPEATING[at + 1 :]]
    reply = numbered(*objects)
    found = [(f.level, f.seq, f.pointer) for f in problems(reply)]
    assert (SHOULD, at + 2, f"/{name}") in found
    assert problems(reply, MUST) == []


def test_the_streams_have_no_findings() -> None:
    assert problems(numbered(*REPEATING)) == []
    assert problems(whole(WHOLE)) == []


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=str)
def test_in_a_stream(deviation: Deviation) -> None:
    at, pointer = deviation.found_at or (deviation.at, deviation.pointer)
    check(deviating(deviation), deviation, at + 2, pointer)


@pytest.mark.parametrize("deviation", OF_A_DOCUMENT, ids=str)
def test_in_a_document(deviation: Deviation) -> None:
    check(
        whole(changed(WHOLE, deviation.pointer, deviation.value)), deviation, 3, deviation.pointer
    )


def check(reply: ScriptedResponse, deviation: Deviation, seq: int, pointer: str) -> None:
    found = problems(reply)
    assert (f"agent-api.{deviation.rule}", deviation.level, seq, pointer) in [
        (finding.rule, finding.level, finding.seq, finding.pointer) for finding in found
    ]
    for finding in found:
        assert resolves(reply.frames, finding.seq, finding.pointer), finding
