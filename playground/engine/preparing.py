"""From what was composed, with names in it, to a request with their values.

A composition is what a user wrote or saved, a scope what the names in it stand for. `prepare`
puts them together: every name has a value, every secret may go where the request goes, and what
is kept of it holds no secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils import timezone

from playground.engine.addressed import agent_for, known_as, with_kept_agent
from playground.engine.composing import Composition, Owner, Scope, key_of
from playground.engine.expecting import expected, why_not
from playground.engine.request import (
    PreparedRequest,
    Provenance,
    WireValues,
    authorising,
    keepable,
    request_to,
)
from playground.engine.ways import address_of, bindings_of
from playground.library.credentials import clean_address
from playground.models import Agent
from playground.protocols import headers as header_rules
from playground.protocols import registry
from playground.protocols.addresses import same_origin
from playground.protocols.exchange import RequestProblem
from playground.protocols.http import merged
from playground.transport import check_url
from playground.variables import Substituted, Substitution, VariableError, names_in

#: Where a problem or a name is, beside the JSON pointers of the document.
HEADERS, ADDRESS, AUTH, EXPECTATIONS = "#headers", "#address", "#auth", "#expectations"
#: Characters of an address.
MAX_ADDRESS = 2000


@dataclass(slots=True)
class PreparationResult:
    """A request that was prepared, if it could be, and everything that is wrong with it."""

    #: None where there is nothing that could be sent, or shown as if it could.
    prepared: PreparedRequest | None = None
    problems: list[RequestProblem] = field(default_factory=list)
    #: Names that had a value.
    used: tuple[str, ...] = ()
    #: (JSON pointer, or one of the places above; name) of each that had none.
    unresolved: tuple[tuple[str, str], ...] = ()

    @property
    def errors(self) -> list[RequestProblem]:
        """The problems that stop a send."""
        return [problem for problem in self.problems if problem.level == "error"]

    @property
    def missing(self) -> list[str]:
        """The names without a value, each once."""
        return list(dict.fromkeys(name for _, name in self.unresolved))

    @property
    def built_in(self) -> list[str]:
        """The built-in names that had a value: it is made anew when the request is sent."""
        return [name for name in self.used if name.startswith("$")]

    def keep_agent(self) -> None:
        """Save the agent that was made of an address, so that what follows finds it."""
        if self.prepared is not None:
            self.prepared = with_kept_agent(self.prepared)

    def refuse(self, place: str, message: str) -> None:
        """Note something that stops a send."""
        self.problems.append(RequestProblem(place, message, "error"))


def refused(message: str) -> PreparationResult:
    """No request at all, for one reason."""
    return PreparationResult(problems=[RequestProblem("", message, "error")])


def prepare(
    composition: Composition, scope: Scope, owner: Owner = None, *, moment: datetime | None = None
) -> PreparationResult:
    """The request of a composition, and everything that is wrong with it.

    With unresolved names, or secrets that may not go there, there is a request as well, for a
    look at it: `errors` says whether it may be sent. An address that belongs to no agent of
    `owner` makes one that is not saved. `moment` is that of the built-in variables, None for now.
    """
    return _Preparation(composition, scope, owner, moment or timezone.now()).result


class _Preparation:
    """One composition on its way to a request."""

    def __init__(
        self, composition: Composition, scope: Scope, owner: Owner, moment: datetime
    ) -> None:
        self.result = PreparationResult()
        self._composition = composition
        self._scope = scope
        self._owner = owner
        self._moment = moment
        self._work = Substitution(scope.find, moment=moment)
        #: Names that have a value in what is expected.
        self._judged: tuple[str, ...] = ()
        try:
            self._go()
        except VariableError as error:
            self.result.refuse("", str(error))
        self.result.used = tuple(dict.fromkeys((*self._work.used, *self._judged)))
        self.result.unresolved = tuple(self._work.unresolved)

    def _go(self) -> None:
        composition, result = self._composition, self.result
        found = self._address()
        if found is None:
            return
        agent, url = found
        document = self._work.json(composition.request)
        headers = self._headers()
        own, disguised = authorising(composition.auth, self._secret)
        self._check_auth(own)
        if result.problems:
            return  # A header that no call can have.
        wire = None
        if self._work.secrets or composition.auth:
            wire = WireValues(
                request=document.kept,
                document=document.sent,
                headers=merged(own, [pair.sent for pair in headers]),
                url=url.sent,
                secrets=tuple(filter(None, map(self._scope.secret, self._names()))),
                disguised=(disguised,) if disguised else (),
            )
        prepared = request_to(
            agent,
            document.kept,
            [pair.kept for pair in headers],
            version=self._version(agent),
            binding=self._way(agent),
            url=url.kept,
            auth=composition.auth,
            wire=wire,
            provenance=self._provenance(),
        )
        result.prepared = prepared
        self._say_what_is_missing()
        if not any(place == ADDRESS for place, _ in self._work.unresolved):
            for refusal in prepared.refusals():
                result.refuse("", refusal)
        # What is kept: a message of the check may quote it.
        result.problems += registry.check(prepared.target, prepared.request)

    # Where it goes

    def _address(self) -> tuple[Agent, Substituted] | None:
        """The agent, and the address of it; None where there is none that could be called."""
        composition = self._composition
        if composition.agent is None and not composition.address:
            self.result.refuse("", "Choose an agent to send the request to.")
            return None
        agent = composition.agent
        template = composition.address if agent is None else address_of(agent, self._way(agent))
        try:
            url = self._work.url(template, ADDRESS)
        except VariableError as error:
            self.result.refuse(ADDRESS, str(error))
            return None
        if agent is not None:
            if names_in(template) and not same_origin(template, url.sent):
                # What authenticates at an agent belongs to the origin that it was given for.
                self.result.refuse(ADDRESS, "An agent's address cannot have names before its path.")
            return agent, url
        return (self._agent_at(url.kept), url) if self._is_callable(url) else None

    def _is_callable(self, url: Substituted) -> bool:
        if any(place == ADDRESS for place, _ in self._work.unresolved):
            self._say_what_is_missing()
            return False
        refusal = check_url(url.sent)
        if refusal is None and len(url.kept) > MAX_ADDRESS:
            refusal = f"The URL is longer than {MAX_ADDRESS} characters."
        if refusal:
            self.result.refuse(ADDRESS, refusal)
        return refusal is None

    def _agent_at(self, url: str) -> Agent:
        """The owner's agent at this address, or a new one. Not saved."""
        new = agent_for(url, self._composition.protocol, key_of(self._owner))
        new.binding = self._way(new)
        return known_as(new) or new

    def _way(self, agent: Agent) -> str:
        wanted = self._composition.binding
        return wanted if wanted in bindings_of(agent) else str(agent.binding)

    def _version(self, agent: Agent) -> str:
        wanted = self._composition.version
        known = {version.name for version in registry.versions(agent.protocol)}
        return wanted if wanted in known else str(agent.version)

    # What is stored of what it was made of

    def _provenance(self) -> Provenance:
        return Provenance(
            saved_request=self._composition.saved,
            template=self._template(),
            environment=self._scope.slug,
            secrets=self._names(),
            expectations=self._expected(),
        )

    def _template(self) -> dict[str, Any] | None:
        """What the run keeps of what the user wrote, None where it is what is sent."""
        composition = self._composition
        parts = [composition.request, list(composition.headers), composition.address]
        wanted = [dict(each) for each in composition.expectations]
        if not composition.auth and not names_in([parts, wanted]):
            return None
        template = {
            "document": composition.request,
            "headers": keepable(composition.headers),
            "address": "" if composition.agent else clean_address(composition.address),
            "auth": dict(composition.auth),
        }
        # Without names in it, it is what the run is held to, and that is kept with the run.
        return template | ({"expectations": wanted} if names_in(wanted) else {})

    def _expected(self) -> Sequence[Mapping[str, Any]]:
        """What the reply is held to, with values for the names in it."""
        wanted, found = expected(self._composition.expectations, self._scope, self._moment)
        self._judged = found.used
        self._work.unresolved += [(EXPECTATIONS, name) for _, name in found.unresolved]
        if why := why_not(found.secrets):
            self.result.refuse(EXPECTATIONS, why)
        expectations: Sequence[Mapping[str, Any]] = wanted
        return expectations

    # What goes along

    def _headers(self) -> list[Substituted]:
        """Pairs of name and value, each as it goes out and as it is kept."""
        found = []
        for name, value in self._composition.headers:
            before = len(self._work.unresolved)
            names, values = (self._work.text(part, HEADERS) for part in (name, value))
            unresolved = len(self._work.unresolved) > before
            if names.sent != names.kept:
                self.result.refuse(HEADERS, f"A secret cannot be the name of a header: {name}.")
            # One whose names have no value is said to lack them.
            elif not unresolved and (refusal := header_rules.refusal(names.sent, values.sent)):
                self.result.refuse(HEADERS, refusal)
            found.append(Substituted((names.sent, values.sent), (names.kept, values.kept)))
        return found

    def _secret(self, name: str) -> str:
        """The value of the secret that authenticates, "" where there is none."""
        found = self._scope.secret(name)
        if found is None:
            self._work.unresolved.append((AUTH, name))
            return ""
        return found.value

    def _check_auth(self, own: Sequence[tuple[str, str]]) -> None:
        for name, value in own:
            if refusal := header_rules.refusal(name, value):
                self.result.refuse(AUTH, refusal)

    def _names(self) -> tuple[str, ...]:
        """The names of all secrets that go along."""
        own = str(self._composition.auth.get("secret", ""))
        found = (*self._work.secrets, *([own] if own and self._scope.secret(own) else ()))
        return tuple(dict.fromkeys(found))

    def _say_what_is_missing(self) -> None:
        if not self._work.unresolved:
            return
        place = self._work.unresolved[0][0]
        missing = list(dict.fromkeys(name for _, name in self._work.unresolved))
        captured = self._scope.captured
        for name in filter(captured.__contains__, missing):
            told = (
                f"There is no value for “{name}”: “{captured[name]}”, which captures it, got none."
            )
            self.result.refuse(place, told)
        names = ", ".join(f"“{name}”" for name in missing if name not in captured)
        if not names:
            return
        environment = self._scope.environment
        where = f"in the environment “{environment.name}”" if environment else "anywhere"
        advice = "Add it there" if environment else "Choose an environment that has it"
        self.result.refuse(place, f"There is no value for {names} {where}. {advice}.")
