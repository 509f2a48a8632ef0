"""The composer's form: read, with values for its names, and checked."""

from __future__ import annotations

from django.http import HttpRequest

from playground.composer_form import SendForm
from playground.engine import Composition, PreparationResult, Scope, prepare
from playground.engine.preparation import AUTH, EXPECTATIONS, HEADERS
from playground.library.credentials import clean_auth
from playground.models.ownership import owner_of
from playground.views.environment_choice import active_environment

#: Where a problem with a field is shown; those of others belong to the request as a whole.
_PLACES = {"headers": HEADERS, "auth": AUTH, "expectations": EXPECTATIONS}


def read_form(request: HttpRequest) -> PreparationResult:
    """Read the composer's fields: where it goes, document, headers and what belongs to them.

    A document that cannot be sent yet gives a request all the same, for a look at it.
    """
    composed = PreparationResult()
    form = SendForm(request.POST, request.user)
    for name, errors in form.errors.items():
        composed.refuse(_PLACES.get(name, ""), str(errors[0]))
    if composed.problems:
        return composed
    # Without the field, it is the environment of the top bar.
    is_named = "environment" in request.POST
    environment = form.cleaned_data["environment"] if is_named else active_environment(request)
    return prepare(_composition(form), Scope(environment), owner_of(request.user))


def _composition(form: SendForm) -> Composition:
    """Return what a valid form holds, as the engine takes it."""
    found = form.cleaned_data
    return Composition(
        request=found["document"],
        headers=found["headers"],
        agent=found["agent"],
        address="" if found["agent"] else found["address"],
        protocol=found["protocol"],
        version=found["version"],
        binding=found["binding"],
        auth=clean_auth(found["auth"]),
        saved=found["saved"],
        expectations=found["expectations"],
    )
