"""Outgoing HTTP: outbound policy, limits, recording, redaction.

The only package that imports httpx, httpcore and httpx_sse. The engine imports it, and forms
use `check_url`; nothing in `protocols`, `conformance` or `consumers` does.

=================  ==============================================================
`transport`        `Transport.send`: one HTTP call as frames
`http1`            request and response heads as HTTP/1.1 writes them
`http_library`     names of httpx and httpx-sse, which no other module imports
`backend`          connections: one DNS lookup, the policy, TLS, reuse, a tap on the reads
`connection_pool`  connections kept between the requests of one collection run
`policy`           outbound policy: permitted addresses and valid URLs
`networks`         special-purpose networks as a table
`recorder`         recorder: chunks of a body as frames, within the limits
`decoding`         content codings gzip and deflate, with bounded output
`redaction`        redaction of secrets and credentials in frames
`deltas`           redaction of secrets divided among events of a stream
`encodings`        encodings of text within text, decoded with their positions
`errors`           failures of a call as problems: stage, cause, fix
`frame_queue`      bounded queue of frames between the network and the database
`sse_reference`    events that a standard SSE client reads from a stream
=================  ==============================================================
"""

import logging

from playground.transport.connection_pool import ConnectionPool
from playground.transport.policy import OutboundPolicy, PolicyDenial, check_url
from playground.transport.sse_reference import NotAStreamError, standard_client
from playground.transport.transport import Transport

__all__ = [
    "ConnectionPool",
    "NotAStreamError",
    "OutboundPolicy",
    "PolicyDenial",
    "Transport",
    "check_url",
    "standard_client",
]

# At level DEBUG httpcore logs response heads verbatim, which may contain secrets. The frames have
# the same data, redacted.
for _name in ("connection", "http11", "http2", "proxy", "socks"):
    logging.getLogger(f"httpcore.{_name}").disabled = True
