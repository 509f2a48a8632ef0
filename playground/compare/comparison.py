"""Comparison of two runs: facts side by side, and the differences of requests and responses."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

from django.utils.timezone import localtime

from playground.conversation.status import binding_of, run_metrics, status_label, version_of
from playground.models import Run, RunState
from playground.protocols import registry
from playground.protocols.diff.responses import (
    Comparison,
    Difference,
    OrderScope,
    ResponseSide,
    compare,
    compare_documents,
)
from playground.stored_runs import exchange_for, read_events
from playground.ui.formatting import count_text, json_preview, milliseconds, size, value_text

#: Events of a response that are compared.
MAX_EVENTS = 20_000
#: Characters of a value in a row.
MAX_VALUE = 300
#: Characters of a value in a list of candidates.
MAX_PREVIEW = 60
#: Words of a text that are compared one by one.
MAX_WORDS = 200

#: A segment of a text: `same`, `gone` or `new`, and its words.
DiffSegment = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ComparedFact:
    """A row of the table of facts: one fact of both runs."""

    label: str
    left: str
    right: str
    #: Difference of two figures as text; "" for a fact that is no figure.
    delta: str = ""
    #: Whether a difference is highlighted: no two runs take the same time.
    counts: bool = True

    @property
    def differs(self) -> bool:
        """Return whether the values differ and the difference is highlighted."""
        return self.counts and self.left != self.right


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """A row of a table of differences."""

    difference: Difference
    left: str
    right: str
    #: Left and right text in segments, if they have enough in common.
    pieces: tuple[list[DiffSegment], list[DiffSegment]]


@dataclass(frozen=True)
class ComparedPart:
    """The differences of the requests or of the responses."""

    #: `waiting`, `same`, `different` or `impossible`.
    state: str
    headline: str
    #: Sentences on why nothing, or only a part, was compared.
    notes: tuple[str, ...] = ()
    titles: tuple[str, str] = ("", "")
    comparison: Comparison | None = None

    @classmethod
    def of(
        cls, comparison: Comparison, titles: tuple[str, str], notes: tuple[str, ...] = ()
    ) -> ComparedPart:
        state = "same" if comparison.same else "different"
        return cls(state, headline_of(comparison), notes, titles, comparison)

    @cached_property
    def rows(self) -> list[DifferenceRow]:
        return list(map(row_of, self.comparison.differences)) if self.comparison else []

    @cached_property
    def folded(self) -> list[DifferenceRow]:
        """The differences of identifiers, tokens and times."""
        return list(map(row_of, self.comparison.folded)) if self.comparison else []

    @property
    def more(self) -> int:
        """Return the number of differences that are not listed."""
        return self.comparison.total - len(self.rows) if self.comparison else 0

    @property
    def folded_more(self) -> int:
        """Return the number of folded differences that are not listed."""
        return self.comparison.folded_total - len(self.folded) if self.comparison else 0


def compare_runs(left: Run, right: Run, *, ordered: bool) -> dict[str, Any]:
    """Compare two runs, reading the frames of both; with `ordered` the order of lists counts.

    Return the `titles` of both sides, the `facts`, and the `request` and `response` as
    `ComparedPart`.
    """
    labels = distinguishing_labels(left, right) or (_sent_at(left), _sent_at(right))
    titles = f"Left, {labels[0]}", f"Right, {labels[1]}"
    order = OrderScope.EVERYWHERE if ordered else OrderScope.NOWHERE
    notes: tuple[str, ...] = ()
    if left.protocol != right.protocol:
        notes = ("The runs use different protocols, so the requests have little in common.",)
    requests = compare_documents(left.request, right.request, order)
    return {
        "titles": titles,
        "facts": list(facts_of(left, right)),
        "request": ComparedPart.of(requests, titles, notes),
        "response": _compare_responses(left, right, order, titles),
    }


def distinguishing_labels(left: Run, right: Run) -> tuple[str, str] | None:
    """Return the agents, versions and bindings in which two runs differ; None if in none."""
    labels = [
        (left.agent_name, right.agent_name),
        (version_of(left).label, version_of(right).label),
        (binding_of(left), binding_of(right)),
    ]
    differing = [pair for pair in labels if pair[0] != pair[1]]
    if not differing:
        return None
    return " · ".join(pair[0] for pair in differing), " · ".join(pair[1] for pair in differing)


def not_comparable_reasons(left: Run, right: Run) -> Iterator[str]:
    """Yield a sentence for each run whose response is incomplete."""
    for position, run in (("left", left), ("right", right)):
        if run.state == RunState.COMPLETED:
            continue
        cause = (run.problem or {}).get("cause", "")
        reason = f": {cause}" if isinstance(cause, str) and cause else "."
        yield f"The run on the {position} did not complete ({status_label(run).lower()}){reason}"


def candidates_of(run: Run, others: Iterable[Run]) -> list[tuple[Run, str]]:
    """Return runs to compare `run` with, and what tells each apart from those with the same text.

    That is the first difference of its request, "" for the same request or another text. One query
    reads the requests.
    """
    others = list(others)
    requests = dict(
        Run.objects.filter(pk__in=[each.pk for each in others]).values_list("pk", "request")
    )
    return [
        (
            other,
            first_difference(requests.get(other.pk), run.request) if other.text == run.text else "",
        )
        for other in others
    ]


def first_difference(document: Any, other: Any) -> str:
    """Return the first difference of a request document from another as "path: value"."""
    comparison = compare_documents(document, other)
    found = next(iter(comparison.differences), None)
    if found is None:
        return ""
    value = json_preview(found.left, MAX_PREVIEW)
    if found.change in ("added", "moved"):
        value = {"added": "not set", "moved": f"position {found.left}"}[found.change]
    return f"{found.pointer.strip('/').replace('/', '.') or 'request'}: {value}"


def headline_of(comparison: Comparison) -> str:
    surprising = comparison.total - comparison.expected
    if surprising:
        return count_text(surprising, "difference")
    if comparison.expected:
        return "Only expected version differences"
    return "No differences"


def response_side(run: Run, limit: int | None = None) -> ResponseSide:
    """Return the response of a run for a comparison: its first `limit` events, read lazily."""
    events = chain.from_iterable(found for _, found in read_events(run))
    return ResponseSide(islice(events, limit), run.outcome, version_of(run))


def _sent_at(run: Run) -> str:
    moment = localtime(run.created_at)
    return f"{moment.day} {moment:%b %Y, %H:%M:%S}"


# --- facts of both runs -----------------------------------------------------------------------

_FACTS: tuple[tuple[str, Callable[[Run], Any]], ...] = (
    ("Agent", lambda run: run.agent_name),
    ("URL", lambda run: run.url),
    ("Protocol", lambda run: version_of(run).label or run.protocol),
    ("Binding", binding_of),
    ("Environment", lambda run: run.environment),
    ("State", status_label),
    ("Problem", lambda run: value_text((run.problem or {}).get("cause"), 300)),
    ("HTTP status", lambda run: run.status),
    ("Results", lambda run: run.results),
    ("Events", lambda run: run.events),
)


def facts_of(left: Run, right: Run) -> Iterator[ComparedFact]:
    """Yield the rows of the table of facts, without those that are empty on both sides."""
    for label, read in _FACTS:
        texts = ["" if (value := read(run)) is None else str(value) for run in (left, right)]
        if any(texts):
            yield ComparedFact(label, texts[0], texts[1])
    yield from _header_facts(left, right)
    yield ComparedFact("Size", size(left.bytes), size(right.bytes))
    metrics = run_metrics(left), run_metrics(right)
    for label, column, texts in (
        ("First event", "first_event_us", [each.first for each in metrics]),
        ("Duration", "ended_us", [each.elapsed for each in metrics]),
    ):
        if any(texts):
            delta = _duration_delta(getattr(left, column), getattr(right, column))
            yield ComparedFact(label, texts[0], texts[1], delta, counts=False)
    yield ComparedFact("Sent", _sent_at(left), _sent_at(right), counts=False)


def _header_facts(left: Run, right: Run) -> Iterator[ComparedFact]:
    """Yield a row for each request header; the values of secrets are not stored."""
    sides: list[dict[str, list[str]]] = [{}, {}]
    for side, run in zip(sides, (left, right), strict=True):
        for name, value in run.headers:
            side.setdefault(str(name).title(), []).append(str(value) or "(not stored)")
    for name in sorted({*sides[0], *sides[1]}):
        left_value, right_value = (", ".join(side.get(name, [])) for side in sides)
        yield ComparedFact(f"Header {name}", left_value, right_value)


def _duration_delta(left: int | None, right: int | None) -> str:
    """Return how much longer or shorter the right run took, from microseconds."""
    if left is None or right is None or left == right:
        return ""
    sign = "+" if right > left else "−"
    return f"{sign}{milliseconds(abs(right - left) / 1000)}"


# --- responses --------------------------------------------------------------------------------


def _compare_responses(
    left: Run, right: Run, order: OrderScope, titles: tuple[str, str]
) -> ComparedPart:
    """Compare the responses as far as they were received, with notes on what is missing."""
    notes = tuple(_response_notes(left, right))
    if unreadable := [reason for run in (left, right) if (reason := _unreadable_reason(run))]:
        return ComparedPart(
            "impossible", "Unreadable response", (*unreadable, *notes), titles=titles
        )
    if not (left.events or right.events):
        return ComparedPart("impossible", "No response on either side", notes, titles=titles)
    sides = response_side(left, MAX_EVENTS), response_side(right, MAX_EVENTS)
    return ComparedPart.of(compare(*sides, order, folded=True), titles, notes)


def _unreadable_reason(run: Run) -> str:
    """Return why no reader can read a response; "" if one can."""
    # One that is unknown would be read as the default one.
    is_known = run.protocol in (*registry.PROTOCOLS, registry.ACTION)
    try:
        is_readable = is_known and bool(exchange_for(run))
    except ValueError:
        is_readable = False
    if not is_readable:
        binding = run.binding or "no binding"
        return f"Unsupported protocol: {run.protocol} {run.version} over {binding}."
    return ""


def _response_notes(left: Run, right: Run) -> Iterator[str]:
    """Yield sentences on why a comparison is not one of two whole responses."""
    yield from not_comparable_reasons(left, right)
    for position, run in (("left", left), ("right", right)):
        if run.events > MAX_EVENTS:
            yield f"Only the first {MAX_EVENTS:,} events on the {position} are compared."
    if RunState.COMPLETED not in (left.state, right.state):
        yield "Both responses are incomplete. Only the received parts are compared."
    elif left.state != right.state:
        yield "Only the received part of the incomplete response is compared."
    if left.protocol != right.protocol:
        yield "The runs use different protocols, so their events are compared."


def row_of(difference: Difference) -> DifferenceRow:
    change = difference.change
    left = "" if change == "added" else json_preview(difference.left, MAX_VALUE)
    right = "" if change == "removed" else json_preview(difference.right, MAX_VALUE)
    if change == "moved":
        left, right = f"position {difference.left}", f"position {difference.right}"
    pieces: tuple[list[DiffSegment], list[DiffSegment]] = ([], [])
    if isinstance(difference.left, str) and isinstance(difference.right, str):
        pieces = word_diff(left, right)
    return DifferenceRow(difference, left, right, pieces)


def word_diff(left: str, right: str) -> tuple[list[DiffSegment], list[DiffSegment]]:
    """Return two texts in segments; empty if they are too different, or too long."""
    words = [re.findall(r"\s+|\w+|[^\w\s]", text) for text in (left, right)]
    if not 2 < max(map(len, words)) <= 2 * MAX_WORDS:
        return [], []
    matcher = difflib.SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < 0.4:
        return [], []
    segments: tuple[list[DiffSegment], list[DiffSegment]] = ([], [])
    for tag, a, b, c, d in matcher.get_opcodes():
        same = tag == "equal"
        for side, run, change in ((0, words[0][a:b], "gone"), (1, words[1][c:d], "new")):
            if run:
                segments[side].append(("same" if same else change, "".join(run)))
    return segments
