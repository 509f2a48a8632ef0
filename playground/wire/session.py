"""The session history of a branch, and the session context of the next request."""

from __future__ import annotations

from typing import Any

from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from playground.base.fields import parse_json_value
from playground.conversation.session import SessionHistory
from playground.conversation.transcript import transcript_of
from playground.models import Run
from playground.models.conversations import turn_of
from playground.ui.helpers import get_run, is_htmx, room_problem

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
    history = SessionHistory([row.turn for row in transcript.to_current])
    shown = {"run": run, "transcript": transcript, "history": history, **context}
    status = 422 if context.get("error") else 200
    return render(request, "wire/session.html", shown, status=status)
