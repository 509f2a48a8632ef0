"""Which environment is active: one at a time, remembered with the user's session."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

from playground.models import Environment

#: Name of the session's entry.
ACTIVE = "environment"


def active_environment(request: HttpRequest) -> Environment | None:
    """The environment that the user chose last, None for none or one that is gone."""
    slug = request.session.get(ACTIVE)
    if not isinstance(slug, str) or not slug:
        return None
    return Environment.objects.owned_by(request.user).filter(slug=slug).first()


def activate(request: HttpRequest, slug: str) -> None:
    """Make an environment of the user the active one; "" for none."""
    request.session[ACTIVE] = slug


def choice_context(request: HttpRequest, slug: str | None = None) -> dict[str, Any]:
    """The context of `environments/select.html`: the environments, and the slug of the active one.

    `slug` stands in for the active one, where there is an environment of that name.
    """
    found = list(Environment.objects.owned_by(request.user))
    wanted = slug if slug is not None else request.session.get(ACTIVE)
    known = {each.slug for each in found}
    return {"environments": found, "environment": wanted if wanted in known else ""}
