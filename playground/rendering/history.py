"""Runs to the rows of the history: what is told of each, in words and figures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from playground.models import Agent, Run
from playground.rendering.run_status import ago, run_metrics
from playground.rendering.spoken import binding_of, version_of


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One run."""

    run: Run
    #: How it stands.
    status_label: str
    #: Its version, and its binding where that is not HTTP.
    protocol_label: str
    #: How many results, or messages of an agent that knows none; "" for a run without a reply.
    result_label: str
    size: str
    #: Time to the first event, and to the end; "" where there was none.
    first: str
    elapsed: str
    ago: str


def rows_of(runs: Iterable[Run]) -> list[HistoryRow]:
    """The rows of a page."""
    return [row_of(run) for run in runs]


def row_of(run: Run) -> HistoryRow:
    """The row of one run. Asks the database for nothing that `models.history.SHOWN` has."""
    bar = run_metrics(run)
    count = bar.results if run.protocol == Agent.Protocol.NLWEB else bar.messages
    return HistoryRow(
        run=run,
        status_label=bar.status_label,
        protocol_label=_spoken(run),
        result_label=str(count) if run.bytes else "",
        size=bar.size if run.bytes else "",
        first=bar.first,
        elapsed=bar.elapsed,
        ago=ago(run.created_at),
    )


def _spoken(run: Run) -> str:
    """What was spoken, and the binding where that is not HTTP."""
    said = version_of(run).label or run.protocol
    return said if run.binding in ("", Agent.Binding.HTTP) else f"{said} · {binding_of(run)}"
