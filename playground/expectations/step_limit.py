"""Limit on the work of an evaluation, counted in steps, so that it is the same on every machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

#: The most steps of one expectation, and of all expectations and captures of one request together.
#: A step is one visited value; a million take a second or two.
MAX_STEPS, MAX_ALL_STEPS = 1_000_000, 3_000_000


class StepLimitError(Exception):
    """No steps are left."""


class StepLimit:
    """The remaining steps."""

    __slots__ = ("remaining", "results")

    def __init__(self, steps: int = MAX_ALL_STEPS) -> None:
        self.remaining = steps
        #: Results that were counted once and are reused. They are stored here and not in a shared
        #: cache, so that an evaluation costs the same whatever was evaluated before.
        self.results: dict[Any, Any] = {}

    def take(self, steps: int = 1) -> None:
        """Raise `StepLimitError` if fewer are left."""
        self.remaining -= steps
        if self.remaining < 0:
            raise StepLimitError

    @contextlib.contextmanager
    def share(self) -> Iterator[StepLimit]:
        """Have a limit for one expectation in the block, taken from the remaining steps."""
        share = StepLimit(min(MAX_STEPS, max(0, self.remaining)))
        before = share.remaining
        try:
            yield share
        finally:
            self.remaining -= before - max(0, share.remaining)
