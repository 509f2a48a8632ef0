"""What must be true of every schedule.

- Nothing that was acknowledged is lost: what a page has shown is stored, and stays; a run that is
  complete has every byte of the response, and one that lost frames says so.
- Nothing is shown twice, out of order, or before it is stored.
- Every run ends, in a state that is true, and every page that stays open shows that end.
- No request is sent twice. At the end no task, socket, subscription or memory is held.
"""

from __future__ import annotations

from collections.abc import Iterator

from playground.base.memory_budget import _total
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.updates import WINDOW
from playground.live import broadcast, consumers
from playground.models import Run, RunState
from playground.notifications import notifier
from playground.protocols.frames import BODY_KINDS, LAST_KINDS
from tests.qa.simulation.loop import StalledError
from tests.qa.simulation.pages import Page
from tests.qa.simulation.world import SimulatedRun, World

#: The states of a run by how its response ends.
_ENDS = {"whole": RunState.COMPLETED, "cut": RunState.TRUNCATED, "reset": RunState.TRUNCATED}
#: What can have been done to a run in another state.
_REASONS = {
    RunState.CANCELLED: {"stopped"},
    RunState.INTERRUPTED: {"interrupted", "killed"},
    RunState.FAILED: {"refused", "away"},
}
#: States of runs of which everything that was received is stored.
_WHOLE = (RunState.COMPLETED, RunState.TRUNCATED, RunState.CANCELLED)


def play(seed: int) -> tuple[list[str], list[str]]:
    """Play the schedule of a seed; return what is wrong, and the log of what has happened."""
    world = World(seed)
    try:
        world.prepare()
        with world.patches():
            try:
                world.play()
                found = []
            except StalledError as error:
                pages = [page.name for page in world.pages if not page.is_done]
                found = [f"{error}: {pages} {world.left()}"]
            found += _all_wrong(world)
    finally:
        world.close()
    return found, world.log


def _all_wrong(world: World) -> Iterator[str]:
    for loop in world.simulation.loops:
        yield from loop.errors
    for number, run in enumerate(world.runs):
        for wrong in _wrong_of_run(run, world):
            yield f"run {number} {wrong}"
    for page in world.pages:
        yield from (f"{page.name} {wrong}" for wrong in page.errors or _wrong_of_page(page, world))
    for loop in world.simulation.loops:
        with loop.entered():
            if held := _total().held:
                yield f"{held} bytes are held"
            feeds = broadcast.run_feeds()
            if feeds._feeds or feeds.waiting_bytes or len(consumers.open_sockets()):
                yield f"feeds or sockets are left, or {feeds.waiting_bytes} bytes of messages"
            if groups := [*notifier()._subscribers]:
                yield f"subscriptions of {groups} are left"


def _wrong_of_run(made: SimulatedRun, world: World) -> Iterator[str]:
    script = made.script
    if script.requests > 1:
        yield f"was sent {script.requests} times"
    run = Run.objects.filter(pk=made.pk).first()
    if run is None:
        if "deleted" not in made.done:
            yield "is gone"
        return
    frames = list(run.read_frames())
    if [frame.seq for frame in frames] != list(range(1, run.frames + 1)):
        yield f"has frames {[frame.seq for frame in frames]}, and says {run.frames}"
    body = b"".join(frame.data for frame in frames if frame.kind in BODY_KINDS)
    if not bytes(script.read).startswith(body):
        yield "has bytes that were not received, or not in this order"
    state = RunState(run.state)
    done = made.done | ({"away"} if world.was_away_long else set())
    if state is not _ENDS[script.ending] and not done & _REASONS.get(state, set()):
        yield f"is {state} after {script.ending} and {done or 'nothing'}: {run.problem}"
    if state in _WHOLE and body != bytes(script.read):
        yield f"is {state} with {len(body)} of {len(script.read)} bytes"
    if state is RunState.COMPLETED and body != script.body:
        yield "is completed without the whole response"
    has_all = body == script.body and frames and frames[-1].kind in LAST_KINDS
    if state is RunState.FAILED and has_all == ("not stored" in str(run.problem)):
        yield f"has {run.frames} frames, and says {run.problem}"


def _wrong_of_page(page: Page, world: World) -> Iterator[str]:
    run = Run.objects.filter(pk=page.run).first()
    if run is None:
        return
    if page.is_gone:
        yield "is told that there is no run"
    if not page.is_settled:
        return
    if page.cursor != run.frames:
        yield f"is at {page.cursor} of {run.frames}"
    if page.state and page.state != run.state:
        yield f"says {page.state}, and the run is {run.state}"
    entries = [entry.ref for entry in ThreadReader(run).read_all() if not entry.pinned][:WINDOW]
    shown = [each for each in page.entries if each in {*entries}]
    if shown != [tuple(ref) for ref in entries]:
        yield f"shows {shown}, and not {entries}"
