"""A lesson, its steps and their checks, read from the JSON that a collection stores.

Reading never fails: a member of the wrong type reads as absent. `lesson_problems` reports what is
wrong with a lesson before it is stored: JSON Pointers into it, and sentences.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from itertools import islice
from typing import Any, Self

from playground.expectations import Check, RunFacts, StepLimit, check_schema, evaluate
from playground.expectations.jsonpath import member_segment
from playground.lesson_format.schema_errors import Finding, SchemaErrors
from playground.protocols import lenient
from playground.protocols.events import EVENT_LABELS
from playground.protocols.frames import FrameKind

#: The version of the format; a lesson with a later one is not imported.
VERSION = 1
#: The slug of a step.
SLUG = re.compile(r"[-a-zA-Z0-9_]{1,60}")


@dataclass(frozen=True, slots=True)
class LookAt:
    """A link that opens a tab, and marks a place in it."""

    label: str
    #: A key of `TABS`.
    tab: str
    #: The place in the tab: a JSON pointer, or the type of an event or a frame; "" for none.
    place: str = ""

    @classmethod
    def of(cls, value: Any) -> Self:
        return cls(_text(value, "label"), _text(value, "tab"), _text(value, "place"))


@dataclass(frozen=True, slots=True)
class StepCheck:
    """The condition that passes a step.

    `request` and `run` are expectations of one and the same run: of its request, and of its
    response. Without `run` a request passes as soon as it is composed. `answer` are expectations
    of what the learner enters.
    """

    request: Sequence[Any] = ()
    run: Sequence[Any] = ()
    answer: Sequence[Any] = ()
    #: A sentence that is shown as long as the check fails.
    missing: str = ""

    @classmethod
    def of(cls, value: Any) -> Self | None:
        if not isinstance(value, Mapping):
            return None
        request, run, answer = (_list(value, name) for name in ("request", "run", "answer"))
        return cls(request, run, answer, _text(value, "missing"))

    @property
    def needs_answer(self) -> bool:
        return bool(self.answer)

    @property
    def names_kind(self) -> bool:
        paths = (each.get("path") for each in self.request if isinstance(each, Mapping))
        return "$.kind" in paths

    @property
    def passes_unsent(self) -> bool:
        """Return whether a request passes as soon as it is composed."""
        return bool(self.request) and not self.run


@dataclass(frozen=True, slots=True)
class Solution:
    """What solves a step: a text, a saved request, or what to enter."""

    text: str = ""
    #: The slug of a saved request.
    request: str = ""
    answer: str = ""

    @classmethod
    def of(cls, value: Any) -> Self | None:
        if not isinstance(value, Mapping):
            return None
        return cls(_text(value, "text"), _text(value, "request"), _text(value, "answer"))


@dataclass(frozen=True, slots=True)
class LessonStep:
    """A step of a lesson."""

    slug: str
    title: str
    #: Markdown.
    text: str = ""
    #: The slug of the saved request that the step begins with; "" for none.
    request: str = ""
    look: tuple[LookAt, ...] = ()
    #: What the learner is asked to enter; "" for nothing.
    question: str = ""
    check: StepCheck | None = None
    #: Markdown.
    hints: tuple[str, ...] = ()
    solution: Solution | None = None

    @classmethod
    def of(cls, value: Any, number: int) -> Self:
        """Read a step; `number` names one without a valid slug."""
        slug = _text(value, "slug")
        return cls(
            slug=slug if SLUG.fullmatch(slug) else f"step-{number}",
            title=_text(value, "title") or f"Step {number}",
            text=_text(value, "text"),
            request=_text(value, "request"),
            look=tuple(map(LookAt.of, _list(value, "look"))),
            question=_text(value, "question"),
            check=StepCheck.of(_member(value, "check")),
            hints=tuple(hint for hint in _list(value, "hints") if isinstance(hint, str)),
            solution=Solution.of(_member(value, "solution")),
        )


@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson: its steps, and about how many minutes they take."""

    steps: tuple[LessonStep, ...] = ()
    #: 0 if unknown.
    minutes: int = 0

    @classmethod
    def of(cls, value: Any) -> Self:
        minutes = _member(value, "minutes")
        return cls(
            tuple(
                LessonStep.of(each, number) for number, each in enumerate(_list(value, "steps"), 1)
            ),
            minutes if isinstance(minutes, int) and not isinstance(minutes, bool) else 0,
        )

    def step(self, slug: str) -> LessonStep | None:
        return next((each for each in self.steps if each.slug == slug), None)

    def number_of(self, step: LessonStep) -> int:
        """Return the number of a step, from 1."""
        return self.steps.index(step) + 1

    def after(self, step: LessonStep) -> LessonStep | None:
        number = self.number_of(step)
        return self.steps[number] if number < len(self.steps) else None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _text(value: Any, name: str) -> str:
    found = _member(value, name)
    return found if isinstance(found, str) else ""


def _list(value: Any, name: str) -> list[Any]:
    found = _member(value, name)
    return found if isinstance(found, list) else []


# Checks: evaluated on requests and on an answer, and suggested from a run

#: The members of a request that a check can look into.
REQUEST_MEMBERS = (
    "kind", "document", "protocol", "binding", "version", "url", "answers", "continues",
)  # fmt: skip
#: Names that a JSONPath has without quotes.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Subject:
    """A request that is checked: one that was sent, or one that is composed.

    `request` is the JSON object that paths of `StepCheck.request` look into: `kind` (`ask`,
    `answer`, `poll`, `cancel`, `client_response`, `action`), `document`, `protocol`, `binding`,
    `version`, `url`, `answers` (to an elicitation) and `continues` (whether it follows a turn).
    """

    def __init__(
        self, request: Mapping[str, Any], read_facts: Callable[[], RunFacts] | None = None
    ) -> None:
        self.request = request
        self._read_facts = read_facts

    @cached_property
    def facts(self) -> RunFacts | None:
        """Return the facts about its run, None for a composed request."""
        return self._read_facts() if self._read_facts is not None else None


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a step's check."""

    passed: bool
    #: The checks of the subject that came closest; empty if there was none.
    checks: Sequence[Check] = ()

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.met is not True]


def evaluate_check(
    check: StepCheck, subjects: Iterable[Subject], answer: str | None = None
) -> CheckResult:
    """Evaluate a check; one subject that satisfies all of it is enough.

    `subjects` are in order of preference: of those that come equally close, the result is about
    the first. Reading the facts about a run is expensive, and done only if its request passes.
    Never raise.
    """
    if check.needs_answer:
        if answer is None:
            return CheckResult(False)
        return _result(evaluate(list(check.answer), _facts_of(answer.strip())))
    best: tuple[int, CheckResult] | None = None
    limit = StepLimit()
    for subject in subjects:
        checks = evaluate(list(check.request), _facts_of(subject.request), limit)
        if all(each.met for each in checks) and check.run:
            if subject.facts is None:
                continue
            checks += evaluate(list(check.run), subject.facts, limit)
        result = _result(checks)
        if result.passed:
            return result
        met = sum(each.met is True for each in checks)
        if best is None or met > best[0]:
            best = met, result
    return best[1] if best else CheckResult(False)


def _result(checks: list[Check]) -> CheckResult:
    return CheckResult(bool(checks) and all(check.met is True for check in checks), checks)


def _facts_of(document: Any) -> RunFacts:
    return RunFacts(state="completed", outcome="none", document=document)


def suggested_check(
    run_facts: RunFacts, request: Mapping[str, Any], opened: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """Return `{"request": […], "run": […]}` for a step that opens a request.

    The times and the number of results of a run depend on the machine and on the query, so they
    are left out. `request` is what was sent, `opened` the request that the step opens.
    """
    run: list[dict[str, Any]] = [{"type": "outcome", "equals": run_facts.outcome}]
    if run_facts.outcome == "failure":
        codes = [code for code in run_facts.failures if code]
        run += [{"type": "failure", "code": code} for code in codes[-1:]]
    elif run_facts.results:
        run.append({"type": "results", "min": 1})
    return {"request": list(_added(request, opened, "$.document")), "run": run}


def _added(after: Any, before: Any, path: str) -> Iterator[dict[str, Any]]:
    """Yield expectations of members that were added, with their value unless it is an array, or
    whose simple value was changed."""
    known = before if isinstance(before, Mapping) else {}
    for name, value in after.items():
        at = path + (f".{name}" if _NAME.fullmatch(name) else member_segment(name))
        if isinstance(value, Mapping):
            yield from _added(value, known.get(name), at)
        elif name in known and value == known[name]:
            continue
        elif not isinstance(value, list):
            yield {"type": "json", "path": at, "equals": value}
        elif name not in known:
            yield {"type": "json", "path": at, "exists": True}


# Validation: the JSON Schema, and what it cannot express

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
    version = _member(value, "version")
    if isinstance(version, int) and not isinstance(version, bool) and version > VERSION:
        yield (
            "/version",
            f"The lesson has version {version} of the format. This playground reads version"
            f" {VERSION}. Update the playground to import it.",
        )
        return
    yield from islice(_schema().of(value), _MAX_ERRORS)
    slugs: set[str] = set()
    for number, each in enumerate(_list(value, "steps")[:_MAX_STEPS]):
        step = lenient.members(each)
        slug = _text(step, "slug")
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


def _below(pointer: str, problems: Iterator[Finding]) -> Iterator[Finding]:
    return ((pointer + inner, message) for inner, message in problems)


def _step(step: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the problems of a step that a schema cannot express."""
    for number, link in enumerate(_list(step, "look")[:_MAX_LINKS]):
        yield from _below(f"/look/{number}", _link(lenient.members(link)))
    check, solution = step.get("check"), step.get("solution")
    if isinstance(check, Mapping):
        yield from _below("/check", _check(check))
    if isinstance(solution, Mapping) and not any(solution.values()):
        yield "/solution", "A solution needs a text, a request or an answer."
    has_answer = bool(_member(check, "answer"))
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
        for number, each in enumerate(_list(check, name)):
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
