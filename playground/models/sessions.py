"""Sessions of users who are logged in to a hosted playground."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.utils import timezone
from django.utils.crypto import constant_time_compare


def valid_sessions(keys: Collection[str]) -> set[str]:
    """Return the keys of those sessions that are logged in, by two queries for all of them.

    A session ends with a log-out, when its user is deactivated or deleted, and when the password is
    changed.
    """
    rows = Session.objects.filter(session_key__in=keys, expire_date__gt=timezone.now())
    data = {row.session_key: row.get_decoded() for row in rows}
    ids = {each[SESSION_KEY] for each in data.values() if SESSION_KEY in each}
    users = get_user_model().objects.filter(pk__in=ids, is_active=True)
    hashes = {str(user.pk): user.get_session_auth_hash() for user in users}
    return {
        key
        for key, each in data.items()
        if (known := hashes.get(each.get(SESSION_KEY, "")))
        and constant_time_compare(each.get(HASH_SESSION_KEY, ""), known)
    }
