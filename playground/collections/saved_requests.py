"""Saved requests: save, open and overwrite them, and edit their notes."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Max
from django.forms import ValidationError
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_aware
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods
from django_htmx.http import trigger_client_event

from playground.base.credentials import clean_auth, clean_headers, clean_url_template
from playground.collections import ordering
from playground.collections.files import shipped_slugs
from playground.collections.recordings import RecordingError, record
from playground.composer.forms import SaveForm
from playground.composer.views import tab_data, tab_summary
from playground.composer.workbench import page
from playground.engine.preparation import agent_for_url, version_and_binding
from playground.engine.request import request_to
from playground.models import Agent, Collection, Folder, LimitError, SavedRequest
from playground.models.collections import STEP, resolve_target
from playground.models.rows import owner_of
from playground.models.storage import check_rows
from playground.protocols.origins import MAX_URL
from playground.ui.helpers import (
    CHANGED,
    find_run,
    get_saved_request,
)

MAX_NAME = 120
#: Longest notes that are saved from the workbench.
MAX_NOTES = 100_000
#: Name of the collection that the first save creates.
FIRST_COLLECTION = "My requests"
#: Session key of the shipped collections whose requests the user has chosen to change.
CHANGED_SHIPPED_KEY = "changed_shipped"
#: Session key of the collection and folder in which a request was saved last.
LAST_COLLECTION_KEY = "last_place"


@require_http_methods(["GET", "HEAD", "POST"])
def saved_requests(request: HttpRequest) -> HttpResponse:
    """Show the form for a name and a collection (GET), or save the composer's request (POST)."""
    if request.method != "POST":
        return _save_form(request, request.GET.dict(), [])
    try:
        with transaction.atomic():
            fields, dropped = saved_fields(SaveForm(request.POST, request.user))
            saved = _create(request, fields)
    except (ValidationError, RecordingError) as error:
        messages = error.messages if isinstance(error, ValidationError) else [str(error)]
        return _save_form(request, request.POST.dict(), messages, status=422)
    request.session[LAST_COLLECTION_KEY] = _location_of(saved)
    return _saved_response(saved, dropped)


def _create(request: HttpRequest, fields: Mapping[str, Any]) -> SavedRequest:
    """Create a saved request at the end of the selected folder."""
    form = request.POST
    name = form.get("name", "").strip()
    if not name:
        raise ValidationError("Enter a name for the request.")
    if len(name) > MAX_NAME:
        raise ValidationError(f"The name is longer than {MAX_NAME} characters.")
    collection, folder = _selected_folder(request)
    siblings = collection.requests.filter(folder=folder)
    saved = SavedRequest(
        collection=collection,
        folder=folder,
        name=name,
        notes=form.get("notes", "").strip(),
        position=(siblings.aggregate(last=Max("position"))["last"] or 0) + STEP,
    )
    if form.get("keep_reply") and (run := find_run(request, form.get("run", ""))):
        saved.reply = record(run)
    _store(saved, fields)
    return saved


def _selected_folder(request: HttpRequest) -> tuple[Collection, Folder | None]:
    """Return the collection and folder of `place`: "slug", "slug/folder", or "" for a new one."""
    form = request.POST
    slug, _, folder_slug = form.get("place", "").partition("/")
    if slug:
        owned = Collection.objects.owned_by(request.user)
        if (collection := owned.filter(slug=slug).first()) is None:
            raise ValidationError("This collection was deleted. Choose another one.")
        folder = collection.folders.filter(slug=folder_slug).first() if folder_slug else None
        if folder_slug and folder is None:
            raise ValidationError("This folder was deleted. Choose another location.")
        return collection, folder
    name = form.get("collection", "").strip()
    if not name:
        raise ValidationError("Enter a name for the new collection.")
    if len(name) > MAX_NAME:
        raise ValidationError(f"The collection's name is longer than {MAX_NAME} characters.")
    owner = owner_of(request.user)
    others = Collection.objects.owned_by(request.user)
    last = others.order_by("position").last()
    position = last.position + 1 if last else 0
    return Collection.objects.create(owner=owner, name=name, position=position), None


def _save_form(
    request: HttpRequest, form: dict[str, str], errors: list[str], status: int = 200
) -> HttpResponse:
    collections = Collection.objects.owned_by(request.user).prefetch_related("folders")
    shipped = shipped_slugs()
    own = [each for each in collections if each.slug not in shipped]
    place = form.get("place", _proposed_location(request, form.get("saved", ""), own))
    run = find_run(request, form.get("run", ""))
    given = {
        "name": form.get("name", "")[:MAX_NAME],
        "place": place,
        "collection": form.get("collection", FIRST_COLLECTION),
    }
    context = {
        "own": own,
        "shipped": [each for each in collections if each.slug in shipped],
        "form": form | given,
        "run": run if run and run.is_final else None,
        "errors": errors,
    }
    return render(request, "collections/saved.html#save_as", context, status=status)


def _proposed_location(request: HttpRequest, opened: str, own: Sequence[Collection]) -> str:
    """Return the proposed location: that of the open request, the last used, or the newest.

    It is in one of the user's `own` collections, and "" for a new one where there is none:
    collections that come with the playground are saved to by choice only.
    """
    slug, _, name = opened.partition("/")
    owned = SavedRequest.objects.filter(collection__in=own)
    beside = owned.select_related("folder", "collection").filter(collection__slug=slug, slug=name)
    known = {each.slug for each in own}
    known |= {f"{each.slug}/{folder.slug}" for each in own for folder in each.folders.all()}
    candidates = [*map(_location_of, beside), slug, request.session.get(LAST_COLLECTION_KEY, "")]
    newest = max(own, key=lambda each: each.modified_at, default=None)
    return next((each for each in candidates if each in known), newest.slug if newest else "")


def _location_of(saved: SavedRequest) -> str:
    """Return the collection and folder of a saved request, as `place` has it."""
    folder = f"/{saved.folder.slug}" if saved.folder else ""
    return f"{saved.collection.slug}{folder}"


def saved_request(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Open a saved request in the workbench (GET; JSON for a tab), or overwrite it (POST)."""
    found = get_saved_request(request, slug, saved, "recorded_run")
    if request.method == "POST":
        return _update(request, found)
    if request.method in {"GET", "HEAD"}:
        return _open(request, found)
    return HttpResponseNotAllowed(["GET", "HEAD", "POST"])


@transaction.atomic
def _update(request: HttpRequest, found: SavedRequest) -> HttpResponse:
    """Overwrite it with the composer's request, unless it was saved in the meantime."""
    # A concurrent update waits here, where the database has row locks, and reads the result.
    saved = get_object_or_404(SavedRequest.objects.select_for_update(), pk=found.pk)
    try:
        fields, dropped = saved_fields(SaveForm(request.POST, request.user), saved)
        if not _may_change(request, saved.collection):
            return render(request, "collections/saved.html#shipped", {"saved": saved}, status=409)
        is_saved = _store(saved, fields, _expected_version(request.POST))
    except ValidationError as error:
        context = {"saved": saved, "errors": error.messages}
        return render(request, "collections/saved.html#errors", context, status=422)
    if not is_saved:
        saved = get_object_or_404(SavedRequest, pk=saved.pk)
        return render(request, "collections/saved.html#conflict", {"saved": saved}, status=409)
    return _saved_response(saved, dropped)


def _may_change(request: HttpRequest, collection: Collection) -> bool:
    """Return whether a request of this collection may be overwritten without asking.

    Those of a shipped collection may once the user has chosen that, in this session.
    """
    chosen = request.session.get(CHANGED_SHIPPED_KEY, [])
    if collection.slug in chosen or collection.slug not in shipped_slugs():
        return True
    if not request.POST.get("shipped"):
        return False
    request.session[CHANGED_SHIPPED_KEY] = [*chosen, collection.slug]
    return True


def _expected_version(form: Mapping[str, str]) -> datetime | None:
    """Return when the composer's version was saved; None to overwrite any version."""
    moment = form.get("modified", "")
    if not moment or form.get("overwrite"):
        return None
    with contextlib.suppress(ValueError, OverflowError):
        if (found := parse_datetime(moment)) and is_aware(found):
            return found.astimezone(UTC)
    return datetime.min.replace(tzinfo=UTC)  # No version was saved then.


@ensure_csrf_cookie
def _open(request: HttpRequest, saved: SavedRequest) -> HttpResponse:
    """Render the workbench with a saved request, or return it as JSON."""
    agents = Agent.objects.owned_by(request.user)
    found = tab_data(saved, agents)
    run = saved.recorded_run
    # A saved response becomes a run when the user requests it, and not by a GET.
    offered = saved if saved.reply is not None and run is None else None
    if request.accepts("application/json") and not request.accepts("text/html"):
        shown = {"run": str(run.pk) if run else "", "offers_reply": offered is not None}
        response: HttpResponse = JsonResponse(found | shown)
    else:
        fields = found["fields"]
        agent = agents.filter(slug=fields["agent"]).first()
        response = page(request, agent, run, fields, saved=found, noted=saved, reply=offered)
    patch_vary_headers(response, ["Accept"])
    return response


def _saved_response(saved: SavedRequest, dropped: list[str]) -> HttpResponse:
    """Return events with the name that it was saved under, and one that reloads the sidebar."""
    event = tab_summary(saved) | {"dropped": dropped, "collection": saved.collection.name}
    response = trigger_client_event(HttpResponse(), "request:saved", event)
    return trigger_client_event(response, CHANGED)


@require_http_methods(["GET", "HEAD", "POST"])
def notes(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Show the notes of a request (GET), or save them (POST).

    `in=workbench` shows them as the workbench does, `in=form` in a form.
    """
    found = get_saved_request(request, slug, saved)
    if request.method == "POST":
        found.notes = request.POST.get("notes", "").strip()[:MAX_NOTES]
        try:
            # Not its time of change: an open tab may still save the request.
            found.save(update_fields=["notes"])
        except LimitError as error:
            context = {"noted": found, "is_edited": True, "error": str(error)}
            return render(request, "collections/saved.html#notes", context, status=422)
        ordering.mark_modified(found.collection)
        return render(request, "collections/saved.html#notes", {"noted": found})
    place = request.GET.get("in", "")
    if place in {"workbench", "form"}:
        return render(
            request, "collections/saved.html#notes", {"noted": found, "is_edited": place == "form"}
        )
    return render(request, "collections/page.html#notes", {"saved": found})


def _store(saved: SavedRequest, fields: Mapping[str, Any], since: datetime | None = None) -> bool:
    """Save the composer's fields to a new request, or over one that is stored.

    Return False, with nothing saved, where it was saved after `since` or deleted: the condition is
    in the same statement as the update. Its name, notes and position stay as they are stored.
    """
    # A clock that does not advance must not give two versions the same time.
    saved.modified_at = max(timezone.now(), saved.modified_at + timedelta(microseconds=1))
    for name, value in fields.items():
        setattr(saved, name, value)
    if saved.pk is None:
        saved.save()
    else:
        check_rows([saved], added=0)
        rows = SavedRequest.objects.filter(pk=saved.pk)
        rows = rows.filter(modified_at=since) if since else rows
        if not rows.update(**fields, modified_at=saved.modified_at):
            return False
    Collection.objects.filter(pk=saved.collection.pk).update(modified_at=saved.modified_at)
    return True


def saved_fields(
    form: SaveForm, saved: SavedRequest | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the composer's fields to save. Raises `ValidationError` with a sentence.

    No field has credentials; the second value names those of which a literal one was removed.

    A document that could not be sent yet can be saved; one that is no JSON object cannot. `saved`
    is the request to overwrite.
    """
    if form.first_error:
        raise ValidationError(form.first_error)
    given = form.cleaned_data
    agent, document = given["agent"], given["document"]
    headers = [list(pair) for pair in given["headers"]]
    address = given["address"]
    default_agent = agent or agent_for_url(address, given["protocol"], None)
    version, binding = version_and_binding(default_agent, given["version"], given["binding"])
    if agent is not None:
        prepared = request_to(agent, document, (), version=version, binding=binding)
        address = prepared.target.url
        host = urlsplit(address).hostname or ""
        if host in ("localhost", "::1") or host.startswith("127."):
            address = ""  # Users without that agent would call their own machine.
    if len(address) > MAX_URL:
        raise ValidationError(f"The URL is longer than {MAX_URL:,} characters.")
    kept = clean_headers(headers), clean_url_template(address)
    dropped = [name for (name, was), (_, now) in zip(headers, kept[0], strict=True) if was != now]
    if kept[1] != address:
        dropped.append("the URL")
    auth = clean_auth(given["auth"])
    if given["auth"].get("secret") and auth.get("secret") == "":
        dropped.append("the authentication")
    place = (agent.slug if agent else "", kept[1])
    if saved and resolve_target(saved, form.agents) == (None, address):
        place = (saved.agent, saved.address)  # A path at its agent's origin stays one.
    elif saved and agent and saved.agent == agent.slug and saved.binding == binding:
        place = (agent.slug, saved.address)  # What did not change is no difference of the file.
    fields = {
        "agent": place[0],
        "address": place[1],
        "protocol": default_agent.protocol,
        "version": version,
        "binding": binding,
        "document": document,
        "headers": kept[0],
        "auth": auth,
        "expectations": given["expectations"],
        "captures": given["captures"],
    }
    return fields, dropped
