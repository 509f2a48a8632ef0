"""A text field that is encrypted at rest."""

from __future__ import annotations

import base64
import hashlib
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
        if not value:
            return ""
        return _cipher(settings.PLAYGROUND_KEY).encrypt(str(value).encode()).decode()

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str:
        """Decrypt; unreadable values read as the empty string."""
        if not value:
            return ""
        try:
            return _cipher(settings.PLAYGROUND_KEY).decrypt(value.encode()).decode()
        except InvalidToken:
            return ""
