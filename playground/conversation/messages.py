"""Views of Agent API messages: label and status, content parts, tool call, output and usage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from django.template.loader import get_template

from playground.conversation.cards import ResultCard, card_of
from playground.conversation.entries import Entry, Shown
from playground.conversation.media import MediaView, media_line
from playground.conversation.message_joiner import JoinedMessage, MessagePart
from playground.conversation.thread import PendingToolCall, Thread
from playground.models import Agent, Run, RunKind
from playground.protocols.events import Content, EntryRef, Message, ToolCall, ToolOutput
from playground.protocols.media import content_media
from playground.protocols.text import shorten
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
#: Kinds of content whose value is a URL.
_URL_KINDS = ("image", "file", "audio", "video")


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
    def status(self) -> str:
        return self.joined.status[:40]

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
    def is_shown_by_call(self) -> bool:
        """Return whether its output is shown with the message that made the call."""
        return self.joined.caller is not None

    @property
    def name(self) -> str:
        call = self.joined.call
        return value_text(call.name, 120) if call else ""

    @property
    def caller_name(self) -> str:
        return MessageView(self.joined.caller).name if self.joined.caller else ""

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
    def arguments(self) -> str:
        """Return the arguments of the call, indented if they are JSON."""
        return readable_value(self.joined.call.arguments) if self.joined.call else ""

    @property
    def output(self) -> ToolOutputView | None:
        """Return the output of its call; None until there is one."""
        return ToolOutputView(self.joined.output) if self.joined.output else None

    @property
    def tool_output(self) -> ToolOutputView | None:
        """Return the tool output that the message itself is."""
        return ToolOutputView(self.joined.tool_output) if self.joined.tool_output else None

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

    @property
    def number(self) -> int:
        return self.part.number

    @property
    def kind(self) -> str:
        return value_text(self.part.kind, 40)

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
        if self.part.kind in _URL_KINDS:
            return "image" if self.part.kind == "image" and self.url else "link"
        return "cards" if self.cards else "data"

    @property
    def text(self) -> str:
        """Return the text that is shown at first."""
        return display_text(self.part.text[:MAX_TEXT])

    @property
    def limit(self) -> int:
        """Return the number of characters that are shown at first."""
        return MAX_TEXT

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
    def preview(self) -> str:
        """Return the URL in one line."""
        return value_text(self.url_text, 120)

    @property
    def cards(self) -> list[ResultCard]:
        return [card_of(item) for item in _items(self.part.value)[:MAX_CARDS]]

    @property
    def more_items(self) -> int:
        return max(0, len(_items(self.part.value)) - MAX_CARDS)

    @property
    def json(self) -> str:
        return pretty(self.part.value)


@dataclass(frozen=True, slots=True)
class ToolOutputView:
    """The output of a tool as it is shown."""

    event: ToolOutput

    @property
    def text(self) -> str:
        """Return the output, indented if it is JSON."""
        return readable_value(self.event.output)

    @property
    def name(self) -> str:
        return value_text(self.event.name, 120)


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


def message_line(event: Message) -> str:
    return " · ".join(filter(None, (event.type, event.role, event.status)))


def content_line(event: Content) -> str:
    if (media := content_media(event.kind, event.value)) and media.has_data:
        return f"{event.kind} {event.index} · {media_line(media)}"
    is_delta = event.delta and isinstance(event.value, str)
    text = f"+ “{event.value[:MAX_LINE]}”" if is_delta else value_text(event.value, MAX_LINE)
    return f"{event.kind} {event.index} · {text}"


APPROVAL = "mcp_approval_request"


@dataclass(frozen=True, slots=True)
class ToolCallForm:
    """The form of one pending tool call."""

    thread: Thread
    waiting: PendingToolCall
    #: Submitted values by the name of the control, and the error.
    submitted: Mapping[str, str] = field(default_factory=dict)
    error: str = ""

    @property
    def run(self) -> Run:
        return self.thread.run

    @property
    def entry_ref(self) -> EntryRef:
        return self.waiting.entry_ref

    @property
    def event(self) -> ToolCall:
        return self.waiting.event

    @property
    def name(self) -> str:
        """Return its entry as one word, the prefix of its controls in the joint form."""
        return f"{self.entry_ref[0]}-{self.entry_ref[1]}"

    @property
    def selector(self) -> str:
        """Return the CSS selector of its form, the same on the page of any run."""
        return f'[data-calls="{self.run.pk}"][data-place="{self.name}"]'

    @property
    def answered_together(self) -> int:
        """Return the number of calls that are answered together, including itself."""
        return len(self.thread.waiting)

    @property
    def agent(self) -> Agent | None:
        """Return the agent; None if it was deleted, and then no answer can be sent."""
        return self.run.target_agent

    @property
    def anchor(self) -> str:
        return self.thread.anchor(self.entry_ref)

    @property
    def is_approval(self) -> bool:
        return self.event.kind == APPROVAL

    @property
    def is_json(self) -> bool:
        """Return whether the output was submitted as JSON."""
        return self.submitted.get("format") == "json"

    @property
    def answers(self) -> list[Run]:
        """Return the turns that answered it, oldest first, whichever form was submitted."""
        runs = self.thread.runs_at(self.entry_ref, RunKind.ASK, RunKind.ANSWER)
        for other in self.thread.waiting:
            if other.entry_ref != self.entry_ref:
                answers = self.thread.runs_at(other.entry_ref, RunKind.ANSWER)
                runs += [run for run in answers if self._is_answered_by(run)]
        return sorted(runs, key=lambda run: run.created_at)

    def _is_answered_by(self, run: Run) -> bool:
        return isinstance(run.answers, Mapping) and self.waiting.label in run.answers


def tool_call_form(joined: JoinedMessage, thread: Thread, ref: EntryRef) -> ToolCallForm | None:
    """Return the form of a message's call, None if the client has nothing to do about it."""
    if joined.pending_call is None or not thread.run.is_final:
        return None
    forms = (ToolCallForm(thread, each) for each in thread.waiting if each.entry_ref == ref)
    return next(forms, None)


def tool_call_context(joined: JoinedMessage, thread: Thread) -> dict[str, Any]:
    """Return the context of a message's templates beyond that of its entry."""
    caller = joined.caller
    return {
        "message": MessageView(joined, thread.run.is_final),
        "tool_call_form": tool_call_form(joined, thread, joined.ref),
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
    return "conversation/messages.html#entry", tool_call_context(joined, thread)


_FILE = "conversation/messages.html"


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
        html = _MessageHtml(joined, thread)
        if before.frame != now.frame or _is_rewritten(before, now, joined):
            return [html.render(f"{_FILE}#entry", **html.raw())]
        updates = [html.render(f"{_FILE}#status")] if before.status != now.status else []
        if before.call != now.call:
            updates.append(html.render(f"{_FILE}#call"))
        for shown in html.view.parts:
            updates += html.growth(shown.part, before.parts.get(shown.part.number))
        if thread.readonly and before.document != now.document:
            # Not with every piece of a text: the JSON has all of the text.
            if over or before.status != now.status:
                return [*updates, html.render("conversation/response.html#raw", **html.raw())]
            now.document = before.document
        return updates


class _MessageHtml:
    """HTML of a message on the page of its run."""

    def __init__(self, joined: JoinedMessage, thread: Thread) -> None:
        self.view = MessageView(joined, thread.run.is_final)
        self._readonly = thread.readonly
        self._anchor = thread.anchor(joined.ref)
        self._context: dict[str, Any] = {
            **thread.children_context(joined.ref),
            **tool_call_context(joined, thread),
            "entry": {"seq": joined.ref[0], "part": joined.ref[1]},
        }

    def render(self, name: str, **context: Any) -> str:
        """Return a template as out-of-band HTML."""
        return get_template(name).render({**self._context, "oob": True, **context})

    def raw(self) -> dict[str, str]:
        """Return the context of `conversation/response.html#raw` beyond that of the message."""
        return {"raw": pretty(self.view.joined.document)} if self._readonly else {}

    def growth(self, part: MessagePart, before: tuple[int, int] | None) -> list[str]:
        """Return the HTML that appends what is new of a part."""
        view = MessagePartView(part)
        if before is None:
            html = get_template(f"{_FILE}#part").render({**self._context, "shown": view})
            return [_append(f"{self._anchor}-parts", html=html)]
        sent = before[1]
        if not part.is_text or part.length <= sent:
            return []
        updates = []
        if piece := display_text(part.text[sent:MAX_TEXT]):
            updates.append(_append(f"{self._anchor}-p{part.number}", text=piece))
        if view.length:
            updates.append(self.render(f"{_FILE}#remaining_text", shown=view))
        return updates


def _append(target: str, **context: str) -> str:
    return get_template(f"{_FILE}#append").render({"target": target, **context})


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
