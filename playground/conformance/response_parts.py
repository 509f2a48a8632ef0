"""Names that moved to `rule_input`, `transcript` and `playground.protocols.response`."""

from __future__ import annotations

from playground.conformance.rule_input import MAX_PARTS, Location
from playground.conformance.transcript import RESULTS
from playground.protocols.response import Message as DecodedPayload

__all__ = ["MAX_PARTS", "RESULTS", "DecodedPayload", "Location"]
