"""Model fields that are encrypted in the database."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models

from playground.models.json_text import Malformed, ShapedField

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

# cryptography is imported where it is used: that takes 20 ms, and many commands need no secret.


@cache
def _cipher(key: str) -> Fernet:
    from cryptography.fernet import Fernet

    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(key.encode()).digest()))


class EncryptedTextField(models.TextField):  # type: ignore[type-arg]
    """Text that is stored encrypted (Fernet, key from the settings).

    A value that cannot be decrypted, because the key has changed, reads as "": the user enters it
    again, and no page fails. Fixtures are written without it.
    """

    def deconstruct(self) -> Any:
        """Deconstruct as a plain `TextField`: a migration creates a text column."""
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.TextField", args, kwargs

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt; the empty string stays empty, so that SQL can test for it."""
        return _encrypt(str(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str:
        """Decrypt; unreadable values read as the empty string."""
        return _decrypt(value) if value else ""

    def value_to_string(self, obj: models.Model) -> str:
        """Return "": an encrypted value must not be written to a fixture."""
        return ""


class EncryptedJSONField(ShapedField):
    """JSON that is stored encrypted, keys and values alike.

    A value that cannot be decrypted, because the key has changed, reads as the default. Fixtures
    are written with the default; a loaded fixture may have plain JSON.
    """

    def get_prep_value(self, value: Any) -> Any:
        """Encrypt the JSON text; an empty value stays empty, so that SQL can test for it."""
        if isinstance(value, Malformed):
            return _encrypt(value.stored)
        return _encrypt(json.dumps(value)) if value else ""

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> Any:
        """Decrypt; empty and unreadable values read as the default."""
        text = _decrypt(value) if value else ""
        return self.decoded(text) if text else self.get_default()

    def value_to_string(self, obj: models.Model) -> Any:
        """Return the default: an encrypted value must not be written to a fixture."""
        return self.get_default()


def reencrypt(token: str, key: str, *others: str) -> str | None:
    """Return a stored value encrypted with `key`; None where no key can decrypt it."""
    from cryptography.fernet import InvalidToken, MultiFernet

    try:
        return MultiFernet([_cipher(each) for each in (key, *others)]).rotate(token).decode()
    except (InvalidToken, ValueError):
        return None


def _encrypt(text: str) -> str:
    return _cipher(settings.PLAYGROUND_KEY).encrypt(text.encode()).decode()


def _decrypt(text: str) -> str:
    from cryptography.fernet import InvalidToken, MultiFernet

    # While a key is rotated, some values are encrypted with the other one.
    keys = (settings.PLAYGROUND_KEY, *settings.PLAYGROUND_OTHER_KEYS)
    try:
        return MultiFernet([_cipher(key) for key in keys]).decrypt(text.encode()).decode()
    except InvalidToken:
        return ""
