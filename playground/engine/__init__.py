"""Starts, drives and cancels runs; the only owner of background tasks.

Imported by views and management commands. `start` and `cancel` are what they need.
"""

from playground.engine.launch import Draft, create_run
from playground.engine.tasks import cancel, run_to_end, start

__all__ = ["Draft", "cancel", "create_run", "run_to_end", "start"]
