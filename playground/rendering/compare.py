"""Two runs side by side: where they went, how they went, and what differs of what was said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.utils.timezone import localtime

from playground.models import Run, RunState
from playground.protocols.comparison import (
    MAX_LISTED,
    Comparison,
    Order,
    compare,
    compare_documents,
)
from playground.reading import reader_for
from playground.rendering.bar import bar_of, milliseconds, size, word_of
from playground.rendering.differences import Row, rows_of
from playground.rendering.spoken import binding_of, version_of
from playground.rendering.twins import headline_of, reasons_against, reply_of, telling
from playground.rendering.words import words

#: Events of a reply that are compared.
MAX_EVENTS = 20_000


@dataclass(frozen=True, slots=True)
class Fact:
    """One line about both runs."""

    label: str
    left: str
    right: str
    #: How far apart two figures are, in words; "" for what is no figure.
    apart: str = ""
    #: Whether it is worth a mark when both differ: no two runs take the same time.
    counts: bool = True

    @property
    def differs(self) -> bool:
        """Whether both say something else, and that is worth a mark."""
        return self.counts and self.left != self.right


@dataclass(frozen=True, slots=True)
class Part:
    """What differs of the requests, or of the replies."""

    #: `same`, `different` or `impossible`.
    state: str
    headline: str
    #: What is to be known of it: why there is nothing to compare, or only a part.
    notes: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    #: Differences that are counted and not listed.
    more: int = 0
    #: Differences of identifiers, tokens and times.
    folded: tuple[Row, ...] = ()
    folded_total: int = 0
    titles: tuple[str, str] = ("", "")

    @property
    def folded_more(self) -> int:
        """Folded ones that are counted and not listed."""
        return self.folded_total - len(self.folded)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Everything that a page tells of two runs."""

    titles: tuple[str, str]
    facts: tuple[Fact, ...]
    request: Part
    reply: Part

    @property
    def headline(self) -> str:
        """What it has come to, in a line."""
        parts = (("request", self.request), ("reply", self.reply))
        return " · ".join(f"{name}: {part.headline.lower()}" for name, part in parts).capitalize()


def outcome_of(left: Run, right: Run, *, ordered: bool) -> Outcome:
    """Both runs compared. Reads both; whatever order things have counts if `ordered`."""
    titles = titles_of(left, right)
    order = Order.EVERYWHERE if ordered else Order.NOWHERE
    return Outcome(
        titles,
        tuple(facts_of(left, right)),
        _request(left, right, order, titles),
        _reply(left, right, order, titles),
    )


def titles_of(left: Run, right: Run) -> tuple[str, str]:
    """What the sides are called: which, with in what they differ, or else when they were sent."""
    ours, theirs = telling(left, right) or (_moment(left), _moment(right))
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
    ("State", word_of),
    ("Why it ended", lambda run: words((run.problem or {}).get("cause"), 300)),
    ("HTTP status", lambda run: run.status),
    ("Results", lambda run: run.results),
    ("Events", lambda run: run.events),
)


def facts_of(left: Run, right: Run) -> Iterator[Fact]:
    """The lines of the table, those without anything to say left out."""
    for label, read in _TEXTS:
        ours, theirs = ("" if (value := read(run)) is None else str(value) for run in (left, right))
        if ours or theirs:
            yield Fact(label, ours, theirs)
    yield from _headers(left, right)
    yield Fact("Size", size(left.bytes), size(right.bytes))
    bars = bar_of(left), bar_of(right)
    for label, name, shown in (
        ("First event", "first_event_us", [bar.first for bar in bars]),
        ("Duration", "ended_us", [bar.elapsed for bar in bars]),
    ):
        if any(shown):
            apart = _apart(getattr(left, name), getattr(right, name))
            yield Fact(label, shown[0], shown[1], apart, counts=False)
    yield Fact("Sent", _moment(left), _moment(right), counts=False)


def _headers(left: Run, right: Run) -> Iterator[Fact]:
    """A line for each header that the requests have of their own; of secrets the name only."""
    sides: list[dict[str, list[str]]] = [{}, {}]
    for side, run in zip(sides, (left, right), strict=True):
        for name, value in run.headers:
            side.setdefault(str(name).title(), []).append(str(value) or "(not kept)")
    for name in sorted({*sides[0], *sides[1]}):
        ours, theirs = (", ".join(side.get(name, [])) for side in sides)
        yield Fact(f"Header {name}", ours, theirs)


def _apart(left: int | None, right: int | None) -> str:
    """How much longer or shorter the right one took."""
    if left is None or right is None or left == right:
        return ""
    sign = "+" if right > left else "−"
    return f"{sign}{milliseconds(abs(right - left) / 1000)}"


# --- what was said ----------------------------------------------------------------------------


def _request(left: Run, right: Run, order: Order, titles: tuple[str, str]) -> Part:
    found = compare_documents(left.request, right.request, order)
    notes: tuple[str, ...] = ()
    if left.protocol != right.protocol:
        notes = ("They speak different protocols, so that little of the requests is alike.",)
    return _part(found, titles, notes)


def _reply(left: Run, right: Run, order: Order, titles: tuple[str, str]) -> Part:
    """The replies as far as they came; what is missing of them is said."""
    notes = tuple(_notes(left, right))
    if unread := [sentence for run in (left, right) if (sentence := _unreadable(run))]:
        return Part("impossible", "The replies cannot be read", (*unread, *notes), titles=titles)
    if not (left.events or right.events):
        return Part("impossible", "Nothing came back on either side", notes, titles=titles)
    replies = reply_of(left, MAX_EVENTS), reply_of(right, MAX_EVENTS)
    return _part(compare(*replies, order, folded=True), titles, notes)


def _unreadable(run: Run) -> str:
    """Why nothing here can read a reply, "" where something can."""
    try:
        reader_for(run)
    except ValueError:
        return f"Nothing here reads {run.protocol} {run.version} over {run.binding or 'nothing'}."
    return ""


def _notes(left: Run, right: Run) -> Iterator[str]:
    """What has to be known of a comparison that is none of two whole replies."""
    yield from reasons_against(left, right)
    for position, run in (("left", left), ("right", right)):
        if run.events > MAX_EVENTS:
            yield f"Of the reply on the {position} the first {MAX_EVENTS:,} events are compared."
    if RunState.COMPLETED not in (left.state, right.state):
        yield "What arrived of both is compared."
    elif left.state != right.state:
        yield "What arrived of it is compared with the whole of the other."
    if left.protocol != right.protocol:
        yield "They speak different protocols: what they say is compared, by what it means."


def _part(found: Comparison, titles: tuple[str, str], notes: tuple[str, ...]) -> Part:
    rows, folded = rows_of(found.differences), rows_of(found.folded)
    state = "same" if found.same else "different"
    more = max(0, found.total - MAX_LISTED)
    return Part(state, headline_of(found), notes, rows, more, folded, found.folded_total, titles)
