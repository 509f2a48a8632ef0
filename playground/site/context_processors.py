"""Context processors: the site, its assets and the sidebar, for every template."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from playground import __version__
from playground.lessons.pane import LessonPane
from playground.models import LessonProgress
from playground.models.rows import owner_of
from playground.site.sidebar import Sidebar


def assets_built() -> bool:
    """Return whether the front end was built: scripts and style sheets as few small files."""
    return _is_built(settings.BASE_DIR / "static")


@cache
def _is_built(directory: Path) -> bool:
    return (directory / "build" / "site" / "app.js").exists()


def site(_: HttpRequest) -> dict[str, Any]:
    """Return `site` (mode, version, demo) and whether the front end was built."""
    return {
        "site": {
            "mode": settings.PLAYGROUND_MODE,
            "version": __version__,
            "demo": settings.DEMO_ENABLED,
        },
        "assets_built": assets_built(),
    }


def sidebar(request: HttpRequest) -> dict[str, Any]:
    """Return `sidebar` and `lesson_pane`, which read nothing before a template shows them."""
    return {
        "sidebar": Sidebar.of(request),
        "lesson_pane": SimpleLazyObject(lambda: _lesson_pane(request)),
    }


def _lesson_pane(request: HttpRequest) -> LessonPane | None:
    found = LessonProgress.opened_by(owner_of(request.user))
    return LessonPane(found, request.user) if found else None
