"""Django system checks of settings that do not fit together."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.checks import Warning as CheckWarning

from playground import generated
from playground.base import tracing
from playground.base.installation import install_command
from playground.base.private_files import database_file, is_private, private_files
from playground.transport import OutboundPolicy

#: All of them have it: commands run these checks, and not those that look at every page.
TAG = "playground"
#: A host name of one or more labels; the last one has a letter: 10.0.0.256 is not a name.
_HOST_NAME = re.compile(r"(?:[\w-]+\.)*[\w-]*[^\W\d][\w-]*\.?")


@register(TAG)
def several_processes(**_: Any) -> Iterator[CheckMessage]:
    """Check that several web processes share a channel layer and a database."""
    try:
        processes = int(os.environ.get("WEB_CONCURRENCY", "1"))
    except ValueError:
        yield Error("WEB_CONCURRENCY is not a number.", id="playground.E001")
        return
    if processes > 1 and "InMemory" in settings.CHANNEL_LAYERS["default"]["BACKEND"]:
        yield Error(
            "Several web processes would lose notifications with the in-memory channel layer.",
            hint="Set REDIS_URL, or WEB_CONCURRENCY=1.",
            id="playground.E002",
        )
    if processes > 1 and "sqlite" in settings.DATABASES["default"]["ENGINE"]:
        yield CheckWarning(
            "Several web processes share one SQLite file and block each other when writing.",
            hint="Set DATABASE_URL to a PostgreSQL database.",
            id="playground.W001",
        )


@register(TAG, deploy=True)
def hosted_mode(**_: Any) -> Iterator[CheckMessage]:
    """Check that a hosted playground has host names."""
    if settings.HOSTED and settings.ALLOWED_HOSTS == ["127.0.0.1", "localhost", "[::1]"]:
        yield Error(
            "ALLOWED_HOSTS has only local names in hosted mode.",
            hint="Set ALLOWED_HOSTS to the host names of the site, separated by commas.",
            id="playground.E003",
        )


@register(TAG, deploy=True)
def keys_of_workers(**_: Any) -> Iterator[CheckMessage]:
    """Check that web processes and workers can have the same keys."""
    missing = [name for name in ("SECRET_KEY", "PLAYGROUND_KEY") if not os.environ.get(name)]
    if settings.WORKERS and missing:
        yield CheckWarning(
            f"{' and '.join(missing)} not set: processes with other data folders have other keys.",
            hint="Set the same keys for all web processes and workers.",
            id="playground.W006",
        )


@register(TAG)
def outbound_allow_list(**_: Any) -> Iterator[CheckMessage]:
    """Check that every entry of PLAYGROUND_OUTBOUND_ALLOW is valid."""
    for entry in settings.OUTBOUND_ALLOW:
        try:
            hosts = OutboundPolicy.from_settings(True, [entry]).hosts
        except ValueError:
            hosts = frozenset({""})
        if not all(map(_HOST_NAME.fullmatch, hosts)):
            yield Error(
                f"PLAYGROUND_OUTBOUND_ALLOW contains {entry!r}, which is neither a host name "
                "nor a network.",
                hint="List host names such as agent.internal, IP addresses, and networks such as "
                "10.0.0.0/8, separated by commas, without scheme, port, path or wildcard.",
                id="playground.E004",
            )


@register(TAG)
def quota_and_limits(**_: Any) -> Iterator[CheckMessage]:
    """Check that the quota has room for one response."""
    limit = settings.RUN_LIMITS.max_bytes
    if 0 < settings.QUOTA < limit:
        yield CheckWarning(
            f"PLAYGROUND_QUOTA ({settings.QUOTA}) is smaller than PLAYGROUND_MAX_BYTES ({limit}):"
            " a single response can exceed it.",
            hint="Raise PLAYGROUND_QUOTA, set it to 0 for no quota, or lower PLAYGROUND_MAX_BYTES.",
            id="playground.W003",
        )


@register(TAG)
def private_file_permissions(**_: Any) -> Iterator[CheckMessage]:
    """Check that no other user can read the database and the keys.

    Their modes are corrected at the start, except for files of another user.
    """
    database = database_file(settings.DATABASES["default"])
    for file in private_files(settings.DATA_DIR, database):
        if not is_private(file):
            yield CheckWarning(
                f"{file.name} is accessible to other users of this machine.",
                hint=f"chmod 600 {file}",
                id="playground.W002",
            )


@register(TAG)
def generated_files(**_: Any) -> Iterator[CheckMessage]:
    """Check that a checkout has the files that Git ignores; a package always has them."""
    if missing := generated.missing():
        yield CheckWarning(
            f"Pages of rules and of the reference lack examples: {', '.join(missing)} not found.",
            hint="Run `make examples`, and restart.",
            id="playground.W007",
        )


@register(TAG)
def export_of_traces(**_: Any) -> Iterator[CheckMessage]:
    """Check that traces can be exported over OTLP/HTTP, if that is configured."""
    if not tracing.is_configured(os.environ):
        return
    protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "")
    if find_spec("opentelemetry.sdk") is None:
        yield CheckWarning(
            "Traces are not exported: the OpenTelemetry packages are not installed.",
            hint=f"Install them with: {install_command('otel')}",
            id="playground.W004",
        )
    elif protocol not in {"", "http/protobuf"}:
        yield CheckWarning(
            f"Traces are exported over HTTP, and not by the protocol {protocol!r}.",
            hint="Set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf, and the endpoint to that for"
            " HTTP, usually port 4318.",
            id="playground.W005",
        )
