"""Folders of a collection: made, named, moved, made twice."""

from __future__ import annotations

from dataclasses import asdict, replace

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from playground.collection_forms import FolderForm, PositionForm
from playground.library import organising
from playground.models import Collection, Folder
from playground.views.collections import outline_of, render_form
from playground.views.helpers import is_htmx
from playground.views.shelf import (
    changed_response,
    get_collection,
    get_folder,
    moved_response,
    redirect_with_note,
)

_SALT = "playground.folder.origin"
#: Characters of an address that a browser and every server on the way take.
_LONGEST = 4000


@require_http_methods(["GET", "HEAD", "POST"])
def folders(request: HttpRequest, slug: str) -> HttpResponse:
    """GET is the form for a new folder; POST makes it, at the end."""
    collection = get_collection(request, slug)
    if request.method != "POST":
        return _form(request, FolderForm(), collection)
    form = FolderForm(request.POST, instance=Folder(collection=collection))
    if not form.is_valid():
        return _form(request, form, collection, status=422)
    folder = form.save()
    organising.reorder_folder(folder, organising.END)
    return _group(request, folder)


@require_http_methods(["GET", "HEAD", "POST"])
def details(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """GET is the form for name and description; POST saves it."""
    found = get_folder(request, slug, folder)
    if request.method != "POST":
        return _form(request, FolderForm(instance=found), found.collection, found)
    form = FolderForm(request.POST, instance=found)
    if not form.is_valid():
        return _form(request, form, found.collection, get_folder(request, slug, folder), 422)
    form.save()
    organising.mark_modified(found.collection)
    if not is_htmx(request):
        return redirect_with_note(request, found.collection)
    return changed_response(render(request, "collections/folder_head.html", {"folder": found}))


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
    """GET asks which collection to move it to; POST moves it.

    Elsewhere in its collection, to the end of another (`collection`), or back to where it was
    (`?back=`, which the answer to the move has brought).
    """
    found = get_folder(request, slug, folder)
    if request.method != "POST":
        return _places(request, found)
    if back := request.GET.get("back"):
        return _moved_back(request, found, back)
    form = PositionForm(request.POST)
    if not form.is_valid():
        return moved_response(request, found.collection)
    wanted = request.POST.get("collection", slug)
    if wanted == slug:
        organising.reorder_folder(found, form.relative_position)
        return moved_response(request, found.collection)
    target = get_collection(request, wanted)
    origin = organising.move_folder(found, target)
    undo = f"{reverse('folder-move', args=[target.slug, found.slug])}?back={_signed(origin)}"
    return changed_response(
        redirect_with_note(request, target, f"{found.name} was moved here.", undo)
    )


def _places(request: HttpRequest, folder: Folder) -> HttpResponse:
    others = Collection.objects.owned_by(request.user).exclude(pk=folder.collection_id)
    context = {"folder": folder, "collection": folder.collection, "collections": others}
    part = is_htmx(request)
    name = "collections/move_folder.html" if part else "collections/move_folder_page.html"
    return render(request, name, context)


def _signed(origin: organising.FormerPosition) -> str:
    """Where a folder was, for an address; signed, because slugs in it are taken as they are."""
    signed = signing.dumps(asdict(origin), salt=_SALT, compress=True)
    if len(signed) <= _LONGEST:
        return signed
    # The folder comes back all the same; requests that had to take other slugs keep those.
    return signing.dumps(asdict(replace(origin, requests={})), salt=_SALT)


def _moved_back(request: HttpRequest, folder: Folder, signed: str) -> HttpResponse:
    try:
        origin = organising.FormerPosition(**signing.loads(signed, salt=_SALT))
    except signing.BadSignature as error:
        raise Http404 from error
    target = get_collection(request, origin.collection)
    organising.move_folder(folder, target, origin)
    return changed_response(redirect_with_note(request, target, f"{folder.name} was moved back."))


@require_POST
def duplication(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Make the folder with its requests once more, behind the first."""
    return _group(request, organising.duplicate_folder(get_folder(request, slug, folder)))


def _group(request: HttpRequest, folder: Folder) -> HttpResponse:
    """A folder that is new, with what is in it."""
    if not is_htmx(request):
        return redirect_with_note(
            request, f"{folder.collection.get_absolute_url()}#folder-{folder.slug}"
        )
    group = outline_of(request, folder.collection).group(folder)
    return changed_response(render(request, "collections/group.html", {"group": group}))
