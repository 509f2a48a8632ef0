"""Preparation of a start: migrations, shipped fixtures, the demo's URLs and static files."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core import serializers
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from playground import __version__
from playground.base.installation import command_line
from playground.collections import files
from playground.models import ActionServer, Agent
from playground.models.agents import DEMOS

logger = logging.getLogger(__name__)

#: Slug of the MCP server that the demo's actions call.
_MCP_SERVER = "demo-mcp"
#: Advisory lock for the preparation of the database: "play" in ASCII.
_LOCK_ID = 0x706C6179
#: Exit code of a command that does not use the database of a newer version.
NEWER_DATABASE = 2
#: Exit code of a command that does not migrate a database that is shared.
NOT_MIGRATED = 3


def migrate_if_needed() -> None:
    """Migrate SQLite if migrations of the playground are missing.

    Raise `CommandError`, and write nothing, if a newer version of the playground has migrated the
    database, or if migrations are missing in PostgreSQL: other processes can be using it.
    """
    if not _missing_migrations():
        return
    if connection.vendor == "postgresql":
        raise CommandError(
            f"The database is not migrated. Run: {command_line('migrate')}",
            returncode=NOT_MIGRATED,
        )
    migrate()


def migrate() -> None:
    """Migrate the database, unless a newer version of the playground has; raise `CommandError`."""
    _missing_migrations()
    call_command("migrate", interactive=False, verbosity=0)


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


def _missing_migrations() -> set[tuple[str, str]]:
    """Return app and name of the playground's migrations that were not applied.

    Raise `CommandError` if there are migrations of a newer version, or some of those that one
    migration has replaced, which cannot be completed.
    """
    needed = _migrations()
    applied = set(MigrationRecorder(connection).applied_migrations())
    apps = {app for app, _ in needed}
    if any(app in apps for app, _ in applied.difference(needed, *needed.values())):
        raise CommandError(
            "The database was migrated by a newer version of the playground, and this one"
            f" ({__version__}) cannot use it. Install the newer version, or set"
            " PLAYGROUND_DATA_DIR to another folder.",
            returncode=NEWER_DATABASE,
        )
    for (_, name), replaced in needed.items():
        if applied & replaced and not replaced <= applied:
            raise CommandError(
                f"The database has a part of the migrations that {name} replaces: it is from a"
                " development version. Migrate it with a version that has them all, or set"
                " PLAYGROUND_DATA_DIR to another folder.",
                returncode=NOT_MIGRATED,
            )
    return needed.keys() - applied


@cache
def _migrations() -> dict[tuple[str, str], set[tuple[str, str]]]:
    """Return app and name of the playground's migrations, each with those that it replaces."""
    return {
        key: set(migration.replaces)
        for key, migration in MigrationLoader(None).disk_migrations.items()
        # Procrastinate has its tables where there are workers.
        if migration.__module__.startswith(("playground.", "procrastinate."))
    }


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
