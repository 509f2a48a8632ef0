"""A word without a space, a token or an address, stays within its page, on a phone too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.playground_server import PlaygroundServer

WORD = "Honigbrot" * 90
SLUG = "long-words"

_BESIDE = """
import json
from django.urls import reverse
from playground.models import Agent, Collection, Environment, Share, Step
word, url = json.loads(input())
name = word[:78]
environment, _ = Environment.objects.get_or_create(name=name, slug="long-words")
agent, _ = Agent.objects.get_or_create(name=name, slug="long-words", url=f"{url}/{word}")
step = Step.objects.filter(collection_run__collection__slug="long-words").latest("pk")
collection = Collection.objects.get(slug="long-words")
made = [Share.objects.create(run=step.run), Share.objects.create(collection=collection)]
print(json.dumps([
    step.collection_run.get_absolute_url(),
    reverse("run", args=[step.run_id]),
    *(reverse("share", args=[share.token]) for share in made),
]))
"""


def item(model: str, **fields: object) -> dict[str, object]:
    return {"model": f"playground.{model}", "fields": fields}


@pytest.fixture
def places(playground: PlaygroundServer, tmp_path: Path) -> list[str]:
    """Pages that show names, notes and addresses which are one word each."""
    request = item(
        "savedrequest", collection=[SLUG], slug="r", name=WORD[:110], notes=WORD,
        address=f"http://127.0.0.1:1/{WORD}", protocol="nlweb", binding="http", version="0.55",
        document={"query": {"text": WORD}},
        expectations=[{"type": "json", "path": "$.results[0].name", "equals": WORD}],
    )  # fmt: skip
    whole = item("collection", name=WORD[:110], slug=SLUG, description=WORD)
    file = tmp_path / "long.json"
    file.write_text(json.dumps([whole, request]))
    assert playground.manage("import_collection", str(file)).returncode == 0
    playground.manage("run_collection", SLUG)
    told = json.dumps([WORD, playground.url])
    done = playground.manage("shell", "--no-imports", "-c", _BESIDE, input=told)
    assert done.returncode == 0, done.stderr
    near = f"?collection={SLUG}"
    return [
        f"/collections/{SLUG}/", f"/collection-runs/{near}", f"/collection-runs/new/{near}",
        "/collections/", "/environments/", "/environments/long-words/", "/agents/long-words/",
        "/shares/", "/history/", *json.loads(done.stdout),
    ]  # fmt: skip


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
