"""What the agent does with a turn: search and answer, call, ask for approval, or fail.

One table, which the demo's page shows too: the first row whose pattern is in the text plays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from playground.demo.agent_api import tool_calls
from playground.demo.agent_api.requests import ParsedRequest
from playground.demo.agent_api.search import Catalog
from playground.demo.agent_api.writer import ResponseWriter

#: What is remembered of a session, as JSON.
State = dict[str, Any]
#: Questions of a session that are remembered.
_EARLIER = 20


@dataclass(slots=True)
class RequestContext:
    """A turn, and what it is played with."""

    turn: ParsedRequest
    catalog: Catalog
    state: State
    script: ResponseWriter
    functions: Sequence[Mapping[str, Any]] = field(default_factory=tuple)

    @property
    def earlier(self) -> list[str]:
        """What was asked before in this session."""
        found = self.state.get("asked")
        return [text for text in found if isinstance(text, str)] if isinstance(found, list) else []

    def note(self) -> None:
        """Remember the question."""
        if self.turn.text:
            self.state["asked"] = [*self.earlier, self.turn.text][-_EARLIER:]


Play = Callable[[RequestContext], None]


@dataclass(frozen=True, slots=True)
class HandlerRow:
    """A text that makes the agent do something special."""

    title: str
    text: str
    happens: str
    pattern: re.Pattern[str]
    play: Play


def respond(scene: RequestContext) -> None:
    """Write the response to a turn. Raises `FailureError` where the question has no words."""
    script, turn = scene.script, scene.turn
    script.begin()
    script.read = len(turn.text.split())
    if turn.approvals or turn.outputs:
        tool_calls.resume(scene)
    elif row := next((row for row in ROWS if row.pattern.search(turn.text)), None):
        row.play(scene)
    elif functions := tool_calls.matching_functions(scene):
        tool_calls.call(scene, functions)
    else:
        _search(scene)
    scene.note()


def _search(scene: RequestContext) -> None:
    """The usual: think, search, answer."""
    script, text = scene.script, scene.turn.text
    script.write_text(f"The question is about “{text[:80]}”. Let me search the recipes for that.",
               "reasoning")  # fmt: skip
    found = scene.catalog.find(text, scene.earlier)
    call = script.call("function_call", "search_recipes", {"query": text, "limit": 3})
    script.output("function_call_output", call, found.listed)
    script.write_text(found.text, parts=found.parts)
    script.end()


def _greet(scene: RequestContext) -> None:
    many = len(scene.earlier)
    again = f" Good to see you again: this is question {many + 1}." if many else ""
    scene.script.write_text(f"Hello!{again} Ask me for a recipe, and I will look for one.")
    scene.script.end()


def _recall(scene: RequestContext) -> None:
    asked = scene.earlier
    listed = "; ".join(f"“{text[:80]}”" for text in asked)
    scene.script.write_text(f"You asked {listed}." if asked else "This is your first question.")
    scene.script.end()


def _approve(scene: RequestContext) -> None:
    """A tool that needs a yes: the call is described, and the response ends."""
    request = f"approval_{uuid4().hex[:12]}"
    found = scene.catalog.find("risotto")
    items = list(found.items[0].get("recipeIngredient", []))[:3] if found.items else ["salt"]
    scene.script.write_message(
        "mcp_list_tools", {"server_label": "demo-mcp", "tools": tool_calls.MCP_TOOLS}
    )
    asked = tool_calls.approval(request, items)
    scene.script.write_message("mcp_approval_request", asked)
    scene.state["approval"] = {"id": request, "items": items}
    scene.script.end()


def _break(scene: RequestContext) -> None:
    """Words, and then an error in the middle of them."""
    script = scene.script
    message = script.announce()
    script.spell(message, 0, "Here is what I found: ", "failed")
    text = "The oven caught fire."
    script.close(message, "failed", code="AGENT_ERROR", message=text)
    script.end("failed", {"code": "AGENT_ERROR", "message": text})


def _refuse(scene: RequestContext) -> None:
    # Refused before any work: after `in_progress` a response can no longer be rejected.
    scene.script.objects.pop()
    scene.script.end("rejected", {"code": "REJECTED", "message": "This kitchen is closed to you."})


def _cancel(scene: RequestContext) -> None:
    message = scene.script.announce()
    scene.script.spell(message, 0, "I had only just ", "canceled")
    scene.script.close(message, "canceled")
    scene.script.end("canceled")


def _wait(scene: RequestContext) -> None:
    for _ in range(3):
        scene.script.heartbeat()
    scene.script.write_text("Thank you for waiting. The dough has risen.")
    scene.script.end()


def _everything(scene: RequestContext) -> None:
    """Every type of message that the specification lists and an agent can send."""
    script = scene.script
    found = scene.catalog.find("tomato soup")
    script.write_text("I will use everything in this kitchen once.", "reasoning")
    for kind, name in (("plugin_call", "weather"), ("component_call", "timer")):
        call = script.call(kind, name, {"minutes": 5})
        script.output(f"{kind}_output", call, {"done": True})
    call = script.call("function_call", "search_recipes", {"query": "tomato soup"})
    script.output("function_call_output", call, found.listed)
    script.write_message(
        "mcp_list_tools", {"server_label": "demo-mcp", "tools": tool_calls.MCP_TOOLS}
    )
    script.heartbeat()
    script.write_text(found.text, parts=found.parts)
    message = script.announce("error")
    text = "One pan was missing; it worked without."
    script.close(message, "failed", code="PAN_MISSING", message=text)
    script.end()


def _row(title: str, text: str, happens: str, pattern: str, play: Play) -> HandlerRow:
    return HandlerRow(title, text, happens, re.compile(pattern, re.I), play)


ROWS: Sequence[HandlerRow] = (
    _row("Words alone", "hello", "One message; with a session, it knows how often you came.",
         r"^\W*(?:hello|hi|hey|good (?:morning|evening))\b", _greet),
    _row("Memory", "what did I ask you?", "Names the questions of this session.",
         r"\bwhat (?:did|have) i ask", _recall),
    _row("Approval", "order the ingredients", "Lists the tools of an MCP server and asks whether"
         " it may call one; the next request approves or refuses.",
         r"\border (?:the )?ingredients\b", _approve),
    _row("Error in mid-stream", "break in the middle", "Five words, then message and response"
         " fail.", r"\bbreak in the middle\b", _break),
    _row("Refusal", "reject me", "The response is rejected before any work.",
         r"^\W*reject me\b", _refuse),
    _row("Given up", "cancel yourself", "The response is canceled in mid-sentence.",
         r"\bcancel yourself\b", _cancel),
    _row("Signs of life", "take your time", "Three heartbeats, then the answer.",
         r"\btake your time\b", _wait),
    _row("Everything at once", "use everything you have", "Reasoning, plugin, component and"
         " function calls with their outputs, a list of tools, a heartbeat, text, image, data and"
         " an error that does not end it.", r"\buse everything\b", _everything),
)  # fmt: skip
