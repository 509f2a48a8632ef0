"""The session ledger: what each turn sent and got back as session context, and the difference.

`changes` is pure and total: any two JSON values have a difference, nested ones member by
member, and a huge one is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.protocols import json_diff
from playground.protocols.json_diff import MISSING, Values
from playground.rendering.branches import ConversationBranch, TurnRow
from playground.rendering.pretty import pretty
from playground.rendering.words import value_text

#: Differences of one turn that are shown.
MAX_CHANGES = 100
#: Below this many levels a value is compared as a whole.
MAX_DEPTH = 12
#: Characters of a value in a difference.
MAX_VALUE = 160


@dataclass(frozen=True, slots=True)
class Change:
    """One member that is not as it was."""

    #: `added`, `changed` or `dropped`.
    kind: str
    #: JSON pointer (RFC 6901) of the member.
    pointer: str
    #: In words; "" where there was nothing, or is nothing any more.
    before: str = ""
    after: str = ""

    @property
    def sign(self) -> str:
        """The sign that stands for the kind."""
        return {"added": "+", "dropped": "−"}.get(self.kind, "±")


def changes(before: Any, after: Any) -> list[Change]:
    """What differs between two JSON values, in their order. At most `MAX_CHANGES`."""
    found = Values(by_place=True, levels=MAX_DEPTH).changes(before, after)
    return [_change(each) for each in islice(found, MAX_CHANGES)]


def _change(found: json_diff.Change) -> Change:
    if found.left is MISSING:
        return Change("added", found.pointer, after=_shown(found.right))
    if found.right is MISSING:
        return Change("dropped", found.pointer, before=_shown(found.left))
    return Change("changed", found.pointer, _shown(found.left), _shown(found.right))


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return f"“{value_text(value, MAX_VALUE)}”"
    return value_text(value, MAX_VALUE) or ("[]" if isinstance(value, list) else "{}")


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """One turn in the ledger."""

    row: TurnRow

    @property
    def sent(self) -> str:
        """The session context that the request carried, as JSON; "" for none."""
        return _json(self.row.turn.sent_session_context)

    @property
    def returned(self) -> str:
        """The latest that the agent returned, as JSON; "" for none."""
        return _json(self.row.turn.returned_session_context)

    @property
    def changes(self) -> list[Change]:
        """What the agent made of what was sent; nothing where it returned nothing."""
        turn = self.row.turn
        if turn.returned_session_context is None:
            return []
        return changes(
            turn.sent_session_context if isinstance(turn.sent_session_context, Mapping) else {},
            turn.returned_session_context,
        )

    @property
    def is_cut(self) -> bool:
        """Whether there are more differences than are shown."""
        return len(self.changes) == MAX_CHANGES


@dataclass(frozen=True, slots=True)
class SessionHistory:
    """The whole branch, and what follows."""

    branch: ConversationBranch

    @property
    def lines(self) -> list[SessionTurn]:
        """A line for each turn, oldest first."""
        return [SessionTurn(row) for row in self.branch.rows]

    @property
    def is_empty(self) -> bool:
        """Whether no session context was ever sent, returned or written."""
        turns = [row.turn for row in self.branch.rows]
        return self.mode == "nothing" and all(
            t.sent_session_context is None and not t.returned_session_context for t in turns
        )

    @property
    def mode(self) -> str:
        """Why the next request carries what it does, see `Turn.mode`."""
        return self.branch.current.turn.session_mode

    @property
    def next_session_context(self) -> str:
        """What the next request carries, as JSON; "" for nothing."""
        return _json(self.branch.current.turn.next_session_context)

    @property
    def next_value(self) -> str:
        """What the editor begins with: what is carried, or else the latest that there was."""
        turn = self.branch.current.turn
        return self.next_session_context or _json(turn.returned_session_context) or "{}"


def _json(value: Any) -> str:
    return "" if value is None else pretty(value)
