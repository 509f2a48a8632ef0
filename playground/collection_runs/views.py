"""Collection runs: start, list, show and cancel them; download reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from asgiref.sync import sync_to_async
from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from playground.collection_runs.page import StepPage, listed, page_of, report_of
from playground.collection_runs.reports import FORMATS
from playground.engine.collection_runs import runner
from playground.engine.collection_runs.plan import (
    CollectionRunOptions,
    CollectionRunPlan,
    PlanError,
    check_run_limit,
    plan_run,
    record,
)
from playground.engine.preparation import AgentUrlError, override_agent
from playground.environments.views import active_environment
from playground.import_export.data_rows import (
    MAX_BYTES,
    MAX_TEXT,
    AssignmentError,
    DataError,
    Row,
    parse_assignments,
    read_rows,
)
from playground.models import Agent, Collection, CollectionRun, Environment
from playground.models.collections import requests_in_order
from playground.models.driving import mark_interrupted
from playground.models.rows import owner_of
from playground.protocols.origins import MAX_URL
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
    await runner.submit(run, plan)
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
    name = "collection_runs/start_page.html#start" if is_part else "collection_runs/start_page.html"
    return render(request, name, context, status=status)


def _record(request: HttpRequest) -> HttpResponse | Started:
    """Record a collection run with its plan; or return the form with errors."""
    collection = get_collection(request, request.POST.get("collection", ""))
    form = CollectionRunForm(collection, request.user, request.POST, request.FILES)
    if form.is_valid():
        try:
            check_run_limit(request.user)
            plan = _plan(request, collection, form)
            return record(plan), plan
        except PlanError as error:
            form.add_error(None, str(error))
        except AgentUrlError as error:
            form.add_error("address", str(error))
    return _form(request, collection, form, status=422)


def _plan(
    request: HttpRequest, collection: Collection, form: CollectionRunForm
) -> CollectionRunPlan:
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
    return plan_run(collection.name, requests, options, owner, collection)


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
    found = await sync_to_async(_run)(request, pk)
    await runner.cancel(found)
    if is_htmx(request):
        return HttpResponse(status=204)
    return redirect(found)


@require_safe
def report(request: HttpRequest, pk: str, kind: str) -> HttpResponse:
    if kind not in FORMATS:
        raise Http404
    found = _run(request, pk)
    write, ending, media_type = FORMATS[kind]
    text = write(report_of(found))
    response = HttpResponse(text, content_type=f"{media_type}; charset=utf-8")
    name = slugify(found.name) or "collection-run"
    # Never shown inline: it is a file, and not a page of the playground.
    return make_download(response, f"{name}.{ending}")


#: The maximum that the form accepts; the command line has no maximum.
MAX_ITERATIONS, MAX_PARALLEL = 1000, 50


class CollectionRunForm(forms.Form):
    """A form with the options of `run_collection`, which mean the same."""

    folder = forms.ChoiceField(required=False)
    requests = forms.MultipleChoiceField(required=False)
    environment = forms.ChoiceField(required=False)
    variables = forms.CharField(required=False, max_length=MAX_TEXT, strip=False)
    agent = forms.ChoiceField(
        required=False, help_text="Replaces the agent in every request with the same protocol."
    )
    address = forms.CharField(required=False, max_length=MAX_URL)
    rows = forms.FileField(required=False, label="data file", allow_empty_file=True)
    iterations = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_ITERATIONS,
        help_text="Default: 1, or one per row of the data file.",
    )
    parallel = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=MAX_PARALLEL,
        initial=1,
        label="concurrency",
        help_text="Iterations sent in parallel; also folders, if nothing is captured.",
    )
    bail = forms.BooleanField(required=False)

    def __init__(
        self, collection: Collection, user: User | AnonymousUser, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self._requests = list(requests_in_order(collection))
        self._environments = {each.slug: each for each in Environment.objects.owned_by(user)}
        protocols = {each.protocol for each in self._requests}
        agents = Agent.objects.owned_by(user).filter(protocol__in=protocols)
        self._agents = {each.slug: each for each in agents}
        folders = collection.folders.values_list("slug", "name")
        self._set_choices("folder", [("", "All"), *folders])
        labels = (
            (each.slug, f"{each.folder.name} / {each.name}" if each.folder else each.name)
            for each in self._requests
        )
        self._set_choices("requests", labels)
        named = ((slug, each.name) for slug, each in self._environments.items())
        self._set_choices("environment", [("", "None"), *named])
        known = ((slug, each.name) for slug, each in self._agents.items())
        self._set_choices("agent", [("", "As saved"), *known])

    def _set_choices(self, name: str, choices: Iterable[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = list(choices)

    @property
    def count(self) -> int:
        return len(self._requests)

    @property
    def selected(self) -> set[str]:
        """Return the slugs of the selected requests, as the form shows them."""
        return set(self["requests"].value() or ()) & {each.slug for each in self._requests}

    def clean_variables(self) -> dict[str, Any]:
        """Return values by name. An error names the line, and does not quote it."""
        try:
            return parse_assignments(self.cleaned_data["variables"])
        except AssignmentError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_rows(self) -> list[Row]:
        """Return the rows of the data file. An error names the position in it."""
        file = self.cleaned_data.get("rows")
        if not file:
            return []
        try:
            return read_rows(file.read(MAX_BYTES + 1), file.name or "")
        except DataError as error:
            raise forms.ValidationError(str(error)) from None

    def clean_environment(self) -> Environment | None:
        return self._environments.get(self.cleaned_data["environment"])

    def clean_agent(self) -> Agent | None:
        """Return the agent that replaces others, None to use those of the requests."""
        return self._agents.get(self.cleaned_data["agent"])

    def clean_address(self) -> str:
        """Return the URL that replaces agents, where no agent was selected."""
        address: str = self.cleaned_data["address"]
        if address and self.cleaned_data.get("agent"):
            raise forms.ValidationError("Choose an agent or enter a URL, not both.")
        return address

    def clean(self) -> dict[str, Any]:
        """Add the requests to send, in order, as `chosen`."""
        cleaned = self.cleaned_data
        names, folder = set(cleaned.get("requests", ())), cleaned.get("folder", "")
        found = [
            each
            for each in self._requests
            if not folder or (each.folder is not None and each.folder.slug == folder)
        ]
        if names - {each.slug for each in found} and not self.errors:
            self.add_error("requests", "Some of these requests are not in the selected folder.")
        cleaned["chosen"] = [each for each in found if not names or each.slug in names]
        return cleaned
