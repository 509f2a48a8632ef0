"""JSON fields that are stored as text, and text that every database accepts.

PostgreSQL's `jsonb` and text refuse U+0000, and no database accepts half a surrogate pair; an
agent, or a user who tests one, may send either. As JSON in ASCII both are stored unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import models


class Malformed:
    """A stored value of another shape than its column's; reads as an empty object or array."""

    #: Its text.
    stored: str


class MalformedObject(Malformed, dict[str, Any]):
    """The value of a column for objects."""


class MalformedArray(Malformed, list[Any]):
    """The value of a column for arrays."""


class Shape(NamedTuple):
    """A shape that JSON values have."""

    label: str
    matches: Callable[[Any], bool]
    malformed: Callable[[], Any] = MalformedObject


def _is_array_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(isinstance(each, kind) for each in value)


_is_texts = _is_array_of(str)
ANY = Shape("a JSON value", lambda value: True)
OBJECT = Shape("an object", lambda value: isinstance(value, dict))
NAMED_TEXTS = Shape(
    "an object of strings",
    lambda value: isinstance(value, dict) and _is_texts([*value.values()]),
)
OBJECTS = Shape("an array of objects", _is_array_of(dict), MalformedArray)
TEXTS = Shape("an array of strings", _is_texts, MalformedArray)
PAIRS = Shape(
    "an array of pairs of strings, [name, value]",
    lambda value: (
        isinstance(value, list) and all(_is_texts(each) and len(each) == 2 for each in value)
    ),
    MalformedArray,
)


class ShapedField(models.TextField):  # type: ignore[type-arg]
    """A text column for JSON values of one shape.

    `loaddata` and forms refuse other values. One that was stored in another way reads as a
    `Malformed` value, so that no page fails, and is written back unchanged.
    """

    # For the type checker: what is assigned and read is any JSON value.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any
    #: `clean` must check malformed values, too, which are empty.
    empty_values = (None, "")

    def __init__(self, *args: Any, shape: Shape = ANY, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shape = shape

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `TextField`: a migration creates a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def to_python(self, value: Any) -> Any:
        """Return the value itself; Django calls this when it reads a fixture."""
        if isinstance(value, Malformed) or not (value is None or self.shape.matches(value)):
            raise ValidationError(f"Must be {self.shape.label}.")
        return value

    def decoded(self, text: str) -> Any:
        """Return the value of a stored text, or an empty one if it has another shape."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = ...
        if value is not ... and ((value is None and self.null) or self.shape.matches(value)):
            return value
        found = self.shape.malformed()
        found.stored = text
        return found


def text_bytes(row: models.Model) -> int:
    """Return the bytes, as stored, of a row's text columns that have no maximum length."""
    values = vars(row)  # Without the columns that were not read.
    fields = [each for each in row._meta.concrete_fields if isinstance(each, models.TextField)]
    texts = (each.get_prep_value(values.get(each.attname)) for each in fields)
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts if text)


class JSONTextField(ShapedField):
    """Any JSON value, stored as ASCII text. Not for lookups in the database."""

    def get_prep_value(self, value: Any) -> Any:
        """Return the JSON text; None stays NULL."""
        if isinstance(value, Malformed):
            return value.stored
        return None if value is None else json.dumps(value)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        return None if value is None else self.decoded(value)

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the value itself, so that fixtures hold no JSON in text."""
        return self.value_from_object(obj)


def storable(text: str) -> str:
    """Return `text` with every character that a text column refuses replaced by U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
