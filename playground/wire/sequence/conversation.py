"""Diagram of the conversation around a run: a window of turns, each with its child runs.

Of a conversation of hundreds of turns only those of the window are read; of hundreds of polls the
first ones and the last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from playground.conversation.status import phase_label, status_label, target_label
from playground.models import McpSession, PollingStatus, Run, RunKind, RunSource, RunState
from playground.models.conversations import branch_keys, turn_of
from playground.protocols.events import Outcome
from playground.protocols.mcp import elicitation
from playground.protocols.origins import origin_of
from playground.reference.explanations import kind_reference
from playground.ui.formatting import count_text, milliseconds, seconds_text, value_text
from playground.wire.sequence.diagram import (
    Diagram,
    DiagramTurn,
    Item,
    Lane,
    LaneKind,
    Message,
    Note,
    one_line,
)
from playground.wire.sequence.run_steps import MAX_DETAIL, MAX_LABEL, StepKind, steps_of
from playground.wire.timeline import microseconds_since

#: Turns of a window.
WINDOW = 10
#: Polls of a turn that are shown before the last one, and other child runs.
FIRST_POLLS, MAX_CHILDREN = 2, 12
#: How deep child runs are followed: an action of a result of an action of a promise.
DEPTH = 3
#: Lanes of a diagram; further servers share the last one.
MAX_LANES = 8
#: Time between two items that is noted, in µs: that of a user.
PAUSE_US = 10_000_000

_USER, _PLAYGROUND = "user", "playground"
_DECLINED = {elicitation.DECLINE: "Decline", elicitation.CANCEL: "Dismiss"}


def conversation_diagram(run: Run, until: int | None = None) -> Diagram:
    """Return the diagram of the branch that a run is on.

    The window ends with the turn of number `until`; without it, it has the newest turns, or those
    around the turn of the run if that is older.
    """
    chosen = turn_of(run)
    keys, first = branch_keys(chosen)
    end = _end_of_window(len(keys), keys.index(chosen.pk), until and until - first + 1)
    window = keys[max(0, end - WINDOW) : end]
    turns = Run.objects.select_related("polled_promise").in_bulk(window)
    turns[chosen.pk] = chosen
    shown = [turns[key] for key in window if key in turns]
    children = _children_of(shown)
    lanes = _Lanes()
    found = [
        DiagramTurn(
            number=first + keys.index(turn.pk),
            run=turn,
            label=_title(turn),
            is_chosen=turn.pk == chosen.pk,
            items=_items(turn, children[turn.pk], lanes),
        )
        for turn in shown
    ]
    if found and end == len(keys) and (note := _session_end(shown)):
        found[-1] = replace(found[-1], items=[*found[-1].items, note])
    return Diagram(lanes.all, found, first + len(keys) - 1, first)


def _end_of_window(turns: int, chosen: int, until: int | None) -> int:
    """Return the index after the last turn of the window."""
    if until is not None:
        return min(turns, max(until, min(WINDOW, turns)))
    if chosen >= turns - WINDOW:
        return turns
    return max(min(WINDOW, turns), min(turns, chosen + 1 + WINDOW // 2))


def _title(turn: Run) -> str:
    """Return the answers or the text of a turn."""
    return one_line(_answers(turn) or turn.text or "JSON request", MAX_DETAIL)


def _answers(run: Run) -> str:
    """Return the answers that a run sends, as in the request; "" for none."""
    if run.answers:
        pairs = list(run.answers.items())[:20]
        return ", ".join(f"{name}: {value_text(value, 100)}" for name, value in pairs)
    return _DECLINED.get(elicitation.action_of(run.resume), "")


def _session_end(turns: Sequence[Run]) -> Note | None:
    """Return a note if the MCP session of the conversation has been ended; None otherwise."""
    for turn in turns:
        if turn.is_recorded or turn.binding != "mcp" or turn.state != RunState.COMPLETED:
            continue
        if any(step.opens_session for step in steps_of(turn)):
            sessions = McpSession.objects.filter(conversation=turn.conversation_id)
            return None if sessions.exists() else Note("MCP session ended")
    return None


# --- lanes ------------------------------------------------------------------------------------


class _Lanes:
    """The lanes of a diagram, in the order in which they are first used."""

    def __init__(self) -> None:
        self._agents: dict[object, Lane] = {}
        self._servers: dict[object, Lane] = {}
        self._numbers = count(1)

    @property
    def all(self) -> list[Lane]:
        """Return all lanes from left to right."""
        fixed = [
            Lane(_USER, LaneKind.USER, "User"),
            Lane(_PLAYGROUND, LaneKind.PLAYGROUND, "Playground"),
        ]
        return [*fixed, *self._agents.values(), *self._servers.values()]

    def agent(self, turn: Run) -> str:
        """Return the key of the lane of a turn's agent."""
        lane = Lane("", LaneKind.AGENT, turn.agent_name or _host(turn.url), target_label(turn))
        return self._key(self._agents, (turn.agent_name, turn.url), lane)

    def server(self, action: Run, turn: Run) -> str:
        """Return the key of the lane of an action's server: that of the agent, if it is one."""
        binding = action.binding
        if binding == "http" and origin_of(action.url) == origin_of(turn.url):
            return self.agent(turn)
        detail = {"mcp": "MCP server", "a2a": "A2A agent"}.get(binding, "HTTP server")
        lane = Lane("", LaneKind.SERVER, _host(action.url), detail)
        return self._key(self._servers, (binding, action.url), lane)

    def _key(self, group: dict[object, Lane], identity: object, lane: Lane) -> str:
        if identity not in group and len(self._agents) + len(self._servers) >= MAX_LANES - 2:
            group, identity = self._servers, None
            lane = Lane("", LaneKind.SERVER, "Other servers")
        if identity not in group:
            name, detail = one_line(lane.name, MAX_LABEL), one_line(lane.detail, MAX_LABEL)
            key = f"server{next(self._numbers)}"
            group[identity] = Lane(key, lane.kind, name or "Agent", detail)
        return group[identity].key


def _host(url: str) -> str:
    """Return host and path of a URL, without credentials."""
    parts = urlsplit(url)
    return f"{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"


# --- child runs -------------------------------------------------------------------------------


@dataclass
class _Children:
    """The child runs of one turn that are shown, oldest first, and how many are not."""

    runs: list[Run] = field(default_factory=list)
    #: Polls that are left out, and the first and the last of them.
    polls: int = 0
    hidden_polls: Sequence[Run] = ()
    #: Other child runs that are left out.
    others: int = 0


def _children_of(turns: Sequence[Run]) -> Mapping[UUID, _Children]:
    found: dict[UUID, _Children] = defaultdict(_Children)
    tops = {turn.pk: turn.pk for turn in turns}
    rows: dict[UUID, list[tuple[datetime, UUID, str]]] = defaultdict(list)
    level: Iterable[UUID] = list(tops)
    for _ in range(DEPTH):
        below = Run.objects.filter(parent__in=level).exclude(kind__in=(RunKind.ASK, RunKind.ANSWER))
        level = []
        for pk, parent, kind, at in below.values_list("pk", "parent", "kind", "created_at"):
            tops[pk] = tops[parent]
            rows[tops[pk]].append((at, pk, kind))
            level.append(pk)
        if not level:
            break
    chosen: list[UUID] = []
    hidden: dict[UUID, list[UUID]] = {}
    for turn, all_rows in rows.items():
        all_rows.sort()
        polls = [pk for _, pk, kind in all_rows if kind == RunKind.POLL]
        others = [pk for _, pk, kind in all_rows if kind != RunKind.POLL]
        if left_out := polls[FIRST_POLLS:-1]:
            hidden[turn] = [left_out[0], left_out[-1]]
            found[turn].polls = len(left_out)
        found[turn].others = max(0, len(others) - MAX_CHILDREN)
        chosen += [*polls[:FIRST_POLLS], *polls[FIRST_POLLS:][-1:], *others[-MAX_CHILDREN:]]
    runs = Run.objects.in_bulk([*chosen, *(pk for pair in hidden.values() for pk in pair)])
    for pk in chosen:
        if pk in runs:
            found[tops[pk]].runs.append(runs[pk])
    for turn, ends in hidden.items():
        found[turn].hidden_polls = [runs[pk] for pk in ends if pk in runs]
    return found


# --- items of a turn --------------------------------------------------------------------------


def _items(turn: Run, children: _Children, lanes: _Lanes) -> Sequence[Item]:
    """Return everything that happened in a turn, in order of time."""
    agent = lanes.agent(turn)
    items: list[Item] = [*_begin(turn), *_messages(turn, agent, 0), *_end(turn)]
    for child in children.runs:
        offset = microseconds_since(turn, child.started_at or child.created_at)
        lane = lanes.server(child, turn) if child.kind == RunKind.ACTION else agent
        items += [
            *_child_begin(child, offset),
            *_messages(child, lane, offset),
        ]
        # The status of an action, and of any child run that did not complete.
        if child.is_final and (child.kind == RunKind.ACTION or child.state != RunState.COMPLETED):
            items.append(_status(child, status_label(child), offset + _end_us(child)))
    items += _hidden(turn, agent, children)
    ordered = sorted(items, key=lambda item: item.at_us or 0)
    return list(_with_pauses([*ordered, *_now(turn, children)]))


def _begin(turn: Run) -> Iterator[Item]:
    if turn.is_recorded:
        yield Note("Recording: nothing was sent", at_us=0)
    labels = {RunSource.COLLECTION: "Collection run", RunSource.RECORDING: "Request"}
    label = "Answer" if turn.kind == RunKind.ANSWER else labels.get(RunSource(turn.source), "Send")
    request: Any = turn.request if isinstance(turn.request, Mapping) else {}
    place = turn.spec.explained.get("query") if isinstance(request.get("query"), Mapping) else ""
    explain = f"{turn.protocol}/{turn.version}/{place}" if place else ""
    yield _by_user(turn, 0, label, _title(turn), explain)


def _by_user(run: Run, at: int, label: str, detail: str = "", explain: str = "") -> Message:
    """Return what the user does before a run."""
    seq = 1 if run.frames else None
    return Message(
        run, _USER, _PLAYGROUND, label, detail, "user", at_us=at, seq=seq, explain=explain
    )


def _messages(run: Run, lane: str, offset: int) -> Iterator[Item]:
    for step in steps_of(run):
        at = offset + step.at_us
        if step.type is StepKind.GAP:
            duration = milliseconds((step.until_us - step.at_us) / 1000)
            yield Note(f"No data for {duration}", "gap", at)
            continue
        is_response = step.type is StepKind.RECEIVED
        sender, receiver = (lane, _PLAYGROUND) if is_response else (_PLAYGROUND, lane)
        yield Message(
            run,
            sender,
            receiver,
            one_line(step.label, MAX_LABEL),
            step.detail,
            step.kind,
            is_response=is_response,
            is_lost=step.is_lost,
            at_us=at,
            until_us=offset + step.until_us,
            seq=step.first,
            explain=kind_reference(step.kind),
        )


def _end(turn: Run) -> Iterator[Item]:
    """Yield what the user is shown when a turn has ended."""
    if not turn.is_final:
        return
    at = _end_us(turn)
    if turn.state == RunState.CANCELLED:
        yield replace(_by_user(turn, at, "Stop"), seq=turn.frames or None)
    is_promise = turn.outcome == Outcome.PROMISE and turn.state == RunState.COMPLETED
    label = "Promise pending" if is_promise else status_label(turn)
    yield _status(turn, label, at)


def _status(run: Run, label: str, at: int, detail: str = "") -> Message:
    return Message(
        run,
        _PLAYGROUND,
        _USER,
        label,
        detail or one_line(_end_text(run), MAX_DETAIL),
        _kind_of_end(run),
        is_response=True,
        at_us=at,
        seq=run.frames or None,
        explain=f"playground/1/states#/{run.state}",
    )


def _end_text(run: Run) -> str:
    """Return why a run ended, what its agent asks for, or the number of results."""
    if run.problem:
        return value_text(run.problem.get("cause"), MAX_DETAIL)
    if run.outcome == Outcome.ELICITATION:
        return next((s.text for s in reversed(steps_of(run)) if s.kind == "elicitation"), "")
    return count_text(run.results, "result") if run.results else ""


def _kind_of_end(run: Run) -> str:
    """Return the event kind whose colour the end of a run has."""
    if run.state == RunState.COMPLETED:
        kinds = {"elicitation": "elicitation", "promise": "promise", "failure": "failure"}
        return kinds.get(run.outcome, "completed")
    is_stopped = run.state in (RunState.CANCELLED, RunState.INTERRUPTED)
    return "note" if is_stopped else "error"


def _end_us(run: Run) -> int:
    last = max((step.until_us for step in steps_of(run)), default=0)
    return max(run.ended_us or 0, last)


def _child_begin(child: Run, offset: int) -> Iterator[Item]:
    match child.kind:
        case RunKind.ACTION:
            name = one_line(child.text, MAX_DETAIL)
            label, detail = "Run action", _answers(child) or name
        case RunKind.CANCEL:
            label, detail = "Cancel the task", ""
        case RunKind.CLIENT_RESPONSE if _answers(child):
            label, detail = "Answer", _answers(child)
        case _:
            return
    yield _by_user(child, offset, label, one_line(detail, MAX_DETAIL))


def _hidden(turn: Run, agent: str, children: _Children) -> Iterator[Item]:
    """Yield what represents the child runs that are left out, with exact counts."""
    if len(children.hidden_polls) == 2:
        first, last = children.hidden_polls
        at = microseconds_since(turn, first.started_at or first.created_at)
        until = microseconds_since(turn, last.started_at or last.created_at)
        noun = "poll" if children.polls == 1 else "polls"
        duration = milliseconds((until - at) / 1000) if children.polls > 1 else ""
        yield Message(
            first,
            _PLAYGROUND,
            agent,
            f"{children.polls:,} more {noun}",
            duration,
            "promise",
            at_us=at,
            until_us=until,
            explain=kind_reference("promise"),
        )
    if children.others:
        yield Note(f"{children.others:,} earlier polls and actions are not shown", at_us=0)
    promise = getattr(turn, "polled_promise", None)
    if promise is None or promise.status == PollingStatus.POLLING or promise.ended_at is None:
        return
    at = microseconds_since(turn, promise.ended_at)
    detail = one_line(promise.status_message, MAX_DETAIL)
    kinds = {PollingStatus.FULFILLED: "completed", PollingStatus.FAILED: "failure"}
    kind = kinds.get(PollingStatus(promise.status), "note")
    yield replace(_status(turn, status_label(turn), at, detail), kind=kind)


def _now(turn: Run, children: _Children) -> Iterator[Item]:
    """Yield a note for every run that is in progress."""
    if not turn.is_final:
        yield Note(phase_label(turn) or status_label(turn), "progress")
    for child in children.runs:
        if not child.is_final:
            label = f"{RunKind(child.kind).label}: {phase_label(child) or status_label(child)}"
            yield Note(label, "progress")


def _with_pauses(items: Sequence[Item]) -> Iterator[Item]:
    """Yield items, with a note where nothing happened for a while."""
    last = 0
    for item in items:
        at = last if item.at_us is None else item.at_us
        is_gap = isinstance(item, Note) and item.kind == "gap"
        if at - last >= PAUSE_US and not is_gap:
            yield Note(f"{seconds_text((at - last) / 1_000_000)} later", "gap", last)
        end = item.until_us if isinstance(item, Message) else None
        last = max(last, at, end or 0)
        yield item
