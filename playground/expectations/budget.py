"""What judging a reply may cost: counted in steps, so that it ends alike on every machine."""

from __future__ import annotations

from typing import Any

#: Steps that one expectation may take, and all expectations of one request together. A step is
#: a value that is looked at; a million take a second or two.
MAX_STEPS, MAX_ALL_STEPS = 1_000_000, 3_000_000


class TooMuchError(Exception):
    """The steps are used up."""


class Budget:
    """Steps that are left."""

    __slots__ = ("known", "left")

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps
        #: What was paid for and is at hand since. It is kept here and not beside, so that it
        #: costs the same whoever was there before.
        self.known: dict[Any, Any] = {}

    def spend(self, steps: int = 1) -> None:
        """Take some steps. Raises `TooMuchError` where there are not as many left."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchError

    def share(self) -> Budget:
        """What one expectation may take of the rest."""
        return Budget(min(MAX_STEPS, max(0, self.left)))
