"""Everything that is encrypted, encrypted with another key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from django.apps import apps
from django.db import connection, models, transaction
from django.db.models.functions import Cast

from playground.models.fields import EncryptedJSONField, EncryptedTextField, reencrypt


@dataclass(slots=True)
class RotationResult:
    """What was done."""

    #: Values that are encrypted with the new key now.
    values: int = 0
    #: Values that none of the keys can read; they stay as they are.
    unreadable: int = 0


@contextmanager
def commits_on_disk() -> Iterator[None]:
    """What is committed within is on the disk before anything else is done.

    SQLite is set up to forget the last moment at a power cut (settings.py). A key that takes the
    place of another one must not outlive the commit that it belongs to.
    """
    if connection.vendor != "sqlite" or connection.in_atomic_block:
        yield  # Others commit so anyway; and within a transaction nothing is committed.
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

    `others` are the keys that they may be encrypted with now.
    """
    done = RotationResult()
    with transaction.atomic():
        for model, field in encrypted_columns():
            _rekey_column(model, field, (key, *others), done)
    return done


def encrypted_columns() -> Iterator[tuple[type[models.Model], models.Field]]:  # type: ignore[type-arg]
    """Every model with every one of its fields that is encrypted."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, EncryptedTextField | EncryptedJSONField):
                yield model, field


def _rekey_column(
    model: type[models.Model],
    field: models.Field,  # type: ignore[type-arg]
    keys: Sequence[str],
    done: RotationResult,
) -> None:
    # As plain text: the field itself would read what it cannot decrypt as nothing.
    name = str(field.name)
    rows = model._base_manager.exclude(**{name: ""})
    raw = rows.annotate(stored=Cast(name, models.TextField())).values_list("pk", "stored")
    for pk, stored in list(raw):
        written = reencrypt(stored, *keys)
        if written is None:
            done.unreadable += 1
            continue
        value = models.Value(written, models.TextField())
        model._base_manager.filter(pk=pk).update(**{name: value})
        done.values += 1
