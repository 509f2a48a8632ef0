"""Collection runs: list, start, show and cancel them; download reports."""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.collection_runs.forms import CollectionRunForm
from playground.collection_runs.page import StepPage, listed, page_of, report_of
from playground.collection_runs.reports import FORMATS
from playground.engine import collection_runs as engine
from playground.engine.collection_runs import CollectionRunOptions, CollectionRunPlan, PlanError
from playground.engine.preparation import AgentUrlError, override_agent
from playground.environments.views import active_environment
from playground.models import Collection, CollectionRun
from playground.models.liveness import mark_interrupted
from playground.models.ownership import owner_of
from playground.ui.helpers import get_collection, is_htmx, make_download

#: Runs on one page of the list.
PAGE_SIZE = 30

Started = tuple[CollectionRun, CollectionRunPlan]


@require_http_methods(["GET", "HEAD", "POST"])
async def runs(request: HttpRequest) -> HttpResponse:
    """List the runs, `?collection=` those of one collection (GET), or start one (POST)."""
    if request.method != "POST":
        return await sync_to_async(_list)(request)
    started = await sync_to_async(_record)(request)
    if isinstance(started, HttpResponse):
        return started
    run, plan = started
    await engine.submit(run, plan)
    return redirect(run)


def _list(request: HttpRequest) -> HttpResponse:
    mark_interrupted()
    found = CollectionRun.objects.owned_by(request.user)
    collection = None
    if slug := request.GET.get("collection", ""):
        collection = get_collection(request, slug)
        found = found.filter(collection=collection)
    pages = Paginator(found.select_related("collection"), PAGE_SIZE)
    page = pages.get_page(request.GET.get("page"))
    context = {"collection": collection, "page": page, "rows": listed(page.object_list)}
    return render(request, "collection_runs/list.html", context)


@require_safe
@ensure_csrf_cookie
def new(request: HttpRequest) -> HttpResponse:
    """Show the form that starts a run of `?collection=`.

    `?folder=` selects a folder, and each `?request=` a request.
    """
    collection = get_collection(request, request.GET.get("collection", ""))
    environment = active_environment(request)
    initial = {
        "environment": environment.slug if environment else "",
        "folder": request.GET.get("folder", ""),
        "requests": request.GET.getlist("request"),
    }
    form = CollectionRunForm(collection, request.user, initial=initial)
    return _form(request, collection, form)


def _form(
    request: HttpRequest, collection: Collection, form: CollectionRunForm, status: int = 200
) -> HttpResponse:
    context = {"collection": collection, "form": form}
    is_part = is_htmx(request)
    name = "collection_runs/start.html" if is_part else "collection_runs/start_page.html"
    return render(request, name, context, status=status)


def _record(request: HttpRequest) -> HttpResponse | Started:
    """Record a collection run with its plan; or return the form with errors."""
    collection = get_collection(request, request.POST.get("collection", ""))
    form = CollectionRunForm(collection, request.user, request.POST, request.FILES)
    if form.is_valid():
        try:
            engine.check_run_limit(request.user)
            plan = _plan(request, collection, form)
            return engine.record(plan), plan
        except PlanError as error:
            form.add_error(None, str(error))
        except AgentUrlError as error:
            form.add_error("address", str(error))
    return _form(request, collection, form, status=422)


def _plan(
    request: HttpRequest, collection: Collection, form: CollectionRunForm
) -> CollectionRunPlan:
    """Return the plan of a run from a valid form."""
    cleaned = form.cleaned_data
    requests, address, agent = cleaned["chosen"], cleaned["address"], cleaned["agent"]
    owner = owner_of(request.user)
    if address:
        agent = override_agent(address, requests, owner.pk if owner else None)
    options = CollectionRunOptions(
        agent=agent,
        environment=cleaned["environment"],
        variables=cleaned["variables"],
        rows=cleaned["rows"],
        iterations=cleaned["iterations"],
        parallel=cleaned["parallel"] or 1,
        bail=cleaned["bail"],
    )
    return engine.plan_run(collection.name, requests, options, owner, collection)


@require_safe
@ensure_csrf_cookie
def run(request: HttpRequest, pk: str) -> HttpResponse:
    """Show a run: `?show=unmet` for failed steps only, `?page=` for later steps."""
    found = _run(request, pk)
    context = page_of(found, StepPage.of(request.GET))
    return render(request, "collection_runs/page.html", context)


def _run(request: HttpRequest, pk: str) -> CollectionRun:
    """Return the user's collection run with this key. Raises `Http404`."""
    runs = CollectionRun.objects.owned_by(request.user).select_related("collection")
    found: CollectionRun = get_object_or_404(runs, pk=pk)
    if not found.is_final:
        mark_interrupted()
        found.refresh_from_db()
    return found


@require_POST
async def cancellation(request: HttpRequest, pk: str) -> HttpResponse:
    """Cancel a run."""
    found = await sync_to_async(_run)(request, pk)
    await engine.cancel(found)
    if is_htmx(request):
        return HttpResponse(status=204)
    return redirect(found)


@require_safe
def report(request: HttpRequest, pk: str, kind: str) -> HttpResponse:
    """Download a report on a run."""
    if kind not in FORMATS:
        raise Http404
    found = _run(request, pk)
    write, ending, media_type = FORMATS[kind]
    text = write(report_of(found))
    response = HttpResponse(text, content_type=f"{media_type}; charset=utf-8")
    name = slugify(found.name) or "collection-run"
    # Never shown inline: it is a file, and not a page of the playground.
    return make_download(response, f"{name}.{ending}")
