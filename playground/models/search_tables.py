"""Search tables: tables, triggers and indexes of the search for words, and their repair.

SQLite: a table of trigrams (FTS5) that triggers update with every change of a run. It stores no
text, and identifies a run by a number: rows of a table without an integer key may be renumbered.
PostgreSQL: an index over trigrams, with an extension that the owner of a database may install.
"""

from __future__ import annotations

import logging
from typing import Any

from django.db import DatabaseError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

_SQLITE_TABLES = (
    """
    CREATE VIRTUAL TABLE playground_run_words USING fts5
        (words, content='', columnsize=0, detail=none, tokenize='trigram')
    """,
    """
    CREATE TABLE playground_run_number
        (number INTEGER PRIMARY KEY, run_id char(32) NOT NULL UNIQUE)
    """,
)
_SQLITE_TRIGGERS = (
    """
    CREATE TRIGGER playground_run_words_added AFTER INSERT ON playground_run BEGIN
        INSERT INTO playground_run_number (run_id) VALUES (new.id);
        INSERT INTO playground_run_words (rowid, words)
            SELECT number, new.agent_name || char(10) || new.text
            FROM playground_run_number WHERE run_id = new.id;
    END
    """,
    # A table without text needs the old text to delete its trigrams.
    """
    CREATE TRIGGER playground_run_words_gone AFTER DELETE ON playground_run BEGIN
        INSERT INTO playground_run_words (playground_run_words, rowid, words)
            SELECT 'delete', number, old.agent_name || char(10) || old.text
            FROM playground_run_number WHERE run_id = old.id;
        DELETE FROM playground_run_number WHERE run_id = old.id;
    END
    """,
    # Saving a row sets every column, whether or not it has changed.
    """
    CREATE TRIGGER playground_run_words_changed AFTER UPDATE OF text, agent_name ON playground_run
    WHEN old.text <> new.text OR old.agent_name <> new.agent_name BEGIN
        INSERT INTO playground_run_words (playground_run_words, rowid, words)
            SELECT 'delete', number, old.agent_name || char(10) || old.text
            FROM playground_run_number WHERE run_id = old.id;
        INSERT INTO playground_run_words (rowid, words)
            SELECT number, new.agent_name || char(10) || new.text
            FROM playground_run_number WHERE run_id = new.id;
    END
    """,
)
_SQLITE_ROWS = (
    "INSERT INTO playground_run_number (run_id) SELECT id FROM playground_run",
    """
    INSERT INTO playground_run_words (rowid, words)
        SELECT number, agent_name || char(10) || text
        FROM playground_run_number JOIN playground_run ON id = run_id ORDER BY number
    """,
)
#: As in the SQL of Django's `icontains`.
_POSTGRESQL = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE INDEX playground_run_words ON playground_run USING gin
        (upper(text::text) gin_trgm_ops, upper(agent_name::text) gin_trgm_ops)
    """,
)
#: Statements that create and drop the index, by database. The extension stays: others may use it.
_CREATE = {
    "sqlite": (*_SQLITE_TABLES, *_SQLITE_TRIGGERS, *_SQLITE_ROWS),
    "postgresql": _POSTGRESQL,
}
_DROP = {
    "sqlite": (
        "DROP TRIGGER IF EXISTS playground_run_words_added",
        "DROP TRIGGER IF EXISTS playground_run_words_gone",
        "DROP TRIGGER IF EXISTS playground_run_words_changed",
        "DROP TABLE IF EXISTS playground_run_words",
        "DROP TABLE IF EXISTS playground_run_number",
    ),
    "postgresql": ("DROP INDEX IF EXISTS playground_run_words",),
}
#: The query that counts the parts of the index, and the number of parts of a complete one.
_COUNT = {
    "sqlite": """
        SELECT count(*) FROM sqlite_master WHERE name IN (
            'playground_run_words', 'playground_run_number', 'playground_run_words_added',
            'playground_run_words_gone', 'playground_run_words_changed')
    """,
    "postgresql": "SELECT count(to_regclass('playground_run_words'))",
}
_COMPLETE = {"sqlite": len(_SQLITE_TABLES) + len(_SQLITE_TRIGGERS), "postgresql": 1}


def install(connection: BaseDatabaseWrapper) -> bool:
    """Create the index of all runs; return False where the database does not support it."""
    statements = _CREATE.get(connection.vendor)
    if statements is None:
        return False
    try:
        with transaction.atomic(using=connection.alias):
            _execute(connection, statements)
    except DatabaseError as error:
        logger.warning("Creating the search index of the history failed: %s", error)
        return False
    return True


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop the index; the history is then searched without it."""
    _execute(connection, _DROP.get(connection.vendor, ()))


def repair(connection: BaseDatabaseWrapper) -> None:
    """Create the index if it, or a part of it, is missing.

    SQLite changes a table by creating another one, and the triggers of the first are dropped.
    """
    if connection.vendor in _CREATE and not is_complete(connection):
        remove(connection)
        install(connection)


def is_complete(connection: BaseDatabaseWrapper) -> bool:
    """Return whether the index exists with all its parts."""
    return _parts(connection) == _COMPLETE.get(connection.vendor, -1)


def _parts(connection: BaseDatabaseWrapper) -> int:
    if connection.vendor not in _COUNT:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_COUNT[connection.vendor])
        row: tuple[Any, ...] = cursor.fetchone()
        return int(row[0])


def _execute(connection: BaseDatabaseWrapper, statements: tuple[str, ...]) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
