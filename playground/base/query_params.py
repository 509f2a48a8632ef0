"""Parser of integers in query strings and form fields, for views, consumers and rendering."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

#: The largest integer that is accepted without a `maximum`.
MAX_INT = 999_999_999

Default = TypeVar("Default")


def int_param(
    fields: Mapping[str, str],
    name: str,
    default: Default,
    *,
    minimum: int = 0,
    maximum: int = MAX_INT,
) -> int | Default:
    """Return the integer in the field `name`, or `default` for anything else.

    An integer is written in ASCII digits alone, without sign or spaces, and with no more of them
    than `maximum` has. One outside of `minimum` and `maximum` gives the default, too.
    """
    text = fields.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(maximum))):
        return default
    number = int(text)
    return number if minimum <= number <= maximum else default
