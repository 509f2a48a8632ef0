"""HTTP archives (HAR 1.2) of browsers and other tools: their entries as recordings to be opened.

An archive of the playground gives the run that it was written of, each frame with its own time.
Others say only when a reply began and ended, so its events all stand at its end. Credentials in
headers and addresses are masked before anything is kept. Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

from playground.library.credentials import clean_url_template
from playground.library.har_entries import (
    check_entry,
    extension_fields_of,
    headers_of,
    milliseconds,
    request_body,
    status_of,
)
from playground.library.har_frames import frames_of
from playground.library.parsing import json_of
from playground.library.recognising import (
    ImportedRequest,
    UnsupportedRequestError,
    from_http_request,
)
from playground.library.recordings import frame_to_json, validate_recording
from playground.library.shape import FixtureError, FixtureProblem
from playground.protocols.frames import Frame

MAX_ENTRIES = 5_000
_MAX_PROBLEMS = 20


@dataclass(frozen=True, slots=True)
class HarEntry:
    """One run that an archive holds: a single call, or several of one run of the playground."""

    #: Of the (first) entry in the file, from 1.
    number: int
    method: str
    url: str
    status: int
    media_type: str
    #: Milliseconds of all calls.
    took: float
    calls: int = 1
    #: What `replaying.replay` opens; empty where it cannot be opened.
    response: Mapping[str, Any] = field(default_factory=dict)
    #: Why it cannot be opened.
    why: str = ""


def read_har(text: str) -> list[HarEntry]:
    """The entries of an archive, in the order of the file.

    Raises `FixtureError` for what is no archive, with the place.
    """
    entries = _entries(json_of(text))
    problems = [
        FixtureProblem(f"/log/entries/{number}{place}", message)
        for number, entry in enumerate(entries)
        for place, message in check_entry(entry)
    ]
    if problems:
        raise FixtureError(*problems[:_MAX_PROBLEMS])
    numbered = enumerate(entries, 1)
    return [_read(list(group)) for _, group in groupby(numbered, _run_of)]


def _entries(archive: Any) -> list[Any]:
    log = archive.get("log") if isinstance(archive, dict) else None
    if not isinstance(log, dict):
        raise FixtureError(
            FixtureProblem("/log", "A HAR file is an object with a “log”; there is none.")
        )
    entries = log.get("entries")
    if not isinstance(entries, list):
        raise FixtureError(FixtureProblem("/log/entries", "The log has no list of entries."))
    if not entries:
        raise FixtureError(
            FixtureProblem("/log/entries", "The log is empty: nothing was recorded.")
        )
    if len(entries) > MAX_ENTRIES:
        message = f"The log has {len(entries):,} entries; up to {MAX_ENTRIES:,} can be read."
        raise FixtureError(FixtureProblem("/log/entries", message))
    return entries


def _run_of(numbered: tuple[int, Mapping[str, Any]]) -> str:
    """What makes neighbours one run: the playground's own key of it, or else the number."""
    number, entry = numbered
    run = extension_fields_of(entry).get("run")
    return run if isinstance(run, str) and run else f"#{number}"


def _read(group: Sequence[tuple[int, Mapping[str, Any]]]) -> HarEntry:
    number, first = group[0]
    last = group[-1][1]
    found = HarEntry(
        number,
        last["request"]["method"][:20],
        clean_url_template(last["request"]["url"]),
        status_of(last["response"]),
        last["response"]["content"].get("mimeType", "").partition(";")[0][:60],
        round(sum(milliseconds(entry.get("time")) for _, entry in group), 1),
        len(group),
    )
    try:
        reply = _reply([entry for _, entry in group], first)
    except ValueError as error:  # Also for an address that is none, in any of the calls.
        return _with(found, why=str(error))
    if problems := validate_recording(reply):
        return _with(found, why=f"It cannot be opened: {problems[0].message}")
    return _with(found, reply=reply)


def _with(entry: HarEntry, *, reply: Mapping[str, Any] | None = None, why: str = "") -> HarEntry:
    return HarEntry(
        entry.number, entry.method, entry.url, entry.status, entry.media_type, entry.took,
        entry.calls, reply or {}, why,
    )  # fmt: skip


def _reply(entries: Sequence[Mapping[str, Any]], first: Mapping[str, Any]) -> dict[str, Any]:
    """The recording of a run. Raises what `recognise` raises, and for bodies left out."""
    asked = _asked(entries)
    own = extension_fields_of(first)
    said = {
        name: own[name]
        for name in ("protocol", "binding", "version", "state")
        if isinstance(own.get(name), str)
    }
    frames: list[Frame] = []
    for entry in entries:
        frames += frames_of(entry, frames[-1].at_us if frames else 0)
    reply = {
        "url": clean_url_template(asked.address),
        "protocol": asked.protocol,
        "binding": asked.binding,
        "version": asked.version,
        **said,
        "request": asked.document,
        "frames": [frame_to_json(frame) for frame in frames],
    }
    if _is_moment(first.get("startedDateTime")):
        reply["recorded_at"] = first["startedDateTime"]
    return reply


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False


def _asked(entries: Sequence[Mapping[str, Any]]) -> ImportedRequest:
    """What the run asked: the last of its calls that asks anything."""
    for entry in reversed(entries):
        request = entry["request"]
        try:
            return from_http_request(
                request["method"], request["url"], headers_of(request), request_body(request)
            )
        except UnsupportedRequestError as error:
            refusal = error
    raise refusal
