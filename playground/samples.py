"""The fixtures that a start loads, and the demo's addresses, which depend on where we serve."""

from __future__ import annotations

import logging

from django.conf import settings
from django.core import serializers
from django.core.management import call_command

from playground.library import shipped
from playground.models import ActionServer, Agent

logger = logging.getLogger(__name__)

#: The demo's agents, and where they are on the origin that we serve.
DEMOS = {"demo": "/demo", "demo-mcp": "/demo/mcp", "demo-agent-api": "/demo/agent-api"}
#: What actions of the demo call its MCP server.
_MCP_SERVER = "demo-mcp"


def load_samples(address: str) -> None:
    """Load the shipped fixtures; `address` is where this playground answers (an origin).

    The demo's agents are added where they are missing and follow the address; whatever else
    their owner changed about them stays. Its MCP server is known to actions from the start.
    In local mode the collections in fixtures/ are added, but for those that somebody has deleted,
    and follow their files for as long as nobody changes them here.
    """
    if settings.DEMO_ENABLED:
        _load_demo(address)
    if not settings.HOSTED:
        _load_collections()


def _load_demo(address: str) -> None:
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
    for path in shipped.fixtures("agents.json"):
        text = path.read_text(encoding="utf-8")
        for loaded in serializers.deserialize("json", text):
            agent = loaded.object
            if isinstance(agent, Agent) and agent.slug not in known:
                loaded.save()


def _load_collections() -> None:
    """Load the collections; one whose file cannot be read is no reason not to start."""
    for path, error in shipped.load():
        logger.warning("%s was not loaded. %s", path.name, error)
