"""What a type of expectation is: a row of facts, a sentence, and a way to judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.expectations.facts import RunFacts
from playground.expectations.step_limit import StepLimit

#: An expectation that `check_schema` has nothing to say about.
ExpectationValue = Mapping[str, Any]


class Evaluation(NamedTuple):
    """What became of one expectation."""

    #: None where it could not be judged.
    met: bool | None
    #: What there was instead, or what met it, in words; why not, where it could not be judged.
    actual: str
    #: The same as JSON.
    value: Any = None


@dataclass(frozen=True, slots=True)
class ExpectationField:
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


class ExpectationType(ABC):
    """One type of expectation."""

    #: The `type` of an expectation.
    type: str
    #: What it is called in a form.
    label: str
    fields: tuple[ExpectationField, ...]

    @abstractmethod
    def describe(self, wanted: ExpectationValue) -> str:
        """The expectation in words, without a full stop: "the state is completed"."""

    @abstractmethod
    def evaluate(
        self, wanted: ExpectationValue, observed: RunFacts, budget: StepLimit
    ) -> Evaluation:
        """Whether a run meets it. Raises `TooMuchError` for more work than the budget has."""


def same_word(value: str) -> tuple[str, str]:
    """A choice that is called what it is."""
    return value, value
