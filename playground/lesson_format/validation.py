"""Problems of a lesson, found before it is stored: JSON Pointers into it, and sentences."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from playground.expectations import check_schema
from playground.lesson_format.lesson import REQUEST_MEMBERS, SLUG, VERSION
from playground.protocols.events import EVENT_LABELS
from playground.protocols.frames import FrameKind
from playground.protocols.json_pointer import escape

#: Location and sentence.
LessonProblem = tuple[str, str]

MAX_STEPS, MAX_HINTS, MAX_LINKS = 100, 10, 10
MAX_TITLE, MAX_TEXT, MAX_MINUTES = 120, 20_000, 600
#: Limit on the characters of a lesson as JSON.
MAX_LESSON = 1_000_000

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
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

Check = Callable[[Any], Iterator[LessonProblem]]


def lesson_problems(value: Any) -> Iterator[LessonProblem]:
    """Yield the problems of a lesson; None is no lesson and has none. Never raise."""
    if value is None:
        return
    if not isinstance(value, dict):
        yield "", "A lesson must be an object with version and steps."
        return
    if len(json.dumps(value)) > MAX_LESSON:
        yield "", f"The lesson is longer than {MAX_LESSON:,} characters."
        return
    version = value.get("version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        yield (
            "/version",
            f"The lesson has version {version} of the format. This playground reads version"
            f" {VERSION}. Update the playground to import it.",
        )
        return
    yield from _members(value, _LESSON, required=("version", "steps"))


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


def _members(
    value: Any, checks: Mapping[str, Check], required: tuple[str, ...] = ()
) -> Iterator[LessonProblem]:
    if not isinstance(value, dict):
        yield "", "Must be an object."
        return
    for name in required:
        if name not in value:
            yield "", f"“{name}” is missing."
    for name, member in value.items():
        if name not in checks:
            yield f"/{escape(name[:60])}", f"Unknown member. Supported: {', '.join(checks)}."
            continue
        yield from _below(name, checks[name](member))


def _below(name: str | int, problems: Iterator[LessonProblem]) -> Iterator[LessonProblem]:
    for pointer, message in problems:
        yield f"/{name}{pointer}", message


def _text(limit: int, *, empty: bool = True) -> Check:
    def check(value: Any) -> Iterator[LessonProblem]:
        if not isinstance(value, str):
            yield "", "Must be a string."
        elif _UNSTORABLE.search(value):
            yield "", "Contains U+0000 or a lone surrogate, which cannot be stored."
        elif len(value) > limit:
            yield "", f"Too long: {len(value):,} characters. The limit is {limit:,}."
        elif not empty and not value.strip():
            yield "", "Must not be empty."

    return check


def _list(limit: int, check_item: Check) -> Check:
    def check(value: Any) -> Iterator[LessonProblem]:
        if not isinstance(value, list):
            yield "", "Must be an array."
        elif len(value) > limit:
            yield "", f"Too many: {len(value):,}. The limit is {limit:,}."
        else:
            for number, item in enumerate(value):
                yield from _below(number, check_item(item))

    return check


def _version(value: Any) -> Iterator[LessonProblem]:
    if value != VERSION or isinstance(value, bool):
        yield "", f"Must be {VERSION}."


def _minutes(value: Any) -> Iterator[LessonProblem]:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= MAX_MINUTES:
        yield "", f"Must be an integer from 1 to {MAX_MINUTES}."


def _slug(value: Any) -> Iterator[LessonProblem]:
    if not isinstance(value, str) or not SLUG.fullmatch(value):
        yield "", "Use ASCII letters, digits, hyphens and underscores, 1 to 60 characters."


def _request(value: Any) -> Iterator[LessonProblem]:
    if not isinstance(value, str):
        yield "", "Must be the slug of a request of the collection."


def _expectations(value: Any) -> Iterator[LessonProblem]:
    for problem in check_schema(value):
        yield problem.pointer, problem.message


def _check(value: Any) -> Iterator[LessonProblem]:
    yield from _members(value, _CHECK)
    if not isinstance(value, dict):
        return
    if not any(value.get(name) for name in ("request", "run", "answer")):
        yield "", "A check needs expectations in request, run or answer."
    elif value.get("answer") and (value.get("request") or value.get("run")):
        yield "", "A check of an answer cannot also check a request or a run."
    for name in ("request", "answer"):
        expectations = value.get(name)
        for number, each in enumerate(expectations if isinstance(expectations, list) else ()):
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


def _look(value: Any) -> Iterator[LessonProblem]:
    yield from _members(value, _LOOK, required=("label", "tab"))
    if not isinstance(value, dict) or not isinstance(value.get("tab"), str):
        return
    tab, place = value["tab"], value.get("place", "")
    if tab not in TABS:
        yield "/tab", f"There is no tab “{tab[:60]}”. Tabs: {', '.join(TABS)}."
    elif isinstance(place, str) and place:
        yield from _place(TABS[tab], place)


def _place(kind: str, place: str) -> Iterator[LessonProblem]:
    if not kind:
        yield "/place", "This tab has no places. Remove the member."
    elif kind == "pointer" and not place.startswith("/"):
        yield "/place", "Must be a JSON Pointer, such as /query/text."
    elif kind == "event" and place not in EVENT_LABELS:
        yield "/place", f"Must be the type of an event: {', '.join(EVENT_LABELS)}."
    elif kind == "frame" and place not in FRAMES:
        yield "/place", f"Must be the type of a frame: {', '.join(FRAMES)}."


def _solution(value: Any) -> Iterator[LessonProblem]:
    yield from _members(value, _SOLUTION)
    if isinstance(value, dict) and not any(value.values()):
        yield "", "A solution needs a text, a request or an answer."


def _step(value: Any) -> Iterator[LessonProblem]:
    yield from _members(value, _STEP, required=("slug", "title", "text"))
    check = value.get("check") if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return
    has_answer = isinstance(check, dict) and bool(check.get("answer"))
    if has_answer and not value.get("question"):
        yield "/question", "A check of an answer needs a question."
    elif value.get("question") and not has_answer:
        yield "/question", "A question needs a check of its answer."


def _steps(value: Any) -> Iterator[LessonProblem]:
    yield from _list(MAX_STEPS, _step)(value)
    if not isinstance(value, list) or len(value) > MAX_STEPS:
        return
    if not value:
        yield "", "A lesson needs at least one step."
    slugs: set[str] = set()
    for number, step in enumerate(value):
        slug = step.get("slug") if isinstance(step, dict) else None
        if isinstance(slug, str) and slug in slugs:
            yield f"/{number}/slug", f"Duplicate slug: an earlier step also uses “{slug[:60]}”."
        elif isinstance(slug, str):
            slugs.add(slug)


_LOOK: Mapping[str, Check] = {
    "label": _text(MAX_TITLE, empty=False),
    "tab": _text(MAX_TITLE),
    "place": _text(MAX_TITLE),
}
_CHECK: Mapping[str, Check] = {
    "request": _expectations,
    "run": _expectations,
    "answer": _expectations,
    "missing": _text(1_000),
}
_SOLUTION: Mapping[str, Check] = {
    "text": _text(MAX_TEXT),
    "request": _request,
    "answer": _text(1_000),
}
_STEP: Mapping[str, Check] = {
    "slug": _slug,
    "title": _text(MAX_TITLE, empty=False),
    "text": _text(MAX_TEXT),
    "request": _request,
    "look": _list(MAX_LINKS, _look),
    "question": _text(1_000),
    "check": _check,
    "hints": _list(MAX_HINTS, _text(MAX_TEXT, empty=False)),
    "solution": _solution,
}
_LESSON: Mapping[str, Check] = {"version": _version, "minutes": _minutes, "steps": _steps}
