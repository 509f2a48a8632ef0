"""Choice of the response to a request: elicitation, promise, search or failure. No HTTP."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from playground.demo import answers, elicitation, search
from playground.demo import items as result_items
from playground.demo.actions import DemoUrls
from playground.demo.corpus import Corpus
from playground.demo.elicitation import Questions
from playground.demo.failures import LISTED, FailureError
from playground.demo.promises import PromisedAnswer, PromiseRequest
from playground.demo.query_parser import complete_from_context
from playground.demo.requests import AskRequest
from playground.demo.responses import Answer, ListResponse, SingleResponse

_FAIL_COMMAND = re.compile(r"fail\s+(\w+)\s*(.*)", re.I | re.S)
_LONG_TASK = re.compile(r"\bmeal[- ]plan|\bweekly (?:menu|plan)|\bplan (?:my|the|a) week", re.I)
_LIST = re.compile(r"\bmy (?:shopping )?(cart|cookbook)\b", re.I)
#: A search that times out after its first results.
_FAILS = re.compile(r"[\s,]*\bthat fails\b", re.I)
#: Failures that occur after the first results of a stream.
_MIDSTREAM = frozenset({"TIMEOUT", "TOKEN_LIMIT"})
_PARTIAL = 3


def ask(
    corpus: Corpus, request: AskRequest, links: DemoUrls
) -> Answer | SingleResponse | PromiseRequest | ListResponse:
    """Return the response to a request, or what has to be stored or looked up for it first.

    Raise `FailureError` for a failure response.
    """
    if command := _FAIL_COMMAND.fullmatch(request.text):
        return _fail_on_request(corpus, request, command[1].upper(), links)
    if named_list := _LIST.search(request.text):
        return ListResponse(named_list[1].lower(), request)
    complete = complete_from_context(elicitation.gather_answers(request))
    if _LONG_TASK.search(complete.text):
        return PromiseRequest(complete, _script_of(complete))
    checked = elicitation.questions_or_request(complete)
    if isinstance(checked, Questions):
        update = {"pending": dict(checked.answers)} if checked.answers else {}
        body = {
            "elicitation": elicitation.presented(
                checked.elicitation, complete.version, complete.language
            )
        }
        return SingleResponse("elicitation", body, session_update=update)
    if elicitation.is_menu(checked) or elicitation.is_party(checked):
        return assembled_answer(
            answers.menu(corpus, checked.answers, links, checked.language), checked
        )
    if elicitation.is_surprise(checked.text):
        checked = replace(checked, text="a recipe")
    more = {"decontextualized_query": complete.text} if complete.text != request.text else {}
    fails = _FAILS.search(checked.text)
    if fails:
        checked = replace(checked, text=_FAILS.sub(" ", checked.text))
    found = _search(corpus, checked, links, more)
    return _broken_off(found, checked, FailureError("TIMEOUT")) if fails else found


def await_(corpus: Corpus, task: PromisedAnswer) -> Answer | SingleResponse:
    """Return a promise with its progress, or the answer (section 4.2). Raise `FailureError`."""
    if task.cancelled:
        raise FailureError("CANCELLED")
    if task.progress() < 1:
        return promise(task)
    if task.script == "failing":
        raise FailureError("INTERNAL_ERROR", "The meal plan could not be completed.")
    return assembled_answer(answers.meal_plan(corpus, task.ask, datetime.now(UTC).date()), task.ask)


def assembled_answer(items: list[dict[str, Any]], request: AskRequest) -> Answer | SingleResponse:
    summarized = any(item["@type"] == "SearchSummary" for item in items)
    if "summarize" in request.modes and not summarized:
        text = result_items.contents(items, request.language)
        items = [result_items.summary_item(text), *items]
    meta: dict[str, Any] = {"response_format": request.response_format}
    if request.response_format == "chatgpt_app":
        text = result_items.contents(items, request.language)
        return _app([{"type": "text", "text": text}], items, meta)
    return Answer.of(items, meta)


def promise(task: PromisedAnswer) -> SingleResponse:
    """Return a promise response with the progress of a task (section 4.1.2)."""
    return SingleResponse("promise", {"promise": task.describe()}, status=202)


def _script_of(ask: AskRequest) -> str:
    """Return how a promise will end, which the request may choose."""
    return "failing" if re.search(r"\bthat fails\b", ask.text, re.I) else "plan"


def _search(
    corpus: Corpus, request: AskRequest, links: DemoUrls, more: dict[str, str]
) -> Answer | SingleResponse:
    found = search.find(corpus, request)
    meta: dict[str, Any] = {"response_format": request.response_format, **more}
    if found.criteria.ignored:
        meta["ignored_filters"] = list(found.criteria.ignored)
    items = [result_items.item(entry, links) for entry in found.entries]
    summary = ""
    if "summarize" in request.modes:
        summary = result_items.summary(found, request.text, request.language)
    if request.response_format == "chatgpt_app":
        return _app_answer(found, request, items, summary, meta)
    if "detailed" in request.modes:
        return answers.tutorial(found.entries, links)
    if summary and request.version == "0.54":
        # The 0.54 examples (section 2) have the summary in _meta; in 0.55 it is a result item.
        meta["summary"] = summary
    elif summary:
        items = [result_items.summary_item(summary), *items]
    return Answer.of(items, meta)


def _app_answer(
    found: search.SearchResult,
    request: AskRequest,
    items: list[dict[str, Any]],
    summary: str,
    meta: dict[str, Any],
) -> SingleResponse:
    """Return the ChatGPT App structure (section 4.1.1)."""
    content = result_items.content(found, request.text, request.language)
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
    """Return or raise the failure of a query `fail CODE`, so that every code can be tried."""
    codes = LISTED[request.version]
    if code not in codes:
        raise FailureError(
            "INVALID_QUERY",
            f"NLWeb {request.version} has no code {code}. Codes: {', '.join(codes)}.",
        )
    failure = FailureError(code)
    if code not in _MIDSTREAM:
        raise failure
    best = sorted(corpus.of_kind("Recipe"), key=lambda entry: -entry.rating)
    answer = Answer.of([result_items.item(entry, links) for entry in best])
    return _broken_off(answer, request, failure)


def _broken_off(
    answer: Answer | SingleResponse, request: AskRequest, failure: FailureError
) -> Answer:
    """Return an answer that fails after its first results; raise the failure if it cannot.

    Only streams have results and a failure, and 0.54 has no event for it.
    """
    if isinstance(answer, SingleResponse) or not request.streaming or request.version == "0.54":
        raise failure
    failure.language = request.language
    return Answer(answer.parts[:_PARTIAL], answer.meta, failure=failure)
