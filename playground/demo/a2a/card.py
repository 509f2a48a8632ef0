"""Agent card: name, skills, and the URL of each version."""

from __future__ import annotations

from django.http import HttpRequest
from django.urls import reverse

from playground.demo.a2a.skills import SKILLS
from playground.demo.responses import Document


def card(request: HttpRequest) -> Document:
    """Return the card with URLs on the origin of the request.

    The card serves both versions: clients of 0.3 read `url` and `preferredTransport`, those of 1.0
    `supportedInterfaces`.
    """
    url = request.build_absolute_uri(reverse("demo-a2a"))
    interface = {"url": url, "protocolBinding": "JSONRPC"}
    return {
        "name": "NLWeb demo agent",
        "description": "Recipes, restaurants and more. Ships with the playground.",
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
