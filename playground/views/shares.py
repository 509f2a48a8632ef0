"""Read-only links: made and revoked by their owner, opened by whoever has one."""

from __future__ import annotations

from datetime import timedelta
from itertools import groupby
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.expectations import EXPECTATION_TYPES
from playground.library import fixtures
from playground.library.credentials import clean_url_template
from playground.models import Collection, Run, SavedRequest, Share
from playground.models.collections import RESERVED, free_slug, requests_in_order
from playground.models.ownership import owner_of
from playground.protocols import registry
from playground.protocols.deep_links import badge, workbench_link
from playground.query_params import int_param
from playground.rendering.pretty import readable
from playground.rendering.shares import shared_fixture, shared_run
from playground.views.helpers import get_run, make_download
from playground.views.shelf import get_collection

#: Days that a link can be made for; "" for no end.
LIFETIME_CHOICES = (
    ("1", "for a day"),
    ("7", "for a week"),
    ("30", "for 30 days"),
    ("", "until it is revoked"),
)
#: Requests of a collection on one page.
PAGE = 100
#: Links that the page lists, the newest.
LISTED = 200


class ShareForm(forms.Form):
    """How long a link is to work."""

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
    """GET lists the user's links; POST makes one, of the run or the collection that is named."""
    if request.method != "POST":
        found = Share.objects.owned_by(request.user).select_related("run", "collection")
        context = {"shares": [_told(request, share) for share in found[:LISTED]]}
        return render(request, "shares/list.html", context | {"local": not settings.HOSTED})
    form = ShareForm(request.POST)
    thing = _thing(request, request.POST)
    if not form.is_valid():
        return render(request, "shares/new.html", {"form": form, "thing": thing}, status=422)
    days = form.cleaned_data["days"]
    share = Share.objects.create(
        owner=owner_of(request.user),
        expires_at=timezone.now() + timedelta(days=int(days)) if days else None,
        **thing,
    )
    return redirect("share-created", share.token)


@require_safe
@ensure_csrf_cookie
def new(request: HttpRequest) -> HttpResponse:
    """What would be shared, and for how long."""
    thing = _thing(request, request.GET)
    return render(request, "shares/new.html", {"form": ShareForm(), "thing": thing})


def _thing(request: HttpRequest, named: Any) -> dict[str, Run | Collection]:
    """The run or the collection that a form or an address names, under its field's name."""
    if key := named.get("run"):
        return {"run": get_run(request, key)}
    return {"collection": get_collection(request, named.get("collection", ""))}


@require_safe
@ensure_csrf_cookie
def share_created(request: HttpRequest, token: str) -> HttpResponse:
    """A link of the user's, to be copied, and a badge where it is of a run."""
    share = _own(request, token)
    context = _told(request, share) | {"local": not settings.HOSTED}
    return render(request, "shares/created.html", context)


@require_POST
def revocation(request: HttpRequest, token: str) -> HttpResponse:
    """Take a link back: from now on it opens nothing."""
    _own(request, token).delete()
    return redirect("shares")


def _own(request: HttpRequest, token: str) -> Share:
    found: Share = get_object_or_404(Share.objects.owned_by(request.user), token=token)
    return found


def _told(request: HttpRequest, share: Share) -> dict[str, Any]:
    context: dict[str, Any] = {
        "share": share,
        "link": request.build_absolute_uri(share.get_absolute_url()),
        "is_over": share.expires_at is not None and share.expires_at <= timezone.now(),
    }
    if share.run is not None and share.run.protocol != registry.ACTION:
        image = request.build_absolute_uri(static("img/badge.svg"))
        context["badge"] = badge(image, _link(request, share.run))
    return context


def _link(request: HttpRequest, run: Run) -> str:
    return workbench_link(
        request.build_absolute_uri(reverse("workbench")),
        address=clean_url_template(run.url),
        protocol=run.protocol,
        binding=run.binding,
        version=run.version,
        document=run.request,
        headers=run.headers,
    )


@login_not_required
@require_safe
@never_cache
def share(request: HttpRequest, token: str) -> HttpResponse:
    """What a link shows. Everybody who has it may look; nothing on the page changes anything."""
    found = get_object_or_404(
        Share.objects.valid().select_related("run", "collection"), token=token
    )
    context = _run_page(request, found.run) if found.run else _collection_page(request, found)
    template = "shares/run.html" if found.run else "shares/collection.html"
    response = render(request, template, context | {"share": found})
    # Who has the address has the page: it goes into no index, and to no other site (which is
    # what the site's Referrer-Policy sees to).
    response["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _run_page(request: HttpRequest, run: Run) -> dict[str, Any]:
    numbers = {name: int_param(request.GET, name, 0) for name in ("results", "events", "wire")}
    context = shared_run(run, **numbers)
    if run.protocol != registry.ACTION:
        context["workbench_link"] = _link(request, run)
    return context


def _collection_page(request: HttpRequest, found: Share) -> dict[str, Any]:
    collection = found.collection
    assert collection is not None
    start = int_param(request.GET, "requests", 0)
    found_here = list(requests_in_order(collection)[start : start + PAGE + 1])
    parts = groupby(found_here[:PAGE], key=lambda saved: saved.folder)
    return {
        "collection": collection,
        "parts": [
            (folder, [_request(request, each) for each in inside]) for folder, inside in parts
        ],
        "more": start + PAGE if len(found_here) > PAGE else None,
    }


def _request(request: HttpRequest, saved: SavedRequest) -> dict[str, Any]:
    return {
        "saved": saved,
        "address": clean_url_template(saved.address),
        "document": readable(saved.document),
        "expected": [
            _said(each) for each in saved.expectations if each.get("type") in EXPECTATION_TYPES
        ],
        "link": workbench_link(
            request.build_absolute_uri(reverse("workbench")),
            address=clean_url_template(saved.address),
            protocol=saved.protocol,
            binding=saved.binding,
            version=saved.version,
            document=saved.document,
            headers=saved.headers,
        ),
    }


def _said(expectation: dict[str, Any]) -> str:
    said = EXPECTATION_TYPES[expectation["type"]].describe(expectation)
    return said[:1].upper() + said[1:]


def _shared_collection(token: str) -> Collection:
    valid = Share.objects.valid().filter(token=token)
    found: Collection = get_object_or_404(Collection.objects.filter(shares__in=valid))
    return found


@login_not_required
@require_safe
@never_cache
def fixture(request: HttpRequest, token: str) -> HttpResponse:
    """The collection of a link as a file that every playground can import."""
    collection = _shared_collection(token)
    shown = shared_fixture(fixtures.fixture_of(collection)).ordered()
    response = HttpResponse(fixtures.render(shown), content_type="application/json")
    response["X-Robots-Tag"] = "noindex, nofollow"
    return make_download(response, f"{collection.slug}.json")


@require_http_methods(["GET", "HEAD", "POST"])
def copy(request: HttpRequest, token: str) -> HttpResponse:
    """Take the collection of a link into the user's own; one more, whatever they have already.

    GET is where the log-in leads back to: to the page with the button.
    """
    collection = _shared_collection(token)
    if request.method != "POST":
        return redirect("share", token)
    others = Collection.objects.owned_by(request.user)
    slug = free_slug(collection.name, "collection", others, RESERVED)
    shown = shared_fixture(fixtures.fixture_of(collection))
    plan = fixtures.plan_import(shown.renamed(slug), owner_of(request.user))
    return redirect(fixtures.apply_import(plan))
