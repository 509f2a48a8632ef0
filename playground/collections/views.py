"""Pages of collections, and their parts: collections, folders and saved requests.

One view serves all three kinds: the URL names a collection, and perhaps a folder or request in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from django import forms
from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import reswap, retarget

from playground.base.fields import int_param
from playground.collections import files, ordering, trash
from playground.collections.ordering import END, RelativePosition
from playground.collections.outline import Outline, with_count
from playground.collections.trash import Part, collection_of, kind, part_of
from playground.models import Agent, Collection, Folder, SavedRequest
from playground.models.rows import owner_of
from playground.ui.helpers import (
    changed_response,
    get_collection,
    get_folder,
    get_saved_request,
    is_htmx,
    moved_response,
    redirect_with_note,
    save_form,
)
from playground.ui.markdown import MAX_TEXT

_SALT = "playground.folder.origin"
#: Maximum length of a URL that browsers and servers accept.
_LONGEST = 4000


class MarkdownField(forms.CharField):
    """A field of several lines of Markdown; CRLF, as browsers send it, becomes LF."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs["max_length"] = kwargs.get("max_length") or MAX_TEXT
        super().__init__(**{**kwargs, "required": False, "widget": forms.Textarea})

    def to_python(self, value: Any) -> str:
        text = str(super().to_python(value))
        return text.replace("\r\n", "\n").replace("\r", "\n")


#: Forms of the name and the text of a part; the workbench edits the document of a request.
_FORMS: Mapping[type[Part], type[forms.ModelForm[Any]]] = {
    model: forms.modelform_factory(
        model,
        fields=["name", text],
        field_classes={text: MarkdownField},
        help_texts={text: "Markdown: **bold**, lists, links, code."},
    )
    for model, text in (
        (Collection, "description"),
        (Folder, "description"),
        (SavedRequest, "notes"),
    )
}

#: Element of the page that the saved form replaces, by the kind of part.
_TARGETS = {
    "collection": "#collection-head",
    "folder": "#folder-{} .folder-head",
    "request": "#request-{}",
}


class PositionForm(forms.Form):
    """A form of a position: before or after a sibling, or a number of steps away."""

    before = forms.CharField(required=False, max_length=200)
    after = forms.CharField(required=False, max_length=200)
    step = forms.IntegerField(required=False, min_value=-100_000, max_value=100_000)

    @property
    def relative_position(self) -> RelativePosition:
        """Return the position; the end for invalid fields."""
        found = self.cleaned_data
        return RelativePosition(
            found.get("before", ""), found.get("after", ""), found.get("step") or 0
        )


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def collections(request: HttpRequest) -> HttpResponse:
    """List the collections (GET), or create one (POST)."""
    if request.method != "POST":
        return render(request, "collections/list.html", list_context(request))
    form = _form_of(request, Collection(owner=owner_of(request.user)))
    if not form.is_valid() or not (collection := save_form(form)):
        return _form(request, form)
    ordering.move_collection(collection, END)
    return changed_response(redirect_with_note(request, collection))


def list_context(request: HttpRequest) -> dict[str, Any]:
    """Return the user's collections, without lessons, with the number of their requests."""
    owned = Collection.objects.owned_by(request.user)
    found = with_count(owned.filter(lesson__isnull=True), "collection")
    removals = [
        (trash.label(part), part.deleted_at, trash.undo_url(part))
        for part in trash.recently_deleted(Collection.with_trashed.owned_by(request.user))
    ]
    return {
        "collections": found,
        "removals": removals,
        "shipped": [each for each in files.missing() if not each.is_lesson],
    }


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    return _form(request, _form_of(request, Collection()))


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
def folders(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form of a new folder (GET), or create it at the end (POST)."""
    collection = get_collection(request, slug)
    form = _form_of(request, Folder(collection=collection))
    if not form.is_valid() or not (folder := save_form(form)):
        return _form(request, form, collection)
    ordering.reorder_folder(folder, END)
    return _added(request, folder)


@require_http_methods(["GET", "HEAD", "POST"])
def details(request: HttpRequest, slug: str, folder: str = "", saved: str = "") -> HttpResponse:
    """Show the form of name and text of a part (GET), or save it (POST)."""
    part = part_of(request, slug, folder, saved)
    form = _form_of(request, part)
    if not form.is_valid() or not save_form(form):
        stored = part_of(request, slug, folder, saved)
        return _form(request, form, collection_of(stored), stored)
    collection = collection_of(part)
    ordering.mark_modified(collection)
    if not is_htmx(request):
        return redirect_with_note(request, collection)
    if isinstance(part, SavedRequest):
        return _row(request, part)
    name = "head" if part is collection else "folder_head"
    response = render(request, f"collections/page.html#{name}", {kind(part): part})
    return changed_response(response)


def _form_of(request: HttpRequest, part: Part) -> forms.ModelForm[Any]:
    data = request.POST if request.method == "POST" else None
    return _FORMS[type(part)](data, instance=part)


def _form(
    request: HttpRequest,
    form: forms.ModelForm[Any],
    collection: Collection | None = None,
    part: Part | None = None,
) -> HttpResponse:
    """Render the form of a part, or of a new one: on its own page, or in the sheet of the page."""
    thing = kind(form.instance)
    action = request.path if collection else reverse("collections")
    context = {
        "form": form,
        "collection": collection,
        "thing": thing,
        "item": part,
        "action": action,
        "target": "#outline" if collection else "",
        "swap": "beforeend" if collection else "",
        # The page also has the commands of a row's menu.
        "place": action.removesuffix("details/"),
    }
    if part:
        context |= {"target": _TARGETS[thing].format(part.slug), "swap": "outerHTML"}
    status = 422 if form.is_bound else 200
    if not is_htmx(request):
        return render(request, "collections/form_page.html", context, status=status)
    response = render(request, "collections/form_page.html#form", context, status=status)
    # A form with errors stays in the sheet.
    return reswap(retarget(response, "#sheet-body"), "innerHTML") if form.is_bound else response


@require_POST
def duplication(request: HttpRequest, slug: str, folder: str = "", saved: str = "") -> HttpResponse:
    """Duplicate a part, behind the original; open the copy of a collection."""
    part = part_of(request, slug, folder, saved)
    if isinstance(part, Folder):
        return _added(request, ordering.duplicate_folder(part))
    if isinstance(part, Collection):
        copy = ordering.duplicate_collection(part)
        note = f"{copy.name} was created."
        return changed_response(redirect_with_note(request, copy, note))
    duplicate = ordering.duplicate_request(part)
    if not is_htmx(request):
        return redirect_with_note(request, duplicate.collection)
    return _row(request, duplicate)


def _row(request: HttpRequest, saved: SavedRequest) -> HttpResponse:
    row = outline_of(request, saved.collection).row(saved)
    return changed_response(render(request, "collections/page.html#row", {"row": row}))


def _added(request: HttpRequest, folder: Folder) -> HttpResponse:
    if not is_htmx(request):
        url = f"{folder.collection.get_absolute_url()}#folder-{folder.slug}"
        return redirect_with_note(request, url)
    group = outline_of(request, folder.collection).group(folder)
    return changed_response(render(request, "collections/page.html#group", {"group": group}))


@require_POST
def move_collection(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_collection(request, slug)
    form = PositionForm(request.POST)
    if form.is_valid():
        ordering.move_collection(found, form.relative_position)
    return moved_response(request, found)


@require_http_methods(["GET", "HEAD", "POST"])
def move_request(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Show the collections to move it to (GET), or move it (POST).

    `folder` is a folder's slug, "" for none; without it the folder stays. `to`, from the form, is
    "collection" or "collection/folder", and moves it to the end of that.
    """
    found = get_saved_request(request, slug, saved)
    if request.method != "POST":
        owned = Collection.objects.owned_by(request.user).prefetch_related("folders")
        context = {"saved": found, "collection": found.collection, "collections": owned}
        name = "collections/move_page.html" + ("#request" if is_htmx(request) else "")
        return render(request, name, context)
    if "to" in request.POST:
        target_slug, _, folder = request.POST["to"].partition("/")
        target = get_collection(request, target_slug)
        ordering.move_request(found, target, _folder(target, folder))
        return changed_response(redirect_with_note(request, target, f"{found.name} was moved."))
    form = PositionForm(request.POST)
    if form.is_valid():
        slug_in_form = request.POST.get("folder")
        into = found.folder if slug_in_form is None else _folder(found.collection, slug_in_form)
        ordering.reorder_request(found, into, form.relative_position)
    return moved_response(request, found.collection)


def _folder(collection: Collection, slug: str) -> Folder | None:
    return get_object_or_404(collection.folders, slug=slug) if slug else None


@require_http_methods(["GET", "HEAD", "POST"])
def move_folder(request: HttpRequest, slug: str, folder: str) -> HttpResponse:
    """Show the collections to move the folder to (GET), or move it (POST).

    POST moves it within its collection, to the end of another (`collection`), or back to its
    former position (`?back=`, from the response to the move).
    """
    found = get_folder(request, slug, folder)
    if request.method != "POST":
        others = Collection.objects.owned_by(request.user).exclude(pk=found.collection_id)
        context = {"folder": found, "collection": found.collection, "collections": others}
        name = "collections/move_folder_page.html" + ("#move" if is_htmx(request) else "")
        return render(request, name, context)
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
