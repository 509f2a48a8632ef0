"""Helpers of views: a run for a view."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from playground.models import Agent, Run
from playground.views import helpers
from playground.views.helpers import find_run, get_agent, get_current_run, get_run, make_download

pytestmark = pytest.mark.django_db


def asked(user: Any = None) -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = user or AnonymousUser()
    return request


@pytest.mark.parametrize(
    ("hosted", "owner", "user", "is_found"),
    [
        (False, None, None, True),
        (False, None, "ann", True),
        (False, "ann", None, False),
        (False, "ann", "ann", False),
        (True, None, None, False),
        (True, None, "ann", False),
        (True, "ann", None, False),
        (True, "ann", "bob", False),
        (True, "ann", "ann", True),
    ],
)
def test_a_run_is_its_owners(
    settings: Any, hosted: bool, owner: str | None, user: str | None, is_found: bool
) -> None:
    settings.HOSTED = hosted
    users = {name: User.objects.create(username=name) for name in ("ann", "bob")}
    run = Run.objects.create(owner=users.get(owner or ""), state="completed")
    request = asked(users.get(user or ""))
    for key in (run.pk, str(run.pk), run.pk.hex):
        assert find_run(request, key) == (run if is_found else None)
        for get in (get_run, get_current_run):
            if is_found:
                assert get(request, key) == run
            else:
                with pytest.raises(Http404):
                    get(request, key)


@pytest.mark.parametrize(
    "key", ["", "x", "1", "0" * 32, str(UUID(int=1)), "é" * 36, "\0", "{}", "9" * 200, None]
)
def test_what_is_no_key_of_a_run_is_not_found(key: Any) -> None:
    Run.objects.create()
    assert find_run(asked(), key) is None
    with pytest.raises(Http404):
        get_run(asked(), key)


def test_relations_are_read_with_it(run: Run) -> None:
    agent = Agent.objects.create(name="a", url="http://agent.example")
    Run.objects.update(agent=agent)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = get_run(asked(), run.pk, "agent", "parent")
        assert found.agent == agent
    assert len(queries) == 1


@pytest.mark.parametrize(
    ("state", "after"), [("streaming", "interrupted"), ("completed", "completed")]
)
def test_a_run_that_nobody_drives_is_interrupted(
    monkeypatch: pytest.MonkeyPatch, state: str, after: str
) -> None:
    run = Run.objects.create(state=state)
    interrupted = Run.objects.filter(state="streaming")
    monkeypatch.setattr(
        helpers, "mark_interrupted", lambda: interrupted.update(state="interrupted")
    )
    assert get_run(asked(), run.pk).state == state
    assert get_current_run(asked(), run.pk).state == after


@pytest.mark.parametrize(
    ("hosted", "owner", "user", "is_found"),
    [
        (False, None, "ann", True),
        (False, "ann", "ann", False),
        (True, "ann", "ann", True),
        (True, "ann", "bob", False),
        (True, None, "ann", False),
    ],
)
def test_an_agent_is_its_owners(
    settings: Any, hosted: bool, owner: str | None, user: str, is_found: bool
) -> None:
    settings.HOSTED = hosted
    users = {name: User.objects.create(username=name) for name in ("ann", "bob")}
    agent = Agent.objects.create(name="Hers", url="http://a.example", owner=users.get(owner or ""))
    request = asked(users[user])
    if is_found:
        assert get_agent(request, "hers") == agent
    else:
        with pytest.raises(Http404):
            get_agent(request, "hers")
    with pytest.raises(Http404):
        get_agent(request, "gone")


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
    response = HttpResponse("{}", content_type="application/json")
    assert make_download(response, name) is response
    assert response["Content-Disposition"] == header
