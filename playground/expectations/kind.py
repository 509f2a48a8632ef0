"""What a type of expectation is: a row of facts, a sentence, and a way to judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.expectations.budget import Budget
from playground.expectations.observed import Observed

#: An expectation that `check_schema` has nothing to say about.
Wanted = Mapping[str, Any]


class Verdict(NamedTuple):
    """What became of one expectation."""

    #: None where it could not be judged.
    met: bool | None
    #: What there was instead, or what met it, in words; why not, where it could not be judged.
    actual: str
    #: The same as JSON.
    value: Any = None


@dataclass(frozen=True, slots=True)
class Field:
    """One member of an expectation, as a form asks for it."""

    name: str
    label: str
    #: `choice`, `flag` (a choice of true and false), `number`, `text`, `path`, `json` or `words`
    #: (a list, one word after another).
    control: str
    #: What can be chosen: [(value, label), ...].
    choices: tuple[tuple[str, str], ...] = ()
    #: What it holds in a new expectation, and where it is empty an example of what belongs there.
    default: str = ""
    example: str = ""
    #: Whether it is one of several members of which an expectation has exactly one.
    operand: bool = False


class Kind(ABC):
    """One type of expectation."""

    #: The `type` of an expectation.
    type: str
    #: What it is called in a form.
    label: str
    fields: tuple[Field, ...]

    @abstractmethod
    def says(self, wanted: Wanted) -> str:
        """The expectation in words, without a full stop: "the state is completed"."""

    @abstractmethod
    def judge(self, wanted: Wanted, observed: Observed, budget: Budget) -> Verdict:
        """Whether a run meets it. Raises `TooMuchError` for more work than the budget has."""


def same_word(value: str) -> tuple[str, str]:
    """A choice that is called what it is."""
    return value, value
