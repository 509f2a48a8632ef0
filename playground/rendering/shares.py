"""A run, or a collection, as whoever has a link to it gets it: to be read, with nothing to press.

Frames hold no secrets: they were taken out before anything was stored. What lets its bearer
into a session is taken out here, because on the page of the run's owner it is of use.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from playground.library.credentials import clean_url_template
from playground.library.fixtures import Fixture
from playground.library.recordings import frame_to_json, frames_of, validate_recording
from playground.models import Run
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.headers import is_credential
from playground.reading import read_events
from playground.rendering.events import rows_of
from playground.rendering.pretty import pretty
from playground.rendering.run_status import status_context
from playground.rendering.thread import Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from playground.rendering.wire import WireBlock, blocks_of

#: What a page of each part holds.
CARDS, EVENTS, BLOCKS = 50, 200, 60
MASK = "•" * 6
#: Not a credential by its name, because its owner needs to see it; it lets its bearer in.
_SESSION = "mcp-session-id"
_HEADS = frozenset({FrameKind.CALL, FrameKind.HEAD})


def shared_run(run: Run, *, results: int = 0, events: int = 0, wire: int = 0) -> dict[str, Any]:
    """The context of `shares/run.html`; the numbers say how much of each part was seen before.

    Reads the run up to what is shown. Nothing in it leads to a page of the owner's.
    """
    fold = ThreadReader(run)
    thread = Thread(run, readonly=True)
    pinned = [entry for entry in fold.read_to(run.frames, 0, run.frames) if entry.pinned]
    page = ThreadReader(run).page(results, CARDS)
    read = islice(read_events(run, events), EVENTS)
    rows = rows_of((_masked(frame), found) for frame, found in read)
    frames = list(islice(run.read_frames(wire), BLOCKS))
    return {
        **status_context(run),
        "readonly": True,
        "summaries": render_entries(pinned, thread),
        "cards": render_entries(page, thread),
        "request_json": pretty(run.request),
        "url": clean_url_template(run.url),
        "headers": [(n, MASK if is_credential(n) else value) for n, value in run.headers],
        "rows": rows,
        "blocks": shared_blocks(frames),
        "more_results": results + CARDS if results + CARDS < run.entries else None,
        "more_events": rows[-1].seq if rows and rows[-1].seq < run.frames else None,
        "more_wire": frames[-1].seq if frames and frames[-1].seq < run.frames else None,
    }


def shared_blocks(frames: list[Frame]) -> list[WireBlock]:
    """Blocks of the wire without what would let its reader in."""
    return blocks_of(_masked(frame) for frame in frames)


def shared_fixture(fixture: Fixture) -> Fixture:
    """A collection whose recorded replies are without that, too; one that is none is left out."""
    requests = {
        slug: {**fields, "reply": _shared_reply(fields["reply"])}
        for slug, fields in fixture.requests.items()
    }
    return replace(fixture, requests=requests)


def _shared_reply(reply: Any) -> dict[str, Any] | None:
    if reply is None or validate_recording(reply):
        return None
    frames = [frame_to_json(_masked(frame)) for frame in frames_of(reply)]
    address = {"url": clean_url_template(reply["url"])} if "url" in reply else {}
    return {**reply, **address, "frames": frames}


def _masked(frame: Frame) -> Frame:
    if frame.kind not in _HEADS:
        return frame
    head, end, body = frame.data.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    method, _, rest = first.partition(" ")
    url, space, protocol = rest.rpartition(" ")
    if frame.kind is FrameKind.CALL and space:
        first = f"{method} {clean_url_template(url)} {protocol}"
    text = "\r\n".join([first, *(_line(line) for line in lines)])
    return replace(frame, data=text.encode("utf-8", "surrogateescape") + end + body)


def _line(line: str) -> str:
    name, colon, _ = line.partition(":")
    is_secret = is_credential(name.strip()) or name.strip().lower() == _SESSION
    return f"{name}{colon} {MASK}" if is_secret and colon else line
