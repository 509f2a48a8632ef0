"""Starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands. `create_run`, `start` and `cancel` are what they need.
"""

from playground.engine.launch import ActionDraft, Draft, Link, create_run
from playground.engine.tasks import cancel, start, stop

__all__ = ["ActionDraft", "Draft", "Link", "cancel", "create_run", "start", "stop"]
