"""An agent's questions as the form that a page shows: controls, what they hold, what is wrong.

The same for a page, for what a websocket pushes, and for a form that comes back with errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground.elicitation import (
    SKIP_UNANSWERED,
    STRATEGIES,
    Strategy,
    build_form,
    default_template,
)
from playground.elicitation.form import ElicitationForm, QuestionField
from playground.models import Agent, Run, RunKind
from playground.models.conversations import turn_of
from playground.protocols import a2a
from playground.protocols.events import Elicitation
from playground.protocols.mcp import elicitation
from playground.protocols.origins import origin_of
from playground.rendering.linked_turns import LinkedTurn
from playground.rendering.links import safe_url
from playground.rendering.words import value_text

if TYPE_CHECKING:  # The thread makes these for its entries.
    from playground.rendering.thread import EntryRef, Thread

#: Names of the controls that are no answers.
STRATEGY, TEMPLATE = "strategy", "template"


@dataclass(frozen=True, slots=True)
class Submitted:
    """What was filled in, as it was submitted, and what is wrong with it."""

    data: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Sentences by the name of a control, or `WHOLE_FORM`.
    errors: Mapping[str, str] = field(default_factory=dict)

    def text(self, name: str, otherwise: str = "") -> str:
        """The one value of a control, `otherwise` where it was not submitted."""
        values = self.data.get(name)
        return values[-1] if values else otherwise


@dataclass(frozen=True, slots=True)
class Choice:
    """One thing to choose."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class QuestionControl:
    """One question with what its control holds."""

    field: QuestionField
    #: Id of the control, unique on the page.
    id: str
    #: What a control for text holds.
    value: str
    choices: tuple[Choice, ...]
    error: str

    @property
    def described_by(self) -> str:
        """The ids of what is said about it."""
        ids = {
            "hint": self.field.hint or self.field.rule,
            "note": self.field.note,
            "warning": self.field.sensitive,
            "error": self.error,
        }
        return " ".join(f"{self.id}-{name}" for name, said in ids.items() if said)


@dataclass(frozen=True, slots=True)
class ElicitationView:
    """Questions of one entry, as they stand."""

    thread: Thread
    entry_ref: EntryRef
    form: ElicitationForm
    filled: Submitted = field(default_factory=Submitted)

    @property
    def run(self) -> Run:
        """The run whose agent asks."""
        return self.thread.run

    @property
    def anchor(self) -> str:
        """The id of the entry; ids of what is in it begin with it."""
        return self.thread.anchor(self.entry_ref)

    @property
    def is_nested(self) -> bool:
        """Whether it is shown on the page of another run than its own."""
        return self.thread.page.pk != self.run.pk

    @property
    def agent(self) -> Agent | None:
        """Who asks; None once the agent is deleted, and then nobody can be answered."""
        return self.run.agent

    @property
    def origin(self) -> str:
        """Where the answers would go: scheme, host and port."""
        url = self.run.url if self.is_of_action or not self.agent else self.agent.url
        return origin_of(url) or url

    @property
    def is_declined(self) -> bool:
        """Whether the user has declined to answer."""
        return declined_key(self.entry_ref) in (self.run.declined_elicitations or [])

    @property
    def answers(self) -> list[LinkedTurn]:
        """The turns that answered, oldest first."""
        runs = self.thread.runs_at(self.entry_ref, RunKind.ASK, RunKind.ANSWER)
        return [LinkedTurn(run) for run in runs]

    @property
    def is_binding_elicitation(self) -> bool:
        """Whether the binding itself asks, and says how it is answered."""
        return self.form.resume is not None

    @property
    def is_server_request(self) -> bool:
        """Whether the call waits for the answer, instead of being made again with it."""
        return (self.form.resume or {}).get("kind") == elicitation.RESPONSE

    @property
    def is_of_action(self) -> bool:
        """Whether the server or agent of an action asks, and not the one composed for."""
        return self.run.kind == RunKind.ACTION

    @property
    def is_task(self) -> bool:
        """Whether the answer is the next message of an A2A task."""
        return (self.form.resume or {}).get("kind") == a2a.KIND

    @property
    def is_url_elicitation(self) -> bool:
        """Whether all that is asked is to visit an address."""
        return bool(self.form.links) and not self.form.fields

    @property
    def answering_runs(self) -> list[LinkedTurn]:
        """The answers that were sent into the call, oldest first."""
        return [
            LinkedTurn(run) for run in self.thread.runs_at(self.entry_ref, RunKind.CLIENT_RESPONSE)
        ]

    @property
    def is_settled(self) -> bool:
        """Whether the question has its answer, or is being sent it, and takes no other."""
        runs = self.thread.runs_at(self.entry_ref, RunKind.CLIENT_RESPONSE, RunKind.ACTION)
        return any(not LinkedTurn(run).failed for run in runs)

    @property
    def is_closed(self) -> bool:
        """Whether the call that waited has ended."""
        return self.is_server_request and self.run.is_final

    @property
    def links(self) -> list[tuple[str, str | None]]:
        """The addresses to visit, each with its link where it can be one."""
        return [(value_text(link, 2_000), safe_url(link)) for link in self.form.links]

    @property
    def controls(self) -> list[QuestionControl]:
        """The questions, each with what was filled in or the agent's default."""
        return [self._control(each) for each in self.form.fields]

    @property
    def partial(self) -> bool:
        """Whether questions may be left out."""
        return bool(self.filled.text(SKIP_UNANSWERED))

    @property
    def strategies(self) -> list[tuple[Strategy, bool]]:
        """The ways to answer, and which of them is chosen."""
        own = self.agent.answer_strategy if self.agent else ""
        chosen = self.filled.text(STRATEGY, own)
        chosen = chosen if chosen in STRATEGIES else next(iter(STRATEGIES))
        return [(each, each.name == chosen) for each in STRATEGIES.values()]

    @property
    def template(self) -> str:
        """What the template editor holds: the user's own, or something to begin with."""
        own = self.agent.answer_template if self.agent else ""
        begun = own or default_template(
            turn_of(self.run).request, self.run.session_context is not None
        )
        return self.filled.text(TEMPLATE, begun)

    @property
    def errors(self) -> Mapping[str, str]:
        """What is wrong, also with what is no question."""
        return self.filled.errors

    def _control(self, each: QuestionField) -> QuestionControl:
        data = self.filled.data
        values = list(data.get(each.name, ())) if data else _defaults(each)
        return QuestionControl(
            field=each,
            id=f"{each.name}-{self.anchor}",
            value=values[-1] if values else "",
            choices=tuple(_choices(each, values)),
            error=self.filled.errors.get(each.name, ""),
        )


def elicitation_view(event: Elicitation, thread: Thread, place: EntryRef) -> ElicitationView:
    """The questions of an entry, with the agent's defaults chosen."""
    return ElicitationView(thread, place, build_form(event))


def declined_key(place: EntryRef) -> str:
    """What `Run.declined` calls the questions at a place."""
    return f"{place[0]}-{place[1]}"


def _defaults(each: QuestionField) -> list[str]:
    default: Any = each.default
    if default is None:
        return []
    if isinstance(default, bool):
        return ["true" if default else "false"]
    return list(default) if isinstance(default, tuple) else [str(default)]


def _choices(each: QuestionField, values: Sequence[str]) -> Iterator[Choice]:
    if each.control == "boolean":
        labels = {"true": "Yes", "false": "No"}
        yield from (Choice(v, label, v in values) for v, label in labels.items())
        return
    names = each.labels or each.options
    for option, label in zip(each.options, names, strict=True):
        yield Choice(option, label, option in values)
