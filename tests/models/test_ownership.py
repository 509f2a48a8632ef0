"""Owners of rows, and who may see them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User

from playground.models import Agent
from playground.models.rows import owner_of

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("hosted", "user", "owner"),
    [
        (False, None, None),
        (False, "anonymous", None),
        (False, "ann", None),
        (True, None, None),
        (True, "anonymous", None),
        (True, "ann", "ann"),
    ],
)
def test_the_owner_of_what_a_user_makes(
    settings: Any, hosted: bool, user: str | None, owner: str | None
) -> None:
    settings.HOSTED = hosted
    ann = User.objects.create(username="ann")
    users = {None: None, "anonymous": AnonymousUser(), "ann": ann}
    assert owner_of(users[user]) == users[owner]


@pytest.mark.parametrize(
    ("hosted", "user", "visible"),
    [
        (False, "anonymous", "shared"),
        (False, "ann", "shared"),
        (True, "ann", "hers"),
        (True, "bob", ""),
        (True, "anonymous", ""),
    ],
)
def test_the_rows_that_a_user_sees(settings: Any, hosted: bool, user: str, visible: str) -> None:
    settings.HOSTED = hosted
    ann, bob = (User.objects.create(username=name) for name in ("ann", "bob"))
    for name, owner in (("shared", None), ("hers", ann)):
        Agent.objects.create(name=name, url="http://agent.example", owner=owner)
    users = {"anonymous": AnonymousUser(), "ann": ann, "bob": bob}
    found = Agent.objects.owned_by(users[user])
    assert " ".join(found.values_list("name", flat=True)) == visible
