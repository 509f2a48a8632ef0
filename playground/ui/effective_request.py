"""Effective request as text segments: masked secrets and names without a value are marked."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from playground.variables.names import PLACEHOLDER

#: Placeholders, also percent-encoded as in a document that a protocol puts into a URL.
_PLACEHOLDER = re.compile(rf"{PLACEHOLDER.pattern}|%7B%7B([A-Za-z0-9_.-]{{1,80}})%7D%7D")


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A segment of text: ordinary, a masked secret, or a name without a value."""

    text: str
    #: "", "secret" or "missing".
    kind: str = ""


def pieces(
    text: str, secrets: Collection[str] = (), missing: Collection[str] = ()
) -> list[TextSegment]:
    """Return `text` in segments; the text of a secret or a missing value is its name."""
    if not secrets and not missing:
        return [TextSegment(text)]
    segments: list[TextSegment] = []
    end = 0
    for match in _PLACEHOLDER.finditer(text):
        name = match.group(1) or match.group(2)
        kind = "secret" if name in secrets else "missing" if name in missing else ""
        if not kind:
            continue
        segments += [TextSegment(text[end : match.start()]), TextSegment(name, kind)]
        end = match.end()
    return [each for each in (*segments, TextSegment(text[end:])) if each.text]
