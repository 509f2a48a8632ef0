"""WCAG 2.2 AA, as far as axe can tell: pages that one only looks at, and the workbench in use.

What appears on the way through a feature is examined in the test of that way.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import findings
from tests.browser.client import client_of
from tests.browser.collection_page import import_requests
from tests.browser.workbench import Workbench, is_within
from tests.support.playground_server import PlaygroundServer

PAGES = [
    *("/", "/agents/", "/agents/new/", "/demo/", "/environments/"),
    *("/reference/", "/reference/nlweb/0.55/?q=promise", "/reference/nlweb/0.55/changes/"),
    *("/rules/", "/rules/nlweb/item-type-string/", "/rules/mcp/mcp.content-parts/"),
    *("/rules/agent-api/agent-api.usage/", "/rules/json/json-utf8/"),
    *("/collections/", "/collections/search/?q=b", "/collections/seen/requests/b/details/"),
    "/collections/seen/requests/b/place/",
]


#: Rows that one template makes: of those alike, a few are enough.
ALIKE = "main tbody > tr:nth-of-type(n+6), main li:nth-of-type(n+6), main article:nth-of-type(n+6)"


@pytest.mark.parametrize("path", PAGES)
def test_pages(page: Page, playground: PlaygroundServer, path: str) -> None:
    if path.startswith("/collections/"):
        import_requests(playground, "Seen", "b", hot="c")
    page.goto(f"{playground.url}{path}")
    expect(page.locator(".htmx-request")).to_have_count(0)
    page.evaluate(f"document.querySelectorAll('{ALIKE}').forEach((each) => each.remove())")
    assert findings(page, both_themes=True) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert is_within(page, 390)


def test_every_part_of_the_composer(workbench: Workbench) -> None:
    page = workbench.page
    workbench.quick()
    for name in ("memory", "mode", "user", "spice"):
        workbench.add_field(name)
    for name in ("auth", "headers", "expect", "json", "request"):
        page.locator(f"#compose-tab-{name}").click()
        assert findings(page, "#compose") == [], name
    page.keyboard.press("ControlOrMeta+k")
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page, "dialog[open]", both_themes=True) == [], "palette"


def test_every_view_of_a_response(workbench: Workbench) -> None:
    page = workbench.page
    workbench.quick().send().ended()
    for name, part in (
        ("Timeline", ".mark"),
        ("Events", "#event-rows > *"),
        ("Wire", "#wire-blocks > *"),
        ("Results", "#cards > *"),
    ):
        expect(workbench.tab(name).locator(part).first).to_be_visible()
        assert findings(page, f"#tab-{name.lower()}") == [], name
    assert findings(page, both_themes=True) == [], "all of it"
    for text in ("weekly meal plan", "fail TOKEN_LIMIT"):
        workbench.compose(text).send()
        expect(workbench.badge).to_have_attribute("data-state", "completed")
        assert findings(page, "#response") == [], text


def test_a_phone(browser: Browser, playground: PlaygroundServer) -> None:
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    workbench = Workbench(page, playground).open()
    page.get_by_role("button", name="Send").first.click()
    expect(workbench.badge).to_have_text("Completed")
    expect(workbench.cards.first).to_be_in_viewport()
    top = workbench.cards.first.evaluate("card => card.getBoundingClientRect().top")
    assert top <= 120, "controls above the first result"
    expect(page.locator(".response-header")).to_be_focused()
    assert is_within(page, 390), "it scrolls sideways"
    assert findings(page) == []
    context.close()


WORD = "Honigbrot" * 90
SLUG = "long-words"


def item(model: str, **fields: object) -> dict[str, object]:
    return {"model": f"playground.{model}", "fields": fields}


@pytest.fixture
def places(page: Page, playground: PlaygroundServer) -> Iterator[list[str]]:
    """Pages that show names, notes and addresses which are one word each."""
    request = item(
        "savedrequest", collection=[SLUG], slug="r", name=WORD[:110], notes=WORD,
        address=f"http://127.0.0.1:1/{WORD}", protocol="nlweb", binding="http", version="0.55",
        document={"query": {"text": WORD}},
        expectations=[{"type": "json", "path": "$.results[0].name", "equals": WORD}],
    )  # fmt: skip
    client, name = client_of(playground), WORD[:78]
    client.import_collection(
        [item("collection", name=WORD[:110], slug=SLUG, description=WORD), request]
    )
    environment = client.post("/environments/", name=name)
    agent = client.add_agent(name, f"{playground.url}/{WORD}")
    collection_run = client.post("/collection-runs/", collection=SLUG)
    page.goto(f"{playground.url}{collection_run}")
    expect(page.locator("#collection-run-progress")).to_have_attribute("data-settled", "")
    run = page.locator("a.collection-run-open").get_attribute("href") or ""
    shared = [
        client.post("/shares/", **{kind: named}).replace("/shares/", "/s/")
        for kind, named in (("run", run.split("/")[2]), ("collection", SLUG))
    ]
    near = f"?collection={SLUG}"
    yield [
        f"/collections/{SLUG}/", f"/collection-runs/{near}", f"/collection-runs/new/{near}",
        "/collections/", "/environments/", environment, f"/agents/{agent}/",
        "/shares/", "/history/", collection_run, run, *shared,
    ]  # fmt: skip
    client.post(f"{environment}deletion/")


def test_no_page_scrolls_sideways(
    page: Page, playground: PlaygroundServer, places: list[str]
) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for place in places:
        page.goto(f"{playground.url}{place}")
        expect(page.locator("main")).to_contain_text("Honigbrot")
        page.locator("main details").evaluate_all("all => all.forEach(each => (each.open = true))")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390, f"{place} is {wide} px wide"
