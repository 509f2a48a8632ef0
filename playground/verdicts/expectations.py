"""Checks of a run as rows: the verdict of each expectation, and of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from playground.expectations import Check
from playground.ui.formatting import pretty

#: CSS state and label of each verdict; neither depends on the colour alone.
_VERDICTS = {
    True: ("pass", "Passed"),
    False: ("fail", "Failed"),
    None: ("incomplete", "Inconclusive"),
}


@dataclass(frozen=True, slots=True)
class CheckView:
    """A check as a row."""

    #: `pass`, `fail` or `incomplete`.
    verdict: str
    verdict_label: str
    expected: str
    actual: str
    #: The expectation as JSON.
    source: str


@dataclass(frozen=True, slots=True)
class ChecksView:
    """All checks of a run."""

    rows: tuple[CheckView, ...]
    passed: int

    @property
    def total(self) -> int:
        """Return the number of checks."""
        return len(self.rows)

    @property
    def verdict(self) -> str:
        """Return `pass` if all checks passed, else `fail` or `incomplete`."""
        if self.passed == self.total:
            return "pass"
        return "fail" if any(row.verdict == "fail" for row in self.rows) else "incomplete"

    @property
    def tally(self) -> str:
        """Return the number of passed checks as text."""
        return f"{self.passed} of {self.total} passed"


def verdict_of(passed: bool | None) -> tuple[str, str]:
    """Return CSS state and label of a verdict."""
    return _VERDICTS[passed]


def checks_view(checks: Sequence[Check]) -> ChecksView:
    """Return the checks of a run, in order."""
    rows = tuple(
        CheckView(*verdict_of(check.met), check.expected, check.actual, pretty(check.expectation))
        for check in checks
    )
    return ChecksView(rows, sum(check.met is True for check in checks))
