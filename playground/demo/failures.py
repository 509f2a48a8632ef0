"""Failure codes with their HTTP status, message, and a way to provoke each.

Sections 4.1.4 (codes) and 7.4 (status codes). The demo page shows the same table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Code:
    """A row of the table of failures."""

    status: int
    message: str
    #: How to provoke it, for the demo page.
    trigger: str
    headers: Mapping[str, str] = field(default_factory=dict)


CODES: Mapping[str, Code] = {
    "NO_RESULTS": Code(
        200, "Nothing in the corpus fits this query.", "Ask for “recipes from planet Mars”."
    ),
    "INVALID_QUERY": Code(
        400,
        "The query could not be read.",
        "Send broken JSON, leave out query.text, or ask only “???”.",
    ),
    "UNSUPPORTED_FORMAT": Code(
        200, "This response format is not supported.", "Prefer the response_format “csv”."
    ),
    "UNSUPPORTED_MODE": Code(200, "This mode is not supported.", "Prefer the mode “generate”."),
    "RATE_LIMITED": Code(
        429,
        "Too many requests; try again in 5 seconds.",
        "Only on request: nobody is limited here.",
        {"Retry-After": "5"},
    ),
    "INTERNAL_ERROR": Code(500, "Something went wrong inside the agent.", "Only on request."),
    "TIMEOUT": Code(
        200,
        "The agent ran out of time before it had a whole answer.",
        "Only on request; as a stream it comes after the first results.",
    ),
    "TOKEN_LIMIT": Code(
        200,
        "The request is more than this agent can process.",
        "Ask with more than 4,000 characters; on request, a stream breaks off with it.",
    ),
    "INVALID_PARAMETER": Code(
        400, "A parameter has a value that it cannot have.", "Set max_cooking_time to “soon”."
    ),
    "CANCELLED": Code(200, "The task was cancelled.", "Cancel a meal plan that is in the making."),
}


class FailureError(Exception):
    """A failure response. Raised anywhere below the views, which convert it to a response."""

    def __init__(
        self, code: str, message: str = "", details: Mapping[str, Any] | None = None
    ) -> None:
        row = CODES[code]
        self.code = code
        self.message = message or row.message
        self.details = details
        self.status = row.status
        self.headers = row.headers
        super().__init__(self.message)

    @property
    def error(self) -> dict[str, Any]:
        """Return the `error` attribute of the response (section 4.1.4)."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details is not None:
            error["details"] = dict(self.details)
        return error


def invalid_parameter(name: str, value: Any, expected: str, sentence: str) -> FailureError:
    """Return a failure INVALID_PARAMETER with the details of the 0.54 examples, section 6."""
    return FailureError(
        "INVALID_PARAMETER",
        f"The parameter '{name}' must be {sentence}",
        {"parameter": name, "provided_value": value, "expected_format": expected},
    )
