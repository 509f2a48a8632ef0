"""Ownership: which rows a user may see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser


class OwnedQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Rows that belong to someone; in local mode they all belong to nobody in particular."""

    def owned_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """The rows that `user` may see: their own, or the unowned ones of local mode."""
        if settings.HOSTED:
            return self.filter(owner=user.pk) if user.is_authenticated else self.none()
        return self.filter(owner=None)
