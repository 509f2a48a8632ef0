"""Messages of the Agent API: how they are shown, their pending tool calls, and their updates.

A response may leave several calls to its client, and its agent waits for the outputs of all: they
are answered together, with one request, whichever form was submitted.

Updates are out-of-band HTML. A growing text is sent in pieces and never again as a whole; arguments
and output of a call are replaced in place; only a corrected type or a replaced text replaces the
whole message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from playground.conversation.cards import ResultCard, card_of
from playground.conversation.entries import Entry, Shown
from playground.conversation.media import MediaView, media_line
from playground.conversation.message_joiner import URL_KINDS, JoinedMessage, MessagePart
from playground.conversation.thread import PendingToolCall, Question, Thread
from playground.models import Run, RunKind
from playground.protocols.events import Content, EntryRef, Message
from playground.protocols.media import content_media
from playground.protocols.text import shorten
from playground.ui import compiled
from playground.ui.formatting import MAX_LINE, pretty, safe_url, value_text

#: Parts of a message and tools of a list that are shown.
MAX_SHOWN, MAX_TOOLS = 100, 100
#: Characters of a text that are shown before the user asks for all of it.
MAX_TEXT = 20_000
#: Cards of a part that are shown.
MAX_CARDS = 20
#: Labels of the statuses; another one is shown as the agent sent it.
STATUSES = {
    "created": "Created",
    "queued": "Queued",
    "in_progress": "In progress",
    "completed": "Completed",
    "incomplete": "Incomplete",
    "failed": "Failed",
    "canceled": "Cancelled",
    "cancelled": "Cancelled",
    "rejected": "Rejected",
}
#: Statuses after which more of the message has to follow.
OPEN = frozenset({"", "created", "queued", "in_progress"})
#: Message type to its family, which chooses the template, and its label.
TYPES = {
    "message": ("said", ""),
    "assistant": ("said", ""),
    "": ("said", ""),
    "reasoning": ("reasoning", "Reasoning"),
    "function_call": ("call", "Function call"),
    "plugin_call": ("call", "Plugin call"),
    "component_call": ("call", "Component call"),
    "mcp_call": ("call", "MCP call"),
    "function_call_output": ("output", "Function output"),
    "plugin_call_output": ("output", "Plugin output"),
    "component_call_output": ("output", "Component output"),
    "mcp_call_output": ("output", "MCP output"),
    "mcp_list_tools": ("tools", "Tools"),
    "mcp_approval_request": ("approval", "Approval request"),
    "mcp_approval_response": ("said", "Approval response"),
    "error": ("error", "Error"),
}
ROLES = {"assistant": "Assistant", "user": "User", "system": "System", "tool": "Tool"}
APPROVAL = "mcp_approval_request"
_FILE = "conversation/messages.html"


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message as its templates show it."""

    joined: JoinedMessage
    #: Whether the response has ended, so that an open message stays incomplete.
    is_over: bool = False

    @property
    def family(self) -> str:
        """Return `said`, `reasoning`, `call`, `output`, `tools`, `approval`, `error` or `other`."""
        return TYPES.get(self.joined.type, ("other", ""))[0]

    @property
    def label(self) -> str:
        """Return the label of the type, else of the role."""
        label = TYPES.get(self.joined.type, ("", self.joined.type))[1]
        role = self.joined.role
        return value_text(label or ROLES.get(role, role) or "Message", 80)

    @property
    def status_label(self) -> str:
        if self.is_over and self.is_unfinished:
            return "Never completed"
        if self.is_waiting:
            return "Waiting for approval" if self.family == "approval" else "Waiting for output"
        return STATUSES.get(self.joined.status, value_text(self.joined.status, 40))

    @property
    def is_unfinished(self) -> bool:
        return self.joined.status in OPEN

    @property
    def is_open(self) -> bool:
        """Return whether more of it, or the output of its call, may still be received."""
        waits = self.makes_call and self.joined.output is None
        return not self.is_over and (self.is_unfinished or waits)

    @property
    def is_waiting(self) -> bool:
        """Return whether its call is complete and waits for the client's output or approval."""
        return not self.is_unfinished and self.joined.pending_call is not None

    @property
    def makes_call(self) -> bool:
        """Return whether it calls a tool, or requests approval of a call."""
        return self.family in ("call", "approval")

    @property
    def name(self) -> str:
        call = self.joined.call
        return value_text(call.name, 120) if call else ""

    @property
    def parts(self) -> list[MessagePartView]:
        """Return the parts in order, without those shown as call, output or tools."""
        parts = (MessagePartView(each) for each in self.joined.ordered if self._is_shown(each))
        return list(islice(parts, MAX_SHOWN))

    @property
    def more(self) -> int:
        """Return the number of parts that only the JSON has."""
        return max(0, len(self.joined.parts) - MAX_SHOWN)

    @property
    def tools(self) -> list[tuple[str, str]]:
        """Return name and description of the tools that the message lists, at most `MAX_TOOLS`."""
        tools = (tool for each in self._tool_lists for tool in each)
        return [_tool(tool) for tool in islice(tools, MAX_TOOLS)]

    @property
    def more_tools(self) -> int:
        return max(0, sum(map(len, self._tool_lists)) - MAX_TOOLS)

    @property
    def _tool_lists(self) -> list[list[Any]]:
        lists = (listed_tools(part.value) for part in self.joined.ordered)
        return [each for each in lists if each is not None]

    @property
    def usage(self) -> list[tuple[str, str]]:
        """Return the usage of the message as (name, figure)."""
        return usage_rows(self.joined.usage)

    def _is_shown(self, part: MessagePart) -> bool:
        if part.is_text:
            return True
        if self.joined.call or self.joined.tool_output:
            return False
        return not (self.family == "tools" and self.tools)


@dataclass(frozen=True)
class MessagePartView:
    """A part of a message as its template shows it."""

    part: MessagePart

    #: Characters of a text that are shown at first.
    limit = MAX_TEXT

    @cached_property
    def media(self) -> MediaView | None:
        media = content_media(self.part.kind, self.part.value)
        return MediaView(media) if media and media.has_data else None

    @property
    def family(self) -> str:
        """Return `text`, `refusal`, `media`, `image`, `link`, `cards`, `data` or `nothing`."""
        if self.part.is_text:
            return "refusal" if self.part.kind == "refusal" else "text"
        if self.part.value in (None, "", {}, []):
            return "nothing"
        if self.media:
            return "media"
        if self.part.kind in URL_KINDS:
            return "image" if self.part.kind == "image" and self.url else "link"
        return "cards" if self.cards else "data"

    @property
    def text(self) -> str:
        """Return the text that is shown at first."""
        return display_text(self.part.text[:MAX_TEXT])

    @property
    def length(self) -> int:
        """Return the length of a text that is longer than `limit`, else 0."""
        return self.part.length if self.part.length > MAX_TEXT else 0

    @property
    def url(self) -> str | None:
        """Return the URL of the part if it may be a link, else None."""
        return safe_url(self.url_text)

    @property
    def url_text(self) -> str:
        value = self.part.value
        if isinstance(value, Mapping):
            members = (value.get(name) for name in ("url", f"{self.part.kind}_url", "uri"))
            value = next((each for each in members if isinstance(each, str)), value)
        return value_text(value, 4_000)

    @property
    def name(self) -> str:
        """Return the name of a picture, a sound or a file, "" without one."""
        media = content_media(self.part.kind, self.part.value)
        return MediaView(media).name if media else ""

    @property
    def cards(self) -> list[ResultCard]:
        return [card_of(item) for item in _items(self.part.value)[:MAX_CARDS]]

    @property
    def more_items(self) -> int:
        return max(0, len(_items(self.part.value)) - MAX_CARDS)


def usage_rows(usage: Any) -> list[tuple[str, str]]:
    """Return usage as (name, figure); empty for anything that is no object."""
    if not isinstance(usage, Mapping):
        return []
    rows = ((value_text(str(name), 60), value_text(value, 60)) for name, value in usage.items())
    return [(name.replace("_", " "), value) for name, value in islice(rows, 12) if value]


def listed_tools(value: Any) -> list[Any] | None:
    """Return the tools in the value of a part (`mcp_list_tools`), None if it lists none."""
    tools = value.get("tools") if isinstance(value, Mapping) else None
    return tools if isinstance(tools, list) else None


def display_text(text: str) -> str:
    """Return a text without CR: a browser would show the CR of a split CRLF as another line."""
    return text.replace("\r", "")


def readable_value(value: Any) -> str:
    """Return a value, or a string that holds JSON, as indented JSON; other strings as they are."""
    if not isinstance(value, str):
        return "" if value is None else pretty(value)
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return shorten(value, MAX_TEXT + 1)
    return pretty(parsed)


def _tool(tool: Any) -> tuple[str, str]:
    described = tool if isinstance(tool, Mapping) else {"name": tool}
    inner = described.get("function")
    described = inner if isinstance(inner, Mapping) else described
    return value_text(described.get("name"), 120), value_text(described.get("description"), 300)


def _items(value: Any) -> list[Any]:
    """Return the schema.org items in the value of a part."""
    if isinstance(value, Mapping):
        if isinstance(value.get("@type"), str | list):
            return [value]
        lists = (value.get(name) for name in ("results", "items", "itemListElement"))
        value = next((each for each in lists if isinstance(each, list)), None)
    if not isinstance(value, list) or not value:
        return []
    return value if all(isinstance(each, Mapping) and "@type" in each for each in value) else []


def content_line(event: Content) -> str:
    if (media := content_media(event.kind, event.value)) and media.has_data:
        return f"{event.kind} {event.index} · {media_line(media)}"
    is_delta = event.delta and isinstance(event.value, str)
    text = f"+ “{event.value[:MAX_LINE]}”" if is_delta else value_text(event.value, MAX_LINE)
    return f"{event.kind} {event.index} · {text}"


@dataclass(frozen=True)
class ToolCallForm(Question):
    """The form of one pending tool call.

    The same form is used by the page, the websocket message and a submission with errors.
    """

    waiting: PendingToolCall
    #: Submitted values by the name of the control, and the error.
    submitted: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def selector(self) -> str:
        """Return the CSS selector of its form, the same on the page of any run."""
        return f'[data-calls="{self.run.pk}"][data-place="{self.key}"]'

    @property
    def answered_together(self) -> int:
        """Return the number of calls that are answered together, including itself."""
        return len(self.thread.waiting)

    @property
    def included_fields(self) -> str:
        """Return a selector of the fields outside the form that are sent with it."""
        fields = "#composer [name='headers'], #agent-select, #address"
        if self.answered_together == 1:
            return fields
        return f"[data-calls='{self.run.pk}'] [name]:not([type=hidden]), {fields}"

    @property
    def is_approval(self) -> bool:
        return self.waiting.event.kind == APPROVAL

    @property
    def is_json(self) -> bool:
        """Return whether the output was submitted as JSON."""
        return self.submitted.get("format") == "json"

    @property
    def answers(self) -> list[Run]:
        """Return the turns that answered it, oldest first, whichever form was submitted."""
        runs = super().answers
        for other in self.thread.waiting:
            if other.entry_ref != self.entry_ref:
                answers = self.thread.runs_at(other.entry_ref, RunKind.ANSWER)
                runs += [run for run in answers if self.waiting.label in (run.answers or {})]
        return sorted(runs, key=lambda run: run.created_at)


def tool_call_forms(thread: Thread) -> list[ToolCallForm]:
    """Return the forms of the calls that the client has to answer."""
    return [ToolCallForm(thread, each.entry_ref, each) for each in thread.waiting]


def _message_context(joined: JoinedMessage, thread: Thread) -> dict[str, Any]:
    """Return the context of a message's templates beyond that of its entry."""
    caller = joined.caller
    is_pending = thread.run.is_final and joined.pending_call is not None
    forms = tool_call_forms(thread) if is_pending else ()
    return {
        "message": MessageView(joined, thread.run.is_final),
        "tool_call_form": next((each for each in forms if each.entry_ref == joined.ref), None),
        "caller_anchor": thread.anchor(caller.ref) if caller else "",
    }


def show_message(entry: Entry, thread: Thread) -> Shown:
    """Show a message; only its beginning, if too many came before it to be joined."""
    event = entry.event
    assert isinstance(event, Message)
    joined = entry.message or JoinedMessage(
        (event.seq, 0), event.id, event.type, event.role, event.status, event.raw
    )
    if entry.message is None:
        return "conversation/messages.html#entry", {"message": MessageView(joined)}
    return "conversation/messages.html#entry", _message_context(joined, thread)


@dataclass(slots=True)
class SentState:
    """The state of a message as a page shows it."""

    #: Everything outside the parts and the call.
    frame: tuple[object, ...]
    status: str
    call: tuple[object, ...]
    #: What its JSON shows, which only a read-only page has before it is opened.
    document: tuple[object, ...]
    #: Number of a part to its revision and the length of its text.
    parts: dict[int, tuple[int, int]] = field(default_factory=dict)


class MessageUpdates:
    """The states of the messages on the page of one viewer."""

    def __init__(self, window: int) -> None:
        """Update messages among the first `window` entries of the thread."""
        self._window = window
        self._sent: dict[EntryRef, SentState] = {}

    def note(self, messages: Iterable[JoinedMessage], over: bool) -> None:
        """Record that these messages are on the page as they are now."""
        for joined in messages:
            self._sent[joined.ref] = _state(joined, over)

    def of(self, changed: Iterable[JoinedMessage], thread: Thread) -> list[str]:
        """Return the HTML that updates the page; messages beyond the window are left out."""
        updates: list[str] = []
        for joined in changed:
            if joined.number is not None and joined.number < self._window:
                updates += self._update(joined, thread)
        return updates

    def _update(self, joined: JoinedMessage, thread: Thread) -> list[str]:
        over = thread.run.is_final
        before, now = self._sent.get(joined.ref), _state(joined, over)
        self._sent[joined.ref] = now
        if before is None:
            return []  # A new message is sent as an entry.
        anchor = thread.anchor(joined.ref)
        context = {
            **thread.children_context(joined.ref),
            **_message_context(joined, thread),
            "entry": {"seq": joined.ref[0], "part": joined.ref[1]},
            # Called by the template: most updates do not show it.
            "raw": lambda: pretty(joined.document) if thread.readonly else "",
            "oob": True,
        }

        def render(name: str, **more: Any) -> str:
            return compiled.render(name, {**context, **more})

        if before.frame != now.frame or _is_rewritten(before, now, joined):
            return [render(f"{_FILE}#entry")]
        updates = [render(f"{_FILE}#status")] if before.status != now.status else []
        if before.call != now.call:
            updates.append(render(f"{_FILE}#call"))
        for shown in MessageView(joined, over).parts:
            updates += _growth(shown, before.parts.get(shown.part.number), anchor, render)
        if thread.readonly and before.document != now.document:
            # Not with every piece of a text: the JSON has all of the text.
            if over or before.status != now.status:
                return [*updates, render("conversation/response.html#raw")]
            now.document = before.document
        return updates


def _growth(
    shown: MessagePartView,
    before: tuple[int, int] | None,
    anchor: str,
    render: Callable[..., str],
) -> list[str]:
    """Return the HTML that appends the new text of a part."""
    part = shown.part
    if before is None:
        return [_append(f"{anchor}-parts", html=render(f"{_FILE}#part", shown=shown, oob=False))]
    if not part.is_text or part.length <= before[1]:
        return []
    updates = []
    if piece := display_text(part.text[before[1] : MAX_TEXT]):
        updates.append(_append(f"{anchor}-p{part.number}", text=piece))
    if shown.length:
        updates.append(render(f"{_FILE}#remaining_text", shown=shown))
    return updates


def _append(target: str, **context: str) -> str:
    return compiled.render(f"{_FILE}#append", {"target": target, **context})


def _state(joined: JoinedMessage, over: bool) -> SentState:
    view = MessageView(joined, over)
    call, output, tool_output = joined.call, joined.output, joined.tool_output
    frame: tuple[object, ...] = (view.family, view.label, len(view.usage))
    frame += (call and call.name, joined.caller and joined.caller.ref)
    frame += (tool_output and tool_output.name, tool_output and tool_output.output, len(view.tools))
    call_state: tuple[object, ...] = ()
    if view.makes_call:
        # The form is shown once the response has ended.
        call_state = (call and call.arguments, output and output.output, over)
    parts = {part.number: (part.revision, part.length) for part in joined.parts.values()}
    return SentState(frame, view.status_label, call_state, (joined.raw, parts), parts)


def _is_rewritten(before: SentState, now: SentState, joined: JoinedMessage) -> bool:
    """Return whether a part was replaced, or a new one is not the last."""
    if any(revision != now.parts[number][0] for number, (revision, _) in before.parts.items()):
        return True
    order = [part.number for part in joined.ordered]
    return order != sorted(order) and len(now.parts) > len(before.parts)
