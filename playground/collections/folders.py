"""Folders of a collection: create, edit, move and duplicate them."""

from __future__ import annotations

from dataclasses import asdict, replace

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from playground.collections import ordering
from playground.collections.forms import FolderForm, PositionForm
from playground.collections.views import outline_of, render_form
from playground.models import Collection, Folder
from playground.ui.helpers import (
    changed_response,
    get_collection,
    get_folder,
    is_htmx,
    moved_response,
    redirect_with_note,
    save_form,
)

_SALT = "playground.folder.origin"
#: Maximum length of a URL that browsers and servers accept.
_LONGEST = 4000


@require_http_methods(["GET", "HEAD", "POST"])
def folders(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new folder (GET), or create it at the end (POST)."""
    collection = get_collection(request, slug)
    if request.method != "POST":
        return _form(request, FolderForm(), collection)
    form = FolderForm(request.POST, instance=Folder(collection=collection))
    if not form.is_valid() or not (folder := save_form(form)):
        return _form(request, form, collection, status=422)
    ordering.reorder_folder(folder, ordering.END)
    return _group(request, folder)


@require_http_methods(["GET", "HEAD", "POST"])
def details(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Show the form of name and description (GET), or save it (POST)."""
    found = get_folder(request, slug, folder)
    if request.method != "POST":
        return _form(request, FolderForm(instance=found), found.collection, found)
    form = FolderForm(request.POST, instance=found)
    if not form.is_valid() or not save_form(form):
        return _form(request, form, found.collection, get_folder(request, slug, folder), 422)
    ordering.mark_modified(found.collection)
    if not is_htmx(request):
        return redirect_with_note(request, found.collection)
    return changed_response(render(request, "collections/page.html#folder_head", {"folder": found}))


def _form(
    request: HttpRequest,
    form: FolderForm,
    collection: Collection,
    folder: Folder | None = None,
    status: int = 200,
) -> HttpResponse:
    key = [collection.slug, folder.slug] if folder else [collection.slug]
    context = {
        "form": form,
        "collection": collection,
        "thing": "folder",
        "item": folder,
        "action": reverse("folder-details" if folder else "folders", args=key),
        "target": f"#folder-{folder.slug} .folder-head" if folder else "#outline",
        "swap": "outerHTML" if folder else "beforeend",
    }
    return render_form(request, context, status)


@require_http_methods(["GET", "HEAD", "POST"])
def move(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Show the collections to move the folder to (GET), or move it (POST).

    POST moves it within its collection, to the end of another (`collection`), or back to its
    former position (`?back=`, from the response to the move).
    """
    found = get_folder(request, slug, folder)
    if request.method != "POST":
        return _move_form(request, found)
    if back := request.GET.get("back"):
        return _move_back(request, found, back)
    form = PositionForm(request.POST)
    if not form.is_valid():
        return moved_response(request, found.collection)
    target_slug = request.POST.get("collection", slug)
    if target_slug == slug:
        ordering.reorder_folder(found, form.relative_position)
        return moved_response(request, found.collection)
    target = get_collection(request, target_slug)
    position = ordering.move_folder(found, target)
    undo = f"{reverse('folder-move', args=[target.slug, found.slug])}?back={_signed(position)}"
    return changed_response(
        redirect_with_note(request, target, f"{found.name} was moved here.", undo)
    )


def _move_form(request: HttpRequest, folder: Folder) -> HttpResponse:
    others = Collection.objects.owned_by(request.user).exclude(pk=folder.collection_id)
    context = {"folder": folder, "collection": folder.collection, "collections": others}
    template = "collections/move_folder_page.html" + ("#move" if is_htmx(request) else "")
    return render(request, template, context)


def _signed(position: ordering.FormerPosition) -> str:
    """Return a former position for a URL; signed, because its slugs are used unchecked."""
    signed = signing.dumps(asdict(position), salt=_SALT, compress=True)
    if len(signed) <= _LONGEST:
        return signed
    # The folder moves back all the same; requests that got other slugs keep those.
    return signing.dumps(asdict(replace(position, requests={})), salt=_SALT)


def _move_back(request: HttpRequest, folder: Folder, signed: str) -> HttpResponse:
    try:
        position = ordering.FormerPosition(**signing.loads(signed, salt=_SALT))
    except signing.BadSignature as error:
        raise Http404 from error
    target = get_collection(request, position.collection)
    ordering.move_folder(folder, target, position)
    return changed_response(redirect_with_note(request, target, f"Moved {folder.name} back."))


@require_POST
def duplication(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Duplicate the folder with its requests, behind the original."""
    found = get_folder(request, slug, folder)
    return _group(request, ordering.duplicate_folder(found))


def _group(request: HttpRequest, folder: Folder) -> HttpResponse:
    """Render a new folder with its requests."""
    if not is_htmx(request):
        return redirect_with_note(
            request, f"{folder.collection.get_absolute_url()}#folder-{folder.slug}"
        )
    group = outline_of(request, folder.collection).group(folder)
    return changed_response(render(request, "collections/page.html#group", {"group": group}))
