"""Everything that goes out to the network: policy, limits, recorder.

The only package that imports httpx, httpcore and httpx_sse. The engine imports it, and forms
use `check_url`; nothing in `protocols`, `conformance` or `consumers` does.

==============  ================================================================
`transport`     `Transport.send`: one call in, its frames out
`backend`       resolve once, ask the policy, connect; a tap on the bytes read
`policy`        which addresses may be called, which URLs are accepted
`networks`      the special networks as a table
`recorder`      chunks of a body to frames, within the limits
`decoding`      gzip and deflate with bounded output
`redaction`     secrets out of every frame
`explain`       every failure as a problem: stage, cause, fix
`reference`     what a standard client makes of the same bytes
==============  ================================================================
"""

import logging

from playground.transport.policy import OutboundPolicy, PolicyDenial, check_url
from playground.transport.sse_reference import NotAStreamError, standard_client
from playground.transport.transport import Transport

__all__ = [
    "NotAStreamError",
    "OutboundPolicy",
    "PolicyDenial",
    "Transport",
    "check_url",
    "standard_client",
]

# At the level of debugging httpcore logs the heads of replies as they came, and what an agent
# sends back may be a secret. Whoever wants to see the wire has the frames.
for _name in ("connection", "http11", "http2", "proxy", "socks"):
    logging.getLogger(f"httpcore.{_name}").disabled = True
