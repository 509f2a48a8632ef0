"""Problems of stored rows, which forms and imports refuse and `loaddata` does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from playground.lesson_format import lesson_problems
from playground.protocols import registry
from playground.protocols.origins import DEFAULT_PORTS, origin_of
from playground.variables import names_in


def row_problems(row: models.Model) -> list[str]:
    """Return the problems of a row's columns, as far as they are loaded."""
    deferred = row.get_deferred_fields()
    skipped = deferred | {each.name for each in row._meta.fields if each.is_relation}
    try:
        row.clean_fields(exclude=skipped)
    except ValidationError as error:
        return [f"{name}: {' '.join(found)}" for name, found in error.message_dict.items()]
    problems = {name: check(row) for name, check in _CHECKS.items() if name in row.__dict__}
    return [f"{name}: {problem}" for name, problem in problems.items() if problem]


def _url_problem(url: str) -> str:
    # A placeholder, or a path at the agent's origin, is a URL only when it is sent.
    if not url or url.startswith("/") or names_in(url):
        return ""
    is_url = origin_of(url).partition(":")[0] in DEFAULT_PORTS
    return "" if is_url else "Must be an HTTP or HTTPS URL."


def _version_problem(row: Any) -> str:
    known = [version.name for version in registry.versions(row.protocol)]
    return "" if row.version in known else f"Must be one of {', '.join(known)}."


#: Checks beyond those of the columns themselves, by column.
_CHECKS: Mapping[str, Callable[[Any], str]] = {
    "url": lambda row: _url_problem(row.url),
    "address": lambda row: _url_problem(row.address),
    "version": _version_problem,
    "lesson": lambda row: next((" ".join(found) for found in lesson_problems(row.lesson)), ""),
}
