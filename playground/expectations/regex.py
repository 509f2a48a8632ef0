"""Regular expressions by RE2, whose cost grows linearly with the text."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import re2

from playground.expectations.step_limit import StepLimit

#: The most characters of a pattern, and instructions of its RE2 program.
MAX_PATTERN, MAX_PROGRAM = 1_000, 5_000
#: The most bytes for a program: about three times the need of the largest allowed one. RE2 rejects
#: larger ones after some milliseconds.
_MAX_MEMORY = 1 << 19
#: Instructions times characters that cost one step, in the worst case of RE2.
_PER_STEP = 64
#: Steps to compile a pattern, valid or not, and to compile one of its classes of Unicode letters.
_COMPILE_STEPS, _COMPILE_CLASS_STEPS = 10_000, 500


class PatternError(ValueError):
    """A pattern that RE2 rejects, with the reason as a sentence."""


def matches(pattern: str, text: str, limit: StepLimit) -> bool:
    """Return whether some part of `text` matches; `^` and `$` are its start and its end.

    Raise `PatternError`, and `StepLimitError` if the text needs more steps than are left.
    """
    return _matches(_compiled(_compile, pattern, limit), text, limit)


def filter_search(pattern: str, text: str, limit: StepLimit) -> bool:
    """Return whether some part of `text` matches, as in a filter (RFC 9535 section 2.4.7).

    Raise as `matches`.
    """
    return _matches(_compiled(_for_search, pattern, limit), text, limit)


def filter_match(pattern: str, text: str, limit: StepLimit) -> bool:
    """Return whether all of `text` matches (RFC 9535 section 2.4.6). Raise as `matches`."""
    return _matches(_compiled(_for_match, pattern, limit), text, limit)


def compile_pattern(pattern: str) -> Any:
    """Raise `PatternError` with a sentence."""
    _check_length(pattern)
    return _program(_compile(pattern))


def _matches(program: Any, text: str, limit: StepLimit) -> bool:
    limit.take(1 + program.programsize * len(text) // _PER_STEP)
    # Text that cannot be encoded as UTF-8 never comes from JSON, and RE2 accepts nothing else.
    return program.search(text.encode("utf-8", "replace").decode()) is not None


def _compiled(compile_: _Compiler, pattern: str, limit: StepLimit) -> Any:
    """Return the program of a pattern; its steps are counted once, as filters repeat patterns."""
    _check_length(pattern)
    key = compile_, pattern
    if key not in limit.results:
        classes = pattern.count(r"\p") + pattern.count(r"\P")
        limit.take(_COMPILE_STEPS + _COMPILE_CLASS_STEPS * classes)
        limit.results[key] = compile_(pattern)
    return _program(limit.results[key])


def _check_length(pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"The pattern is longer than {MAX_PATTERN:,} characters.")


def _program(found: Any) -> Any:
    if isinstance(found, str):
        raise PatternError(found)
    return found


#: Compiles a pattern to a program, or to a sentence with the reason for the failure.
_Compiler = Callable[[str], Any]


# Reasons are cached as well: rejected patterns take RE2 the longest.
@lru_cache(maxsize=256)
def _compile(pattern: str) -> Any:
    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        program = re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        return f"Invalid RE2 pattern: {text}."
    if program.programsize > MAX_PROGRAM:
        return "The pattern is too large. Use fewer repetitions."
    return program


def _for_search(pattern: str) -> Any:
    return _compile(_with_rfc_dots(pattern))


def _for_match(pattern: str) -> Any:
    # Compiled alone first, so that a parenthesis in the pattern cannot close the group.
    alone = _for_search(pattern)
    return alone if isinstance(alone, str) else _compile(f"^(?:{_with_rfc_dots(pattern)})$")


def _with_rfc_dots(pattern: str) -> str:
    """Return a pattern of RFC 9485 for RE2: its dot matches no line terminator."""
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
