"""`/demo/a2a` and the card: JSON-RPC in two versions, responses as JSON or as a stream."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

from playground.demo import jsonrpc, responses
from playground.demo.a2a import message_handler, tasks, versions
from playground.demo.a2a.skills import CARD
from playground.demo.a2a.tasks import Task
from playground.demo.a2a.versions import DirectAnswer, Incoming, ServedVersion
from playground.demo.actions import filled
from playground.demo.failures import FailureError
from playground.demo.http import endpoint, error_document, event_stream, json_response, pace_of
from playground.demo.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from playground.demo.responses import Document

logger = logging.getLogger("playground.demo")

_HEADER = "A2A-Version"


@endpoint(error_document, "GET")
async def card(request: HttpRequest) -> HttpResponseBase:
    """`GET /.well-known/agent-card.json`, with URLs on the origin of the request."""
    url = request.build_absolute_uri(reverse("demo-a2a"))
    return json_response(filled(CARD, {"a2a": url}))


@endpoint(jsonrpc.refusal, "POST")
async def a2a(request: HttpRequest) -> HttpResponseBase:
    """`POST` takes one call. Errors have status 200, as with agents in use."""
    # The version of errors, if the header is invalid.
    version = versions.V0_3
    try:
        call = jsonrpc.read_message(request.body)
        version = versions.served_version(request.headers.get(_HEADER))
        return await _respond(request, call, version)
    except RpcError as error:
        failed = error
    except FailureError as failure:
        failed = RpcError(INVALID_PARAMS, failure.message)
    except Exception:
        logger.exception("Answering a call over A2A failed")
        failed = RpcError(INTERNAL_ERROR, "Internal server error.")
    return json_response(jsonrpc.error(jsonrpc.id_in(request.body), version.error(failed)))


async def _respond(
    request: HttpRequest, call: jsonrpc.JsonRpcMessage, version: ServedVersion
) -> HttpResponseBase:
    operation = _operation(call, version)
    if operation in ("send", "stream"):
        message = version.read(call.params)
        pace = pace_of(request)
        answer = await message_handler.receive(request, message, pace)
        if operation == "stream":
            return event_stream(_events(call, version, message, answer))
        if isinstance(answer, Task) and message.is_blocking:
            answer = await message_handler.finish(answer)
        return json_response(jsonrpc.result(call.id, version.sent(answer)))
    task = await _task(call)
    if operation == "cancel":
        if task.state in tasks.ENDED:
            raise RpcError(versions.NOT_CANCELABLE, f"The task is already {task.state}.")
        task = task.moved("canceled", "Cancelled at your request.")
        await tasks.save(task)
    return json_response(jsonrpc.result(call.id, version.task(task)))


def _operation(call: jsonrpc.JsonRpcMessage, version: ServedVersion) -> str:
    """Return the operation of a call. Raise `RpcError`."""
    other = versions.V0_3 if version.is_v1 else versions.V1_0
    if call.method in other.methods:
        name = "1.0" if version.is_v1 else "0.3"
        text = f"A2A {name} has no method {call.method}. Set the version in the {_HEADER} header."
        raise RpcError(versions.VERSION_NOT_SUPPORTED, text)
    operation = version.methods.get(call.method)
    if operation is None:
        raise RpcError(METHOD_NOT_FOUND, f"Method not found: {call.method[:80]}")
    if operation == "push":
        raise RpcError(versions.NO_PUSH, "Push notifications are not supported.")
    if operation == "other":
        raise RpcError(versions.UNSUPPORTED, f"{call.method} is not supported.")
    return operation


async def _task(call: jsonrpc.JsonRpcMessage) -> Task:
    """Return the task of a call. Raise `RpcError`."""
    if not isinstance(task_id := call.params.get("id"), str):
        raise RpcError(INVALID_PARAMS, "params.id must be a task id.")
    if (task := await tasks.find(task_id)) is None:
        raise RpcError(versions.TASK_NOT_FOUND, "Task not found, or expired.")
    return task


async def _events(
    call: jsonrpc.JsonRpcMessage,
    version: ServedVersion,
    message: Incoming,
    answer: DirectAnswer | Task,
) -> AsyncIterator[bytes]:
    def event(result: Document) -> bytes:
        # Without a name, with the line ends of other agents.
        return responses.event("", jsonrpc.result(call.id, result), "\r\n")

    if isinstance(answer, DirectAnswer):
        yield event(version.sent(answer))
        return
    async for update in message_handler.events(version, answer, new=not message.task):
        yield event(update)
