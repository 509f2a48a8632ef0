"""Actions of results: the buttons of a card, and what the desk shows before one is run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from playground.models import Run
from playground.protocols.actions import Action, actions_of
from playground.protocols.events import Result
from playground.reading import read_events
from playground.rendering.cards import value_text

#: Characters of a button.
MAX_LABEL = 70
_NESTING = frozenset({dict, list})
_IDENTIFIER = re.compile(r"[A-Za-z0-9_-]*[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class ActionButton:
    """One button of a card."""

    #: Its place among the actions of the item.
    number: int
    label: str
    #: What the agent says that it does, "" for nothing.
    description: str
    protocol: str


def action_buttons(item: Any) -> list[ActionButton]:
    """The buttons of an item, one for each of its actions at any depth."""
    if not _mentions_actions(item):
        return []
    return [
        ActionButton(
            number,
            label_of(action),
            value_text(action.description, 200),
            value_text(action.protocol, 12) or "?",
        )
        for number, action in enumerate(actions_of(item))
    ]


def _mentions_actions(item: Any) -> bool:
    """Whether there is anything to look at closer: of a flood of cards, most have no action."""
    values = [item]
    while values:
        value = values.pop()
        if isinstance(value, dict):
            if "actions" in value:
                return True
            value = value.values()
        elif not isinstance(value, list):
            continue
        values += [each for each in value if type(each) in _NESTING]
    return False


def label_of(action: Action) -> str:
    """What a button says: the name, as words where it is an identifier.

    An action without a name is called by its description where that is short.
    """
    if "name" in action.inferred and 0 < len(action.description) <= MAX_LABEL:
        return action.description
    return readable_name(action.name)


def readable_name(name: str) -> str:
    """The name of an action, as words where it is an identifier."""
    name = value_text(name, MAX_LABEL)
    if not _IDENTIFIER.fullmatch(name):
        return name
    text = re.sub(r"[_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().lower()
    return text[:1].upper() + text[1:] or name


def action_at(run: Run, place: tuple[int, int], number: int) -> Action | None:
    """Action `number` of the result at a place of a run, None where there is none."""
    seq, part = place
    for frame, events in read_events(run, after=seq - 1):
        if frame.seq != seq or part >= len(events):
            return None
        event = events[part]
        found = actions_of(event.item) if isinstance(event, Result) else []
        return found[number] if number < len(found) else None
    return None


def action_key(run: Run) -> tuple[str, ...]:
    """What the runs of one action have in common, however its parameters were edited."""
    request = run.request if isinstance(run.request, Mapping) else {}
    address = value_text(request.get("url")).partition("?")[0]
    return value_text(request.get("action")), value_text(request.get("method")), address


def is_plain_data(item: Any) -> bool:
    """Whether a reply is data rather than a thing that says what it is and what it is called."""
    return not (isinstance(item, Mapping) and (item.get("@type") or item.get("name")))


@dataclass(frozen=True, slots=True)
class HeaderRow:
    """One header of a call, and where it comes from."""

    name: str
    value: str
    #: Whether `value` is dots that stand for a secret.
    hidden: bool
    #: `yours`, `credentials`, `action`, or "" for what the playground adds.
    source: str = ""


def headers_of(
    shown: Iterable[tuple[str, str, bool]],
    action: Action,
    *,
    yours: Collection[str] = (),
    credentials: Collection[str] = (),
) -> list[HeaderRow]:
    """The headers of a call as they are shown, each with its source.

    `yours` are the names of those that the user added, `credentials` of those that
    authenticate at the agent.
    """
    own = action.raw.get("headers") if isinstance(action.raw, Mapping) else None
    sources = {
        **dict.fromkeys(_lower(own if isinstance(own, Mapping) else ()), "action"),
        **dict.fromkeys(_lower(credentials), "credentials"),
        **dict.fromkeys(_lower(yours), "yours"),
    }
    return [HeaderRow(*row, sources.get(row[0].lower(), "")) for row in shown]


def _lower(names: Iterable[Any]) -> Iterable[str]:
    return (str(name).strip().lower() for name in names)
