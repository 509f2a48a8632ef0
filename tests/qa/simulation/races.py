"""Races to plant: each takes one line of the engine or of the live view back, or breaks it.

`python -m tests.qa.simulation races` plants them one at a time, and counts those that schedules
find. `commit` is the one that has corrected it, where the race was a defect once.
"""

from __future__ import annotations

import gc
import types
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.support.playground_server import ROOT


@dataclass(frozen=True)
class Race:
    """A text of a module, and what is put in its place."""

    name: str
    path: str
    old: str
    new: str
    commit: str = ""


WRITER = "playground/engine/writer.py"
DRIVER = "playground/engine/driver.py"
BROADCAST = "playground/live/broadcast.py"
CONSUMERS = "playground/live/consumers.py"
UPDATES = "playground/conversation/updates.py"
TRANSPORT = "playground/transport/transport.py"
QUEUE = "playground/engine/work_queue.py"

RACES = [
    Race(
        "a run is stored twice at the same time",
        WRITER,
        "if self._is_storing or self._failure or",
        "if self._failure or",
        "f63021bf",
    ),
    Race(
        "what was added while the database stored waits for more",
        WRITER,
        "        if self._pending:\n            self._schedule()\n        else:",
        "        if self._pending:\n            pass\n        else:",
    ),
    Race(
        "viewers are told before it is stored",
        WRITER,
        "        self._is_storing = True\n        flush, self._pending =",
        "        self._is_storing = True\n"
        "        notifier().notify(self._run.viewer_groups, self._pending)\n"
        "        flush, self._pending =",
    ),
    Race(
        "a commit whose answer is lost is taken for the work of another process",
        WRITER,
        "        if not found or not Run.objects.filter(pk=flush.run.pk, **found).exists():\n"
        "            raise",
        "        raise",
        "f63021bf",
    ),
    Race(
        "a commit whose answer is lost is made twice",
        WRITER,
        'is_new = f" AND {quote(\'frames\')} < %s" if "frames" in names else ""',
        'is_new = f" AND {quote(\'frames\')} < %s + 1000000" if "frames" in names else ""',
        "f63021bf",
    ),
    Race(
        "frames are added to a run that another process has ended",
        WRITER,
        "if _update_runs(flushes) != len(flushes):",
        "if _update_runs(flushes) > len(flushes):",
    ),
    Race(
        "a failure of the group leaves its runs waiting",
        WRITER,
        "            except Exception as error:\n                # Without",
        "            except ValueError as error:\n                # Without",
        "cd1735f7",
    ),
    Race(
        "a writer that failed leaves its driver waiting",
        WRITER,
        "        self._pending = Flush(self._run)\n        self._drained.set()\n",
        "        self._pending = Flush(self._run)\n",
        "cd1735f7",
    ),
    Race(
        "frames that could not be stored are not counted",
        WRITER,
        "lost = [*flush.batches, *self._pending.batches]",
        "lost = self._pending.batches",
        "1d1fe292",
    ),
    Race(
        "frames are numbered again after a flush",
        WRITER,
        "        self._last_seq += len(frames)\n",
        "        self._last_seq = max(self._last_seq, self._run.frames) + len(frames)\n"
        "        first = self._last_seq - len(frames) + (not self._pending and first > 9)\n",
    ),
    Race(
        "a second stop interrupts the storing of the end",
        DRIVER,
        "if self._task and not self._finishing:",
        "if self._task:",
        "841d7513",
    ),
    Race(
        "a stop interrupts the storing of an end that came before",
        DRIVER,
        "            return RunState.FAILED\n        finally:\n            self._finishing = True",
        "            return RunState.FAILED\n        finally:\n            pass",
    ),
    Race(
        "a stop loses what has arrived",
        DRIVER,
        "            await self._take_unread_frames(writer)\n",
        "",
        "753eb4f9",
    ),
    Race(
        "a stop loses what was taken and has no number",
        DRIVER,
        "        await self._take(writer, ())\n        for frames",
        "        for frames",
        "753eb4f9",
    ),
    Race(
        "a stop loses what a thread reads",
        DRIVER,
        "        then(await call)\n        raise",
        "        raise",
        "5f25cd8e",
    ),
    Race(
        "frames are taken twice",
        DRIVER,
        "            del self._unnumbered[:SLICE]\n"
        "            await self._read_and_store(writer, numbered)\n",
        "            await self._read_and_store(writer, numbered)\n"
        "            del self._unnumbered[:SLICE]\n",
    ),
    Race(
        "the end is not waited for",
        DRIVER,
        "            writer.add(**columns)\n            await writer.drain()\n",
        "            writer.add(**columns)\n",
    ),
    Race(
        "a run that has ended holds memory",
        DRIVER,
        "        finally:\n            self._memory.close()\n\n    async def _drive",
        "        finally:\n            pass\n\n    async def _drive",
        "5be8b1bd",
    ),
    Race(
        "a stop loses the bytes of an event that is incomplete",
        TRANSPORT,
        "        recorder, self._recorder = self._recorder, None\n        if recorder is None:",
        "        recorder, self._recorder = None, None\n        if recorder is None:",
        "753eb4f9",
    ),
    Race(
        "a viewer joins at the position of another one",
        BROADCAST,
        "        is_first = updates is self._updates\n        if is_first:",
        "        is_first = updates is self._updates\n        if True:",
    ),
    Race(
        "a viewer misses what is sent while it catches up",
        BROADCAST,
        "                    late.missed.append(message)\n",
        "                    late.missed.append(late.missed.pop() if late.missed else message)\n",
        "30bcd5be",
    ),
    Race(
        "a page that is ahead of the others gets what it has",
        BROADCAST,
        "if late.updates.cursor > self.cursor or (late.updates.ended and not self.ended):",
        "if late.updates.ended and not self.ended:",
        "30bcd5be",
    ),
    Race(
        "a viewer who missed too much catches up to where it was",
        BROADCAST,
        "late.missed, upto, more = [], self.cursor, True",
        "late.missed, more = [], True",
    ),
    Race(
        "a feed without viewers keeps its bytes",
        BROADCAST,
        "        self._feeds.discard(self)\n        self._take_stored()\n",
        "        self._feeds.discard(self)\n",
        "41c2afdb",
    ),
    Race(
        "a message waits for the next notification",
        BROADCAST,
        "            self._begin_to_catch_up(viewer)\n        if self._stored or self._must_read:",
        "            self._begin_to_catch_up(viewer)\n        if False:",
    ),
    Race(
        "a pause ends without a message",
        BROADCAST,
        "        self._pause = None\n        if self._stored or self._must_read:",
        "        self._pause = None\n        if self._must_read:",
    ),
    Race(
        "viewers leave while they are told",
        BROADCAST,
        "begun, members = time.thread_time(), tuple(self._members)",
        "begun, members = time.thread_time(), self._members",
    ),
    Race(
        "two threads render one feed",
        BROADCAST,
        "if not self._is_busy and self._pause is None and self.has_viewers:",
        "if self._pause is None and self.has_viewers:",
    ),
    Race(
        "the end of another turn is not heard",
        BROADCAST,
        'if stored is not None and "state" not in stored.changes:',
        "if stored is not None:",
    ),
    Race(
        "a slow viewer misses a message",
        CONSUMERS,
        "            self._fall_behind()\n            return",
        "            return",
        "58a98b07",
    ),
    Race(
        "the end is announced before the frames that led to it",
        UPDATES,
        "if more and run.is_final:",
        "if more and run.is_queued:",
    ),
    Race(
        "the end is not read from the database",
        UPDATES,
        "return not is_open or is_ending or self._new(stored) is None",
        "return not is_open or self._new(stored) is None",
    ),
    Race(
        "frames that are missing in between are left out",
        UPDATES,
        "is_next = not each.batches or each.batches[0].first == last + 1",
        "is_next = True",
    ),
    Race(
        "a read that has failed leaves the position where it came to",
        UPDATES,
        "            self._restart(cursor, had_ended, turns)\n            raise",
        "            raise",
        "ca71a332",
    ),
    Race(
        "a page is left while another turn is in progress",
        UPDATES,
        "settled = ended and thread.is_settled and not self.other_turns",
        "settled = ended and thread.is_settled",
    ),
    Race(
        "a run that waits for a worker is taken twice",
        QUEUE,
        "    if work is not None:\n        waiting.delete()",
        "    if work is None:\n        waiting.delete()",
        "24c2ca18",
    ),
]


def plant(name: str) -> None:
    """Plant a race in the modules that were imported."""
    (race,) = (each for each in RACES if each.name == name)
    path = ROOT / race.path
    source = path.read_text("utf-8")
    assert source.count(race.old) == 1, f"{race.name}: {source.count(race.old)} places"
    before, after = (
        _functions(compile(text, str(path), "exec", dont_inherit=True))
        for text in (source, source.replace(race.old, race.new))
    )
    changed = {name for name in before if before[name] != after[name]}
    gc.unfreeze()  # The tests freeze what they have imported.
    planted = 0
    functions = [each for each in gc.get_objects() if isinstance(each, types.FunctionType)]
    for each in functions:
        code = each.__code__
        if code.co_filename == str(path) and code.co_qualname in changed:
            (each.__code__,) = after[code.co_qualname]
            planted += 1
    assert planted, race.name


def _functions(module: types.CodeType) -> dict[str, list[types.CodeType]]:
    found: dict[str, list[types.CodeType]] = defaultdict(list)
    for code in _codes(module):
        if not code.co_name.startswith("<"):
            found[code.co_qualname].append(code)
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, types.CodeType):
            yield from _codes(each)
