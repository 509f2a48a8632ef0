"""Variables: `{{name}}` in what is sent, and the values that take its place. Pure.

A name is 1 to 80 letters, digits, `_`, `-` and `.`; spaces around it are fine. What looks
otherwise (`{{ two words }}`, `{{}}`) is ordinary text and stays.

- **One pass.** A value that holds `{{x}}` itself goes out as it is.
- A string that is nothing but one placeholder becomes the value, whatever JSON it is. Anywhere
  else, also in the names of an object and in headers, the value's text is inserted.
- **Built-in names** begin with `$`: `{{$uuid}}` is made anew for every occurrence,
  `{{$timestamp}}` is the moment in Unix seconds, `{{$isoTimestamp}}` the same by ISO 8601, and
  `{{$braces}}` is `{{`, for a text that is to hold two braces.
- **Secrets** are kept apart: of everything there are two forms, what goes out and what is kept,
  and in the latter the placeholder of a secret stays.

==============  ================================================================
`names`         which names there are, and where they occur
`substitution`  values in place of names, in documents, headers and text
`addresses`     the same in a URL, where a value must not change more than its place
==============  ================================================================
"""

from playground.variables.names import BUILT_IN, is_name, literal, names_in
from playground.variables.substitution import (
    MAX_GROWTH,
    Lookup,
    Substituted,
    Substitution,
    Value,
    VariableError,
)
from playground.variables.urls import UrlPart

__all__ = [
    "BUILT_IN",
    "MAX_GROWTH",
    "Lookup",
    "Substituted",
    "Substitution",
    "UrlPart",
    "Value",
    "VariableError",
    "is_name",
    "literal",
    "names_in",
]
