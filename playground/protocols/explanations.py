"""A failure in plain words: the shape in which every protocol explains its codes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means and what to do about it, a sentence each."""

    meaning: str
    advice: str
