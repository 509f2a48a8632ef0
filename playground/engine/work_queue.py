"""Queue of runs and collection runs for workers, with their encrypted requests and plans.

`enqueue` stores it, `take` hands it to the worker that drives it, `withdraw` removes it. All
three use the database, and take and withdraw exclude each other: work is driven once at most.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from datetime import timedelta
from typing import Any, TypeVar
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Min
from django.db.models.functions import Now
from django.utils import timezone

from playground import __version__
from playground.base.executors import write_until_stored, write_when_available
from playground.base.processes import this_process
from playground.engine.request import PreparedRequest, request_of_run
from playground.engine.runs import check_accepting_runs
from playground.models import CollectionRun, QueuedWork, Run, RunState
from playground.models.collection_runs import STOPPED_REASON, end_unfinished
from playground.models.driving import database_now, driver_columns
from playground.notifications import notify_viewers
from playground.protocols.exchange import Target
from playground.protocols.problems import Problem, Stage

#: The format of the payloads. A worker of another version may not know a later one.
FORMAT = 1

R = TypeVar("R", Run, CollectionRun)
T = TypeVar("T")

#: Most keys that one search returns.
MAX_WAITING = 500

#: The relation of `QueuedWork`, and what to load with a record: viewers of a child run are
#: notified of its parents.
_RELATIONS: dict[type, str] = {Run: "run", CollectionRun: "collection_run"}
_RELATED: dict[type, tuple[str, ...]] = {
    Run: ("agent", "owner", "conversation", "parent__parent__parent"),
    CollectionRun: ("owner", "collection"),
}


class UnreadableWorkError(Exception):
    """The payload cannot be read by this worker; the arguments are the cause and the fix."""


def payload_of(prepared: PreparedRequest) -> dict[str, Any]:
    """Return what a driver needs of a request as JSON, with the values of secrets."""
    return {
        "target": asdict(prepared.target),
        "document": prepared.document,
        "redact": prepared.redact,
        "headers": [list(pair) for pair in prepared.headers],
    }


def _from_payload(run: Run, value: Mapping[str, Any]) -> PreparedRequest:
    """Return the request of the JSON that `payload_of` has returned.

    Raises `KeyError`, `TypeError` or `ValueError` for any other JSON.
    """
    known = {each.name for each in fields(Target)}
    target = {name: given for name, given in dict(value["target"]).items() if name in known}
    target["headers"] = tuple((name, given) for name, given in target["headers"])
    for name in ("tools", "session"):
        target[name] = tuple(target[name])
    prepared = request_of_run(run, Target(**target), value["document"], value["redact"])
    prepared.headers = [(str(name), str(given)) for name, given in value["headers"]]
    return prepared


def enqueue(record: Run | CollectionRun, payload: Mapping[str, Any]) -> None:
    """Let a recorded run wait for a worker, with its payload: JSON that may hold secrets.

    Does nothing for a run that this process does not drive, such as the second time.
    """
    model = type(record)
    recorded = model.objects.unfinished().filter(pk=record.pk, driver=this_process())
    work = QueuedWork(
        **{_RELATIONS[model]: record},
        payload={"format": FORMAT, **payload},
        version=__version__,
        queued_at=Now(),
    )
    with transaction.atomic():
        if recorded.update(driver="", heartbeat_at=None):
            work.save()
    record.driver, record.heartbeat_at = "", None


def take(model: type[R], key: str) -> tuple[R, QueuedWork] | None:
    """Make this process the driver of a run that waits; return it with its work.

    None if the run has been taken, stopped or deleted.
    """
    with transaction.atomic():
        work = _remove(model, key)
        if work is None:
            return None
        unfinished = model.objects.unfinished().filter(pk=key)
        if not unfinished.update(**driver_columns()):
            return None
        # Read by its key, for the type checker: both models have these columns.
        return model.objects.select_related(*_RELATED[model]).get(pk=key), work


async def take_readable(
    model: type[R],
    key: str,
    read: Callable[[R, QueuedWork], T],
    fail: Callable[[R, UnreadableWorkError], None],
) -> tuple[R, T] | None:
    """Make this process the driver of a run that waits; return it with what `read` returns.

    None if the run has been taken, stopped or deleted, or if `read` has raised
    `UnreadableWorkError`: then `fail` ends the run. Raises `ShuttingDownError` if this process
    shuts down: another one takes it. Both functions use the database, in a thread.
    """
    check_accepting_runs()
    taken = await write_when_available(take, model, key)
    if taken is None:
        return None
    run, work = taken
    try:
        return run, await write_when_available(read, run, work)
    except UnreadableWorkError as error:
        await write_until_stored(fail, run, error)
        await notify_viewers(run)
        return None


def withdraw(record: Run | CollectionRun) -> bool:
    """End a run as stopped that waits for a worker; return False if it does not wait."""
    with transaction.atomic():
        if _remove(type(record), str(record.pk)) is None:
            return False
        if isinstance(record, Run):
            unfinished = Run.objects.unfinished().filter(pk=record.pk)
            unfinished.update(state=RunState.CANCELLED)
        else:
            columns = {"state": CollectionRun.State.STOPPED, "ended_at": timezone.now()}
            end_unfinished(record.pk, STOPPED_REASON, **columns)
    return True


def _remove(model: type[Run] | type[CollectionRun], key: str) -> QueuedWork | None:
    try:
        waiting = QueuedWork.objects.filter(**{f"{_RELATIONS[model]}_id": UUID(key)})
    except (ValueError, ValidationError):
        return None  # Not one of our jobs.
    # Of two transactions the second one finds no row, and does not wait: the process of the first
    # one may be suspended.
    work = waiting.select_for_update(skip_locked=True).first()
    if work is not None:
        waiting.delete()
    return work


def read_payload(work: QueuedWork) -> dict[str, Any]:
    """Return the payload. Raises `UnreadableWorkError` if this worker cannot read it."""
    payload = work.payload
    if not payload:
        raise UnreadableWorkError(
            "The worker cannot decrypt the request.",
            "Set the same PLAYGROUND_KEY for all web processes and workers.",
        )
    if payload.get("format") != FORMAT:
        raise UnreadableWorkError(*_other_version(work))
    return dict(payload)


def read_request(run: Run, work: QueuedWork) -> PreparedRequest:
    """Return the request of a run. Raises `UnreadableWorkError` if this worker cannot read it."""
    payload = read_payload(work)
    try:
        return _from_payload(run, payload)
    except (KeyError, TypeError, ValueError) as error:
        raise UnreadableWorkError(*_other_version(work)) from error


def _other_version(work: QueuedWork) -> tuple[str, str]:
    return (
        f"The worker has version {__version__} of the playground and cannot read a request"
        f" that was queued by version {work.version}.",
        "Install the same version for all web processes and workers.",
    )


def fail_unreadable(run: Run, error: UnreadableWorkError) -> None:
    cause, fix = error.args
    problem = Problem(RunState.FAILED, Stage.INTERNAL, cause, fix).to_json()
    Run.objects.unfinished().filter(pk=run.pk).update(state=RunState.FAILED, problem=problem)


def waiting_since(model: type[Run] | type[CollectionRun], age: timedelta) -> list[UUID]:
    """Return the keys of runs that have waited for at least `age`, the oldest first."""
    relation = f"{_RELATIONS[model]}_id"
    waiting = QueuedWork.objects.filter(queued_at__lt=Now() - age).exclude(**{relation: None})
    return list(waiting.order_by("queued_at").values_list(relation, flat=True)[:MAX_WAITING])


def waiting_work() -> tuple[int, float]:
    """Return the number of runs that wait for a worker, and the seconds of the first one."""
    found = QueuedWork.objects.aggregate(count=Count("pk"), first=Min("queued_at"))
    if found["first"] is None:
        return 0, 0.0
    return found["count"], max(0.0, (database_now() - found["first"]).total_seconds())
