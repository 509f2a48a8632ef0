"""JSON fields that are stored as text, and text that every database accepts.

PostgreSQL's `jsonb` and text refuse U+0000, and no database accepts half a surrogate pair; an
agent, or a user who tests one, may send either. As JSON in ASCII both are stored unchanged.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models


class JSONTextField(models.TextField):  # type: ignore[type-arg]
    """Any JSON value, stored as ASCII text. Not for lookups in the database."""

    # For the type checker: what is assigned and read is any JSON value.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `TextField`: a migration creates a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        """Return the JSON text; None stays NULL."""
        return None if value is None else json.dumps(value)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        """Return the value."""
        return None if value is None else json.loads(value)

    def to_python(self, value: Any) -> Any:
        """Return the value as it is; Django calls this when it reads a fixture."""
        return value

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the value itself, so that fixtures hold no JSON in text."""
        return self.value_from_object(obj)


def storable(text: str) -> str:
    """Return `text` with every character that a text column refuses replaced by U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
