"""Fields that are encrypted at rest."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models


@cache
def _cipher(key: str) -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]
    """Text that the database only ever sees encrypted (Fernet, key from the settings).

    A value that cannot be decrypted, because the key has changed, reads as "": the user is
    asked again instead of the site failing. Fixtures are written without it.
    """

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `TextField`: what a migration creates is a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; the empty string stays empty so that it can be told in SQL."""
        return _encrypt(str(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str:
        """Decrypt; unreadable values read as the empty string."""
        return _decrypt(value) if value else ""

    def value_to_string(self, obj: models.Model) -> str:
        """Nothing: what is encrypted at rest must not be in a file beside it."""
        return ""


class EncryptedJSONField(models.TextField):  # type: ignore[type-arg]
    """JSON that the database only ever sees encrypted, keys and values alike.

    A value that cannot be decrypted, because the key has changed, reads as the default. Fixtures
    are written with the default; one that is loaded may have it as plain JSON.
    """

    # For the type checker: what is assigned and read is any JSON value.
    _pyi_private_set_type: Any
    _pyi_private_get_type: Any

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `TextField`: what a migration creates is a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

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
        """The default: what is encrypted at rest must not be in a file beside it."""
        return self.get_default()


def reencrypt(token: str, key: str, *others: str) -> str | None:
    """What is stored, encrypted with `key` now; None where none of the keys can read it."""
    try:
        return MultiFernet([_cipher(each) for each in (key, *others)]).rotate(token).decode()
    except (InvalidToken, ValueError):
        return None


def _encrypt(text: str) -> str:
    return _cipher(settings.PLAYGROUND_KEY).encrypt(text.encode()).decode()


def _decrypt(text: str) -> str:
    # While a key is being replaced, some of what is stored was written with the other one.
    keys = (settings.PLAYGROUND_KEY, *settings.PLAYGROUND_OTHER_KEYS)
    try:
        return MultiFernet([_cipher(key) for key in keys]).decrypt(text.encode()).decode()
    except InvalidToken:
        return ""
