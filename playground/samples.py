"""The shipped fixtures, and the demo's addresses, which depend on where we serve."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.core import serializers
from django.core.management import call_command

from playground.models import ActionServer, Agent

#: The demo's agents, and where they are on the origin that we serve.
DEMOS = {"demo": "/demo", "demo-mcp": "/demo/mcp", "demo-agent-api": "/demo/agent-api"}
#: What actions of the demo call its MCP server.
_MCP_SERVER = "demo-mcp"


def load_samples(address: str) -> None:
    """Load the shipped fixtures; `address` is where this playground answers (an origin).

    The demo's agents are added where they are missing and follow the address; whatever else
    their owner changed about them stays. Its MCP server is known to actions from the start.
    """
    if not settings.DEMO_ENABLED:
        return
    _add_missing()
    origin = address.rstrip("/")
    shared = Agent.objects.filter(owner=None)
    for slug, path in DEMOS.items():
        shared.filter(slug=slug).exclude(url=origin + path).update(url=origin + path)
    ActionServer.objects.update_or_create(
        owner=None,
        protocol=ActionServer.Protocol.MCP,
        identifier=_MCP_SERVER,
        defaults={"url": origin + DEMOS["demo-mcp"]},
    )
    call_command("loaddata", "demo_corpus", verbosity=0)


def _add_missing() -> None:
    """Add the agents of the fixture that are not there; loading all of it would reset others."""
    known = set(Agent.objects.filter(owner=None).values_list("slug", flat=True))
    for folder in settings.FIXTURE_DIRS:
        text = (Path(folder) / "agents.json").read_text(encoding="utf-8")
        for loaded in serializers.deserialize("json", text):
            agent = loaded.object
            if isinstance(agent, Agent) and agent.slug not in known:
                loaded.save()
