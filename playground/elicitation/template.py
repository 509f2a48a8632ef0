"""Request template of the user: JSON with placeholders, filled in one pass.

Not a template engine: placeholders are only looked up, and inserted values are not scanned
again, so that an agent's text cannot introduce placeholders.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import json_decoder, json_errors
from playground.protocols.nlweb import requests
from playground.protocols.text import shorten

#: The most levels of nesting of a template.
MAX_DEPTH = 100

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class TemplateError(ValueError):
    """A template without a valid request. The message is a sentence for the user."""


def default_template(request: Any, has_session: bool) -> str:
    """Return a template to begin with: the previous request, with the answers in its context.

    In its query, if the context has a type of its own. `has_session` tells whether there is a
    session context to echo.
    """
    previous = requests.as_object(request)
    meta = requests.without(requests.as_object(previous.get("meta")), "session_context")
    if has_session:
        meta["session_context"] = "{{session_context}}"
    query, context = {"text": "{{text}}"}, {"prev": "{{prev}}", "answers": "{{answers}}"}
    if requests.foreign_context(previous):
        query, context = {**query, "answers": "{{answers}}"}, previous["context"]
    document = {
        "query": query,
        "context": context,
        "prefer": requests.as_object(previous.get("prefer")),
        "meta": meta,
    }
    sections = {name: section for name, section in document.items() if section}
    return json.dumps(sections, indent=2, ensure_ascii=False)


def fill_template(
    template: str, values: Mapping[str, Any], as_text: Callable[[Any], str]
) -> dict[str, Any]:
    """Return the document of a template with `values`, JSON values by placeholder name.

    A string that is one placeholder becomes the value itself, a placeholder within a longer
    string becomes text; names of members stay as they are. Raise `TemplateError` for anything
    but a JSON object, and for a placeholder without a value.
    """
    document = _read(template)

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
        return _PLACEHOLDER.sub(lambda found: as_text(look_up(found[1].strip())), value)

    return {name: filled(value) for name, value in document.items()}


def _read(template: str) -> dict[str, Any]:
    if not template.strip():
        raise TemplateError("The template is empty. Enter the JSON document to send.")
    if json_decoder.exceeds_depth(template, MAX_DEPTH):
        raise TemplateError(f"The template is nested more than {MAX_DEPTH} levels deep.")
    try:
        document = json_decoder.decode(template)
    except json.JSONDecodeError as error:
        problem = f"{json_errors.describe_error(error)} (line {error.lineno}, column {error.colno})"
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
