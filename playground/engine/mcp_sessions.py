"""MCP sessions of conversations: found before a run, stored after it, and ended.

A session is ended when its conversation is deleted, when it has been idle, or when the command that
used it ends. Whether the server knows it any longer, or lets clients end sessions, does not matter.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from playground.base.executors import UNAVAILABLE, run_in_writer
from playground.base.jobs import PeriodicJob
from playground.engine.calls import collect_frames, narrow_transport
from playground.models import Conversation, McpSession, Run
from playground.models.conversations import MAX_VERSION, key_of
from playground.protocols import mcp
from playground.protocols.exchange import Target
from playground.variables.names import names_in

logger = logging.getLogger(__name__)

#: Time without a run after which a session is ended.
IDLE = timedelta(minutes=30)
#: Seconds between two searches for sessions to end, and sessions that are ended at once.
EVERY, MAX_PER_ROUND = 60.0, 100
#: Limits of the call that ends a session.
_ENDING = {"max_bytes": 64 * 1024, "connect_timeout": 5.0, "total_timeout": 5.0}


def find_session(run: Run, target: Target) -> tuple[str, str]:
    """Return version and id of the session of a run's conversation, both "" without one."""
    found = McpSession.objects.filter(conversation=run.conversation_id, key=key_of(target)).first()
    return (found.version, found.session_id) if found else ("", "")


def store_session(run: Run, target: Target, session: tuple[str, str]) -> None:
    """Store the session that a run has used, for the other runs of its conversation."""
    # None if it was deleted meanwhile.
    conversation = Conversation.objects.filter(pk__in=[run.conversation_id]).first()
    version, session_id = session
    key = key_of(target)
    for known in McpSession.objects.filter(conversation=conversation, key=key):
        if known.session_id == session_id:
            McpSession.objects.filter(pk=known.pk).update(used_at=Now())
            return
    # The value of a secret is not stored.
    McpSession.objects.create(
        conversation=conversation,
        url=run.url,
        key=key,
        version=version[:MAX_VERSION],
        session_id=session_id,
        headers=[] if run.has_secrets else [list(pair) for pair in target.headers],
        used_at=Now(),
    )


async def end_sessions_of(conversations: Collection[UUID | None]) -> None:
    """End all sessions of these conversations: the command that used them ends.

    Sessions that another process still uses are left, and so is everything if the database is
    unavailable: they end when they are idle.
    """
    rows = McpSession.objects.filter(_is_unused(), conversation__in=conversations)
    try:
        while await _end(rows):
            pass
    except UNAVAILABLE:
        logger.exception("Ending MCP sessions failed")


async def end_unused_sessions() -> None:
    """End the sessions that are idle, and those of deleted conversations."""
    is_idle = Q(used_at__lt=Now() - IDLE) & _is_unused()
    await _end(McpSession.objects.filter(Q(conversation=None) | is_idle))


def _is_unused() -> Q:
    in_progress = Run.objects.unfinished().filter(conversation=OuterRef("conversation"))
    return Q(~Exists(in_progress))


async def _end(rows: QuerySet[McpSession]) -> bool:
    """End the first of these sessions; return whether there may be more."""
    sessions = await run_in_writer(_take, rows)
    await asyncio.gather(*map(_end_session, sessions))
    return len(sessions) == MAX_PER_ROUND


def _take(rows: QuerySet[McpSession]) -> Sequence[McpSession]:
    """Delete rows, and return those that no other process deletes."""
    with transaction.atomic():
        free = rows.select_for_update(skip_locked=True).order_by("used_at")
        found = list(free[:MAX_PER_ROUND])
        McpSession.objects.filter(pk__in=[row.pk for row in found]).delete()
    return found


async def _end_session(session: McpSession) -> None:
    if names_in(session.url) or not session.session_id:
        return  # Part of the URL is a secret, or the key of the database has changed.
    headers = tuple((str(name), str(value)) for name, value in session.headers)
    call = mcp.end_session(
        Target(session.url, headers=headers), session.version, session.session_id
    )
    await collect_frames(call, narrow_transport(_ENDING))


#: Looks for sessions to end.
session_cleanup = PeriodicJob("mcp-sessions", EVERY, end_unused_sessions)
