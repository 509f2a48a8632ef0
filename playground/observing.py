"""What came of a run, as expectations and captures see it.

Paths look into the *document*: the reply as one JSON value. It is put together from the
events, so that it is the same whether the reply came whole or as a stream, over HTTP or over
MCP: `playground.protocols.nlweb.documents` and `playground.protocols.agent_api.documents` say what
its members are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.conformance import ConformanceReport, Level, ruleset, run_rules
from playground.expectations import Failed, RunFacts, TimedEvent
from playground.models import Run
from playground.models.promises import earlier_progress
from playground.protocols import registry
from playground.protocols.events import Failure
from playground.protocols.frames import Frame
from playground.protocols.kinds import event_label
from playground.reading import exchange_for


def run_facts(run: Run, frames: Iterable[Frame] | None = None) -> RunFacts:
    """A run's frames, read; `run` has its final state. Never raises on an agent's data.

    `frames` are all of them, where they are at hand; None reads them from the database.

    The rules of the specification are asked only where `Observed.findings` is looked at.
    """
    reader = exchange_for(run)
    whole = registry.assembler(run.protocol)
    moments: list[TimedEvent] = []
    failures: list[str] = []
    for frame in run.read_frames() if frames is None else frames:
        events = list(reader.receive(frame))
        whole.add(events)
        for event in events:
            moments.append(TimedEvent(event_label(event), frame.at_ms))
            if isinstance(event, Failure):
                failures.append(event.code)
    document = whole.document(run.outcome, reader.session_context)
    return RunFacts(
        state=run.state,
        outcome=run.outcome,
        status=run.status,
        response_type=_response_type(document),
        results=run.results,
        document=document,
        events=tuple(moments),
        ended_ms=None if run.ended_us is None else run.ended_us / 1000,
        failures=tuple(failures),
        run_rules=lambda: _failed(run),
    )


def response_document(run: Run) -> Any:
    """The reply of a run as one JSON document, None where there is none."""
    return run_facts(run).document


def _response_type(document: Any) -> str:
    meta = document.get("_meta") if isinstance(document, Mapping) else None
    kind = meta.get("response_type") if isinstance(meta, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _failed(run: Run) -> Failed | None:
    """The rules that the reply fails, by level; None where no rules are about such a reply."""
    if run.version not in ruleset(run.protocol, run.binding).versions:
        return None
    report = conformance_report(run)
    return {level.value: report.failing(level) for level in Level}


def conformance_report(run: Run) -> ConformanceReport:
    """What the rules say of a run's reply, as the version that its request was sent as."""
    return run_rules(
        run.read_frames(),
        run.request,
        run.version,
        protocol=run.protocol,
        binding=run.binding,
        operation=registry.operation(run.protocol, run.request),
        state=run.state,
        earlier_progress=tuple(earlier_progress(run)),
    )
