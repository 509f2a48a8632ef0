"""Helpers that several views share: objects of the user, template contexts and responses."""

from __future__ import annotations

from typing import Any, TypeVar

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import content_disposition_header, url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from playground.models import Agent, Collection, Folder, LimitError, Run, SavedRequest
from playground.models.driving import mark_interrupted
from playground.models.rows import owner_of
from playground.models.storage import no_room_and_fix

Response = TypeVar("Response", bound=HttpResponseBase)
#: The event after which the sidebar reloads its collections.
CHANGED = "collections:changed"


def get_run(request: HttpRequest, pk: Any, *related: str) -> Run:
    """Return the run that `find_run` finds. Raises `Http404` where it finds none."""
    run = find_run(request, pk, *related)
    if run is None:
        raise Http404
    return run


def find_run(request: HttpRequest, pk: Any, *related: str) -> Run | None:
    """Return the user's run with this key, None where they have none or it is no key.

    `related` are the names of relations to read with it, as `select_related` takes them.
    """
    runs = Run.objects.owned_by(request.user)
    if related:
        runs = runs.select_related(*related)
    try:
        found: Run | None = runs.filter(pk=pk).first()
    except ValidationError:
        return None
    return found


def get_current_run(request: HttpRequest, pk: Any, *related: str) -> Run:
    """Return the run that `get_run` returns; marked as interrupted if its driver is gone."""
    run = get_run(request, pk, *related)
    if not run.is_final and mark_interrupted():
        run.refresh_from_db()
    return run


def get_agent(request: HttpRequest, slug: str) -> Agent:
    """Return the user's agent with this slug. Raises `Http404` where they have none."""
    found: Agent = get_object_or_404(Agent.objects.owned_by(request.user), slug=slug)
    return found


def get_collection(request: HttpRequest, slug: str) -> Collection:
    """Return the user's collection with this slug. Raises `Http404`."""
    found: Collection = get_object_or_404(Collection.objects.owned_by(request.user), slug=slug)
    return found


def get_folder(request: HttpRequest, slug: str, folder: str) -> Folder:
    """Return a folder of a collection of the user. Raises `Http404`."""
    collection = get_collection(request, slug)
    found: Folder = get_object_or_404(collection.folders, slug=folder)
    found.collection = collection
    return found


def get_saved_request(request: HttpRequest, slug: str, saved: str, *related: str) -> SavedRequest:
    """Return a saved request of a collection of the user. Raises `Http404`.

    `related` are the names of relations to read with it, beside its folder.
    """
    collection = get_collection(request, slug)
    requests = collection.requests.select_related("folder", *related)
    found: SavedRequest = get_object_or_404(requests, slug=saved)
    found.collection = collection
    return found


def is_htmx(request: HttpRequest) -> bool:
    """Return whether a fragment is requested, and not a page."""
    return bool(request.htmx)  # type: ignore[attr-defined]


def make_download(response: Response, name: str) -> Response:
    """Return a response that browsers save as a file of this name and do not show."""
    response["Content-Disposition"] = content_disposition_header(True, name)
    return response


def make_sandboxed(response: Response) -> Response:
    """Return a response with data of an agent, in which nothing may run, load or be embedded."""
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cross-Origin-Resource-Policy"] = "same-origin"
    return response


def changed_response(response: HttpResponse) -> HttpResponse:
    """Return the response to a changed collection: it notifies the page, or redirects it."""
    if "HX-Redirect" in response:
        return response
    return trigger_client_event(response, CHANGED)


def redirect_with_note(
    request: HttpRequest, target: str | Collection, note: str = "", undo: str = ""
) -> HttpResponse:
    """Redirect to another page after a change, which shows `note` with a link to undo it."""
    if note:
        messages.success(request, note, extra_tags=undo)
    response = redirect(target)
    return HttpResponseClientRedirect(response.url) if is_htmx(request) else response


def room_problem(request: HttpRequest, *, is_begun: bool = False) -> str:
    """Return why no more runs can be stored for the user, "" if some can.

    Requests of a turn that exists (`is_begun`) are possible a little longer: see `no_room`.
    """
    owner = owner_of(request.user)
    return no_room_and_fix(owner.pk if owner else None, is_begun=is_begun)


def save_form(form: Any) -> Any:
    """Save a valid form, and return the object; None at a limit, with the error in the form."""
    try:
        with transaction.atomic():
            return form.save()
    except LimitError as error:
        form.add_error(None, error)
        return None


def previous_page(request: HttpRequest, named: str = "") -> str:
    """Return the URL of the page that a request came from, "" if it is not known or elsewhere.

    `named` takes precedence over what the browser says.
    """
    url = named or request.headers.get("HX-Current-URL") or request.headers.get("Referer", "")
    safe = url_has_allowed_host_and_scheme(url, {request.get_host()}, request.is_secure())
    return url if safe else ""


def moved_response(request: HttpRequest, collection: Collection) -> HttpResponse:
    """Return the response to a move: empty for htmx, whose page has moved the item already."""
    if is_htmx(request):
        return changed_response(HttpResponse(status=204))
    return redirect(collection)
