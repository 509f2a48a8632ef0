"""Artifacts of a task, received complete, in pieces, or repeatedly.

The text of an artifact that is received in pieces is a message that grows; a complete one is text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols import lenient
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

#: Artifacts of a run that are remembered; others have events each time they are received.
MAX_ARTIFACTS = 1_000
_NO_OBJECT = "The artifact is not an object."


@dataclass(slots=True)
class _KnownArtifact:
    """The parts of one artifact that have had events."""

    id: str = ""
    texts: list[str] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)
    #: The entry of the message whose text grows; None if there is none.
    ref: EntryRef | None = None
    is_open: bool = False

    @property
    def is_new(self) -> bool:
        """Return whether no part has had events."""
        return not self.texts and not self.others

    def add(self, found: list[Any]) -> None:
        for part in found:
            text = parts.text_of(part)
            if text is None:
                self.others.append(part)
            else:
                self.texts.append(text)


class Artifacts:
    """Artifacts of one task, as far as they have had events."""

    def __init__(self) -> None:
        self._known: dict[str, _KnownArtifact] = {}

    def __bool__(self) -> bool:
        return bool(self._known)

    def chunk(self, ref: EntryRef, update: Mapping[str, Any]) -> list[Event]:
        """Return the events of an update: an artifact or a piece of one; `ref` is its entry."""
        seq, artifact = ref[0], update.get("artifact")
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, _NO_OBJECT)]
        known, is_last = self._find(artifact), update.get("lastChunk") is True
        if not known.is_new and update.get("append") is not True:
            # Sent again: only parts that have had no events.
            return [*self.complete(seq, artifact), *self._closed(seq, known, is_last)]
        stray = known.is_new and update.get("append") is True
        begun = list(self._begin(ref, known, artifact, is_last))
        events = [*begun, *_pieces(seq, known, artifact)]
        return [*events, *self._closed(seq, known, is_last), *([_stray(seq, known)] * stray)]

    def complete(self, seq: int, artifact: Any) -> list[Event]:
        """Return the events of the parts of a complete artifact that have had none."""
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, _NO_OBJECT)]
        found, known, fresh = parts.parts_of(artifact), self._find(artifact), _KnownArtifact()
        fresh.add(found)
        before, now = "".join(known.texts), "".join(fresh.texts)
        is_new = known.is_new
        goes_on = now.startswith(before) and known.others == fresh.others[: len(known.others)]
        new = fresh.others[len(known.others) :] if goes_on else fresh.others
        if is_new or (known.ref is None and not goes_on):
            events = parts.read(seq, found)
        else:
            rest = now[len(before) :] if goes_on else now
            events = [*_text(seq, known, rest, artifact, not goes_on), *parts.read(seq, new)]
        known.texts, known.others = [now] if now else [], fresh.others
        return events

    def close(self, seq: int, status: str) -> list[Event]:
        open_ = [each for each in self._known.values() if each.is_open]
        return [event for each in open_ for event in self._closed(seq, each, True, status)]

    def _begin(
        self, ref: EntryRef, known: _KnownArtifact, artifact: Mapping[str, Any], is_last: bool
    ) -> Iterator[Event]:
        """Yield the message whose text grows, if more of a new artifact may follow."""
        has_text = any(parts.text_of(part) is not None for part in parts.parts_of(artifact))
        if known.ref is not None or is_last or not has_text or known.texts:
            return
        known.ref, known.is_open = ref, True
        name = artifact.get("name")
        role = name[:80] if isinstance(name, str) and name else "Artifact"
        yield Message(ref[0], known.id, "message", role, "in_progress", artifact)

    def _closed(
        self, seq: int, known: _KnownArtifact, is_last: bool, status: str = "completed"
    ) -> list[Event]:
        if not is_last or not known.is_open:
            return []
        known.is_open = False
        return [Status(seq, "message", known.id, status, known.ref)]

    def _find(self, artifact: Mapping[str, Any]) -> _KnownArtifact:
        name = artifact.get("artifactId")
        name = lenient.text(name)
        if name not in self._known and len(self._known) >= MAX_ARTIFACTS:
            return _KnownArtifact(name)
        return self._known.setdefault(name, _KnownArtifact(name))


def _pieces(seq: int, known: _KnownArtifact, artifact: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of the parts of a chunk; texts continue the message."""
    for part in parts.parts_of(artifact):
        text = parts.text_of(part)
        if text is None:
            yield from parts.read(seq, [part])
        else:
            yield from _text(seq, known, text, part)
        known.add([part])


def _text(
    seq: int, known: _KnownArtifact, text: str, raw: Any, replaces: bool = False
) -> Iterator[Event]:
    if not text:
        return
    if known.ref is None:
        yield Text(seq, text, delta=bool(known.texts), raw=raw)
    else:
        yield Content(seq, known.ref, known.id, 0, "text", text, not replaces, raw=raw)


def _stray(seq: int, known: _KnownArtifact) -> Note:
    remark = "This appends to an artifact that was never started."
    return Note(seq, "artifact", {"remark": remark, "artifactId": known.id})
