"""Redaction of secrets that an agent divides among the deltas of a text.

A text arrives in pieces, in the same string of one event after the other, and pages show it in one.
An event whose string ends with the beginning of a secret is held back, with the events after it,
until the next piece completes the secret or continues with something else. Used between the
recorder and the queue of frames, for runs with secrets only.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from playground.base.memory_budget import RunMemory
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from playground.transport.redaction import MASK, Redactor, overlap

#: Seconds after which events are released if no piece has continued a secret; and the most events
#: and bytes that are held back. A larger event is not read.
_TIMEOUT, MOST_EVENTS, MOST_BYTES = 1.0, 256, 64 * 1024
#: Strings that are followed at most, by their paths, and frames until one is forgotten.
_MOST_PATHS = _MOST_FRAMES = 1000
#: Characters of a secret for which an event is held: a single letter is at the end of many.
_SHORTEST = 2

_Path = tuple[str | int, ...]
#: A string in JSON: its path, its parent, its key there, and the string.
_String = tuple[_Path, Any, str | int, str]


@dataclass(slots=True)
class _HeldFrame:
    frame: Frame
    document: Any = None
    is_changed: bool = False
    is_released: bool = False

    def released(self) -> Frame:
        """Return the frame, with what was changed in its document."""
        self.is_released = True
        frame = self.frame
        if not self.is_changed:
            return frame
        data = sse.with_data(frame.data, json.dumps(self.document[0]).encode())
        return Frame(frame.seq, frame.at_us, frame.kind, data)


class _Piece(NamedTuple):
    """The end of a string in a held event, which is a part of the beginning of a secret."""

    held: _HeldFrame
    parent: Any
    key: str | int
    length: int


@dataclass(slots=True)
class _Beginning:
    """The beginning of a secret, at the end of the strings with one path."""

    #: The number of the last frame with a part of it.
    number: int
    text: str
    #: In order; some may be those of released events, or masked as a part of another secret.
    pieces: list[_Piece] = field(default_factory=list)


class DeltaRedactor:
    """Masks the secrets that strings of consecutive events have together.

    `emit` gets lists of frames, in order. Frames that are held count in the `memory` of the run.
    """

    def __init__(
        self,
        redactor: Redactor,
        emit: Callable[[list[Frame]], None],
        memory: RunMemory | None = None,
    ) -> None:
        self._secrets = redactor.secrets
        self._searches = [
            re.compile(pattern).search for secret in self._secrets for pattern in _patterns(secret)
        ]
        #: Finds something at the end of each text that ends with the beginning of a secret.
        self._find_beginning = re.compile(
            rf"(?s)(?:{'|'.join(map(_beginning_pattern, self._secrets))})\Z"
        ).search
        self._longest = max(map(len, self._secrets))
        self._emit = emit
        self._memory = memory
        self._held: deque[_HeldFrame] = deque()
        self._bytes = 0
        self._beginnings: dict[_Path, _Beginning] = {}
        #: How many frames were added.
        self._number = 0
        #: The strings of the event and of the one before it that begin a secret: those that are the
        #: same are no deltas.
        self._strings: dict[_Path, str] = {}
        self._previous: dict[_Path, str] = {}
        self._timer: asyncio.TimerHandle | None = None

    def put(self, frames: list[Frame]) -> None:
        """Add frames; emit those that do not begin a secret."""
        if self._held or self._beginnings or any(map(self._may_begin, frames)):
            self._add(frames)
        else:
            self._strings = {}
            self._emit(frames)

    def flush(self) -> None:
        """Emit all frames: no event will follow, or none for some time."""
        self._release(len(self._held))

    def _may_begin(self, frame: Frame) -> bool:
        """Return whether a string in a frame may end with the beginning of a secret."""
        return _is_readable(frame) and any(search(frame.data) for search in self._searches)

    def _add(self, frames: list[Frame]) -> None:
        is_continued = False
        for frame in frames:
            held = _HeldFrame(frame)
            self._hold(held)
            self._number += 1
            self._previous, self._strings = self._strings, {}
            if (self._beginnings and _is_readable(frame)) or self._may_begin(frame):
                is_continued |= self._read(held)
        self._forget()
        self._release(self._releasable())
        if self._held and (is_continued or self._timer is None):
            self._stop_timer()
            self._timer = asyncio.get_running_loop().call_later(_TIMEOUT, self.flush)

    def _hold(self, held: _HeldFrame) -> None:
        self._held.append(held)
        size = len(held.frame.data)
        self._bytes += size
        if self._memory:
            self._memory.add(size)

    def _release(self, count: int) -> None:
        """Emit the first frames."""
        released = [self._held.popleft() for _ in range(count)]
        size = sum(len(held.frame.data) for held in released)
        self._bytes -= size
        if self._memory:
            self._memory.release(size)
        if not self._held:
            self._stop_timer()
        if released:
            self._emit([held.released() for held in released])

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None

    def _releasable(self) -> int:
        """Return how many of the first frames have nothing of a secret, or are too many."""
        needed = {
            id(piece.held)
            for beginning in self._beginnings.values()
            if len(beginning.text) >= _SHORTEST
            for piece in beginning.pieces
        }
        count, size = 0, self._bytes
        for held in self._held:
            fits = len(self._held) - count <= MOST_EVENTS and size <= MOST_BYTES
            if fits and id(held) in needed:
                break
            size -= len(held.frame.data)
            count += 1
        return count

    def _read(self, held: _HeldFrame) -> bool:
        """Read the strings of an event; return whether one has continued a secret."""
        try:
            held.document = [json.loads(sse.parse(held.frame.data).data)]
            strings = _strings(held.document, (), [])
        except (ValueError, RecursionError):
            return False
        is_continued = False
        for path, parent, key, text in strings:
            # Nearly all strings neither follow the beginning of a secret nor end with one.
            start = max(0, len(text) - self._longest)
            if path in self._beginnings or self._find_beginning(text, start):
                is_continued |= self._join(held, path, parent, key, text)
        return is_continued

    def _forget(self) -> None:
        """Forget the beginnings of secrets that no event has continued for long."""
        if len(self._beginnings) > _MOST_PATHS:
            self._beginnings.clear()
        for path, beginning in list(self._beginnings.items()):
            if self._number - beginning.number <= _MOST_FRAMES:
                break
            del self._beginnings[path]

    def _join(self, held: _HeldFrame, path: _Path, parent: Any, key: str | int, text: str) -> bool:
        """Add a string to those before it; return whether they have more of a secret together."""
        before = self._beginnings.pop(path, None) or _Beginning(0, "")
        border = len(before.text)
        joined = before.text + text
        pieces, length = before.pieces, len(text)
        spans = list(self._spans(joined, border))
        if spans:
            start, end = min(spans)[0], max(end for _, end in spans)
            length = len(joined) - end
            is_masked = _mask(pieces, border - start)
            parent[key] = ("" if is_masked else MASK) + joined[end:]
            held.is_changed = True
            pieces = []
        begun = max(overlap(joined, secret) for secret in self._secrets)
        is_continued = begun > len(text)
        if begun:
            is_constant = not is_continued and self._previous.get(path) == text
            self._strings[path] = text
            pieces = [] if is_constant else [*pieces, _Piece(held, parent, key, length)]
            self._beginnings[path] = _Beginning(self._number, joined[-begun:], _last(pieces, begun))
        return is_continued or bool(spans)

    def _spans(self, joined: str, border: int) -> Iterator[tuple[int, int]]:
        """Yield from where to where there is a secret across a border."""
        for secret in self._secrets:
            start = joined.find(secret, max(0, border - len(secret) + 1))
            if 0 <= start < border < start + len(secret):
                yield start, start + len(secret)


def _is_readable(frame: Frame) -> bool:
    return frame.kind is FrameKind.EVENT and len(frame.data) <= MOST_BYTES


def _patterns(secret: str) -> Iterator[bytes]:
    """Yield patterns for the end of a string in JSON that may be the beginning of a secret."""
    written = {
        tuple(json.dumps(character, ensure_ascii=flag)[1:-1] for character in secret)
        for flag in (True, False)
    }
    for first, second, *rest in written:
        begin, then = (
            re.escape(each.encode("utf-8", "surrogatepass")).replace(b"/", rb"\\?/")
            for each in (first, second)
        )
        most = 2 * len("".join(rest).encode("utf-8", "surrogatepass"))
        yield rb'(?s)%b(?:%b.{0,%d}?)?"\s*[,}\]]' % (begin, then, most)


def _beginning_pattern(secret: str) -> str:
    """Return a pattern for the beginning of a secret, and for what has two characters of it."""
    first, second = re.escape(secret[0]), re.escape(secret[1])
    return f"{first}(?:{second}.{{0,{len(secret)}}})?"


def _strings(value: Any, path: _Path, found: list[_String]) -> list[_String]:
    """Add the strings in a list or an object of JSON to those found, and return these."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, str):
            found.append(((*path, key), value, key, inner))
        elif isinstance(inner, dict | list):
            _strings(inner, (*path, key), found)
    return found


def _last(pieces: list[_Piece], length: int) -> list[_Piece]:
    """Return the pieces of held events that have the last characters, not more than these."""
    result: list[_Piece] = []
    for piece in reversed(pieces):
        own = min(length, piece.length)
        if not own or piece.held.is_released:
            break
        result.insert(0, piece._replace(length=own))
        length -= own
    return result


def _mask(pieces: list[_Piece], length: int) -> bool:
    """Mask the last characters of strings in held events; return whether there were any."""
    pieces = _last(pieces, length)
    for piece in pieces:
        text = piece.parent[piece.key]
        mask = MASK if piece is pieces[0] else ""
        piece.parent[piece.key] = text[: len(text) - piece.length] + mask
        piece.held.is_changed = True
    return bool(pieces)
