"""Rotation of the key: encrypts all encrypted columns with another key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.apps import apps
from django.db import connection, models, transaction
from django.db.models.functions import Cast

from playground.models.columns import EncryptedJSONField, EncryptedTextField, reencrypt


@dataclass(slots=True)
class RotationResult:
    """The result of a rotation."""

    #: Values that were encrypted with the new key.
    values: int = 0
    #: Values that no key can decrypt; they are not changed.
    unreadable: int = 0


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


def rotate(key: str, others: Sequence[str]) -> RotationResult:
    """Encrypt every encrypted column of every model with `key`, in one transaction.

    `others` are the keys that the values may be encrypted with so far.
    """
    result = RotationResult()
    with transaction.atomic():
        for model, field in encrypted_columns():
            _rekey_column(model, field, (key, *others), result)
    return result


def encrypted_columns() -> Iterator[tuple[type[models.Model], models.Field]]:  # type: ignore[type-arg]
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, EncryptedTextField | EncryptedJSONField):
                yield model, field


def _rekey_column(
    model: type[models.Model],
    field: models.Field,  # type: ignore[type-arg]
    keys: Sequence[str],
    result: RotationResult,
) -> None:
    # As plain text: the field itself would read a value that it cannot decrypt as empty.
    name = str(field.name)
    rows = model._base_manager.exclude(**{name: ""})
    raw = rows.annotate(stored=Cast(name, models.TextField())).values_list("pk", "stored")
    for pk, stored in list(raw):
        written = reencrypt(stored, *keys)
        if written is None:
            result.unreadable += 1
            continue
        value = models.Value(written, models.TextField())
        model._base_manager.filter(pk=pk).update(**{name: value})
        result.values += 1
