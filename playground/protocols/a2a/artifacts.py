"""Artifacts: what a task makes, which comes whole, in pieces, or again and again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.protocols.a2a import parts
from playground.protocols.events import Event, Note, Text, Unknown

#: Artifacts of a run that are told apart; what is beyond is shown each time it comes.
MAX_ARTIFACTS = 1_000


@dataclass(slots=True)
class _Shown:
    """What has been shown of one artifact."""

    texts: list[str] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)

    def add(self, found: list[Any]) -> None:
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

    def chunk(self, seq: int, artifact: Any, *, append: bool) -> list[Event]:
        """A piece that is appended to an artifact, or the artifact from its beginning."""
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, "An artifact is an object.")]
        found, known = parts.parts_of(artifact), self._find(artifact)
        if append:
            stray = [] if known.texts or known.others else [_stray(seq, artifact)]
            known.add(found)
            return [*_continued(parts.read(seq, found)), *stray]
        if known.texts or known.others:
            # Sent anew: shown as a whole only where it is not what was shown before.
            return self.whole(seq, artifact)
        known.add(found)
        return parts.read(seq, found)

    def whole(self, seq: int, artifact: Any) -> list[Event]:
        """All of an artifact: what of it has not been shown yet."""
        if not isinstance(artifact, Mapping):
            return [Unknown(seq, "artifact", artifact, "An artifact is an object.")]
        found, known = parts.parts_of(artifact), self._find(artifact)
        fresh = _Shown()
        fresh.add(found)
        before, now = "".join(known.texts), "".join(fresh.texts)
        if not now.startswith(before) or known.others != fresh.others[: len(known.others)]:
            known.texts, known.others = fresh.texts, fresh.others
            return parts.read(seq, found)
        if not known.texts and not known.others:
            known.add(found)
            return parts.read(seq, found)
        new = fresh.others[len(known.others) :]
        known.texts, known.others = [now], fresh.others
        rest = now[len(before) :]
        text: list[Event] = [Text(seq, rest, delta=bool(before), raw=artifact)] if rest else []
        return [*text, *parts.read(seq, new)]

    def _find(self, artifact: Mapping[str, Any]) -> _Shown:
        name = artifact.get("artifactId")
        name = name if isinstance(name, str) else ""
        if name not in self._shown and len(self._shown) >= MAX_ARTIFACTS:
            return _Shown()
        return self._shown.setdefault(name, _Shown())


def _continued(events: list[Event]) -> list[Event]:
    """The same events, a text in front continuing the text before it."""
    match events:
        case [Text() as first, *rest]:
            return [Text(first.seq, first.text, delta=True, raw=first.raw), *rest]
    return events


def _stray(seq: int, artifact: Mapping[str, Any]) -> Note:
    remark = "This continues an artifact of which nothing had come."
    return Note(seq, "artifact", {"remark": remark, "artifactId": artifact.get("artifactId")})
