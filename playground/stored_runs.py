"""Stored runs, read again: events, expectation facts and conformance of a run's frames.

Events are never stored: they are derived from the frames on every read, so that an improved
reader applies to old runs as well.

The *document* that paths of expectations and captures look into is the response as one JSON value.
It is assembled from the events, so it is the same for a stream and for a single body, over HTTP and
over MCP: its members are described at the assemblers of `playground.protocols.nlweb.reader`
and `playground.protocols.agent_api.reader`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, TypeVarTuple
from uuid import UUID

from django.conf import settings

from playground.models import Run
from playground.models.promises import (
    PollingStatus,
    progress_before,
    promise_before,
    session_context_before,
)
from playground.protocols import lenient, registry
from playground.protocols.events import EntryRef, Event, Failure, event_label
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame

if TYPE_CHECKING:
    from playground.conformance import ConformanceReport, EarlierResponses
    from playground.expectations import Failed, RunFacts, TimedEvent

# Rules and expectations are imported where they are used: that takes longer than many a command.


def exchange_for(run: Run) -> Exchange:
    """Return a new exchange that reads the frames of this run; it makes no calls.

    A protocol that a later version of the playground knew is read as the default one.
    """
    target = Target(**run.describe_target())
    if run.protocol != registry.ACTION and run.protocol not in registry.PROTOCOLS:
        version = registry.known_version(registry.DEFAULT)
        target = replace(target, protocol=registry.DEFAULT, version=version)
    return registry.exchange(target, run.request, max_depth=settings.RUN_LIMITS.max_depth)


def read_events(run: Run, after: int = 0) -> Iterator[tuple[Frame, list[Event]]]:
    """Yield the frames numbered above `after` with their events.

    Earlier batches are skipped where that makes no difference: the events of a stream are
    independent of each other, the pieces of a body are not.
    """
    reader = exchange_for(run)
    rows = run.frame_batches.order_by("first").defer("data")
    needed = [batch.pk for batch in rows if batch.last > after or not batch.is_skippable]
    for batch in run.batches(pk__in=needed):
        for frame in batch.frames():
            events = list(reader.receive(frame))
            if frame.seq > after:
                yield frame, events


def frame_at(run: Run, seq: int) -> tuple[Frame, list[Event]] | None:
    """Return a frame with its events, None if there is none of this number."""
    found = next(read_events(run, after=seq - 1), None)
    return found if found and found[0].seq == seq else None


def event_at(run: Run, ref: EntryRef) -> Event | None:
    """Return the event of an entry, None if there is none."""
    seq, part = ref
    found = frame_at(run, seq)
    return found[1][part] if found and part < len(found[1]) else None


def run_facts(run: Run, frames: Iterable[Frame] | None = None) -> RunFacts:
    """Return the facts about a run in its final state that expectations are evaluated against.

    `frames` are all of its frames, where the caller has them; None reads them from the database.
    The rules of the specification run only when `RunFacts.run_rules` is called. Never raises on
    an agent's data.
    """
    from playground.expectations import RunFacts, TimedEvent

    reader = exchange_for(run)
    assembler = run.spec.assembler()
    timed_events: list[TimedEvent] = []
    failures: list[str] = []
    failure_text = ""
    for frame in run.read_frames() if frames is None else frames:
        events = list(reader.receive(frame))
        assembler.add(events)
        for event in events:
            timed_events.append(TimedEvent(event_label(event), frame.at_ms))
            if isinstance(event, Failure):
                failures.append(event.code)
                failure_text = ": ".join(filter(None, (event.code, event.message)))
    document = assembler.document(run.outcome, reader.session_context)
    meta = document.get("_meta") if isinstance(document, Mapping) else None
    response_type = meta.get("response_type") if isinstance(meta, Mapping) else None
    return RunFacts(
        state=run.state,
        outcome=run.outcome,
        status=run.status,
        response_type=lenient.text(response_type),
        results=run.results,
        document=document,
        events=tuple(timed_events),
        ended_ms=None if run.ended_us is None else run.ended_us / 1000,
        failures=tuple(failures),
        failure_text=failure_text,
        run_rules=lambda: _failed_rules(run),
    )


def conformance_report(
    run: Run,
    frames: Iterable[Frame] | None = None,
    *,
    version: str = "",
    earlier: EarlierResponses | None = None,
) -> ConformanceReport:
    """Run the rules of a specification version: the one that the request was sent as, or another.

    `frames` are all of its frames, and `earlier` what `earlier_responses` returns, where the
    caller has them.
    """
    from playground.conformance import run_rules

    return run_rules(
        run.read_frames() if frames is None else frames,
        run.request,
        version or run.version,
        protocol=run.protocol,
        binding=run.binding,
        operation=run.spec.operation(run.request),
        state=run.state,
        earlier=earlier_responses(run) if earlier is None else earlier,
    )


def earlier_responses(run: Run) -> EarlierResponses:
    """Return the facts that earlier responses of the conversation have for the rules."""
    from playground.conformance import EarlierResponses, TaskEnd

    promise = promise_before(run)
    if promise is None:
        return EarlierResponses()
    ends = {
        PollingStatus.FULFILLED: TaskEnd.ANSWERED,
        PollingStatus.CANCELLED: TaskEnd.CANCELLED,
    }
    has_ended = (
        promise.ended_at is not None
        and run.started_at is not None
        and promise.ended_at < run.started_at
    )
    return EarlierResponses(
        tuple(progress_before(promise, run)),
        ends.get(PollingStatus(promise.status)) if has_ended else None,
        frozenset(session_context_before(promise, run) or ()),
    )


def _failed_rules(run: Run) -> Failed | None:
    """Return the failed rules by level, None where no rule set has the run's version."""
    from playground.conformance import Level, ruleset

    if run.version not in ruleset(run.protocol, run.binding).versions:
        return None
    report = conformance_report(run)
    return {level.value: report.failing(level) for level in Level}


Found = TypeVar("Found")
Found_co = TypeVar("Found_co", covariant=True)
Args = TypeVarTuple("Args")


def once_per_run(
    size: int,
) -> Callable[[Callable[[Run, *Args], Found]], Callable[[Run, *Args], Found]]:
    """Cache the latest `size` results of a function of a run in its final state.

    Of calls with the same run at the same time one computes the result and the others wait.
    """

    def decorate(function: Callable[[Run, *Args], Found]) -> Callable[[Run, *Args], Found]:
        locks = tuple(Lock() for _ in range(16))
        results: OrderedDict[Any, Found] = OrderedDict()
        results_lock = Lock()

        def cached(run: Run, *args: *Args) -> Found:
            # The number of frames and the state tell results of one run apart.
            key = (run.pk, run.frames, run.state, args)
            with locks[run.pk.int % len(locks)]:
                with results_lock:
                    if key in results:
                        results.move_to_end(key)
                        return results[key]
                found = function(run, *args)
                with results_lock:
                    results[key] = found
                    while len(results) > size:
                        results.popitem(last=False)
                return found

        return cached

    return decorate


class Collector(Protocol[Found_co]):
    """What collects the readings of one run, in order."""

    def add(self, frame: Frame, events: Sequence[Event], /) -> None: ...

    def snapshot(self) -> Found_co:
        """Return what was collected so far, which does not change any more."""


class RunReaders(Generic[Found]):
    """Readers of runs in progress, each of which continues where it ended.

    A drawing of a run in progress is made twice a second: of a flood only new frames are read.
    """

    def __init__(self, collector: Callable[[Run], Collector[Found]], most: int) -> None:
        """Read into new collectors, and keep as many as this in memory."""
        self._collector = collector
        self._most = most
        #: The latest last.
        self._readers: OrderedDict[UUID, _RunReader[Found]] = OrderedDict()
        self._lock = Lock()

    def read(self, run: Run) -> Found:
        """Return what was collected from a run, as far as it is stored."""
        with self._lock:
            reader = self._readers.pop(run.pk, None)
            reader = reader or _RunReader(exchange_for(run), self._collector(run))
            if not run.is_final:
                self._readers[run.pk] = reader
            while len(self._readers) > self._most:
                self._readers.popitem(last=False)
        with reader.lock:
            for frame in run.read_frames(reader.cursor):
                reader.collector.add(frame, list(reader.exchange.receive(frame)))
                reader.cursor = frame.seq
            return reader.collector.snapshot()


@dataclass(slots=True)
class _RunReader(Generic[Found]):
    exchange: Exchange
    collector: Collector[Found]
    cursor: int = 0
    lock: Lock = field(default_factory=Lock)
