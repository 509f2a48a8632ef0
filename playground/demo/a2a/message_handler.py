"""Handler of messages: an answer, or a new or continued task, and the events of a task."""

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
from playground.demo.jsonrpc import RpcError
from playground.demo.responses import Document

#: Seconds for each step of work, at pace 1.
_STEP = 6 * PAUSE


async def receive(request: HttpRequest, message: Incoming, pace: float) -> DirectAnswer | Task:
    """Return an answer to a message, or its task in the next state, stored.

    Raise `RpcError`.
    """
    if message.task:
        task = await _continued_task(message)
    else:
        text = message_text(message.parts)
        skill = skills.choose(message.skill, text)
        context = message.context or str(uuid4())
        if skill == "ask":
            return DirectAnswer(await _answer(request, text), context)
        task = Task(str(uuid4()), context, skill, [message.parts])
    plan = skills.plan(task.skill, await service.loaded_corpus(), task.request_text)
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
    """Wait for the end of a working task and return it; return any other task unchanged."""
    if task.state != "working" or task.work is None:
        return task
    await asyncio.sleep(max(0.0, task.since + task.work.seconds - tasks.now()))
    # It may have been cancelled by another request meanwhile.
    found = await tasks.find(task.id)
    ended = found.ended() if found and found.state == "working" else found or task.ended()
    await tasks.save(ended)
    return ended


async def events(version: ServedVersion, task: Task, *, new: bool) -> AsyncIterator[Document]:
    """Yield the events of a task: its states, and its artifact in pieces."""
    if new:
        yield version.sent(replace(task, state="submitted", message="", work=None))
    yield version.moved(task)
    if task.state != "working" or task.work is None:
        return
    work = task.work
    step = work.seconds / (len(work.pieces) + 1)
    for number, piece in enumerate(work.pieces, 1):
        await asyncio.sleep(step)
        artifact = version.artifact(work.artifact_id, work.artifact, piece)
        last = number == len(work.pieces) and work.state == "completed"
        yield version.artifact_update(task, artifact, first=number == 1, last=last)
    yield version.moved(await finish(task))


async def _continued_task(message: Incoming) -> Task:
    """Return the task that a message continues. Raise `RpcError`."""
    task = await tasks.find(message.task)
    if task is None:
        raise RpcError(TASK_NOT_FOUND, "Task not found, or expired.")
    if task.state != "input-required":
        raise RpcError(UNSUPPORTED, f"The task is {task.state} and accepts no messages.")
    return replace(task, history=[*task.history, message.parts])


async def _answer(request: HttpRequest, text: str) -> TaskMessage:
    """Return the answer to a question, as text and as an NLWeb document."""
    try:
        served = await service.ask(request, {"query": {"text": text}}, whole=True)
    except FailureError as failure:
        document = responses.failure(failure, "0.55", None)
        return TaskMessage("agent", [{"text": failure.message}, {"data": document}])
    document = served.document()
    return TaskMessage("agent", [{"text": _text_of(document)}, {"data": document}])


def _text_of(document: Document) -> str:
    if results := document.get("results"):
        return items.contents(results)
    part = document.get("elicitation") or document.get("promise") or {}
    return str(part.get("text") or part.get("message") or "Here is the answer.")
