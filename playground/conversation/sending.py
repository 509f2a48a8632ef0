"""Start a recorded run, and prepare what follows a turn with the composer's headers."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django_htmx.http import push_url

from playground.base.fields import parse_headers
from playground.conversation.updates import response_context
from playground.engine import preparation, tasks
from playground.engine.request import PreparedRequest, refused
from playground.models import Run
from playground.models.conversations import turn_of
from playground.ui.helpers import is_htmx
from playground.variables.names import names_in


async def start_run(request: HttpRequest, run: Run, prepared: PreparedRequest) -> HttpResponse:
    """Start a recorded run, and show it in the response pane."""
    await tasks.send(run, prepared)
    if not is_htmx(request):
        return redirect(run)
    response = await sync_to_async(render)(
        request, "conversation/response.html", await sync_to_async(response_context)(run)
    )
    # In a pane of another page, the content changes, and not the page's URL.
    in_pane = urlsplit(request.headers.get("HX-Current-URL", "")).path.endswith("/pane/")
    return response if in_pane else push_url(response, run.get_absolute_url())


def prepare_follow_up(request: HttpRequest, run: Run, document: dict[str, Any]) -> PreparedRequest:
    """Return the prepared request that follows `run`, with the headers of the composer."""
    try:
        headers = follow_up_headers(request, run)
    except ValidationError as error:
        return refused(str(error.messages[0]))
    return preparation.prepare_follow_up(run, document, headers)


def follow_up_headers(request: HttpRequest, run: Run) -> list[tuple[str, str]]:
    """Return the composer's headers if they are for the same target, else those of the turn.

    Credentials are not stored with a turn, so only the composer may still hold them; a secret is
    represented by its placeholder. Raises `ValidationError`.
    """
    form, turn = request.POST, turn_of(run)
    if "headers" not in form or not _is_same_target(turn, form):
        return preparation.without_empty_credentials(turn.headers)
    try:
        return [_substituted(turn, name, value) for name, value in parse_headers(form["headers"])]
    except ValidationError as error:
        raise ValidationError(f"In the composer's headers: {error.messages[0]}") from error


def _is_same_target(turn: Run, form: QueryDict) -> bool:
    """Return whether the composer has the agent of the turn, or the URL that it was sent to."""
    if turn.agent:
        return bool(form.get("agent") == turn.agent.slug)
    address = (turn.request_template or {}).get("address") or turn.url
    return not form.get("agent") and form.get("address") == address


def _substituted(turn: Run, name: str, value: str) -> tuple[str, str]:
    """Return a header of the composer with the turn's values for its names.

    Raises `ValidationError` for a header that the turn does not have.
    """
    if not names_in(value):
        return name, value
    known = {each.lower(): text for each, text in turn.headers}
    if name.lower() not in known:
        raise ValidationError(f"{name} uses variables that are not defined in this conversation.")
    return name, known[name.lower()]
