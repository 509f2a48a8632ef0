"""What the address of the history asks for, and the address that asks for it again."""

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
from playground.models.history import NO_AGENT, UNDER_WAY, HistoryFilters
from playground.protocols.events import Outcome

#: Characters of a search.
MAX_WORDS = 200
#: In the address, for runs whose agent was deleted or never saved. No slug begins like that.
NOBODY = "-"

#: Value and label of what can be chosen.
STATES = [
    (UNDER_WAY, "Under way"),
    *((state.value, str(state.label)) for state in RunState if state.is_final),
]
OUTCOMES = [
    (Outcome.ANSWER, "Answer"),
    (Outcome.ELICITATION, "Question"),
    (Outcome.PROMISE, "Promise"),
    (Outcome.FAILURE, "Failure reported"),
    (Outcome.NONE, "No answer"),
]

MADE_BY = [(each.value, str(each.label)) for each in RunSource]


@dataclass(frozen=True, slots=True)
class HistoryQuery:
    """The fields of the filter form, as far as they can be understood."""

    q: str = ""
    agent: str = ""
    state: str = ""
    outcome: str = ""
    source: str = ""
    #: Days, both included; "" or YYYY-MM-DD.
    since: str = ""
    until: str = ""
    #: "1" for checks and actions, too.
    all: str = ""

    @classmethod
    def read(cls, fields: Mapping[str, str]) -> HistoryQuery:
        """What is asked for; whatever makes no sense is as if it were not there."""
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
        """The page of the history that asks for this, without what is empty."""
        query = self.query
        return f"{reverse('history')}{'?' if query else ''}{query}"

    @property
    def query(self) -> str:
        """The same as a query string."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return urlencode({name: value for name, value in fields.items() if value})

    @property
    def narrows(self) -> bool:
        """Whether some runs are kept out by what was chosen."""
        return bool(replace(self, all="").query)

    def filters(self, user: User | AnonymousUser) -> HistoryFilters:
        """The same for the database; an agent that the user does not have passes nothing."""
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
        if self.agent == NOBODY:
            return NO_AGENT
        found = Agent.objects.owned_by(user).filter(slug=self.agent)
        # 0 is no agent's key.
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
    """The first moment of a day, or of one some days later; None for no day."""
    if not text:
        return None
    day = date.fromisoformat(text) + timedelta(days=days)
    return timezone.make_aware(datetime.combine(day, time.min))
