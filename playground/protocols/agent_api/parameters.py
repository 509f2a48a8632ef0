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
    #: Lowest and highest value, both included; None for no bound.
    low: float | None = None
    high: float | None = None
    #: The meaning of an extension, as a sentence; that of the other parameters is in the schema.
    extension: str = ""

    @property
    def expected(self) -> str:
        words = _KINDS[self.kind]
        if self.low is not None and self.high is not None:
            return f"{words} from {self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{words} of at least {self.low:g}"
        return words

    def fits(self, value: Any) -> bool:
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
    "integer": "an integer",
}

_ROWS = (
    Parameter("model", "text"),
    Parameter("temperature", "number", 0, 2),
    Parameter("top_p", "number", 0, 1),
    Parameter("frequency_penalty", "number", -2, 2),
    Parameter("presence_penalty", "number", -2, 2),
    Parameter("max_tokens", "integer", 1),
    Parameter("stop", "texts"),
    Parameter("n", "integer", 1, 5),
    Parameter("seed", "integer"),
    Parameter("session_id", "text"),
    Parameter("response_id", "text"),
    Parameter("user_id", "text", extension="User id (AgentScope extension)."),
)

#: The parameters by name, in the order in which they are shown.
PARAMETERS: Mapping[str, Parameter] = MappingProxyType({row.name: row for row in _ROWS})
