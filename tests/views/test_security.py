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

Answer = tuple[int, int, int]


def by_route(table: dict[Answer, str]) -> dict[str, Answer]:
    return {name: answer for answer, names in table.items() for name in names.split()}


#: What each route answers: (owner, stranger, anonymous) to GET. 302 is the way to the log-in.
GET = by_route(
    {
        # Of nobody: lists, which show what is one's own, and empty forms.
        (200, 200, 302): (
            "workbench schema runs expectations lessons collections collection-new "
            "collection-search sidebar saved-requests history history-retention "
            "history-retention-preview compare rules rule references reference reference-changes "
            "collection-runs collection-import shares environments environment-values "
            "environment-variable agents agent-new"
        ),
        # The owner's alone.
        (200, 404, 302): (
            "run run-response run-action run-follow-up run-turns run-request run-first-failure "
            "run-turn run-session run-results run-events run-event run-item run-timeline "
            "run-sequence run-sequence-svg run-sequence-mermaid run-wire run-wire-text "
            "run-annotations run-code run-har run-sse-reference run-conformance "
            "run-conformance-count run-conformance-json run-checks run-checks-count run-document "
            "run-frame lesson lesson-edit lesson-step-edit sidebar-node collection "
            "collection-outline collection-details folders folder-details folder-move "
            "saved-request-details saved-request-notes saved-request-move saved-request twin "
            "twin-difference collection-run collection-run-report collection-export "
            "collection-postman collection-disk share-created environment agent agent-doctor "
            "agent-doctor-report run-server-log"
        ),
        # For POST only.
        (405, 405, 302): (
            "compose-preview compose-code format-curl deep-links deep-link-request "
            "run-cancellation run-repeat run-promise-polls run-promise-cancellation "
            "run-promise-polling run-action-preview "
            "run-action-server run-answers run-answers-preview run-answers-declined "
            "run-tool-outputs run-tool-outputs-preview expectations-try lesson-shipped "
            "lesson-progress lesson-step lesson-check lesson-hints lesson-solution "
            "collection-position collection-duplicate collection-deletion folder-duplicate "
            "folder-deletion saved-request-duplicate saved-request-deletion trash-restore "
            "collection-shipped twins twin-choices collection-run-cancellation share-revoke "
            "environment-choice environment-rename environment-duplicate environment-deletion "
            "environment-reveal agent-deletion detection agent-doctor-apply agent-tools logout"
        ),
        # Without what its address or query would name: the owner's run has no messages, no media
        # and no signed URL, and is to an agent, which has the doctor.
        (404, 404, 302): (
            "run-message run-message-text run-picture run-content run-message-content "
            "history-deletion compare-choices collection-run-new share-new share-copy run-doctor "
            "run-doctor-report"
        ),
        # No response is stored with the owner's request, whose page says so.
        (302, 404, 302): "saved-response",
        # Who has the link may look; the texts of the playground are for everybody.
        (200, 200, 200): "readiness explanation share login",
        # Off in hosted mode; the shared link is that of a run and no collection.
        (404, 404, 404): "metrics share-fixture",
    }
)
#: The same for POST, without any field, for routes that have one.
POST = by_route(
    {
        # The owner's alone, back to a page.
        (302, 404, 302): (
            "run-cancellation run-promise-polls run-promise-cancellation run-promise-polling "
            "run-repeat agent-doctor agent-doctor-apply saved-response environment-duplicate "
            "lesson-progress lesson-edit lesson-step lesson-check lesson-hints lesson-solution "
            "collection-position collection-duplicate folder-move folder-duplicate "
            "saved-request-move saved-request-duplicate trash-restore collection-run-cancellation "
            "agent-tools"
        ),
        # The owner's alone, with a fragment.
        (200, 404, 302): "run-action run-action-preview saved-request-notes",
        # The owner's alone, and nothing is filled in.
        (422, 404, 302): (
            "run-follow-up run-session saved-request environment environment-rename "
            "lesson-step-edit collection-details folders folder-details saved-request-details "
            "agent"
        ),
        # Without the place that a form names; or what a hosted playground does not do: it shows
        # no secret again, and loads no files. An action over HTTP names no server.
        (404, 404, 302): (
            "run-action-server run-answers run-answers-preview run-answers-declined "
            "run-tool-outputs run-tool-outputs-preview run-doctor history-deletion "
            "environment-reveal lesson-shipped collection-runs collection-shipped shares "
            "share-copy"
        ),
        # No collection is saved to a file.
        (403, 404, 302): "collection-disk",
        # Of nobody: what is wrong is part of the response.
        (
            200,
            200,
            302,
        ): "compose-preview compose-code format-curl expectations-try detection twin-choices",
        # Of nobody, and nothing is filled in.
        (422, 422, 302): (
            "runs saved-requests twins environments environment-variable lessons "
            "collections agents collection-import deep-links deep-link-request"
        ),
        (302, 302, 302): "history-retention",
        (204, 204, 302): "environment-choice",
        (200, 200, 200): "login",
    }
)
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
        "d = Collection.objects.create(pk=99, owner=u, name='Deleted', description='confidential',"
        " deleted_at=r.created_at)\n"
        "SavedRequest.objects.create(collection=c, name='Mine',"
        " document={'query': {'text': 'confidential'}})\n"
        "print(r.pk)\n"
        "def show(patterns, path):\n"
        "    for p in patterns:\n"
        "        found = path + str(p.pattern)\n"
        "        if hasattr(p, 'url_patterns'): show(p.url_patterns, found)\n"
        "        else: print(p.name, found, sep='\\t')\n"
        "show(get_resolver().url_patterns, '/')"
    ).splitlines()
    owner, stranger = log_in(hosted, "owner"), log_in(hosted, "stranger")
    values = {
        "pk": run, "slug": "mine", "seq": "2", "part": "0", "number": "0", "protocol": "nlweb",
        "version": "0.55", "name": "ask-request", "schema": "ask-request",
        "saved": "mine", "token": "unguessable",
        "folder": "mine", "model": "collection", "key": "99", "kind": "html", "step": "first",
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


@pytest.mark.parametrize(
    ("path", "link"),
    [
        ("/collections/search/?q=Plain", "/collections/plain/"),
        ("/collections/", "/collections/plain/"),
        ("/sidebar/", "/collections/plain/"),
        ("/lessons/", "/lessons/mine/"),
    ],
)
def test_what_is_found_by_its_owner_only(cast: Cast, path: str, link: str) -> None:
    assert link in cast.owner.get(path).text
    assert link not in cast.stranger.get(path).text


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
            html = client.get(path).text
            assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", html), path
            for script in re.findall(r"<script\b[^>]*>", html):
                assert "src=" in script or 'type="application/json"' in script, script
