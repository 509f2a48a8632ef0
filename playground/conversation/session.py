"""Session history: session context sent and received by each turn, with the differences.

`changes` is pure and total: any two JSON values can be compared, nested ones member by member,
and a huge difference is cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from playground.models.conversations import Turn, branch_queries
from playground.protocols.diff import json_values
from playground.protocols.diff.json_values import MISSING, Values
from playground.protocols.nlweb.requests import previous_queries
from playground.ui.formatting import pretty, value_text

#: Differences of a turn that are shown.
MAX_CHANGES = 100
#: Levels that are compared member by member; deeper values are compared as a whole.
MAX_DEPTH = 12
#: Characters of a value in a difference.
MAX_VALUE = 160


@dataclass(frozen=True, slots=True)
class Change:
    """A member that differs."""

    #: `added`, `changed` or `dropped`.
    kind: str
    #: JSON pointer (RFC 6901) of the member.
    pointer: str
    #: Values as text; "" if there was none, or is none now.
    before: str = ""
    after: str = ""

    @property
    def sign(self) -> str:
        return {"added": "+", "dropped": "−"}.get(self.kind, "±")


def changes(before: Any, after: Any) -> list[Change]:
    """Return the differences between two JSON values, in order, at most `MAX_CHANGES`."""
    found = Values(by_place=True, levels=MAX_DEPTH).changes(before, after)
    return [change_of(each) for each in islice(found, MAX_CHANGES)]


def change_of(found: json_values.ValueChange) -> Change:
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
    """The session context of one turn."""

    turn: Turn

    @property
    def sent(self) -> str:
        """Return the session context of the request, as JSON; "" for none."""
        return _json(self.turn.sent_session_context)

    @property
    def returned(self) -> str:
        """Return the latest session context that the agent returned, as JSON; "" for none."""
        return _json(self.turn.returned_session_context)

    @property
    def changes(self) -> list[Change]:
        """Return the differences between session context sent and returned, empty if none was."""
        turn = self.turn
        if turn.returned_session_context is None:
            return []
        return changes(
            turn.sent_session_context if isinstance(turn.sent_session_context, Mapping) else {},
            turn.returned_session_context,
        )

    @property
    def is_cut(self) -> bool:
        """Return whether differences may be left out."""
        return len(self.changes) == MAX_CHANGES


@dataclass(frozen=True, slots=True)
class SessionHistory:
    """The session context of the turns of a branch, and of the request after the last of them."""

    turns: Sequence[Turn]

    @property
    def session_turns(self) -> list[SessionTurn]:
        """Return the turns of the branch, oldest first."""
        return [SessionTurn(turn) for turn in self.turns]

    @property
    def is_empty(self) -> bool:
        """Return whether no session context was sent, returned or overridden."""
        return self.mode == "nothing" and all(
            t.sent_session_context is None and not t.returned_session_context for t in self.turns
        )

    @property
    def queries(self) -> list[str]:
        """Return the previous queries of the next request (`context.prev`, NLWeb 3.2)."""
        return previous_queries(branch_queries(self.turns))

    @property
    def mode(self) -> str:
        """Return where the session context of the next request is from, see `Turn.session_mode`."""
        return self.turns[-1].session_mode

    @property
    def next_session_context(self) -> str:
        """Return the session context of the next request, as JSON; "" for none."""
        return _json(self.turns[-1].next_session_context)

    @property
    def next_value(self) -> str:
        """Return the initial text of the editor: the next session context, else the latest one."""
        turn = self.turns[-1]
        return self.next_session_context or _json(turn.returned_session_context) or "{}"


def _json(value: Any) -> str:
    return "" if value is None else pretty(value)
