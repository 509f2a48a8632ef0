"""The composer's form: read, with values for its names, and checked."""

from __future__ import annotations

from dataclasses import dataclass, field

from django.http import HttpRequest

from playground.composer_form import SendForm
from playground.engine import Composition, Draft, Scope, addressed, prepare
from playground.engine.preparing import AUTH, EXPECTATIONS, HEADERS
from playground.library.credentials import clean_auth
from playground.models.ownership import owner_of
from playground.protocols.exchange import RequestProblem
from playground.views.environment_choice import active_environment


@dataclass(slots=True)
class Composed:
    """A form that was read: a draft if it can be sent, and everything wrong with it."""

    draft: Draft | None = None
    problems: list[RequestProblem] = field(default_factory=list)
    #: Names without a value.
    missing: list[str] = field(default_factory=list)
    #: Built-in names: their values are made anew when it is sent.
    made: list[str] = field(default_factory=list)

    @property
    def errors(self) -> list[RequestProblem]:
        """The problems that stop a send."""
        return [problem for problem in self.problems if problem.level == "error"]

    def refuse(self, pointer: str, message: str) -> None:
        """Note something that stops a send."""
        self.problems.append(RequestProblem(pointer, message, "error"))

    def keep_agent(self) -> None:
        """Keep the agent that was made of an address, so that what follows finds it."""
        if self.draft is not None and self.draft.agent.pk is None:
            addressed.keep(self.draft.agent)


#: Where a problem with a field is shown; those of others belong to the request as a whole.
_PLACES = {"headers": HEADERS, "auth": AUTH, "expectations": EXPECTATIONS}


def read_form(request: HttpRequest) -> Composed:
    """Read the composer's fields: where it goes, document, headers and what belongs to them.

    A document that cannot be sent yet gives a draft all the same, for a look at it.
    """
    composed = Composed()
    form = SendForm(request.POST, request.user)
    for name, errors in form.errors.items():
        composed.refuse(_PLACES.get(name, ""), str(errors[0]))
    if composed.problems:
        return composed
    # Without the field, it is the environment of the top bar.
    is_named = "environment" in request.POST
    environment = form.cleaned_data["environment"] if is_named else active_environment(request)
    prepared = prepare(_composition(form), Scope(environment), owner_of(request.user))
    composed.draft, composed.problems = prepared.draft, prepared.problems
    composed.missing = prepared.missing
    composed.made = [name for name in prepared.used if name.startswith("$")]
    return composed


def _composition(form: SendForm) -> Composition:
    """What a valid form holds, as the engine takes it."""
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
