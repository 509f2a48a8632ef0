"""History of runs: filters, pages and cursors, and the candidates for a comparison.

A page takes the same time with 100,000 runs as with 100: it begins at a time and not at an offset
(`HistoryCursor`). Where no index answers a filter, one page scans a limited number of rows and
returns the cursor at which the next page continues, which the page requests by itself. A search for
words is such a scan: its first page is small, as frequent words fill it, and its time is bounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import models
from django.utils.dateparse import parse_datetime

from playground.models.collection_runs import CollectionRun, CollectionRunQuerySet
from playground.models.runs import Run, RunQuerySet, RunSource, RunState

AnyRun = TypeVar("AnyRun", bound=Run | CollectionRun)

#: Runs of one page.
PAGE = 40
#: Rows that the first page of a search scans, and every following page.
SEARCH_FIRST_ROWS, SEARCH_NEXT_ROWS = 500, 20_000
#: The columns that a list shows; documents and contexts are not read.
LIST_COLUMNS = (
    "agent_id", "sent_to_url", "agent_name", "protocol", "binding", "version", "kind", "parent_id",
    "text", "source", "state", "outcome", "problem", "terminated", "bytes", "events", "results",
    "failures", "entries", "created_at", "started_at", "first_event_us", "ended_us",
)  # fmt: skip

#: The value of `HistoryFilters.agent` for runs whose agent was deleted, or never saved.
NO_AGENT = -1
#: The value of `HistoryFilters.state` for every state that is not final.
IN_PROGRESS = "under-way"

#: Sorts before every other key.
_FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class HistoryCursor:
    """A position between two runs: all runs created before it follow."""

    moment: datetime
    pk: UUID = _FIRST

    @classmethod
    def read(cls, text: str) -> HistoryCursor | None:
        """Return the cursor with this text, as `str` writes it; None for any other text."""
        moment, _, pk = text.partition("~")
        try:
            found, key = parse_datetime(moment), UUID(pk)
        except ValueError:
            return None
        # The database compares in UTC, which overflows in the first and the last year.
        if found is None or found.tzinfo is None or not 1 < found.year < 9999:
            return None
        return cls(found, key)

    def __str__(self) -> str:
        return f"{self.moment.isoformat()}~{self.pk.hex}"


@dataclass(frozen=True, slots=True)
class HistoryFilters:
    """Filters of the history; an empty field matches all runs."""

    search: str = ""
    #: The primary key of an agent, or `NO_AGENT`.
    agent: int | None = None
    outcome: str = ""
    #: One of `RunState`, or `IN_PROGRESS`.
    state: str = ""
    since: datetime | None = None
    #: The end of the period, exclusive.
    until: datetime | None = None
    #: One of `RunSource`.
    source: str = ""
    #: Child runs as well, and not only turns.
    children: bool = False

    def indexed(self, runs: RunQuerySet) -> RunQuerySet:
        """Filter `runs` by the time and the one condition that an index answers."""
        runs = runs.filter(**self._times())
        found: RunQuerySet = runs.filter(*self._conditions()[:1])
        return found

    def apply(self, runs: RunQuerySet) -> RunQuerySet:
        runs = runs.filter(**self._times()).filter(*self._conditions())
        runs = runs if self.children else runs.turns()
        return runs.search(self.search) if self.search else runs

    @property
    def is_indexed(self) -> bool:
        """Return whether an index finds the matching runs without scanning many others."""
        return not self.search and len(self._conditions()) < 2

    def _times(self) -> dict[str, datetime]:
        bounds = {"created_at__gte": self.since, "created_at__lt": self.until}
        return {name: moment for name, moment in bounds.items() if moment is not None}

    def _conditions(self) -> list[models.Q]:
        """Return the conditions with an index each, the most selective first."""
        found = []
        if self.agent is not None:
            found.append(models.Q(agent=None if self.agent == NO_AGENT else self.agent))
        if self.state == IN_PROGRESS:
            unfinished = [state for state in RunState if not state.is_final]
            found.insert(0, models.Q(state__in=unfinished))
        elif self.state:
            found.append(models.Q(state=self.state))
        if self.source:
            found.append(models.Q(source=self.source))
        if self.outcome:
            found.append(models.Q(outcome=self.outcome))
        return found


@dataclass(frozen=True, slots=True)
class HistoryPage(Generic[AnyRun]):
    """One page of the history, newest first."""

    runs: Sequence[AnyRun]
    #: Where the next page begins; None without older runs.
    older: HistoryCursor | None = None
    #: Whether the page is not full and older rows were not scanned: the search continues.
    is_partial: bool = False


def history_page(
    runs: RunQuerySet,
    filters: HistoryFilters,
    before: HistoryCursor | None = None,
    size: int = PAGE,
) -> HistoryPage[Run]:
    """Return the page of matching runs before the cursor, the newest first.

    Without an index at most `SEARCH_FIRST_ROWS` rows are scanned, after a cursor
    `SEARCH_NEXT_ROWS`.
    """
    runs = _before(runs, before)
    floor: datetime | None = None
    if not filters.is_indexed:
        rows = SEARCH_FIRST_ROWS if before is None else SEARCH_NEXT_ROWS
        times = filters.indexed(runs).order_by("-created_at").values_list("created_at", flat=True)
        # Of the row after those, if there are so many; read from the index alone.
        floor = next(iter(times[rows : rows + 1]), None)
    found = filters.apply(runs)
    if floor is not None:
        found = found.filter(created_at__gte=floor)
    page = _page(list(_listed(found)[: size + 1]), size)
    if page.older is not None or floor is None:
        return page
    return replace(page, older=HistoryCursor(floor), is_partial=True)


def recent_page(
    runs: RunQuerySet,
    collection_runs: CollectionRunQuerySet,
    before: HistoryCursor | None = None,
    size: int = PAGE,
) -> HistoryPage[Run | CollectionRun]:
    """Return the page of turns and collection runs before the cursor, the newest first.

    A collection run stands for its runs. An index finds the newest rows of each source, so that
    many runs of a collection do not have to be skipped.
    """
    turns = _listed(runs.turns())
    queries = [turns.filter(source=each) for each in (RunSource.USER, RunSource.RECORDING)]
    found = [
        entry
        for query in (*queries, collection_runs)
        for entry in _before(query, before)[: size + 1]
    ]
    found.sort(key=lambda entry: (entry.created_at, entry.pk), reverse=True)
    return _page(found, size)


def _page(rows: Sequence[AnyRun], size: int) -> HistoryPage[AnyRun]:
    """Return the page of the first rows; one more than `size` says that there are others."""
    if len(rows) <= size:
        return HistoryPage(rows)
    last = rows[size - 1]
    return HistoryPage(rows[:size], HistoryCursor(last.created_at, last.pk))


def _listed(runs: RunQuerySet) -> RunQuerySet:
    columns = (*LIST_COLUMNS, "polled_promise__status")
    found: RunQuerySet = runs.select_related("polled_promise").only(*columns)
    return found


def _before(rows: Any, cursor: HistoryCursor | None) -> Any:
    if cursor is not None:
        later = models.Q(created_at=cursor.moment, pk__gte=cursor.pk)
        rows = rows.filter(~later, created_at__lte=cursor.moment)
    return rows.order_by("-created_at", "-pk")


#: Runs before and after a run that are searched for candidates of a comparison.
BEFORE, AFTER = 300, 100
#: Candidates that are offered.
CANDIDATES = 8


def comparison_candidates(run: Run, runs: RunQuerySet) -> list[Run]:
    """Return the runs of an owner to compare `run` with, the likeliest first.

    The same text to the same agent comes first, then the same text to other agents; of equals the
    previous one, then the nearest in time. Only runs near in time are searched.
    """
    turns = _listed(runs.turns().exclude(pk=run.pk))
    earlier = turns.filter(created_at__lte=run.created_at).order_by("-created_at")[:BEFORE]
    later = turns.filter(created_at__gt=run.created_at).order_by("created_at")[:AFTER]

    def unlikely(other: Run) -> tuple[bool, bool, bool, float]:
        apart = (run.created_at - other.created_at).total_seconds()
        return other.text != run.text, other.agent_id != run.agent_id, apart < 0, abs(apart)

    return sorted([*earlier, *later], key=unlikely)[:CANDIDATES]
