"""Preparation of a start: a lock, shipped fixtures, the demo's URLs and static files."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import logging
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core import serializers
from django.core.management import call_command
from django.db import connection

from playground.collections import files
from playground.models import ActionServer, Agent
from playground.models.agents import DEMOS

logger = logging.getLogger(__name__)

#: Slug of the MCP server that the demo's actions call.
_MCP_SERVER = "demo-mcp"
#: Advisory lock for the preparation of the database: "play" in ASCII.
_LOCK_ID = 0x706C6179


@contextlib.contextmanager
def preparation_lock() -> Iterator[None]:
    """Serialise the preparation of one PostgreSQL database by several processes.

    Two that create the same table fail. SQLite is for one process.
    """
    if connection.vendor != "postgresql":
        yield
        return
    # A separate connection holds the lock: loading fixtures closes Django's.
    with contextlib.closing(connection.copy()) as holder:
        holder.cursor().execute("SET statement_timeout = 0")  # Others may migrate for long.
        holder.cursor().execute("SELECT pg_advisory_lock(%s)", [_LOCK_ID])
        yield


def load_samples(address: str) -> str:
    """Load the shipped fixtures; `address` is the origin of this playground.

    Return the other origin that the demo's agents had before, "" for none.

    Missing agents of the demo are added and their URLs set to this origin; every other change
    that the owner made to them stays. The demo's MCP server becomes an action server.
    In local mode the collections of fixtures/ are added, except deleted ones, and updated from
    their files as long as nobody has changed them in the playground.
    """
    before = _load_demo(address) if settings.DEMO_ENABLED else ""
    if not settings.HOSTED:
        _load_collections()
    return before


def tune_garbage_collection() -> None:
    """Let Python look for cycles of references less often.

    By default it does so after every 700 new objects, and now and then among all older ones again.
    An import or a page of a long history creates hundreds of thousands of objects, none of them in
    a cycle: a third of the time was spent on the search.
    """
    gc.set_threshold(10_000)


def collect_static() -> bool:
    """Collect static files if they have changed; return whether they had."""
    stamp = Path(settings.STATIC_ROOT) / ".stamp"
    current = _static_files_digest()
    if stamp.exists() and stamp.read_text() == current:
        return False
    call_command("collectstatic", interactive=False, clear=True, verbosity=0)
    stamp.write_text(current)
    return True


def _load_demo(address: str) -> str:
    """Load the agents and the corpus; return the other origin that the agents had before."""
    origin = address.rstrip("/")
    shared = Agent.objects.filter(owner=None)
    saved = shared.filter(slug="demo").values_list("url", flat=True).first() or ""
    before = saved.removesuffix(DEMOS["demo"])
    _add_missing_agents()
    for slug, path in DEMOS.items():
        shared.filter(slug=slug).exclude(url=origin + path).update(url=origin + path)
    ActionServer.objects.update_or_create(
        owner=None,
        protocol=ActionServer.Protocol.MCP,
        identifier=_MCP_SERVER,
        defaults={"url": origin + DEMOS["demo-mcp"]},
    )
    call_command("loaddata", "demo_corpus", verbosity=0)
    return "" if before == origin else before


def _add_missing_agents() -> None:
    """Add the missing agents of the fixture; `loaddata` would reset the others."""
    known = set(Agent.objects.filter(owner=None).values_list("slug", flat=True))
    for path in files.fixtures("agents.json"):
        text = path.read_text(encoding="utf-8")
        for loaded in serializers.deserialize("json", text):
            agent = loaded.object
            if isinstance(agent, Agent) and agent.slug not in known:
                loaded.save()


def _load_collections() -> None:
    """Load the collections; log the files that cannot be read, and start all the same."""
    with contextlib.suppress(OSError):  # Saving a collection reports the reason.
        Path(settings.FIXTURE_DIRS[0]).mkdir(parents=True, exist_ok=True)
    for path, error in files.load_new_and_changed():
        logger.warning("%s was not loaded. %s", path.name, error)


def _static_files_digest() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            status = Path(storage.path(path)).stat()
            digest.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
