"""A word without a space, a token or an address, stays within its page, on a phone too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.client import client_of
from tests.support.playground_server import PlaygroundServer

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
