"""Conformance of the scenarios: only those that are meant to break a rule do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from playground.conformance import Verdict
from playground.demo.scenarios import SCENARIOS, promises
from tests.demo.conformance import problems, report_on
from tests.demo.scenarios.client import PROMISE_SLUGS
from tests.demo.scenarios.test_scenario import FOREVER

#: Scenarios that are meant to break rules, with one of the rules.
BREAKS: Mapping[str, str] = {
    "duplicate-index": "result-index-unique",
    "missing-complete": "stream-complete-present",
    "capitalised": "response-type-lowercase",
    "unnamed": "stream-events-named",
    "truncated": "stream-closed",
    "wrong-type": "reply-object",
    "json-as-stream": "http-content-type",
    "unauthorized": "failure-error",
    "redirect": "http-no-redirect",
    "empty": "reply-object",
    "results-object": "answer-content",
    "results-null": "answer-content",
    "results-strings": "item-object",
    "meta-list": "meta-present",
    "unknown-question": "question-complete",
    "duplicate-ids": "question-ids-unique",
    "object-options": "question-options",
    "no-options": "question-options",
    "odd-questions": "elicitation-object",
    "promise-200": "http-status",
    "promise-no-token": "promise-token",
    "promise-progress-7": "promise-progress",
    "promise-half": "promise-progress",
    "actions-shapes": "actions-list",
    "actions-endpoints": "action-address",
    "actions-headers": "schema-action",
}
#: Scenarios whose deviations are outside NLWeb: connections, bytes, errors of other formats, and
#: JSON that the playground does not read to its end, which no rule decides.
OUTSIDE = {*FOREVER, "dirty-close", "reset", "bad-utf8", "html-error", "foreign-error",
           "empty-error", "deep"}  # fmt: skip
#: A task that ignores a cancellation: its scenario, action and time.
_STUBBORN = ("promise-stubborn", "cancel", 1)
CONFORMING = [slug for slug in SCENARIOS if slug not in {*BREAKS, *OUTSIDE}]


async def violated(path: str, request: Mapping[str, Any], operation: str = "ask") -> set[str]:
    """Return the rules of level must or should that a reply violates."""
    found = await report_on(f"scenarios/{path}", request, operation=operation)
    return {rule for rule in problems(found) if found.verdicts[rule] is Verdict.FAIL}


def asking(streaming: bool | None, **query: Any) -> dict[str, Any]:
    prefer = {} if streaming is None else {"streaming": streaming}
    return {"query": {"text": "soup", **query}, "prefer": prefer, "meta": {"version": "0.55"}}


def test_the_lists_name_scenarios() -> None:
    assert {*BREAKS, *OUTSIDE} <= set(SCENARIOS)


@pytest.mark.parametrize("streaming", [None, True, False])
@pytest.mark.parametrize("slug", CONFORMING)
async def test_conforming_replies(slug: str, streaming: bool | None) -> None:
    assert await violated(f"{slug}/ask?every=0&n=5", asking(streaming)) == set()


@pytest.mark.parametrize("slug", BREAKS)
async def test_what_is_broken_on_purpose(slug: str) -> None:
    assert BREAKS[slug] in await violated(f"{slug}/ask?every=0", asking(True))


@pytest.mark.parametrize("streaming", [None, True, False])
@pytest.mark.parametrize("slug", ["defaults", "password", "many-questions", "promise-asks"])
async def test_replies_to_answers(slug: str, streaming: bool | None) -> None:
    assert await violated(f"{slug}/ask?every=0", asking(streaming, colour="red")) == set()


@pytest.mark.parametrize("action", ["checkin", "cancel"])
@pytest.mark.parametrize("seconds", [1, 9])
@pytest.mark.parametrize("slug", [slug for slug in PROMISE_SLUGS if slug not in BREAKS])
async def test_await(slug: str, seconds: int, action: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promises, "now", lambda: 1000.0 + seconds)
    meta = {"version": "0.55"}
    request = {"promise_token": "promise_1000000_8000", "action": action, "meta": meta}
    expected = {"await-cancelled"} if (slug, action, seconds) == _STUBBORN else set()
    assert await violated(f"{slug}/await", request, "await") == expected
