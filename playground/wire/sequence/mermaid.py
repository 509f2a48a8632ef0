"""A sequence diagram as Mermaid text (https://mermaid.js.org/syntax/sequenceDiagram.html).

Every text is data of agents or of the user. Characters with a meaning in Mermaid or HTML are
written as entity codes, so that no text ends a statement, becomes a directive or markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from playground.protocols.text import shorten
from playground.wire.sequence.diagram import Diagram, DiagramTurn, LaneKind, Message, Note

#: Characters of a text.
MAX_TEXT = 120
#: With those by which Mermaid itself marks entity codes while it parses.
_SPECIAL = re.compile(r"[#;%<>&$ﬂ¶]")
#: A prefix of a message by which Mermaid decides about line breaks.
_WRAP = re.compile(r"^(:?(?:no)?wrap):", re.IGNORECASE)


def escape(text: str) -> str:
    """Return a text of one line as Mermaid shows it unchanged."""
    escaped = _SPECIAL.sub(lambda found: f"#{ord(found[0])};", shorten(text, MAX_TEXT))
    # A text that is empty or begins like an instruction would not be shown.
    return _WRAP.sub(r"\1#58;", escaped) or "#160;"


def mermaid_text(diagram: Diagram) -> str:
    """Return a diagram as Mermaid text, with a newline at its end."""
    return "\n".join([*_lines(diagram), ""])


def _lines(diagram: Diagram) -> Iterator[str]:
    yield "sequenceDiagram"
    for lane in diagram.lanes:
        keyword = "actor" if lane.kind is LaneKind.USER else "participant"
        name = escape(lane.name)
        detail = f"<br/>{escape(lane.detail)}" if lane.detail else ""
        yield f"    {keyword} {lane.key} as {name}{detail}"
    for turn in diagram.turns:
        yield from _turn(diagram, turn)


def _turn(diagram: Diagram, turn: DiagramTurn) -> Iterator[str]:
    over = ",".join((diagram.lanes[0].key, diagram.lanes[-1].key))
    yield "    rect rgba(128, 128, 160, 0.12)"
    yield f"    Note over {over}: Turn {turn.number}: {escape(turn.label)}"
    for item in turn.items:
        match item:
            case Note():
                yield f"    Note over {over}: {escape(item.text)}"
            case Message():
                arrow = ("--" if item.is_response else "-") + ("x" if item.is_lost else ">>")
                at = f" ({item.at})" if item.at else ""
                yield f"    {item.sender}{arrow}{item.receiver}: {escape(item.text)}{at}"
    yield "    end"
