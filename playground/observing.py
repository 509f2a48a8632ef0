"""What came of a run, as expectations and captures see it.

Paths look into the *document*: the reply as one JSON value. It is put together from the
events, so that it is the same whether the reply came whole or as a stream, over HTTP or over
MCP: `playground.protocols.nlweb.whole` and `playground.protocols.agent_api.whole` say what
its members are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.conformance import Level, Report, book, judge
from playground.expectations import Failed, Moment, Observed
from playground.models import Run
from playground.models.trackers import earlier_progress
from playground.protocols import registry
from playground.protocols.events import Failure
from playground.protocols.frames import Frame
from playground.protocols.kinds import kind_of
from playground.reading import reader_for


def observe(run: Run, frames: Iterable[Frame] | None = None) -> Observed:
    """A run's frames, read; `run` has its final state. Never raises on an agent's data.

    `frames` are all of them, where they are at hand; None reads them from the database.

    The rules of the specification are asked only where `Observed.findings` is looked at.
    """
    reader = reader_for(run)
    whole = registry.assembler(run.protocol)
    moments: list[Moment] = []
    failures: list[str] = []
    for frame in run.read_frames() if frames is None else frames:
        events = list(reader.receive(frame))
        whole.take(events)
        for event in events:
            moments.append(Moment(kind_of(event), frame.at_ms))
            if isinstance(event, Failure):
                failures.append(event.code)
    document = whole.document(run.outcome, reader.session_context)
    return Observed(
        state=run.state,
        outcome=run.outcome,
        status=run.status,
        response_type=_response_type(document),
        results=run.results,
        document=document,
        events=tuple(moments),
        ended_ms=None if run.ended_us is None else run.ended_us / 1000,
        failures=tuple(failures),
        judge=lambda: _failed(run),
    )


def document_of(run: Run) -> Any:
    """The reply of a run as one JSON document, None where there is none."""
    return observe(run).document


def _response_type(document: Any) -> str:
    meta = document.get("_meta") if isinstance(document, Mapping) else None
    kind = meta.get("response_type") if isinstance(meta, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _failed(run: Run) -> Failed | None:
    """The rules that the reply fails, by level; None where no rules are about such a reply."""
    if run.version not in book(run.protocol, run.binding).versions:
        return None
    report = report_on(run)
    return {level.value: report.failing(level) for level in Level}


def report_on(run: Run) -> Report:
    """What the rules say of a run's reply, as the version that its request was sent as."""
    return judge(
        run.read_frames(),
        run.request,
        run.version,
        protocol=run.protocol,
        binding=run.binding,
        operation=registry.operation_of(run.protocol, run.request),
        state=run.state,
        earlier_progress=tuple(earlier_progress(run)),
    )
