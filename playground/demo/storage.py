"""What the agent keeps in the database: promised tasks, and the lists that actions change.

Everyone shares it and nothing in it is anyone's own, so it is bounded: the oldest rows go.
"""

from __future__ import annotations

import json
import re
import secrets
from typing import Any

from asgiref.sync import sync_to_async
from django.db.models import QuerySet

from playground.demo import promises
from playground.demo.failures import FailureError
from playground.demo.models import ListItem, PromisedTask
from playground.demo.promises import PromisedAnswer, PromiseRequest
from playground.demo.requests import AskRequest

#: Tasks, and things on each list, that are kept.
TASKS = 256
ENTRIES = 100
#: Characters of one entry, and of a request that is promised an answer.
_MAX_ENTRY = 20_000
_TOKEN = re.compile(r"[\w-]{1,80}", re.ASCII)


@sync_to_async
def save_task(pledge: PromiseRequest) -> PromisedAnswer:
    """Start a task. Raises `FailureError` TOKEN_LIMIT for a request too large to keep."""
    ask = pledge.ask
    kept = {
        "version": ask.version,
        "text": ask.text,
        "filters": ask.filters,
        "context": ask.context,
        "session": ask.session,
        "answers": ask.answers,
        "response_format": ask.response_format,
        "modes": sorted(ask.modes),
    }
    text = json.dumps(kept)
    if len(text) > _MAX_ENTRY:
        raise FailureError("TOKEN_LIMIT", "That is more than this agent can keep in mind.")
    row = PromisedTask.objects.create(
        token=f"promise_{secrets.token_urlsafe(12)}",
        ask=text,
        script=pledge.plot,
        started=promises.now(),
        seconds=pledge.seconds,
    )
    prune(PromisedTask.objects.all(), TASKS)
    return _task(row)


@sync_to_async
def task(token: str) -> PromisedAnswer:
    """The task of a token. Raises `FailureError`: INVALID_QUERY if there is none."""
    return _task(_pending(token))


@sync_to_async
def cancel(token: str) -> PromisedAnswer:
    """Cancel a task; one that is done stays done. Raises `FailureError`."""
    row = _pending(token)
    if _task(row).progress() < 1:
        row.cancelled = True
        row.save(update_fields=["cancelled"])
    return _task(row)


@sync_to_async
def add(name: str, entry: dict[str, Any]) -> tuple[ListItem, int]:
    """Put something on a list; its row, and how many there are now. Raises `FailureError`."""
    text = json.dumps(entry)
    if len(text) > _MAX_ENTRY:
        raise FailureError("TOKEN_LIMIT", "That is too much to save.")
    row = ListItem.objects.create(list_name=name, entry=text)
    prune(ListItem.objects.filter(list_name=name), ENTRIES)
    return row, ListItem.objects.filter(list_name=name).count()


@sync_to_async
def entries(name: str, words: str = "") -> list[ListItem]:
    """What is on a list, oldest first; only what mentions `words` if there are any."""
    return _mentioning(name, words)


@sync_to_async
def remove(name: str, *, pk: int | None = None, words: str = "") -> int:
    """Take one entry off a list, those that mention `words`, or all; how many went."""
    rows = (
        _mentioning(name, words) if pk is None else ListItem.objects.filter(list_name=name, pk=pk)
    )
    gone, _ = ListItem.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return gone


def _mentioning(name: str, words: str) -> list[ListItem]:
    # In Python: SQLite compares only ASCII without regard to case, and the lists are short.
    wanted = words.lower()
    rows = ListItem.objects.filter(list_name=name).order_by("pk")
    return [row for row in rows if wanted in json.dumps(row.content, ensure_ascii=False).lower()]


def _pending(token: str) -> PromisedTask:
    found = PromisedTask.objects.filter(token=token).first() if _TOKEN.fullmatch(token) else None
    if found is None:
        raise FailureError("INVALID_QUERY", "No task has this promise_token.")
    return found


def _task(row: PromisedTask) -> PromisedAnswer:
    kept = json.loads(row.ask)
    ask = AskRequest(**{**kept, "modes": frozenset(kept["modes"])})
    return PromisedAnswer(row.token, ask, row.script, row.started, row.seconds, row.cancelled)


def prune(rows: QuerySet[Any], kept: int) -> None:
    """Delete all rows but the newest."""
    surplus = rows.order_by("-pk").values_list("pk", flat=True)[kept : kept + 1]
    for newest in surplus:
        rows.filter(pk__lte=newest).delete()
