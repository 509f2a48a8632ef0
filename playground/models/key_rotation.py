"""Rotation of the key: encrypts all encrypted columns with another key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.apps import apps
from django.db import connection, models, transaction
from django.db.models.functions import Cast

from playground.models.columns import EncryptedJSONField, EncryptedTextField, reencrypt


@contextmanager
def commits_on_disk() -> Iterator[None]:
    """Write the commits of the block to disk before it ends.

    SQLite is configured so that a power failure may lose the last commits (settings.py). A key
    must not be replaced before the values that it encrypts are on disk.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield  # Other databases do so by default; within a transaction nothing is committed.
        return
    with connection.cursor() as cursor:
        before = cursor.execute("PRAGMA synchronous").fetchone()[0]
        cursor.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            cursor.execute(f"PRAGMA synchronous = {int(before)}")


def rotate(key: str, others: Sequence[str]) -> tuple[int, int]:
    """Encrypt every encrypted column of every model with `key`, in one transaction.

    `others` are the keys that the values may be encrypted with so far. Return the number of values
    that were encrypted, and of those that no key can decrypt: they are not changed.
    """
    encrypted = unreadable = 0
    with transaction.atomic():
        for model, name in encrypted_columns():
            # As plain text: the field itself would read a value that it cannot decrypt as empty.
            rows = model._base_manager.exclude(**{name: ""})
            stored = rows.annotate(stored=Cast(name, models.TextField()))
            for pk, value in list(stored.values_list("pk", "stored")):
                if (written := reencrypt(value, key, *others)) is None:
                    unreadable += 1
                    continue
                text = models.Value(written, models.TextField())
                model._base_manager.filter(pk=pk).update(**{name: text})
                encrypted += 1
    return encrypted, unreadable


def encrypted_columns() -> Iterator[tuple[type[models.Model], str]]:
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, EncryptedTextField | EncryptedJSONField):
                yield model, str(field.name)
