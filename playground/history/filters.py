"""Filters of the history in the query string, and the URL of a filtered history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date

from playground.models import Agent, RunSource, RunState
from playground.models.history import IN_PROGRESS, NO_AGENT, HistoryFilters
from playground.protocols.events import Outcome

#: Maximum length of a search.
MAX_WORDS = 200
#: In the URL, for runs whose agent was deleted or never saved. It is not a valid slug.
UNSAVED_AGENT = "-"

#: Choices: value and label.
STATES = [
    (IN_PROGRESS, "In progress"),
    *((state.value, str(state.label)) for state in RunState if state.is_final),
]
OUTCOMES = [
    (Outcome.ANSWER, "Answer"),
    (Outcome.ELICITATION, "Input required"),
    (Outcome.PROMISE, "Promise"),
    (Outcome.FAILURE, "Agent error"),
    (Outcome.NONE, "No usable answer"),
]

MADE_BY = [(each.value, str(each.label)) for each in RunSource]


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """The fields of the filter form, as far as they are valid."""

    q: str = ""
    agent: str = ""
    state: str = ""
    outcome: str = ""
    source: str = ""
    #: Days, both included; "" or YYYY-MM-DD.
    since: str = ""
    until: str = ""
    #: "1" to include child runs.
    all: str = ""

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> HistoryQuery:
        """Return the query from fields; invalid ones are ignored."""
        return cls(
            q=fields.get("q", "").strip()[:MAX_WORDS],
            agent=fields.get("agent", "")[:90],
            state=_one_of(STATES, fields.get("state", "")),
            outcome=_one_of(OUTCOMES, fields.get("outcome", "")),
            source=_one_of(MADE_BY, fields.get("made_by", "")),
            since=_day(fields.get("since", "")),
            until=_day(fields.get("until", "")),
            all="1" if fields.get("all") == "1" else "",
        )

    @property
    def url(self) -> str:
        """Return the URL of the history with these filters, without empty ones."""
        query = self.query
        return f"{reverse('history')}{'?' if query else ''}{query}"

    @property
    def query(self) -> str:
        fields = {
            "q": self.q,
            "agent": self.agent,
            "state": self.state,
            "outcome": self.outcome,
            "made_by": self.source,
            "since": self.since,
            "until": self.until,
            "all": self.all,
        }
        return urlencode({name: value for name, value in fields.items() if value})

    @property
    def narrows(self) -> bool:
        """Return whether the filters exclude any runs."""
        return bool(replace(self, all="").query)

    def filters(self, user: User | AnonymousUser) -> HistoryFilters:
        """Return the filters for the database; an unknown agent matches no run."""
        return HistoryFilters(
            search=self.q,
            agent=self._agent(user),
            outcome=self.outcome,
            state=self.state,
            source=self.source,
            since=_midnight(self.since),
            until=_midnight(self.until, days=1),
            children=bool(self.all),
        )

    def _agent(self, user: User | AnonymousUser) -> int | None:
        if not self.agent:
            return None
        if self.agent == UNSAVED_AGENT:
            return NO_AGENT
        found = Agent.objects.owned_by(user).filter(slug=self.agent)
        # No agent has the key 0.
        return found.values_list("pk", flat=True).first() or 0


def _one_of(choices: list[tuple[str, str]] | list[tuple[Outcome, str]], value: str) -> str:
    return value if value in [str(each) for each, _ in choices] else ""


def _day(text: str) -> str:
    try:
        found = parse_date(text)
    except ValueError:
        return ""
    return found.isoformat() if found and 1 < found.year < 9999 else ""


def _midnight(text: str, days: int = 0) -> datetime | None:
    """Return the beginning of a day, or of one some days later; None for no day."""
    if not text:
        return None
    day = date.fromisoformat(text) + timedelta(days=days)
    return timezone.make_aware(datetime.combine(day, time.min))
