"""Session history of a branch: the session context of each turn, and of the next request."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from playground.base.fields import parse_json_value
from playground.conversation.transcript import Change, change_of, transcript_of
from playground.models import Run
from playground.models.conversations import Turn, branch_queries, turn_of
from playground.protocols.diff.json_values import Values
from playground.protocols.nlweb.requests import previous_queries
from playground.ui.helpers import get_run, is_htmx, room_problem

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
    shown = {
        "run": run,
        "transcript": transcript,
        "turns": [(turn, _changes(turn)) for turn in turns],
        "last": turns[-1],
        "is_empty": turns[-1].session_mode == "nothing"
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
    sent = turn.sent_session_context
    before = sent if isinstance(sent, Mapping) else {}
    found = Values(by_place=True, levels=MAX_DEPTH).changes(before, turn.returned_session_context)
    return [change_of(each) for each in islice(found, MAX_CHANGES)]
