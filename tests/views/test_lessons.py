"""Lessons in the page: the list, the pane, its checks, import of others' lessons, and editing."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from playground.collections.fixture import dump
from playground.collections.fixture_parser import parse_fixture
from playground.expectations import EXPECTATION_TYPES, check_schema
from playground.lessons import views
from playground.lessons.pane import expectation_examples
from playground.models import Agent, Collection, LessonProgress, Run, SavedRequest
from tests.support.collections import HTMX
from tests.support.markup import one_line
from tests.support.stored_runs import past_run
from tests.views.conftest import form

ANSWER = {"type": "outcome", "equals": "answer"}
SITE = {"type": "json", "path": "$.document.query.site", "equals": "x"}


def lesson(*steps: dict[str, Any]) -> dict[str, Any]:
    found = [{"slug": f"s{n}", "title": f"Title {n}", "text": "Do it.", **step}
             for n, step in enumerate(steps, 1)]  # fmt: skip
    return {"version": 1, "minutes": 5, "steps": found}


STEPS = lesson(
    {"request": "soup", "check": {"run": [ANSWER], "missing": "No answer yet."},
     "hints": ["Look *up*.", "Look down."], "solution": {"text": "Send it.", "request": "soup"}},
    {"check": {"request": [SITE]}},
    {"question": "Which?", "check": {"answer": [{"type": "json", "path": "$", "equals": "@type"}]},
     "solution": {"answer": "@type"}},
    {},
)  # fmt: skip


@pytest.fixture
def collection(agent: Agent) -> Collection:
    found: Collection = Collection.objects.create(name="Basics", slug="basics", lesson=STEPS)
    document = {"query": {"text": "soup"}}
    SavedRequest.objects.create(
        collection=found, name="Soup", slug="soup", agent="recipes", document=document
    )
    return found


def start(client: Client, do: str = "start") -> str:
    return client.post("/lessons/basics/progress/", {"do": do}).headers["Location"]


def post(client: Client, path: str, **fields: Any) -> str:
    response = client.post(f"/lessons/basics/steps/{path}", fields, headers=HTMX)
    assert response.status_code == 200
    return one_line(response)


def finished(outcome: str = "answer", **fields: Any) -> Run:
    request = {"query": {"text": "soup"}}
    return past_run(outcome=outcome, request=request, ended_us=1, **fields)


@pytest.mark.usefixtures("collection")
class TestLearner:
    def test_the_list_and_the_page(self, client: Client) -> None:
        assert "Basics" in client.get("/lessons/").text
        page = client.get("/lessons/basics/").text
        assert "Title 4" in page
        assert "Start lesson" in page
        assert 'id="lesson"' not in client.get("/").text

    def test_start_opens_the_pane_and_the_request(self, client: Client) -> None:
        assert start(client) == "/collections/basics/requests/soup/"
        page = client.get("/").text
        assert "Title 1" in page
        assert 'data-saved="basics/soup"' in page
        assert "Skip to the lesson" in page

    def test_a_step_passes_by_a_run_that_came_after_it_was_shown(self, client: Client) -> None:
        finished()
        start(client)
        assert "checked when it has arrived" in post(client, "s1/check/")
        finished("failure")
        failed = post(client, "s1/check/")
        assert "No answer yet." in failed
        assert "the outcome is answer. Actual: failure" in failed
        finished()
        passed = post(client, "s1/check/")
        assert "<li>The outcome is answer" in passed
        assert "Step passed." in passed
        assert "Next step" in passed

    def test_a_page_changes_the_part_that_is_sent_in_place(self, client: Client) -> None:
        """As long as it shows the step that the part is about."""
        start(client)
        finished("failure")
        for path, part in (("check", "check"), ("hints", "help"), ("solution", "help")):
            assert re.findall('id="([^"]+)" [^>]*hx-swap-oob', post(client, f"s1/{path}/")) == [
                f"lesson-{part}"
            ]
        finished()
        passed = post(client, "s1/check/")
        assert re.findall('id="([^"]+)" [^>]*hx-swap-oob', passed) == ["lesson"]
        assert set(re.findall('data-step="([^"]*)"', passed)) == {"s1"}
        assert "hx-swap-oob" not in post(client, "s2/")

    def test_a_step_that_was_opened_while_another_one_was_checked_stays_open(
        self, client: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        start(client)
        finished()
        plain = views.evaluate_check

        def evaluate(*args: Any) -> Any:
            post(client, "s2/")
            return plain(*args)

        monkeypatch.setattr(views, "evaluate_check", evaluate)
        post(client, "s1/check/")
        progress = LessonProgress.objects.get()
        assert progress.step == "s2"
        assert progress.steps["s1"]["passed"]
        assert "s2" in progress.steps

    @pytest.mark.parametrize(
        "fields", [{"source": "recording"}, {"source": "collection"}, {"kind": "check"}]
    )
    def test_runs_that_the_learner_did_not_send_do_not_count(
        self, client: Client, fields: dict[str, str]
    ) -> None:
        start(client)
        finished(**fields)
        assert "Step passed." not in post(client, "s1/check/")

    def test_polls_count_for_a_check_that_names_them(
        self, client: Client, collection: Collection
    ) -> None:
        poll = {"type": "json", "path": "$.kind", "equals": "poll"}
        collection.lesson = lesson({"check": {"request": [poll], "run": [ANSWER]}})
        collection.save()
        start(client)
        finished(kind="check")
        assert "Step passed." in post(client, "s1/check/")

    def test_a_check_that_cannot_be_met_fails_and_the_lesson_goes_on(
        self, client: Client, collection: Collection
    ) -> None:
        check = {"run": [ANSWER, {"type": "outcome", "equals": "failure"}]}
        solution = {"text": "There is none."}
        collection.lesson = lesson({"check": check, "hints": ["No."], "solution": solution}, {})
        collection.save()
        start(client)
        for outcome in ("answer", "failure"):
            finished(outcome)
            failed = post(client, "s1/check/")
            assert "Step passed." not in failed
            assert "Expected: the outcome is" in failed
        post(client, "s1/hints/")
        assert "There is none." in post(client, "s1/solution/")
        assert "Skip this step" in post(client, "s1/")
        assert "Title 2" in post(client, "s2/")

    def test_a_composed_request_passes_unsent(self, client: Client) -> None:
        post(client, "s2/")
        wrong = form({"query": {"text": "soup"}})
        assert "Step passed." not in post(client, "s2/check/", **wrong)
        assert "Step passed." not in post(client, "s2/check/", **form("{"))
        right = form({"query": {"text": "soup", "site": "x"}})
        assert "Step passed." in post(client, "s2/check/", **right)

    @pytest.mark.parametrize(
        ("check", "text"),
        [
            (SITE, 'Expected: <code>query.site</code> equals "x". Actual: no match'),
            ({"type": "json", "path": "$.document.query['text']", "matches": "(?i)egg"},
             '<code>query.text</code>: "soup"'),
            ({"type": "json", "path": "$", "equals": 1}, "Expected: <code>$</code> equals 1."),
        ],
    )  # fmt: skip
    def test_a_check_names_the_member_as_the_texts_do(
        self, client: Client, collection: Collection, check: dict[str, Any], text: str
    ) -> None:
        collection.lesson = lesson({"check": {"request": [check], "run": [ANSWER]}})
        collection.save()
        start(client)
        finished()
        assert text in html.unescape(post(client, "s1/check/"))

    def test_hints_leave_the_answer_alone(self, client: Client, collection: Collection) -> None:
        answer = {"answer": [{"type": "json", "path": "$", "equals": "@type"}]}
        collection.lesson = lesson(
            {"question": "Which?", "check": answer, "hints": ["No."], "solution": {"text": "It."}}
        )
        collection.save()
        for path in ("s1/hints/", "s1/solution/"):
            assert 'name="answer"' not in post(client, path)

    def test_continue_with_the_step_that_is_shown(self, client: Client) -> None:
        start(client)
        post(client, "s3/")
        page = one_line(client.get("/"))
        assert "step 3 of 4" in page
        post(client, "s3/check/", answer="@type")
        start(client)
        assert "Title 4" in one_line(client.get("/"))
        post(client, "s4/check/", done="1")
        start(client)
        assert "Title 1" in one_line(client.get("/"))

    def test_an_answer(self, client: Client) -> None:
        pane = post(client, "s3/")
        assert "Which?" in pane
        assert "@type" not in pane
        wrong = post(client, "s3/check/", answer="type")
        assert "Not yet." in wrong
        assert "@type" not in wrong
        assert "Step passed." in post(client, "s3/check/", answer="@type")

    def test_a_step_without_a_check_is_marked_as_done(self, client: Client) -> None:
        assert "Mark as done" in post(client, "s4/")
        assert "Step passed." not in post(client, "s4/check/")
        assert "Step passed." in post(client, "s4/check/", done="1")

    def test_hints_one_by_one_and_the_solution_last(self, client: Client) -> None:
        assert "Look" not in post(client, "s1/")
        one = post(client, "s1/hints/")
        assert "<em>up</em>" in one
        assert "down" not in one
        assert "Show the solution" not in one
        assert "Show the solution" in post(client, "s1/hints/")
        assert "Open the solution" in post(client, "s1/solution/")

    def test_progress_continues_and_restarts(self, client: Client) -> None:
        start(client)
        finished()
        post(client, "s1/check/")
        offer = one_line(client.get("/"))
        assert "Continue where you were" in offer
        assert "Basics, step 2 of 4" in offer
        assert "1 passed" in one_line(client.get("/lessons/basics/"))
        assert start(client) == "/"  # The second step has no request.
        assert LessonProgress.objects.get().step == "s2"
        start(client, "restart")
        assert LessonProgress.objects.get().step == "s1"
        assert "0 passed" in one_line(client.get("/lessons/basics/"))

    def test_close_keeps_the_progress(self, client: Client) -> None:
        start(client)
        assert start(client, "close") == "/lessons/basics/"
        assert 'id="lesson"' not in client.get("/").text
        assert "Continue" in client.get("/lessons/basics/").text

    def test_one_lesson_is_open_at_a_time(self, client: Client) -> None:
        Collection.objects.create(name="Other", slug="other", lesson=lesson({}))
        start(client)
        client.post("/lessons/other/progress/", {"do": "start"})
        assert [each.collection.slug for each in LessonProgress.objects.filter(is_open=True)] == [
            "other"
        ]

    def test_the_last_step_leads_to_the_next_lesson(self, client: Client) -> None:
        Collection.objects.create(name="Other", slug="other", lesson=lesson({}), position=9)
        progress = LessonProgress(collection=Collection.objects.get(slug="basics"))
        passed = {"since": timezone.now().isoformat(), "passed": timezone.now().isoformat()}
        progress.steps = {f"s{n}": passed for n in range(1, 5)}
        progress.save()
        pane = post(client, "s4/")
        assert "You have finished this lesson." in pane
        assert "Next lesson: Other" in pane
        # Steps can be taken in any order.
        assert "You have finished this lesson." in post(client, "s2/")

    def test_an_agent_that_the_learner_does_not_have(self, client: Client) -> None:
        SavedRequest.objects.update(agent="elsewhere")
        pane = post(client, "s1/")
        assert "elsewhere" in pane
        assert "which you do not have" in pane
        assert "data-saved" not in pane
        assert start(client) == "/"

    def test_a_request_with_a_url_and_no_agent_is_not_opened(self, client: Client) -> None:
        SavedRequest.objects.update(agent="", address="https://evil.example/ask")
        pane = post(client, "s1/")
        assert "names a URL and no agent" in pane
        assert "data-saved" not in pane

    def test_a_request_that_was_deleted(self, client: Client, collection: Collection) -> None:
        SavedRequest.objects.all().delete()
        assert "was deleted from the collection" in post(client, "s1/")
        parse_fixture(dump(collection))

    @pytest.mark.parametrize("path", ["nowhere/steps/s1/", "basics/steps/nowhere/check/"])
    def test_what_does_not_exist(self, client: Client, path: str) -> None:
        assert client.post(f"/lessons/{path}").status_code == 404

    def test_a_collection_is_no_lesson(self, client: Client) -> None:
        Collection.objects.create(name="Plain", slug="plain")
        assert client.get("/lessons/plain/").status_code == 404
        assert "/lessons/plain/" not in client.get("/lessons/").text
        assert "/collections/basics/" not in client.get("/sidebar/").text
        assert "/collections/basics/" not in client.get("/collections/").text


HOSTILE = """# Free <b>prizes</b> <script>alert(1)</script>
[Click](javascript:alert(1)) [here](https://evil.example/a) ![x](https://evil.example/p.png)
"""


@pytest.mark.usefixtures("agent")
class TestImport:
    def text(self, steps: Any, **more: Any) -> str:
        fields = {"name": "Trap", "slug": "trap", "lesson": steps, **more}
        return json.dumps([{"model": "playground.collection", "fields": fields}])

    def imported(self, client: Client, text: str) -> str:
        response = client.post("/collections/import/", {"text": text, "confirmed": "yes"})
        return one_line(response)

    def test_markdown_is_sanitised_and_links_show_where_they_lead(self, client: Client) -> None:
        step = {"text": HOSTILE, "hints": [HOSTILE], "title": "<i>T</i>"}
        self.imported(client, self.text(lesson(step)))
        for path in ("", "hints/", "solution/"):
            page = client.post(f"/lessons/trap/steps/s1/{path}", headers=HTMX).text
            assert "<script" not in page
            assert "<b>" not in page
            assert "<img" not in page
            assert 'href="javascript:' not in page
            assert "(evil.example)" in page
            assert path or "&lt;i&gt;T&lt;/i&gt;" in page

    @pytest.mark.parametrize(
        ("steps", "words"),
        [
            ({"version": 2, "steps": []}, "version 2 of the format"),
            (lesson(*[{}] * 1000), "Too many: 1,000"),
            (lesson({"look": [{"label": "x", "tab": "secrets"}]}), "no tab “secrets”"),
            (lesson({"request": "nowhere"}), "The file contains no request “nowhere”"),
            (lesson({"check": {"run": [{"type": "magic"}]}}), "/check/run/0"),
            ("steps", "must be an object"),
        ],
    )
    def test_what_is_wrong_is_told_with_its_location(
        self, client: Client, steps: Any, words: str
    ) -> None:
        page = self.imported(client, self.text(steps))
        assert words in page
        assert not Collection.objects.exists()

    def test_nothing_is_sent_by_an_import_or_a_start(
        self, client: Client, started: list[Any]
    ) -> None:
        text = dump(Collection.objects.create(name="A", slug="a", lesson=lesson({}, {})))
        Collection.objects.all().delete()
        self.imported(client, text)
        client.post("/lessons/a/progress/", {"do": "start"})
        client.get("/")
        assert started == []
        assert not Run.objects.exists()

    def test_a_file_without_lessons_is_unchanged(self, client: Client) -> None:
        collection = Collection.objects.create(name="Plain", slug="plain")
        assert "lesson" not in dump(collection)


@pytest.mark.usefixtures("agent")
class TestTeacher:
    def test_a_lesson_of_three_steps(self, client: Client) -> None:
        target = client.post("/lessons/", {"name": "Mine"}).headers["Location"]
        assert target == "/lessons/mine/edit/"
        for number in (2, 3):
            assert client.post(target).headers["Location"] == f"{target}step-{number}/"
        fields = {
            "title": "Filters", "text": "Add **site**.\r\nSend it.",
            "check_request": json.dumps([SITE]),
            "check_run": json.dumps([ANSWER]), "missing": "No site.", "hints": "One\n---\nTwo",
            "solution_text": "site: x",
        }  # fmt: skip
        assert client.post(f"{target}step-2/", fields).headers["Location"] == target
        client.post(f"{target}step-2/", {"do": "up"})
        client.post(f"{target}step-3/", {"do": "delete"})
        stored = Collection.objects.get()
        first = stored.lesson["steps"][0]
        assert [step["slug"] for step in stored.lesson["steps"]] == ["step-2", "step-1"]
        assert first["hints"] == ["One", "Two"]
        assert first["check"] == {"request": [SITE], "run": [ANSWER], "missing": "No site."}
        assert "Add **site**" in one_line(client.get(f"{target}step-2/"))
        exported = one_line(client.get("/collections/mine/export/"))
        assert parse_fixture(exported).collection["lesson"] == stored.lesson  # type: ignore[index]

    @pytest.mark.usefixtures("collection")
    def test_a_check_is_suggested_from_the_latest_run_and_replaces_nothing(
        self, client: Client
    ) -> None:
        def suggested(**fields: str) -> str:
            sent = {"do": "suggest", "title": "Unsaved", "hints": "Look.", "request": "soup"}
            page = one_line(client.post("/lessons/basics/edit/s1/", {**sent, **fields}))
            return html.unescape(page)

        assert "There is no run yet." in suggested(check_run="[]")
        finished("answer", text="my run")
        Run.objects.update(request={"query": {"text": "soup", "site": "x"}})
        page = suggested()
        for words in ("my run", 'value="Unsaved"', "Look.", json.dumps(ANSWER), json.dumps(SITE)):
            assert words in page
        own = '[{"type": "results", "max": 3}]'
        page = suggested(check_run=own, check_request="[]")
        assert own in page
        assert '"equals": "answer"' not in page.partition("<textarea")[2].partition("Types")[0]
        assert Collection.objects.get().lesson == STEPS

    def test_a_request_is_saved_with_the_lesson_that_is_edited(self, client: Client) -> None:
        client.post("/lessons/", {"name": "Mine"})
        Collection.objects.create(name="Newer")
        client.get("/lessons/mine/edit/step-1/")
        form = one_line(client.get("/saved-requests/"))
        assert '<option value="mine" selected> Mine (lesson) </option>' in form

    @pytest.mark.parametrize(
        ("fields", "words"),
        [
            ({"title": ""}, "This field is required"),
            ({"title": "A", "check_run": "{"}, "Expected of the response</a>: Line 1"),
            ({"title": "A", "check_run": "{}"}, "JSON array"),
            ({"title": "A", "check_run": '[{"type": "magic"}]'},
             "Expected of the response</a>: Element 1"),
            ({"title": "A", "look": '[{"label": "It", "tab": "nowhere"}]'},
             "Links to places</a>: Element 1, tab: There is no tab"),
            ({"title": "A", "check_request":
              '[{"type": "json", "path": "$.query.diet", "exists": true}]'},
             "Expected of the request</a>: Element 1, path: Nothing is there."),
            ({"title": "A", "question": "Which?", "check_answer":
              '[{"type": "json", "path": "$.x", "exists": true}]'},
             "Expected of the answer</a>: Element 1, path: Must be $"),
            ({"title": "A", "check_request":
              '[{"type": "json", "path": "$.kind.x", "exists": true}]'},
             "Expected of the request</a>: Element 1, path: Nothing is there."),
            ({"title": "A", "question": "Which?"}, "Question</a>: A question needs a check"),
            ({"title": "A", "request": "nowhere"}, "Select a valid choice"),
            ({"title": "A", "check_answer": '[{"type":"json","path":"$","exists":true}]'},
             "needs a question"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_told(
        self, client: Client, fields: dict[str, str], words: str
    ) -> None:
        client.post("/lessons/", {"name": "Mine"})
        before = Collection.objects.get().lesson
        response = client.post("/lessons/mine/edit/step-1/", fields)
        assert response.status_code == 422
        assert words in response.text
        assert Collection.objects.get().lesson == before

    def test_a_deleted_step_comes_back(self, client: Client) -> None:
        client.post("/lessons/", {"name": "Mine"})
        # The last step cannot be deleted.
        client.post("/lessons/mine/edit/step-1/", {"do": "delete"})
        look = '[{"label": "It", "tab": "Events", "place": "result"}]'
        added = client.post("/lessons/mine/edit/step-1/", {"do": "add", "title": "A", "look": look})
        assert added.headers["Location"] == "/lessons/mine/edit/step-2/"
        assert Collection.objects.get().lesson["steps"][0]["look"][0]["tab"] == "events"
        before = Collection.objects.get().lesson
        client.post("/lessons/mine/edit/step-1/", {"do": "delete"})
        assert "A was deleted." in client.get("/lessons/mine/edit/").text
        client.post("/lessons/mine/edit/", {"undo": ""})
        assert Collection.objects.get().lesson == before
        client.post("/lessons/mine/edit/", {"undo": ""})
        assert Collection.objects.get().lesson == before
        assert "was deleted" not in client.get("/lessons/mine/edit/").text

    @pytest.mark.usefixtures("collection")
    def test_save_and_preview(self, client: Client) -> None:
        """A step that has passed is checked again, and the progress in others stays."""
        collection = Collection.objects.get()
        passed = {"passed": "2026-01-01T00:00:00Z", "since": "2026-01-01T00:00:00Z"}
        LessonProgress.objects.create(collection=collection, steps={"s1": passed, "s2": passed})
        sent = {"do": "preview", "title": "A", "request": "soup"}
        response = client.post("/lessons/basics/edit/s1/", sent)
        assert "/collections/basics/" in response.headers["Location"]
        progress = LessonProgress.objects.get()
        assert (progress.is_open, progress.step) == (True, "s1")
        assert progress.steps["s2"] == passed
        assert set(progress.steps["s1"]) == {"since"}

    def test_each_type_of_expectation_has_a_valid_example(self, client: Client) -> None:
        examples = [json.loads(example) for _, example in expectation_examples()]
        assert {each[0]["type"] for each in examples} == set(EXPECTATION_TYPES)
        assert [problem for each in examples for problem in check_schema(each)] == []
        client.post("/lessons/", {"name": "Mine"})
        page = html.unescape(client.get("/lessons/mine/edit/step-1/").text)
        assert json.dumps(examples[0]) in page

    def test_a_lesson_needs_a_name(self, client: Client) -> None:
        assert client.post("/lessons/", {"name": " "}).status_code == 422
