"""Trace context: the `traceparent` header (W3C Trace Context), its reader and its writer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from playground.protocols.frames import Frame
from playground.protocols.http import read_head

#: Name of the header (3.2.1).
HEADER = "traceparent"

_SAMPLED = 0x01
#: Version, trace id, parent id, flags, and the rest of a later version (3.2.2).
_VALUE = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII)
#: A version that is not valid (3.2.2.1), and ids that are not (3.2.2.3, 3.2.2.4).
_INVALID_VERSION, _NO_TRACE, _NO_PARENT = "ff", "0" * 32, "0" * 16


@dataclass(frozen=True, slots=True)
class TraceParent:
    """A position in a trace: the trace, and the call or span in it. Ids are hexadecimal."""

    trace_id: str
    parent_id: str
    sampled: bool = True

    def __str__(self) -> str:
        """Return the value of the header, in version 00."""
        return f"00-{self.trace_id}-{self.parent_id}-{_SAMPLED if self.sampled else 0:02x}"


def parse_traceparent(value: str) -> TraceParent | None:
    """Return the position that a header names; None if its value is not valid.

    Of a later version the members of version 00 are read (4.3).
    """
    match = _VALUE.fullmatch(value.strip(" \t"))
    if match is None:
        return None
    version, trace_id, parent_id, flags, rest = match.groups()
    if version == _INVALID_VERSION or (version == "00" and rest):
        return None
    if trace_id == _NO_TRACE or parent_id == _NO_PARENT:
        return None
    return TraceParent(trace_id, parent_id, bool(int(flags, 16) & _SAMPLED))


def has_traceparent(headers: Sequence[tuple[str, str]]) -> bool:
    """Return whether a request has the header already."""
    return any(name.lower() == HEADER for name, _ in headers)


def sent_trace_id(call: Frame) -> str:
    """Return the trace id of the request in a CALL frame; "" if it has none."""
    _, headers = read_head(call.data.partition(b"\r\n\r\n")[0])
    found = parse_traceparent(headers.get(HEADER, ""))
    return found.trace_id if found else ""
