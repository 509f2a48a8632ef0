"""Shared runs and collections: read-only, without credentials and session ids.

Stored frames contain no secrets. Session ids are masked here, because the owner of a run needs to
see them on its page.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

from playground.base.credentials import clean_url_template
from playground.collections.fixture import Fixture
from playground.collections.recordings import frame_to_json, frames_of, validate_recording
from playground.conversation.events import rows_of
from playground.conversation.progress import progress_of
from playground.conversation.status import status_context
from playground.conversation.thread import Thread, render_entries
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.updates import WINDOW, window
from playground.models import Run
from playground.protocols.explanations import schema_of_request
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.headers import is_credential
from playground.reference.explanations import reference
from playground.stored_runs import read_events
from playground.ui.formatting import pretty
from playground.ui.wire_blocks import WireBlock, blocks_of

#: Items on a page of each part; of the results as many as are pushed to it.
CARDS, EVENTS, BLOCKS = WINDOW, 200, 60
MASK = "•" * 6
#: No credential by its name, because the owner needs to see it; it gives access to a session.
_SESSION = "mcp-session-id"
_HEADS = frozenset({FrameKind.CALL, FrameKind.HEAD})


def shared_run(run: Run, *, results: int = 0) -> dict[str, Any]:
    """Return the context of `shares/run.html`, with the results from number `results` on.

    Reads the run up to the end of the page. Nothing links to a page of the owner. The page follows
    its run until nothing more is to come, if it shows the first results.
    """
    reader = ThreadReader(run)
    thread = Thread(run, readonly=True)
    entries = reader.read_to(run.frames, 0 if results else CARDS, run.frames)
    pinned = [entry for entry in entries if entry.pinned]
    page = ThreadReader(run).page(results, CARDS) if results else window(entries, 0)
    settled = run.is_final and thread.is_settled
    return {
        **status_context(run),
        "readonly": True,
        "progress": None if run.is_final else progress_of(reader.progress),
        "summaries": render_entries(pinned, thread),
        "cards": render_entries(page, thread),
        "request_json": pretty(run.request),
        "request_reference": reference(
            run.protocol, run.version, schema_of_request(run.protocol, run.request)
        ),
        "url": clean_url_template(run.url),
        "headers": [(n, MASK if is_credential(n) else value) for n, value in run.headers],
        "more_results": results + CARDS if results + CARDS < run.entries else None,
        "cursor": reader.cursor,
        "entries": reader.entries,
        "settled": settled,
        "live": not settled and not results,
    }


def shared_details(run: Run, *, events: int = 0, wire: int = 0) -> dict[str, Any]:
    """Return the context of `shares/details.html`; the numbers are the offsets of both parts."""
    read = islice(read_events(run, events), EVENTS)
    rows = rows_of((_masked_frame(frame), found) for frame, found in read)
    frames = list(islice(run.read_frames(wire), BLOCKS))
    return {
        "run": run,
        "rows": rows,
        "blocks": shared_blocks(frames),
        "more_events": rows[-1].seq if rows and rows[-1].seq < run.frames else None,
        "more_wire": frames[-1].seq if frames and frames[-1].seq < run.frames else None,
    }


def shared_blocks(frames: list[Frame]) -> list[WireBlock]:
    """Return the blocks of the Wire tab with credentials and session ids masked."""
    return blocks_of(_masked_frame(frame) for frame in frames)


def shared_fixture(fixture: Fixture) -> Fixture:
    """Return a collection with masked recorded responses; invalid ones are left out."""
    requests = {
        slug: {**fields, "reply": _masked_recording(fields["reply"])}
        for slug, fields in fixture.requests.items()
    }
    return replace(fixture, requests=requests)


def _masked_recording(reply: Any) -> dict[str, Any] | None:
    if reply is None or validate_recording(reply):
        return None
    frames = [frame_to_json(_masked_frame(frame)) for frame in frames_of(reply)]
    url = {"url": clean_url_template(reply["url"])} if "url" in reply else {}
    return {**reply, **url, "frames": frames}


def _masked_frame(frame: Frame) -> Frame:
    if frame.kind not in _HEADS:
        return frame
    head, end, body = frame.data.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    method, _, rest = first.partition(" ")
    url, space, protocol = rest.rpartition(" ")
    if frame.kind is FrameKind.CALL and space:
        first = f"{method} {clean_url_template(url)} {protocol}"
    text = "\r\n".join([first, *(_masked_header(line) for line in lines)])
    return replace(frame, data=text.encode("utf-8", "surrogateescape") + end + body)


def _masked_header(line: str) -> str:
    name, colon, _ = line.partition(":")
    is_secret = is_credential(name.strip()) or name.strip().lower() == _SESSION
    return f"{name}{colon} {MASK}" if is_secret and colon else line
