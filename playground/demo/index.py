"""Ranked full-text index of a corpus in memory, with SQLite's FTS5.

The index is a private in-memory database, so it is the same whichever database the site uses.
Porter stemming; bm25 with a weight for each column.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import NamedTuple

#: Letters and digits of any script: nothing else gets into an FTS5 expression.
_WORD = re.compile(r"[^\W_]+")
_MAX_WORDS = 64


class IndexRow(NamedTuple):
    """The searched fields of an item, by decreasing weight."""

    name: str
    keywords: str
    ingredients: str
    description: str


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case; apostrophes within words are dropped."""
    return _WORD.findall(text.lower().replace("'", "").replace("’", ""))


class Index:
    """A full-text index over rows, which are identified by their position."""

    def __init__(self, rows: Iterable[IndexRow]) -> None:
        # Read from one thread at a time, though not always from the one that built it.
        self._db = sqlite3.connect(":memory:", check_same_thread=False)
        self._db.execute(
            "CREATE VIRTUAL TABLE entries USING fts5(name, keywords, ingredients, description,"
            " tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._db.executemany(
            "INSERT INTO entries(rowid, name, keywords, ingredients, description)"
            " VALUES (?, ?, ?, ?, ?)",
            ((position, *row) for position, row in enumerate(rows)),
        )

    def scores(self, words: Iterable[str]) -> Mapping[int, float]:
        """Return a positive score for each row with any of the words; higher is better.

        The words may be anything that a user typed: they reach FTS5 as quoted strings of letters
        and digits, never as its syntax.
        """
        found = dict.fromkeys(word for text in words for word in words_of(text))
        if not found:
            return {}
        expression = " OR ".join(f'"{word}"' for word in list(found)[:_MAX_WORDS])
        rows = self._db.execute(
            "SELECT rowid, -bm25(entries, 10.0, 6.0, 4.0, 2.0) FROM entries WHERE entries MATCH ?",
            (expression,),
        )
        return dict(rows.fetchall())
