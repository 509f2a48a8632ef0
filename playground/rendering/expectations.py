"""What became of a run's expectations, for reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.expectations import Check
from playground.rendering.pretty import pretty

#: A verdict as a shape and a word: what the page tells them apart by, beside the colour.
_VERDICTS = {
    True: ("pass", "Met"),
    False: ("fail", "Not met"),
    None: ("incomplete", "Could not be judged"),
}


@dataclass(frozen=True, slots=True)
class CheckView:
    """One expectation with its verdict."""

    #: `pass`, `fail` or `incomplete`.
    verdict: str
    verdict_label: str
    expected: str
    actual: str
    #: The expectation as JSON.
    source: str


@dataclass(frozen=True, slots=True)
class ChecksView:
    """All expectations of a run."""

    rows: tuple[CheckView, ...]
    passed: int

    @property
    def total(self) -> int:
        """How many expectations there are."""
        return len(self.rows)

    @property
    def verdict(self) -> str:
        """Of all together: `pass` only where all are met."""
        if self.passed == self.total:
            return "pass"
        return "fail" if any(row.verdict == "fail" for row in self.rows) else "incomplete"

    @property
    def tally(self) -> str:
        """The count in words."""
        return f"{self.passed} of {self.total} met"


def verdict_of(met: bool | None) -> tuple[str, str]:
    """The verdict and its word."""
    return _VERDICTS[met]


def checks_view(checks: Sequence[Check]) -> ChecksView:
    """The checks of one run, in their order."""
    rows = tuple(
        CheckView(*verdict_of(check.met), check.expected, check.actual, pretty(check.expectation))
        for check in checks
    )
    return ChecksView(rows, sum(check.met is True for check in checks))
