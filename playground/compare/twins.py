"""Side-by-side runs (twins): titles of both sides, and the differences of their responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playground.compare.comparison import (
    DifferenceRow,
    distinguishing_labels,
    headline_of,
    not_comparable_reasons,
    response_side,
    rows_of,
)
from playground.conversation.status import binding_of, version_of
from playground.models import Run, Twin
from playground.protocols.diff import IGNORED, UNSEEN, Comparison, compare


@dataclass(frozen=True, slots=True)
class TwinSide:
    """One of the two runs."""

    #: `Left` or `Right`.
    position: str
    run: Run
    #: What distinguishes it from the other side: agent, version, binding.
    title: str
    version: str
    binding: str


@dataclass(frozen=True, slots=True)
class TwinResult:
    """The comparison of both responses."""

    #: `waiting`, `same`, `different` or `impossible`.
    state: str
    headline: str
    #: For `impossible`, why.
    reasons: tuple[str, ...] = ()
    rows: tuple[DifferenceRow, ...] = ()
    #: Number of differences that are not listed.
    more: int = 0
    #: Number of results, left and right.
    results: tuple[int, int] = (0, 0)
    titles: tuple[str, str] = ("", "")

    @property
    def ignored(self) -> Any:
        """Return the table of members that the comparison ignores."""
        return IGNORED

    @property
    def unseen(self) -> Any:
        """Return sentences on what else the comparison ignores."""
        return UNSEEN


def twin_sides(twin: Twin) -> tuple[TwinSide, TwinSide]:
    titles = _titles(twin.left, twin.right)
    return _side("Left", twin.left, titles[0]), _side("Right", twin.right, titles[1])


def twin_result(twin: Twin) -> TwinResult:
    """Return the comparison of both responses, reading them once both runs have ended."""
    left, right = twin.left, twin.right
    if not (left.is_final and right.is_final):
        return TwinResult("waiting", "Waiting for both responses…")
    if reasons := tuple(not_comparable_reasons(left, right)):
        return TwinResult("impossible", "Responses cannot be compared", reasons)
    comparison = comparison_of(left, right)
    rows = rows_of(comparison.differences)
    return TwinResult(
        state="same" if comparison.same else "different",
        headline=headline_of(comparison),
        rows=rows,
        more=comparison.total - len(rows),
        results=comparison.results,
        titles=_titles(left, right),
    )


def comparison_of(left: Run, right: Run) -> Comparison:
    """Compare the responses of two completed runs, reading both."""
    return compare(response_side(left), response_side(right))


def _side(position: str, run: Run, title: str) -> TwinSide:
    return TwinSide(position, run, title, version_of(run).label, binding_of(run))


def _titles(left: Run, right: Run) -> tuple[str, str]:
    return distinguishing_labels(left, right) or (left.agent_name, right.agent_name)
