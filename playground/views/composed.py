"""The composer's form: read, with values for its names, and checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.forms import ValidationError
from django.http import HttpRequest

from playground.engine import Composition, PreparationResult, Scope, prepare
from playground.engine.preparation import AUTH, HEADERS
from playground.expectations import check_schema
from playground.forms import read_document, read_pairs, read_value
from playground.library.credentials import clean_auth
from playground.models import Agent, Environment, SavedRequest
from playground.views.environment_choice import active_environment


def read_form(request: HttpRequest) -> PreparationResult:
    """Read the composer's fields: where it goes, document, headers and what belongs to them.

    A document that cannot be sent yet gives a request all the same, for a look at it.
    """
    composed = PreparationResult()
    composition = _composition(request, composed)
    scope = Scope(_environment(request, composed))
    if composed.problems:
        return composed
    return prepare(composition, scope, request.user)


def _composition(request: HttpRequest, composed: PreparationResult) -> Composition:
    form = request.POST

    def read(place: str, reader: Callable[[str], Any], name: str, empty: Any) -> Any:
        text = form.get(name, "")
        if not text.strip() and name != "document":
            return empty
        try:
            return reader(text)
        except ValidationError as error:
            composed.refuse(place, error.messages[0])
            return empty

    agent = Agent.objects.owned_by(request.user).filter(slug=form.get("agent", "")).first()
    address = "" if form.get("agent") else form.get("address", "").strip()
    if agent is None and not address:
        composed.refuse("", "Choose an agent to send the request to.")
    return Composition(
        request=read("", read_document, "document", {}),
        headers=read(HEADERS, read_pairs, "headers", []),
        agent=agent,
        address=address,
        protocol=form.get("protocol", ""),
        version=form.get("version"),
        binding=form.get("binding"),
        auth=clean_auth(read(AUTH, read_value, "auth", {})),
        saved=_saved(request),
        expectations=read("#expectations", _read_expectations, "expectations", []),
    )


def _read_expectations(text: str) -> Any:
    value = read_value(text)
    if problems := check_schema(value):
        raise ValidationError(f"Expectations, {problems[0].pointer}: {problems[0].message}")
    return value


def _saved(request: HttpRequest) -> SavedRequest | None:
    """The saved request that is open in the composer, None for one that is gone."""
    collection, slash, slug = request.POST.get("saved", "").partition("/")
    if not slash:
        return None
    owner = request.user.pk if request.user.is_authenticated else None
    found = SavedRequest.objects.filter(collection__owner=owner, collection__slug=collection)
    return found.filter(slug=slug).first()


def _environment(request: HttpRequest, composed: PreparationResult) -> Environment | None:
    """The environment that the form names; without the field, that of the top bar."""
    slug = request.POST.get("environment")
    if slug is None:
        return active_environment(request)
    found = Environment.objects.owned_by(request.user).filter(slug=slug).first()
    if slug and found is None:
        composed.refuse("", f"The environment “{slug[:80]}” is gone. Choose another one.")
    return found
