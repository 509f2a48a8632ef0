"""The environment of processes that see nothing of the developer's settings; needs no pytest."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: The variables that `playground.settings`, `playground.checks` and `playground.base.tracing` read.
_SETTINGS = re.compile(
    "PLAYGROUND_.*|DATABASE_URL|REDIS_URL|DEBUG|SECRET_KEY|ALLOWED_HOSTS|CSRF_TRUSTED_ORIGINS|"
    "SECURE_SSL_REDIRECT|WEB_CONCURRENCY|TZ|OTEL_.*"
)


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which every setting has its default."""
    return {name: text for name, text in environment.items() if not _SETTINGS.fullmatch(name)}
