"""Properties of NLWeb's rules: on any input none raises, and messages can be stored."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.conformance import ConformanceReport, ruleset, run_rules
from playground.protocols.frames import Frame, FrameKind
from tests.conformance.nlweb.table import CASES
from tests.conformance.pointers import resolves
from tests.conformance.scripts import JSON, SSE, ScriptedResponse, document, event, head, stream
from tests.support.nlweb_values import EVENT_NAMES, VALUES

#: How long a reply takes to judge depends on the machine and on what is large in the table.
VERSIONS = st.sampled_from(["0.54", "0.55"])
REPLIES = [case.good for case in CASES] + [reply for case in CASES for reply, _ in case.bad]
#: The JSON of whole replies and of streams, as the table has them.
BODIES: list[tuple[ScriptedResponse, list[tuple[str | None, Any]]]] = []


def payloads(reply: ScriptedResponse) -> list[tuple[str | None, Any]]:
    """The messages of a reply: the name of each event (None for a document) and its JSON."""
    found: list[tuple[str | None, Any]] = []
    for frame in reply.frames:
        lines = frame.data.decode("utf-8", "replace").splitlines()
        try:
            if frame.kind is FrameKind.BODY:
                found.append((None, json.loads(frame.data)))
            elif frame.kind is FrameKind.EVENT:
                fields = dict(line.partition(": ")[::2] for line in lines if line)
                found.append((fields.get("event"), json.loads(fields.get("data", ""))))
        except ValueError:
            continue
    return found


BODIES += [(reply, messages) for reply in REPLIES if (messages := payloads(reply))]


def replaced(value: Any, data: st.DataObject) -> Any:
    """`value` with an arbitrary JSON value somewhere in it."""
    inner = value if isinstance(value, dict | list) and value else None
    if inner is None or data.draw(st.integers(0, 3)) == 0:
        return data.draw(VALUES)
    keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
    key = data.draw(st.sampled_from(keys))
    changed = dict(inner) if isinstance(inner, dict) else dict(enumerate(inner))
    changed[key] = replaced(inner[key], data)
    return changed if isinstance(inner, dict) else list(changed.values())


def check(report: ConformanceReport, frames: tuple[Frame, ...]) -> None:
    assert set(report.verdicts) == {rule.id for rule in ruleset("nlweb").rules}
    text = json.dumps(report.to_json(), allow_nan=False, ensure_ascii=False)
    assert text.encode()
    for finding in report.problems:
        assert resolves(frames, finding.seq, finding.pointer), finding


@given(st.sampled_from(BODIES), st.data(), VERSIONS)
def test_any_value_at_any_place(
    body: tuple[ScriptedResponse, list[tuple[str | None, Any]]], data: st.DataObject, version: str
) -> None:
    reply, messages = body
    at = data.draw(st.integers(0, len(messages) - 1))
    changed = [(n, replaced(v, data) if i == at else v) for i, (n, v) in enumerate(messages)]
    streamed = any(frame.kind is FrameKind.EVENT for frame in reply.frames)
    again = stream(*(event(n, v) for n, v in changed)) if streamed else document(changed[0][1])
    report = run_rules(
        again.frames,
        reply.request,
        version,
        operation=reply.operation,
        earlier=reply.earlier,
    )
    check(report, again.frames)


@given(st.lists(st.tuples(EVENT_NAMES, VALUES), max_size=5), VERSIONS)
def test_any_stream(messages: list[tuple[str | None, Any]], version: str) -> None:
    reply = stream(*(event(name, payload) for name, payload in messages))
    check(reply.report_for(version), reply.frames)


@given(
    st.sampled_from([JSON, SSE, "text/plain", None]),
    st.lists(st.tuples(st.sampled_from(FrameKind), st.binary(max_size=40)), max_size=6),
    VALUES,
    st.sampled_from(["ask", "await"]),
    VERSIONS,
)
def test_any_bytes_in_any_frame(
    media_type: str | None,
    pairs: list[tuple[FrameKind, bytes]],
    request: Any,
    operation: str,
    version: str,
) -> None:
    frames = [Frame(1, 1, FrameKind.HEAD, head(200, media_type))]
    frames += [Frame(at, at, kind, data) for at, (kind, data) in enumerate(pairs, 2)]
    report = run_rules(frames, request, version, operation=operation)
    assert json.dumps(report.to_json(), ensure_ascii=False).encode()


@given(st.sampled_from(REPLIES), VALUES, VALUES, VERSIONS)
def test_any_request(reply: ScriptedResponse, prefer: Any, meta: Any, version: str) -> None:
    report = run_rules(reply.frames, {"prefer": prefer, "meta": meta}, version)
    assert json.dumps(report.to_json(), ensure_ascii=False).encode()
