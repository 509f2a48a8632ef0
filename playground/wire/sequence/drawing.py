"""Drawing of a sequence diagram: positions in pixels, and labels that fit between their lanes.

Lanes are columns, items are rows below each other, and the times are a column on the left.
Templates draw it as the SVG of a page and as a file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from playground.wire.sequence.diagram import (
    Diagram,
    Item,
    Lane,
    LaneKind,
    Message,
    Note,
)

#: Height of the row of boxes.
HEAD_HEIGHT = 50
#: Heights of rows: head of a turn, message with and without a detail, note; space below a turn.
TURN, TALL, SHORT, NOTE, BELOW = 32, 48, 34, 31, 12
#: Font sizes of labels, and of details, notes and times.
LABEL_SIZE, SMALL_SIZE = 13, 12
#: Space between a label and the lanes on both sides of it; size of an arrowhead.
_PADDING, _HEAD = 10, 6
#: Estimated width of a character in em: narrow, wide (East Asian, emoji), capital, other.
_NARROW, _WIDE, _CAPITAL, _OTHER = 0.36, 1.1, 0.72, 0.6
_NARROW_CHARACTERS = frozenset("iljtf.,:;'|!()[] ")


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths of a layout."""

    #: Column of times; distance of the first and the last lane from the edges of the others.
    times: int
    margin: int
    #: Width of the box of a lane.
    box: int
    #: Distance of a lane from the previous one.
    distances: Mapping[LaneKind, int]
    #: Widest column of labels beside the lane of the playground; None for the whole width.
    labels: int | None


WIDE = Columns(
    52, 62, 116,
    {LaneKind.PLAYGROUND: 190, LaneKind.AGENT: 250, LaneKind.SERVER: 170},
    250,
)  # fmt: skip
#: For screens on which three wide lanes do not fit: labels may cover lanes.
COMPACT = Columns(
    48, 47, 90,
    {LaneKind.PLAYGROUND: 96, LaneKind.AGENT: 120, LaneKind.SERVER: 100},
    None,
)  # fmt: skip

#: Colours of the light theme by kind, for a file without the site's styles; ink for others.
INK_SOFT = "#565864"
_BLUE, _GREEN, _TEAL, _AMBER, _RED = "#1c62c4", "#0d7a45", "#0b7285", "#8f5a00", "#c32f2f"
_ACCENT, _PINK, _BROWN = "#4338ca", "#b02a7c", "#8a5a35"
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "call": _ACCENT, "message": _ACCENT, "head": _TEAL, "body": _TEAL, "tail": _TEAL,
        "text": _TEAL, "content": _TEAL, "started": _BLUE, "event": _BLUE, "status": _BLUE,
        "progress": _BLUE, "result": _GREEN, "completed": _GREEN, "end": _GREEN,
        "elicitation": _PINK, "promise": _AMBER, "tool call": _AMBER, "tool output": _AMBER,
        "failure": _RED, "error": _RED, "tools": _BROWN, "unknown": _BROWN,
    }
)  # fmt: skip


def drawing_of(diagram: Diagram, columns: Columns = WIDE) -> dict[str, Any]:
    """Return what `wire/sequence.html` and `wire/sequence.svg` draw, with all positions."""
    heads = list(_heads(diagram.lanes, columns))
    width = heads[-1]["x"] + columns.margin
    draw = _Rows(diagram, {head["lane"].key: head["x"] for head in heads}, columns, width)
    groups = []
    y = 0
    for turn in diagram.turns:
        height = TURN + sum(map(_height, turn.items))
        groups.append(
            {
                "turn": turn,
                "y": y,
                "height": height + BELOW // 2,
                "label": fit(f"Turn {turn.number}: {turn.label}", width - 90, LABEL_SIZE),
                "label_y": y + 20,
                "rows": list(draw.rows(turn.items, y + TURN)),
            }
        )
        y += height + BELOW
    lane_width = width - columns.times - 8
    return {
        "diagram": diagram,
        "heads": heads,
        "groups": groups,
        "columns": columns,
        "width": width,
        # Height below the boxes of the lanes; and that of a file, with the boxes.
        "height": y,
        "total_height": y + HEAD_HEIGHT,
        # Width and center of notes.
        "lane_width": lane_width,
        "middle": columns.times + lane_width // 2,
    }


def _heads(lanes: Sequence[Lane], columns: Columns) -> Iterator[dict[str, Any]]:
    """Yield the boxes of the lanes: the line of each begins below it, at `x`."""
    x = columns.times + columns.margin
    for number, lane in enumerate(lanes):
        if number:
            x += columns.distances.get(lane.kind, 0)
        inner = columns.box - 10
        yield {
            "lane": lane,
            "x": x,
            "left": x - columns.box // 2,
            "name": fit(lane.name, inner, LABEL_SIZE),
            "detail": fit(lane.detail, inner, SMALL_SIZE),
            "title": ", ".join(filter(None, (lane.name, lane.detail))),
        }


def _height(item: Item) -> int:
    if isinstance(item, Note):
        return NOTE
    return TALL if item.detail else SHORT


@dataclass(frozen=True, slots=True)
class _Rows:
    """Makes the rows of a drawing."""

    diagram: Diagram
    #: Centers of the lanes by key.
    places: Mapping[str, int]
    columns: Columns
    width: int

    def rows(self, items: Sequence[Item], y: int) -> Iterator[dict[str, Any]]:
        """Yield a message as an arrow with its label above it, or a note over all lanes."""
        space = self.width - self.columns.times - 2 * _PADDING
        for item in items:
            if isinstance(item, Note):
                text = fit(item.text, space, SMALL_SIZE)
                yield {"note": item, "y": y, "box_y": y + 5, "text_y": y + 21, "text": text}
            else:
                yield self._message(item, y)
            y += _height(item)

    def _message(self, message: Message, y: int) -> dict[str, Any]:
        start, end = self.places[message.sender], self.places[message.receiver]
        height = _height(message)
        line = y + height - 9
        sender = self.diagram.lane_name(message.sender)
        receiver = self.diagram.lane_name(message.receiver)
        middle, space = self._label(start, end)
        label = fit(message.label, space, LABEL_SIZE)
        detail = fit(message.detail, space, SMALL_SIZE)
        if self.columns.labels is None:
            # Not beyond the edges, as far as its width can be estimated.
            half = max(width_of(label, LABEL_SIZE), width_of(detail, SMALL_SIZE)) / 2 + 4
            middle = round(max(half, min(middle, self.width - half)))
        return {
            "message": message,
            "sentence": f"{sender} to {receiver}: {message.text}",
            # Upper edge, height, and the line of the arrow with its ends.
            "y": y,
            "height": height,
            "line": line,
            "start": start,
            "end": end,
            "head": _arrowhead(start, end, line, is_lost=message.is_lost),
            # Center of the label.
            "middle": middle,
            "label": label,
            "label_y": line - (21 if detail else 7),
            "detail": detail,
            "detail_y": line - 6,
            "time_y": line + 4,
            # In a file.
            "colour": COLOURS.get(message.kind, INK_SOFT),
        }

    def _label(self, start: int, end: int) -> tuple[int, int]:
        """Return center and width of the label between two lanes.

        Every message has the playground at one end; its label is in the column beside it.
        """
        if self.columns.labels is None:
            return (start + end) // 2, self.width - 8
        center = self.places[LaneKind.PLAYGROUND.value]
        other = start + end - center
        edge = max(center - self.columns.labels, min(center + self.columns.labels, other))
        return (center + edge) // 2, abs(edge - center) - 2 * _PADDING


def _arrowhead(start: int, end: int, y: int, *, is_lost: bool) -> str:
    """Return the path of an arrowhead, or of a cross if the message was lost."""
    towards = 1 if end > start else -1
    tip = end - towards
    back = tip - towards * (_HEAD + 2)
    if is_lost:
        a, b = back - _HEAD + 1, back + _HEAD - 1
        return f"M{a} {y - 5}L{b} {y + 5}M{b} {y - 5}L{a} {y + 5}"
    return f"M{tip} {y}L{back} {y - _HEAD + 1}V{y + _HEAD - 1}Z"


# --- labels -------------------------------------------------------------------------------------


def width_of(text: str, size: float) -> float:
    """Return the estimated width of a text, in the unit of the font size."""
    return size * sum(map(_width, text))


def fit(text: str, width: float, size: float) -> str:
    """Return the beginning of a text that fits into a width, with an ellipsis if it is cut."""
    if width_of(text, size) <= width:
        return text
    left = width - size  # for the ellipsis
    for at, character in enumerate(text):
        left -= size * _width(character)
        if left < 0:
            return f"{text[:at].rstrip()}…"
    return text


def _width(character: str) -> float:
    if character in _NARROW_CHARACTERS:
        return _NARROW
    if character.isascii():
        return _CAPITAL if character.isupper() else _OTHER
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _CAPITAL
