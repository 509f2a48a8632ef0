"""Which status may follow on which: three small machines in one table.

A response, a message and a content each go through the statuses of section "Status
Transitions" on their own. The specification describes the states and leaves the arrows to the
reader; they follow from what it says of each:

- every one of them begins as `created`, except that a message may open with `in_progress`
  (its own example of a stream does that to contents, and running agents to messages);
- work is `in_progress` any number of times, for every piece that comes is one more;
- what was `completed`, `failed`, `rejected` or `canceled` has ended, and stays as it is. A
  thing may be said to have ended twice, which changes nothing;
- nothing can be rejected once work on it has begun: `rejected` is the system's answer to the
  request, `canceled` the user's word and `failed` an accident, and these come at any time;
- `unknown` is an admission that the status got lost, so anything may come before and after it.

`queued` and `incomplete` are what running agents add: waiting before the work, and an end
that came too soon. A status is never wrong for a value that is not in the table: that is a
matter of another rule. None stands for "not seen before".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ENDS = frozenset({"completed", "canceled", "failed", "incomplete"})
_ANY = frozenset(
    {
        *("created", "queued", "in_progress", "completed", "canceled", "failed"),
        *("rejected", "incomplete", "unknown"),
    }
)

_BEFORE_WORK = frozenset({"queued", "in_progress", "rejected", "unknown"}) | _ENDS
#: What holds for all three once they have begun.
_COMMON: Mapping[str | None, frozenset[str]] = {
    "created": _BEFORE_WORK,
    "queued": _BEFORE_WORK,
    "in_progress": frozenset({"in_progress", "unknown"}) | _ENDS,
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
        # A reply that is a document is the response as it ended: its first status is its last.
        "response": {None: _ANY - {"in_progress"}, **_COMMON},
        "message": {None: _ANY, **_COMMON},
        # A content that comes whole is completed at once; it is never queued or refused.
        "content": {None: _ANY - {"queued", "rejected"}, **_COMMON},
    }
)


def is_allowed(name: str, before: str | None, after: str) -> bool:
    """Whether an object of this name may go from one status to the other.

    `before` is None for one that was not seen before. True where the table knows nothing of
    a status: only what is known to be wrong is wrong.
    """
    table = TRANSITIONS.get(name, {})
    if before not in table or after not in _ANY:
        return True
    return after in table[before]
