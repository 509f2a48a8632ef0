"""Steps of stored runs: read once for a run that has ended, continued while it is in progress.

A diagram is drawn twice a second while its run is in progress. The frames of a final state do not
change, and of a run in progress only new frames are read.
"""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from uuid import UUID

from playground.models import Run
from playground.stored_runs import exchange_for
from playground.wire.sequence.labels import one_line
from playground.wire.sequence.run_steps import MAX_DETAIL, RunSteps, Step

#: Runs in progress that are read on, and runs that have ended whose steps are in memory.
MAX_READERS, MAX_STORED = 8, 256


class StepsReader:
    """Reader of a run's steps that continues where it ended."""

    def __init__(self, run: Run) -> None:
        self._steps = RunSteps(one_line(run.text, MAX_DETAIL))
        self._exchange = exchange_for(run)
        self._cursor = 0
        self._lock = Lock()

    def read(self, run: Run) -> tuple[Step, ...]:
        """Read the frames that were stored since the last call, and return all steps."""
        with self._lock:
            for frame in run.read_frames(self._cursor):
                self._steps.add(frame, list(self._exchange.receive(frame)))
                self._cursor = frame.seq
            return self._steps.snapshot()


#: Readers of runs in progress, and steps of runs that have ended by key and frames; latest last.
_readers: OrderedDict[UUID, StepsReader] = OrderedDict()
_stored: OrderedDict[tuple[UUID, int], tuple[Step, ...]] = OrderedDict()
_lock = Lock()


def steps_of(run: Run) -> tuple[Step, ...]:
    """Return the steps of a run as far as it is stored.

    A run that cannot be read, because its protocol is unknown, has none.
    """
    key = (run.pk, run.frames)
    with _lock:
        if run.is_final and key in _stored:
            _stored.move_to_end(key)
            return _stored[key]
    try:
        steps = _reader_of(run).read(run)
    except ValueError:
        return ()
    if run.is_final:
        with _lock:
            _stored[key] = steps
            while len(_stored) > MAX_STORED:
                _stored.popitem(last=False)
    return steps


def _reader_of(run: Run) -> StepsReader:
    """Return the reader of a run, the same one while the run is in progress."""
    with _lock:
        reader = _readers.pop(run.pk, None)
    reader = reader or StepsReader(run)
    if not run.is_final:
        with _lock:
            _readers[run.pk] = reader
            while len(_readers) > MAX_READERS:
                _readers.popitem(last=False)
    return reader
