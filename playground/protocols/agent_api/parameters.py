"""Parameters of an Agent API request with the ranges of their values.

Section "Request Models". The specification gives a range for `n` alone; the others are those
that the models behind such agents accept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a request."""

    name: str
    #: `text`, `number`, `integer`, or `texts`: one string or an array of them.
    kind: str
    #: The meaning, as a sentence for users.
    meaning: str
    #: Lowest and highest value, both included; None for no bound.
    low: float | None = None
    high: float | None = None

    @property
    def expected(self) -> str:
        """Return the expected value in words."""
        words = _KINDS[self.kind]
        if self.low is not None and self.high is not None:
            return f"{words} from {self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{words} of at least {self.low:g}"
        return words

    def fits(self, value: Any) -> bool:
        """Return whether a value is of the right kind and within the range."""
        if self.kind == "text":
            return isinstance(value, str)
        if self.kind == "texts":
            entries = value if isinstance(value, list) else [value]
            return all(isinstance(entry, str) for entry in entries)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        if self.kind == "integer" and isinstance(value, float) and not value.is_integer():
            return False
        above = self.low is None or value >= self.low
        return above and (self.high is None or value <= self.high)


_KINDS: Mapping[str, str] = {
    "text": "a string",
    "texts": "a string or an array of strings",
    "number": "a number",
    "integer": "a whole number",
}

_ROWS = (
    Parameter("model", "text", "The model that the agent should answer with."),
    Parameter(
        "temperature",
        "number",
        "How freely the model chooses its words: 0 takes the likeliest ones.",
        0,
        2,
    ),
    Parameter(
        "top_p",
        "number",
        "The share of likely words that the model chooses from.",
        0,
        1,
    ),
    Parameter(
        "frequency_penalty",
        "number",
        "Above 0 the model avoids words the more often it has used them.",
        -2,
        2,
    ),
    Parameter(
        "presence_penalty",
        "number",
        "Above 0 the model avoids words that it has used already.",
        -2,
        2,
    ),
    Parameter("max_tokens", "integer", "The most tokens that an answer may have.", 1),
    Parameter("stop", "texts", "Where one of these comes up, the answer ends."),
    Parameter("n", "integer", "How many answers are wanted.", 1, 5),
    Parameter("seed", "integer", "The same seed makes the same answer likelier."),
    Parameter("session_id", "text", "The conversation that the request belongs to."),
    Parameter("response_id", "text", "The response that the request follows on."),
    Parameter("user_id", "text", "Who is asking; AgentScope's own addition."),
)

#: The parameters by name, in the order in which they are shown.
PARAMETERS: Mapping[str, Parameter] = MappingProxyType({row.name: row for row in _ROWS})
