"""The history page with 100 and with 100,000 runs, plain and with each filter.

As a program of its own it fills a database: `python -m tests.qa.bench.history N`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx

from tests.qa.bench.table import Row
from tests.support.playground_server import ROOT, PlaygroundServer

FEW, MANY = 100, 100_000
#: Runs that the rare text is in: a page of them.
PAGE = 40
#: Fetches of each page, in turns; the quickest of each side counts.
TIMES = 25

#: Each of them shows a full page on both sides, so that only the finding differs.
PAGES = {
    "plain": "",
    "polls and actions": "all=1",
    "agent": "agent=even",
    "outcome": "outcome=failure",
    "state": "state=cancelled",
    "agent and outcome": "agent=even&outcome=failure",
    "dates": "since={yesterday}&until={today}",
    "text": "q=eggs",
    # Only the oldest have it.
    "rare text": "q=saffron",
    "text without matches": "q=absent",
    "source": "made_by=collection",
}


def rows() -> list[Row]:
    """Fill both, and measure."""
    with ExitStack() as stack:
        few, many = (_filled(stack, count) for count in (FEW, MANY))
        ratios = {}
        for name, query in PAGES.items():
            ours, theirs = _both(few, many, query)
            ratios[name] = (theirs / ours, ours, theirs)
        # Milliseconds until it is said that no run has the word.
        absent = min(_search(many, "absent") for _ in range(5))
    worst = max(ratios, key=lambda name: ratios[name][0])
    told = ", ".join(f"{name} {ratio:.2f}" for name, (ratio, *_) in ratios.items())
    plain = ratios["plain"]
    return [
        Row(
            f"history page with {MANY:,} runs, compared with {FEW} ({told})",
            f"{plain[1]:.0f} to {plain[2]:.0f} ms; at most {ratios[worst][0]:.2f} times",
            "≤ 1.3 times",
            ratios[worst][0] <= 1.3,
        ),
        Row(
            f"search for a word that none of {MANY:,} runs contains",
            f"{absent:.0f} ms",
            "≤ 2 s",
            absent <= 2000,
        ),
    ]


def _filled(stack: ExitStack, count: int) -> httpx.Client:
    data = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    server = PlaygroundServer(data)
    server.manage("migrate", "-v", "0")
    command = [sys.executable, "-m", "tests.qa.bench.history", str(count)]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True)
    stack.enter_context(server)
    return stack.enter_context(httpx.Client(base_url=server.url, timeout=60, trust_env=False))


def _both(few: httpx.Client, many: httpx.Client, query: str) -> tuple[float, float]:
    """The quickest of both, in milliseconds."""
    from django.utils import timezone

    today = timezone.now().date()
    query = query.format(today=today, yesterday=today - timedelta(days=1))
    found = [(_fetch(few, query)[0], _fetch(many, query)[0]) for _ in range(TIMES)]
    return min(one for one, _ in found), min(other for _, other in found)


def _fetch(client: httpx.Client, query: str, **headers: str) -> tuple[float, str]:
    began = time.perf_counter()
    response = client.get(f"/history/?{query}", headers=headers)
    took = (time.perf_counter() - began) * 1000
    response.raise_for_status()
    return took, response.text


def _search(client: httpx.Client, words: str) -> float:
    """The page goes on by itself until it has looked at everything."""
    took, html = _fetch(client, f"q={words}")
    while row := re.search(r'hx-get="/history/\?([^"]*)" hx-trigger="load"', html):
        step, html = _fetch(client, unescape(row[1]), **{"HX-Request": "true"})
        took += step
    return took


def fill(count: int) -> None:
    """`count` turns, five minutes apart: half of them pass each filter of `PAGES`."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "playground.settings")
    django.setup()
    from django.utils import timezone

    from playground.models import Agent, Run

    agents = [Agent.objects.create(name=name, url="http://a.example") for name in ("Even", "Odd")]
    document = {"query": {"text": "x" * 200}, "context": {"prev": ["y" * 100] * 5}}
    now = timezone.now()
    created = Run._meta.get_field("created_at")
    created.auto_now_add = False  # type: ignore[union-attr]
    for first in range(0, count, 5_000):
        Run.objects.bulk_create(
            Run(
                agent=agents[number % 2],
                agent_name=agents[number % 2].name,
                url="http://a.example/ask",
                protocol="nlweb",
                binding="http",
                version="0.55",
                request=document,
                text=_text(number, count),
                source=("collection", "user")[number // 2 % 2],
                created_at=now - timedelta(minutes=5 * number),
                **_ending(number),
            )
            for number in range(first, min(first + 5_000, count))
        )


def _text(number: int, count: int) -> str:
    text = ("eggs and soup", "bread and rice")[number // 2 % 2]
    return f"{text} with saffron" if number >= count - PAGE else text


def _ending(number: int) -> dict[str, Any]:
    figures = {"results": 9, "entries": 9, "events": 12, "bytes": 20_000}
    times = {"first_event_us": 84_000, "ended_us": 1_200_000}
    state = ("cancelled", "completed")[number // 2 % 2]
    return {"state": state, "outcome": ("failure", "answer")[number % 2], **figures, **times}


if __name__ == "__main__":
    fill(int(sys.argv[1]))
