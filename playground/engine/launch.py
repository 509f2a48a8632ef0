"""From what a user composed to a run that can be driven: checked, limited, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.utils import timezone

from playground.models import Agent, Run, RunState
from playground.models.json_text import storable
from playground.models.liveness import mark_interrupted, this_driver
from playground.protocols.exchange import Target
from playground.protocols.problems import Problem, Stage
from playground.transport.redaction import is_credential

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A composed request and where it is to go."""

    agent: Agent
    request: dict[str, Any]
    headers: Headers = ()
    #: The protocol version to speak; None for the agent's own.
    version: str | None = None

    @property
    def target(self) -> Target:
        """The target with every header, credentials included. Never shown, never stored."""
        target = self.agent.target(list(self.headers))
        return replace(target, version=self.version or target.version)

    @property
    def secrets(self) -> list[str]:
        """What must not appear in any frame: the values that authenticate at this agent.

        Other headers that carry credentials the transport knows by their names.
        """
        values = [self.agent.auth_secret] if self.agent.auth_secret else []
        for _, value in self.agent.auth_headers():
            # The credentials alone, too, whatever the scheme before them is.
            values += [value, value.partition(" ")[2].strip()]
        return sorted(filter(None, set(values)), key=len, reverse=True)


def create_run(draft: Draft, user: User | AnonymousUser | None = None) -> Run:
    """Record a run of `draft` for `user`; it is refused at once when too many are under way."""
    owner = user if user is not None and user.is_authenticated else None
    target = draft.target
    run = Run(
        owner=owner,
        agent=draft.agent if draft.agent.pk else None,
        agent_name=draft.agent.name,
        url=target.url,
        protocol=target.protocol,
        binding=target.binding,
        version=target.version,
        request=draft.request,
        headers=[[name, "" if is_credential(name) else value] for name, value in draft.headers],
        text=_text(draft.request),
        driver=this_driver(),
        alive_at=timezone.now(),
    )
    limit = settings.RUN_LIMITS.max_runs
    if _running(owner) >= limit:
        run.state = RunState.REFUSED
        run.problem = _too_many(limit).to_json()
    run.save()
    return run


def _running(owner: User | None) -> int:
    runs = Run.objects.unfinished().filter(owner=owner)
    if (count := runs.count()) >= settings.RUN_LIMITS.max_runs and mark_interrupted():
        count = runs.count()
    return count


def _text(request: dict[str, Any]) -> str:
    query = request.get("query")
    text = query.get("text") if isinstance(query, dict) else None
    return storable(text[:500]) if isinstance(text, str) else ""


def _too_many(limit: int) -> Problem:
    return Problem(
        state=RunState.REFUSED,
        stage=Stage.LIMIT,
        cause=f"{limit} runs are under way, which is as many as may be at once.",
        fix="Wait for one to end or stop one, or raise PLAYGROUND_MAX_RUNS.",
        limit="max_runs",
    )
