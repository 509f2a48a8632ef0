"""The history of runs, page by page: as quick with 100,000 runs as with 100.

A page is found by its place in time and never by counting (`Cursor`). What no index answers is
looked for in stretches: one page looks at so many runs at most, and says where it stopped, so that
the next one goes on from there. Of a search for words the newest runs are looked at, too: words
that many runs have fill a page from those, and the others are looked up (`text_index`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from django.db import models
from django.utils.dateparse import parse_datetime

from playground.models import search_index
from playground.models.runs import Run, RunQuerySet, RunState

#: Runs of one page.
PAGE = 40
#: Runs that the first page of a search looks at, and those that go on from there.
SEARCH_FIRST_ROWS, SEARCH_NEXT_ROWS = 500, 20_000
#: What a list shows; documents, problems and contexts stay where they are.
LIST_COLUMNS = (
    "agent_id", "agent_name", "protocol", "binding", "version", "kind", "parent_id", "text",
    "source", "state", "outcome", "bytes", "events", "results", "failures", "entries",
    "created_at", "started_at", "first_event_us", "ended_us",
)  # fmt: skip

#: The value of `Filters.agent` for runs whose agent was deleted, or never saved.
NO_AGENT = -1
#: The value of `Filters.state` for every state that is not final.
UNDER_WAY = "under-way"

#: Before every other key.
_FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class HistoryCursor:
    """A place between two runs: all that were created before it follow."""

    moment: datetime
    pk: UUID = _FIRST

    @classmethod
    def read(cls, text: str) -> HistoryCursor | None:
        """The cursor that `str` wrote; None for anything else."""
        moment, _, pk = text.partition("~")
        try:
            found, key = parse_datetime(moment), UUID(pk)
        except ValueError:
            return None
        # What the database is asked for is in UTC: the first and the last years have no room.
        if found is None or found.tzinfo is None or not 1 < found.year < 9999:
            return None
        return cls(found, key)

    def __str__(self) -> str:
        return f"{self.moment.isoformat()}~{self.pk.hex}"


@dataclass(frozen=True, slots=True)
class HistoryFilters:
    """Which runs; every empty field lets all pass."""

    search: str = ""
    #: The primary key of an agent, or `NO_AGENT`.
    agent: int | None = None
    outcome: str = ""
    #: One of `RunState`, or `UNDER_WAY`.
    state: str = ""
    since: datetime | None = None
    #: The first moment that is too late.
    until: datetime | None = None
    #: One of `MadeBy`.
    source: str = ""
    #: Checks, actions and replies as well, and not only what moves a conversation on.
    children: bool = False

    def indexed(self, runs: RunQuerySet) -> RunQuerySet:
        """Those of `runs` that pass what one index answers by itself, in the order of time."""
        runs = runs.filter(**self._times())
        found: RunQuerySet = runs.filter(*self._conditions()[:1])
        return found

    def apply(self, runs: RunQuerySet) -> RunQuerySet:
        """Those of `runs` that pass."""
        runs = runs.filter(**self._times()).filter(*self._conditions())
        runs = runs if self.children else runs.turns()
        return runs.search(self.search) if self.search else runs

    @property
    def is_indexed(self) -> bool:
        """Whether an index finds what passes without looking at much that does not."""
        return not self.search and len(self._conditions()) < 2

    def _times(self) -> dict[str, datetime]:
        bounds = {"created_at__gte": self.since, "created_at__lt": self.until}
        return {name: moment for name, moment in bounds.items() if moment is not None}

    def _conditions(self) -> list[models.Q]:
        """The conditions that have an index each, those that let the fewest pass first."""
        found = []
        if self.agent is not None:
            found.append(models.Q(agent=None if self.agent == NO_AGENT else self.agent))
        if self.state == UNDER_WAY:
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
class HistoryPage:
    """One page of the history, newest first."""

    runs: Sequence[Run] = field(default_factory=list)
    #: Where the next page begins; None where there is nothing older.
    older: HistoryCursor | None = None
    #: Whether older ones were not looked at although the page has room: the search goes on.
    is_partial: bool = False


def history_page(
    runs: RunQuerySet,
    filters: HistoryFilters,
    before: HistoryCursor | None = None,
    size: int = PAGE,
) -> HistoryPage:
    """The runs of an owner that pass, the newest first, from `before` on.

    Looks at `STRETCH` runs at most where no index finds them, at `FURTHER` after a cursor, and at
    none of the others where the index of words knows them.
    """
    runs = runs.order_by("-created_at", "-pk")
    if before is not None:
        later = models.Q(created_at=before.moment, pk__gte=before.pk)
        runs = runs.filter(~later, created_at__lte=before.moment)
    floor = None
    if not filters.is_indexed:
        floor = _floor(
            filters.indexed(runs), SEARCH_FIRST_ROWS if before is None else SEARCH_NEXT_ROWS
        )
    found = filters.apply(runs)
    if floor is not None:
        found = found.filter(created_at__gte=floor)
    page = _cut(found, size)
    if page.older is not None or floor is None:
        return page
    if (rest := _looked_up(runs, filters)) is not None:
        return _cut(rest, size)
    return replace(page, older=HistoryCursor(floor), is_partial=True)


def _cut(runs: RunQuerySet, size: int) -> HistoryPage:
    """The first `size` of the runs, and where the next ones begin."""
    shown = runs.select_related("polled_promise").only(*LIST_COLUMNS, "polled_promise__status")[
        : size + 1
    ]
    page = list(shown)
    if len(page) <= size:
        return HistoryPage(page)
    last = page[size - 1]
    return HistoryPage(page[:size], HistoryCursor(last.created_at, last.pk))


def _looked_up(runs: RunQuerySet, filters: HistoryFilters) -> RunQuerySet | None:
    """Those of `runs` that pass, by an index of words; None where it does not help.

    What passes is asked of each by itself: SQLite would otherwise go through an owner's whole
    history, of which it thinks that it is short.
    """
    keys = search_index.find_run_ids(filters.indexed(runs), filters.search)
    if keys is None:
        return None
    passing = filters.apply(runs).order_by().filter(pk=models.OuterRef("pk"))
    found: RunQuerySet = Run.objects.filter(models.Exists(passing), pk__in=keys)
    return found.order_by("-created_at", "-pk")


def _floor(runs: RunQuerySet, stretch: int) -> datetime | None:
    """The moment of the last run of a stretch; None where all of them fit in.

    Read from the index alone, and of one moment all are in: a stretch always has an end.
    """
    moments = runs.order_by("-created_at").values_list("created_at", flat=True)
    found: datetime | None = next(iter(moments[stretch : stretch + 1]), None)
    return found


#: Runs before and after one that are looked at for what it can be compared with.
BEFORE, AFTER = 300, 100
#: Of these, how many are offered.
CANDIDATES = 8


def comparison_candidates(run: Run, runs: RunQuerySet) -> list[Run]:
    """Which of an owner's runs one would compare `run` with, the likeliest first.

    The same text to the same agent comes first, then the same text to others; of those that are
    alike the one before it, then the nearest in time. Only what is near in time is looked at.
    """
    turns = runs.turns().exclude(pk=run.pk).select_related("polled_promise")
    turns = turns.only(*LIST_COLUMNS, "polled_promise__status")
    earlier = turns.filter(created_at__lte=run.created_at).order_by("-created_at")[:BEFORE]
    later = turns.filter(created_at__gt=run.created_at).order_by("created_at")[:AFTER]

    def unlikely(other: Run) -> tuple[bool, bool, bool, float]:
        apart = (run.created_at - other.created_at).total_seconds()
        return other.text != run.text, other.agent_id != run.agent_id, apart < 0, abs(apart)

    return sorted([*earlier, *later], key=unlikely)[:CANDIDATES]
