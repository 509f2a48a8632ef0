"""What the pages of collections share: finding what is whose, and answering a change."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event

from playground.models import Collection, Folder, SavedRequest
from playground.views.helpers import is_htmx

#: The event after which the sidebar fetches its collections anew.
CHANGED = "library:changed"


def get_collection(request: HttpRequest, slug: str) -> Collection:
    """The user's collection with this slug, or 404."""
    found: Collection = get_object_or_404(Collection.objects.owned_by(request.user), slug=slug)
    return found


def get_folder(request: HttpRequest, slug: str, folder: str) -> Folder:
    """A folder of a collection of the user's, or 404."""
    collection = get_collection(request, slug)
    found: Folder = get_object_or_404(collection.folders, slug=folder)
    found.collection = collection
    return found


def get_saved_request(request: HttpRequest, slug: str, saved: str) -> SavedRequest:
    """A request of a collection of the user's, or 404."""
    collection = get_collection(request, slug)
    requests = collection.requests.select_related("folder")
    found: SavedRequest = get_object_or_404(requests, slug=saved)
    found.collection = collection
    return found


def changed_response(response: HttpResponse) -> HttpResponse:
    """The answer to a change of a collection: the page is told, unless it gives way to another."""
    if "HX-Redirect" in response:
        return response
    return trigger_client_event(response, CHANGED)


def redirect_with_note(
    request: HttpRequest, target: str | Collection, note: str = "", undo: str = ""
) -> HttpResponse:
    """Lead to another page after a change, which says `note` with a way to take it back."""
    if note:
        messages.success(request, note, extra_tags=undo)
    response = redirect(target)
    return HttpResponseClientRedirect(response.url) if is_htmx(request) else response


def moved_response(request: HttpRequest, collection: Collection) -> HttpResponse:
    """The answer to a new place: nothing, where the page has moved it by itself already."""
    if is_htmx(request):
        return changed_response(HttpResponse(status=204))
    return redirect(collection)
