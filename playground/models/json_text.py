"""JSON that is stored as text, and text that every database takes.

PostgreSQL's `jsonb` and text refuse U+0000, and no database takes half a surrogate pair; an
agent, or a user who tests one, may send either. As JSON in ASCII both are kept as they are.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models


class JSONTextField(models.TextField):  # type: ignore[type-arg]
    """Any JSON value, kept as ASCII text. Not for looking things up in the database."""

    # For the type checker: what is assigned and read is any JSON value.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `TextField`: what a migration creates is a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        """The JSON text; None stays NULL."""
        return None if value is None else json.dumps(value)

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        """The value."""
        return None if value is None else json.loads(value)

    def to_python(self, value: Any) -> Any:
        """Values are kept as they are; Django asks when it reads a fixture."""
        return value

    def value_to_string(self, obj: models.Model) -> Any:
        """Fixtures show the value itself and not its text."""
        return self.value_from_object(obj)


def storable(text: str) -> str:
    """`text` without what a text column refuses, each replaced by U+FFFD."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
