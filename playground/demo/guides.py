"""Guides to MCP, the Agent API and A2A on the demo page: URLs, prompts and responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from playground.demo.a2a.skills import SKILLS
from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from playground.demo.examples import Example, ask
from playground.demo.mcp.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Guide:
    """The guide to one protocol."""

    slug: str
    title: str
    lead: str
    #: (HTTP method, URL name, purpose).
    addresses: Sequence[tuple[str, str, str]]
    #: (title, heading of the first column, examples).
    tables: Sequence[tuple[str, str, Sequence[Example]]]
    #: The agent of the playground that uses the protocol; "" for none.
    agent: str = ""


def guides(origin: str) -> list[dict[str, Any]]:
    return [
        {
            "guide": guide,
            "addresses": [
                (f"demo-{guide.slug}-{number}", method, origin + reverse(name), purpose)
                for number, (method, name, purpose) in enumerate(guide.addresses, 1)
            ],
        }
        for guide in GUIDES
    ]


def _message(text: str, happens: str, **more: Any) -> Example:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "type": "message", "content": content}
    return Example(text, {"input": [message], "stream": True, **more}, happens=happens)


def _ask(text: str, happens: str, **sections: Any) -> Example:
    return ask(text, text, happens=happens, **sections)


def _function(name: str, description: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    about = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": about}


_PANTRY = _function("get_pantry", "What is in the pantry.")
_CALENDAR = _function("get_calendar", "Who comes to dinner, and when.")

_MCP = Guide(
    "mcp",
    "Over MCP",
    "The same agent as an MCP server over streamable HTTP, in both generations: stateless with"
    " server/discover, or with initialize and a session. Plain requests get the same answers as"
    " over HTTP.",
    (
        ("POST", "demo-mcp", "both generations"),
        ("POST", "demo-mcp-stateful", "2025-11-25 and earlier only"),
        ("POST", "demo-mcp-stateless", "2026-07-28 only"),
    ),
    (
        (
            "",
            "Query",
            (
                _ask(
                    "tomato soup",
                    "A log message and progress for each result, then the answer.",
                    prefer={"streaming": True},
                ),
                _ask(
                    "surprise me, but ask first",
                    "An MCP elicitation: in the stream, or with input_required and a retry.",
                ),
                _ask("a meal plan for the week", "A promise; the tool await returns its answer."),
                _ask("???", "The JSON-RPC error Invalid params, with the failure as its data."),
                _ask(
                    "fail INTERNAL_ERROR", "A result with isError: true that contains the failure."
                ),
            ),
        ),
        ("Tools", "Tool", [Example(tool["name"], happens=tool["description"]) for tool in TOOLS]),
    ),
    "demo-mcp",
)
_AGENT_API = Guide(
    "agent-api",
    "Over the Agent API",
    "The same corpus in a conversation: streamed text, function calls and their outputs. A"
    " session_id is remembered for a day. With stream set to false, the response is a single JSON"
    " document. ?extensions=1 adds messages of types that the specification does not list:"
    " reasoning and mcp_call_output.",
    (("POST", "demo-agent-api", ""),),
    (
        (
            "",
            "Message",
            (
                _message(
                    "tomato soup",
                    "A call to search_recipes and its output, then text, an image and the"
                    " recipes as data.",
                ),
                _message(
                    "What can I cook with my pantry?",
                    "Calls your function get_pantry and ends; the"
                    " recipes use the output in your next request.",
                    tools=[_PANTRY],
                ),
                _message(
                    "Check my pantry and my calendar",
                    "Calls two of your functions at once;"
                    " continues when one request includes both outputs.",
                    tools=[_PANTRY, _CALENDAR],
                ),
                *(_message(row.text, row.happens) for row in ROWS),
            ),
        ),
        (
            "Malformed responses",
            "Message",
            [_message(f"broken: {name}", broken.happens) for name, broken in BROKEN.items()],
        ),
    ),
    "demo-agent-api",
)
_A2A = Guide(
    "a2a",
    "Over A2A",
    "An agent for other agents, in 0.3 and 1.0; actions of recipes and restaurants call it. Tasks"
    " continue in the background and are remembered for a day. The skill is chosen from the text,"
    " or named in the metadata of the message.",
    (
        ("POST", "demo-a2a", ""),
        ("GET", "demo-a2a-card", "the agent card, also served at the root of the site"),
    ),
    (
        (
            "",
            "Message",
            (
                Example("tomato soup", happens="A message: the answer as text and data."),
                Example(
                    "Plan the shopping for tiramisu",
                    happens="A task: working, a streamed shopping list, completed.",
                ),
                Example(
                    "A table for two, please.",
                    happens="A task with input required: the time. Answer with its taskId.",
                ),
                Example("A table for 50 at 8 pm", happens="A task that is rejected."),
                Example(
                    "Plan the shopping for soup that fails",
                    happens="A task that fails after its first chunk.",
                ),
            ),
        ),
        (
            "Skills",
            "Skill",
            [Example(skill["id"], happens=skill["description"]) for skill in SKILLS],
        ),
    ),
)
GUIDES: Sequence[Guide] = (_MCP, _AGENT_API, _A2A)
