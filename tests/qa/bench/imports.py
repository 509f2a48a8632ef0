"""Import of a large collection by the page: uploaded, shown, taken in; then all of it changed."""

from __future__ import annotations

import json
import re
import time

import httpx

from tests.qa.bench.memory import PeakMemory
from tests.qa.bench.table import Row
from tests.support.collection_files import collection_items

REQUESTS, FOLDERS = 10_000, 20
#: Seconds, and MB of memory.
SECONDS, GROWTH = 10, 200


def rows(url: str, pid: int) -> list[Row]:
    """Import by the playground at `url`, whose process is `pid`."""
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        _bring(client, _collection(10, "warm-up"))
        with PeakMemory(pid) as memory:
            added = _bring(client, _collection(REQUESTS, "large"))
            changed = _bring(client, _collection(REQUESTS, "large", notes="Changed."))
    slower = max(added, changed)
    return [
        Row(
            f"import of {REQUESTS:,} requests in the browser, including the preview",
            f"{added:.1f} s new, {changed:.1f} s all changed",
            f"≤ {SECONDS} s",
            slower <= SECONDS,
        ),
        Row(
            f"peak memory growth for importing {REQUESTS:,} requests twice",
            f"{memory.growth:.0f} MB",
            f"≤ {GROWTH} MB",
            memory.growth <= GROWTH,
        ),
    ]


def _bring(client: httpx.Client, text: str) -> float:
    """Seconds for the preview of a file and for its import."""
    page = "/collections/import/"
    client.get("/")
    token = {"X-CSRFToken": client.cookies["playground_csrf"]}
    began = time.perf_counter()
    preview = client.post(page, files={"file": ("a.json", text)}, headers=token)
    preview.raise_for_status()
    packed = re.search(r'name="packed" value="([^"]*)"', preview.text)
    assert packed, "there is nothing to import"
    fields = {"packed": packed[1], "confirmed": "yes"}
    done = client.post(page, data=fields, headers=token)
    assert done.status_code == 302, done.text
    return time.perf_counter() - began


def _collection(count: int, slug: str, notes: str = "") -> str:
    """The text of a collection of `count` requests, in folders."""
    folders = [f"part-{n}" for n in range(FOLDERS)]
    requests = (
        {
            "folder": [slug, folders[n % FOLDERS]], "position": 1024 * (n + 1), "agent": "demo",
            "document": {"query": {"text": f"soup number {n}"}, "prefer": {"streaming": True}},
            "headers": [["X-Trace", "{{$uuid}}"]],
            "notes": f"{notes} What we ask {n} times. " * 4,
            "expectations": [
                {"type": "state", "equals": "completed"},
                {"type": "json", "path": "$.results[0].name", "contains": "soup"},
            ],
        }
        for n in range(count)
    )  # fmt: skip
    items = collection_items(slug, requests, folders)
    return json.dumps(items, indent=2)
