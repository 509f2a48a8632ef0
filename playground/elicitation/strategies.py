"""The ways to answer: each makes the next request of the one that was asked and the answers.

All of them keep the request that was asked, so that what an earlier round of questions has
added stays; add its text to `context.prev`; and echo the session context.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.elicitation import template as templates
from playground.elicitation.form import ElicitationForm
from playground.protocols.nlweb import turns

#: Members of the query that no question may overwrite.
_QUERY = frozenset({"text", "site"})
#: Members of a context that mean something else than an answer.
_CONTEXT = frozenset({"@type", "@context", "@id", "prev", "text", "memory"})

Builder = Callable[["_Turn"], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to answer."""

    name: str
    label: str
    #: What it does, as a sentence for the user.
    explanation: str
    build: Builder


@dataclass(frozen=True, slots=True)
class _Turn:
    """What a strategy works with."""

    request: dict[str, Any]
    form: ElicitationForm
    values: Mapping[str, Any]
    #: The queries so far, the one that was asked included.
    prev: list[str]
    session_context: Mapping[str, Any] | None
    template: str

    @property
    def query(self) -> Mapping[str, Any]:
        return turns.as_object(self.request.get("query"))

    def carry(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document with what every strategy takes along."""
        return turns.with_session_context(
            turns.with_previous(document, self.prev), self.session_context
        )


def next_request(
    request: Any,
    form: ElicitationForm,
    values: Mapping[str, Any],
    strategy: str,
    *,
    prev: Sequence[str],
    session_context: Mapping[str, Any] | None,
    template: str = "",
) -> dict[str, Any]:
    """The request that answers `form`, which the agent sent in reply to `request`.

    `values` are those of `read_answers`, by question id; `prev` the queries before `request`,
    oldest first (with that of `request` itself at their end or not); `session_context` what is
    echoed, None for nothing; `template` the text for the strategy of that name. Raises
    `TemplateError` for a template that makes no request, `ValueError` for an unknown strategy.
    """
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise ValueError(f"There is no way to answer {strategy!r}; known are {known}.")
    queries = turns.previous_queries([*prev, turns.query_text(request)])
    turn = _Turn(turns.request_base(request), form, values, queries, session_context, template)
    return STRATEGIES[strategy].build(turn)


def _filters(turn: _Turn) -> dict[str, Any]:
    """Each answer as a member of the query; one asked again replaces the answer before."""
    query = {**turn.query, **_members(turn.values, _QUERY)}
    return turn.carry({**turn.request, "query": query})


def _text(turn: _Turn) -> dict[str, Any]:
    """The answers said after the question that was asked."""
    text = turn.query.get("text")
    parts = [text] if isinstance(text, str) and text.strip() else []
    if parts and parts[0][-1].isalnum() and not turn.form.text_only:
        parts[0] += "."  # Sentences follow; a free answer goes on where the query ended.
    query = {
        **turn.query,
        "text": " ".join([*parts, *answers_as_sentences(turn.form, turn.values)]),
    }
    return turn.carry({**turn.request, "query": query})


def _context(turn: _Turn) -> dict[str, Any]:
    """The answers beside what the context holds already; its type says that they are there."""
    context = {
        **turns.as_object(turn.request.get("context")),
        "@type": "ElicitationAnswers",
        **_members(turn.values, _CONTEXT),
        "prev": turn.prev,
    }
    return turns.with_session_context({**turn.request, "context": context}, turn.session_context)


def _template(turn: _Turn) -> dict[str, Any]:
    """The user's own document: nothing is added that it does not ask for."""
    answers: dict[str, Any] = {field.id: turn.values.get(field.id) for field in turn.form.fields}
    names: dict[str, Any] = {
        "text": turns.query_text(turn.request),
        "answers": dict(turn.values),
        "prev": turn.prev,
        "session_context": turn.session_context,
        **{f"answers.{name}": value for name, value in answers.items()},
    }
    return templates.fill_template(turn.template, names, value_as_text)


def _members(values: Mapping[str, Any], reserved: frozenset[str]) -> dict[str, Any]:
    """Answers as members of an object; `answer_<id>` where the id means something else there."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        member = name
        while member in reserved or (member != name and member in values) or member in found:
            member = f"answer_{member}"
        found[member] = value
    return found


def answers_as_sentences(form: ElicitationForm, values: Mapping[str, Any]) -> list[str]:
    """The answers in words, a sentence for each: the question, then what was answered."""
    found: list[str] = []
    for field in form.fields:
        if field.id not in values:
            continue
        answer = value_as_text(values[field.id]).strip()
        end = "" if answer.endswith((".", "!", "?", "…")) else "."
        if form.text_only:
            found.append(f"{answer}{end}")
            continue
        question = field.text.strip()
        colon = ":" if question[-1:].isalnum() else ""
        found.append(f"{question}{colon} {answer}{end}")
    return found


def value_as_text(value: Any) -> str:
    """A value as it stands within a sentence: yes and no, lists with commas and an "and"."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        *first, last = value or ("",)
        return f"{', '.join(first)} and {last}" if first else last
    return "" if value is None else json.dumps(value, ensure_ascii=False)


_ROWS = (
    Strategy(
        "filters",
        "As filters",
        "Sends the same query again with each answer as an attribute of it, named after the"
        " question.",
        _filters,
    ),
    Strategy(
        "text",
        "In the text",
        "Sends the same query again with the answers said in sentences at the end of its text.",
        _text,
    ),
    Strategy(
        "context",
        "In the context",
        "Sends the same query again with the answers in a context object of the type"
        " ElicitationAnswers.",
        _context,
    ),
    Strategy(
        "template",
        "My own template",
        "Sends the JSON document that you write, with the answers where your placeholders stand.",
        _template,
    ),
)
STRATEGIES: Mapping[str, Strategy] = {row.name: row for row in _ROWS}
