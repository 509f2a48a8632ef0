"""Ownership: the owner of the rows that a user creates, and the rows that a user may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self, TypeAlias

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

#: Owner of a row: a user, or None in local mode, where everything is shared.
Owner: TypeAlias = "User | None"


def owner_of(user: User | AnonymousUser | None) -> Owner:
    """Return the owner of the rows that `user` creates; None in local mode or if anonymous.

    The user is that of a request (`request.user`) or of a WebSocket (`scope["user"]`). In local
    mode everything is shared, also with a browser that sends the session of a user.
    """
    if not settings.HOSTED or user is None or not user.is_authenticated:
        return None
    return user


class OwnedQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Rows with an owner, which is None for all rows in local mode."""

    def owned_by(self, user: User | AnonymousUser) -> Self:
        """Return the rows that `user` may see: their own, or the unowned ones in local mode."""
        owner = owner_of(user)
        if settings.HOSTED and owner is None:
            return self.none()
        return self.filter(owner=owner)
