"""Elicitations: who asks, whether one may be answered, its controls, and the answers so far.

The same class is used by the page, the websocket message and a submitted answer.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any

from asgiref.sync import sync_to_async
from django.db import transaction
from django.forms import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from django_htmx.http import reswap, retarget

from playground.base.credentials import clean_url_template
from playground.base.fields import int_param
from playground.conversation.entries import Entry, Shown
from playground.conversation.sending import follow_up_headers, start_run
from playground.conversation.thread import Question, Thread
from playground.elicitation.controls import CONTROLS
from playground.elicitation.form import (
    FORM_ERROR_KEY,
    SKIP_UNANSWERED,
    Answers,
    ElicitationForm,
    QuestionField,
    build_form,
    read_answers,
)
from playground.elicitation.strategies import (
    STRATEGIES,
    Strategy,
    TemplateError,
    default_template,
    omissions,
)
from playground.engine import preparation, tasks
from playground.engine.follow_ups import answer_document, answer_omissions, elicitation_at
from playground.engine.request import Headers, PreparedRequest, action_request, refused
from playground.engine.runs import RunParent, create_run
from playground.models import Agent, LimitError, Run, RunKind, RunState
from playground.models.conversations import ancestors, turn_of
from playground.models.rows import owner_of
from playground.models.storage import check_rows
from playground.protocols import registry
from playground.protocols.a2a import reader as a2a
from playground.protocols.calls import HttpCall
from playground.protocols.events import Elicitation, Handshake
from playground.protocols.frames import FrameKind
from playground.protocols.mcp import elicitation as mcp
from playground.protocols.origins import origin_of, same_origin, url_label
from playground.stored_runs import read_events
from playground.ui import compiled
from playground.ui.calls import describe_call, shown_call
from playground.ui.formatting import safe_url, value_text
from playground.ui.helpers import get_run, is_htmx, room_problem

#: Names of the controls that are no answers. The button is an action of MCP.
STRATEGY, TEMPLATE, BUTTON = "strategy", "template", "action"
#: Characters of the name of who asks.
MAX_NAME = 80
#: Frames at the beginning of a run that are searched for an agent card.
_CARD_FRAMES = 20


@dataclass(frozen=True)
class QuestionControl:
    """The control of a question of `entry` with its value."""

    entry: ElicitationEntry
    field: QuestionField

    @property
    def id(self) -> str:
        """Return the id of the control, unique on the page."""
        return f"{self.field.name}-{self.entry.anchor}"

    @property
    def error(self) -> str:
        return self.entry.errors.get(self.field.name, "")

    @property
    def values(self) -> Sequence[str]:
        """Return the submitted values, else those of the agent's default."""
        if self.entry.data:
            return self.entry.data.get(self.field.name, ())
        match self.field.default:
            case None:
                return ()
            case bool() as default:
                return ("true" if default else "false",)
            case tuple() as default:
                return default
            case default:
                return (str(default),)

    @property
    def value(self) -> str:
        """Return the value of a text control."""
        return self.values[-1] if self.values else ""

    @property
    def choices(self) -> list[tuple[str, str, bool]]:
        """Return the options as (value, label, whether it is chosen)."""
        field, values = self.field, self.values
        labels = CONTROLS[field.control].choices or dict(
            zip(field.options, field.labels or field.options, strict=True)
        )
        return [(value, label, value in values) for value, label in labels.items()]

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
class ElicitationEntry(Question):
    """An elicitation at an entry of a run, and what was submitted to answer it."""

    form: ElicitationForm
    #: Submitted values by the name of a control.
    data: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: Errors, as sentences, by the name of a control or `FORM_ERROR_KEY`.
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_nested(self) -> bool:
        """Return whether it is shown on the page of another run."""
        return self.thread.page.pk != self.run.pk

    # Who asks, and how an answer travels

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
        return self.run.kind == RunKind.ACTION

    @property
    def is_url_elicitation(self) -> bool:
        return bool(self.form.links) and not self.form.fields

    @property
    def links(self) -> list[tuple[str, str | None]]:
        """Return the URLs to visit as (text, link or None)."""
        return [(value_text(link, 2_000), safe_url(link)) for link in self.form.links]

    # Whether it may be answered

    @property
    def is_declined(self) -> bool:
        return self.key in (self.run.declined_elicitations or [])

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
    def answer_kind(self) -> RunKind:
        """Return the kind of the run that sends an answer."""
        if self.is_server_request:
            return RunKind.CLIENT_RESPONSE
        return RunKind.ACTION if self.is_of_action else RunKind.ANSWER

    # The form

    def submitted(self, name: str, default: str = "") -> str:
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
        return [QuestionControl(self, question) for question in self.form.fields]

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
        others = [
            sentence for sentence in self._omitted(strategy) if sentence not in self.omissions
        ]
        return replace(strategy, explanation=" ".join(others)) if others else strategy

    @property
    def omissions(self) -> list[str]:
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


def show_elicitation(entry: Entry, thread: Thread) -> Shown:
    return "conversation/elicitation.html#entry", {"elicitation": _elicitation_entry(entry, thread)}


def close_elicitation(entry: Entry, thread: Thread) -> str:
    """Return what replaces a form whose call has ended without its answer."""
    elicitation = _elicitation_entry(entry, thread)
    if elicitation.is_settled or not elicitation.is_closed:
        return ""
    context = {"elicitation": elicitation, "closing": True}
    return compiled.render("conversation/elicitation.html#body", context)


def _elicitation_entry(entry: Entry, thread: Thread) -> ElicitationEntry:
    """Return the elicitation of an entry with the agent's defaults chosen."""
    assert isinstance(entry.event, Elicitation)
    return ElicitationEntry(thread, entry.ref, build_form(entry.event))


CALL_ENDED = "The request has ended, so this question can no longer be answered."
ALREADY_ANSWERED = "This question has already been answered."
ORIGIN_CHANGED = "The agent’s URL has changed since the request was sent."
AGENT_DELETED = "The agent that offered the action was deleted."


@require_POST
async def answers(request: HttpRequest, pk: str) -> HttpResponse:
    """Send an answer, and show what changes on the page."""
    recorded = await sync_to_async(_record)(request, pk)
    if isinstance(recorded, HttpResponse):
        return recorded
    elicitation, run, prepared = recorded
    if not (elicitation.is_server_request or elicitation.is_of_action):
        return await start_run(request, run, prepared)
    await tasks.send(run, prepared)
    if not is_htmx(request):
        return redirect(elicitation.run)
    return await sync_to_async(_show_answered)(request, elicitation)


@require_POST
def preview(request: HttpRequest, pk: str) -> HttpResponse:
    """Show exactly what Answer would send, as far as the questions are answered."""
    elicitation, prepared = _submitted(request, pk)
    errors = elicitation.errors
    omissions: list[str] = []
    if not elicitation.is_binding_elicitation:
        omissions = answer_omissions(elicitation.run, elicitation.submitted(STRATEGY))
    context: dict[str, Any] = {
        "unanswered": sum(each.name in errors for each in elicitation.form.fields),
        "wrong": [errors[name] for name in (STRATEGY, TEMPLATE) if name in errors],
        "problems": () if elicitation.is_of_action else prepared.problems,
        "omissions": omissions,
    }
    if prepared.has_call and not prepared.errors:
        if not elicitation.is_of_action:
            context["call"] = shown_call(prepared)
        elif call := _next_call(elicitation, prepared):
            context["call"] = describe_call(call, prepared.redact)
    return render(request, "conversation/elicitation.html#preview", context)


@require_POST
def declined(request: HttpRequest, pk: str) -> HttpResponse:
    """Decline to answer, or with `declined=0` undo that. Nothing is sent either way."""
    elicitation = _get_elicitation(request, pk)
    run, key = elicitation.run, elicitation.key
    with transaction.atomic():
        # Read again: another elicitation may have been declined in another tab.
        stored = (
            Run.objects.select_for_update()
            .values_list("declined_elicitations", flat=True)
            .get(pk=run.pk)
        )
        others = [each for each in stored or [] if each != key]
        run.declined_elicitations = (
            others if request.POST.get("declined") == "0" else [*others, key]
        )
        run.save(update_fields=["declined_elicitations"])
    if not is_htmx(request):
        return redirect(run)
    shown = replace(elicitation, data={})
    return render(request, "conversation/elicitation.html#body", {"elicitation": shown})


def _get_elicitation(request: HttpRequest, pk: str) -> ElicitationEntry:
    """Return the elicitation that the form names, with the submitted answers."""
    run = get_run(request, pk)
    form = request.POST
    entry_ref = int_param(form, "seq", 0), int_param(form, "part", 0)
    elicitation_form = elicitation_at(run, entry_ref)
    if elicitation_form is None:
        raise Http404
    thread = Thread(run, depth=1, page=Run()) if form.get("nested") else Thread(run)
    data = {name: [str(value) for value in form.getlist(name)] for name in form}
    return ElicitationEntry(thread, entry_ref, elicitation_form, data)


def _submitted(request: HttpRequest, pk: str) -> tuple[ElicitationEntry, PreparedRequest]:
    """Return the elicitation with its errors, and its answer prepared as far as it can be."""
    elicitation = _get_elicitation(request, pk)
    errors = dict(elicitation.submitted_answers.errors)
    prepared = PreparedRequest()
    if STRATEGY not in errors:
        try:
            headers = (
                () if elicitation.is_of_action else follow_up_headers(request, elicitation.run)
            )
            prepared = _prepare(elicitation, headers)
        except TemplateError as error:
            errors[TEMPLATE] = str(error)
        except ValidationError as error:
            prepared = refused(str(error.messages[0]))
    return replace(elicitation, errors=errors), prepared


def _record(
    request: HttpRequest, pk: str
) -> HttpResponse | tuple[ElicitationEntry, Run, PreparedRequest]:
    """Record the run of an answer; or return the form with errors."""
    elicitation, prepared = _submitted(request, pk)
    errors = dict(elicitation.errors)
    if prepared.errors:
        errors.setdefault(FORM_ERROR_KEY, " ".join(each.message for each in prepared.errors))
    if problem := room_problem(request, is_begun=elicitation.is_server_request):
        errors.setdefault(FORM_ERROR_KEY, problem)
    if errors:
        return _refuse(request, elicitation, errors)
    values = elicitation.submitted_answers.values
    parent = RunParent(elicitation.answer_kind, elicitation.run, *elicitation.entry_ref, values)
    with transaction.atomic():
        if refusal := _refusal(elicitation):
            return _refuse(request, elicitation, {FORM_ERROR_KEY: refusal})
        run = create_run(prepared, owner_of(request.user), parent)
    if not (elicitation.is_binding_elicitation or elicitation.is_of_action):
        _save_strategy(prepared.agent, elicitation)
    return elicitation, run, prepared


def _refusal(elicitation: ElicitationEntry) -> str:
    """Return why no answer is expected any more, "" if one is; lock the run until it is recorded.

    It may have been answered in another tab, or have ended meanwhile.
    """
    if elicitation.answer_kind == RunKind.ANSWER:  # A turn can have any number of follow-ups.
        return ""
    run = Run.objects.select_for_update().get(pk=elicitation.run.pk)
    now = replace(elicitation, thread=Thread(run))
    if now.is_settled:
        return ALREADY_ANSWERED
    return CALL_ENDED if now.is_closed else ""


def _refuse(
    request: HttpRequest, elicitation: ElicitationEntry, errors: dict[str, str]
) -> HttpResponse:
    context = {"elicitation": replace(elicitation, errors=errors)}
    response = render(request, "conversation/elicitation.html#body", context, status=422)
    return reswap(retarget(response, "closest answer-form"), "outerHTML")


def _save_strategy(agent: Agent, elicitation: ElicitationEntry) -> None:
    """Store the answer strategy with the agent, and a template once it has worked."""
    changes = {"answer_strategy": elicitation.submitted(STRATEGY)}
    if elicitation.submitted(STRATEGY) == "template":
        changes["answer_template"] = elicitation.submitted(TEMPLATE)
    if agent.pk is None:
        return
    vars(agent).update(changes)
    with contextlib.suppress(LimitError):  # A template can be too large to be stored.
        check_rows([agent], added=0)
        Agent.objects.filter(pk=agent.pk).update(**changes)


def _show_answered(request: HttpRequest, elicitation: ElicitationEntry) -> HttpResponse:
    """Show an answered elicitation; if the answer runs an action, open the live connection."""
    run, page = elicitation.run, Run() if elicitation.is_nested else elicitation.run
    is_action = elicitation.is_of_action and not elicitation.is_server_request
    if is_action:
        pk = request.POST.get("page")
        page = next((each for each in ancestors(run) if str(each.pk) == pk), run)
    thread = Thread(run, depth=int(page != run), page=page)
    # The answer is among the child runs of the entry, which is on the page already.
    context = {
        **thread.children_context(elicitation.entry_ref),
        "oob": True,
        "sent": True,
        "elicitation": replace(elicitation, thread=thread),
    }
    if not is_action:
        return render(request, "conversation/elicitation.html#body", context)
    context |= {"run": page, "live": True}
    return render(request, "conversation/elicitation.html#sent", context)


# The request that sends an answer


def _prepare(elicitation: ElicitationEntry, headers: Headers) -> PreparedRequest:
    """Return the prepared request that sends the submitted answer, and its problems.

    `headers` are those of the next request of the conversation; an action has its own. Raises
    `TemplateError` for a template that is not a request.
    """
    run, values = elicitation.run, elicitation.submitted_answers.values
    if elicitation.is_of_action:
        return _prepare_action(elicitation)
    if not elicitation.is_binding_elicitation:
        strategy, template = elicitation.submitted(STRATEGY), elicitation.submitted(TEMPLATE)
        document = answer_document(run, elicitation.form, values, strategy, template)
        return preparation.prepare_follow_up(run, document, headers)
    prepared = preparation.prepare_follow_up(run, run.request, headers)
    if not prepared.has_call:
        return prepared
    if elicitation.is_server_request:
        # It belongs to the session of the call, so it goes to the same URL.
        if not same_origin(run.url, prepared.target.url):
            prepared.add_error("", ORIGIN_CHANGED)
        prepared = replace(prepared, url=run.url).with_target(url=prepared.wire_url(run.url))
    resume = mcp.resume_of(elicitation.resume, elicitation.action, values)
    return prepared.with_target(resume=resume)


def _prepare_action(elicitation: ElicitationEntry) -> PreparedRequest:
    """Return the action with what resumes its exchange.

    No credentials are sent: a run does not store those that it was sent with.
    """
    run, values = elicitation.run, elicitation.submitted_answers.values
    if (agent := elicitation.agent) is None:
        return refused(AGENT_DELETED)
    resume: dict[str, Any] | None
    if elicitation.is_task:
        # The id of the message is the same for its preview, and another for each answer.
        earlier = len(elicitation.thread.runs_at(elicitation.entry_ref, RunKind.ACTION))
        message_id = str(uuid.uuid5(run.pk, f"{elicitation.entry_ref}-{earlier}"))
        resume = a2a.resume_of(elicitation.resume, values, message_id)
    else:
        resume = mcp.resume_of(elicitation.resume, elicitation.action, values)
    headers = [(name, value) for name, value in run.headers if value]
    return action_request(
        agent, run.request, run.url, binding=run.binding, headers=headers, resume=resume
    )


def _next_call(elicitation: ElicitationEntry, prepared: PreparedRequest) -> HttpCall | None:
    """Return the first call that sends an answer to the server or agent of an action.

    The exchange learns the details of an A2A agent from the run's frames before its first message:
    they hold the agent card.
    """
    if not elicitation.is_task:
        return registry.preview(prepared.target, prepared.request)
    exchange = registry.exchange(prepared.target, prepared.request)
    for frame in elicitation.run.read_frames():
        if frame.kind is FrameKind.CALL and not frame.data.startswith(b"GET "):
            break
        exchange.receive(frame)
    return exchange.next_call()
