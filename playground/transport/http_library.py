"""The names of httpx and httpx-sse that the playground uses; no other module imports the two.

httpx2 continues httpx and has the same names: docs/dependencies.md says what a move needs.
"""

from httpx import URL, Headers, InvalidURL, Response, create_ssl_context
from httpx_sse import EventSource, ServerSentEvent, SSEError

__all__ = [
    "URL",
    "EventSource",
    "Headers",
    "InvalidURL",
    "Response",
    "SSEError",
    "ServerSentEvent",
    "create_ssl_context",
]
