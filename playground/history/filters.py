"""Filters of the history in the query string, and the URL of a filtered history."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import cached_property
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.models import AnonymousUser, User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.urls import reverse
from django.utils import timezone

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
#: Days whose beginning is a time in every time zone.
_VALID_DAYS = [MinValueValidator(date(2, 1, 1)), MaxValueValidator(date(9998, 12, 31))]


class HistoryForm(forms.Form):
    """A form of the filters, bound to a query string; invalid fields are ignored."""

    q = forms.CharField(required=False)
    #: The slug of an agent, or `UNSAVED_AGENT`.
    agent = forms.CharField(required=False)
    state = forms.ChoiceField(choices=STATES, required=False)
    outcome = forms.ChoiceField(choices=OUTCOMES, required=False)
    made_by = forms.ChoiceField(choices=RunSource.choices, required=False)
    #: Days, both included.
    since = forms.DateField(required=False, input_formats=["%Y-%m-%d"], validators=_VALID_DAYS)
    until = forms.DateField(required=False, input_formats=["%Y-%m-%d"], validators=_VALID_DAYS)
    #: "1" to include child runs.
    all = forms.ChoiceField(choices=[("1", "1")], required=False)

    def clean_q(self) -> str:
        return str(self.cleaned_data["q"])[:MAX_WORDS]

    @cached_property
    def texts(self) -> dict[str, str]:
        """The fields that are valid and not empty, as they are written in a URL."""
        self.full_clean()
        return {name: str(value) for name, value in self.cleaned_data.items() if value}

    @property
    def url(self) -> str:
        """Return the URL of the history with these filters, without empty ones."""
        query = self.query
        return f"{reverse('history')}{'?' if query else ''}{query}"

    @property
    def query(self) -> str:
        return urlencode(self.texts)

    @property
    def narrows(self) -> bool:
        """Return whether the filters exclude any runs."""
        return bool(self.texts.keys() - {"all"})

    def filters(self, user: User | AnonymousUser) -> HistoryFilters:
        """Return the filters for the database; an unknown agent matches no run."""
        texts, days = self.texts, self.cleaned_data
        return HistoryFilters(
            search=texts.get("q", ""),
            agent=_agent_key(texts.get("agent", ""), user),
            outcome=texts.get("outcome", ""),
            state=texts.get("state", ""),
            source=texts.get("made_by", ""),
            since=_midnight(days.get("since")),
            until=_midnight(days.get("until"), days=1),
            children="all" in texts,
        )


def _agent_key(slug: str, user: User | AnonymousUser) -> int | None:
    if not slug:
        return None
    if slug == UNSAVED_AGENT:
        return NO_AGENT
    found = Agent.objects.owned_by(user).filter(slug=slug)
    # No agent has the key 0.
    return found.values_list("pk", flat=True).first() or 0


def _midnight(day: date | None, days: int = 0) -> datetime | None:
    """Return the beginning of a day, or of one some days later; None for no day."""
    if day is None:
        return None
    return timezone.make_aware(datetime.combine(day + timedelta(days=days), time.min))
