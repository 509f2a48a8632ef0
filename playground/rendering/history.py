"""Rows of the history: status, protocol, results and times of a run as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from playground.models import Agent, Run
from playground.rendering.formatting import ago
from playground.rendering.run_status import binding_of, run_metrics, version_of


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A run as a row."""

    run: Run
    #: Status of the run.
    status_label: str
    #: Version, and binding if that is not HTTP.
    protocol_label: str
    #: Number of results, or of messages of an Agent API agent; "" without a response.
    result_label: str
    size: str
    #: Time to the first event, and to the end; "" if there was none.
    first: str
    elapsed: str
    ago: str


def rows_of(runs: Iterable[Run]) -> list[HistoryRow]:
    """Return the rows of a page."""
    return [row_of(run) for run in runs]


def row_of(run: Run) -> HistoryRow:
    """Return the row of a run; no query if the columns of `models.history.SHOWN` were read."""
    metrics = run_metrics(run)
    count = metrics.results if run.protocol == Agent.Protocol.NLWEB else metrics.messages
    return HistoryRow(
        run=run,
        status_label=metrics.status_label,
        protocol_label=_protocol_label(run),
        result_label=str(count) if run.bytes else "",
        size=metrics.size if run.bytes else "",
        first=metrics.first,
        elapsed=metrics.elapsed,
        ago=ago(run.created_at),
    )


def _protocol_label(run: Run) -> str:
    """Return the version, and the binding if that is not HTTP."""
    label = version_of(run).label or run.protocol
    return label if run.binding in ("", Agent.Binding.HTTP) else f"{label} · {binding_of(run)}"
