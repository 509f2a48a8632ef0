"""Conversations with the demo, one of each kind that a sequence diagram shows.

No server, engine or clock takes part: each frame takes a millisecond."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.test import AsyncClient

from playground.demo.models import StoredState
from playground.models import Conversation, PolledPromise, PollingStatus, Run, RunKind
from playground.protocols import registry, sse
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame, FrameKind
from tests.demo.conftest import Clock
from tests.support.stored_runs import Recording

ORIGIN = "http://testserver"
#: The time of the first turn.
BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
K = FrameKind


def demo_run(path: str, request: dict[str, Any], *, after: float = 0, **fields: Any) -> Run:
    """Send a request to the demo and return its run; it began some seconds after `BEGIN`."""
    resume = fields.get("resume")
    recording = Recording(
        **{
            "agent_name": "Demo agent",
            "url": f"{ORIGIN}/demo/{path}",
            "request": request,
            "text": registry.PROTOCOLS["nlweb"].request_text(request)[:500],
            "started_at": BEGIN + timedelta(seconds=after),
            **fields,
        }
    )
    target = Target(**recording.run.describe_target(), resume=resume)
    frames = list(frames_of(registry.exchange(target, request)))
    recording.add(*frames)
    run = recording.end(fields.get("state", "completed"))
    Run.objects.filter(pk=run.pk).update(ended_us=frames[-1].at_us)
    run.refresh_from_db()
    return run


def frames_of(exchange: Exchange) -> Iterator[Frame]:
    """Make the calls of an exchange, and yield the frames of calls and responses."""
    numbers = count(1)

    def frame(kind: FrameKind, data: bytes = b"") -> Frame:
        number = next(numbers)
        made = Frame(number, 1000 * (number - 1), kind, data)
        exchange.receive(made)
        return made

    while call := exchange.next_call():
        status, headers, body = _make(call)
        path = urlsplit(call.url)
        head = f"{call.method} {path.path}{f'?{path.query}' if path.query else ''} HTTP/1.1\r\n"
        lines = "".join(f"{name}: {value}\r\n" for name, value in call.headers)
        yield frame(K.CALL, f"{head}{lines}\r\n".encode() + call.body)
        yield frame(K.OPEN, b'{"peer": "testserver:80", "tls": null}')
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        yield frame(K.HEAD, f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode())
        if headers.get("Content-Type", "").startswith("text/event-stream"):
            for block in sse.Splitter().feed(body):
                yield frame(K.COMMENT if block.is_comment else K.EVENT, block.data)
        elif body:
            yield frame(K.BODY, body)
        yield frame(K.END)


def _make(call: HttpCall) -> tuple[int, dict[str, str], bytes]:
    async def make() -> tuple[int, dict[str, str], bytes]:
        headers = dict(call.headers)
        media_type = headers.pop("Content-Type", "application/json")
        path = call.url.removeprefix(ORIGIN)
        response: Any = await AsyncClient().generic(
            call.method, path, call.body, content_type=media_type, headers=headers
        )
        body = response.content if not response.streaming else b"".join([c async for c in response])
        return response.status_code, dict(response.headers), body

    return async_to_sync(make)()


ASK = "ask?pace=0"
SURPRISE = "surprise me, but ask first"


def ask(text: str, *, streaming: bool = True, **query: Any) -> dict[str, Any]:
    """Return a request of NLWeb."""
    prefer = {"streaming": streaming}
    return {"query": {"text": text, **query}, "prefer": prefer, "meta": {"version": "0.55"}}


def stream(_: Clock) -> Run:
    return demo_run(ASK, ask("breakfast with eggs"), conversation=Conversation.objects.create())


def failure(_: Clock) -> Run:
    return demo_run(ASK, ask("breakfast that fails"))


def answered_elicitation(_: Clock) -> Run:
    conversation = Conversation.objects.create()
    asked = demo_run(ASK, ask(SURPRISE, streaming=False), conversation=conversation)
    answers = {"dietary_restrictions": ["vegan"], "cooking_time": "20-40 minutes"}
    request = ask(SURPRISE, **answers)
    request["meta"]["session_context"] = asked.session_context
    return demo_run(
        ASK,
        request,
        after=20,
        conversation=conversation,
        parent=asked,
        kind=RunKind.ANSWER,
        answers=answers,
    )


def promise(clock: Clock, polls: int = 5) -> Run:
    """Return a turn whose promise was fulfilled with the last one of some polls."""
    turn = demo_run(ASK.replace("0", "1"), ask("make a weekly meal plan", streaming=False))
    [token] = StoredState.objects.filter(area="promise").values_list("key", flat=True)
    request = {"promise_token": token, "action": "checkin", "meta": {"version": "0.55"}}
    final = turn
    for number in range(polls):
        clock.now += 10 / polls
        final = demo_run(
            ASK, request, after=3 * (number + 1), parent=turn, kind=RunKind.POLL, **_AT_END
        )
    PolledPromise.objects.create(
        run=turn,
        entry_seq=5,
        token=token,
        status=PollingStatus.FULFILLED,
        polls=polls,
        polling_seconds=60,
        final_run=final,
        ended_at=final.started_at + timedelta(seconds=1),
    )
    return turn


_AT_END = {"parent_entry_seq": 5, "parent_entry_part": 0}


def action(turn: Run, binding: str, request: dict[str, Any], **fields: Any) -> Run:
    """Return the run of an action of a turn."""
    path = request["url"].removeprefix(f"{ORIGIN}/demo/")
    own = {"parent": turn, "protocol": "action", "kind": RunKind.ACTION, "binding": binding}
    entry = {"parent_entry_seq": 5, "parent_entry_part": 0, "text": request["action"]}
    return demo_run(path, request, **own, **entry, **fields)


def actions(_: Clock) -> Run:
    turn = demo_run(ASK, ask("leek soup", streaming=False))
    cookbook, mcp, a2a = (f"{ORIGIN}/demo/{path}" for path in ("cookbook/", "mcp", "a2a"))
    http = {"action": "save_recipe", "protocol": "HTTP", "method": "POST", "url": cookbook}
    action(turn, "http", {**http, "headers": [], "body": {"name": "Soup"}}, after=1)
    tool = {"action": "cart_add", "protocol": "MCP", "server": "demo-mcp", "url": mcp}
    arguments = {"tool": "cart_add", "arguments": {"items": ["leek"]}}
    action(turn, "mcp", {**tool, **arguments}, after=2)
    skill = {"action": "plan_shopping", "protocol": "A2A", "agent_url": a2a, "url": a2a}
    message = {"message": "Plan the shopping", "message_id": "m", "skill": "plan_shopping"}
    action(turn, "a2a", {**skill, **message}, after=3)
    return turn


def mcp_session(_: Clock) -> Run:
    conversation = Conversation.objects.create()
    return demo_run("mcp/older?pace=0", ask("soup"), binding="mcp", conversation=conversation)


CONVERSATIONS: dict[str, Callable[[Clock], Run]] = {
    "stream": stream,
    "failure": failure,
    "elicitation": answered_elicitation,
    "promise": promise,
    "actions": actions,
    "mcp-session": mcp_session,
}
