"""Elicitations: who asks, whether one may be answered, its controls, and the answers so far.

The same class is used by the page, the websocket message and a submitted answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from django.template.loader import get_template

from playground.base.credentials import clean_url_template
from playground.conversation.entries import Entry, Shown
from playground.conversation.entry_runs import EntryRuns
from playground.conversation.linked_turns import LinkedTurn
from playground.elicitation import (
    SKIP_UNANSWERED,
    STRATEGIES,
    Answers,
    Strategy,
    build_form,
    default_template,
    omissions,
    read_answers,
)
from playground.elicitation.controls import CONTROLS
from playground.elicitation.form import ElicitationForm, QuestionField
from playground.models import Agent, Run, RunKind, RunState
from playground.models.conversations import turn_of
from playground.protocols import a2a
from playground.protocols.events import Elicitation, EntryRef, Handshake
from playground.protocols.mcp import elicitation as mcp
from playground.protocols.origins import origin_of, url_label
from playground.stored_runs import read_events
from playground.ui.formatting import value_text
from playground.ui.links import safe_url

#: Names of the controls that are no answers. The button is an action of MCP.
STRATEGY, TEMPLATE, BUTTON = "strategy", "template", "action"
#: Characters of the name of who asks.
MAX_NAME = 80
#: Frames at the beginning of a run that are searched for an agent card.
_CARD_FRAMES = 20


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
class ElicitationEntry:
    """An elicitation at an entry of a run, and what was submitted to answer it."""

    thread: EntryRuns
    entry_ref: EntryRef
    form: ElicitationForm
    #: Submitted values by the name of a control.
    data: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Errors, as sentences, by the name of a control or `FORM_ERROR_KEY`.
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def run(self) -> Run:
        """Return the run whose agent asks."""
        return self.thread.run

    @property
    def anchor(self) -> str:
        """Return the id of the entry, the prefix of the ids in it."""
        return self.thread.anchor(self.entry_ref)

    @property
    def is_nested(self) -> bool:
        """Return whether it is shown on the page of another run."""
        return self.thread.page.pk != self.run.pk

    # Who asks, and how an answer travels

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
    def resume(self) -> Mapping[str, Any]:
        """Return what continues the exchange of a binding elicitation; empty for one of NLWeb."""
        return self.form.resume or {}

    @property
    def is_binding_elicitation(self) -> bool:
        """Return whether MCP or A2A itself asks, and defines how it is answered."""
        return self.form.resume is not None

    @property
    def is_server_request(self) -> bool:
        """Return whether the call stays open for the answer, instead of being repeated with it."""
        return mcp.is_server_request(self.resume)

    @property
    def is_task(self) -> bool:
        """Return whether the answer is the next message of an A2A task."""
        return self.resume.get("kind") == a2a.KIND

    @property
    def is_of_action(self) -> bool:
        """Return whether the server or agent of an action asks."""
        return self.run.kind == RunKind.ACTION

    @property
    def is_url_elicitation(self) -> bool:
        """Return whether it only asks to visit a URL."""
        return bool(self.form.links) and not self.form.fields

    @property
    def links(self) -> list[tuple[str, str | None]]:
        """Return the URLs to visit as (text, link or None)."""
        return [(value_text(link, 2_000), safe_url(link)) for link in self.form.links]

    # Whether it may be answered

    @property
    def declined_key(self) -> str:
        """Return its name in `Run.declined_elicitations`."""
        return f"{self.entry_ref[0]}-{self.entry_ref[1]}"

    @property
    def is_declined(self) -> bool:
        """Return whether the user declined to answer."""
        return self.declined_key in (self.run.declined_elicitations or [])

    @property
    def is_closed(self) -> bool:
        """Return whether the open call has ended, so that no answer can be sent into it."""
        return self.is_server_request and self.run.is_final

    @property
    def is_settled(self) -> bool:
        """Return whether an answer was received or is being sent, so that no other is accepted."""
        runs = self.thread.runs_at(self.entry_ref, RunKind.CLIENT_RESPONSE, RunKind.ACTION)
        return any(not run.is_final or run.state == RunState.COMPLETED for run in runs)

    @property
    def answers(self) -> list[LinkedTurn]:
        """Return the turns that answered, oldest first."""
        turns = self.thread.runs_at(self.entry_ref, RunKind.ASK, RunKind.ANSWER)
        return [LinkedTurn(run) for run in turns]

    # The form

    def submitted(self, name: str, default: str = "") -> str:
        """Return the last submitted value of a control, `default` if there is none."""
        values = self.data.get(name)
        return values[-1] if values else default

    @property
    def action(self) -> str:
        """Return the submitted action: `accept`, `decline` or `cancel`."""
        action = self.submitted(BUTTON, mcp.ACCEPT)
        return action if action in mcp.ACTIONS else mcp.ACCEPT

    @cached_property
    def submitted_answers(self) -> Answers:
        """Return the submitted answers, with errors by the name of a control."""
        if self.is_binding_elicitation and self.action != mcp.ACCEPT:
            return Answers({}, {})
        read = read_answers(self.form, self.data)
        if not self.is_binding_elicitation and self.submitted(STRATEGY) not in STRATEGIES:
            read.errors[STRATEGY] = "Choose how the answers are sent."
        return read

    @property
    def controls(self) -> list[QuestionControl]:
        """Return the questions with the submitted values, else the agent's defaults."""
        return [self._control(question) for question in self.form.fields]

    @property
    def partial(self) -> bool:
        """Return whether questions may be left unanswered."""
        return bool(self.submitted(SKIP_UNANSWERED))

    @property
    def strategies(self) -> list[tuple[Strategy, bool]]:
        """Return the answer strategies, and whether each is chosen."""
        remembered = self.agent.answer_strategy if self.agent else ""
        chosen = self.submitted(STRATEGY, remembered)
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
        return self.submitted(TEMPLATE, initial)

    def _control(self, question: QuestionField) -> QuestionControl:
        values = self.data.get(question.name, ()) if self.data else _default_values(question)
        return QuestionControl(
            field=question,
            id=f"{question.name}-{self.anchor}",
            value=values[-1] if values else "",
            choices=tuple(_choices(question, values)),
            error=self.errors.get(question.name, ""),
        )


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
    return "elicitation", {"elicitation": _elicitation_entry(entry, thread)}


def close_elicitation(entry: Entry, thread: EntryRuns) -> str:
    """Return what replaces a form whose call has ended without its answer."""
    elicitation = _elicitation_entry(entry, thread)
    if elicitation.is_settled or not elicitation.is_closed:
        return ""
    context = {"elicitation": elicitation, "closing": True}
    return get_template("runs/elicitation/body.html").render(context)


def _elicitation_entry(entry: Entry, thread: EntryRuns) -> ElicitationEntry:
    """Return the elicitation of an entry with the agent's defaults chosen."""
    assert isinstance(entry.event, Elicitation)
    return ElicitationEntry(thread, entry.ref, build_form(entry.event))
