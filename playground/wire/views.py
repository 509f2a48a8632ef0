"""Tabs of a run: windows on its stored frames, loaded when they are opened."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import islice
from operator import itemgetter
from typing import Any

from asgiref.sync import sync_to_async
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from playground.base.fields import int_param, parse_json_value
from playground.conversation.entries import element_of, rows_of
from playground.conversation.thread import Thread, render_entries
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.transcript import Change, change_of, transcript_of
from playground.conversation.updates import WINDOW
from playground.models import Run
from playground.models.conversations import Turn, branch_queries, turn_of
from playground.models.runs import CHUNK
from playground.protocols import lenient
from playground.protocols.diff.json_values import Values
from playground.protocols.events import Event, Failure, Message, Result, event_label
from playground.protocols.frames import BODY_KINDS, Frame, FrameKind
from playground.protocols.nlweb.requests import previous_queries
from playground.protocols.response import Response, last_response_frames
from playground.reference.explanations import event_reference
from playground.stored_runs import event_at, frame_at, read_events
from playground.transport.sse_reference import NotAStreamError
from playground.transport.sse_reference import standard_client as read_with_reference
from playground.ui.formatting import blocks_of, pretty
from playground.ui.helpers import get_run, is_htmx, make_download, room_problem
from playground.wire.timeline import run_timeline

ROWS = 200
#: Maximum number of blocks, and their size in bytes, on one page of the Wire tab.
BLOCKS, BLOCK_BYTES = 100, 512 * 1024


@require_safe
def results(request: HttpRequest, pk: str) -> HttpResponse:
    """Show entries beyond those on the page: `?offset=` is how many those are.

    In order of arrival, or of `index` with `?order=index`.
    """
    run = get_run(request, pk)
    offset = int_param(request.GET, "offset", 0)
    if request.GET.get("order") == "index":
        entries = ThreadReader(run).by_index()[offset : offset + WINDOW]
    else:
        entries = ThreadReader(run).page(offset, WINDOW)
    cards = render_entries(entries, Thread(run), follow=not run.is_final)
    return render(request, "conversation/response.html#results", {"cards": cards})


@require_safe
def events(request: HttpRequest, pk: str) -> HttpResponse:
    """Show rows of the Events list from `?offset=`, in order of arrival or of `index`."""
    run = get_run(request, pk)
    offset = int_param(request.GET, "offset", 0)
    if request.GET.get("order") == "index":
        indexed = [(index, r) for r in read_events(run) if (index := _index(r[1])) is not None]
        ordered = [r for _, r in sorted(indexed, key=itemgetter(0))]
        rows = rows_of(ordered[offset : offset + ROWS])
    else:
        rows = rows_of(islice(read_events(run, offset), ROWS))
    return render(request, "wire/tabs.html#rows", {"run": run, "rows": rows})


def _index(events: list[Event]) -> Any:
    """Return the index of the first result that has one."""
    found = (e.index for e in events if isinstance(e, Result) and e.index is not None)
    return next(found, None)


@require_safe
def event(request: HttpRequest, pk: str, seq: int) -> HttpResponse:
    """Show one frame: its bytes, and its events."""
    run = get_run(request, pk)
    read = frame_at(run, seq)
    if read is None:
        raise Http404
    frame, found = read
    meanings = [
        (
            event_label(each).capitalize(),
            pretty(element_of(each).payload(each)),
            event_reference(run.protocol, run.version, each),
        )
        for each in found
    ]
    context = {"run": run, "block": blocks_of([frame])[0], "meanings": meanings}
    return render(request, "wire/tabs.html#event", context)


@require_safe
def first_failure(request: HttpRequest, pk: str) -> JsonResponse:
    """Return the number of the frame with the first failure, as {"seq": number or null}."""
    failures = (
        frame.seq
        for frame, events in read_events(get_run(request, pk))
        if any(isinstance(event, Failure) for event in events)
    )
    return JsonResponse({"seq": next(failures, None)})


@require_safe
def item(request: HttpRequest, pk: str, seq: int, part: int) -> HttpResponse:
    """Show the raw JSON of one entry."""
    run = get_run(request, pk)
    event = event_at(run, (seq, part))
    if event is None:
        raise Http404
    value = element_of(event).payload(event)
    if isinstance(event, Message):
        # The complete message, and not only its first event.
        entry = ThreadReader(run).entry_at((seq, part))
        value = entry.message.document if entry and entry.message else value
    context = {
        "json": pretty(value),
        "reference": event_reference(run.protocol, run.version, event),
    }
    return render(request, "wire/tabs.html#item", context)


@require_safe
def timeline(request: HttpRequest, pk: str) -> HttpResponse:
    run = get_run(request, pk)
    return render(request, "wire/timeline.html", {"run": run, "timeline": run_timeline(run)})


@require_safe
def wire(request: HttpRequest, pk: str) -> HttpResponse:
    """Show blocks of the Wire tab from `?offset=`, `?count=` of them at most."""
    run = get_run(request, pk)
    limit = min(int_param(request.GET, "count", 0) or BLOCKS, BLOCKS)
    frames: list[Frame] = []
    size = 0
    for frame in run.read_frames(int_param(request.GET, "offset", 0)):
        frames.append(frame)
        size += min(len(frame.data), 64 * 1024)
        if len(frames) >= limit or size > BLOCK_BYTES:
            break
    context = {"run": run, "blocks": blocks_of(frames), "single": limit == 1}
    return render(request, "wire/tabs.html#blocks", context)


@require_safe
async def wire_text(request: HttpRequest, pk: str) -> StreamingHttpResponse:
    """Download everything that crossed the wire, byte for byte."""
    # Django compresses every chunk of an asynchronous response as a separate gzip file, and
    # browsers read only the first; the GZip middleware goes by this header.
    request.META.pop("HTTP_ACCEPT_ENCODING", None)
    run = await sync_to_async(get_run)(request, pk)
    response = StreamingHttpResponse(_wire_bytes(run), content_type="text/plain; charset=utf-8")
    return make_download(response, f"run-{run.pk}.txt")


async def _wire_bytes(run: Run) -> AsyncIterator[bytes]:
    shown = BODY_KINDS | {FrameKind.CALL, FrameKind.HEAD}
    async for batch in run.frame_batches.order_by("first").aiterator(CHUNK):
        for frame in batch.frames():
            if frame.kind in shown:
                yield frame.data
            if frame.kind is FrameKind.CALL:
                yield b"\r\n\r\n"


@require_safe
def standard_client(request: HttpRequest, pk: str) -> HttpResponse:
    """Show how a widespread client library reads the same response."""
    run = get_run(request, pk)
    response = Response(last_response_frames(tuple(run.read_frames())))
    context: dict[str, Any] = {"run": run}
    try:
        read = read_with_reference(response.headers.get("content-type", ""), response.data)
        context |= {"total": len(read), "messages": read[:ROWS]}
    except NotAStreamError as error:
        context["refusal"] = str(error)
    return render(request, "wire/tabs.html#standard_client", context)


# Session history of a branch: the session context of each turn, and of the next request

#: Differences of a turn that are shown.
MAX_CHANGES = 100
#: Levels that are compared member by member; deeper values are compared as a whole.
MAX_DEPTH = 12

#: Session overrides by the name of the button (see `Run.session_override`).
CHOICES: dict[str, dict[str, Any]] = {
    "latest": {"mode": "latest"},
    "off": {"mode": "off"},
    "clear": {"mode": "edited", "value": None},
}


@require_http_methods(["GET", "HEAD", "POST"])
def session(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the session history (GET), or set what the request after this turn sends (POST)."""
    run = get_run(request, pk)
    if request.method != "POST":
        return _show(request, run)
    text = request.POST.get("value", "")
    try:
        override = _read(request.POST.get("echo", ""), text)
    except ValidationError as error:
        return _show(request, run, text=text, error=error.messages[0])
    if problem := room_problem(request, is_begun=True):
        return _show(request, run, text=text, error=problem)
    turn = turn_of(run)
    turn.session_override = override
    turn.save(update_fields=["session_override"])
    if not is_htmx(request):
        return redirect(run)
    return _show(request, run, is_changed=True)


def _read(choice: str, text: str) -> dict[str, Any]:
    """Return a value of `Run.session_override`. Raises `ValidationError` for an invalid one."""
    if choice in CHOICES:
        return CHOICES[choice]
    if choice != "edit":
        raise ValidationError("Choose what to send with the next request.")
    value = parse_json_value(text)
    if not isinstance(value, dict):
        raise ValidationError("The session context must be a JSON object.")
    return {"mode": "edited", "value": value}


def _show(request: HttpRequest, run: Run, **context: Any) -> HttpResponse:
    transcript = transcript_of(run)
    turns = [row.turn for row in transcript.to_current]
    last = turns[-1]
    initial = last.next_session_context
    if initial is None:
        initial = last.returned_session_context or {}
    shown = {
        "run": run,
        "transcript": transcript,
        "turns": [(turn, _changes(turn)) for turn in turns],
        "last": last,
        "initial": pretty(initial),
        "is_empty": last.session_mode == "nothing"
        and all(t.sent_session_context is None and not t.returned_session_context for t in turns),
        "queries": previous_queries(branch_queries(turns)),
        "max_changes": MAX_CHANGES,
        **context,
    }
    status = 422 if context.get("error") else 200
    return render(request, "wire/session.html", shown, status=status)


def _changes(turn: Turn) -> list[Change]:
    """Return the first differences between session context sent and returned.

    Nested values are compared member by member. Empty if none was returned.
    """
    if turn.returned_session_context is None:
        return []
    before = lenient.members(turn.sent_session_context)
    found = Values(by_place=True, levels=MAX_DEPTH).changes(before, turn.returned_session_context)
    return [change_of(each) for each in islice(found, MAX_CHANGES)]
