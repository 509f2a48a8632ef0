"""Scenarios about elicitations: valid questions of every type, and invalid ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http.response import HttpResponseBase

from playground.demo.http import json_response
from playground.demo.scenarios.scenario import (
    Play,
    Scenario,
    ScenarioRequest,
    dish,
    document,
    respond,
)

Elicitation = Mapping[str, Any]

_MEGABYTE = 1_000_000
_MANY = 500
_COLOURS = ["red", "green", "blue"]
#: Attributes of query and context that are not answers.
_USUAL = frozenset({"text", "site", "itemType", "prev", "memory", "@type", "@context"})


def _select(**more: Any) -> dict[str, Any]:
    return {"id": "colour", "text": "Which colour?", "type": "single_select", **more}


def _one(question: Any) -> Elicitation:
    return {"text": "One question before I answer.", "questions": [question]}


def _asking(elicitation: Elicitation) -> Play:
    """Send the elicitation until a request has anything that could be an answer."""

    async def play(request: ScenarioRequest) -> HttpResponseBase:
        if is_answered(request.document, elicitation):
            return await respond(request, dish(0), dish(1))
        return json_response(document("elicitation", elicitation=elicitation))

    return play


def is_answered(request: Mapping[str, Any], elicitation: Elicitation) -> bool:
    """Return True if a request could have answers: a filter, a context, or a repeated label."""
    query, context = (
        part if isinstance(part, dict) else {}
        for part in (request.get("query"), request.get("context"))
    )
    text = str(query.get("text"))
    questions = elicitation.get("questions")
    asked = [q for q in (questions or [elicitation]) if isinstance(q, dict)]
    repeated = any(str(q["text"]) in text for q in asked if q.get("text"))
    return bool(repeated or (set(query) | set(context)) - _USUAL)


_DEFAULTS: Elicitation = {
    "text": "All answers are already filled in.",
    "questions": [
        _select(options=_COLOURS, default="green"),
        {
            "id": "sizes",
            "text": "Which sizes?",
            "type": "multi_select",
            "options": ["small", "medium", "large"],
            "default": ["small", "large"],
        },
        {"id": "note", "text": "What should the card say?", "type": "free_text",
         "default": "With love"},
        {"id": "count", "text": "How many?", "type": "number", "default": 3},
        {"id": "wrapped", "text": "Should it be wrapped?", "type": "boolean", "default": True},
    ],
}  # fmt: skip
_BAD_DEFAULTS: Elicitation = {
    "text": "None of these defaults is a valid answer.",
    "questions": [
        _select(options=_COLOURS, default="mauve"),
        {"id": "sizes", "text": "Which sizes?", "type": "multi_select",
         "options": ["small", "large"], "default": "huge"},
        {"id": "count", "text": "How many?", "type": "number", "default": "a few"},
        {"id": "wrapped", "text": "Should it be wrapped?", "type": "boolean", "default": "perhaps"},
        {"id": "note", "text": "What should the card say?", "type": "free_text",
         "default": {"say": "hello"}},
    ],
}  # fmt: skip
_PASSWORD: Elicitation = {
    "text": "This answer is for members only. Please sign in to continue.",
    "questions": [
        {"id": "username", "text": "Your user name?", "type": "free_text"},
        {"id": "password", "text": "Your password?", "type": "free_text"},
    ],
}
_UNKNOWN: Elicitation = {
    "text": "Questions of unknown types.",
    "questions": [
        {"id": "when", "text": "For which day?", "type": "date", "default": "2026-01-01"},
        {"id": "shade", "text": "Which shade?", "type": "colour_wheel", "options": _COLOURS},
        {"id": "mood", "text": "In which mood?", "type": ["free_text"]},
    ],
}
_DUPLICATES: Elicitation = {
    "text": "The same id for different questions.",
    "questions": [
        {"id": "size", "text": "What size is the table?", "type": "free_text"},
        {"id": "size", "text": "What size is the party?", "type": "number"},
        {"text": "And who are you?", "type": "free_text"},
    ],
}
_OBJECTS: Elicitation = _one(
    _select(options=[{"value": "red", "label": "Red"}, {"value": "green"}, 7, None, "blue"])
)
_NO_OPTIONS: Elicitation = {
    "text": "Choose from nothing.",
    "questions": [
        _select(),
        {"id": "sizes", "text": "Which sizes?", "type": "multi_select", "options": []},
        {"id": "shape", "text": "Which shape?", "type": "single_select", "options": "round"},
    ],
}
_HTML: Elicitation = {
    "text": "<b>Bold</b> &amp; <img src=x onerror=alert(1)>",
    "questions": [
        _select(
            text="<script>alert(1)</script> Which colour?",
            options=['<a href="javascript:alert(1)">red</a>', '" onclick="alert(1)', "green"],
        ),
        {"id": '"><svg onload=alert(1)>', "text": "{{ name }} {% now %}?", "type": "free_text"},
    ],
}
_QUESTIONS_ODD: Elicitation = {"text": "Not a list.", "questions": {"id": "colour"}}
_MANY_QUESTIONS: Elicitation = {
    "text": f"Just {_MANY} quick questions.",
    "questions": [
        {"id": f"q{number}", "text": f"Question number {number}?", "type": "free_text"}
        for number in range(1, _MANY + 1)
    ],
}
_LONG: Elicitation = {
    "text": "Before I ask, a word. " + "It is a long word. " * (_MEGABYTE // 19),
    "questions": [{"id": "patience", "text": "Are you still there?", "type": "boolean"}],
}


def _row(
    slug: str, title: str, description: str, demonstrates: str, elicitation: Elicitation
) -> Scenario:
    play = _asking(elicitation)
    return Scenario(slug, title, description, demonstrates, play, outcome="elicitation")


ROWS = (
    _row("defaults", "Defaults of every type", "Five questions, one of each type, each with a"
         " default.", "The form is filled in.", _DEFAULTS),
    _row("bad-defaults", "Invalid defaults", "Five questions whose defaults are not valid answers.",
         "The form is empty and explains why each default is invalid.", _BAD_DEFAULTS),
    _row("password", "Password request", "A request for a user name and a password.",
         "The form warns that the agent seems to ask for a secret.", _PASSWORD),
    _row("unknown-question", "Unknown question types", "Questions of the types date and"
         " colour_wheel, and one whose type is a list.", "The form has text fields and says that"
         " the types are unknown.", _UNKNOWN),
    _row("duplicate-ids", "Duplicate ids", "Two questions with the same id and one without an id.",
         "All three are shown, with a note that they cannot be distinguished.", _DUPLICATES),
    _row("object-options", "Options as objects", "A choice between objects, a number, null and a"
         " string.", "The form offers the valid options and lists the invalid ones.", _OBJECTS),
    _row("no-options", "No options", "Select questions without options, with an empty list and"
         " with a string instead of a list.", "The form has text fields.", _NO_OPTIONS),
    _row("html-labels", "HTML in labels", "Markup and scripts in the text, ids and options of"
         " questions.", "The markup is shown as text; no script runs.", _HTML),
    _row("odd-questions", "Questions as an object", "An object where the list of questions is"
         " expected.", "The form has one free-text field.", _QUESTIONS_ODD),
    _row("many-questions", "500 questions", "An elicitation with 500 questions.",
         "The first questions are shown, with the number of the others.", _MANY_QUESTIONS),
    _row("long-question", "1 MB of text", "An elicitation with 1 MB of text.",
         "The beginning of the text and the question are shown.", _LONG),
)  # fmt: skip
