"""Drawing of a sequence diagram: positions in pixels, and labels that fit between their lanes.

Lanes are columns, items are rows below each other, and the times are a column on the left.
Templates draw it as the SVG of a page and as a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from playground.rendering.sequence.diagram import (
    Diagram,
    DiagramTurn,
    Item,
    Lane,
    LaneKind,
    Message,
    Note,
)
from playground.rendering.sequence.labels import fit

#: Column of times, distance of the first and the last lane from it and from the right edge.
TIMES, MARGIN = 52, 62
#: Distance of a lane from the previous one, by its kind.
_DISTANCES = {LaneKind.PLAYGROUND: 190, LaneKind.AGENT: 250, LaneKind.SERVER: 170}
#: Size of the box of a lane, and height of the row of boxes.
BOX_WIDTH, BOX_HEIGHT, HEAD_HEIGHT = 116, 38, 50
#: Heights of rows: head of a turn, message with and without a detail, note; space below a turn.
TURN, TALL, SHORT, NOTE, BELOW = 38, 52, 38, 32, 14
#: Font sizes of labels, and of details, notes and times.
LABEL_SIZE, SMALL_SIZE = 13, 12
#: Space between a label and the lanes on both sides of it; size of an arrowhead.
_PADDING, _HEAD = 10, 6

#: Colours of the light theme by kind, for a file without the site's styles; ink for others.
INK, INK_SOFT, LINE, WASH = "#1b1c21", "#565864", "#8d8e9a", "#f1f1f4"
_BLUE, _GREEN, _TEAL, _AMBER, _RED = "#1c62c4", "#0d7a45", "#0b7285", "#8f5a00", "#c32f2f"
_ACCENT, _PINK, _BROWN, _GREY = "#4338ca", "#b02a7c", "#8a5a35", "#63656f"
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "call": _ACCENT, "message": _ACCENT, "head": _TEAL, "body": _TEAL, "tail": _TEAL,
        "text": _TEAL, "content": _TEAL, "started": _BLUE, "event": _BLUE, "status": _BLUE,
        "progress": _BLUE, "result": _GREEN, "completed": _GREEN, "end": _GREEN,
        "elicitation": _PINK, "promise": _AMBER, "tool call": _AMBER, "tool output": _AMBER,
        "failure": _RED, "error": _RED, "tools": _BROWN, "unknown": _BROWN,
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Head:
    """The box of a lane; its line begins below it."""

    lane: Lane
    #: Center of the lane, and left edge of the box.
    x: int
    left: int
    name: str
    detail: str

    @property
    def title(self) -> str:
        """Return name and detail in one line."""
        return ", ".join(filter(None, (self.lane.name, self.lane.detail)))


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message as an arrow with its label above it."""

    message: Message
    sentence: str
    #: Upper edge, height, and the line of the arrow.
    y: int
    height: int
    line: int
    #: Ends of the arrow.
    start: int
    end: int
    #: Center of the label.
    middle: int
    label: str
    detail: str

    @property
    def is_message(self) -> bool:
        """Return True: templates tell rows apart by it."""
        return True

    @property
    def label_y(self) -> int:
        """Return the baseline of the label."""
        return self.line - (21 if self.detail else 7)

    @property
    def detail_y(self) -> int:
        """Return the baseline of the detail."""
        return self.line - 6

    @property
    def time_y(self) -> int:
        """Return the baseline of the time."""
        return self.line + 4

    @property
    def left(self) -> int:
        """Return the left end of the arrow."""
        return min(self.start, self.end)

    @property
    def width(self) -> int:
        """Return the length of the arrow."""
        return abs(self.end - self.start)

    @property
    def head(self) -> str:
        """Return the path of the arrowhead, or of a cross if the message was lost."""
        towards = 1 if self.end > self.start else -1
        tip, y = self.end - towards, self.line
        if self.message.is_lost:
            x = tip - towards * (_HEAD + 2)
            a, b = x - _HEAD + 1, x + _HEAD - 1
            return f"M{a} {y - 5}L{b} {y + 5}M{b} {y - 5}L{a} {y + 5}"
        back = tip - towards * (_HEAD + 2)
        return f"M{tip} {y}L{back} {y - _HEAD + 1}V{y + _HEAD - 1}Z"

    @property
    def colour(self) -> str:
        """Return its colour in a file."""
        return COLOURS.get(self.message.kind, INK_SOFT)


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A note over all lanes."""

    note: Note
    y: int
    text: str

    @property
    def is_message(self) -> bool:
        """Return False: templates tell rows apart by it."""
        return False

    @property
    def text_y(self) -> int:
        """Return the baseline of its text."""
        return self.y + 21

    @property
    def box_y(self) -> int:
        """Return the upper edge of its box."""
        return self.y + 5


@dataclass(frozen=True, slots=True)
class TurnGroup:
    """A turn: its head and its rows."""

    turn: DiagramTurn
    y: int
    height: int
    label: str
    rows: Sequence[MessageRow | NoteRow]

    @property
    def label_y(self) -> int:
        """Return the baseline of its label."""
        return self.y + 23


@dataclass(frozen=True, slots=True)
class Drawing:
    """Everything that is drawn."""

    diagram: Diagram
    heads: Sequence[Head]
    groups: Sequence[TurnGroup]
    width: int
    #: Height below the boxes of the lanes.
    height: int

    @property
    def lane_left(self) -> int:
        """Return the left edge of notes."""
        return TIMES

    @property
    def lane_width(self) -> int:
        """Return the width of notes."""
        return self.width - TIMES - 8

    @property
    def middle(self) -> int:
        """Return the center of notes."""
        return self.lane_left + self.lane_width // 2

    @property
    def total_height(self) -> int:
        """Return the height of a file: boxes and rows."""
        return self.height + HEAD_HEIGHT


def drawing_of(diagram: Diagram) -> Drawing:
    """Return the drawing of a diagram."""
    heads = list(_heads(diagram.lanes))
    width = heads[-1].x + MARGIN if heads else TIMES
    places = {head.lane.key: head.x for head in heads}
    groups: list[TurnGroup] = []
    y = 0
    for turn in diagram.turns:
        label = fit(f"Turn {turn.number}: {turn.label}", width - TIMES - 90, LABEL_SIZE)
        rows = list(_rows(diagram, turn.items, places, y + TURN))
        end = rows[-1].y + _height(turn.items[-1]) if rows else y + TURN
        groups.append(TurnGroup(turn, y, end - y + BELOW // 2, label, rows))
        y = end + BELOW
    return Drawing(diagram, heads, groups, width, y)


def _heads(lanes: Sequence[Lane]) -> Iterator[Head]:
    x = TIMES + MARGIN
    for number, lane in enumerate(lanes):
        if number:
            x += _DISTANCES.get(lane.kind, 0)
        inner = BOX_WIDTH - 12
        yield Head(
            lane,
            x,
            x - BOX_WIDTH // 2,
            fit(lane.name, inner, LABEL_SIZE),
            fit(lane.detail, inner, SMALL_SIZE - 1),
        )


def _height(item: Item) -> int:
    if isinstance(item, Note):
        return NOTE
    return TALL if item.detail else SHORT


def _rows(
    diagram: Diagram, items: Sequence[Item], places: Mapping[str, int], y: int
) -> Iterator[MessageRow | NoteRow]:
    width = max(places.values(), default=0) - TIMES
    for item in items:
        if isinstance(item, Note):
            yield NoteRow(item, y, fit(item.text, width, SMALL_SIZE))
        else:
            yield _message_row(diagram, item, places, y)
        y += _height(item)


def _message_row(
    diagram: Diagram, message: Message, places: Mapping[str, int], y: int
) -> MessageRow:
    start, end = places[message.sender], places[message.receiver]
    height = _height(message)
    space = abs(end - start) - 2 * _PADDING
    sender, receiver = diagram.lane_name(message.sender), diagram.lane_name(message.receiver)
    return MessageRow(
        message,
        f"{sender} to {receiver}: {message.text}",
        y,
        height,
        y + height - 9,
        start,
        end,
        (start + end) // 2,
        fit(message.label, space, LABEL_SIZE),
        fit(message.detail, space, SMALL_SIZE),
    )
