"""Turns as they are linked from elsewhere: what they asked or answered, and how they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from playground.models import Run
from playground.rendering.bar import word_of
from playground.rendering.words import words


@dataclass(frozen=True, slots=True)
class Other:
    """A turn that is not the one that is shown."""

    run: Run

    @property
    def answered(self) -> list[tuple[str, str]]:
        """What it answered, as (question id, value in words); empty for one that asked."""
        return answered(self.run)

    @property
    def label(self) -> str:
        """What it answered or asked, in a line."""
        said = ", ".join(f"{name}: {value}" for name, value in self.answered)
        return said or self.run.text or "(no text)"

    @property
    def word(self) -> str:
        """How it stands."""
        return word_of(self.run)


def answered(run: Run) -> list[tuple[str, str]]:
    """What a turn answered, as (question id, value in words)."""
    values = run.answers if isinstance(run.answers, Mapping) else {}
    return [(name, words(value, 200) or "(nothing)") for name, value in values.items()]
