"""What the search for words needs of the database: made, taken away and made whole again.

SQLite: a table of trigrams (FTS5), kept beside the runs by triggers, whoever writes them. It keeps
no text, and knows a run by a number: rows of a table without an integer key may be numbered anew.
PostgreSQL: an index over trigrams, of an extension that whoever owns a database may install.
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
    # A table that keeps no text has to be told what it was.
    """
    CREATE TRIGGER playground_run_words_gone AFTER DELETE ON playground_run BEGIN
        INSERT INTO playground_run_words (playground_run_words, rowid, words)
            SELECT 'delete', number, old.agent_name || char(10) || old.text
            FROM playground_run_number WHERE run_id = old.id;
        DELETE FROM playground_run_number WHERE run_id = old.id;
    END
    """,
    # A row that is saved as a whole sets every column, whether or not it changes.
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
#: As Django asks whether a text contains another, upper and lower case alike.
_POSTGRESQL = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    """
    CREATE INDEX playground_run_words ON playground_run USING gin
        (upper(text::text) gin_trgm_ops, upper(agent_name::text) gin_trgm_ops)
    """,
)
#: What makes it and what takes it away, by the kind of the database. The extension stays: others
#: may use it.
_MAKE = {
    "sqlite": (*_SQLITE_TABLES, *_SQLITE_TRIGGERS, *_SQLITE_ROWS),
    "postgresql": _POSTGRESQL,
}
_TAKE_AWAY = {
    "sqlite": (
        "DROP TRIGGER IF EXISTS playground_run_words_added",
        "DROP TRIGGER IF EXISTS playground_run_words_gone",
        "DROP TRIGGER IF EXISTS playground_run_words_changed",
        "DROP TABLE IF EXISTS playground_run_words",
        "DROP TABLE IF EXISTS playground_run_number",
    ),
    "postgresql": ("DROP INDEX IF EXISTS playground_run_words",),
}
#: How many parts of it are there, and how many there have to be.
_COUNT = {
    "sqlite": """
        SELECT count(*) FROM sqlite_master WHERE name IN (
            'playground_run_words', 'playground_run_number', 'playground_run_words_added',
            'playground_run_words_gone', 'playground_run_words_changed')
    """,
    "postgresql": "SELECT count(to_regclass('playground_run_words'))",
}
_WHOLE = {"sqlite": len(_SQLITE_TABLES) + len(_SQLITE_TRIGGERS), "postgresql": 1}


def install(connection: BaseDatabaseWrapper) -> bool:
    """Make it, of all runs that there are; returns whether the database has what that takes."""
    statements = _MAKE.get(connection.vendor)
    if statements is None:
        return False
    try:
        with transaction.atomic(using=connection.alias):
            _execute(connection, statements)
    except DatabaseError as error:
        logger.warning("the history is searched without an index of words: %s", error)
        return False
    return True


def remove(connection: BaseDatabaseWrapper) -> None:
    """Take it away; the history is then searched without."""
    _execute(connection, _TAKE_AWAY.get(connection.vendor, ()))


def repair(connection: BaseDatabaseWrapper) -> None:
    """Create the index where it is missing, and create it again where a part of it is.

    SQLite changes a table by making another one, and the triggers of the first go with it.
    """
    if connection.vendor in _MAKE and not is_complete(connection):
        remove(connection)
        install(connection)


def is_complete(connection: BaseDatabaseWrapper) -> bool:
    """Whether it is there and knows every run."""
    return _parts(connection) == _WHOLE.get(connection.vendor, -1)


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
