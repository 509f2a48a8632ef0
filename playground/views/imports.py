"""Import: a file, a text or an address to what it would change, and then to the collection."""

from __future__ import annotations

import base64
import binascii
import zlib
from typing import Any

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from playground.engine.fetching import FetchError, fetch
from playground.library.fixtures import (
    Fixture,
    FixtureError,
    FixtureProblem,
    ImportPlan,
    import_fixture,
    plan_import,
)
from playground.library.reading import MAX_BYTES, READERS, parse_import, text_of
from playground.models import Collection
from playground.models.collections import RESERVED, free_slug
from playground.models.ownership import owner_of
from playground.rendering.import_preview import groups_of, summary
from playground.transport import check_url

#: Characters that a form may carry from the preview to the import; Django takes 8 MB in all.
MAX_CARRIED = 7_500_000


@require_http_methods(["GET", "HEAD", "POST"])
async def collection_import(request: HttpRequest) -> HttpResponse:
    """GET shows the form; POST shows what an import would change, or with `confirmed` does it.

    The browser carries the text that was read, and not what was made of it: that is read again.
    """
    if request.method != "POST":
        return await sync_to_async(_form)(request)
    try:
        text, source = await _given(request)
    except FixtureError as error:
        return await sync_to_async(_form)(request, error.problems)
    return await sync_to_async(_answer)(request, text, source)


async def _given(request: HttpRequest) -> tuple[str, str]:
    """The text that is to be imported, and what to call where it is from."""
    form, upload = request.POST, request.FILES.get("file")
    if packed := form.get("packed"):
        return decompress_text(packed), form.get("source", "")[:300]
    address, pasted = form.get("url", "").strip(), form.get("text", "")
    if sum(map(bool, (upload, address, pasted.strip()))) != 1:
        raise FixtureError(
            FixtureProblem("", "Give a file, a text or an address: one of the three.")
        )
    if upload is not None:
        if (upload.size or 0) > MAX_BYTES:
            raise FixtureError(FixtureProblem("", f"The file is larger than {MAX_BYTES >> 20} MB."))
        return text_of(await sync_to_async(upload.read)()), upload.name or "a file"
    if address:
        return text_of(await _fetched(request, address)), address[:300]
    return pasted, "the pasted text"


async def _fetched(request: HttpRequest, address: str) -> bytes:
    if refusal := check_url(address):
        raise FixtureError(FixtureProblem("", refusal))
    owner = owner_of(await request.auser())
    try:
        return await fetch(address, owner=owner.pk if owner else None)
    except FetchError as error:
        raise FixtureError(FixtureProblem("", str(error))) from error


def _answer(request: HttpRequest, text: str, source: str) -> HttpResponse:
    """The preview of a text, or once it was confirmed the collection that came of it."""
    owner = owner_of(request.user)
    try:
        found = parse_import(text)
        if "confirmed" not in request.POST:
            planned = plan_import(found.fixture, owner)
            return _preview(request, planned, found.format, compress_text(text), source)
        done = import_fixture(_chosen(request, found.fixture), owner)
    except FixtureError as error:
        return _form(request, error.problems)
    except IntegrityError:
        message = "The collection was changed at the same moment. Nothing was imported; try again."
        return _form(request, (FixtureProblem("", message),))
    assert done.collection is not None
    messages.success(request, f"{done.collection.name} was imported: {summary(done.changes)}.")
    return redirect(done.collection)


def _chosen(request: HttpRequest, fixture: Fixture) -> Fixture:
    """What is to be taken in, as the form chooses: the fixture, or the same under a free slug."""
    if request.POST["confirmed"] != "beside":
        return fixture
    others = Collection.objects.owned_by(request.user)
    return fixture.renamed(free_slug(fixture.slug, "collection", others, RESERVED))


def _preview(
    request: HttpRequest, planned: ImportPlan, label: str, packed: str, source: str
) -> HttpResponse:
    if len(packed) > MAX_CARRIED:
        message = "The file is too large for this page. `manage.py import_collection` takes it."
        return _form(request, (FixtureProblem("", message),))
    collection = planned.fixture.collection or {}
    context = {
        "planned": planned,
        "name": collection.get("name", ""),
        "format": label,
        "groups": groups_of(planned.changes),
        "packed": packed,
        "source": source,
    }
    return render(request, "collections/import_preview.html", context)


def _form(request: HttpRequest, problems: tuple[FixtureProblem, ...] = ()) -> HttpResponse:
    """The form; with problems, and with the text and the address that were given."""
    given: Any = request.POST
    context = {
        "problems": problems,
        "text": given.get("text", ""),
        "url": given.get("url", ""),
        "formats": [each.label for each in READERS],
    }
    return render(request, "collections/import.html", context, status=422 if problems else 200)


def compress_text(text: str) -> str:
    """A text as a field of a form carries it: a collection repeats itself a lot."""
    data = zlib.compress(text.encode("utf-8", "surrogatepass"), 6)
    return base64.b64encode(data).decode("ascii")


def decompress_text(packed: str) -> str:
    """The text that `pack` packed. Raises `FixtureError` for anything else."""
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(packed, validate=True), MAX_BYTES + 1)
    except (binascii.Error, ValueError, zlib.error):
        message = "The text did not come back as it was sent. Choose the file again."
        raise FixtureError(FixtureProblem("", message)) from None
    return text_of(data)
