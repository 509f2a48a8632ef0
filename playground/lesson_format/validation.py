"""Problems of a lesson, found before it is stored: JSON Pointers into it, and sentences."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any

from playground.expectations import check_schema
from playground.lesson_format.lesson import REQUEST_MEMBERS, VERSION
from playground.lesson_format.schema_errors import Finding, SchemaErrors
from playground.protocols import lenient
from playground.protocols.events import EVENT_LABELS
from playground.protocols.frames import FrameKind

#: Limit on the characters of a lesson as JSON.
MAX_LESSON = 1_000_000

#: Errors of the schema that are reported, and parts that are checked beyond it: the schema allows
#: no more of them.
_MAX_ERRORS, _MAX_STEPS, _MAX_LINKS = 100, 100, 10

#: Types of frames, as places in the Wire tab.
FRAMES = tuple(kind.name.lower() for kind in FrameKind)

#: The tabs that a step can open, and what a place in each of them is; "" for none.
TABS: Mapping[str, str] = {
    "results": "",
    "timeline": "event",
    "sequence": "",
    "events": "event",
    "wire": "frame",
    "session": "",
    "conformance": "",
    "checks": "",
    "request": "pointer",
    "auth": "",
    "headers": "",
    "expect": "",
    "json": "",
}


@cache
def _schema() -> SchemaErrors:
    file = resources.files(__package__).joinpath("lesson.schema.json")
    return SchemaErrors(json.loads(file.read_text("utf-8")))


def lesson_problems(value: Any) -> Iterator[Finding]:
    """Yield the problems of a lesson; None is no lesson and has none. Never raise."""
    if value is None:
        return
    if len(json.dumps(value)) > MAX_LESSON:
        yield "", f"The lesson is longer than {MAX_LESSON:,} characters."
        return
    version = lenient.members(value).get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        yield (
            "/version",
            f"The lesson has version {version} of the format. This playground reads version"
            f" {VERSION}. Update the playground to import it.",
        )
        return
    yield from islice(_schema().of(value), _MAX_ERRORS)
    slugs: set[str] = set()
    for number, each in enumerate(_items(lenient.members(value), "steps", _MAX_STEPS)):
        step = lenient.members(each)
        slug = lenient.text(step.get("slug"))
        if slug in slugs:
            message = f"Duplicate slug: an earlier step also uses “{slug[:60]}”."
            yield f"/steps/{number}/slug", message
        slugs |= {slug} - {""}
        yield from _below(f"/steps/{number}", _step(step))


def requests_of(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the slugs of the saved requests that a valid lesson refers to, with their locations."""
    for number, step in enumerate(value["steps"] if value else ()):
        if slug := step.get("request", ""):
            yield f"/steps/{number}/request", slug
        if slug := step.get("solution", {}).get("request", ""):
            yield f"/steps/{number}/solution/request", slug


def with_requests(value: Any, slugs: Container[str]) -> Any:
    """Return a lesson without references to requests other than `slugs`: they were deleted."""
    missing = [(at, slug) for at, slug in requests_of(value) if slug not in slugs]
    if not missing:
        return value
    copied = copy.deepcopy(value)
    for pointer, _ in missing:
        _, _, number, *path = pointer.split("/")
        holder = copied["steps"][int(number)]
        if path[0] == "solution" and len(holder["solution"]) == 1:
            del holder["solution"]
        else:
            (holder["solution"] if path[0] == "solution" else holder).pop("request")
    return copied


def _items(value: Mapping[str, Any], name: str, limit: int) -> list[Any]:
    return lenient.items(value.get(name))[:limit]


def _below(pointer: str, problems: Iterator[Finding]) -> Iterator[Finding]:
    return ((pointer + inner, message) for inner, message in problems)


def _step(step: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the problems of a step that a schema cannot express."""
    for number, link in enumerate(_items(step, "look", _MAX_LINKS)):
        yield from _below(f"/look/{number}", _link(lenient.members(link)))
    check, solution = step.get("check"), step.get("solution")
    if isinstance(check, Mapping):
        yield from _below("/check", _check(check))
    if isinstance(solution, Mapping) and not any(solution.values()):
        yield "/solution", "A solution needs a text, a request or an answer."
    has_answer = bool(lenient.members(check).get("answer"))
    if has_answer and not step.get("question"):
        yield "/question", "A check of an answer needs a question."
    elif step.get("question") and not has_answer:
        yield "/question", "A question needs a check of its answer."


def _check(check: Mapping[str, Any]) -> Iterator[Finding]:
    expected = ("request", "run", "answer")
    for name in expected:
        for problem in check_schema(check[name]) if name in check else ():
            yield f"/{name}{problem.pointer}", problem.message
    if not any(map(check.get, expected)):
        yield "", "A check needs expectations in request, run or answer."
    elif check.get("answer") and (check.get("request") or check.get("run")):
        yield "", "A check of an answer cannot also check a request or a run."
    for name in ("request", "answer"):
        for number, each in enumerate(lenient.items(check.get(name))):
            if not isinstance(each, dict):
                continue
            if each.get("type") != "json":
                yield f"/{name}/{number}", "Only expectations of the type json can be met here."
            elif isinstance(path := each.get("path"), str) and (why := _PATHS[name](path)):
                yield f"/{name}/{number}/path", why


def _request_path_problem(path: str) -> str:
    """Return why a path finds nothing in any request; "" if it may find something."""
    first = _FIRST_MEMBER.match(path)
    if first is None:
        return ""
    is_known = first[1] in REQUEST_MEMBERS
    if is_known and (first[1] in _OBJECTS or not path[first.end() :].strip()):
        return ""
    names = ", ".join(f"$.{name}" for name in REQUEST_MEMBERS)
    return f"Nothing is there. The body of the request is $.document; the members are {names}."


#: The members of a request that have members.
_OBJECTS = ("document", "answers")
_FIRST_MEMBER = re.compile(r"\$\.([A-Za-z_]\w*)")
_PATHS: Mapping[str, Callable[[str], str]] = {
    "request": _request_path_problem,
    "answer": lambda path: (
        "" if path.strip() == "$" else "Must be $: the answer is a string without members."
    ),
}


def _link(link: Mapping[str, Any]) -> Iterator[Finding]:
    tab, place = link.get("tab"), link.get("place", "")
    if isinstance(tab, str) and tab not in TABS:
        yield "/tab", f"There is no tab “{tab[:60]}”. Tabs: {', '.join(TABS)}."
    elif isinstance(tab, str) and isinstance(place, str) and place:
        yield from _place(TABS[tab], place)


def _place(kind: str, place: str) -> Iterator[Finding]:
    if not kind:
        yield "/place", "This tab has no places. Remove the member."
    elif kind == "pointer" and not place.startswith("/"):
        yield "/place", "Must be a JSON Pointer, such as /query/text."
    elif kind == "event" and place not in EVENT_LABELS:
        yield "/place", f"Must be the type of an event: {', '.join(EVENT_LABELS)}."
    elif kind == "frame" and place not in FRAMES:
        yield "/place", f"Must be the type of a frame: {', '.join(FRAMES)}."
