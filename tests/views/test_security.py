"""Who may see what: every route of a hosted playground, tried by everybody.

A process of its own, because routes and middleware are chosen when the settings are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from playground.models import Agent, Run
from tests.support.hosted import PASSWORD, Hosted, hosted_playground, log_in

#: What each route answers: (owner, stranger, anonymous) to GET. 302 is the way to the log-in.
GET: dict[str, tuple[int, int, int]] = {
    "readiness": (200, 200, 200),
    # Off in hosted mode.
    "metrics": (404, 404, 404),
    "workbench": (200, 200, 302),
    "compose-preview": (405, 405, 302),
    "compose-code": (405, 405, 302),
    "format-curl": (405, 405, 302),
    "format-har": (200, 200, 302),
    "schema": (200, 200, 302),
    "explanation": (200, 200, 200),
    "runs": (200, 200, 302),
    "run": (200, 404, 302),
    "run-response": (200, 404, 302),
    "run-cancellation": (405, 405, 302),
    "run-repeat": (405, 405, 302),
    "run-promise-polls": (405, 405, 302),
    "run-promise-cancellation": (405, 405, 302),
    "run-promise-polling": (405, 405, 302),
    "run-action": (200, 404, 302),
    "run-action-preview": (405, 405, 302),
    "run-action-server": (405, 405, 302),
    "run-follow-up": (200, 404, 302),
    "run-turns": (200, 404, 302),
    "run-request": (200, 404, 302),
    "run-first-failure": (200, 404, 302),
    "run-turn": (200, 404, 302),
    "run-session": (200, 404, 302),
    "run-answers": (405, 405, 302),
    "run-answers-preview": (405, 405, 302),
    "run-answers-declined": (405, 405, 302),
    "run-tool-outputs": (405, 405, 302),
    "run-tool-outputs-preview": (405, 405, 302),
    # The owner's run has no messages; the tests of calls fetch those that there are.
    "run-message": (404, 404, 302),
    "run-message-text": (404, 404, 302),
    # None without a signed URL.
    "run-picture": (404, 404, 302),
    # The owner's run has no media; the tests of media fetch those that there are.
    "run-content": (404, 404, 302),
    "run-message-content": (404, 404, 302),
    "run-results": (200, 404, 302),
    "run-events": (200, 404, 302),
    "run-event": (200, 404, 302),
    "run-item": (200, 404, 302),
    "run-timeline": (200, 404, 302),
    "run-sequence": (200, 404, 302),
    "run-sequence-svg": (200, 404, 302),
    "run-sequence-mermaid": (200, 404, 302),
    "run-wire": (200, 404, 302),
    "run-wire-text": (200, 404, 302),
    "run-annotations": (200, 404, 302),
    "run-code": (200, 404, 302),
    "run-har": (200, 404, 302),
    "run-sse-reference": (200, 404, 302),
    "run-conformance": (200, 404, 302),
    "run-conformance-count": (200, 404, 302),
    "run-conformance-json": (200, 404, 302),
    "run-checks": (200, 404, 302),
    "run-checks-count": (200, 404, 302),
    "run-document": (200, 404, 302),
    "expectations": (200, 200, 302),
    "expectations-try": (405, 405, 302),
    "run-frame": (200, 404, 302),
    "lessons": (200, 200, 302),
    "lesson-shipped": (405, 405, 302),
    "lesson": (200, 404, 302),
    "lesson-progress": (405, 405, 302),
    "lesson-edit": (200, 404, 302),
    "lesson-step-edit": (200, 404, 302),
    "lesson-step": (405, 405, 302),
    "lesson-check": (405, 405, 302),
    "lesson-hints": (405, 405, 302),
    "lesson-solution": (405, 405, 302),
    "collections": (200, 200, 302),
    "collection-new": (200, 200, 302),
    "collection-search": (200, 200, 302),
    "sidebar": (200, 200, 302),
    "sidebar-node": (200, 404, 302),
    "collection": (200, 404, 302),
    "collection-outline": (200, 404, 302),
    "collection-details": (200, 404, 302),
    "collection-position": (405, 405, 302),
    "collection-duplicate": (405, 405, 302),
    "collection-deletion": (405, 405, 302),
    "folders": (200, 404, 302),
    "folder-details": (200, 404, 302),
    "folder-move": (200, 404, 302),
    "folder-duplicate": (405, 405, 302),
    "folder-deletion": (405, 405, 302),
    "saved-request-details": (200, 404, 302),
    "saved-request-notes": (200, 404, 302),
    "saved-request-move": (200, 404, 302),
    "saved-request-duplicate": (405, 405, 302),
    "saved-request-deletion": (405, 405, 302),
    "trash-restore": (405, 405, 302),
    "collection-shipped": (405, 405, 302),
    "saved-requests": (200, 200, 302),
    "saved-request": (200, 404, 302),
    # No response is stored with the owner's, whose page says so.
    "saved-response": (302, 404, 302),
    "twins": (405, 405, 302),
    "twin-choices": (405, 405, 302),
    "twin": (200, 404, 302),
    "twin-difference": (200, 404, 302),
    "history": (200, 200, 302),
    "history-deletion": (404, 404, 302),
    "history-retention": (200, 200, 302),
    "history-retention-preview": (200, 200, 302),
    "compare": (200, 200, 302),
    "compare-choices": (404, 404, 302),
    "rules": (200, 200, 302),
    "rule": (200, 200, 302),
    "references": (200, 200, 302),
    "reference": (200, 200, 302),
    "reference-changes": (200, 200, 302),
    "collection-runs": (200, 200, 302),
    # Of no collection, which the address does not name.
    "collection-run-new": (404, 404, 302),
    "collection-run": (200, 404, 302),
    "collection-run-cancellation": (405, 405, 302),
    "collection-run-report": (200, 404, 302),
    "collection-import": (200, 200, 302),
    "collection-export": (200, 404, 302),
    "collection-postman": (200, 404, 302),
    "collection-disk": (200, 404, 302),
    "shares": (200, 200, 302),
    "share-new": (404, 404, 302),
    "share-created": (200, 404, 302),
    "share-revoke": (405, 405, 302),
    # Who has the link may look; of this one that is a run and no collection.
    "share": (200, 200, 200),
    "share-fixture": (404, 404, 404),
    "share-copy": (404, 404, 302),
    "environments": (200, 200, 302),
    "environment": (200, 404, 302),
    "environment-choice": (405, 405, 302),
    "environment-values": (200, 200, 302),
    "environment-variable": (200, 200, 302),
    "environment-rename": (405, 405, 302),
    "environment-duplicate": (405, 405, 302),
    "environment-deletion": (405, 405, 302),
    "environment-reveal": (405, 405, 302),
    "agents": (200, 200, 302),
    "agent-new": (200, 200, 302),
    "agent": (200, 404, 302),
    "agent-deletion": (405, 405, 302),
    "agent-doctor": (200, 404, 302),
    "agent-doctor-report": (200, 404, 302),
    # Of a run to an agent: that has the doctor.
    "run-doctor": (404, 404, 302),
    "run-doctor-report": (404, 404, 302),
    "detection": (405, 405, 302),
    "agent-doctor-apply": (405, 405, 302),
    "run-server-log": (200, 404, 302),
    "agent-tools": (405, 405, 302),
    "login": (200, 200, 200),
    "logout": (405, 405, 302),
}
#: The same for POST, without any field, for routes that have one.
POST: dict[str, tuple[int, int, int]] = {
    "compose-preview": (200, 200, 302),
    "compose-code": (200, 200, 302),
    "format-curl": (200, 200, 302),
    "format-har": (422, 422, 302),
    "expectations-try": (200, 200, 302),
    "runs": (422, 422, 302),
    "run-cancellation": (302, 404, 302),
    "run-promise-polls": (302, 404, 302),
    "run-promise-cancellation": (302, 404, 302),
    "run-promise-polling": (302, 404, 302),
    "run-action": (200, 404, 302),
    "run-action-preview": (200, 404, 302),
    # That of an action over HTTP, which names no server.
    "run-action-server": (404, 404, 302),
    "run-repeat": (302, 404, 302),
    "run-follow-up": (422, 404, 302),
    "run-session": (422, 404, 302),
    # Without the place of a question there is none; see the test of those who know it.
    "run-answers": (404, 404, 302),
    "run-answers-preview": (404, 404, 302),
    "run-answers-declined": (404, 404, 302),
    "run-tool-outputs": (404, 404, 302),
    "run-tool-outputs-preview": (404, 404, 302),
    "agent-doctor": (302, 404, 302),
    "run-doctor": (404, 404, 302),
    # Why nothing was sent is part of the response.
    "detection": (200, 200, 302),
    "agent-doctor-apply": (302, 404, 302),
    "saved-requests": (422, 422, 302),
    # Without a document there is nothing to be saved.
    "saved-request": (422, 404, 302),
    "saved-response": (302, 404, 302),
    "twins": (422, 422, 302),
    "twin-choices": (200, 200, 302),
    "history-deletion": (404, 404, 302),
    "history-retention": (302, 302, 302),
    "environments": (422, 422, 302),
    "environment": (422, 404, 302),
    "environment-choice": (204, 204, 302),
    "environment-variable": (422, 422, 302),
    "environment-rename": (422, 404, 302),
    "environment-duplicate": (302, 404, 302),
    # Nobody sees a secret again who is not the operator.
    "environment-reveal": (404, 404, 302),
    "lessons": (422, 422, 302),
    # "mine" is none of those that ship.
    "lesson-shipped": (404, 404, 302),
    "lesson-progress": (302, 404, 302),
    "lesson-edit": (302, 404, 302),
    # Without a title the step is not saved.
    "lesson-step-edit": (422, 404, 302),
    "lesson-step": (302, 404, 302),
    "lesson-check": (200, 404, 302),
    "lesson-hints": (302, 404, 302),
    "lesson-solution": (302, 404, 302),
    "collections": (422, 422, 302),
    "collection-details": (422, 404, 302),
    "collection-position": (302, 404, 302),
    "collection-duplicate": (302, 404, 302),
    "folders": (422, 404, 302),
    "folder-details": (422, 404, 302),
    "folder-move": (302, 404, 302),
    "folder-duplicate": (302, 404, 302),
    "saved-request-notes": (200, 404, 302),
    "saved-request-details": (422, 404, 302),
    "saved-request-move": (302, 404, 302),
    "saved-request-duplicate": (302, 404, 302),
    # What was deleted was no collection, so nothing comes back; the owner is told.
    "trash-restore": (302, 404, 302),
    "agents": (422, 422, 302),
    "collection-runs": (404, 404, 302),
    "collection-run-cancellation": (302, 404, 302),
    "collection-import": (422, 422, 302),
    # A hosted playground does not save collections to files.
    "collection-shipped": (404, 404, 302),
    "collection-disk": (403, 404, 302),
    "agent": (422, 404, 302),
    "agent-tools": (302, 404, 302),
    "shares": (404, 404, 302),
    "share-copy": (404, 404, 302),
    "login": (200, 200, 200),
}
#: Routes that change so much that their own tests try them.
DESTRUCTIVE = {
    "agent-deletion",
    "collection-deletion",
    "environment-deletion",
    "folder-deletion",
    "logout",
    "saved-request-deletion",
    "share-revoke",
}
#: Pages for everybody who has their address.
PUBLIC = {"share"}
#: Pages that browsers may keep: texts of the playground itself, the same for everybody.
CACHED = {"explanation": "private, max-age=3600"}


def routes(patterns: list[Any]) -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if "demo" not in str(pattern.pattern):  # A public agent; its tests are its own.
                yield from routes(pattern.url_patterns)
        elif isinstance(pattern, URLPattern) and not str(pattern.name).startswith("demo-"):
            yield str(pattern.name)


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    with hosted_playground(tmp_path_factory.mktemp("hosted")) as found:
        yield found


@dataclass
class Cast:
    owner: httpx.Client
    stranger: httpx.Client
    anonymous: httpx.Client
    #: Values for every address: those of the owner's run and agent.
    values: dict[str, str]
    patterns: dict[str, str]

    def url(self, name: str) -> str:
        path = self.patterns[name]
        return re.sub(r"<\w+:(\w+)>", lambda found: self.values[found[1]], path)

    def everybody(self) -> list[httpx.Client]:
        return [self.owner, self.stranger, self.anonymous]


@pytest.fixture(scope="module")
def cast(hosted: Hosted) -> Cast:
    run, *patterns = hosted.shell(
        "from django.contrib.auth.models import User\n"
        "from django.urls import get_resolver\n"
        "from playground.models import *\n"
        "from playground.protocols.frames import *\n"
        f"make = lambda name: User.objects.create_user(name, password={PASSWORD!r})\n"
        "u, _ = make('owner'), make('stranger')\n"
        "a = Agent.objects.create(owner=u, name='Mine', url='http://a.example')\n"
        "r = Run.objects.create(owner=u, agent=a, agent_name='Mine', url='http://a.example/ask',"
        " protocol='nlweb', binding='http', version='0.55', request={}, text='confidential',"
        " state='completed', frames=3)\n"
        "f = [Frame(1, 0, FrameKind.HEAD, b'HTTP/1.1 200 OK'),"
        ' Frame(2, 9, FrameKind.EVENT, b\'data: {"item": {"name": "confidential", "actions":'
        ' {"name": "confidential", "method": "POST", "endpoint": "http://a.example/x"}}}\\n\\n\'),'
        ' Frame(3, 9, FrameKind.EVENT, b\'event: elicitation\\ndata: {"text": "?"}\\n\\n\')]\n'
        "FrameBatch.objects.create(run=r, first=1, last=3, data=pack(f), entries=2)\n"
        "PolledPromise.objects.create(run=r, entry_seq=2, token='confidential', polling_seconds=60,"
        " status='fulfilled')\n"
        "Twin.objects.create(id=r.pk, owner=u, left=r, right=r)\n"
        "Environment.objects.create(owner=u, name='Mine', slug='mine')\n"
        "Share.objects.create(owner=u, token='unguessable', run=r)\n"
        "c = Collection.objects.create(owner=u, name='Mine', lesson={'version': 1, 'steps': ["
        "{'slug': 'first', 'title': 'confidential', 'text': ''}]})\n"
        "Collection.objects.create(owner=u, name='Plain')\n"
        "Folder.objects.create(collection=c, name='Mine', description='confidential')\n"
        "s = CollectionRun.objects.create(id=r.pk, owner=u, collection=c, name='confidential',"
        " state='completed')\n"
        "s.steps.create(number=1, name='confidential', run=r)\n"
        "TrashedItem.objects.create(pk=1, owner=u, label='confidential', fixture='')\n"
        "SavedRequest.objects.create(collection=c, name='Mine',"
        " document={'query': {'text': 'confidential'}})\n"
        "print(r.pk)\n"
        "for p in get_resolver().url_patterns: print(p.name, '/' + str(p.pattern), sep='\\t')"
    ).splitlines()
    owner, stranger = log_in(hosted, "owner"), log_in(hosted, "stranger")
    values = {
        "pk": run, "slug": "mine", "seq": "2", "part": "0", "number": "0", "protocol": "nlweb",
        "version": "0.55", "name": "ask-request", "schema": "ask-request",
        "saved": "mine", "token": "unguessable",
        "folder": "mine", "removal": "1", "kind": "html", "step": "first",
        "group": "nlweb", "rule_id": "item-type",
    }  # fmt: skip
    table = dict(line.split("\t") for line in patterns)
    return Cast(owner, stranger, hosted.client(), values, table)


def test_every_route_has_its_rule(cast: Cast) -> None:
    assert set(cast.patterns) == set(GET)
    here = set(routes(get_resolver().url_patterns))
    assert here <= set(GET)


@pytest.mark.parametrize("name", sorted(GET))
def test_who_may_look(cast: Cast, name: str) -> None:
    answers = [client.get(cast.url(name)) for client in cast.everybody()]
    assert tuple(a.status_code for a in answers) == GET[name]
    if name in CACHED:
        assert {a.headers["Cache-Control"] for a in answers} == {CACHED[name]}
        assert len({a.content for a in answers}) == 1
    else:
        assert all("no-store" in a.headers["Cache-Control"] for a in answers)
    for answer in answers[1:]:
        assert name in PUBLIC or "confidential" not in answer.text
        if answer.status_code == 302:
            assert answer.headers["Location"].startswith("/login/?next=")


@pytest.mark.parametrize("name", sorted(GET))
def test_who_may_act(cast: Cast, name: str) -> None:
    if name in DESTRUCTIVE:
        return
    if name not in POST:
        assert cast.owner.post(cast.url(name), headers=csrf(cast.owner)).status_code == 405
        return
    for client, status in zip(cast.everybody(), POST[name], strict=True):
        answer = client.post(cast.url(name), headers=csrf(client))
        assert answer.status_code == status, answer.text


@pytest.mark.parametrize("name", sorted({*POST, *DESTRUCTIVE}))
def test_a_post_without_the_token_is_refused(cast: Cast, name: str) -> None:
    assert cast.owner.post(cast.url(name)).status_code == 403
    forged = {**csrf(cast.owner), "Origin": "https://evil.example"}
    assert cast.owner.post(cast.url(name), headers=forged).status_code == 403


@pytest.mark.parametrize("name", sorted(DESTRUCTIVE - {"logout"}))
def test_a_stranger_can_delete_nothing(cast: Cast, name: str) -> None:
    url = cast.url(name)
    assert cast.stranger.post(url, headers=csrf(cast.stranger)).status_code == 404
    assert cast.anonymous.post(url, headers=csrf(cast.anonymous)).status_code == 302
    for kept in ("agent", "collection", "folder-details", "saved-request-details"):
        assert cast.owner.get(cast.url(kept)).status_code == 200


def test_collections_are_found_by_their_owner_only(cast: Cast) -> None:
    for path in ("/collections/search/?q=Plain", "/collections/", "/sidebar/"):
        assert "/collections/plain/" in cast.owner.get(path).text
        assert "/collections/plain/" not in cast.stranger.get(path).text


def test_lessons_are_found_by_their_owner_only(cast: Cast) -> None:
    assert "/lessons/mine/" in cast.owner.get("/lessons/").text
    assert "/lessons/mine/" not in cast.stranger.get("/lessons/").text


def test_a_lesson_that_ships_is_added_for_one_user(cast: Cast) -> None:
    slug = "lesson-01-the-first-question"
    answer = cast.stranger.post(f"/lessons/shipped/{slug}/", headers=csrf(cast.stranger))
    assert answer.headers["Location"] == f"/lessons/{slug}/"
    assert cast.owner.get(f"/lessons/{slug}/").status_code == 404
    fields = {"do": "start"}
    path = f"/lessons/{slug}/progress/"
    answer = cast.stranger.post(path, data=fields, headers=csrf(cast.stranger))
    # This playground has no demo agent, so that its request cannot be opened.
    assert answer.headers["Location"] == "/"
    assert "which you do not have" in cast.stranger.get("/").text
    assert slug not in cast.owner.get("/").text


def test_lists_show_only_what_is_ones_own(cast: Cast) -> None:
    assert "confidential" in cast.owner.get("/runs/").text
    assert "confidential" not in cast.stranger.get("/runs/?q=confidential").text.replace(
        "No runs match “confidential”", ""
    )
    assert "Mine" in cast.owner.get("/agents/").text
    assert "Mine" not in cast.stranger.get("/agents/").text
    assert "Mine" not in cast.stranger.get("/").text


def test_a_stranger_cannot_send_with_somebody_elses_agent(cast: Cast) -> None:
    fields = {"agent": "mine", "document": '{"query": {"text": "a"}}', "headers": "[]"}
    answer = cast.stranger.post("/runs/", data=fields, headers=csrf(cast.stranger))
    assert answer.status_code == 422
    assert "Enter a URL or choose an agent" in answer.text


def test_only_the_owner_may_answer(cast: Cast) -> None:
    fields = {"seq": "3", "part": "0", "q0": "me", "strategy": "filters"}
    # The owner's request has no query, so that there is nothing to send.
    done = {"run-answers-preview": 200, "run-answers-declined": 302, "run-answers": 422}
    for name, status in done.items():
        url = cast.url(name)
        answers = [
            client.post(url, data=fields, headers=csrf(client)) for client in cast.everybody()
        ]
        assert [answer.status_code for answer in answers] == [status, 404, 302], name
        assert answers[2].headers["Location"].startswith("/login/")


def test_a_stranger_cannot_continue_somebody_elses_turn(cast: Cast) -> None:
    agent = {"name": "Own", "url": "http://c.example", "version": "0.55", "auth": "none"}
    cast.stranger.post("/agents/", data=agent, headers=csrf(cast.stranger))
    fields = {
        "agent": "own", "document": '{"query": {"text": "a"}}', "headers": "[]",
        "parent": cast.values["pk"],
    }  # fmt: skip
    answer = cast.stranger.post("/runs/", data=fields, headers=csrf(cast.stranger))
    assert answer.status_code == 422
    assert "The turn that this request continues was deleted" in answer.text


def test_the_same_name_may_belong_to_two(cast: Cast) -> None:
    fields = {"name": "Mine", "url": "http://b.example", "version": "0.55", "auth": "none"}
    answer = cast.stranger.post("/agents/", data=fields, headers=csrf(cast.stranger))
    assert answer.headers["Location"] == "/?agent=mine"
    assert "http://b.example" not in cast.owner.get("/agents/mine/").text


def test_cookies_and_transport_are_secure(cast: Cast, hosted: Hosted) -> None:
    answer = hosted.client().get("/login/")
    cookie = answer.headers["Set-Cookie"].lower()
    assert "secure" in cookie
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]
    session = cast.owner.cookies.jar
    assert all(c.secure for c in session)
    assert any(
        c.name == settings.SESSION_COOKIE_NAME and c.has_nonstandard_attr("HttpOnly")
        for c in session
    )


def test_an_unknown_host_is_refused(hosted: Hosted) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", ""):
        assert hosted.client().get("/login/", headers={"Host": host}).status_code == 400


def csrf(client: httpx.Client) -> dict[str, str]:
    """What a page of the site sends along."""
    if not client.cookies.get(settings.CSRF_COOKIE_NAME):
        client.get("/login/")
    return {"X-CSRFToken": client.cookies[settings.CSRF_COOKIE_NAME]}


@pytest.mark.django_db
class TestLocal:
    """In local mode nobody logs in, and a page of another site still can do nothing."""

    def test_each_post_wants_the_token(self, run: Run, agent: Agent) -> None:
        client = Client(enforce_csrf_checks=True)
        parts = ("cancellation", "next", "session", "answers", "answers/preview")
        urls = [f"/runs/{run.pk}/{part}/" for part in (*parts, "answers/declined")]
        urls += ["/runs/", "/compose/preview/", "/agents/",
                "/agents/recipes/", "/agents/recipes/deletion/"]  # fmt: skip
        for url in urls:
            assert client.post(url).status_code == 403, url
        client.get("/")
        token = client.cookies[settings.CSRF_COOKIE_NAME].value
        for url in urls:
            assert client.post(url, headers={"X-CSRFToken": token}).status_code != 403, url
        assert not Agent.objects.exists()

    @pytest.mark.parametrize("path", ["/", "/agents/", "/runs/", "/agents/new/"])
    def test_headers_that_protect(self, client: Client, path: str) -> None:
        response = client.get(path)
        policy = dict(
            part.strip().partition(" ")[::2]
            for part in response["Content-Security-Policy"].split(";")
        )
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert policy["base-uri"] == "'none'"
        assert policy["form-action"] == "'self'"
        assert not re.search("unsafe|nonce|\\*", response["Content-Security-Policy"])
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["X-Frame-Options"] == "DENY"
        assert response["Referrer-Policy"] == "same-origin"

    def test_pages_hold_no_inline_script_or_style(self, client: Client, run: Run) -> None:
        for path in ("/", f"/runs/{run.pk}/", "/agents/", "/agents/new/"):
            html = client.get(path).content.decode()
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", html), path
            for script in re.findall(r"<script\b[^>]*>", html):
                assert "src=" in script or 'type="application/json"' in script, script

    def test_an_unknown_host_is_refused(self, client: Client) -> None:
        assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
