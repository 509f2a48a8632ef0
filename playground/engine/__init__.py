"""Starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands. `create_run`, `send` and `cancel` are what they need.
"""

from playground.engine.launch import Link, create_run
from playground.engine.peeking import peek
from playground.engine.preparation import (
    Composition,
    PreparationResult,
    Scope,
    address_of,
    follow_up_request,
    kept_headers,
    prepare,
    refused,
    repeated,
    request_over_binding,
)
from playground.engine.request import (
    Headers,
    PreparedRequest,
    WithheldError,
    action_request,
    request_to,
)
from playground.engine.tasks import cancel, send, start, stop, stop_all
from playground.engine.tracking import (
    cancel_promise,
    check_now,
    follow,
    follow_to_end,
    stop_following,
    supervise,
)

__all__ = [
    "Composition",
    "Headers",
    "Link",
    "PreparationResult",
    "PreparedRequest",
    "Scope",
    "WithheldError",
    "action_request",
    "address_of",
    "cancel",
    "cancel_promise",
    "check_now",
    "create_run",
    "follow",
    "follow_to_end",
    "follow_up_request",
    "kept_headers",
    "peek",
    "prepare",
    "refused",
    "repeated",
    "request_over_binding",
    "request_to",
    "send",
    "start",
    "stop",
    "stop_all",
    "stop_following",
    "supervise",
]
