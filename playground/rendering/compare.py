"""Two runs side by side: where they went, how they went, and what differs of what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.timezone import localtime

from playground.models import Run, RunState
from playground.protocols.diff import MAX_LISTED, Comparison, OrderScope, compare, compare_documents
from playground.reading import exchange_for
from playground.rendering.differences import DifferenceRow, rows_of
from playground.rendering.run_status import milliseconds, run_metrics, size, status_label
from playground.rendering.spoken import binding_of, version_of
from playground.rendering.twins import (
    distinguishing_labels,
    headline_of,
    not_comparable_reasons,
    response_side,
)
from playground.rendering.words import value_text

#: Events of a reply that are compared.
MAX_EVENTS = 20_000


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """One line about both runs."""

    label: str
    left: str
    right: str
    #: How far apart two figures are, in words; "" for what is no figure.
    delta: str = ""
    #: Whether it is worth a mark when both differ: no two runs take the same time.
    counts: bool = True

    @property
    def differs(self) -> bool:
        """Whether both say something else, and that is worth a mark."""
        return self.counts and self.left != self.right


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """What differs of the requests, or of the replies."""

    #: `same`, `different` or `impossible`.
    state: str
    headline: str
    #: What is to be known of it: why there is nothing to compare, or only a part.
    notes: tuple[str, ...] = ()
    rows: tuple[DifferenceRow, ...] = ()
    #: Differences that are counted and not listed.
    more: int = 0
    #: Differences of identifiers, tokens and times.
    folded: tuple[DifferenceRow, ...] = ()
    folded_total: int = 0
    titles: tuple[str, str] = ("", "")

    @property
    def folded_more(self) -> int:
        """Folded ones that are counted and not listed."""
        return self.folded_total - len(self.folded)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Everything that a page tells of two runs."""

    titles: tuple[str, str]
    facts: tuple[ComparedFact, ...]
    request: ComparedPart
    response: ComparedPart

    @property
    def headline(self) -> str:
        """What it has come to, in a line."""
        parts = (("request", self.request), ("reply", self.response))
        return " · ".join(f"{name}: {part.headline.lower()}" for name, part in parts).capitalize()


def compare_runs(left: Run, right: Run, *, ordered: bool) -> RunComparison:
    """Both runs compared. Reads both; whatever order things have counts if `ordered`."""
    titles = titles_of(left, right)
    order = OrderScope.EVERYWHERE if ordered else OrderScope.NOWHERE
    return RunComparison(
        titles,
        tuple(facts_of(left, right)),
        _request(left, right, order, titles),
        _reply(left, right, order, titles),
    )


def titles_of(left: Run, right: Run) -> tuple[str, str]:
    """What the sides are called: which, with in what they differ, or else when they were sent."""
    ours, theirs = distinguishing_labels(left, right) or (_moment(left), _moment(right))
    return f"Left, {ours}", f"Right, {theirs}"


def _moment(run: Run) -> str:
    moment = localtime(run.created_at)
    return f"{moment.day} {moment:%b %Y, %H:%M:%S}"


# --- what is known of both --------------------------------------------------------------------

_TEXTS: tuple[tuple[str, Callable[[Run], Any]], ...] = (
    ("Agent", lambda run: run.agent_name),
    ("Address", lambda run: run.url),
    ("Protocol", lambda run: version_of(run).label or run.protocol),
    ("Binding", binding_of),
    ("Environment", lambda run: run.environment),
    ("State", status_label),
    ("Why it ended", lambda run: value_text((run.problem or {}).get("cause"), 300)),
    ("HTTP status", lambda run: run.status),
    ("Results", lambda run: run.results),
    ("Events", lambda run: run.events),
)


def facts_of(left: Run, right: Run) -> Iterator[ComparedFact]:
    """The lines of the table, those without anything to say left out."""
    for label, read in _TEXTS:
        ours, theirs = ("" if (value := read(run)) is None else str(value) for run in (left, right))
        if ours or theirs:
            yield ComparedFact(label, ours, theirs)
    yield from _headers(left, right)
    yield ComparedFact("Size", size(left.bytes), size(right.bytes))
    bars = run_metrics(left), run_metrics(right)
    for label, name, shown in (
        ("First event", "first_event_us", [bar.first for bar in bars]),
        ("Duration", "ended_us", [bar.elapsed for bar in bars]),
    ):
        if any(shown):
            apart = _apart(getattr(left, name), getattr(right, name))
            yield ComparedFact(label, shown[0], shown[1], apart, counts=False)
    yield ComparedFact("Sent", _moment(left), _moment(right), counts=False)


def _headers(left: Run, right: Run) -> Iterator[ComparedFact]:
    """A line for each header that the requests have of their own; of secrets the name only."""
    sides: list[dict[str, list[str]]] = [{}, {}]
    for side, run in zip(sides, (left, right), strict=True):
        for name, value in run.headers:
            side.setdefault(str(name).title(), []).append(str(value) or "(not kept)")
    for name in sorted({*sides[0], *sides[1]}):
        ours, theirs = (", ".join(side.get(name, [])) for side in sides)
        yield ComparedFact(f"Header {name}", ours, theirs)


def _apart(left: int | None, right: int | None) -> str:
    """How much longer or shorter the right one took."""
    if left is None or right is None or left == right:
        return ""
    sign = "+" if right > left else "−"
    return f"{sign}{milliseconds(abs(right - left) / 1000)}"


# --- what was said ----------------------------------------------------------------------------


def _request(left: Run, right: Run, order: OrderScope, titles: tuple[str, str]) -> ComparedPart:
    found = compare_documents(left.request, right.request, order)
    notes: tuple[str, ...] = ()
    if left.protocol != right.protocol:
        notes = ("They speak different protocols, so that little of the requests is alike.",)
    return _part(found, titles, notes)


def _reply(left: Run, right: Run, order: OrderScope, titles: tuple[str, str]) -> ComparedPart:
    """The replies as far as they came; what is missing of them is said."""
    notes = tuple(_notes(left, right))
    if unread := [sentence for run in (left, right) if (sentence := _unreadable(run))]:
        return ComparedPart(
            "impossible", "The replies cannot be read", (*unread, *notes), titles=titles
        )
    if not (left.events or right.events):
        return ComparedPart("impossible", "Nothing came back on either side", notes, titles=titles)
    replies = response_side(left, MAX_EVENTS), response_side(right, MAX_EVENTS)
    return _part(compare(*replies, order, folded=True), titles, notes)


def _unreadable(run: Run) -> str:
    """Why nothing here can read a reply, "" where something can."""
    try:
        exchange_for(run)
    except ValueError:
        return f"Nothing here reads {run.protocol} {run.version} over {run.binding or 'nothing'}."
    return ""


def _notes(left: Run, right: Run) -> Iterator[str]:
    """What has to be known of a comparison that is none of two whole replies."""
    yield from not_comparable_reasons(left, right)
    for position, run in (("left", left), ("right", right)):
        if run.events > MAX_EVENTS:
            yield f"Of the reply on the {position} the first {MAX_EVENTS:,} events are compared."
    if RunState.COMPLETED not in (left.state, right.state):
        yield "What arrived of both is compared."
    elif left.state != right.state:
        yield "What arrived of it is compared with the whole of the other."
    if left.protocol != right.protocol:
        yield "They speak different protocols: what they say is compared, by what it means."


def _part(found: Comparison, titles: tuple[str, str], notes: tuple[str, ...]) -> ComparedPart:
    rows, folded = rows_of(found.differences), rows_of(found.folded)
    state = "same" if found.same else "different"
    more = max(0, found.total - MAX_LISTED)
    return ComparedPart(
        state, headline_of(found), notes, rows, more, folded, found.folded_total, titles
    )
