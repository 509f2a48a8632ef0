"""The lessons that ship, taken by a learner: wrong first, hint by hint, then the solution."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from playground.collections.files import LESSON_FILES
from playground.collections.fixture_parser import parse_fixture
from playground.lesson_format.lesson import Lesson, LessonStep, evaluate_check
from playground.ui.markdown import plain
from tests.support.playground_server import PlaygroundServer

#: Django takes any token of this length that comes both as a cookie and as a header.
_TOKEN = "t" * 32
HTMX = {"HX-Request": "true"}
#: Artificial delays of the demo agent: next to none.
FAST = [["Demo-Pace", "0.02"]]

Fields = Mapping[str, Any]


class Learner:
    """The browser of a learner."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(
            base_url=url,
            headers={"Cookie": f"playground_csrf={_TOKEN}", "X-CSRFToken": _TOKEN},
            timeout=30,
            trust_env=False,
        )
        self._runs: set[str] = set()

    def post(self, path: str, **fields: Any) -> str:
        """Post what a button of the page posts; returns the fragment, or where it leads to."""
        response = self.http.post(path, data=fields, headers=HTMX)
        assert response.status_code == 200, (path, response.status_code, response.text)
        return response.headers.get("HX-Push-Url", response.text)

    def fields_of(self, collection: str, saved: str) -> dict[str, str]:
        """Return a saved request as the composer's fields."""
        path = f"/collections/{collection}/requests/{saved}/"
        response = self.http.get(path, headers={"Accept": "application/json"})
        assert response.status_code == 200, path
        return response.json()["fields"]

    def send(self, fields: Fields, document: Any = None, *, pace: Any = FAST) -> str:
        """Send a request as Send does, wait for its end, and return the key of its run."""
        changed = {} if document is None else {"document": json.dumps(document)}
        response = self.http.post("/runs/", data={**fields, **changed, "headers": json.dumps(pace)})
        assert response.status_code == 302, response.text
        return self.wait(response.headers["Location"])

    def wait(self, page: str) -> str:
        """Wait for the end of the run with this page, and return its key."""
        run = page.split("/")[2]
        self._runs.add(run)
        self.until(lambda: "data-final" in self.http.get(f"{page}response/").text)
        return run

    def forget(self) -> None:
        """Delete the runs, and with them the polls that a later step would count."""
        if self._runs:
            fields = {"run": sorted(self._runs)}
            path = "/history/deletion/"
            assert self.until(lambda: self.http.post(path, data=fields).status_code == 302)
            self._runs.clear()

    def until(self, is_so: Callable[[], bool], seconds: float = 20) -> bool:
        """Return whether something becomes so."""
        end = time.monotonic() + seconds
        while not (found := is_so()) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    def document(self, run: str) -> str:
        """Return the response document of a run, as text of a page."""
        return self.http.get(f"/runs/{run}/document/").text.replace("&quot;", '"')

    def entry(self, run: str) -> dict[str, str]:
        """Return the entry of the first form in a response, as the fields that name it."""
        text = " ".join(self.http.get(f"/runs/{run}/response/").text.split())
        found = re.search(
            r'name="seq" value="(\d+)"> ?<input type="hidden" name="part" value="(\d+)"', text
        )
        assert found, text
        return {"seq": found[1], "part": found[2]}

    def kinds(self, run: str, tab: str) -> set[str]:
        """Return the types of the events or frames that a tab shows."""
        text = self.http.get(f"/runs/{run}/{tab}/").text
        return set(re.findall(r'class="(?:event|wire-block|mark)" data-kind="([^"]+)"', text))


def is_passed(html: str) -> bool:
    """Return whether a fragment says that the step has passed."""
    return "Step passed." in html


ROOT = Path(__file__).resolve().parent.parent
SLUGS = [name.removesuffix(".json") for name in LESSON_FILES]


def text_of(slug: str) -> str:
    return (ROOT / "fixtures" / f"{slug}.json").read_text("utf-8")


def lesson_of(slug: str) -> Lesson:
    collection = parse_fixture(text_of(slug)).collection
    assert collection is not None
    return Lesson.of(collection["lesson"])


STEPS = [(slug, step.slug) for slug in SLUGS for step in lesson_of(slug).steps]

#: A query that finds nothing, which is wrong almost everywhere.
NOTHING = {"query": {"text": "xyzzy"}}
SOUP = {"query": {"text": "soup"}}
#: Wrong requests of steps that ask for a failure, or for any response at all.
WRONG: dict[str, Any] = {
    "nothing-found": SOUP,
    "ok-and-failed": SOUP,
    "alone": {"query": {"text": "something lighter"}, "context": {"prev": ["soup"]}},
    "clean": {"query": {"text": "fail TIMEOUT"}},
}
_HELLO = {"role": "user", "type": "message", "content": [{"type": "text", "text": "hello"}]}
#: A message that is answered with text, in a stream and without functions.
WRONG_MESSAGE = {"input": [_HELLO], "stream": True}


class TestEachFile:
    @pytest.mark.parametrize(("slug", "name"), STEPS)
    def test_each_step_has_a_check_two_hints_and_a_solution(self, slug: str, name: str) -> None:
        step = lesson_of(slug).step(name)
        assert step is not None
        assert step.text
        assert step.check is not None
        assert step.check.missing
        assert len(step.hints) >= 2
        assert step.solution is not None
        assert step.solution.text

    @pytest.mark.parametrize("slug", SLUGS)
    def test_has_four_to_eight_steps(self, slug: str) -> None:
        assert 4 <= len(lesson_of(slug).steps) <= 8

    @pytest.mark.parametrize("slug", SLUGS)
    def test_needs_no_network(self, slug: str) -> None:
        links = re.findall(
            r"\]\((.*?)\)", " ".join(plain(s.text, 9999) for s in lesson_of(slug).steps)
        )
        assert not links
        requests = parse_fixture(text_of(slug)).requests.values()
        assert all(each["address"][:1] in ("", "/") for each in requests)


@pytest.fixture(scope="module")
def learner(playground: PlaygroundServer) -> Iterator[Learner]:
    found = Learner(playground.url)
    yield found
    # The playground is that of other tests, too.
    for slug in SLUGS:
        found.http.post(f"/lessons/{slug}/progress/", data={"do": "close"})
    found.http.close()


@pytest.fixture(autouse=True)
def own_runs(learner: Learner) -> Iterator[None]:
    """Let no run of a test, or a poll of its promise, pass the step of the next one."""
    yield
    learner.forget()


class Attempt:
    """A step that a learner has opened."""

    def __init__(self, learner: Learner, slug: str, step: LessonStep) -> None:
        self.learner, self.slug, self.step = learner, slug, step
        self.path = f"/lessons/{slug}/steps/{step.slug}/"

    def check(self, **fields: Any) -> bool:
        return is_passed(self.learner.post(f"{self.path}check/", **fields))

    def start(self, **more: Any) -> str:
        """Send the request that the step begins with."""
        return self.learner.send(self.learner.fields_of(self.slug, self.step.request), **more)


def follow_up(attempt: Attempt) -> None:
    run = attempt.start()
    page = attempt.learner.post(f"/runs/{run}/next/", text="without nuts")
    attempt.learner.wait(page)


def stop(attempt: Attempt) -> None:
    fields = attempt.learner.fields_of(attempt.slug, attempt.step.request)
    response = attempt.learner.http.post("/runs/", data={**fields, "headers": "[]"})
    page = response.headers["Location"]
    attempt.learner.http.post(f"{page}cancellation/")
    attempt.learner.wait(page)


def answer_form(attempt: Attempt) -> None:
    learner = attempt.learner
    run = attempt.start()
    fields = {**learner.entry(run), "q0": "8", "q1": "main", "partial": "on"}
    page = learner.post(f"/runs/{run}/answers/", **fields, strategy="filters")
    assert page.startswith("/runs/"), page
    learner.wait(page)


def await_by_hand(attempt: Attempt) -> None:
    learner = attempt.learner
    run = attempt.start(pace=[])
    found = re.search(r'"token": ?"(promise_[^"]+)"', learner.document(run))
    assert found
    fields = learner.fields_of(attempt.slug, attempt.step.request)
    learner.send(fields, {"promise_token": found[1], "action": "checkin"}, pace=[])


def cancel_task(attempt: Attempt) -> None:
    run = attempt.start(pace=[])
    attempt.learner.http.post(f"/runs/{run}/promise/cancellation/")


def leave_out(attempt: Attempt) -> None:
    run = attempt.start()
    attempt.learner.post(f"/runs/{run}/session/", echo="off")
    attempt.learner.wait(attempt.learner.post(f"/runs/{run}/next/", text="without nuts"))


def run_action(attempt: Attempt) -> None:
    run = attempt.start()
    text = attempt.learner.http.get(f"/runs/{run}/response/").text
    found = re.search(rf"/runs/{run}/actions/\d+/\d+/0/", text)
    assert found
    path = found[0]
    panel = attempt.learner.http.get(path).text
    fields = dict(re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', panel))
    attempt.learner.http.post(path, data={**fields, "confirmed": "1"})


def return_output(attempt: Attempt) -> None:
    learner = attempt.learner
    run = attempt.start()
    text = learner.http.get(f"/runs/{run}/response/").text
    name = re.search(r'name="([^"]+)-output"', text)
    assert name
    output = {f"{name[1]}-output": "eggs", f"{name[1]}-format": "text"}
    learner.wait(learner.post(f"/runs/{run}/calls/", **learner.entry(run), **output))


#: Solutions that need more than one request, by step.
BY_HAND: dict[str, Callable[[Attempt], None]] = {
    "follow-up": follow_up,
    "send-back": follow_up,
    "stop": stop,
    "answer-form": answer_form,
    "by-hand": await_by_hand,
    "cancel": cancel_task,
    "leave-out": leave_out,
    "run": run_action,
    "output": return_output,
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize(("slug", "name"), STEPS)
def test_a_learner_passes_each_step(learner: Learner, slug: str, name: str) -> None:
    """Wrong first, then hint by hint, then the solution."""
    step = lesson_of(slug).step(name)
    assert step is not None
    assert step.check is not None
    attempt = Attempt(learner, slug, step)
    pane = learner.post(attempt.path)
    assert step.title in pane
    assert not is_passed(pane)
    if step.check.needs_answer:
        assert not attempt.check(answer="something else")
    else:
        fields = learner.fields_of(slug, step.request)
        wrong = WRONG.get(name, NOTHING)
        target = {**fields, "agent": fields["agent"] or "demo", "address": ""}
        if name == "message":
            target |= {"agent": "demo", "protocol": "nlweb", "version": "0.55"}
        elif fields["agent"] == "demo-agent-api":
            wrong = WRONG_MESSAGE
        learner.send(target, wrong)
        assert not attempt.check(), "The wrong request passes."
    for number, hint in enumerate(step.hints, 1):
        pane = " ".join(learner.post(f"{attempt.path}hints/").split())
        assert f"Hint {number}" in pane
        assert f"Hint {number + 1}" not in pane
        assert ("Show the solution" in pane) == (number == len(step.hints)), hint
    assert "Solution" in learner.post(f"{attempt.path}solution/")
    assert step.solution is not None
    if step.check.needs_answer:
        assert attempt.check(answer=step.solution.answer)
    elif step.check.passes_unsent:
        assert attempt.check(**learner.fields_of(slug, step.solution.request))
    else:
        if name in BY_HAND:
            BY_HAND[name](attempt)
        else:
            run = learner.send(learner.fields_of(slug, step.solution.request), pace=FAST)
            for look in step.look:
                if look.place and look.tab in {"events", "wire", "timeline"}:
                    assert look.place in learner.kinds(run, look.tab), look
        assert learner.until(attempt.check, 15)


@pytest.mark.parametrize(
    ("suspect", "question"), [("suspect", "which-rule"), ("second-suspect", "second-rule")]
)
def test_the_suspects_break_the_rules_that_the_answers_accept(
    learner: Learner, suspect: str, question: str
) -> None:
    slug = SLUGS[-1]
    run = learner.send(learner.fields_of(slug, suspect))
    findings = learner.http.get(f"/runs/{run}/conformance.json").json()["findings"]
    broken = {
        each["rule"] for each in findings if (each["level"], each["verdict"]) == ("must", "fail")
    }
    step = lesson_of(slug).step(question)
    assert step is not None
    assert step.check is not None
    accepted = {
        each["rule"] for each in findings if evaluate_check(step.check, [], each["rule"]).passed
    }
    assert broken
    assert accepted == broken
