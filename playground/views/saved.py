"""Saved requests: keep what the composer holds, and open it again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_aware
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from playground.composer_form import SaveForm
from playground.library.recordings import RecordingError, record
from playground.models import Agent, Collection, Folder, SavedRequest
from playground.models.ownership import owner_of
from playground.views.helpers import find_run
from playground.views.keeping import Kept, last_position, read_kept, tab_data, tab_summary
from playground.views.workbench import page

MAX_NAME = 120
#: Name of the session's entry: where something was saved last.
LAST_COLLECTION_KEY = "last_place"


@require_http_methods(["GET", "HEAD", "POST"])
def saved_requests(request: HttpRequest) -> HttpResponse:
    """GET asks for a name and a place, POST keeps what the composer holds under them."""
    if request.method != "POST":
        return _ask(request, request.GET.dict(), [])
    try:
        with transaction.atomic():
            kept = read_kept(SaveForm(request.POST, request.user))
            saved = _create(request, kept)
    except (ValidationError, RecordingError) as error:
        messages = error.messages if isinstance(error, ValidationError) else [str(error)]
        return _ask(request, request.POST.dict(), messages, status=422)
    request.session[LAST_COLLECTION_KEY] = _place_of(saved)
    return _saved(saved, kept)


def _create(request: HttpRequest, kept: Kept) -> SavedRequest:
    """A new saved request at the end of the folder that was chosen."""
    form = request.POST
    name = form.get("name", "").strip()
    if not name:
        raise ValidationError("Give the request a name.")
    if len(name) > MAX_NAME:
        raise ValidationError(f"The name is longer than {MAX_NAME} characters.")
    collection, folder = _place(request)
    saved = SavedRequest(
        collection=collection,
        folder=folder,
        name=name,
        notes=form.get("notes", "").strip(),
        position=last_position(collection.requests.filter(folder=folder)),
    )
    if form.get("keep_reply") and (run := find_run(request, form.get("run", ""))):
        saved.reply = record(run)
    kept.put(saved)
    return saved


def _place(request: HttpRequest) -> tuple[Collection, Folder | None]:
    """The collection and folder of `place`: "slug", "slug/folder", or "" for a new one."""
    form = request.POST
    slug, _, folder_slug = form.get("place", "").partition("/")
    if slug:
        owned = Collection.objects.owned_by(request.user)
        if (collection := owned.filter(slug=slug).first()) is None:
            raise ValidationError("This collection is gone. Choose another one.")
        folder = collection.folders.filter(slug=folder_slug).first() if folder_slug else None
        if folder_slug and folder is None:
            raise ValidationError("This folder is gone. Choose another place.")
        return collection, folder
    name = form.get("collection", "").strip()
    if not name:
        raise ValidationError("Give the new collection a name.")
    if len(name) > MAX_NAME:
        raise ValidationError(f"The collection's name is longer than {MAX_NAME} characters.")
    owner = owner_of(request.user)
    others = Collection.objects.owned_by(request.user)
    last = others.order_by("position").last()
    position = last.position + 1 if last else 0
    return Collection.objects.create(owner=owner, name=name, position=position), None


def _ask(
    request: HttpRequest, form: dict[str, str], errors: list[str], status: int = 200
) -> HttpResponse:
    """The form that asks for name and place, filled in as far as it was."""
    collections = Collection.objects.owned_by(request.user).prefetch_related("folders")
    place = form.get("place", _proposed(request, form.get("saved", ""), collections))
    run = find_run(request, form.get("run", ""))
    context = {
        "collections": collections,
        "form": form | {"name": form.get("name", "")[:MAX_NAME], "place": place},
        "run": run if run and run.is_final else None,
        "errors": errors,
    }
    return render(request, "saved/save_as.html", context, status=status)


def _proposed(request: HttpRequest, opened: str, collections: Iterable[Collection]) -> str:
    """Where it would be saved: beside what is open, where the last one was, or in the newest."""
    slug, _, name = opened.partition("/")
    owned = SavedRequest.objects.filter(collection__in=Collection.objects.owned_by(request.user))
    beside = owned.select_related("folder", "collection").filter(collection__slug=slug, slug=name)
    known = {each.slug for each in collections}
    known |= {f"{each.slug}/{part.slug}" for each in collections for part in each.folders.all()}
    wanted = [*map(_place_of, beside), slug, request.session.get(LAST_COLLECTION_KEY, "")]
    newest = max(collections, key=lambda each: each.modified_at, default=None)
    return next((each for each in wanted if each in known), newest.slug if newest else "")


def _place_of(saved: SavedRequest) -> str:
    """Where it stands, as `place` says it."""
    folder = f"/{saved.folder.slug}" if saved.folder else ""
    return f"{saved.collection.slug}{folder}"


def saved_request(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """GET opens a saved request in the workbench (JSON for a tab of it), POST saves into it."""
    owned = SavedRequest.objects.select_related("collection", "folder", "recorded_run").filter(
        collection__in=Collection.objects.owned_by(request.user)
    )
    found = get_object_or_404(owned, collection__slug=slug, slug=saved)
    if request.method == "POST":
        return _update(request, found)
    if request.method in {"GET", "HEAD"}:
        return _open(request, found)
    return HttpResponseNotAllowed(["GET", "HEAD", "POST"])


@transaction.atomic
def _update(request: HttpRequest, found: SavedRequest) -> HttpResponse:
    """Save what the composer holds, unless somebody else has saved meanwhile."""
    # Of two at once the second waits here, where the database can: it reads what the first made.
    saved = get_object_or_404(SavedRequest.objects.select_for_update(), pk=found.pk)
    try:
        kept = read_kept(SaveForm(request.POST, request.user), saved)
    except ValidationError as error:
        context = {"saved": saved, "errors": error.messages}
        return render(request, "saved/errors.html", context, status=422)
    if not kept.put_over(saved, _since(request.POST)):
        saved = get_object_or_404(SavedRequest, pk=saved.pk)
        return render(request, "saved/conflict.html", {"saved": saved}, status=409)
    return _saved(saved, kept)


def _since(form: Mapping[str, str]) -> datetime | None:
    """When it was saved that the composer started from; None to overwrite whatever is stored."""
    moment = form.get("modified", "")
    if not moment or form.get("overwrite"):
        return None
    with contextlib.suppress(ValueError, OverflowError):
        if (found := parse_datetime(moment)) and is_aware(found):
            return found.astimezone(UTC)
    return datetime.min.replace(tzinfo=UTC)  # Nothing was saved then.


def _saved(saved: SavedRequest, kept: Kept) -> HttpResponse:
    """Tells the page under which name it was saved, and the sidebar that there is news."""
    told = tab_summary(saved) | {"dropped": kept.dropped}
    response = trigger_client_event(HttpResponse(), "request:saved", told)
    return trigger_client_event(response, "library:changed")


@ensure_csrf_cookie
def _open(request: HttpRequest, saved: SavedRequest) -> HttpResponse:
    agents = Agent.objects.owned_by(request.user)
    found = tab_data(saved, agents)
    run = saved.recorded_run
    # A reply that nobody has looked at yet becomes a run when it is asked for, and not by a GET.
    offered = saved if saved.reply is not None and run is None else None
    if request.accepts("application/json") and not request.accepts("text/html"):
        shown = {"run": str(run.pk) if run else "", "offers_reply": offered is not None}
        response: HttpResponse = JsonResponse(found | shown)
    else:
        composed = found["fields"]
        way = {name: composed[name] for name in ("protocol", "version", "binding")}
        response = page(
            request,
            agents.filter(slug=composed["agent"]).first(),
            run,
            saved.document,
            saved.headers,
            composed=composed,
            saved=found,
            reply=offered,
            **way,
        )
    patch_vary_headers(response, ["Accept"])
    return response
