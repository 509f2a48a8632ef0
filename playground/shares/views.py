"""Shares: links to a run or a collection, created and revoked by owners, opened by anybody."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from itertools import groupby, islice
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.base.credentials import clean_url_template
from playground.base.fields import int_param
from playground.collections.fixture import Fixture, FixtureError, fixture_of, fixture_text
from playground.collections.fixture_parser import expectation_errors
from playground.collections.importer import apply_import, plan_import
from playground.collections.recordings import frame_to_json, frames_of, validate_recording
from playground.composer.deep_links import workbench_link
from playground.conversation.entries import rows_of
from playground.conversation.status import progress_of, status_context
from playground.conversation.thread import Thread, render_entries
from playground.conversation.thread_reader import ThreadReader
from playground.conversation.updates import WINDOW, window
from playground.expectations import EXPECTATION_TYPES
from playground.models import Collection, Run, SavedRequest, Share
from playground.models.collections import RESERVED, requests_in_order
from playground.models.columns import free_slug
from playground.models.driving import database_now
from playground.models.rows import owner_of
from playground.protocols import registry
from playground.protocols.annotations import SchemaPlace
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.headers import is_credential
from playground.stored_runs import read_events
from playground.ui.formatting import blocks_of, pretty, readable
from playground.ui.helpers import get_collection, get_run, make_download

#: Lifetimes of a link in days; "" for no end.
LIFETIME_CHOICES = (
    ("1", "after a day"),
    ("7", "after a week"),
    ("30", "after 30 days"),
    ("", "never, until revoked"),
)
#: Requests of a collection on one page.
PAGE_SIZE = 100
#: Links that the page lists, the newest.
MAX_LISTED = 200


class ShareForm(forms.Form):
    """A form of the lifetime of a link."""

    days = forms.ChoiceField(
        choices=LIFETIME_CHOICES,
        required=False,
        label="It works",
        widget=forms.RadioSelect,
        initial="7",
    )


@require_http_methods(["GET", "HEAD", "POST"])
@ensure_csrf_cookie
def shares(request: HttpRequest) -> HttpResponse:
    """List the user's links (GET), or create one of the named run or collection (POST)."""
    if request.method != "POST":
        found = Share.objects.owned_by(request.user).select_related("run", "collection")
        context = {"shares": [_share_context(request, share) for share in found[:MAX_LISTED]]}
        return render(request, "shares/list.html", context | {"local": not settings.HOSTED})
    form = ShareForm(request.POST)
    shared = _shared_object(request, request.POST)
    if not form.is_valid():
        return render(request, "shares/new.html", {"form": form, "thing": shared}, status=422)
    days = form.cleaned_data["days"]
    share = Share.objects.create(
        owner=owner_of(request.user),
        expires_at=database_now() + timedelta(days=int(days)) if days else None,
        **shared,
    )
    return redirect("share-created", share.token)


@require_safe
@ensure_csrf_cookie
def new(request: HttpRequest) -> HttpResponse:
    shared = _shared_object(request, request.GET)
    return render(request, "shares/new.html", {"form": ShareForm(), "thing": shared})


def _shared_object(request: HttpRequest, fields: Any) -> dict[str, Run | Collection]:
    """Return the named run or collection, by the name of its field. Raises `Http404`."""
    if key := fields.get("run"):
        return {"run": get_run(request, key)}
    return {"collection": get_collection(request, fields.get("collection", ""))}


@require_safe
@ensure_csrf_cookie
def share_created(request: HttpRequest, token: str) -> HttpResponse:
    """Show a link of the user to copy, and a badge for a run."""
    share = _get_share(request, token)
    context = _share_context(request, share) | {"local": not settings.HOSTED}
    return render(request, "shares/created.html", context)


@require_POST
def revocation(request: HttpRequest, token: str) -> HttpResponse:
    """Revoke a link: it opens nothing after that."""
    _get_share(request, token).delete()
    return redirect("shares")


def _get_share(request: HttpRequest, token: str) -> Share:
    """Return the user's share with this token. Raises `Http404`."""
    found: Share = get_object_or_404(Share.objects.owned_by(request.user), token=token)
    return found


def _share_context(request: HttpRequest, share: Share) -> dict[str, Any]:
    context: dict[str, Any] = {
        "share": share,
        "link": request.build_absolute_uri(share.get_absolute_url()),
        "is_over": share.expires_at is not None and share.expires_at <= timezone.now(),
    }
    if share.run is not None and share.run.protocol != registry.ACTION:
        image = request.build_absolute_uri(static("img/badge.svg"))
        link = _workbench_link(request, share.run)
        context["badge"] = f"[![Try it in the playground]({image})]({link})"
    return context


def _workbench_link(request: HttpRequest, shared: Run | SavedRequest) -> str:
    if isinstance(shared, Run):
        address, document = shared.url, shared.request
    else:
        address, document = shared.address, shared.document
    return workbench_link(
        request.build_absolute_uri(reverse("workbench")),
        address=clean_url_template(address),
        protocol=shared.protocol,
        binding=shared.binding,
        version=shared.version,
        document=document,
        headers=[pair for pair in shared.headers if not is_credential(pair[0])],
    )


@login_not_required
@require_safe
@never_cache
def share(request: HttpRequest, token: str) -> HttpResponse:
    """Show what a link shares. Anybody who has it may view it; the page changes nothing.

    With `?part=details` only the part of a run that is shown when it has ended.
    """
    found = get_object_or_404(
        Share.objects.valid().select_related("run", "collection"), token=token
    )
    if found.run is None:
        template, context = "shares/collection.html", _collection_context(request, found)
    elif request.GET.get("part") == "details":
        template, context = "shares/run.html#details", _run_details(request, found.run)
    else:
        template, context = "shares/run.html", _run_context(request, found.run)
    response = render(request, template, context | {"share": found})
    # Anybody who has the URL can view the page: keep it out of search indexes. The site's
    # Referrer-Policy keeps it from other sites.
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _collection_context(request: HttpRequest, found: Share) -> dict[str, Any]:
    collection = found.collection
    assert collection is not None
    start = int_param(request.GET, "requests", 0)
    window = list(requests_in_order(collection)[start : start + PAGE_SIZE + 1])
    parts = groupby(window[:PAGE_SIZE], key=lambda saved: saved.folder)
    return {
        "collection": collection,
        "parts": [
            (folder, [_request_context(request, each) for each in inside])
            for folder, inside in parts
        ],
        "more": start + PAGE_SIZE if len(window) > PAGE_SIZE else None,
    }


def _request_context(request: HttpRequest, saved: SavedRequest) -> dict[str, Any]:
    """Return a saved request for the page, without credentials."""
    return {
        "saved": saved,
        "address": clean_url_template(saved.address),
        "document": readable(saved.document),
        "expected": [
            capfirst(EXPECTATION_TYPES[each["type"]].describe(each))
            for each in saved.expectations
            if not expectation_errors(json.dumps(each))
        ],
        "link": _workbench_link(request, saved),
    }


def _shared_collection(token: str) -> Collection:
    """Return the collection of a valid link. Raises `Http404`."""
    valid = Share.objects.valid().filter(token=token)
    found: Collection = get_object_or_404(Collection.objects.filter(shares__in=valid))
    return found


@login_not_required
@require_safe
@never_cache
def fixture(request: HttpRequest, token: str) -> HttpResponse:
    """Download the collection of a link as a file that every playground can import."""
    collection = _shared_collection(token)
    shown = shared_fixture(fixture_of(collection)).ordered()
    response = HttpResponse(fixture_text(shown), content_type="application/json")
    response["X-Robots-Tag"] = "noindex, nofollow"
    return make_download(response, f"{collection.slug}.json")


@require_http_methods(["GET", "HEAD", "POST"])
def copy(request: HttpRequest, token: str) -> HttpResponse:
    """Copy the collection of a link to the user's collections, always as a new one.

    GET is where the log-in redirects to: it redirects to the page with the button.
    """
    collection = _shared_collection(token)
    if request.method != "POST":
        return redirect("share", token)
    others = Collection.objects.owned_by(request.user)
    slug = free_slug(collection.name, "collection", others, RESERVED)
    shown = shared_fixture(fixture_of(collection))
    plan = plan_import(shown.renamed(slug), owner_of(request.user))
    try:
        return redirect(apply_import(plan))
    except FixtureError as error:
        messages.error(request, str(error))
        return redirect("collections")


#: Items on a page of each part; of the results as many as are pushed to it.
CARDS, EVENTS, BLOCKS = WINDOW, 200, 60
MASK = "•" * 6
#: No credential by its name, because the owner needs to see it; it gives access to a session.
_SESSION = "mcp-session-id"
_HEADS = frozenset({FrameKind.CALL, FrameKind.HEAD})


def _run_context(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the context of `shares/run.html`, with the results from number `?results=` on.

    Reads the run up to the end of the page. Nothing links to a page of the owner. The page follows
    its run until nothing more is to come, if it shows the first results.
    """
    results = int_param(request.GET, "results", 0)
    reader = ThreadReader(run)
    thread = Thread(run, readonly=True)
    entries = reader.read_to(run.frames, 0 if results else CARDS)
    pinned = [entry for entry in entries if entry.pinned]
    page = ThreadReader(run).page(results, CARDS) if results else window(entries, 0)
    settled = run.is_final and thread.is_settled
    live = not settled and not results
    context = {
        **status_context(run),
        "readonly": True,
        "progress": None if run.is_final else progress_of(reader.progress),
        "summaries": render_entries(pinned, thread),
        "cards": render_entries(page, thread),
        "request_json": pretty(run.request),
        "request_reference": str(
            SchemaPlace(
                run.protocol, run.version, registry.schema_of_request(run.protocol, run.request)
            )
        ),
        "url": clean_url_template(run.url),
        "headers": [(n, MASK if is_credential(n) else value) for n, value in run.headers],
        "more_results": results + CARDS if results + CARDS < run.entries else None,
        "cursor": reader.cursor,
        "entries": reader.entries,
        "settled": settled,
        "live": live,
    }
    if run.is_final or not live:
        context |= _run_details(request, run)
    if run.protocol != registry.ACTION:
        context["workbench_link"] = _workbench_link(request, run)
    return context


def _run_details(request: HttpRequest, run: Run) -> dict[str, Any]:
    """Return the context of `shares/run.html#details`, with what follows `?events=` and `?wire=`.

    Credentials and session ids are masked.
    """
    read = islice(read_events(run, int_param(request.GET, "events", 0)), EVENTS)
    rows = rows_of((_masked_frame(frame), found) for frame, found in read)
    frames = list(islice(run.read_frames(int_param(request.GET, "wire", 0)), BLOCKS))
    return {
        "run": run,
        "rows": rows,
        "blocks": blocks_of(map(_masked_frame, frames)),
        "more_events": rows[-1].frame.seq if rows and rows[-1].frame.seq < run.frames else None,
        "more_wire": frames[-1].seq if frames and frames[-1].seq < run.frames else None,
    }


def shared_fixture(fixture: Fixture) -> Fixture:
    """Return a collection with masked recorded responses; invalid ones are left out."""
    requests = {
        slug: {**fields, "reply": _masked_recording(fields["reply"])}
        for slug, fields in fixture.requests.items()
    }
    return replace(fixture, requests=requests)


def _masked_recording(reply: Any) -> dict[str, Any] | None:
    if reply is None or validate_recording(reply):
        return None
    frames = [frame_to_json(_masked_frame(frame)) for frame in frames_of(reply)]
    url = {"url": clean_url_template(reply["url"])} if "url" in reply else {}
    return {**reply, **url, "frames": frames}


def _masked_frame(frame: Frame) -> Frame:
    if frame.kind not in _HEADS:
        return frame
    head, end, body = frame.data.partition(b"\r\n\r\n")
    lines = head.decode("utf-8", "surrogateescape").split("\r\n")
    method, _, rest = lines[0].partition(" ")
    url, space, protocol = rest.rpartition(" ")
    if frame.kind is FrameKind.CALL and space:
        lines[0] = f"{method} {clean_url_template(url)} {protocol}"
    for at, line in enumerate(lines[1:], 1):
        name, colon, _ = line.partition(":")
        if colon and (is_credential(name.strip()) or name.strip().lower() == _SESSION):
            lines[at] = f"{name}: {MASK}"
    text = "\r\n".join(lines)
    return frame.with_data(text.encode("utf-8", "surrogateescape") + end + body)
