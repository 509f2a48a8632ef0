"""A twin: how its two sides are told apart, and what their replies do not have in common."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.models import Run, RunState, Twin
from playground.protocols.diff import IGNORED, UNSEEN, Comparison, Reply, compare
from playground.protocols.events import Event
from playground.reading import read_events
from playground.rendering.differences import DifferenceRow, counted, rows_of
from playground.rendering.run_status import status_label
from playground.rendering.spoken import binding_of, version_of


@dataclass(frozen=True, slots=True)
class TwinSide:
    """One of the two runs."""

    #: `Left` or `Right`.
    position: str
    run: Run
    #: What only this side is: its binding, its version, its agent.
    title: str
    version: str
    binding: str


@dataclass(frozen=True, slots=True)
class TwinResult:
    """What there is to say of both replies."""

    #: `waiting`, `same`, `different` or `impossible`.
    state: str
    headline: str
    #: For `impossible`, why.
    reasons: tuple[str, ...] = ()
    rows: tuple[DifferenceRow, ...] = ()
    #: Differences that are counted and not listed.
    more: int = 0
    results: tuple[int, int] = (0, 0)
    #: What the sides are called.
    titles: tuple[str, str] = ("", "")

    @property
    def ignored(self) -> Any:
        """The table of what was left out of account."""
        return IGNORED

    @property
    def unseen(self) -> Any:
        """What was left out of account besides, in words."""
        return UNSEEN


def twin_sides(twin: Twin) -> tuple[TwinSide, TwinSide]:
    """The two sides with what tells them apart."""
    titles = _titles(twin.left, twin.right)
    return (
        _side("Left", twin.left, titles[0]),
        _side("Right", twin.right, titles[1]),
    )


def _side(position: str, run: Run, title: str) -> TwinSide:
    return TwinSide(position, run, title, version_of(run).label, binding_of(run))


def _titles(left: Run, right: Run) -> tuple[str, str]:
    return distinguishing_labels(left, right) or (left.agent_name, right.agent_name)


def distinguishing_labels(left: Run, right: Run) -> tuple[str, str] | None:
    """The sides in the words in which they differ; None where they do not."""
    told = [
        (left.agent_name, right.agent_name),
        (version_of(left).label, version_of(right).label),
        (binding_of(left), binding_of(right)),
    ]
    differing = [pair for pair in told if pair[0] != pair[1]]
    if not differing:
        return None
    return " · ".join(pair[0] for pair in differing), " · ".join(pair[1] for pair in differing)


def twin_result(twin: Twin) -> TwinResult:
    """How it stands with the two replies. Reads both runs once they have ended."""
    left, right = twin.left, twin.right
    if not (left.is_final and right.is_final):
        return TwinResult("waiting", "Waiting for both replies…")
    if reasons := tuple(not_comparable_reasons(left, right)):
        return TwinResult("impossible", "The replies cannot be compared", reasons)
    return _told(comparison_of(left, right), _titles(left, right))


def comparison_of(left: Run, right: Run) -> Comparison:
    """What two runs that have completed do not have in common. Reads both."""
    return compare(response_side(left), response_side(right))


def not_comparable_reasons(left: Run, right: Run) -> Iterator[str]:
    """Why a reply is no whole one, a sentence for each."""
    for position, run in (("left", left), ("right", right)):
        if run.state == RunState.COMPLETED:
            continue
        cause = (run.problem or {}).get("cause", "")
        why = f": {cause}" if isinstance(cause, str) and cause else "."
        yield f"The run on the {position} is {status_label(run).lower()}{why}"


def _told(found: Comparison, titles: tuple[str, str]) -> TwinResult:
    rows = rows_of(found.differences)
    state = "same" if found.same else "different"
    headline = headline_of(found)
    more = found.total - len(rows)
    return TwinResult(state, headline, (), rows, more, found.results, titles)


def headline_of(found: Comparison) -> str:
    """What a comparison has come to, in a few words."""
    surprising = found.total - found.expected
    if surprising:
        return counted(surprising, "difference")
    if found.expected:
        return "No difference but what the versions explain"
    return "No difference"


def response_side(run: Run, most: int | None = None) -> Reply:
    """A run's reply for a comparison, read when that reads it: its first `most` events."""
    return Reply(islice(_events(run), most), run.outcome, version_of(run))


def _events(run: Run) -> Iterator[Event]:
    for _, events in read_events(run):
        yield from events
