"""Preparation of a server's start: shipped fixtures, the demo's URLs and static files."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core import serializers
from django.core.management import call_command

from playground.collections import shipped
from playground.models import ActionServer, Agent

logger = logging.getLogger(__name__)

#: Paths of the demo's agents on the origin of this playground, by slug.
DEMOS = {"demo": "/demo", "demo-mcp": "/demo/mcp", "demo-agent-api": "/demo/agent-api"}
#: Slug of the MCP server that the demo's actions call.
_MCP_SERVER = "demo-mcp"


def load_samples(address: str) -> None:
    """Load the shipped fixtures; `address` is the origin of this playground.

    Missing agents of the demo are added and their URLs set to this origin; every other change
    that the owner made to them stays. The demo's MCP server becomes an action server.
    In local mode the collections of fixtures/ are added, except deleted ones, and updated from
    their files as long as nobody has changed them in the playground.
    """
    if settings.DEMO_ENABLED:
        _load_demo(address)
    if not settings.HOSTED:
        _load_collections()


def collect_static() -> bool:
    """Collect static files if they have changed; return whether they had."""
    stamp = Path(settings.STATIC_ROOT) / ".stamp"
    current = _static_files_digest()
    if stamp.exists() and stamp.read_text() == current:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(current)
    return True


def _load_demo(address: str) -> None:
    _add_missing_agents()
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


def _add_missing_agents() -> None:
    """Add the missing agents of the fixture; `loaddata` would reset the others."""
    known = set(Agent.objects.filter(owner=None).values_list("slug", flat=True))
    for path in shipped.fixtures("agents.json"):
        text = path.read_text(encoding="utf-8")
        for loaded in serializers.deserialize("json", text):
            agent = loaded.object
            if isinstance(agent, Agent) and agent.slug not in known:
                loaded.save()


def _load_collections() -> None:
    """Load the collections; log the files that cannot be read, and start all the same."""
    for path, error in shipped.load():
        logger.warning("%s was not loaded. %s", path.name, error)


def _static_files_digest() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
