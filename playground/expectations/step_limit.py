"""What judging a reply may cost: counted in steps, so that it ends alike on every machine."""

from __future__ import annotations

from typing import Any

#: Steps that one expectation may take, and all expectations of one request together. A step is
#: a value that is looked at; a million take a second or two.
MAX_STEPS, MAX_ALL_STEPS = 1_000_000, 3_000_000


class StepLimitError(Exception):
    """The steps are used up."""


class StepLimit:
    """Steps that are left."""

    __slots__ = ("known", "remaining")

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.remaining = steps
        #: What was paid for and is at hand since. It is kept here and not beside, so that it
        #: costs the same whoever was there before.
        self.known: dict[Any, Any] = {}

    def take(self, steps: int = 1) -> None:
        """Take some steps. Raises `TooMuchError` where there are not as many left."""
        self.remaining -= steps
        if self.remaining < 0:
            raise StepLimitError

    def share(self) -> StepLimit:
        """What one expectation may take of the rest."""
        return StepLimit(min(MAX_STEPS, max(0, self.remaining)))
