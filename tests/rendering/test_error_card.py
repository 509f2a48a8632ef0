"""Error card of a run."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.template.loader import get_template
from django.utils import timezone

from playground.models import Agent, Run
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.error_card import ErrorCard, error_card
from playground.rendering.run_status import status_context
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, OPEN, Recording, event

pytestmark = pytest.mark.django_db

FAILURE = '{"_meta": {"response_type": "failure"}, "error": {"code": "TIMEOUT"}}'
ANSWER = '{"_meta": {"response_type": "answer"}, "results": []}'


def replied(status: int, body: str, *headers: str, state: str = "completed", **fields: str) -> Run:
    """Return a run whose response has this status and body; an event stream if it begins so."""
    lines = "".join(f"{line}\r\n" for line in headers)
    recording = Recording(started_at=timezone.now(), **fields)
    recording.add(
        CALL, OPEN, Frame(0, 20, FrameKind.HEAD, f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode())
    )
    if body.startswith("data:"):
        recording.add(event(body))
    elif body:
        recording.add(Frame(0, 60, FrameKind.BODY, body.encode()))
    recording.add(END)
    return recording.end(state)


def card_of(run: Run) -> ErrorCard:
    card = error_card(run)
    assert card
    return card


def shown(run: Run) -> str:
    """Return the text of the end of its thread."""
    html = get_template("runs/ending.html").render(status_context(run))
    return " ".join(read(html).text.split())


@pytest.mark.parametrize(
    ("body", "headers", "kind"),
    [
        (FAILURE, (), "NLWeb failure"),
        ('{"error": "no"}', (), "JSON error message"),
        ('{"jsonrpc": "2.0", "error": {"code": -32600, "message": "m"}}', (), "JSON-RPC error"),
        (ANSWER, (), "NLWeb answer, despite the status"),
        ('{"detail": "no"}', (), "JSON error message"),
        ('{"surprise": "no"}', (), "JSON, but not an NLWeb response"),
        ('{"surprise": "' + "x" * 70_000 + '"}', (), "JSON, but not an NLWeb response"),
        ("<!doctype html><p>no", ("Content-Type: text/html; charset=utf-8",),
         "HTML page (text/html)"),
        ("<html>no", ("Content-Type: application/json",), "HTML page (application/json)"),
        ("{broken", (), "Text, not JSON"),
        ("no", ("Content-Type: text/plain",), "Text, not JSON (text/plain)"),
        ("", (), "Empty"),
        ("data: {}", (), "Event stream without a result"),
    ],
)  # fmt: skip
def test_the_kind_of_the_body(body: str, headers: tuple[str, ...], kind: str) -> None:
    details = dict(card_of(replied(500, body, *headers)).details)
    assert details["Response"] == kind
    assert details["Status"] == "HTTP 500 Internal Server Error"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ('{"detail": "no"}', "Agent API error"),
        ('{"object": "response", "id": "r", "status": "completed", "output": []}',
         "Agent API response, despite the status"),
        ('{"surprise": 1}', "JSON, but not an Agent API response"),
        ("<html>no", "HTML page"),
    ],
)  # fmt: skip
def test_the_kind_of_the_body_by_protocol(body: str, kind: str) -> None:
    card = card_of(replied(422, body, protocol="agent-api", version="1"))
    assert dict(card.details)["Response"] == kind


@pytest.mark.parametrize(("status", "state"), [(200, "completed"), (202, "completed")])
def test_a_response_without_an_error_has_none(status: int, state: str) -> None:
    assert error_card(replied(status, ANSWER, "Retry-After: 5", state=state)) is None
    assert error_card(replied(status, FAILURE, state=state)) is None


@pytest.mark.parametrize("state", ["streaming", "cancelled", "interrupted"])
def test_there_is_none_before_the_end_or_of_a_stopped_run(state: str) -> None:
    run = replied(500, FAILURE)
    run.state = state
    assert error_card(run) is None


def test_a_status_that_no_standard_defines() -> None:
    card = card_of(replied(499, ""))
    assert card.headline == "The server rejected the request (HTTP 499)."
    assert dict(card.details)["Status"] == "HTTP 499"
    assert card.fix.endswith(".")


def test_a_failure_of_nlweb_is_described_once() -> None:
    card = card_of(replied(400, FAILURE))
    assert (card.headline, card.fix, card.is_retry) == ("HTTP 400 Bad Request", "", True)


BEARER = 'WWW-Authenticate: Bearer realm="<b>", scope="ask", resource_metadata="http://m.example"'


class TestAuthentication:
    def test_credentials_that_were_refused_and_those_that_came_later(self) -> None:
        def run(request: bytes) -> Run:
            recording = Recording(started_at=timezone.now(), agent=agent)
            head = b"HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer\r\n\r\n"
            call = Frame(0, 0, FrameKind.CALL, request)
            recording.add(call, OPEN, Frame(0, 20, FrameKind.HEAD, head), END)
            return recording.end("completed")

        agent = Agent.objects.create(name="A", slug="a", url="http://a.example", auth="bearer")
        refused = card_of(run(b"POST / HTTP/1.1\r\nAuthorization: *\r\n\r\n{}"))
        assert (refused.label, refused.remedy) == ("Edit credentials", "authenticate")
        assert "not accepted" in refused.fix
        later = card_of(run(b'POST / HTTP/1.1\r\n\r\n{"q": "\r\nAuthorization: *"}'))
        assert (later.label, later.is_retry) == ("Retry", True)
        agent.auth, agent.auth_header = "api_key", "X-Kitchen"
        agent.save()
        refused = card_of(run(b"POST / HTTP/1.1\r\nX-Kitchen: *\r\n\r\n{}"))
        assert (refused.label, refused.is_retry) == ("Edit credentials", False)
        agent.auth = "none"
        agent.save()
        assert card_of(run(b"POST / HTTP/1.1\r\n\r\n{}")).label == "Add a token"

    @pytest.mark.parametrize("status", [401, 403])
    def test_leads_to_the_agent(self, status: int) -> None:
        run = replied(status, FAILURE, BEARER)
        run.agent = Agent.objects.create(name="Members", url="http://m.example")
        card = card_of(run)
        assert card.headline == (
            f"Authentication required (HTTP {status}): Bearer, realm “<b>”, scope “ask”."
        )
        assert (card.label, card.link) == ("Add a token", "/agents/members/#id_auth")
        assert ("Resource metadata", "http://m.example") in card.details
        markup = read(get_template("runs/ending.html").render(status_context(run)))
        assert [link.attributes["href"] for link in markup.find("a")] == [
            "/agents/members/#id_auth", "/agents/members/doctor/",
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("header", "label", "kind"),
        [(BEARER, "Add a token", "bearer"),
         ("WWW-Authenticate: Basic", "Add user name and password", "basic"),
         ("X: y", "Add credentials", "bearer")],
    )  # fmt: skip
    def test_of_a_url_saves_it_as_an_agent(self, header: str, label: str, kind: str) -> None:
        run = replied(401, '{"error": "no"}', header, sent_to_url=True)
        card = card_of(run)
        assert card.label == label
        assert card.link == f"/agents/new/?run={run.pk}&auth={kind}#id_auth"
        assert card.diagnose == f"/runs/{run.pk}/doctor/"

    def test_of_a_deleted_agent_has_no_button(self) -> None:
        html = get_template("runs/ending.html").render(status_context(replied(401, FAILURE)))
        assert not read(html).find("a")
        assert not read(html).find("button")


JSON_RPC = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Missing session"}}'
MESSAGE = 'data: {"object": "response", "status": "completed", "id": "r"}'


class TestSwitching:
    @pytest.mark.parametrize(
        ("fields", "status", "body", "label", "switch"),
        [
            ({}, 400, JSON_RPC, "Switch to MCP and resend",
             {"protocol": "nlweb", "binding": "mcp", "version": "0.55"}),
            ({}, 200, JSON_RPC, "Switch to MCP and resend",
             {"protocol": "nlweb", "binding": "mcp", "version": "0.55"}),
            ({}, 200, MESSAGE, "Switch to Agent API and resend",
             {"protocol": "agent-api", "binding": "http", "version": "1"}),
            ({"protocol": "agent-api", "version": "1"}, 200, ANSWER, "Switch to NLWeb and resend",
             {"protocol": "nlweb", "binding": "http", "version": "0.55"}),
            ({"binding": "mcp"}, 200, ANSWER, "Switch to NLWeb over HTTP and resend",
             {"protocol": "nlweb", "binding": "http", "version": "0.55"}),
            ({}, 200, 'data: {"message_type": "complete"}', "Switch to legacy NLWeb and resend",
             {"protocol": "nlweb", "binding": "http", "version": "legacy"}),
        ],
    )  # fmt: skip
    def test_the_response_proves_the_protocol(
        self, fields: dict[str, str], status: int, body: str, label: str, switch: dict[str, str]
    ) -> None:
        run = replied(status, body, sent_to_url=True, **fields)
        card = card_of(run)
        assert (card.label, card.switch) == (label, {**switch, "url": run.url})
        assert card.headline.startswith("This is ")
        assert f"/runs/{run.pk}/repetition/" in get_template("runs/ending.html").render(
            status_context(run)
        )

    def test_to_the_url_of_a_redirect(self) -> None:
        location = "Location: https://b.example/nlweb/ask"
        card = card_of(replied(301, "", location, state="failed", sent_to_url=True))
        assert card.switch == {"url": "https://b.example/nlweb"}
        assert card.label == "Use this URL and resend"

    def test_an_agent_stays_at_its_origin(self) -> None:
        run = replied(301, "", "Location: https://b.example/nlweb", state="failed")
        run.agent = Agent.objects.create(name="A", url="http://agent.example/ask")
        card = card_of(run)
        assert (card.label, card.link, card.switch) == ("Edit agent", "/agents/a/#id_url", {})

    def test_of_a_child_run_is_a_diagnosis(self) -> None:
        run = replied(400, JSON_RPC, sent_to_url=True, kind="check")
        assert card_of(run).label == "Diagnose connection"


@pytest.mark.parametrize(
    ("stage", "label"), [("connect", "Retry"), ("resolve", "Edit URL"), ("tls", "Retry")]
)
def test_a_problem_of_the_connection(stage: str, label: str) -> None:
    problem = {"state": "failed", "stage": stage, "cause": "Nothing listens on a:9.", "fix": "F.",
               "detail": "errno", "limit": None}  # fmt: skip
    recording = Recording(sent_to_url=True, problem=problem)
    run = recording.end("failed")
    card = card_of(run)
    assert (card.headline, card.fix, card.raw) == ("Nothing listens on a:9.", "F.", "errno")
    assert card.details == (("Phase", stage),)
    assert card.label == label
    assert card.save == f"/agents/new/?run={run.pk}"


@pytest.mark.parametrize(
    ("value", "date", "least", "most"),
    [
        ("120", "", 100, 120),
        ("Wed, 21 Oct 2026 07:30:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 100, 120),
        ("0", "", 0, 0),
        ("99999999999999999", "", 999_999_000, 1_000_000_000),
    ],
)
def test_how_long_to_wait(value: str, date: str, least: int, most: int) -> None:
    headers = [f"Retry-After: {value}", *([f"Date: {date}"] if date else [])]
    card = card_of(replied(429, FAILURE, *headers))
    assert card.wait is not None
    assert least <= card.wait <= most
    assert dict(card.details)["Retry-After"] == value


def test_the_wait_continues_on_the_server() -> None:
    run = replied(503, "", "Retry-After: 120", state="failed")
    run.started_at = timezone.now() - timedelta(seconds=100)
    assert 10 <= (card_of(run).wait or 0) <= 20
    run.started_at = timezone.now() - timedelta(days=1)
    assert "You can retry now." in shown(run)


def test_a_wait_that_cannot_be_parsed_is_shown_as_received() -> None:
    run = replied(429, FAILURE, "Retry-After: after lunch")
    assert card_of(run).wait is None
    assert "after lunch" in shown(run)
    assert "Retry after" not in shown(run)


def test_retry_after_with_a_status_that_is_about_something_else() -> None:
    card = card_of(replied(404, "no", "Retry-After: 5", state="failed"))
    assert card.wait is None
    assert "Retry-After" not in dict(card.details)


def test_a_failure_without_an_error_status_can_be_sent_again() -> None:
    run = replied(200, FAILURE)
    run.agent = Agent.objects.create(name="A", url="http://a.example")
    (button,) = read(get_template("runs/ending.html").render(status_context(run))).find("button")
    assert button.attributes["hx-post"] == f"/runs/{run.pk}/repetition/"


def test_only_the_last_call_counts() -> None:
    recording = Recording(binding="mcp")
    recording.add(CALL, OPEN, Frame(0, 20, FrameKind.HEAD, b"HTTP/1.1 401 X\r\n\r\n"), END)
    recording.add(CALL, OPEN, Frame(0, 40, FrameKind.HEAD, b"HTTP/1.1 404 X\r\n\r\n"), END)
    run = recording.end("failed")
    assert card_of(run).headline.startswith("Nothing found at")


def test_without_room_the_way_leads_to_the_history() -> None:
    problem = {
        "state": "refused", "stage": "limit", "cause": "No room left: 2 MB of 1 MB used.",
        "fix": "Delete runs in History.", "detail": "", "limit": "quota",
    }  # fmt: skip
    recording = Recording()
    Run.objects.filter(pk=recording.run.pk).update(problem=problem)
    run = recording.end("refused")
    card = card_of(run)
    assert (card.label, card.link, card.diagnose) == ("Open History", "/history/", "")
    assert "Open History" in shown(run)
    assert not card.is_retry
