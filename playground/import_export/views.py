"""Import and export: collections, saved responses, HAR of a run, requests as code."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain, count
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import push_url

from playground.base.installation import command_line
from playground.collections.fixture import Fixture, FixtureError, dump, fixture_of
from playground.collections.fixture_parser import MAX_BYTES, decode_file
from playground.collections.importer import ImportPlan, import_fixture, plan_import
from playground.collections.recordings import RecordingError, run_from_saved_response
from playground.composer.views import prepare_form
from playground.conversation.updates import response_context
from playground.engine.calls import FetchError, fetch
from playground.environments.views import MAX_VARIABLES
from playground.import_export.curl import read_curl
from playground.import_export.har import to_har
from playground.import_export.import_formats import IMPORT_FORMATS, ParsedImport, parse_import
from playground.import_export.postman import ImportedVariable, to_postman
from playground.import_export.snippets import (
    JSONRPC_NOTE,
    WRITERS,
    SnippetCall,
    snippet_body,
    snippet_call,
    snippet_call_from_frame,
    to_jsonrpc,
)
from playground.models import Agent, Collection, Environment, LimitError, SavedRequest, Variable
from playground.models.collections import RESERVED
from playground.models.columns import free_slug
from playground.models.rows import owner_of
from playground.protocols import raw, registry
from playground.protocols.frames import FrameKind
from playground.transport import check_url
from playground.ui.helpers import get_collection, get_run, get_saved_request, is_htmx, make_download

#: Maximum length of the compressed text in a form; Django accepts 8 MB in all.
MAX_COMPRESSED = 7_500_000


@require_http_methods(["GET", "HEAD", "POST"])
async def collection_import(request: HttpRequest) -> HttpResponse:
    """Show the form (GET); preview an import, or with `confirmed` apply it (POST).

    The preview sends the text back, and not the parsed fixture: the text is parsed again.
    """
    if request.method != "POST":
        return await sync_to_async(_form)(request)
    try:
        text, source = await _submitted_text(request)
    except FixtureError as error:
        return await sync_to_async(_form)(request, error)
    return await sync_to_async(_preview_or_import)(request, text, source)


async def _submitted_text(request: HttpRequest) -> tuple[str, str]:
    """Return the text to import, and a label of its source."""
    form, upload = request.POST, request.FILES.get("file")
    if packed := form.get("packed"):
        return decompress_text(packed), form.get("source", "")[:300]
    address, pasted = form.get("url", "").strip(), form.get("text", "")
    if sum(map(bool, (upload, address, pasted.strip()))) != 1:
        raise FixtureError("Enter exactly one of file, text and URL.")
    if upload is not None:
        if (upload.size or 0) > MAX_BYTES:
            raise FixtureError(f"The file is larger than {MAX_BYTES >> 20} MB.")
        return decode_file(await sync_to_async(upload.read)()), upload.name or "a file"
    if address:
        return decode_file(await _fetch_text(request, address)), address[:300]
    return pasted, "pasted text"


async def _fetch_text(request: HttpRequest, address: str) -> bytes:
    """Return the body at a URL. Raises `FixtureError`."""
    if refusal := check_url(address):
        raise FixtureError(refusal)
    owner = owner_of(await request.auser())
    try:
        return await fetch(address, owner=owner.pk if owner else None)
    except FetchError as error:
        raise FixtureError(str(error)) from error


def _preview_or_import(request: HttpRequest, text: str, source: str) -> HttpResponse:
    """Show the preview of a text, or once it is confirmed import it and open the collection."""
    owner = owner_of(request.user)
    try:
        found = parse_import(text)
        if "confirmed" not in request.POST:
            plan = plan_import(found.fixture, owner)
            return _preview(request, plan, found, compress_text(text), source)
        with transaction.atomic():
            result = import_fixture(_target_fixture(request, found.fixture), owner)
            assert result.collection is not None
            note = ""
            if found.variables and "environment" in request.POST:
                environment = _create_environment(result.collection, found.variables)
                note = f" The environment “{environment.name}” was created from its variables."
    except FixtureError as error:
        return _form(request, error)
    except LimitError as error:
        return _form(request, FixtureError(str(error)))
    except IntegrityError:
        message = "The collection was changed at the same time, so nothing was imported. Try again."
        return _form(request, FixtureError(message))
    messages.success(
        request, f"{result.collection.name} was imported: {result.changes.summary}.{note}"
    )
    if result.collection.lesson:
        return redirect("lesson", result.collection.slug)
    return redirect(result.collection)


def _create_environment(
    collection: Collection, variables: Sequence[ImportedVariable]
) -> Environment:
    """Create an environment with the variables of a collection; secrets without their values."""
    taken = set(Environment.objects.filter(owner=collection.owner).values_list("name", flat=True))
    numbered = (f"{collection.name[:70]} {number}" for number in count(2))
    name = next(each for each in chain([collection.name[:80]], numbered) if each not in taken)
    created = Environment.objects.create(owner=collection.owner, name=name)
    for name, value, is_secret in variables[:MAX_VARIABLES]:
        row = Variable(environment=created, name=name)
        if is_secret:
            row.kind = Variable.Kind.SECRET
        elif isinstance(value, str):
            row.value = value
        else:
            row.kind, row.value = Variable.Kind.JSON, json.dumps(value, ensure_ascii=False)
        row.save()
    return created


def _target_fixture(request: HttpRequest, fixture: Fixture) -> Fixture:
    """Return the fixture, or with `beside` the same fixture under a free slug."""
    if request.POST["confirmed"] != "beside":
        return fixture
    others = Collection.objects.owned_by(request.user)
    return fixture.renamed(free_slug(fixture.slug, "collection", others, RESERVED))


def _preview(
    request: HttpRequest, plan: ImportPlan, found: ParsedImport, packed: str, source: str
) -> HttpResponse:
    if len(packed) > MAX_COMPRESSED:
        command = command_line("import_collection")
        raise FixtureError(f"The file is too large for this page. Use `{command}`.")
    collection = plan.fixture.collection
    context = {
        "planned": plan,
        "name": collection["name"],
        "format": found.format,
        "variables": found.variables,
        "groups": plan.changes.groups,
        "lesson_steps": len((collection.get("lesson") or {}).get("steps", ())),
        "packed": packed,
        "source": source,
    }
    return render(request, "collections/import_preview.html", context)


def _form(request: HttpRequest, error: FixtureError | None = None) -> HttpResponse:
    context = {
        "problems": error.problems if error else (),
        "text": request.POST.get("text", ""),
        "url": request.POST.get("url", ""),
        "formats": [each.label for each in IMPORT_FORMATS],
    }
    return render(request, "collections/import.html", context, status=422 if error else 200)


def compress_text(text: str) -> str:
    """Return a text compressed for a form field; collections compress well."""
    data = zlib.compress(text.encode("utf-8", "surrogatepass"), 6)
    return base64.b64encode(data).decode("ascii")


def decompress_text(packed: str) -> str:
    """Return the text that `compress_text` compressed. Raises `FixtureError` for anything else."""
    try:
        decompressor = zlib.decompressobj()
        data = decompressor.decompress(base64.b64decode(packed, validate=True), MAX_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error):
        message = "The submitted text is corrupted. Choose the file again."
        raise FixtureError(message) from None
    return decode_file(data)


@require_safe
def collection_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the collection as a Django fixture, named after it."""
    found = get_collection(request, slug)
    return _download(dump(found), f"{found.slug}.json")


@require_safe
def collection_postman(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_collection(request, slug)
    return _download(to_postman(fixture_of(found)), f"{found.slug}.postman_collection.json")


@require_safe
def run_har(request: HttpRequest, pk: str) -> HttpResponse:
    run = get_run(request, pk)
    return _download(to_har(run), f"run-{run.pk}.har")


def _download(text: str, name: str) -> HttpResponse:
    return make_download(HttpResponse(text, content_type="application/json; charset=utf-8"), name)


@dataclass(frozen=True, slots=True)
class Snippet:
    """A tab of the sheet with code."""

    slug: str
    label: str
    text: str
    #: What to know before running it.
    note: str = ""


@require_POST
def curl(request: HttpRequest) -> HttpResponse:
    """Return the request in the cURL command `command`, an `ImportedRequest`."""
    return JsonResponse(asdict(read_curl(request.POST.get("command", ""))))


@require_POST
def code(request: HttpRequest) -> HttpResponse:
    """Show the composer's request as code, even if it cannot be sent yet."""
    prepared = prepare_form(request)
    call = None
    if prepared.has_call:
        call = registry.preview(prepared.redacted_target, prepared.request)
    if call is None:
        return render(request, "import_export/code.html", {"problems": prepared.problems})
    shown = snippet_call(call, prepared.redact, prepared.secret_names)
    document = snippet_body(prepared.request, prepared.redact, prepared.secret_names)
    return _code(request, shown, prepared.agent.protocol, document, prepared.missing)


@require_safe
def run_code(request: HttpRequest, pk: str) -> HttpResponse:
    """Show the last call of a run as code: the calls before it are only the handshake."""
    run = get_run(request, pk)
    # Batches without calls are skipped.
    frames = (frame for batch in run.batches(is_independent=False) for frame in batch.frames())
    calls = (frame for frame in frames if frame.kind is FrameKind.CALL)
    call = max(calls, key=lambda frame: frame.seq, default=None)
    if call is None:
        return render(request, "import_export/code.html", {"nothing": True})
    shown = snippet_call_from_frame(call.data, run.url)
    return _code(request, shown, run.protocol, snippet_body(run.request, (), run.secret_names))


def _code(
    request: HttpRequest,
    call: SnippetCall,
    protocol: str,
    document: Any,
    missing: Sequence[str] = (),
) -> HttpResponse:
    found = [Snippet(slug, label, write(call)) for slug, (label, write) in WRITERS.items()]
    if registry.has_binding(protocol, Agent.Binding.MCP) and raw.raw_of(document) is None:
        tool = registry.spec(protocol).operation(document)
        found.append(Snippet("jsonrpc", "MCP JSON-RPC", to_jsonrpc(tool, document), JSONRPC_NOTE))
    context = {"snippets": found, "variables": call.variables, "missing": missing}
    return render(request, "import_export/code.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def saved_response(request: HttpRequest, slug: str, saved: str) -> HttpResponse:
    """Open the saved response of a saved request as a run, each time the same one (POST).

    GET redirects to that run once it exists, and before that to the saved request: following links
    creates no runs.
    """
    found = get_saved_request(request, slug, saved, "recorded_run")
    if request.method != "POST":
        return redirect(found.recorded_run or found)
    try:
        run = run_from_saved_response(found, owner_of(request.user))
    except RecordingError as error:
        return _error_response(request, found, str(error))
    if not is_htmx(request):
        return redirect(run)
    response = render(request, "conversation/response.html", response_context(run))
    return push_url(response, run.get_absolute_url())


def _error_response(request: HttpRequest, saved: SavedRequest, reason: str) -> HttpResponse:
    if is_htmx(request):
        return render(
            request, "conversation/response.html", {"run": None, "reply": saved, "why": reason}
        )
    messages.error(request, reason)
    return redirect(saved)
