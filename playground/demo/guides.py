"""Guides to MCP, the Agent API and A2A on the demo page, from `guides.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.urls import reverse

from playground.demo.a2a.skills import SKILLS
from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from playground.demo.chat_completions import ROWS as CHAT_ROWS
from playground.demo.examples import Example
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


def _message(text: str, happens: str) -> Example:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "type": "message", "content": content}
    return Example(text, {"input": [message], "stream": True}, happens=happens)


def _chat(text: str, happens: str) -> Example:
    messages = [{"role": "user", "content": text}]
    request = {"model": "demo", "messages": messages, "stream": True}
    return Example(text, request, happens=happens)


#: By guide: examples after those in the file, and further tables.
_MORE: Mapping[str, tuple[Sequence[Example], *tuple[tuple[str, str, Sequence[Example]], ...]]] = {
    "mcp": (
        (),
        ("Tools", "Tool", [Example(tool["name"], happens=tool["description"]) for tool in TOOLS]),
    ),
    "agent-api": (
        [_message(row.text, row.happens) for row in ROWS],
        (
            "Malformed responses",
            "Message",
            [_message(f"broken: {name}", broken.happens) for name, broken in BROKEN.items()],
        ),
    ),
    "chat-completions": ([_chat(*row) for row in CHAT_ROWS],),
    "a2a": (
        (),
        ("Skills", "Skill", [Example(each["id"], happens=each["description"]) for each in SKILLS]),
    ),
}


def _guide(row: Mapping[str, Any]) -> Guide:
    examples, *tables = _MORE[row["slug"]]
    examples = (*(Example(**each) for each in row["examples"]), *examples)
    about = (row["slug"], row["title"], row["lead"], row["addresses"])
    return Guide(*about, (("", row["column"], examples), *tables), row["agent"])


GUIDES: Sequence[Guide] = tuple(
    map(_guide, json.loads(Path(__file__).with_suffix(".json").read_text("utf-8")))
)
