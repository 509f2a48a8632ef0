"""Artifacts: what a task makes, which comes whole, in pieces, or again and again.

The text of one that comes in pieces grows, as a message does; one that comes whole is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols.a2a import parts
from playground.protocols.events import (
    Content,
    EntryRef,
    Event,
    Message,
    Note,
    Status,
    Text,
    Unknown,
)

#: Artifacts of a run that are told apart; what is beyond is shown each time it comes.
MAX_ARTIFACTS = 1_000
_NO_OBJECT = "An artifact is an object."


@dataclass(slots=True)
class _Shown:
    """What has been shown of one artifact."""

    id: str = ""
    texts: list[str] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    #: Where the message is whose text grows; None for one that does not.
    home: EntryRef | None = None
    is_open: bool = False

    @property
    def is_new(self) -> bool:
        """Whether nothing of it has been shown."""
        return not self.texts and not self.others

    def add(self, found: list[Any]) -> None:
        """Take note of parts that are shown now."""
        for part in found:
            text = parts.text_of(part)
            if text is None:
                self.others.append(part)
            else:
                self.texts.append(text)


class Artifacts:
    """The artifacts of one task, as far as they have been shown."""

    def __init__(self) -> None:
        self._shown: dict[str, _Shown] = {}

    def __bool__(self) -> bool:
        """Whether there is any."""
        return bool(self._shown)

    def chunk(self, home: EntryRef, update: Mapping[str, Any]) -> list[Event]:
        """An artifact's beginning or a piece that is appended to it; `home` is its place."""
        seq, artifact = home[0], update.get("artifact")
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, _NO_OBJECT)]
        known, is_last = self._find(artifact), update.get("lastChunk") is True
        if not known.is_new and update.get("append") is not True:
            # Sent anew: shown only as far as it is not what was shown before.
            return [*self.complete(seq, artifact), *self._closed(seq, known, is_last)]
        stray = known.is_new and update.get("append") is True
        begun = list(self._begin(home, known, artifact, is_last))
        events = [*begun, *_pieces(seq, known, artifact)]
        return [*events, *self._closed(seq, known, is_last), *([_stray(seq, known)] * stray)]

    def complete(self, seq: int, artifact: Any) -> list[Event]:
        """All of an artifact: what of it has not been shown yet."""
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, _NO_OBJECT)]
        found, known, fresh = parts.parts_of(artifact), self._find(artifact), _Shown()
        fresh.add(found)
        before, now = "".join(known.texts), "".join(fresh.texts)
        is_new = known.is_new
        goes_on = now.startswith(before) and known.others == fresh.others[: len(known.others)]
        new = fresh.others[len(known.others) :] if goes_on else fresh.others
        if is_new or (known.home is None and not goes_on):
            events = parts.read(seq, found)
        else:
            rest = now[len(before) :] if goes_on else now
            events = [*_text(seq, known, rest, artifact, not goes_on), *parts.read(seq, new)]
        known.texts, known.others = [now] if now else [], fresh.others
        return events

    def close(self, seq: int, status: str) -> list[Event]:
        """The task has come to a stop: nothing grows any more."""
        open_ = [each for each in self._shown.values() if each.is_open]
        return [event for each in open_ for event in self._closed(seq, each, True, status)]

    def _begin(
        self, home: EntryRef, known: _Shown, artifact: Mapping[str, Any], is_last: bool
    ) -> Iterator[Event]:
        """The message whose text grows, where more of a new artifact may follow."""
        has_text = any(parts.text_of(part) is not None for part in parts.parts_of(artifact))
        if known.home is not None or is_last or not has_text or known.texts:
            return
        known.home, known.is_open = home, True
        name = artifact.get("name")
        role = name[:80] if isinstance(name, str) and name else "Artifact"
        yield Message(home[0], known.id, "message", role, "in_progress", artifact)

    def _closed(
        self, seq: int, known: _Shown, is_last: bool, status: str = "completed"
    ) -> list[Event]:
        if not is_last or not known.is_open:
            return []
        known.is_open = False
        return [Status(seq, "message", known.id, status, known.home)]

    def _find(self, artifact: Mapping[str, Any]) -> _Shown:
        name = artifact.get("artifactId")
        name = name if isinstance(name, str) else ""
        if name not in self._shown and len(self._shown) >= MAX_ARTIFACTS:
            return _Shown(name)
        return self._shown.setdefault(name, _Shown(name))


def _pieces(seq: int, known: _Shown, artifact: Mapping[str, Any]) -> Iterator[Event]:
    """The parts of a chunk, texts as what they continue."""
    for part in parts.parts_of(artifact):
        text = parts.text_of(part)
        if text is None:
            yield from parts.read(seq, [part])
        else:
            yield from _text(seq, known, text, part)
        known.add([part])


def _text(seq: int, known: _Shown, text: str, raw: Any, replaces: bool = False) -> Iterator[Event]:
    if not text:
        return
    if known.home is None:
        yield Text(seq, text, delta=bool(known.texts), raw=raw)
    else:
        yield Content(seq, known.home, known.id, 0, "text", text, not replaces, raw=raw)


def _stray(seq: int, known: _Shown) -> Note:
    remark = "This continues an artifact of which nothing had come."
    return Note(seq, "artifact", {"remark": remark, "artifactId": known.id})
