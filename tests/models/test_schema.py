"""The test database against one that was migrated: the same schema, and the same rows.

Tests use the former (tests/support/schema.py), users the latter.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from playground.models import Run

#: The schema, by database. SQLite keeps the statement that made each part.
_PARTS = {
    "sqlite": ("SELECT type, tbl_name, sql FROM sqlite_master",),
    "postgresql": (
        """
        SELECT 'column', table_name, column_name, data_type, character_maximum_length,
            is_nullable, column_default, is_identity
        FROM information_schema.columns WHERE table_schema = current_schema()
        """,
        """
        SELECT 'constraint', conrelid::regclass::text, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = current_schema()::regnamespace
        """,
        "SELECT 'index', tablename, indexdef FROM pg_indexes WHERE schemaname = current_schema()",
    ),
}


@contextlib.contextmanager
def migrated_database() -> Iterator[None]:
    """Connect to another database, as `migrate` makes it."""
    name, options = connection.settings_dict["NAME"], connection.settings_dict["TEST"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(options, "NAME", f"{name}_migrated")
        connection.close()
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        try:
            yield
        finally:
            connection.creation.destroy_test_db(name, verbosity=0)


def rows(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return [tuple(row) for row in cursor.fetchall()]


def comparable(part: Any) -> Any:
    """Return a part of the schema without what the history of a table leaves in it.

    An index keeps its name when its table gets another one, and a new column is the last one.
    """
    text = re.sub(r"(INDEX) \S+ (ON)", r"\1 \2", str(part))
    if table := re.fullmatch(r"(CREATE TABLE[^(]*)\((.*)\)\s*", text, re.DOTALL):
        return table[1], sorted(re.split(r", (?![^()]*\))", " ".join(table[2].split())))
    return text


def schema() -> list[str]:
    """Return the parts of the schema, without the tables of Django's users: they are Django's."""
    found = (row for query in _PARTS[connection.vendor] for row in rows(query))
    return sorted(
        repr([comparable(part) for part in row]) for row in found if not row[1].startswith("auth_")
    )


def stored() -> dict[str, list[Any]]:
    """Return all rows, and the names of the migrations that were applied."""
    names = {*connection.introspection.table_names()} - {"django_migrations"}
    tables = {name: rows(f"SELECT * FROM {connection.ops.quote_name(name)}") for name in names}
    return {**tables, "applied": sorted(MigrationRecorder(connection).applied_migrations())}


@pytest.mark.slow
@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_the_test_database_is_as_a_migrated_one() -> None:
    ours = schema(), stored()
    with migrated_database():
        theirs = schema(), stored()
    assert ours[0] == theirs[0]
    assert ours[1] == theirs[1]
    assert Run._meta.db_table in ours[1]
    assert any("CREATE INDEX ON" in part for part in ours[0])
