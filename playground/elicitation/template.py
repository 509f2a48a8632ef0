"""The user's own request: JSON with placeholders, filled in one pass.

No template engine: there is nothing but names to look up, and what is filled in is never
looked at again, so that an agent's text cannot bring placeholders of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from playground.protocols import json_decoder, json_errors
from playground.protocols.nlweb import turns
from playground.protocols.text import shorten

#: How deep a template may be nested.
MAX_DEPTH = 100

_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


class TemplateError(ValueError):
    """A template that makes no request. The message is a sentence for the user."""


def default_template(request: Any, has_session: bool) -> str:
    """A template to begin with: like the request that was asked, the answers in its context.

    `has_session` says whether there is a session context to echo.
    """
    asked = turns.as_object(request)
    meta = turns.without(turns.as_object(asked.get("meta")), "session_context")
    if has_session:
        meta["session_context"] = "{{session_context}}"
    document = {
        "query": {"text": "{{text}}"},
        "context": {"@type": "ElicitationAnswers", "prev": "{{prev}}", "answers": "{{answers}}"},
        "prefer": turns.as_object(asked.get("prefer")),
        "meta": meta,
    }
    sections = {name: section for name, section in document.items() if section}
    return json.dumps(sections, indent=2, ensure_ascii=False)


def fill_template(
    template: str, values: Mapping[str, Any], in_words: Callable[[Any], str]
) -> dict[str, Any]:
    """The document that a template makes with `values`, placeholder names to JSON values.

    A string that is one placeholder becomes the value itself, a placeholder within a longer
    string the value in words; names of members are left as they are. Raises `TemplateError`
    for what is not a JSON object or has a placeholder that is not in `values`.
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
        if whole := _PLACEHOLDER.fullmatch(value):
            return look_up(whole[1].strip())
        return _PLACEHOLDER.sub(lambda found: in_words(look_up(found[1].strip())), value)

    return {name: filled(value) for name, value in document.items()}


def _read(template: str) -> dict[str, Any]:
    if not template.strip():
        raise TemplateError("The template is empty: write the JSON document to send.")
    if json_decoder.exceeds_depth(template, MAX_DEPTH):
        raise TemplateError(f"The template is nested more than {MAX_DEPTH} levels deep.")
    try:
        document = json_decoder.decode(template)
    except json.JSONDecodeError as error:
        fault = f"{json_errors.said(error)} (line {error.lineno}, column {error.colno})"
        raise TemplateError(f"The template is not JSON: {fault}.") from None
    except ValueError:
        raise TemplateError("The template has a number with too many digits.") from None
    if not isinstance(document, dict):
        raise TemplateError("The template must be a JSON object.")
    return document


def _unknown(name: str, values: Mapping[str, Any]) -> str:
    shown = shorten(name, 61)
    if name.startswith("answers."):
        return f"The agent asked no question with the id “{shown.removeprefix('answers.')}”."
    known = ", ".join(known for known in values if not known.startswith("answers."))
    return f"There is no placeholder “{shown}”; known are {known} and answers.<id>."
