"""Actions of results: the buttons of a card, and the actions that were run below it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from playground.conversation.thread import MAX_LABEL, Thread
from playground.models import Run, RunKind
from playground.protocols.actions import Action, actions_of
from playground.protocols.events import EntryRef, Result
from playground.stored_runs import event_at
from playground.ui.formatting import label_text, value_text

_NESTING = frozenset({dict, list})


@dataclass(frozen=True, slots=True)
class ActionButton:
    """An action as a button of a card."""

    #: Number among the actions of the item.
    number: int
    label: str
    #: Description by the agent, "" for none.
    description: str
    protocol: str
    #: Whether the agent marks it as the primary action.
    is_marked: bool = False


def action_buttons(item: Any) -> list[ActionButton]:
    """Return the buttons of an item, one for each of its actions at any depth, the primary first.

    The primary action is the first that the agent marks with `"primary": true`, else the first.
    """
    if not _mentions_actions(item):
        return []
    buttons = [
        ActionButton(
            number,
            label_of(action),
            value_text(action.description, 200),
            value_text(action.protocol, 12) or "?",
            isinstance(action.raw, Mapping) and action.raw.get("primary") is True,
        )
        for number, action in enumerate(actions_of(item))
    ]
    primary = next((button for button in buttons if button.is_marked), None)
    return sorted(buttons, key=lambda button: button is not primary)


def _mentions_actions(item: Any) -> bool:
    """Return whether an item may have actions: of a flood of cards most have none."""
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
    """Return the label of an action: its readable name, or a short description if it has none."""
    if "name" in action.inferred and 0 < len(action.description) <= MAX_LABEL:
        return action.description
    return label_text(action.name, MAX_LABEL)


def action_at(run: Run, ref: EntryRef, number: int) -> Action | None:
    event = event_at(run, ref)
    actions = actions_of(event.item) if isinstance(event, Result) else []
    return actions[number] if number < len(actions) else None


def action_key(run: Run) -> tuple[str, ...]:
    """Return the key that runs of the same action share, however its parameters were edited."""
    request = run.request if isinstance(run.request, Mapping) else {}
    url = value_text(request.get("url")).partition("?")[0]
    return value_text(request.get("action")), value_text(request.get("method")), url


def is_plain_data(item: Any) -> bool:
    """Return whether an item is plain data, with neither type nor name."""
    return not (isinstance(item, Mapping) and (item.get("@type") or item.get("name")))


#: Actions below one card, the newest.
MAX_ACTIONS = 10


def child_runs(thread: Thread, ref: EntryRef) -> dict[str, Any]:
    """Return the actions of a card that were run, oldest first."""
    runs = thread.runs_at(ref, RunKind.ACTION)[-MAX_ACTIONS:]
    latest = {action_key(run): run.pk for run in runs}
    children = [
        replace(thread.child(run), is_outdated=latest[action_key(run)] != run.pk) for run in runs
    ]
    return {"actions": children}
