"""Runs and agents by their URL: whose they are, and what is no key."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from playground.models import Agent
from playground.models.driving import HEARTBEAT_TIMEOUT
from playground.ui.helpers import make_download
from tests.support.stored_runs import Recording


@pytest.mark.parametrize(
    ("hosted", "owner", "user", "is_found"),
    [
        (False, None, None, True),
        (False, None, "ann", True),
        (False, "ann", None, False),
        (False, "ann", "ann", False),
        (True, None, "ann", False),
        (True, "ann", "bob", False),
        (True, "ann", "ann", True),
    ],
)
def test_runs_and_agents_are_their_owners(
    client: Client, settings: Any, hosted: bool, owner: str | None, user: str | None, is_found: bool
) -> None:
    settings.HOSTED = hosted
    users = {name: User.objects.create(username=name) for name in ("ann", "bob")}
    run = Recording(owner=users.get(owner or ""), state="completed").run
    Agent.objects.create(name="Hers", url="http://a.example", owner=users.get(owner or ""))
    if user:
        client.force_login(users[user])
    status = 200 if is_found else 404
    for path in (f"/runs/{run.pk}/", f"/runs/{run.pk}/wire/", "/agents/hers/"):
        assert client.get(path).status_code == status, path
    assert client.get("/agents/gone/").status_code == 404


@pytest.mark.parametrize("key", ["x", "1", "0" * 32, str(UUID(int=1)), "é" * 36, "{}", "9" * 200])
def test_what_is_no_key_of_a_run_is_not_found(client: Client, key: str) -> None:
    Recording()
    assert client.get(f"/runs/{key}/").status_code == 404
    assert client.get(f"/compare/?left={key}").status_code == 404
    assert client.get("/saved-requests/", {"run": key}).status_code == 200


@pytest.mark.usefixtures("heartbeats_count")
@pytest.mark.parametrize(("state", "after"), [("streaming", "interrupted"), ("completed",) * 2])
def test_a_run_that_nobody_drives_is_interrupted(client: Client, state: str, after: str) -> None:
    gone = timezone.now() - 2 * HEARTBEAT_TIMEOUT
    run = Recording(state=state, driver="elsewhere:1:1", heartbeat_at=gone).run
    for path, found in (("wire/", state), ("", after)):
        assert client.get(f"/runs/{run.pk}/{path}").status_code == 200
        run.refresh_from_db()
        assert run.state == found


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("eggs.json", 'attachment; filename="eggs.json"'),
        ("two words.json", 'attachment; filename="two words.json"'),
        ('a"b\\c.json', 'attachment; filename="a\\"b\\\\c.json"'),
        ("é.json", "attachment; filename*=utf-8''%C3%A9.json"),
    ],
)
def test_a_download_has_a_name(name: str, header: str) -> None:
    response = make_download(HttpResponse("{}", content_type="application/json"), name)
    assert response["Content-Disposition"] == header
