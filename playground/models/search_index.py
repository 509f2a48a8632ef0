"""Search for runs by words through an index of trigrams: see `playground.models.search_tables`.

Words shorter than three letters, words of very many runs, and a database without the index have no
result: None.
"""

from __future__ import annotations

from uuid import UUID

from django.db import connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from playground.models import search_tables
from playground.models.runs import MAX_WORDS, RunQuerySet, RunState
from playground.protocols.events import Outcome

#: The most runs of a result: of more, a scan of the newest runs finds enough.
MOST = 1000
#: The fewest letters of a word that the index finds.
SHORTEST = 3

#: Words that match a state or an outcome and not the text.
_NAMES = {str(value).upper(): str(value) for value in (*RunState, *Outcome)}

_LOOK_UP = """
    SELECT run_id FROM playground_run_words
    JOIN playground_run_number ON number = playground_run_words.rowid
    WHERE playground_run_words MATCH %s LIMIT %s
"""


def find_run_ids(runs: RunQuerySet, words: str, most: int = MOST) -> list[UUID] | None:
    """Return keys of runs, which include all of `runs` that `RunQuerySet.search` finds.

    None where the index cannot find them, or where they are more than `most`.
    """
    known = [word for word in words.split()[:MAX_WORDS] if _can_be_looked_up(word)]
    connection = connections[runs.db]
    if not known or not search_tables.is_complete(connection):
        return None
    runs = runs.order_by()
    # Words that match a state as well are skipped as long as there are others.
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
    """Return the keys of at most `most` + 1 runs; on SQLite also of other owners' runs."""
    if connection.vendor == "sqlite":
        return _look_up_trigrams(connection, words, most)
    for word in words:
        runs = runs.containing(word)
    return list(runs.values_list("pk", flat=True)[: most + 1])


def _look_up_trigrams(connection: BaseDatabaseWrapper, words: list[str], most: int) -> list[UUID]:
    """Return the keys of runs that contain all trigrams of the words, anywhere."""
    parts = {word[at : at + SHORTEST] for word in words for at in range(len(word) - SHORTEST + 1)}
    quoted = ('"{}"'.format(part.replace('"', '""')) for part in sorted(parts))
    with connection.cursor() as cursor:
        cursor.execute(_LOOK_UP, [" AND ".join(quoted), most + 1])
        return [UUID(key) for (key,) in cursor.fetchall()]
