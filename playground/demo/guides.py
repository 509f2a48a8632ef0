"""Examples and guides on the demo page, from `examples.json` and `guides.json`.

A test sends every example.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.urls import reverse

from playground.demo.a2a.skills import SKILLS
from playground.demo.agent_api.handlers import ROWS
from playground.demo.agent_api.malformed import BROKEN
from playground.demo.chat_completions import ROWS as CHAT_ROWS
from playground.demo.mcp.tools import TOOLS


@dataclass(frozen=True, slots=True)
class Example:
    """A request to copy, and its response."""

    title: str
    #: Empty if the workbench cannot send it.
    request: Mapping[str, Any] = field(default_factory=dict)
    #: The expected response type of NLWeb.
    answer: str = "answer"
    #: What the response is like.
    happens: str = ""

    @property
    def text(self) -> str:
        """Return the request as JSON, with a line for each of its sections."""
        sections = (
            f"  {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
            for name, value in self.request.items()
        )
        return "{\n" + ",\n".join(sections) + "\n}"

    @property
    def indented(self) -> str:
        """Return the request as JSON, with a line for each value."""
        return json.dumps(self.request, ensure_ascii=False, indent=2)


@dataclass(frozen=True, slots=True)
class Group:
    """Examples of one topic."""

    title: str
    lead: str
    examples: Sequence[Example]


GROUPS: Sequence[Group] = tuple(
    Group(row["title"], row["lead"], tuple(Example(**each) for each in row["examples"]))
    for row in json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))
)


@dataclass(frozen=True, slots=True)
class Guide:
    """The guide to one protocol."""

    slug: str
    title: str
    #: The text of the link to it.
    link: str
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
    about = (row["slug"], row["title"], row["link"], row["lead"], row["addresses"])
    return Guide(*about, (("", row["column"], examples), *tables), row["agent"])


GUIDES: Sequence[Guide] = tuple(
    map(_guide, json.loads(Path(__file__).with_name("guides.json").read_text("utf-8")))
)
