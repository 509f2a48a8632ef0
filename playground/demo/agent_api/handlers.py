"""Handlers of requests: search and answer, call functions, request approval, or fail.

One table, which the demo page shows too: the first row whose pattern is in the text is used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

from playground.demo.agent_api import tool_calls
from playground.demo.agent_api.request_context import RequestContext

Handler = Callable[[RequestContext], None]


@dataclass(frozen=True, slots=True)
class HandlerRow:
    """An example of a request and its response, the pattern of such requests, their handler."""

    text: str
    happens: str
    pattern: str
    handle: Handler


def respond(context: RequestContext) -> None:
    """Write the response to a request. Raise `FailureError` for a question without words."""
    writer, request = context.writer, context.request
    writer.begin()
    writer.input_words = len(request.text.split())
    if request.approvals or request.outputs:
        tool_calls.resume(context)
    elif row := next((row for row in ROWS if re.search(row.pattern, request.text, re.I)), None):
        row.handle(context)
    elif functions := tool_calls.matching_functions(context):
        tool_calls.call(context, functions)
    else:
        _search(context)
    context.store_question()


def _search(context: RequestContext) -> None:
    """Search and answer: the default."""
    writer, text = context.writer, context.request.text
    writer.reason(f"The question is about “{text[:80]}”. Let me search the recipes for that.")
    found = context.catalog.find(text, context.earlier)
    call = writer.call("function_call", "search_recipes", {"query": text, "limit": 3})
    writer.output("function_call_output", call, found.listed)
    writer.write_text(found.text, parts=found.parts)
    writer.end()


def _greet(context: RequestContext) -> None:
    count = len(context.earlier)
    again = f" Good to see you again: this is question {count + 1}." if count else ""
    context.writer.write_text(f"Hello!{again} Ask me for a recipe, and I will look for one.")
    context.writer.end()


def _recall(context: RequestContext) -> None:
    earlier = context.earlier
    listed = "; ".join(f"“{text[:80]}”" for text in earlier)
    context.writer.write_text(f"You asked {listed}." if earlier else "This is your first question.")
    context.writer.end()


def _approve(context: RequestContext) -> None:
    """Request approval of a tool call and end the response."""
    approval_id = f"approval_{uuid4().hex[:12]}"
    found = context.catalog.find("risotto")
    items = list(found.items[0].get("recipeIngredient", []))[:3] if found.items else ["salt"]
    context.writer.write_message(
        "mcp_list_tools", {"server_label": "demo-mcp", "tools": tool_calls.MCP_TOOLS}
    )
    request = tool_calls.approval(approval_id, items)
    context.writer.write_message("mcp_approval_request", request)
    context.state["approval"] = {"id": approval_id, "items": items}
    context.writer.end()


def _fail(context: RequestContext) -> None:
    writer = context.writer
    message = writer.announce()
    writer.write_words(message, 0, "Here is what I found: ", "failed")
    text = "The oven caught fire."
    writer.close(message, "failed", code="AGENT_ERROR", message=text)
    writer.end("failed", {"code": "AGENT_ERROR", "message": text})


def _reject(context: RequestContext) -> None:
    # Without `in_progress`: after it a response can no longer be rejected.
    context.writer.objects.pop()
    context.writer.end("rejected", {"code": "REJECTED", "message": "You may not use this kitchen."})


def _cancel(context: RequestContext) -> None:
    message = context.writer.announce()
    context.writer.write_words(message, 0, "I had only just ", "canceled")
    context.writer.close(message, "canceled")
    context.writer.end("canceled")


def _send_heartbeats(context: RequestContext) -> None:
    for _ in range(3):
        context.writer.heartbeat()
    context.writer.write_text("Thank you for waiting. The dough has risen.")
    context.writer.end()


def _everything(context: RequestContext) -> None:
    """Send every type of message of the specification that an agent can send."""
    writer = context.writer
    found = context.catalog.find("tomato soup")
    writer.reason("I will use everything in this kitchen once.")
    for kind, name in (("plugin_call", "weather"), ("component_call", "timer")):
        call = writer.call(kind, name, {"minutes": 5})
        writer.output(f"{kind}_output", call, {"done": True})
    call = writer.call("function_call", "search_recipes", {"query": "tomato soup"})
    writer.output("function_call_output", call, found.listed)
    writer.write_message(
        "mcp_list_tools", {"server_label": "demo-mcp", "tools": tool_calls.MCP_TOOLS}
    )
    writer.heartbeat()
    writer.write_text(found.text, parts=found.parts)
    message = writer.announce("error")
    text = "One pan was missing; it worked without."
    writer.close(message, "failed", code="PAN_MISSING", message=text)
    writer.end()


ROWS: Sequence[HandlerRow] = (
    HandlerRow("hello", "One message; in a session, it counts your questions.",
               r"^\W*(?:hello|hi|hey|good (?:morning|evening))\b", _greet),
    HandlerRow("what did I ask you?", "Lists the questions of this session.",
               r"\bwhat (?:did|have) i ask", _recall),
    HandlerRow("order the ingredients", "Lists the tools of an MCP server and asks for approval to"
               " call one; the next request approves or denies it.",
               r"\border (?:the )?ingredients\b", _approve),
    HandlerRow("break in the middle", "Five words, then the message and the response fail.",
               r"\bbreak in the middle\b", _fail),
    HandlerRow("reject me", "The response is rejected before it starts.",
               r"^\W*reject me\b", _reject),
    HandlerRow("cancel yourself", "The response is canceled mid-sentence.",
               r"\bcancel yourself\b", _cancel),
    HandlerRow("take your time", "Three heartbeats, then the answer.",
               r"\btake your time\b", _send_heartbeats),
    HandlerRow("use everything you have", "Plugin, component and function calls with their"
               " outputs, a list of tools, a heartbeat, text, image, data and a non-fatal error.",
               r"\buse everything\b", _everything),
)  # fmt: skip
