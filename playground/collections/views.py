"""Collections: the list, the page of one, its form; moving and duplicating it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget

from playground.base.query_params import int_param
from playground.collections import files, ordering, trash
from playground.collections.forms import CollectionForm, PositionForm
from playground.collections.outline import Outline, counted
from playground.collections.trash import undo_url
from playground.models import Agent, Collection
from playground.models.ownership import owner_of
from playground.ui.helpers import (
    changed_response,
    get_collection,
    is_htmx,
    moved_response,
    redirect_with_note,
    save_form,
)


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def collections(request: HttpRequest) -> HttpResponse:
    """List the collections (GET), or create one (POST)."""
    if request.method != "POST":
        return render(request, "collections/list.html", list_context(request))
    owner = owner_of(request.user)
    form = CollectionForm(request.POST, instance=Collection(owner=owner))
    if not form.is_valid() or not (collection := save_form(form)):
        return _form(request, form, status=422)
    ordering.move_collection(collection, ordering.END)
    return changed_response(redirect_with_note(request, collection))


def list_context(request: HttpRequest) -> dict[str, Any]:
    """Return the user's collections, without lessons, with the number of their requests."""
    owned = Collection.objects.owned_by(request.user)
    found = counted(owned.filter(lesson__isnull=True))
    removals = [
        (trash.label(part), part.deleted_at, undo_url(part))
        for part in trash.recently_deleted(Collection.with_trashed.owned_by(request.user))
    ]
    return {
        "collections": found,
        "removals": removals,
        "shipped": [each for each in files.missing() if not each.is_lesson],
    }


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """Show the form of a new collection."""
    return _form(request, CollectionForm())


@require_safe
@ensure_csrf_cookie
def collection(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a collection: its description, and its requests in order."""
    found = get_collection(request, slug)
    shown = outline_of(request, found)
    context = {
        "collection": found,
        "groups": shown.groups(),
        "more_url": shown.more_url,
        "total": found.requests.count(),
    }
    return render(request, "collections/page.html", context)


def outline_of(request: HttpRequest, collection: Collection) -> Outline:
    """Return the outline of a collection with the names of the user's agents."""
    agents = Agent.objects.owned_by(request.user).values_list("slug", "name")
    return Outline(collection, dict(agents))


@require_safe
def outline(request: HttpRequest, slug: str) -> HttpResponse:
    """Show more requests of a `folder` (after `from`), or more folders (after `folders`)."""
    found = get_collection(request, slug)
    if after := request.GET.get("folders", ""):
        shown = outline_of(request, found)
        context = {"groups": shown.groups(after), "more_url": shown.more_url}
        return render(request, "collections/page.html#groups", context)
    folder = found.folders.filter(slug=request.GET.get("folder", "")).first()
    group = outline_of(request, found).group(folder, int_param(request.GET, "from", 0))
    return render(request, "collections/page.html#rows", {"group": group})


@require_http_methods(["GET", "HEAD", "POST"])
def details(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of name and description (GET), or save it (POST)."""
    found = get_collection(request, slug)
    if request.method != "POST":
        return _form(request, CollectionForm(instance=found), get_collection(request, slug))
    form = CollectionForm(request.POST, instance=found)
    if not form.is_valid() or not save_form(form):
        return _form(request, form, get_collection(request, slug), 422)
    ordering.mark_modified(found)
    if not is_htmx(request):
        return redirect_with_note(request, found)
    response = render(request, "collections/page.html#head", {"collection": found})
    return changed_response(response)


def _form(
    request: HttpRequest,
    form: CollectionForm,
    collection: Collection | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render the form on its own page, or in the sheet of the page that requested it."""
    url = reverse("collection-details", args=[collection.slug]) if collection else ""
    context = {
        "form": form,
        "collection": collection,
        "thing": "collection",
        "item": collection,
        "action": url or reverse("collections"),
        "target": "#collection-head" if collection else "",
    }
    return render_form(request, context, status)


def render_form(request: HttpRequest, context: dict[str, Any], status: int) -> HttpResponse:
    """Render a form of collections, folders or saved requests: in a sheet, or on a page."""
    if not is_htmx(request):
        # The page also has the commands of a row's menu.
        context["place"] = str(context["action"]).removesuffix("details/")
        return render(request, "collections/form_page.html", context, status=status)
    response = render(request, "collections/form_page.html#form", context, status=status)
    # A form with errors stays in the sheet.
    return response if status == 200 else reswap(retarget(response, "#sheet-body"), "innerHTML")


@require_POST
def position(request: HttpRequest, slug: str) -> HttpResponse:
    """Move the collection among those of the user."""
    found = get_collection(request, slug)
    form = PositionForm(request.POST)
    if form.is_valid():
        ordering.move_collection(found, form.relative_position)
    return moved_response(request, found)


@require_POST
def duplication(request: HttpRequest, slug: str) -> HttpResponse:
    """Duplicate the collection, and open the copy."""
    found = get_collection(request, slug)
    duplicate = ordering.duplicate_collection(found)
    return changed_response(
        redirect_with_note(request, duplicate, f"{duplicate.name} was created.")
    )
