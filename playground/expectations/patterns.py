"""Regular expressions by RE2: their cost grows with the text and never runs away."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import re2

from playground.expectations.budget import Budget

#: Characters of a pattern, and instructions of the program that RE2 makes of it.
MAX_PATTERN, MAX_PROGRAM = 1_000, 5_000
_MAX_MEMORY = 1 << 20
#: Instructions times characters that cost one step, at the worst that RE2 does.
_PER_STEP = 64


class PatternError(ValueError):
    """A pattern that RE2 does not take, with the reason as a sentence."""


def matches(pattern: str, text: str, budget: Budget) -> bool:
    """Whether some part of `text` matches; `^` and `$` stand for its start and its end.

    Raises `PatternError`, and `TooMuchError` for more text than the budget is enough for.
    """
    return _runs(compiled(pattern), text, budget)


def matches_whole(pattern: str, text: str, budget: Budget) -> bool:
    """Whether the whole of `text` matches. Raises as `matches`."""
    compiled(pattern)  # A parenthesis of the group below must not close one of the pattern.
    return _runs(compiled(f"^(?:{pattern})$"), text, budget)


def _runs(program: Any, text: str, budget: Budget) -> bool:
    budget.spend(1 + program.programsize * len(text) // _PER_STEP)
    # What cannot be written as UTF-8 comes from no JSON text, and RE2 reads nothing else.
    return program.search(text.encode("utf-8", "replace").decode()) is not None


def compiled(pattern: str) -> Any:
    """The program of a pattern. Raises `PatternError` with a sentence."""
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"The pattern is longer than {MAX_PATTERN:,} characters.")
    return _compiled(pattern)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        program = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise PatternError(f"RE2 does not take the pattern: {told}.") from None
    if program.programsize > MAX_PROGRAM:
        raise PatternError("The pattern is too large: ask for fewer repetitions.")
    return program
