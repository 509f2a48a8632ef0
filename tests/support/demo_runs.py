"""Runs against the demo without a server, an engine or a clock: each frame takes a millisecond."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import async_to_sync
from django.test import AsyncClient

from playground.models import Run
from playground.protocols import registry, sse
from playground.protocols.calls import HttpCall
from playground.protocols.exchange import Exchange, Target
from playground.protocols.frames import Frame, FrameKind
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
