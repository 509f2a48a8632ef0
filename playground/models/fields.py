"""Fields that are encrypted at rest."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import models


@cache
def _cipher(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]
    """Text that the database only ever sees encrypted (Fernet, key from the settings).

    A value that cannot be decrypted, because the key has changed, reads as "": the user is
    asked again instead of the site failing.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; the empty string stays empty so that it can be told in SQL."""
        return _encrypt(str(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str:
        """Decrypt; unreadable values read as the empty string."""
        return _decrypt(value) if value else ""


class EncryptedJSONField(models.TextField):  # type: ignore[type-arg]
    """JSON that the database only ever sees encrypted, keys and values alike.

    A value that cannot be decrypted, because the key has changed, reads as the default. In
    fixtures it stands as plain JSON.
    """

    # For the type checker: what is assigned and read is any JSON value.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt the JSON text; what is empty stays empty so that it can be told in SQL."""
        return _encrypt(json.dumps(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        """Decrypt; empty and unreadable values read as the default."""
        text = _decrypt(value) if value else ""
        return json.loads(text) if text else self.get_default()

    def to_python(self, value: Any) -> Any:
        """The value as it is: it is no text."""
        return value

    def value_to_string(self, obj: models.Model) -> Any:
        """The value for a fixture, as JSON and not as a string of it."""
        return self.value_from_object(obj)


def _encrypt(text: str) -> str:
    return _cipher(settings.PLAYGROUND_KEY).encrypt(text.encode()).decode()


def _decrypt(text: str) -> str:
    try:
        return _cipher(settings.PLAYGROUND_KEY).decrypt(text.encode()).decode()
    except InvalidToken:
        return ""
