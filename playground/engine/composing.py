"""What a user composed or saved, with names in it, and what the names stand for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import AnonymousUser, User

from playground.engine.request import Headers, Secret
from playground.models import Agent, Environment, SavedRequest, Variable
from playground.models.collections import destination_of
from playground.variables import Value

Owner = User | AnonymousUser | None


@dataclass(frozen=True, slots=True)
class Composition:
    """A request as it was composed: every part of it may hold `{{name}}`."""

    request: dict[str, Any]
    headers: Headers = field(default=(), repr=False)
    agent: Agent | None = None
    #: Where it goes where there is no agent.
    address: str = ""
    #: With an address: what is spoken there; "" for NLWeb.
    protocol: str = ""
    #: None for those of the agent; one that its protocol does not have is as good as none.
    version: str | None = None
    binding: str | None = None
    #: As `SavedRequest.auth`.
    auth: Mapping[str, Any] = field(default_factory=dict)
    saved: SavedRequest | None = None
    expectations: Sequence[Mapping[str, Any]] = ()

    @classmethod
    def of(cls, saved: SavedRequest, owner: Owner = None) -> Composition:
        """A saved request; its agent is looked up among those of `owner`."""
        agents = Agent.objects.filter(owner=key_of(owner), protocol=saved.protocol)
        agent, address = destination_of(saved, agents)
        return cls(
            request=saved.document,
            headers=[(str(name), str(value)) for name, value in saved.headers],
            agent=agent,
            address=address,
            protocol=saved.protocol,
            version=saved.version,
            binding=saved.binding,
            auth=saved.auth or {},
            saved=saved,
            expectations=saved.expectations or (),
        )


@dataclass(slots=True)
class Scope:
    """What names stand for: `values` first (captures, a row of data), then the environment.

    A name that is a secret of the environment stays one, wherever its value comes from. The
    environment is read once.
    """

    environment: Environment | None = None
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    #: Of names that a request before this one captures, that request's name: it is where a
    #: value is missed that is not there.
    captured: Mapping[str, str] = field(default_factory=dict)
    _rows: dict[str, Variable] | None = field(default=None, init=False, repr=False)

    @property
    def slug(self) -> str:
        """The environment's slug, "" for none."""
        return self.environment.slug if self.environment else ""

    def find(self, name: str) -> Value | None:
        """What `name` stands for, None where nobody knows."""
        row = self._known.get(name)
        is_secret = row is not None and row.kind == Variable.Kind.SECRET
        if name in self.values:
            value = self.values[name]
            return Value(_text(value), secret=True) if is_secret else Value(value)
        if row is None or (is_secret and not row.secret):
            return None
        return Value(row.secret, secret=True) if is_secret else Value(row.content)

    def secret(self, name: str) -> Secret | None:
        """The secret of that name, None where it is none or has no value."""
        row, found = self._known.get(name), self.find(name)
        if row is None or found is None or not found.secret:
            return None
        return Secret(name, found.value, tuple(map(str, row.origins)))

    @property
    def _known(self) -> dict[str, Variable]:
        if self._rows is None:
            rows = self.environment.variables.all() if self.environment else ()
            self._rows = {row.name: row for row in rows}
        return self._rows


def key_of(owner: Owner) -> int | None:
    """The primary key of an owner, None for nobody in particular."""
    return owner.pk if owner is not None and owner.is_authenticated else None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
