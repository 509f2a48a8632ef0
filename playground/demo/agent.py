"""What the agent does with a request: ask back, promise, plan, search, or say no. No HTTP."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from playground.demo import eliciting, planning, presenting, searching
from playground.demo.asking import Ask, Await
from playground.demo.corpus import Corpus
from playground.demo.failures import CODES, FailureError
from playground.demo.presenting import Links
from playground.demo.promising import Promises
from playground.demo.replying import Answer, Whole
from playground.demo.tutorial import tutorial

_MAGIC = re.compile(r"fail\s+(\w+)\s*(.*)", re.I | re.S)
#: Failures that need an answer under way to be true to life.
_MIDSTREAM = frozenset({"TIMEOUT", "TOKEN_LIMIT"})
_PARTIAL = 3


def ask(corpus: Corpus, promises: Promises, request: Ask, links: Links) -> Answer | Whole:
    """The reply to a request. Raises `FailureError` where the agent says no."""
    if magic := _MAGIC.fullmatch(request.text):
        return _fail_on_request(corpus, request, magic[1].upper(), links)
    if questions := eliciting.questions_for(request):
        return Whole("elicitation", {"elicitation": questions})
    if eliciting.is_party(request):
        return Answer.of(planning.menu(corpus, eliciting.party_answers(request), links))
    if _is_long_task(request.text):
        return _promise(promises, promises.make(request))
    return _search(corpus, request, links)


def await_(corpus: Corpus, promises: Promises, request: Await) -> Answer | Whole:
    """The state of a promised task, or its answer (section 4.2). Raises `FailureError`."""
    if request.action == "cancel":
        promises.cancel(request.token)
    task = promises.task(request.token)
    if task.cancelled:
        raise FailureError("CANCELLED")
    if promises.progress(task) < 1:
        return _promise(promises, request.token)
    return Answer.of(planning.meal_plan(corpus, task.ask, datetime.now(UTC).date()))


def _promise(promises: Promises, token: str) -> Whole:
    return Whole("promise", {"promise": promises.describe(token)}, status=202)


def _is_long_task(text: str) -> bool:
    return bool(
        re.search(r"\bmeal[- ]plan|\bweekly (?:menu|plan)|\bplan (?:my|the|a) week", text, re.I)
    )


def _search(corpus: Corpus, request: Ask, links: Links) -> Answer | Whole:
    found = searching.find(corpus, request)
    meta: dict[str, Any] = {"response_format": request.response_format}
    if found.criteria.ignored:
        meta["ignored_filters"] = list(found.criteria.ignored)
    items = [presenting.item(entry, links) for entry in found.entries]
    summary = presenting.summary(found, request.text) if "summarize" in request.modes else ""
    if request.response_format == "chatgpt_app":
        return _app_answer(found, request, items, summary, meta)
    if "detailed" in request.modes:
        return tutorial(found.entries, links)
    if summary and request.version == "0.54":
        # Its examples (section 2) put the summary there; 0.55 made it a result item.
        meta["summary"] = summary
    elif summary:
        items = [presenting.summary_item(summary), *items]
    return Answer.of(items, meta)


def _app_answer(
    found: searching.Found,
    request: Ask,
    items: list[dict[str, Any]],
    summary: str,
    meta: dict[str, Any],
) -> Whole:
    """The ChatGPT App structure (section 4.1.1)."""
    meta |= {"openai/outputTemplate": "ui://widget/cards.html", "openai/widgetAccessible": True}
    content = presenting.content(found, request.text)
    if summary:
        content.insert(0, {"type": "text", "text": summary})
    return Whole("answer", {"content": content, "structuredData": items}, meta=meta)


def _fail_on_request(corpus: Corpus, request: Ask, code: str, links: Links) -> Answer | Whole:
    """`fail CODE` gets that failure: every code can be had, which is what a demo is for."""
    if code not in CODES:
        raise FailureError(
            "INVALID_QUERY", f"There is no failure {code}; there are {', '.join(CODES)}."
        )
    failure = FailureError(code)
    if not request.streaming or code not in _MIDSTREAM:
        raise failure
    best = sorted(corpus.of_kind("Recipe"), key=lambda entry: -entry.rating)[:_PARTIAL]
    partial = Answer.of([presenting.item(entry, links) for entry in best])
    return Answer(partial.parts, failure=failure)
