"""Folders of a collection: made, named, moved, made twice."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from playground.collection_forms import FolderForm, PlaceForm
from playground.library import organising
from playground.models import Collection, Folder
from playground.views.collections import outline_of, render_form
from playground.views.shelf import changed, collection_of, folder_of, gone_to, is_partial, placed


@require_http_methods(["GET", "HEAD", "POST"])
def folders(request: HttpRequest, slug: str) -> HttpResponse:
    """GET is the form for a new folder; POST makes it, at the end."""
    collection = collection_of(request, slug)
    if request.method != "POST":
        return _form(request, FolderForm(), collection)
    form = FolderForm(request.POST, instance=Folder(collection=collection))
    if not form.is_valid():
        return _form(request, form, collection, status=422)
    folder = form.save()
    organising.place_folder(folder, organising.END)
    return _group(request, folder)


@require_http_methods(["GET", "HEAD", "POST"])
def details(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """GET is the form for name and description; POST saves it."""
    found = folder_of(request, slug, folder)
    if request.method != "POST":
        return _form(request, FolderForm(instance=found), found.collection, found)
    form = FolderForm(request.POST, instance=found)
    if not form.is_valid():
        return _form(request, form, found.collection, folder_of(request, slug, folder), 422)
    form.save()
    organising.touch(found.collection)
    if not is_partial(request):
        return gone_to(request, found.collection)
    return changed(render(request, "collections/folder_head.html", {"folder": found}))


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


@require_POST
def place(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Put the folder elsewhere in its collection, or at the end of another (`collection`)."""
    found = folder_of(request, slug, folder)
    form = PlaceForm(request.POST)
    if not form.is_valid():
        return placed(request, found.collection)
    wanted = request.POST.get("collection", slug)
    if wanted == slug:
        organising.place_folder(found, form.where)
        return placed(request, found.collection)
    target = collection_of(request, wanted)
    organising.move_folder(found, target)
    return changed(gone_to(request, target, f"{found.name} was moved here."))


@require_POST
def duplication(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Make the folder with its requests once more, behind the first."""
    return _group(request, organising.duplicate_folder(folder_of(request, slug, folder)))


def _group(request: HttpRequest, folder: Folder) -> HttpResponse:
    """A folder that is new, with what is in it."""
    if not is_partial(request):
        return gone_to(request, f"{folder.collection.get_absolute_url()}#folder-{folder.slug}")
    group = outline_of(request, folder.collection).group(folder)
    return changed(render(request, "collections/group.html", {"group": group}))
