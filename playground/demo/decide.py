"""What the agent does with a request: ask back, promise, plan, search, or say no. No HTTP."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from playground.demo import elicitation, elicitation_answers, followups, menus, planning, search
from playground.demo import items as presenting
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus
from playground.demo.elicitation import Questions
from playground.demo.failures import CODES, FailureError
from playground.demo.promises import PromisedAnswer, PromiseRequest
from playground.demo.requests import AskRequest
from playground.demo.responses import Answer, ListResponse, SingleResponse
from playground.demo.tutorial import tutorial

_MAGIC = re.compile(r"fail\s+(\w+)\s*(.*)", re.I | re.S)
_LONG_TASK = re.compile(r"\bmeal[- ]plan|\bweekly (?:menu|plan)|\bplan (?:my|the|a) week", re.I)
_SHELF = re.compile(r"\bmy (?:shopping )?(cart|cookbook)\b", re.I)
#: Failures that need an answer under way to be true to life.
_MIDSTREAM = frozenset({"TIMEOUT", "TOKEN_LIMIT"})
_PARTIAL = 3


def ask(
    corpus: Corpus, request: AskRequest, links: DemoUrls
) -> Answer | SingleResponse | PromiseRequest | ListResponse:
    """The reply to a request, or what has to be stored or looked up for it first.

    Raises `FailureError` where the agent says no.
    """
    if magic := _MAGIC.fullmatch(request.text):
        return _fail_on_request(corpus, request, magic[1].upper(), links)
    if shelf := _SHELF.search(request.text):
        return ListResponse(shelf[1].lower(), request)
    asked = followups.complete_from_context(elicitation_answers.gather(request))
    if _LONG_TASK.search(asked.text):
        return PromiseRequest(asked, _plot(asked))
    examined = elicitation.questions_or_request(asked)
    if isinstance(examined, Questions):
        remember = {"pending": dict(examined.answers)} if examined.answers else {}
        body = {"elicitation": examined.elicitation}
        return SingleResponse("elicitation", body, remember=remember)
    if elicitation.is_menu(examined):
        return assembled_answer(menus.menu_for_occasion(corpus, examined.answers, links), examined)
    if elicitation.is_party(examined):
        return assembled_answer(menus.menu(corpus, examined.answers, links), examined)
    if elicitation.is_surprise(examined.text):
        examined = replace(examined, text="a recipe")
    more = {"decontextualized_query": asked.text} if asked.text != request.text else {}
    return _search(corpus, examined, links, more)


def await_(corpus: Corpus, task: PromisedAnswer) -> Answer | SingleResponse:
    """The state of a promised task, or its answer (section 4.2). Raises `FailureError`."""
    if task.cancelled:
        raise FailureError("CANCELLED")
    if task.progress() < 1:
        return promise(task)
    if task.plot == "failing":
        raise FailureError("INTERNAL_ERROR", "The cook has left in the middle of the plan.")
    return assembled_answer(
        planning.meal_plan(corpus, task.ask, datetime.now(UTC).date()), task.ask
    )


def assembled_answer(items: list[dict[str, Any]], request: AskRequest) -> Answer | SingleResponse:
    """An answer that was put together rather than found, in the format and mode asked for."""
    summarized = any(item["@type"] == "SearchSummary" for item in items)
    if "summarize" in request.modes and not summarized:
        items = [presenting.summary_item(presenting.contents(items)), *items]
    meta: dict[str, Any] = {"response_format": request.response_format}
    if request.response_format == "chatgpt_app":
        text = presenting.contents(items)
        return _app([{"type": "text", "text": text}], items, meta)
    return Answer.of(items, meta)


def promise(task: PromisedAnswer) -> SingleResponse:
    """How far a task has come (section 4.1.2)."""
    return SingleResponse("promise", {"promise": task.describe()}, status=202)


def _plot(ask: AskRequest) -> str:
    """How a promise will end: the request may say so."""
    return "failing" if re.search(r"\bthat fails\b", ask.text, re.I) else "plan"


def _search(
    corpus: Corpus, request: AskRequest, links: DemoUrls, more: dict[str, str]
) -> Answer | SingleResponse:
    found = search.find(corpus, request)
    meta: dict[str, Any] = {"response_format": request.response_format, **more}
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
    found: search.SearchResult,
    request: AskRequest,
    items: list[dict[str, Any]],
    summary: str,
    meta: dict[str, Any],
) -> SingleResponse:
    """The ChatGPT App structure (section 4.1.1)."""
    content = presenting.content(found, request.text)
    if summary:
        content.insert(0, {"type": "text", "text": summary})
    return _app(content, items, meta)


def _app(
    content: list[dict[str, Any]], items: list[dict[str, Any]], meta: dict[str, Any]
) -> SingleResponse:
    meta |= {"openai/outputTemplate": "ui://widget/cards.html", "openai/widgetAccessible": True}
    return SingleResponse("answer", {"content": content, "structuredData": items}, meta=meta)


def _fail_on_request(
    corpus: Corpus, request: AskRequest, code: str, links: DemoUrls
) -> Answer | SingleResponse:
    """`fail CODE` gets that failure: every code can be had, which is what a demo is for."""
    if code not in CODES:
        raise FailureError(
            "INVALID_QUERY", f"There is no failure {code}; there are {', '.join(CODES)}."
        )
    failure = FailureError(code)
    # 0.54 has no event for an error: there, all failures are documents.
    if not request.streaming or code not in _MIDSTREAM or request.version == "0.54":
        raise failure
    best = sorted(corpus.of_kind("Recipe"), key=lambda entry: -entry.rating)[:_PARTIAL]
    partial = Answer.of([presenting.item(entry, links) for entry in best])
    return Answer(partial.parts, failure=failure)
