"""`/demo/a2a` and the card: JSON-RPC in two versions, replies as JSON or as a stream."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from playground.demo import requests, rpc
from playground.demo.a2a import message_handler, tasks, versions
from playground.demo.a2a.card import card as describe
from playground.demo.a2a.tasks import Task
from playground.demo.a2a.versions import DirectAnswer, Incoming, ServedVersion
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, event_stream, json_response
from playground.demo.responses import Document, encode
from playground.demo.rpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError

logger = logging.getLogger("playground.demo")

_HEADER = "A2A-Version"


@endpoint
async def card(request: HttpRequest) -> HttpResponseBase:
    """`GET /.well-known/agent-card.json`."""
    if request.method not in ("GET", "HEAD"):
        return json_response({"error": "Only GET."}, 405, {"Allow": "GET, HEAD"})
    return json_response(describe(request))


@endpoint
async def a2a(request: HttpRequest) -> HttpResponseBase:
    """`POST`: one call. Errors are JSON-RPC errors with status 200, as agents in use do it."""
    if request.method != "POST":
        return json_response({"error": "Only POST."}, 405, {"Allow": "POST"})
    # Which dialect an error is told in, when the header is what is wrong.
    spoken = versions.OLDER
    try:
        call = rpc.read(request.body)
        spoken = versions.dialect(request.headers.get(_HEADER))
        return await _reply(request, call, spoken)
    except RpcError as error:
        failed = error
    except FailureError as failure:
        failed = RpcError(INVALID_PARAMS, failure.message)
    except Exception:
        logger.exception("The demo agent could not answer over A2A")
        failed = RpcError(INTERNAL_ERROR, "Something went wrong here.")
    return json_response(rpc.error(rpc.id_in(request.body), spoken.error(failed)))


async def _reply(
    request: HttpRequest, call: rpc.JsonRpcMessage, spoken: ServedVersion
) -> HttpResponseBase:
    verb = _verb(call, spoken)
    if verb in ("send", "stream"):
        message = spoken.read(call.params)
        pace = requests.read_pace(request.GET.get("pace"))
        come = await message_handler.receive(request, message, pace)
        if verb == "stream":
            return event_stream(_events(call, spoken, message, come))
        if isinstance(come, Task) and message.is_blocking:
            come = await message_handler.finish(come)
        return json_response(rpc.result(call.id, spoken.sent(come)))
    task = await _task(call)
    if verb == "cancel":
        if task.state in tasks.ENDED:
            raise RpcError(versions.NOT_CANCELABLE, f"The task is {task.state} already.")
        task = task.moved("canceled", "Cancelled at your wish.")
        await tasks.save(task)
    return json_response(rpc.result(call.id, spoken.task(task)))


def _verb(call: rpc.JsonRpcMessage, spoken: ServedVersion) -> str:
    """What a call wants. Raises `RpcError`."""
    other = versions.OLDER if spoken.newer else versions.NEWER
    if call.method in other.methods:
        version = "1.0" if spoken.newer else "0.3"
        text = f"A2A {version} has no method {call.method}: the header {_HEADER} says the version."
        raise RpcError(versions.VERSION_NOT_SUPPORTED, text)
    verb = spoken.methods.get(call.method)
    if verb is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {call.method[:80]}")
    if verb == "push":
        raise RpcError(versions.NO_PUSH, "There are no push notifications here.")
    if verb == "other":
        raise RpcError(versions.UNSUPPORTED, f"{call.method} is not supported here.")
    return verb


async def _task(call: rpc.JsonRpcMessage) -> Task:
    """The task that a call names. Raises `RpcError`."""
    if not isinstance(named := call.params.get("id"), str):
        raise RpcError(INVALID_PARAMS, "params.id names a task.")
    if (task := await tasks.find(named)) is None:
        raise RpcError(versions.TASK_NOT_FOUND, "There is no such task here, or not any more.")
    return task


async def _events(
    call: rpc.JsonRpcMessage, spoken: ServedVersion, message: Incoming, come: DirectAnswer | Task
) -> AsyncIterator[bytes]:
    if isinstance(come, DirectAnswer):
        yield _event(rpc.result(call.id, spoken.sent(come)))
        return
    async for event in message_handler.events(spoken, come, new=not message.task):
        yield _event(rpc.result(call.id, event))


def _event(message: Document) -> bytes:
    # Unnamed, with the line ends of other agents' streams.
    return b"data: " + encode(message) + b"\r\n\r\n"
