"""What was typed is there again after Back, also where the browser may store no page."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.workbench import Workbench
from tests.support.hosted import PASSWORD, Hosted, hosted_playground
from tests.support.playground_server import PlaygroundServer

CACHING = {"local": "private, no-cache", "hosted": "no-store"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosted]:
    """A hosted playground with a user, an agent and a run."""
    with hosted_playground(tmp_path_factory.mktemp("hosted")) as server:
        server.shell(
            "from django.contrib.auth.models import User\n"
            "from playground.models import *\n"
            f"u = User.objects.create_user('owner', password={PASSWORD!r})\n"
            "a = Agent.objects.create(owner=u, name='Mine', url='http://a.example')\n"
            "Run.objects.create(owner=u, agent=a, agent_name='Mine', url='http://a.example/ask',"
            " protocol='nlweb', binding='http', version='0.55',"
            " request={'query': {'text': 'soup'}}, text='soup', state='completed')"
        )
        yield server


@pytest.fixture(params=["local", "hosted"])
def mode(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def either(
    request: pytest.FixtureRequest, mode: str, page: Page, playground: PlaygroundServer
) -> Workbench:
    """The workbench of a local playground, and of a hosted one after the log-in."""
    if mode == "local":
        return Workbench(page, playground)
    site: Hosted = request.getfixturevalue("site")
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(site.url)
    assert not [text for text in said if "ermissions" in text], "features of the policy"
    page.get_by_label("User name").fill("owner")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    return Workbench(page, site)


def follow(page: Page, link: str) -> None:
    page.evaluate("link => { location.href = link; }", link)
    page.wait_for_url(f"**{link}")


def test_what_was_typed_survives_back(either: Workbench, mode: str) -> None:
    page = either.open("/?agent=demo" if mode == "local" else "/?agent=mine").page
    response = page.request.get(either.server.url)
    assert response.headers["cache-control"] == CACHING[mode]
    page.get_by_role("tab", name="Headers").click()
    page.get_by_role("button", name="Header", exact=True).click()
    page.get_by_label("Header name").fill("X-Draft")
    document = {"query": {"text": "a draft"}, "context": {"text": "typed as JSON"}}
    either.write_json(json.dumps(document))
    expect(either.text).to_have_value("a draft")
    follow(page, "/history/")  # At once: nothing waits until it was stored.
    page.go_back()
    expect(either.effective).to_contain_text("X-Draft")
    expect(either.effective).to_contain_text("typed as JSON")
    assert either.document == document
    page.go_forward()
    follow(page, "/agents/")
    page.go_back()
    page.go_back()
    assert either.document == document
    # What a link prefills is not replaced.
    follow(page, "/?text=of+a+link")
    expect(either.effective).to_contain_text("of a link")
    page.go_back()
    expect(either.effective).to_contain_text("a draft")
    page.go_forward()
    expect(either.effective).to_contain_text("of a link")
    # Nor is lost what was edited in the request of a run.
    compose = page.locator("#compose-tab-request")
    compose.click()
    if mode == "local":
        either.compose("soup").send().ended()
        page.reload()
    else:
        page.goto(f"{either.server.url}/history/")
        page.get_by_role("link", name="soup").first.click()
    expect(either.text).to_have_value("soup")
    compose.click()
    either.compose("soup, edited")
    follow_up = page.locator("#follow-up-text")
    follow_up.fill("and for dessert?")
    follow(page, "/history/")
    page.go_back()
    expect(either.text).to_have_value("soup, edited")
    expect(follow_up).to_have_value("and for dessert?")


def test_drafts_need_neither_pagehide_nor_the_type_of_the_navigation(workbench: Workbench) -> None:
    """The one may be late, and the other that of another navigation."""
    page = workbench.page
    page.add_init_script(
        "addEventListener('pagehide', (event) => event.stopImmediatePropagation(), true);"
        "performance.getEntriesByType = () => [];"
    )
    workbench.quick().compose("soup").send().ended()
    first = page.url
    page.reload()
    expect(workbench.text).to_have_value("soup")
    workbench.compose("soup, edited")
    follow_up = page.locator("#follow-up-text")
    follow_up.fill("and for dessert?")
    for _ in range(2):
        follow(page, "/history/")
        page.go_back()
        expect(follow_up).to_have_value("and for dessert?")
        expect(workbench.text).to_have_value("soup, edited")
    # What was sent does not come back.
    page.locator("#follow-up").get_by_role("button", name="Ask").click()
    expect(page).not_to_have_url(first)
    page.goto(first)
    expect(follow_up).to_have_value("")
