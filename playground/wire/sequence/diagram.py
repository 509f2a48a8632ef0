"""Model of a sequence diagram: lanes, and the messages and notes of each turn in order.

Frozen and without a renderer's concerns: every text is one line already, and complete.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from playground.models import Run
from playground.protocols.text import shorten
from playground.ui.formatting import milliseconds

#: Controls and separators of lines and paragraphs.
_SPACES = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029]+")
#: Characters that change the direction of the text around them.
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
#: Code points that no XML file may contain.
_INVALID = re.compile("[\ud800-\udfff\ufffe\uffff]")


def one_line(text: str, limit: int) -> str:
    """Return the beginning of a text as one line, at most `limit` characters.

    Control characters become spaces, marks of text direction are removed.
    """
    # Of a text of a megabyte only the beginning is read.
    line = _BIDI.sub("", _SPACES.sub(" ", text[: 4 * limit + 100]))
    line = _INVALID.sub("\ufffd", line).strip()
    # What was not read counts as well.
    return shorten(line + "…" if len(text) > 4 * limit + 100 else line, limit)


class LaneKind(enum.StrEnum):
    """Who a lane is."""

    USER = "user"
    PLAYGROUND = "playground"
    AGENT = "agent"
    #: The server or agent of an action.
    SERVER = "server"


@dataclass(frozen=True, slots=True)
class Lane:
    """One participant."""

    #: An identifier of ASCII letters and digits, unique in its diagram.
    key: str
    kind: LaneKind
    name: str
    #: Protocol and binding; "" for none.
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """An arrow from one lane to another."""

    run: Run
    #: Keys of lanes.
    sender: str
    receiver: str
    label: str
    detail: str = ""
    #: Event kind or frame kind, which chooses the colour; "user" for an action of the user.
    kind: str = ""
    #: Whether it is a response, and not a request.
    is_response: bool = False
    #: Whether it did not arrive, or not completely.
    is_lost: bool = False
    #: Time since the start of its turn, in µs; None if it is unknown.
    at_us: int | None = None
    #: The end of several messages, in the same unit; None for a single one.
    until_us: int | None = None
    #: Number of its first frame in its run; None for a message without frames.
    seq: int | None = None
    #: Name of its explanation: protocol, version, schema and JSON Pointer.
    explain: str = ""

    @property
    def at(self) -> str:
        """Return the time since the start of its turn as text, "" if it is unknown."""
        return "" if self.at_us is None else milliseconds(self.at_us / 1000)

    @property
    def text(self) -> str:
        """Return label and detail in one line."""
        return f"{self.label}: {self.detail}" if self.detail else self.label


@dataclass(frozen=True, slots=True)
class Note:
    """A remark over all lanes."""

    text: str
    #: `gap` for time without data, `progress` for a run in progress, `note` for anything else.
    kind: str = "note"
    at_us: int | None = None


Item = Message | Note


@dataclass(frozen=True, slots=True)
class DiagramTurn:
    """A turn with everything that happened in it, its child runs included."""

    #: From 1, in its branch.
    number: int
    run: Run
    label: str
    #: Whether it is the turn that the page shows.
    is_chosen: bool
    items: Sequence[Item]


@dataclass(frozen=True, slots=True)
class Diagram:
    """A window on the turns of a conversation."""

    lanes: Sequence[Lane]
    turns: Sequence[DiagramTurn]
    #: Turns of the branch, and the number of the first one that can be read.
    total: int
    first: int = 1

    @property
    def earlier(self) -> int:
        """Return the number of turns before the window."""
        return self.turns[0].number - 1 if self.turns else 0

    @property
    def later(self) -> int:
        """Return the number of turns after the window."""
        return self.total - self.turns[-1].number if self.turns else 0

    @property
    def until_earlier(self) -> int:
        """Return the number of the last turn of the window before, 0 if there is none."""
        return self.earlier if self.turns and self.turns[0].number > self.first else 0

    @property
    def until_later(self) -> int:
        """Return the number of the last turn of the window after, 0 if there is none."""
        return min(self.total, self.until + len(self.turns)) if self.later else 0

    @property
    def until(self) -> int:
        """Return the number of the last turn of the window."""
        return self.turns[-1].number if self.turns else 0

    @property
    def messages(self) -> int:
        return sum(isinstance(item, Message) for turn in self.turns for item in turn.items)

    def lane_name(self, key: str) -> str:
        return next(lane.name for lane in self.lanes if lane.key == key)
