"""`send` against every misbehaving agent: state, outcome and exit code of each run."""

from __future__ import annotations

import pytest

from playground.demo.scenarios import SCENARIOS
from tests.support.commands import run_command
from tests.support.playground_server import PlaygroundServer

#: Each scenario: state, outcome, exit code of `send`, how many results it prints, and the
#: stage of its problem with the limit that was crossed.
ENDINGS: dict[str, tuple[str, str, int, int, str | None]] = {
    "slow": ("completed", "answer", 0, 8, None),
    "out-of-order": ("completed", "answer", 0, 5, None),
    "duplicate-index": ("completed", "answer", 0, 4, None),
    "missing-complete": ("completed", "answer", 0, 3, None),
    "error-then-on": ("completed", "answer", 0, 4, None),
    "capitalised": ("completed", "answer", 0, 2, None),
    "unnamed": ("completed", "answer", 0, 3, None),
    "line-separators": ("completed", "answer", 0, 2, None),
    "bad-utf8": ("completed", "answer", 0, 2, None),
    "deep": ("refused", "answer", 3, 1, "limit max_depth"),
    "truncated": ("truncated", "answer", 3, 2, "body"),
    "dirty-close": ("truncated", "answer", 3, 2, "body"),
    "reset": ("truncated", "answer", 3, 2, "body"),
    "endless": ("failed", "answer", 3, -1, "body total_timeout"),
    "heartbeats": ("failed", "none", 3, 0, "body total_timeout"),
    "silent": ("failed", "none", 3, 0, "headers total_timeout"),
    "flood": ("completed", "answer", 0, 20_000, None),
    "huge": ("completed", "answer", 0, 2, None),
    "gzip": ("completed", "answer", 0, 3, None),
    "wrong-type": ("completed", "answer", 0, 3, None),
    "json-as-stream": ("completed", "answer", 0, 3, None),
    "html-error": ("failed", "none", 3, 0, "decode"),
    "unauthorized": ("completed", "failure", 1, 0, None),
    "rate-limited": ("completed", "failure", 1, 0, None),
    "server-error": ("completed", "failure", 1, 0, None),
    "redirect": ("failed", "none", 3, 0, "decode"),
    "empty": ("failed", "none", 3, 0, "decode"),
    "summary-first": ("completed", "answer", 0, 5, None),
    "summary-middle": ("completed", "answer", 0, 5, None),
    "summary-last": ("completed", "answer", 0, 5, None),
    "results-object": ("completed", "answer", 0, 1, None),
    "results-null": ("completed", "answer", 0, 0, None),
    "results-strings": ("completed", "answer", 0, 5, None),
    "meta-list": ("completed", "answer", 0, 2, None),
    "defaults": ("completed", "elicitation", 0, 0, None),
    "bad-defaults": ("completed", "elicitation", 0, 0, None),
    "password": ("completed", "elicitation", 0, 0, None),
    "unknown-question": ("completed", "elicitation", 0, 0, None),
    "duplicate-ids": ("completed", "elicitation", 0, 0, None),
    "object-options": ("completed", "elicitation", 0, 0, None),
    "no-options": ("completed", "elicitation", 0, 0, None),
    "html-labels": ("completed", "elicitation", 0, 0, None),
    "odd-questions": ("completed", "elicitation", 0, 0, None),
    "many-questions": ("completed", "elicitation", 0, 0, None),
    "long-question": ("completed", "elicitation", 0, 0, None),
    "promise-fails": ("completed", "promise", 0, 0, None),
    "promise-back": ("completed", "promise", 0, 0, None),
    "promise-stubborn": ("completed", "promise", 0, 0, None),
    "promise-200": ("completed", "promise", 0, 0, None),
    "promise-asks": ("completed", "promise", 0, 0, None),
    "promise-no-token": ("completed", "promise", 0, 0, None),
    "promise-progress-7": ("completed", "promise", 0, 0, None),
    "promise-half": ("completed", "promise", 0, 0, None),
    "promise-year": ("completed", "promise", 0, 0, None),
    "actions-shapes": ("completed", "answer", 0, 9, None),
    "actions-endpoints": ("completed", "answer", 0, 9, None),
    "actions-headers": ("completed", "answer", 0, 8, None),
    "actions-replies": ("completed", "answer", 0, 7, None),
    "actions-nested": ("completed", "answer", 0, 1, None),
    "members": ("completed", "failure", 1, 0, None),
    "rate-limited-date": ("completed", "failure", 1, 0, None),
    "failure-details": ("completed", "failure", 1, 0, None),
    "foreign-error": ("completed", "failure", 1, 0, None),
    "empty-error": ("failed", "none", 3, 0, "decode"),
}
#: Knobs and `--timeout` of the scenarios that have no end; the others do not take their time.
ENDLESS = {
    "endless": ("?every=0.02", "2"),
    "heartbeats": ("?every=0.1", "2"),
    "silent": ("", "2"),
}


def test_the_table_has_every_scenario() -> None:
    assert set(ENDINGS) == set(SCENARIOS)


@pytest.mark.parametrize("slug", ENDINGS)
def test_the_demo_page_says_the_same(slug: str) -> None:
    assert (SCENARIOS[slug].state, SCENARIOS[slug].outcome) == ENDINGS[slug][:2]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("slug", ENDINGS)
def test_each_ends_as_the_table_says(playground: PlaygroundServer, slug: str) -> None:
    state, outcome, code, results, stage = ENDINGS[slug]
    query, seconds = ENDLESS.get(slug, ("?every=0.02", "60"))
    done = run_command(
        "send", f"{playground.url}/demo/scenarios/{slug}/ask{query}",
        "--text", "soup", "--output", "jsonl", "--timeout", seconds,
    )  # fmt: skip
    lines = done.json_lines
    end = lines[-1]
    assert (end["type"], end["state"], end["outcome"]) == ("end", state, outcome), done.stderr
    assert done.returncode == code
    printed = sum(line["type"] == "result" for line in lines)
    assert printed == end["results"]
    assert printed == results if results >= 0 else printed > 1
    errors = [
        " ".join(filter(None, (line["stage"], line["limit"])))
        for line in lines
        if line["type"] == "error"
    ]
    assert errors == ([stage] if stage else [])
    assert done.stderr == ""
