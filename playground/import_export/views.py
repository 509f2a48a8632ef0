"""Import of a file, a text or a URL into a collection, and export of a collection."""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from playground.base.installation import command_line
from playground.collections.fixture import Fixture, FixtureError, FixtureProblem, dump, fixture_of
from playground.collections.fixture_parser import MAX_BYTES, decode_file
from playground.collections.import_preview import groups_of, summary
from playground.collections.importer import ImportPlan, import_fixture, plan_import
from playground.engine.fetch import FetchError, fetch
from playground.environments.forms import MAX_VARIABLES
from playground.import_export.import_formats import IMPORT_FORMATS, ParsedImport, parse_import
from playground.import_export.postman import ImportedVariable
from playground.import_export.postman_export import to_postman
from playground.models import Collection, Environment, LimitError, Variable
from playground.models.collections import RESERVED
from playground.models.ownership import Owner, owner_of
from playground.models.slugs import free_slug
from playground.transport import check_url
from playground.ui.helpers import get_collection, make_download

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
        return await sync_to_async(_form)(request, error.problems)
    return await sync_to_async(_preview_or_import)(request, text, source)


async def _submitted_text(request: HttpRequest) -> tuple[str, str]:
    """Return the text to import, and a label of its source."""
    form, upload = request.POST, request.FILES.get("file")
    if packed := form.get("packed"):
        return decompress_text(packed), form.get("source", "")[:300]
    address, pasted = form.get("url", "").strip(), form.get("text", "")
    if sum(map(bool, (upload, address, pasted.strip()))) != 1:
        raise FixtureError(FixtureProblem("", "Enter exactly one of file, text and URL."))
    if upload is not None:
        if (upload.size or 0) > MAX_BYTES:
            raise FixtureError(FixtureProblem("", f"The file is larger than {MAX_BYTES >> 20} MB."))
        return decode_file(await sync_to_async(upload.read)()), upload.name or "a file"
    if address:
        return decode_file(await _fetch_text(request, address)), address[:300]
    return pasted, "pasted text"


async def _fetch_text(request: HttpRequest, address: str) -> bytes:
    """Return the body at a URL. Raises `FixtureError`."""
    if refusal := check_url(address):
        raise FixtureError(FixtureProblem("", refusal))
    owner = owner_of(await request.auser())
    try:
        return await fetch(address, owner=owner.pk if owner else None)
    except FetchError as error:
        raise FixtureError(FixtureProblem("", str(error))) from error


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
        return _form(request, error.problems)
    except LimitError as error:
        return _form(request, (FixtureProblem("", str(error)),))
    except IntegrityError:
        message = "The collection was changed at the same time, so nothing was imported. Try again."
        return _form(request, (FixtureProblem("", message),))
    messages.success(
        request, f"{result.collection.name} was imported: {summary(result.changes)}.{note}"
    )
    if result.collection.lesson:
        return redirect("lesson", result.collection.slug)
    return redirect(result.collection)


def _create_environment(
    collection: Collection, variables: Sequence[ImportedVariable]
) -> Environment:
    """Create an environment with the variables of a collection; secrets without their values."""
    created = Environment.objects.create(
        owner=collection.owner, name=_free_name(collection.name, collection.owner)
    )
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


def _free_name(name: str, owner: Owner) -> str:
    """Return a name that no environment of the owner has."""
    taken = set(Environment.objects.filter(owner=owner).values_list("name", flat=True))
    names = chain([name[:80]], (f"{name[:70]} {number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def _target_fixture(request: HttpRequest, fixture: Fixture) -> Fixture:
    """Return the fixture, or with `beside` the same fixture under a free slug."""
    if request.POST["confirmed"] != "beside":
        return fixture
    others = Collection.objects.owned_by(request.user)
    return fixture.renamed(free_slug(fixture.slug, "collection", others, RESERVED))


def _preview(
    request: HttpRequest, plan: ImportPlan, found: ParsedImport, packed: str, source: str
) -> HttpResponse:
    """Render the preview of an import."""
    if len(packed) > MAX_COMPRESSED:
        command = command_line("import_collection")
        message = f"The file is too large for this page. Use `{command}`."
        return _form(request, (FixtureProblem("", message),))
    collection = plan.fixture.collection
    context = {
        "planned": plan,
        "name": collection["name"],
        "format": found.format,
        "variables": found.variables,
        "groups": groups_of(plan.changes),
        "lesson_steps": len((collection.get("lesson") or {}).get("steps", ())),
        "packed": packed,
        "source": source,
    }
    return render(request, "collections/import_preview.html", context)


def _form(request: HttpRequest, problems: tuple[FixtureProblem, ...] = ()) -> HttpResponse:
    """Render the form, with problems and with the submitted text and URL."""
    submitted: Any = request.POST
    context = {
        "problems": problems,
        "text": submitted.get("text", ""),
        "url": submitted.get("url", ""),
        "formats": [each.label for each in IMPORT_FORMATS],
    }
    return render(request, "collections/import.html", context, status=422 if problems else 200)


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
        raise FixtureError(FixtureProblem("", message)) from None
    return decode_file(data)


@require_safe
def collection_export(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the collection as a Django fixture, named after it."""
    found = get_collection(request, slug)
    response = HttpResponse(dump(found), content_type="application/json; charset=utf-8")
    return make_download(response, f"{found.slug}.json")


@require_safe
def collection_postman(request: HttpRequest, slug: str) -> HttpResponse:
    """Download the collection as a Postman Collection 2.1."""
    found = get_collection(request, slug)
    text = to_postman(fixture_of(found))
    response = HttpResponse(text, content_type="application/json; charset=utf-8")
    return make_download(response, f"{found.slug}.postman_collection.json")
