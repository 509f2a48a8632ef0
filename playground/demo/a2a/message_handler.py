"""A message comes in: an answer, or a task that begins or goes on, and its events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

from django.http import HttpRequest

from playground.demo import items, responses, service
from playground.demo.a2a import skills, tasks
from playground.demo.a2a.skills import InputRequired, TaskRejected
from playground.demo.a2a.tasks import Task, TaskMessage
from playground.demo.a2a.versions import (
    TASK_NOT_FOUND,
    UNSUPPORTED,
    DirectAnswer,
    Incoming,
    ServedVersion,
    message_text,
)
from playground.demo.failures import FailureError
from playground.demo.http import PAUSE
from playground.demo.responses import Document
from playground.demo.rpc import RpcError

#: Seconds for each step of work, at pace 1.
_STEP = 6 * PAUSE


async def receive(request: HttpRequest, message: Incoming, pace: float) -> DirectAnswer | Task:
    """What comes of a message: an answer at once, or a task in its next state, kept.

    Raises `RpcError`.
    """
    if message.task:
        task = await _continued(message)
    else:
        text = message_text(message.parts)
        skill = skills.choose(message.skill, text)
        context = message.context or str(uuid4())
        if skill == "ask":
            return DirectAnswer(await _answered(request, text), context)
        task = Task(str(uuid4()), context, skill, [message.parts])
    plan = skills.plan(task.skill, await service.known(), task.request_text)
    if isinstance(plan, InputRequired):
        task = task.moved("input-required", plan.question)
    elif isinstance(plan, TaskRejected):
        task = task.moved("rejected", plan.message)
    else:
        seconds = _STEP * pace * (len(plan.pieces) + 1)
        task = task.moved("working", plan.message, replace(plan, seconds=seconds))
    await tasks.save(task)
    return task


async def finish(task: Task) -> Task:
    """The task when its work is done, which is waited for. One that stands still is as it is."""
    if task.state != "working" or task.work is None:
        return task
    await asyncio.sleep(max(0.0, task.since + task.work.seconds - tasks.now()))
    # It may have been cancelled meanwhile, from elsewhere.
    found = await tasks.find(task.id)
    done = found.ended() if found and found.state == "working" else found or task.ended()
    await tasks.save(done)
    return done


async def events(dialect: ServedVersion, task: Task, *, new: bool) -> AsyncIterator[Document]:
    """A task as it goes on: begun, worked on, pieces of what is made, and where it comes to."""
    if new:
        yield dialect.sent(replace(task, state="submitted", message="", work=None))
    yield dialect.moved(task)
    if task.state != "working" or task.work is None:
        return
    work = task.work
    step = work.seconds / (len(work.pieces) + 1)
    for number, piece in enumerate(work.pieces, 1):
        await asyncio.sleep(step)
        made = dialect.artifact(work.artifact_id, work.artifact, piece)
        last = number == len(work.pieces) and work.state == "completed"
        yield dialect.artifact_update(task, made, first=number == 1, last=last)
    yield dialect.moved(await finish(task))


async def _continued(message: Incoming) -> Task:
    """The task that a message goes on with. Raises `RpcError`."""
    task = await tasks.find(message.task)
    if task is None:
        raise RpcError(TASK_NOT_FOUND, "There is no such task here, or not any more.")
    if task.state != "input-required":
        raise RpcError(UNSUPPORTED, f"The task is {task.state}: it waits for no message.")
    return replace(task, history=[*task.history, message.parts])


async def _answered(request: HttpRequest, text: str) -> TaskMessage:
    """The answer to a question, in words and as a document of NLWeb."""
    try:
        served = await service.ask(request, {"query": {"text": text}}, whole=True)
    except FailureError as failure:
        document = responses.failure(failure, "0.55", None)
        return TaskMessage("agent", [{"text": failure.message}, {"data": document}])
    document = served.document()
    return TaskMessage("agent", [{"text": _said(document)}, {"data": document}])


def _said(document: Document) -> str:
    """What a reply says, in a sentence."""
    if results := document.get("results"):
        return items.contents(results)
    told = document.get("elicitation") or document.get("promise") or {}
    return str(told.get("text") or told.get("message") or "Here is the answer.")
