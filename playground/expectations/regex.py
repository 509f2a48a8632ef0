"""Regular expressions by RE2: their cost grows with the text and never runs away."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import re2

from playground.expectations.step_limit import StepLimit

#: Characters of a pattern, and instructions of the program that RE2 makes of it.
MAX_PATTERN, MAX_PROGRAM = 1_000, 5_000
#: Bytes that RE2 may take for a program: about three times what the largest one needs. It gives
#: up on what is larger after some milliseconds.
_MAX_MEMORY = 1 << 19
#: Instructions times characters that cost one step, at the worst that RE2 does.
_PER_STEP = 64
#: Steps that it takes to read a pattern, whatever comes of it, and to read one of its classes of
#: letters from all of Unicode.
_READING, _READING_CLASS = 10_000, 500


class PatternError(ValueError):
    """A pattern that RE2 does not take, with the reason as a sentence."""


def matches(pattern: str, text: str, budget: StepLimit) -> bool:
    """Whether some part of `text` matches; `^` and `$` stand for its start and its end.

    Raises `PatternError`, and `TooMuchError` for more text than the budget is enough for.
    """
    return _runs(_paid(_read, pattern, budget), text, budget)


def filter_search(pattern: str, text: str, budget: StepLimit) -> bool:
    """Whether some part of `text` matches as a filter means it (RFC 9535 section 2.4.7).

    Raises as `matches`.
    """
    return _runs(_paid(_for_search, pattern, budget), text, budget)


def filter_match(pattern: str, text: str, budget: StepLimit) -> bool:
    """Whether the whole of `text` does (RFC 9535 section 2.4.6). Raises as `matches`."""
    return _runs(_paid(_for_match, pattern, budget), text, budget)


def compile_pattern(pattern: str) -> Any:
    """The program of a pattern. Raises `PatternError` with a sentence."""
    _check_length(pattern)
    return _program(_read(pattern))


def _runs(program: Any, text: str, budget: StepLimit) -> bool:
    budget.take(1 + program.programsize * len(text) // _PER_STEP)
    # What cannot be written as UTF-8 comes from no JSON text, and RE2 reads nothing else.
    return program.search(text.encode("utf-8", "replace").decode()) is not None


def _paid(read: _Reader, pattern: str, budget: StepLimit) -> Any:
    """The program of a pattern, read and paid for once: a reply may bring one after another."""
    _check_length(pattern)
    key = read, pattern
    if key not in budget.known:
        classes = pattern.count(r"\p") + pattern.count(r"\P")
        budget.take(_READING + _READING_CLASS * classes)
        budget.known[key] = read(pattern)
    return _program(budget.known[key])


def _check_length(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"The pattern is longer than {MAX_PATTERN:,} characters.")


def _program(found: Any) -> Any:
    if isinstance(found, str):
        raise PatternError(found)
    return found


#: Makes a program of a pattern, or a sentence that says why there is none.
_Reader = Callable[[str], Any]


# A reason is kept as well as a program: what RE2 refuses takes it the longest.
@lru_cache(maxsize=256)
def _read(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        program = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        told = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        return f"RE2 does not take the pattern: {told}."
    if program.programsize > MAX_PROGRAM:
        return "The pattern is too large: ask for fewer repetitions."
    return program


def _for_search(pattern: str) -> Any:
    return _read(_not_over_lines(pattern))


def _for_match(pattern: str) -> Any:
    # A parenthesis of the group must not close one of the pattern.
    alone = _for_search(pattern)
    return alone if isinstance(alone, str) else _read(f"^(?:{_not_over_lines(pattern)})$")


def _not_over_lines(pattern: str) -> str:
    """A pattern of RFC 9485 as RE2 reads it: its dot stands for no end of a line at all."""
    parts: list[str] = []
    escaped = in_class = False
    for character in pattern:
        plain = not escaped
        escaped = plain and character == "\\"
        if plain and character in "[]":
            in_class = character == "["
        dot = plain and character == "." and not in_class
        parts.append(r"[^\n\r]" if dot else character)
    return "".join(parts)
