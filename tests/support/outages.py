"""A database that is away: statements that write runs or frames fail, as long as a test wants."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from playground.base import executors

_WRITES = re.compile(r'(INSERT INTO|UPDATE) "playground_(run|framebatch|step|collectionrun)"')


class Outage:
    """Statements that write fail between `begin` and `end`; retries follow at once."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        #: Statements that have failed.
        self.failures = 0
        self._left = 0.0
        self._about: tuple[str, ...] = ()
        self._error: Exception = OperationalError()
        for name in ("execute", "executemany"):
            patch.setattr(CursorWrapper, name, self._failing(getattr(CursorWrapper, name)))
        patch.setattr(executors, "FIRST_PAUSE", 0.001)
        patch.setattr(executors, "LONGEST_PAUSE", 0.001)

    def begin(self, *about: str, times: float = math.inf, error: Exception | None = None) -> None:
        """Let the next statements fail: so many, of those in which each of `about` occurs."""
        self._left, self._about = times, tuple(map(str.lower, about))
        self._error = error or OperationalError("connection refused")

    def end(self) -> None:
        self._left = 0

    def _failing(self, plain: Any) -> Any:
        def execute(cursor: CursorWrapper, sql: str, params: Any = None) -> Any:
            whole = f"{sql} {params}".lower()
            if self._left > 0 and _WRITES.match(sql) and all(map(whole.__contains__, self._about)):
                self._left -= 1
                self.failures += 1
                raise self._error
            return plain(cursor, sql, params)

        return execute


class Commits:
    """Counts the transactions of the database that were committed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.count = 0
        #: Commits whose answer is lost: the connection breaks before it comes.
        self.unanswered = 0
        plain = BaseDatabaseWrapper.commit

        def commit(database: BaseDatabaseWrapper) -> None:
            plain(database)
            self.count += 1
            if self.unanswered:
                self.unanswered -= 1
                raise OperationalError("server closed the connection unexpectedly")

        patch.setattr(BaseDatabaseWrapper, "commit", commit)
