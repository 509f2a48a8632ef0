"""Trace context: the `traceparent` header (W3C Trace Context) of a request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from playground.protocols.frames import Frame
from playground.protocols.response import read_head

#: Name of the header (3.2.1).
HEADER = "traceparent"

#: Version, trace id, parent id, flags, and the rest of a later version (3.2.2).
_VALUE = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.ASCII)
#: A version that is not valid (3.2.2.1), and ids that are not (3.2.2.3, 3.2.2.4).
_INVALID_VERSION, _NO_TRACE, _NO_PARENT = "ff", "0" * 32, "0" * 16


def trace_id_of(value: str) -> str:
    """Return the trace id in the value of the header; "" if the value is not valid.

    Of a later version the members of version 00 are read (4.3).
    """
    match = _VALUE.fullmatch(value.strip(" \t"))
    if match is None:
        return ""
    version, trace_id, parent_id, rest = match.groups()
    if version == _INVALID_VERSION or (version == "00" and rest):
        return ""
    return "" if trace_id == _NO_TRACE or parent_id == _NO_PARENT else trace_id


def has_traceparent(headers: Sequence[tuple[str, str]]) -> bool:
    return any(name.lower() == HEADER for name, _ in headers)


def sent_trace_id(call: Frame) -> str:
    """Return the trace id of the request in a CALL frame; "" if it has none."""
    _, headers = read_head(call.data.partition(b"\r\n\r\n")[0])
    return trace_id_of(headers.get(HEADER, ""))
