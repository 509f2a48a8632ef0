"""Pages that are reloaded all the time while runs flood: nothing may be lost or shown twice.

A reload fetches the page of the run and opens a websocket from its cursor. What the page shows and
what the websocket brings must be each entry once, and frames without a gap.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from dataclasses import dataclass, field, replace

from tests.qa.bench.clients import Started
from tests.qa.bench.table import Row
from tests.qa.load.sides import Options, Side, playground, run
from tests.qa.load.soak import WINDOW
from tests.qa.load.viewers import Audience, Viewer, parse

#: Runs that flood, and the results of each; runs at a steady pace, their results, and seconds
#: between two. In the short form it is a part of the results.
FLOODS, FLOOD = 3, 20_000
STEADY, RESULTS, PACE = 3, 50, 0.1
PART = 3
#: Pages of each run, and seconds at most until one is reloaded.
PAGES, KEPT = 3, 0.5
#: Seconds in which all must have received the end.
PATIENCE = 120.0
ENTRIES = re.compile(r'data-entries="(\d+)" data-results="(\d+)"')


@dataclass
class Reloading:
    """Pages of runs that are in progress, and what was wrong with them."""

    side: Side
    audience: Audience = field(default_factory=Audience)
    reloads: int = 0
    #: Cards that a page lacked, results that were not counted, and ends that were not received.
    lost: int = 0
    #: Those that were reloaded before the end: what they have not received is on the next page.
    _left: set[Viewer] = field(default_factory=set)

    @property
    def faults(self) -> int:
        """Entries and frames that were lost or repeated."""
        viewers = self.audience.viewers
        lost = sum(each.frames_lost if each in self._left else each.lost for each in viewers)
        return self.lost + lost + self.audience.repeated

    async def stream(self, started: dict[Started, int]) -> None:
        """Let runs stream so many results, and reload their pages until they have ended."""
        self.side.release()
        pages = [
            asyncio.create_task(self._read(each, results))
            for each, results in started.items()
            for _ in range(PAGES)
        ]
        ended, unfinished = await asyncio.wait(pages, timeout=PATIENCE)
        self.lost += len(unfinished)
        for page in unfinished:
            page.cancel()
        for page in ended:
            page.result()
        await self.audience.close()

    async def _read(self, started: Started, results: int) -> None:
        """Fetch the page and follow the run for a moment, again and again."""
        while True:
            viewer, has_ended = await self._load(started, results)
            if has_ended:
                self.audience.viewers.append(viewer)
                return
            await self.audience.follow(viewer)
            deadline = time.monotonic() + KEPT * random.random()
            while (following := self.audience.is_following(viewer)) and time.monotonic() < deadline:
                await asyncio.sleep(0.01)
            if following:
                self._left.add(viewer)
            await self.audience.disconnect(viewer, abort=random.random() < 0.5)

    async def _load(self, started: Started, results: int) -> tuple[Viewer, bool]:
        """Fetch the page of a run; return a viewer who has what it shows, and whether that is all.

        The viewer has received the page as if it were the first message.
        """
        page = await asyncio.to_thread(self.side.form.get, f"/runs/{started.run}/")
        content, counted = parse(page.encode()), ENTRIES.search(page)
        assert counted
        self.reloads += 1
        viewer = Viewer(replace(started, last=0), min(results, WINDOW))
        viewer.receive(replace(content, first=1))
        self.lost += max(0, min(int(counted[1]), WINDOW) - len(content.results))
        if content.final:
            self.lost += results - int(counted[2])
        return viewer, content.final


def measure(options: Options) -> tuple[Row, int]:
    """Reload pages; return the row and the number of faults."""
    part = PART if options.short else 1
    flood, results = FLOOD // part, RESULTS // part
    with playground(options) as side:
        reloading = Reloading(side)
        started = dict.fromkeys(side.start(FLOODS, flood, 0), flood)
        started |= dict.fromkeys(side.start(STEADY, results, PACE), results)
        run(reloading.stream(started))
    faults = reloading.faults
    row = Row(
        f"{FLOODS} floods of {flood:,} events and {STEADY} runs of {1 / PACE:.0f} events/s, "
        f"{PAGES} pages of each reloaded all the time",
        f"{reloading.reloads:,} reloads; lost or repeated {faults:,}",
        "nothing lost or repeated",
        not faults,
    )
    return row, faults
