"""Status transitions of responses, messages and contents: three state machines in one table.

Each goes through the statuses of section "Status Transitions" on its own. The specification
describes the states and not the transitions; these follow from its descriptions:

- all begin as `created`, except that a message may begin with `in_progress` (the example of a
  stream in the specification does that to contents, and known agents to messages);
- work is `in_progress` any number of times, once for every piece that is received;
- `completed`, `failed`, `rejected` and `canceled` are final. A final status may be repeated,
  which changes nothing;
- nothing can be rejected once work on it has begun: `rejected` is the system's response to the
  request, `canceled` the user's decision and `failed` an accident, and these occur at any time;
- `unknown` means that the status was lost, so any status may precede and follow it.

`queued` and `incomplete` are additions of known agents: waiting before the work, and an end
that was too early. A value that is not in the table is always allowed: another rule checks it.
None means that there was no status before.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_FINAL = frozenset({"completed", "canceled", "failed", "incomplete"})
_ANY = frozenset(
    {
        *("created", "queued", "in_progress", "completed", "canceled", "failed"),
        *("rejected", "incomplete", "unknown"),
    }
)

_BEFORE_WORK = frozenset({"queued", "in_progress", "rejected", "unknown"}) | _FINAL
#: Transitions of all three once they have begun.
_COMMON: Mapping[str | None, frozenset[str]] = {
    "created": _BEFORE_WORK,
    "queued": _BEFORE_WORK,
    "in_progress": frozenset({"in_progress", "unknown"}) | _FINAL,
    "completed": frozenset({"completed"}),
    "canceled": frozenset({"canceled"}),
    "failed": frozenset({"failed"}),
    "rejected": frozenset({"rejected"}),
    "incomplete": frozenset({"incomplete"}),
    "unknown": _ANY,
}

#: By object and the status before: the statuses that may follow.
TRANSITIONS: Mapping[str, Mapping[str | None, frozenset[str]]] = MappingProxyType(
    {
        # A response that is one document has ended: its first status is its last.
        "response": {None: _ANY - {"in_progress"}, **_COMMON},
        "message": {None: _ANY, **_COMMON},
        # A content that is sent whole is completed at once; it is never queued or rejected.
        "content": {None: _ANY - {"queued", "rejected"}, **_COMMON},
    }
)


def is_allowed(name: str, before: str | None, after: str) -> bool:
    """Return whether an object of this name may change from one status to the other.

    `before` is None for a new object. True if the table does not contain a status: only known
    violations are reported.
    """
    table = TRANSITIONS.get(name, {})
    if before not in table or after not in _ANY:
        return True
    return after in table[before]
