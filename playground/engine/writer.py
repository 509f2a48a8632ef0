"""Writer of runs' frames: numbers them, and stores those of all runs that are due together.

Frames are stored before viewers are notified. One transaction stores what waits of all runs of the
process: at once if there was none for a moment, otherwise when that moment is over. So a slow
stream does not wait, and a flood, or many runs, cost a few transactions and not one for each frame.
`drain` waits for the transaction that is under way, and for no pause.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction

from playground.base import metrics
from playground.base.executors import UNAVAILABLE, write_when_available
from playground.base.jobs import PerLoop, start_task
from playground.base.memory_budget import RunMemory
from playground.models import FrameBatch, Run, RunState
from playground.models.frames import Batch, Flush, build_rows
from playground.notifications import notifier
from playground.protocols.frames import Frame

logger = logging.getLogger(__name__)

#: Seconds between the beginnings of two transactions.
PACE = 0.01
#: Seconds for which the frames of an unattended run wait for more: most such runs are short, and
#: become one row.
PATIENCE = 0.025
#: Bytes waiting for the database beyond which the transport has to wait.
HIGH_WATER = 4 * 1024 * 1024

#: Columns of a run that count its events and the bytes of its frames.
_TOTALS = frozenset({"events", "bytes", "other_bytes"})

#: The error of each flush, None for one that was stored.
Errors = Sequence[Exception | None]


class RunEndedError(Exception):
    """Another process has given the run a final state; nothing may be added to it."""


class FramesLostError(Exception):
    """Received frames could not be stored; the cause is the exception of the database."""

    def __init__(self, frames: int, cause: Exception) -> None:
        super().__init__(f"{frames} frames could not be stored")
        self.frames = frames
        self.__cause__ = cause

    @property
    def is_unavailable(self) -> bool:
        """Return whether the database was unavailable, and has not refused the frames."""
        return isinstance(self.__cause__, UNAVAILABLE)


class FrameWriter:
    """Numbers and stores the frames of one run, together with the run's own columns."""

    def __init__(
        self,
        run: Run,
        *,
        eager: bool = True,
        memory: RunMemory | None = None,
        on_failure: Callable[[], None] = lambda: None,
    ) -> None:
        """Write the frames of `run`; unless `eager`, they wait a moment for more.

        Frames that are not stored yet count as held in `memory`. `on_failure` is called when a
        flush has failed: nothing more can be stored.
        """
        self._on_failure = on_failure
        self._memory = memory or RunMemory()
        self._run = run
        self._eager = eager
        self._pending = Flush(run)
        self._last_seq = run.frames
        self._group = run.group
        #: Ends the wait for more frames of an unattended run.
        self._timer: asyncio.TimerHandle | None = None
        self._is_storing = False
        #: Whether `drain` waits.
        self._hurry = False
        self._drained = asyncio.Event()
        self._drained.set()
        self._failure: Exception | None = None
        #: Number of the first frame that could not be stored.
        self._first_lost = 0
        #: The columns as they were stored.
        self._stored: dict[str, Any] = {"other_bytes": run.other_bytes}
        self._closed = False

    def __enter__(self) -> FrameWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed = True
        self._cancel_timer()

    def number(self, frames: Sequence[Frame]) -> list[Frame]:
        first = self._last_seq + 1
        self._last_seq += len(frames)
        return [frame.numbered(seq) for seq, frame in enumerate(frames, first)]

    def add(self, batch: Batch | None = None, **changes: Any) -> None:
        """Queue numbered frames, and columns of the run that change with them.

        Events are dropped if no viewer of this process follows the run.
        """
        if self._failure is not None:
            return
        if batch and batch.frames:
            if not notifier().has_subscribers(self._group):
                batch.events = None
            size = batch.bytes if batch.events is None else batch.decoded_bytes
            self._pending.batches.append(batch)
            self._pending.bytes += size
            self._memory.add(size)
        self._pending.changes.update(changes)
        self._drained.clear()
        self._schedule()

    async def wait_for_capacity(self) -> None:
        """Wait while too much is waiting for the database. Raises what a flush raised."""
        self.raise_failure()
        if self._pending.bytes > HIGH_WATER:
            await self.drain()

    async def drain(self) -> None:
        """Wait until everything that was added is stored and the viewers are notified.

        Raises what a flush raised.
        """
        self._hurry = True
        self._schedule()
        await self._drained.wait()
        self.raise_failure()
        await notifier().flush()

    def take(self) -> Flush:
        """Return the pending frames and columns; the caller must call `stored` or `failed`."""
        self._cancel_timer()
        self._is_storing = True
        flush, self._pending = self._pending, Flush(self._run)
        # Most columns change once. Five of fourteen change with each event.
        changes = {
            name: value
            for name, value in flush.changes.items()
            if self._stored.get(name, ...) != value
        }
        flush.changes = changes if changes or flush.batches else flush.changes
        return flush

    def stored(self, flush: Flush) -> None:
        """Notify the viewers of stored frames, and schedule those that were added meanwhile."""
        self._is_storing = False
        self._memory.release(flush.bytes)
        self._count(flush)
        self._stored |= flush.changes
        notifier().notify(self._run.viewer_groups, flush)
        if self._pending:
            self._schedule()
        else:
            self._hurry = False
            self._drained.set()

    def _count(self, flush: Flush) -> None:
        """Count the frames of a flush in the metrics; the columns hold totals of the run."""
        if flush.batches:
            frames = flush.batches[-1].last - flush.batches[0].first + 1
            growth: Counter[str] = Counter()
            for name in _TOTALS & flush.changes.keys():
                growth[name] = flush.changes[name] - self._stored.get(name, 0)
            metrics.stored_frames.inc(frames)
            metrics.stored_events.inc(growth["events"])
            metrics.stored_bytes.inc(growth["bytes"] + growth["other_bytes"])

    def failed(self, flush: Flush, error: Exception) -> None:
        """Stop storing and discard pending frames. Later calls raise, see `raise_failure`."""
        if not isinstance(error, (*UNAVAILABLE, RunEndedError)):
            logger.error("Storing frames of run %s failed", self._run.pk, exc_info=error)
        # Its tracebacks would hold the frames that could not be stored.
        error.__cause__ = error.__context__ = None
        self._failure = error.with_traceback(None)
        lost = [*flush.batches, *self._pending.batches]
        self._first_lost = lost[0].first if lost else self._last_seq + 1
        self._memory.release(flush.bytes + self._pending.bytes)
        self._pending = Flush(self._run)
        self._drained.set()
        self._on_failure()

    @property
    def lost_frames(self) -> int:
        return self._last_seq + 1 - self._first_lost if self._failure else 0

    def raise_failure(self) -> None:
        """Raise what a flush raised: `RunEndedError`, or `FramesLostError` for anything else."""
        if isinstance(self._failure, RunEndedError):
            raise self._failure
        if self._failure:
            raise FramesLostError(self.lost_frames, self._failure)

    def _schedule(self) -> None:
        if self._is_storing or self._failure or self._closed or not self._pending:
            return
        if self._hurry or self._eager:
            self._cancel_timer()
            _group_commit().add(self, hurry=self._hurry)
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(PATIENCE, _group_commit().add, self)

    def _cancel_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


class GroupCommit:
    """Stores what is due of all runs of an event loop, one transaction after the other."""

    def __init__(self) -> None:
        self._due: dict[FrameWriter, None] = {}
        #: Whether one of them does not wait for the pace.
        self._hurry = asyncio.Event()
        self._began_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def add(self, writer: FrameWriter, *, hurry: bool = False) -> None:
        """Store what waits in `writer`, with the next transaction; in a `hurry` without a pause."""
        self._due[writer] = None
        if hurry:
            self._hurry.set()
        if self._task is None or self._task.done():
            self._task = start_task(self._store_due(), "group-commit")

    async def _keep_pace(self) -> None:
        loop = asyncio.get_running_loop()
        pause = self._began_at + PACE - loop.time()
        if pause > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._hurry.wait()
        self._hurry.clear()
        self._began_at = loop.time()

    async def _store_due(self) -> None:
        while self._due:
            await self._keep_pace()
            writers, self._due = list(self._due), {}
            flushes = [writer.take() for writer in writers]
            errors: Errors
            try:
                # If the database is unavailable, all of them wait and are retried together.
                errors = await write_when_available(store_together, flushes)
                is_final = False
            except Exception as error:
                # Without an answer the drivers would wait forever.
                logger.exception("Storing frames failed")
                errors, is_final = [error] * len(flushes), True
            for writer, flush, failure in zip(writers, flushes, errors, strict=True):
                if failure is None:
                    writer.stored(flush)
                elif isinstance(failure, UNAVAILABLE) and not is_final:
                    # By itself: the other runs do not wait for its retries.
                    start_task(_retry(writer, flush), f"retry-{flush.run.pk}")
                else:
                    writer.failed(flush, failure)


async def _retry(writer: FrameWriter, flush: Flush) -> None:
    try:
        await write_when_available(store, flush)
    except Exception as error:
        writer.failed(flush, error)
    else:
        writer.stored(flush)


_group_commit = PerLoop(GroupCommit)


def store_together(flushes: Sequence[Flush]) -> Errors:
    """Store the flushes of different runs in one transaction, or each in one if that fails.

    Returns the error of each flush. Raises the exception of a database that is unavailable: none
    of them was stored.
    """
    try:
        _store(flushes)
    except UNAVAILABLE:
        if len(flushes) == 1:
            raise
    except Exception as error:
        # Of one run only: it was deleted, ended elsewhere, or has a value that is not accepted.
        if len(flushes) == 1 and not isinstance(error, RunEndedError):
            return [error]
    else:
        return [None] * len(flushes)
    return _store_each(flushes)


def _store_each(flushes: Sequence[Flush]) -> Errors:
    errors: list[Exception | None] = []
    for flush in flushes:
        try:
            store(flush)
        except Exception as error:
            errors.append(error)
        else:
            errors.append(None)
        # One such error may be due to its flush, such as a row that is too large.
        failed = [error for error in errors if isinstance(error, UNAVAILABLE)]
        if None not in errors and len(failed) >= min(2, len(flushes)):
            raise failed[0]
    return errors


def store(flush: Flush) -> None:
    """Store numbered frames and the run's changed columns in one transaction.

    Stores nothing twice: a connection that is lost during a commit does not tell whether it was
    made. Raises `RunEndedError` when the run has a final state already, or was deleted.
    """
    try:
        _store([flush])
    except RunEndedError:
        columns = flush.columns
        found = {name: columns[name] for name in ("state", "frames") if name in columns}
        if not found or not Run.objects.filter(pk=flush.run.pk, **found).exists():
            raise


def _store(flushes: Sequence[Flush]) -> None:
    with transaction.atomic():
        if _update_runs(flushes) != len(flushes):
            raise RunEndedError("a run has ended or was deleted")
        _insert([row for flush in flushes for row in build_rows(flush.run, flush.batches)])


def _insert(new: Sequence[FrameBatch]) -> None:
    """Insert rows, with one statement for all of them.

    `bulk_create` has a statement for each number of rows. sqlite3 caches them, and each keeps the
    values that it was last used with: some hundred megabytes after a few large responses.
    """
    database = connections[DEFAULT_DB_ALIAS]
    rows = [
        [field.get_db_prep_save(getattr(row, field.attname), database) for field in _INSERTED]
        for row in new
    ]
    if rows:
        with database.cursor() as cursor:
            cursor.executemany(_insert_statement(), rows)


_INSERTED = [field for field in FrameBatch._meta.concrete_fields if not field.primary_key]


@cache
def _insert_statement() -> str:
    quote = connection.ops.quote_name
    names = ", ".join(quote(str(field.column)) for field in _INSERTED)
    values = ", ".join(["%s"] * len(_INSERTED))
    table = quote(FrameBatch._meta.db_table)
    # Names of our own columns; the values are parameters.
    return f"INSERT INTO {table} ({names}) VALUES ({values})"  # noqa: S608


def _update_runs(flushes: Sequence[Flush]) -> int:
    """Update the columns of unfinished runs; return the number of runs that were updated.

    The same as an `update()` for each run, at a tenth of its time: many runs change the same
    columns, and the statement is the same for all of them.
    """
    # The proxy `connection` would look it up for every value.
    database = connections[DEFAULT_DB_ALIAS]
    rows: dict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
    for flush in flushes:
        columns = {**flush.columns, "id": flush.run.pk}
        row = [_FIELDS[name].get_db_prep_save(value, database) for name, value in columns.items()]
        names = tuple(columns)[:-1]
        rows[names].append([*row, columns["frames"]] if "frames" in names else row)
    updated = 0
    with database.cursor() as cursor:
        for names, parameters in rows.items():
            cursor.executemany(_update_statement(names), parameters)
            updated += cursor.rowcount
    return updated


_FIELDS = {field.name: field for field in Run._meta.concrete_fields}


@cache
def _update_statement(names: tuple[str, ...]) -> str:
    """Return the statement that updates these columns of a run unless it has ended.

    With `frames` only a run that has fewer, whose number is one more parameter.
    """
    quote = connection.ops.quote_name
    changes = ", ".join(f"{quote(str(_FIELDS[name].column))} = %s" for name in names)
    final = ", ".join(f"'{state}'" for state in RunState if state.is_final)
    table, key, state = (quote(name) for name in (Run._meta.db_table, "id", "state"))
    is_new = f" AND {quote('frames')} < %s" if "frames" in names else ""
    # Names of our own columns and states; the values are parameters.
    return f"UPDATE {table} SET {changes} WHERE {key} = %s AND {state} NOT IN ({final}){is_new}"  # noqa: S608
