"""What would be sent, for reading: secrets as dots with their names, lacking values in red."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from playground.variables.names import PLACEHOLDER

#: Placeholders as text and as a URL writes them where a protocol puts a document into one.
_ANY = re.compile(rf"{PLACEHOLDER.pattern}|%7B%7B([A-Za-z0-9_.-]{{1,80}})%7D%7D")


@dataclass(frozen=True, slots=True)
class TextSegment:
    """A piece of text: ordinary, a secret that stands there, or a name without a value."""

    text: str
    #: "", "secret" or "missing".
    kind: str = ""


def pieces(
    text: str, secrets: Collection[str] = (), missing: Collection[str] = ()
) -> list[TextSegment]:
    """`text` in pieces; those of a secret or a lacking value have its name as their text."""
    if not secrets and not missing:
        return [TextSegment(text)]
    found: list[TextSegment] = []
    end = 0
    for match in _ANY.finditer(text):
        name = match.group(1) or match.group(2)
        kind = "secret" if name in secrets else "missing" if name in missing else ""
        if not kind:
            continue
        found += [TextSegment(text[end : match.start()]), TextSegment(name, kind)]
        end = match.end()
    return [piece for piece in (*found, TextSegment(text[end:])) if piece.text]
