"""Failure codes with their HTTP status, message, and a way to trigger each: `failures.json`.

Sections 4.1.4 (codes) and 7.4 (status codes). The demo page shows the same table. A response has
only codes that its version lists.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.demo import languages
from playground.demo.languages import ENGLISH, Language


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the table of failures."""

    status: int
    message: str
    #: How to trigger it, for the demo page.
    trigger: str
    headers: Mapping[str, str] = field(default_factory=dict)


CODES: Mapping[str, Code] = {
    name: Code(**row)
    for name, row in json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")).items()
}
#: The codes of each version: of 0.54 those in its text and examples, of 0.55 those of its list.
LISTED: Mapping[str, tuple[str, ...]] = {
    "0.54": ("NO_RESULTS", "INVALID_PARAMETER"),
    "0.55": tuple(code for code in CODES if code not in ("INVALID_PARAMETER", "CANCELLED")),
}
#: The code of a response to `await` (0.55, section 4.2).
_OF_AWAIT = {"0.55": "CANCELLED"}
#: Codes about the request, which 0.54 calls INVALID_PARAMETER and 0.55 by other names.
_IN_REQUEST = frozenset(
    {"INVALID_QUERY", "INVALID_PARAMETER", "UNSUPPORTED_FORMAT", "UNSUPPORTED_MODE"}
)


def listed_code(code: str, version: str) -> str:
    """Return the code of a version for a failure whose code the version may not list."""
    if code in LISTED[version] or code == _OF_AWAIT.get(version):
        return code
    if code in _IN_REQUEST:
        return "INVALID_PARAMETER" if version == "0.54" else "INVALID_QUERY"
    # The only other code of 0.54, whose example has it for a lack of tokens.
    return "NO_RESULTS"


class FailureError(Exception):
    """A failure response. Raised anywhere below the views, which convert it to a response.

    `message` is English, with `values` in braces; it is sent in `language` where it has a
    translation.
    """

    def __init__(
        self,
        code: str,
        message: str = "",
        details: Mapping[str, Any] | None = None,
        **values: object,
    ) -> None:
        row = CODES[code]
        self.code = code
        self.details = details
        self.headers = row.headers
        #: The language of the response; set where the request is known.
        self.language: Language = ENGLISH
        self._template = message or row.message
        self._values = values
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """Return the message in the language of the response."""
        return languages.say(self.language, self._template, **self._values)

    def status(self, version: str) -> int:
        """Return the HTTP status of the response in a version (section 7.4)."""
        return max(CODES[name].status for name in (self.code, listed_code(self.code, version)))

    def error(self, version: str) -> dict[str, Any]:
        """Return the `error` attribute of the response in a version (section 4.1.4)."""
        error = {"code": listed_code(self.code, version), "message": self.message}
        return error if self.details is None else {**error, "details": dict(self.details)}


def invalid_parameter(name: str, value: Any, expected: str, sentence: str) -> FailureError:
    """Return a failure INVALID_PARAMETER with the details of the 0.54 examples, section 6."""
    return FailureError(
        "INVALID_PARAMETER",
        "The parameter '{name}' must be {sentence}",
        {"parameter": name, "provided_value": value, "expected_format": expected},
        name=name,
        sentence=sentence,
    )
