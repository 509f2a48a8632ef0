"""Starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands. `create_run`, `send` and `cancel` are what they need.
"""

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
from playground.engine.runs import RunParent, create_run
from playground.engine.tasks import cancel, send, start, stop, stop_all
from playground.engine.tracking import (
    cancel_promise,
    poll_now,
    poll_until_settled,
    resume_polling,
    start_promise_poller,
    stop_polling,
)

__all__ = [
    "Composition",
    "Headers",
    "PreparationResult",
    "PreparedRequest",
    "RunParent",
    "Scope",
    "WithheldError",
    "action_request",
    "address_of",
    "cancel",
    "cancel_promise",
    "create_run",
    "follow_up_request",
    "kept_headers",
    "peek",
    "poll_now",
    "poll_until_settled",
    "prepare",
    "refused",
    "repeated",
    "request_over_binding",
    "request_to",
    "resume_polling",
    "send",
    "start",
    "start_promise_poller",
    "stop",
    "stop_all",
    "stop_polling",
]
