"""The card: who the agent is, what it can do, and where it is reached in which version."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpRequest
from django.urls import reverse

from playground.demo.responses import Document

SKILLS: Sequence[Document] = (
    {
        "id": "ask",
        "name": "Ask",
        "description": "Answers a question about food with recipes, restaurants and more.",
        "tags": ["nlweb", "search"],
        "examples": ["tomato soup", "vegan curry in under 45 minutes"],
    },
    {
        "id": "plan_shopping",
        "name": "Plan the shopping",
        "description": "Writes a shopping list for dishes, one after the other.",
        "tags": ["recipes", "shopping"],
        "examples": ["Plan the shopping for tiramisu", "Plan the shopping for soup that fails"],
    },
    {
        "id": "reserve_table",
        "name": "Reserve a table",
        "description": "Reserves a table for up to 12; asks for the time where it is not said.",
        "tags": ["restaurants"],
        "examples": ["A table for two at the trattoria, please", "A table for 50 at 8 pm"],
    },
)
SKILL_IDS = frozenset(skill["id"] for skill in SKILLS)


def card(request: HttpRequest) -> Document:
    """The card on the origin that the request came to.

    It serves both versions: clients of 0.3 look for `url` and `preferredTransport`, those of
    1.0 for `supportedInterfaces`.
    """
    url = request.build_absolute_uri(reverse("demo-a2a"))
    interface = {"url": url, "protocolBinding": "JSONRPC"}
    return {
        "name": "NLWeb demo agent",
        "description": "Recipes, restaurants and a little more; ships with the playground.",
        "version": "1.0.0",
        "supportedInterfaces": [
            {**interface, "protocolVersion": "1.0"},
            {**interface, "protocolVersion": "0.3"},
        ],
        "url": url,
        "preferredTransport": "JSONRPC",
        "protocolVersion": "0.3.0",
        "capabilities": {"streaming": True, "pushNotifications": False},
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": list(SKILLS),
    }
