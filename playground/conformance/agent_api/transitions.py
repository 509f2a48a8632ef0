"""Which status may follow which: the table of section "Status Transitions"."""

from __future__ import annotations

from collections.abc import Mapping

from playground.protocols.agent_api.vocabulary import FINAL_STATUSES

_ENDS = FINAL_STATUSES
#: Of statuses that are not final. A status that is told again says nothing new; of `created`
#: that is left out, because an object is created once.
FOLLOWING: Mapping[str, frozenset[str]] = {
    "queued": _ENDS | {"queued", "created", "in_progress", "unknown"},
    "created": _ENDS | {"queued", "in_progress", "unknown"},
    "in_progress": _ENDS | {"in_progress", "unknown"},
}


def is_final(status: str) -> bool:
    """Whether nothing more comes after this status."""
    return status in FINAL_STATUSES


def allowed(before: str, after: str) -> bool:
    """Whether `after` may follow `before`; of words that the table lacks nothing is known."""
    if is_final(before):
        return False
    return before not in FOLLOWING or after in FOLLOWING[before] or not _listed(after)


def _listed(status: str) -> bool:
    return status in FOLLOWING or is_final(status)
