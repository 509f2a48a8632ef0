"""Answer strategies: each derives the next request from the previous one and the answers.

Every strategy keeps the members of the previous request, so that those of earlier elicitations
stay; appends its query to `context.prev`; and echoes the session context. A context of a type of
its own stays as it is (0.55 section 3.2: its type determines its attributes): `omissions` has what
is sent differently for that reason.

The template of the strategy of that name is the user's JSON with placeholders, filled in one pass.
Not a template engine: placeholders are only looked up, and inserted values are not scanned again,
so that an agent's text cannot introduce placeholders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from playground.elicitation.form import ElicitationForm
from playground.protocols import json_decoder, lenient
from playground.protocols.nlweb import requests
from playground.protocols.text import shorten

#: Members of the query that a question must not overwrite.
_QUERY = frozenset({"text", "site"})
#: Members of a context with a meaning of their own.
_CONTEXT = frozenset({"@type", "@context", "@id", "prev", "text", "memory"})
#: The most levels of nesting of a template.
MAX_DEPTH = 100
_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")

Builder = Callable[["_StrategyInput"], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Strategy:
    """One answer strategy."""

    name: str
    label: str
    #: A sentence for the user.
    explanation: str
    build: Builder


@dataclass(frozen=True, slots=True)
class _StrategyInput:
    request: dict[str, Any]
    form: ElicitationForm
    values: Mapping[str, Any]
    #: The queries so far, including the one of this request.
    prev: list[str]
    session_context: Mapping[str, Any] | None
    template: str

    @property
    def query(self) -> Mapping[str, Any]:
        return lenient.members(self.request.get("query"))

    def carry(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the document with what every strategy keeps."""
        return requests.with_session_context(
            requests.with_previous(document, self.prev), self.session_context
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
    """Return the request that answers `form`, which the agent sent in response to `request`.

    `values` come from `read_answers`, by question id; `prev` holds the queries before `request`,
    oldest first (with or without that of `request` at the end); `session_context` is echoed,
    None for none; `template` is the text for the strategy of that name. Raise `TemplateError`
    for a template without a valid request, `ValueError` for an unknown strategy.
    """
    if strategy not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise ValueError(f"Unknown answer strategy {strategy!r}. Supported: {known}.")
    queries = requests.previous_queries([*prev, requests.query_text(request)])
    turn = _StrategyInput(
        requests.request_base(request), form, values, queries, session_context, template
    )
    return STRATEGIES[strategy].build(turn)


def _filters(turn: _StrategyInput) -> dict[str, Any]:
    """Set each answer as a member of the query; a repeated question replaces its answer."""
    query = {**turn.query, **_members(turn.values, _QUERY)}
    return turn.carry({**turn.request, "query": query})


def _text(turn: _StrategyInput) -> dict[str, Any]:
    """Append the answers as text to the query that was asked."""
    text = turn.query.get("text")
    parts = [text] if isinstance(text, str) and text.strip() else []
    if parts and parts[0][-1].isalnum() and not turn.form.text_only:
        parts[0] += "."  # Sentences follow; a free answer continues the query.
    query = {
        **turn.query,
        "text": " ".join([*parts, *answers_as_sentences(turn.form, turn.values)]),
    }
    return turn.carry({**turn.request, "query": query})


def omissions(request: Any, strategy: str, *, prev: Sequence[str]) -> list[str]:
    """Return sentences about what an answer to `request` omits, or sends in another place.

    The arguments are those of `next_request`. A template has what its author put there.
    """
    kind = requests.foreign_context(request)
    if not kind or strategy == "template":
        return []
    found = [requests.omitted_previous(request, [*prev, requests.query_text(request)])]
    if strategy == "context":
        found.append(
            f"Answers are sent as filters: the context type {shorten(kind, 60)} is not changed."
        )
    return [sentence for sentence in found if sentence]


def _context(turn: _StrategyInput) -> dict[str, Any]:
    """Add the answers to the context; as filters if its type has attributes of its own."""
    if requests.foreign_context(turn.request):
        return _filters(turn)
    context = {
        "@type": requests.CONVERSATION,
        **lenient.members(turn.request.get("context")),
        **_members(turn.values, _CONTEXT),
    }
    return turn.carry({**turn.request, "context": context})


def _template(turn: _StrategyInput) -> dict[str, Any]:
    """Fill in the user's own document; nothing else is added."""
    answers: dict[str, Any] = {field.id: turn.values.get(field.id) for field in turn.form.fields}
    names: dict[str, Any] = {
        "text": requests.query_text(turn.request),
        "answers": dict(turn.values),
        "prev": turn.prev,
        "session_context": turn.session_context,
        **{f"answers.{name}": value for name, value in answers.items()},
    }
    return fill_template(turn.template, names)


def _members(values: Mapping[str, Any], reserved: frozenset[str]) -> dict[str, Any]:
    """Return answers as members of an object; `answer_<id>` if the id has another meaning there."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        member = name
        while member in reserved or (member != name and member in values) or member in found:
            member = f"answer_{member}"
        found[member] = value
    return found


def answers_as_sentences(form: ElicitationForm, values: Mapping[str, Any]) -> list[str]:
    """Return the answers as text, a sentence for each: the question, then the answer."""
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
    """Return a value as text within a sentence: yes and no, lists with commas and an "and"."""
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
        "Filters",
        "Repeats the query with each answer as a filter named after its question.",
        _filters,
    ),
    Strategy(
        "text",
        "Query text",
        "Repeats the query with the answers as sentences at the end.",
        _text,
    ),
    Strategy(
        "context",
        "Context object",
        "Repeats the query with the answers as attributes of its context.",
        _context,
    ),
    Strategy(
        "template",
        "Custom template",
        "Sends your JSON document, with placeholders replaced by the answers.",
        _template,
    ),
)
STRATEGIES: Mapping[str, Strategy] = {row.name: row for row in _ROWS}


# Templates


class TemplateError(ValueError):
    """A template without a valid request. The message is a sentence for the user."""


def default_template(request: Any, has_session: bool) -> str:
    """Return a template to begin with: the previous request, with the answers in its context.

    In its query, if the context has a type of its own. `has_session` tells whether there is a
    session context to echo.
    """
    previous = lenient.members(request)
    meta = requests.without(lenient.members(previous.get("meta")), "session_context")
    if has_session:
        meta["session_context"] = "{{session_context}}"
    query, context = {"text": "{{text}}"}, {"prev": "{{prev}}", "answers": "{{answers}}"}
    if requests.foreign_context(previous):
        query, context = {**query, "answers": "{{answers}}"}, previous["context"]
    document = {
        "query": query,
        "context": context,
        "prefer": lenient.members(previous.get("prefer")),
        "meta": meta,
    }
    sections = {name: section for name, section in document.items() if section}
    return json.dumps(sections, indent=2, ensure_ascii=False)


def fill_template(template: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document of a template with `values`, JSON values by placeholder name.

    A string that is one placeholder becomes the value itself, a placeholder within a longer
    string becomes text; names of members stay as they are. Raise `TemplateError` for anything
    but a JSON object, and for a placeholder without a value.
    """
    document = _read_template(template)

    def look_up(name: str) -> Any:
        if name not in values:
            raise TemplateError(_unknown(name, values))
        return values[name]

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [filled(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if match := _PLACEHOLDER.fullmatch(value):
            return look_up(match[1].strip())
        return _PLACEHOLDER.sub(lambda found: value_as_text(look_up(found[1].strip())), value)

    return {name: filled(value) for name, value in document.items()}


def _read_template(template: str) -> dict[str, Any]:
    if not template.strip():
        raise TemplateError("The template is empty. Enter the JSON document to send.")
    if json_decoder.exceeds_depth(template, MAX_DEPTH):
        raise TemplateError(f"The template is nested more than {MAX_DEPTH} levels deep.")
    try:
        document = json_decoder.decode(template)
    except json.JSONDecodeError as error:
        problem = (
            f"{json_decoder.describe_error(error)} (line {error.lineno}, column {error.colno})"
        )
        raise TemplateError(f"The template is not valid JSON: {problem}.") from None
    except ValueError:
        raise TemplateError("The template has a number with too many digits.") from None
    if not isinstance(document, dict):
        raise TemplateError("The template must be a JSON object.")
    return document


def _unknown(name: str, values: Mapping[str, Any]) -> str:
    shown = shorten(name, 61)
    if name.startswith("answers."):
        return f"The agent sent no question with the id “{shown.removeprefix('answers.')}”."
    known = ", ".join(known for known in values if not known.startswith("answers."))
    return f"Unknown placeholder “{shown}”. Supported: {known} and answers.<id>."
