"""Outgoing HTTP: outbound policy, limits, recording, redaction.

The only package that imports httpx, httpcore and httpx_sse. The engine imports it, and forms
use `check_url`; nothing in `protocols`, `conformance` or `consumers` does.
"""

import logging

from playground.transport.connection_pool import ConnectionPool
from playground.transport.policy import OutboundPolicy, check_url
from playground.transport.transport import Transport

__all__ = [
    "ConnectionPool",
    "OutboundPolicy",
    "Transport",
    "check_url",
]

# At level DEBUG httpcore logs response heads verbatim, which may contain secrets. The frames have
# the same data, redacted.
for _name in ("connection", "http11", "http2", "proxy", "socks"):
    logging.getLogger(f"httpcore.{_name}").disabled = True
