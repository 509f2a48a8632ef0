"""Finds runs by the words in them, without reading every run: see `word_tables`.

It knows three letters in a row. Of shorter words, of those that very many runs have, and where the
database has no such index, it says that it does not know.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from playground.models import search_tables
from playground.models.runs import MAX_WORDS, RunQuerySet, RunState
from playground.protocols.events import Outcome

#: More than so many are no help: the newest runs have enough of them.
MOST = 1000
#: Letters of a word that can be looked up.
SHORTEST = 3

#: What a word can also mean, and is in no text then.
_NAMES = {str(value).upper(): str(value) for value in (*RunState, *Outcome)}

_LOOK_UP = """
    SELECT run_id FROM playground_run_words
    JOIN playground_run_number ON number = playground_run_words.rowid
    WHERE playground_run_words MATCH %s LIMIT %s
"""


def find_run_ids(runs: RunQuerySet, words: str, most: int = MOST) -> list[UUID] | None:
    """Keys of runs, among them those of all of `runs` that `RunQuerySet.search` finds.

    None where that cannot be told, or where they would be more than `most`.
    """
    known = [word for word in words.split()[:MAX_WORDS] if _can_be_looked_up(word)]
    connection = connections[runs.db]
    if not known or not search_tables.is_complete(connection):
        return None
    runs = runs.order_by()
    # Words that mean a state as well are passed over as long as there are others.
    plain = [word for word in known if word.upper() not in _NAMES]
    found = _look_up(connection, runs, plain or known[:1], most)
    if not plain:
        name = _NAMES[known[0].upper()]
        for condition in (models.Q(state=name), models.Q(outcome=name)):
            named = runs.filter(condition).values_list("pk", flat=True)[: most + 1]
            found = list({*found, *named})
    return found if len(found) <= most else None


def _can_be_looked_up(word: str) -> bool:
    return len(word) >= SHORTEST and "\0" not in word


def _look_up(
    connection: BaseDatabaseWrapper, runs: RunQuerySet, words: list[str], most: int
) -> list[UUID]:
    """The keys of `most` + 1 runs at most; from SQLite also those of other owners."""
    if connection.vendor == "sqlite":
        return _look_up_trigrams(connection, words, most)
    for word in words:
        runs = runs.containing(word)
    return list(runs.values_list("pk", flat=True)[: most + 1])


def _look_up_trigrams(connection: BaseDatabaseWrapper, words: list[str], most: int) -> list[UUID]:
    """Runs that have all three letters in a row that the words have, wherever they have them."""
    parts = {word[at : at + SHORTEST] for word in words for at in range(len(word) - SHORTEST + 1)}
    quoted = ('"{}"'.format(part.replace('"', '""')) for part in sorted(parts))
    with connection.cursor() as cursor:
        cursor.execute(_LOOK_UP, [" AND ".join(quoted), most + 1])
        return [UUID(key) for (key,) in cursor.fetchall()]
