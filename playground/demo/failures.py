"""Failure codes with their HTTP status, message, and a way to trigger each.

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
    #: How to trigger it, for the demo page.
    trigger: str
    headers: Mapping[str, str] = field(default_factory=dict)


CODES: Mapping[str, Code] = {
    "NO_RESULTS": Code(
        200, "No results match this query.", "Send the query “recipes from planet Mars”."
    ),
    "INVALID_QUERY": Code(
        400,
        "The query is invalid.",
        "Send invalid JSON, omit query.text, or send the query “???”.",
    ),
    "UNSUPPORTED_FORMAT": Code(
        200, "This response format is not supported.", "Set prefer.response_format to “csv”."
    ),
    "UNSUPPORTED_MODE": Code(200, "This mode is not supported.", "Set prefer.mode to “generate”."),
    "RATE_LIMITED": Code(
        429,
        "Too many requests; try again in 5 seconds.",
        "Only on request: the demo agent has no rate limit.",
        {"Retry-After": "5"},
    ),
    "INTERNAL_ERROR": Code(500, "Internal agent error.", "Only on request."),
    "TIMEOUT": Code(
        200,
        "The agent timed out before the answer was complete.",
        "Only on request; a stream sends it after the first results.",
    ),
    "TOKEN_LIMIT": Code(
        200,
        "The request exceeds the token limit of this agent.",
        "Send more than 4,000 characters; on request, a stream ends with it.",
    ),
    "INVALID_PARAMETER": Code(
        400, "A parameter has an invalid value.", "Set max_cooking_time to “soon”."
    ),
    "CANCELLED": Code(200, "The task was cancelled.", "Cancel a meal plan that is in progress."),
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
