"""The text report."""

from __future__ import annotations

from playground.reporting import (
    as_text,
)
from tests.reporting.samples import MIXED


class TestText:
    def test_lines(self) -> None:
        assert as_text(MIXED).splitlines() == [
            "✓ Request 1 [1] (12 ms)",
            "✗ Soups / Request 2 [1] failed (1.5 s)",
            "    ✗ the HTTP status is 200; actual: 404",
            "    ✗ a path: inconclusive. It cannot be read.",
            "! Soups / Request 3 [1] not sent",
            "    There is no value for “city”.",
            "■ Salads / Request 4 [2] stopped (20 ms)",
            "    Halted.",
            "- Salads / Request 5 [2] skipped",
            "    Not begun.",
            "",
            "The run was stopped. 1 of 5 requests passed.",
            "Stopped: 3 of 5 requests done, 1 passed, 1 failed, 1 not sent, 1 stopped, 1 skipped;"
            " 2 of 4 expectations passed; 1 min 05 s",
        ]
