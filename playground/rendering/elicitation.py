"""Elicitations as forms: controls with their values and errors, and the answers so far.

The same form is used by the page, the websocket message and a submission with errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from django.template.loader import get_template

from playground.collections.credentials import clean_url_template
from playground.elicitation import (
    SKIP_UNANSWERED,
    STRATEGIES,
    Strategy,
    build_form,
    default_template,
    omissions,
)
from playground.elicitation.controls import CONTROLS
from playground.elicitation.form import ElicitationForm, QuestionField
from playground.models import Agent, Run
from playground.models.conversations import turn_of
from playground.models.elicitation_status import ElicitationStatus
from playground.protocols.events import Elicitation, EntryRef, Handshake
from playground.protocols.origins import origin_of, url_label
from playground.rendering.entries import Entry, Shown
from playground.rendering.entry_runs import EntryRuns
from playground.rendering.formatting import value_text
from playground.rendering.linked_turns import LinkedTurn
from playground.rendering.links import safe_url
from playground.stored_runs import read_events

#: Names of the controls that are no answers.
STRATEGY, TEMPLATE = "strategy", "template"
#: Characters of the name of who asks.
MAX_NAME = 80
#: Frames at the beginning of a run that are searched for an agent card.
_CARD_FRAMES = 20


@dataclass(frozen=True, slots=True)
class Submitted:
    """Submitted values and their errors."""

    data: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Sentences by the name of a control, or `FORM_ERROR_KEY`.
    errors: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of a control, `default` if it was not submitted."""
        values = self.data.get(name)
        return values[-1] if values else default


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a question."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class QuestionControl:
    """The control of a question with its value."""

    field: QuestionField
    #: Id of the control, unique on the page.
    id: str
    #: Value of a text control.
    value: str
    choices: tuple[Choice, ...]
    error: str

    @property
    def attributes(self) -> tuple[tuple[str, str], ...]:
        """Return the attributes of its `input`; empty for a text that grows."""
        return CONTROLS[self.field.control].attributes

    @property
    def described_by(self) -> str:
        """Return the ids of its descriptions, for `aria-describedby`."""
        descriptions = {
            "hint": self.field.hint or self.field.rule,
            "note": self.field.note,
            "warning": self.field.sensitive,
            "error": self.error,
        }
        return " ".join(f"{self.id}-{name}" for name, text in descriptions.items() if text)


@dataclass(frozen=True)
class ElicitationView:
    """An elicitation as its templates show it."""

    thread: EntryRuns
    entry_ref: EntryRef
    form: ElicitationForm
    filled: Submitted = field(default_factory=Submitted)

    @property
    def run(self) -> Run:
        """Return the run whose agent asks."""
        return self.thread.run

    @property
    def status(self) -> ElicitationStatus:
        """Return its status: whether it may be answered, and its answers."""
        children = self.thread.runs_at(self.entry_ref)
        return ElicitationStatus(self.run, self.entry_ref, self.form.resume, children)

    @property
    def anchor(self) -> str:
        """Return the id of the entry, the prefix of the ids in it."""
        return self.thread.anchor(self.entry_ref)

    @property
    def is_nested(self) -> bool:
        """Return whether it is shown on the page of another run."""
        return self.thread.page.pk != self.run.pk

    @property
    def agent(self) -> Agent | None:
        """Return the agent; None if it was deleted, and then no answer can be sent."""
        return self.run.target_agent

    @cached_property
    def asker(self) -> str:
        """Return the name of who asks: the agent, or the server or agent of an action."""
        return _action_peer(self.run) if self.is_of_action else str(self.run.agent_name)

    @property
    def origin(self) -> str:
        """Return the origin to which the answers would be sent."""
        url = self.run.url if self.is_of_action or not self.agent else self.agent.url
        return origin_of(url) or url

    @property
    def is_binding_elicitation(self) -> bool:
        """Return whether MCP or A2A itself asks, and defines how it is answered."""
        return self.status.is_binding_elicitation

    @property
    def is_server_request(self) -> bool:
        """Return whether the call stays open for the answer, instead of being repeated with it."""
        return self.status.is_server_request

    @property
    def is_of_action(self) -> bool:
        """Return whether the server or agent of an action asks."""
        return self.status.is_of_action

    @property
    def is_task(self) -> bool:
        """Return whether the answer is the next message of an A2A task."""
        return self.status.is_task

    @property
    def is_url_elicitation(self) -> bool:
        """Return whether it only asks to visit a URL."""
        return bool(self.form.links) and not self.form.fields

    @property
    def is_declined(self) -> bool:
        """Return whether the user declined to answer."""
        return self.status.is_declined

    @property
    def is_settled(self) -> bool:
        """Return whether an answer was received or is being sent, so that no other is accepted."""
        return self.status.is_settled

    @property
    def is_closed(self) -> bool:
        """Return whether the open call has ended, so that no answer can be sent into it."""
        return self.status.is_closed

    @property
    def answers(self) -> list[LinkedTurn]:
        """Return the turns that answered, oldest first."""
        return [LinkedTurn(run) for run in self.status.answers]

    @property
    def links(self) -> list[tuple[str, str | None]]:
        """Return the URLs to visit as (text, link or None)."""
        return [(value_text(link, 2_000), safe_url(link)) for link in self.form.links]

    @property
    def controls(self) -> list[QuestionControl]:
        """Return the questions with the submitted values, else the agent's defaults."""
        return [self._control(question) for question in self.form.fields]

    @property
    def partial(self) -> bool:
        """Return whether questions may be left unanswered."""
        return bool(self.filled.text(SKIP_UNANSWERED))

    @property
    def strategies(self) -> list[tuple[Strategy, bool]]:
        """Return the answer strategies, and whether each is chosen."""
        remembered = self.agent.answer_strategy if self.agent else ""
        chosen = self.filled.text(STRATEGY, remembered)
        chosen = chosen if chosen in STRATEGIES else next(iter(STRATEGIES))
        return [(self._explained(each), each.name == chosen) for each in STRATEGIES.values()]

    def _explained(self, strategy: Strategy) -> Strategy:
        """Return a strategy with an explanation for this request."""
        others = [
            sentence for sentence in self._omitted(strategy) if sentence not in self.omissions
        ]
        return replace(strategy, explanation=" ".join(others)) if others else strategy

    @property
    def omissions(self) -> list[str]:
        """Return what an answer by any strategy omits, as sentences."""
        return self._omitted(next(iter(STRATEGIES.values())))

    def _omitted(self, strategy: Strategy) -> list[str]:
        return omissions(turn_of(self.run).request, strategy.name, prev=())

    @property
    def template(self) -> str:
        """Return the content of the template editor: submitted, the agent's, or a default."""
        remembered = self.agent.answer_template if self.agent else ""
        initial = remembered or default_template(
            turn_of(self.run).request, self.run.session_context is not None
        )
        return self.filled.text(TEMPLATE, initial)

    @property
    def errors(self) -> Mapping[str, str]:
        """Return the errors by the name of a control, or `FORM_ERROR_KEY`."""
        return self.filled.errors

    def _control(self, question: QuestionField) -> QuestionControl:
        data = self.filled.data
        values = list(data.get(question.name, ())) if data else _default_values(question)
        return QuestionControl(
            field=question,
            id=f"{question.name}-{self.anchor}",
            value=values[-1] if values else "",
            choices=tuple(_choices(question, values)),
            error=self.filled.errors.get(question.name, ""),
        )


def elicitation_view(event: Elicitation, thread: EntryRuns, ref: EntryRef) -> ElicitationView:
    """Return the elicitation of an entry with the agent's defaults chosen."""
    return ElicitationView(thread, ref, build_form(event))


def _action_peer(run: Run) -> str:
    """Return the name of an action's server or agent: in the action, in its card, or its host."""
    request = run.request if isinstance(run.request, Mapping) else {}
    server = request.get("server")
    if isinstance(server, str) and server.strip() and "://" not in server:
        return value_text(server.strip(), MAX_NAME)
    for _, events in islice(read_events(run), _CARD_FRAMES):
        for event in events:
            if isinstance(event, Handshake) and isinstance(event.data, Mapping):
                name = event.data.get("name")
                if isinstance(name, str) and name.strip():
                    return value_text(name.strip(), MAX_NAME)
    return url_label(clean_url_template(run.url), MAX_NAME)


def _default_values(question: QuestionField) -> list[str]:
    default: Any = question.default
    if default is None:
        return []
    if isinstance(default, bool):
        return ["true" if default else "false"]
    return list(default) if isinstance(default, tuple) else [str(default)]


def _choices(question: QuestionField, values: Sequence[str]) -> Iterator[Choice]:
    labels = CONTROLS[question.control].choices or dict(
        zip(question.options, question.labels or question.options, strict=True)
    )
    for value, label in labels.items():
        yield Choice(value, label, value in values)


def show_elicitation(entry: Entry, thread: EntryRuns) -> Shown:
    assert isinstance(entry.event, Elicitation)
    return "elicitation", {"elicitation": elicitation_view(entry.event, thread, entry.ref)}


def close_elicitation(entry: Entry, thread: EntryRuns) -> str:
    """Return what replaces a form whose call has ended without its answer."""
    assert isinstance(entry.event, Elicitation)
    view = elicitation_view(entry.event, thread, entry.ref)
    if view.is_settled or not view.is_closed:
        return ""
    context = {"elicitation": view, "closing": True}
    return get_template("runs/elicitation/body.html").render(context)
