"""Replies that conform, after the examples of the specifications; every break starts from one.

Their bodies are in `responses/`, as an agent sends them.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JSON = dict[str, Any]

_RESPONSES = Path(__file__).parent / "responses"
_EVENT = re.compile(r"event: (.*)\ndata: (.*)\n\n")


@dataclass(frozen=True)
class Reply:
    """An NLWeb reply: its document, what was asked, and the HTTP status it is sent with."""

    name: str
    document: JSON
    request: JSON
    operation: str = "ask"
    status: int = 200


def asked(version: str, text: str = "healthy breakfast recipes with eggs", **more: Any) -> JSON:
    return {"query": {"text": text}, **more, "meta": {"version": version}}


def polled(version: str, action: str = "checkin") -> JSON:
    return {
        "promise_token": "promise_mealplan_xyz789",
        "action": action,
        "meta": {"version": version},
    }


def head(kind: str, version: str, **more: Any) -> JSON:
    return {"_meta": {"response_type": kind, "version": version, **more}}


def _text(name: str) -> str:
    return (_RESPONSES / name).read_text("utf-8")


def _document(version: str, name: str) -> JSON:
    return json.loads(_text(f"nlweb-{version}/{name}.json"))


_VAGUE = "I need something for dinner"
_PLAN = "create a personalized weekly meal plan with shopping list"


def newer() -> list[Reply]:
    """Return replies of NLWeb 0.55."""
    version = "0.55"
    app = asked(version, prefer={"response_format": "chatgpt_app"})
    asking: list[tuple[str, JSON, int]] = [
        ("answer", asked(version), 200),
        ("summary", asked(version, prefer={"mode": "list, summarize"}), 200),
        ("actions", asked(version), 200),
        ("widget", app, 200),
        ("promise", asked(version, _PLAN), 202),
        ("elicitation", asked(version, _VAGUE), 200),
        ("failure", asked(version, "recipes from planet Mars"), 200),
    ]
    cancelled = _document(version, "cancelled")
    return [
        *_replies(version, asking),
        Reply("cancelled", cancelled, polled(version, "cancel"), "await"),
    ]


def older() -> list[Reply]:
    """Return replies of NLWeb 0.54."""
    version = "0.54"
    asking = [
        ("answer", asked(version), 200),
        ("widget", asked(version, prefer={"response_format": "chatgpt_app"}), 200),
        ("promise", asked(version, _PLAN), 202),
        ("elicitation", asked(version, _VAGUE), 200),
        ("failure", asked(version, "recipes with"), 400),
    ]
    return _replies(version, asking)


def _replies(version: str, asking: list[tuple[str, JSON, int]]) -> list[Reply]:
    """Return replies to requests, and those to two polls."""
    return [
        *(Reply(name, _document(version, name), request, status=status)
          for name, request, status in asking),
        Reply("still", _document(version, "still"), polled(version), "await", 202),
        Reply("kept", _document(version, "answer"), polled(version), "await"),
    ]  # fmt: skip


HTTP_ACTION, MCP_ACTION, A2A_ACTION = _document("0.55", "actions")["results"][0]["actions"]
OLD_ACTION = _document("0.54", "answer")["results"][0]["actions"][0]


def streamed(version: str, name: str = "stream") -> list[tuple[str, JSON]]:
    """Return the events of the streaming example, after its section or example 5."""
    found = _EVENT.findall(_text(f"nlweb-{version}/{name}.sse"))
    return [(event, json.loads(data)) for event, data in found]


def broken_off() -> list[tuple[str, JSON]]:
    """Return a stream of 0.55 that an error event ends; 0.54 has none."""
    return streamed("0.55", "stream-error")


def whole(name: str = "whole") -> JSON:
    """Return an Agent API response that is not streamed, with every attribute of the models."""
    return json.loads(_text(f"agent-api/{name}.json"))


def refused() -> JSON:
    """Return an Agent API response that failed."""
    return whole("failed")


CALL, OUTPUT, _ = whole()["output"]


def sequence(name: str = "sequence") -> list[JSON]:
    """Return the second example stream, with the types that the enumerations list.

    `first-example` is the example of “Content Streaming” as it stands, its contradictions included,
    `second-example` that of “Agent Response Stream”.
    """
    return [json.loads(line) for line in _text(f"agent-api/{name}.jsonl").splitlines()]
