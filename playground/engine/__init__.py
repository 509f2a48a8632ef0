"""Starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands. `create_run`, `send` and `cancel` are what they need.
"""

from playground.engine.composing import Composition, Scope
from playground.engine.drafts import ActionDraft, Draft, Headers
from playground.engine.launch import Link, create_run
from playground.engine.peeking import peek
from playground.engine.preparing import Prepared, prepare
from playground.engine.repeating import repeated
from playground.engine.secrets import WithheldError
from playground.engine.tasks import cancel, send, start, stop, stop_all
from playground.engine.tracking import (
    cancel_promise,
    check_now,
    follow,
    follow_to_end,
    stop_following,
    supervise,
)
from playground.engine.ways import address_of, draft_like, draft_over, kept_headers

__all__ = [
    "ActionDraft",
    "Composition",
    "Draft",
    "Headers",
    "Link",
    "Prepared",
    "Scope",
    "WithheldError",
    "address_of",
    "cancel",
    "cancel_promise",
    "check_now",
    "create_run",
    "draft_like",
    "draft_over",
    "follow",
    "follow_to_end",
    "kept_headers",
    "peek",
    "prepare",
    "repeated",
    "send",
    "start",
    "stop",
    "stop_all",
    "stop_following",
    "supervise",
]
