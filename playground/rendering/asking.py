"""An agent's questions as the form that a page shows: controls, what they hold, what is wrong.

The same for a page, for what a websocket pushes, and for a form that comes back with errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from playground.elicitation import PARTIAL, STRATEGIES, Strategy, form_of, starter
from playground.elicitation.fields import Field, Form
from playground.models import Agent, Run, RunKind
from playground.models.conversations import turn_of
from playground.protocols import a2a
from playground.protocols.events import Elicitation
from playground.protocols.mcp import questions
from playground.protocols.origins import origin_of
from playground.rendering.answered import Other
from playground.rendering.links import safe_url
from playground.rendering.words import words

if TYPE_CHECKING:  # The thread makes these for its entries.
    from playground.rendering.thread import Place, Thread

#: Names of the controls that are no answers.
STRATEGY, TEMPLATE = "strategy", "template"


@dataclass(frozen=True, slots=True)
class Filled:
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
class Control:
    """One question with what its control holds."""

    field: Field
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
class Asking:
    """Questions of one entry, as they stand."""

    thread: Thread
    place: Place
    form: Form
    filled: Filled = field(default_factory=Filled)

    @property
    def run(self) -> Run:
        """The run whose agent asks."""
        return self.thread.run

    @property
    def anchor(self) -> str:
        """The id of the entry; ids of what is in it begin with it."""
        return self.thread.anchor(self.place)

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
        return declined_key(self.place) in (self.run.declined or [])

    @property
    def answers(self) -> list[Other]:
        """The turns that answered, oldest first."""
        runs = self.thread.runs_at(self.place, RunKind.ASK, RunKind.ANSWER)
        return [Other(run) for run in runs]

    @property
    def is_own(self) -> bool:
        """Whether the binding itself asks, and says how it is answered."""
        return self.form.reply is not None

    @property
    def is_in_call(self) -> bool:
        """Whether the call waits for the answer, instead of being made again with it."""
        return (self.form.reply or {}).get("kind") == questions.RESPONSE

    @property
    def is_of_action(self) -> bool:
        """Whether the server or agent of an action asks, and not the one composed for."""
        return self.run.kind == RunKind.ACTION

    @property
    def is_task(self) -> bool:
        """Whether the answer is the next message of an A2A task."""
        return (self.form.reply or {}).get("kind") == a2a.KIND

    @property
    def is_visit(self) -> bool:
        """Whether all that is asked is to visit an address."""
        return bool(self.form.links) and not self.form.fields

    @property
    def replies(self) -> list[Other]:
        """The answers that were sent into the call, oldest first."""
        return [Other(run) for run in self.thread.runs_at(self.place, RunKind.REPLY)]

    @property
    def is_settled(self) -> bool:
        """Whether the question has its answer, or is being sent it, and takes no other."""
        runs = self.thread.runs_at(self.place, RunKind.REPLY, RunKind.ACTION)
        return any(not Other(run).failed for run in runs)

    @property
    def is_over(self) -> bool:
        """Whether the call that waited has ended."""
        return self.is_in_call and self.run.is_final

    @property
    def links(self) -> list[tuple[str, str | None]]:
        """The addresses to visit, each with its link where it can be one."""
        return [(words(link, 2_000), safe_url(link)) for link in self.form.links]

    @property
    def controls(self) -> list[Control]:
        """The questions, each with what was filled in or the agent's default."""
        return [self._control(each) for each in self.form.fields]

    @property
    def partial(self) -> bool:
        """Whether questions may be left out."""
        return bool(self.filled.text(PARTIAL))

    @property
    def strategies(self) -> list[tuple[Strategy, bool]]:
        """The ways to answer, and which of them is chosen."""
        own = self.agent.reply_strategy if self.agent else ""
        chosen = self.filled.text(STRATEGY, own)
        chosen = chosen if chosen in STRATEGIES else next(iter(STRATEGIES))
        return [(each, each.name == chosen) for each in STRATEGIES.values()]

    @property
    def template(self) -> str:
        """What the template editor holds: the user's own, or something to begin with."""
        own = self.agent.reply_template if self.agent else ""
        begun = own or starter(turn_of(self.run).request, self.run.session_context is not None)
        return self.filled.text(TEMPLATE, begun)

    @property
    def errors(self) -> Mapping[str, str]:
        """What is wrong, also with what is no question."""
        return self.filled.errors

    def _control(self, each: Field) -> Control:
        data = self.filled.data
        values = list(data.get(each.name, ())) if data else _defaults(each)
        return Control(
            field=each,
            id=f"{each.name}-{self.anchor}",
            value=values[-1] if values else "",
            choices=tuple(_choices(each, values)),
            error=self.filled.errors.get(each.name, ""),
        )


def asking_of(event: Elicitation, thread: Thread, place: Place) -> Asking:
    """The questions of an entry, with the agent's defaults chosen."""
    return Asking(thread, place, form_of(event))


def declined_key(place: Place) -> str:
    """What `Run.declined` calls the questions at a place."""
    return f"{place[0]}-{place[1]}"


def _defaults(each: Field) -> list[str]:
    default: Any = each.default
    if default is None:
        return []
    if isinstance(default, bool):
        return ["true" if default else "false"]
    return list(default) if isinstance(default, tuple) else [str(default)]


def _choices(each: Field, values: Sequence[str]) -> Iterator[Choice]:
    if each.control == "boolean":
        labels = {"true": "Yes", "false": "No"}
        yield from (Choice(v, label, v in values) for v, label in labels.items())
        return
    names = each.labels or each.options
    for option, label in zip(each.options, names, strict=True):
        yield Choice(option, label, option in values)
