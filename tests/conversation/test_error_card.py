"""Error card on the page of a run: one cause, one button, and details."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from playground.models import Agent, Run
from playground.protocols.frames import Frame, FrameKind
from tests.support.markup import Element
from tests.support.run_page import part, replied, streamed
from tests.support.stored_runs import CALL, END, OPEN, Recording

pytestmark = pytest.mark.django_db

FAILURE = '{"_meta": {"response_type": "failure"}, "error": {"code": "TIMEOUT"}}'
ANSWER = '{"_meta": {"response_type": "answer"}, "results": []}'
JSON_RPC = '{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "Missing session"}}'
MESSAGE = 'data: {"object": "response", "status": "completed", "id": "r"}'
BEARER = 'WWW-Authenticate: Bearer realm="<b>", scope="ask", resource_metadata="http://m.example"'
AGENT_API = {"protocol": "agent-api", "version": "1"}


def rejected(body: str, status: int = 500, *headers: str, **fields: Any) -> Run:
    """Return a run with this response: an event stream if the body begins so."""
    started: dict[str, Any] = {"started_at": timezone.now(), **fields}
    if body.startswith("data:"):
        run = streamed(body, **started)
        Run.objects.filter(pk=run.pk).update(status=status)
        return run
    return replied(body, status, *headers, **started)


def an_agent(**fields: Any) -> Agent:
    return Agent.objects.create(**{"name": "A", "url": "http://agent.example/ask", **fields})


def ending(run: Run) -> Element:
    """Return the end of the run's thread."""
    found = part(run).by_id("run-ending")
    assert found
    return found


def card_of(run: Run) -> Element:
    (card,) = ending(run).select("section", class_="error-card")
    return card


def headline(card: Element) -> str:
    return card.find("h3")[0].words


def fix(card: Element) -> str:
    return " ".join(each.words for each in card.select(class_="problem-fix"))


def button(card: Element) -> Element:
    """Return the button or link that stands out."""
    (found,) = card.select(class_="btn-primary")
    return found


def links(card: Element) -> list[str | None]:
    return [each.attributes["href"] for each in card.find("a")]


#: Body, header lines, fields of the run, and what the response is said to be.
KINDS: list[tuple[str, list[str], dict[str, str], str]] = [
    (FAILURE, [], {}, "NLWeb failure"),
    ('{"error": "no"}', [], {}, "JSON error message"),
    (JSON_RPC.replace("null", '"a"').replace("Missing session", "m"), [], {}, "JSON-RPC error"),
    (ANSWER, [], {}, "NLWeb answer, despite the status"),
    ('{"detail": "no"}', [], {}, "JSON error message"),
    ('{"surprise": "no"}', [], {}, "JSON, but not an NLWeb response"),
    ('{"surprise": "' + "x" * 70_000 + '"}', [], {}, "JSON, but not an NLWeb response"),
    ("<!doctype html><p>no", ["Content-Type: text/html; charset=utf-8"], {},
     "HTML page (text/html)"),
    ("<html>no", ["Content-Type: application/json"], {}, "HTML page (application/json)"),
    ("{broken", [], {}, "Text, not JSON"),
    ("no", ["Content-Type: text/plain"], {}, "Text, not JSON (text/plain)"),
    ("", [], {}, "Empty"),
    ('{"detail": "no"}', [], AGENT_API, "Agent API error"),
    ('{"object": "response", "id": "r", "status": "completed", "output": []}', [], AGENT_API,
     "Agent API answer, despite the status"),
    ('{"surprise": 1}', [], AGENT_API, "JSON, but not an Agent API response"),
    ("<html>no", [], AGENT_API, "HTML page"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "headers", "fields", "kind"), KINDS)
def test_the_kind_of_the_body(
    body: str, headers: list[str], fields: dict[str, str], kind: str
) -> None:
    facts = card_of(rejected(body, 500, *headers, **fields)).facts
    assert (facts["Response"], facts["Status"]) == (kind, "HTTP 500 Internal Server Error")


def test_a_stream_without_a_result() -> None:
    head = Frame(0, 20, FrameKind.HEAD,
                 b"HTTP/1.1 500 X\r\nContent-Type: text/event-stream\r\n\r\n")  # fmt: skip
    recording = Recording()
    recording.add(CALL, OPEN, head, Frame(0, 50, FrameKind.EVENT, b"data: {}\n\n"), END)
    assert card_of(recording.end()).facts["Response"] == "Event stream without a result"


@pytest.mark.parametrize("status", [200, 202])
@pytest.mark.parametrize(("body", "headers"), [(ANSWER, ["Retry-After: 5"]), (FAILURE, [])])
def test_a_response_without_an_error_has_none(status: int, body: str, headers: list[str]) -> None:
    assert not ending(rejected(body, status, *headers)).select(class_="error-card")


@pytest.mark.parametrize("state", ["streaming", "cancelled", "interrupted"])
def test_there_is_none_before_the_end_or_of_a_stopped_run(state: str) -> None:
    assert not ending(rejected(FAILURE, state=state)).select(class_="error-card")


def test_a_status_that_no_standard_defines() -> None:
    card = card_of(rejected("", 499))
    assert headline(card) == "The server rejected the request (HTTP 499)."
    assert card.facts["Status"] == "HTTP 499"
    assert fix(card).endswith(".")


def test_a_failure_of_nlweb_is_described_once() -> None:
    card = card_of(rejected(FAILURE, 400, agent=an_agent()))
    assert (headline(card), fix(card)) == ("HTTP 400 Bad Request", "")
    assert button(card).words == "Retry"


def test_only_the_last_call_counts() -> None:
    recording = Recording(binding="mcp")
    for status in (401, 404):
        head = f"HTTP/1.1 {status} X\r\n\r\n".encode()
        recording.add(CALL, OPEN, Frame(0, 20, FrameKind.HEAD, head), END)
    assert headline(card_of(recording.end("failed"))).startswith("Nothing found at")


class TestAuthentication:
    @pytest.mark.parametrize(
        ("auth", "sent", "label"),
        [
            ({"auth": "bearer"}, b"\r\nAuthorization: *\r\n\r\n{}", "Edit credentials"),
            # In the body it is no header: the credentials were added later.
            ({"auth": "bearer"}, b'\r\n\r\n{"q": "\r\nAuthorization: *"}', "Retry"),
            ({"auth": "api_key", "auth_header": "X-Kitchen"}, b"\r\nX-Kitchen: *\r\n\r\n{}",
             "Edit credentials"),
            ({}, b"\r\n\r\n{}", "Add a token"),
        ],
    )  # fmt: skip
    def test_credentials_that_were_refused_and_those_that_came_later(
        self, auth: dict[str, str], sent: bytes, label: str
    ) -> None:
        call = Frame(0, 0, FrameKind.CALL, b"POST / HTTP/1.1" + sent)
        header = "WWW-Authenticate: Bearer"
        card = card_of(replied("", 401, header, call=call, agent=an_agent(**auth)))
        assert button(card).words == label
        assert ("not accepted" in fix(card)) == (label == "Edit credentials")
        assert (card.attributes["data-remedy"] == "authenticate") == (label != "Retry")

    @pytest.mark.parametrize("status", [401, 403])
    def test_leads_to_the_agent(self, status: int) -> None:
        card = card_of(rejected(FAILURE, status, BEARER, agent=an_agent(name="Members")))
        assert headline(card) == (
            f"Authentication required (HTTP {status}): Bearer, realm “<b>”, scope “ask”."
        )
        assert button(card).words == "Add a token"
        assert card.facts["Resource metadata"] == "http://m.example"
        assert links(card) == ["/agents/members/#id_auth", "/agents/members/doctor/"]

    @pytest.mark.parametrize(
        ("header", "label", "kind"),
        [(BEARER, "Add a token", "bearer"),
         ("WWW-Authenticate: Basic", "Add user name and password", "basic"),
         ("X: y", "Add credentials", "bearer")],
    )  # fmt: skip
    def test_of_a_url_saves_it_as_an_agent(self, header: str, label: str, kind: str) -> None:
        run = rejected('{"error": "no"}', 401, header, sent_to_url=True)
        card = card_of(run)
        assert button(card).words == label
        assert links(card) == [
            f"/agents/new/?run={run.pk}&auth={kind}#id_auth", f"/runs/{run.pk}/doctor/",
        ]  # fmt: skip

    def test_of_a_deleted_agent_has_no_button(self) -> None:
        found = ending(rejected(FAILURE, 401))
        assert not found.find("a")
        assert not found.find("button")


class TestSwitching:
    @pytest.mark.parametrize(
        ("fields", "status", "body", "label", "switch"),
        [
            ({}, 400, JSON_RPC, "MCP", ("nlweb", "mcp", "0.55")),
            ({}, 200, JSON_RPC, "MCP", ("nlweb", "mcp", "0.55")),
            ({}, 200, MESSAGE, "Agent API", ("agent-api", "http", "1")),
            (AGENT_API, 200, ANSWER, "NLWeb", ("nlweb", "http", "0.55")),
            ({"binding": "mcp"}, 200, ANSWER, "NLWeb over HTTP", ("nlweb", "http", "0.55")),
            ({}, 200, 'data: {"message_type": "complete"}', "legacy NLWeb",
             ("nlweb", "http", "legacy")),
        ],
    )  # fmt: skip
    def test_the_response_proves_the_protocol(
        self, fields: dict[str, str], status: int, body: str, label: str, switch: tuple[str, ...]
    ) -> None:
        run = rejected(body, status, sent_to_url=True, **fields)
        card = card_of(run)
        assert headline(card).startswith("This is ")
        assert button(card).words == f"Switch to {label} and resend"
        form = card.find("form")[0]
        assert form.attributes["hx-post"] == f"/runs/{run.pk}/repetition/"
        given = {e.attributes["name"]: e.attributes["value"] for e in form.find("input")}
        names = ("protocol", "binding", "version")
        assert given == {**dict(zip(names, switch, strict=True)), "url": run.url}

    def test_to_the_url_of_a_redirect(self) -> None:
        location = "Location: https://b.example/nlweb/ask"
        card = card_of(rejected("", 301, location, state="failed", sent_to_url=True))
        assert button(card).words == "Use this URL and resend"
        given = {e.attributes["name"]: e.attributes["value"] for e in card.find("input")}
        assert given == {"url": "https://b.example/nlweb"}

    def test_an_agent_stays_at_its_origin(self) -> None:
        location = "Location: https://b.example/nlweb"
        card = card_of(rejected("", 301, location, state="failed", agent=an_agent()))
        assert (button(card).words, links(card)[0]) == ("Edit agent", "/agents/a/#id_url")
        assert not card.find("input")

    def test_of_a_child_run_is_a_diagnosis(self) -> None:
        card = card_of(rejected(JSON_RPC, 400, sent_to_url=True, kind="check"))
        assert button(card).words == "Diagnose connection"


@pytest.mark.parametrize(
    ("stage", "label"), [("connect", "Retry"), ("resolve", "Edit URL"), ("tls", "Retry")]
)
def test_a_problem_of_the_connection(stage: str, label: str) -> None:
    problem = {"state": "failed", "stage": stage, "cause": "Nothing listens on a:9.", "fix": "F.",
               "detail": "errno", "limit": None}  # fmt: skip
    run = Recording(sent_to_url=True, problem=problem).end("failed")
    card = card_of(run)
    assert (headline(card), fix(card)) == ("Nothing listens on a:9.", "F.")
    assert (card.facts, card.find("pre")[0].text) == ({"Phase": stage}, "errno")
    assert button(card).words == label
    assert f"/agents/new/?run={run.pk}" in links(card)


def test_without_room_the_way_leads_to_the_history() -> None:
    problem = {"state": "refused", "stage": "limit", "cause": "No room left: 2 MB of 1 MB used.",
               "fix": "Delete runs in History.", "detail": "", "limit": "quota"}  # fmt: skip
    card = card_of(Recording(problem=problem, agent=an_agent()).end("refused"))
    assert (button(card).words, links(card)) == ("Open History", ["/history/"])


class TestRetryAfter:
    @pytest.mark.parametrize(
        ("value", "date", "least", "most"),
        [
            ("120", "", 100, 120),
            ("Wed, 21 Oct 2026 07:30:00 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 100, 120),
            ("0", "", 0, 0),
            ("99999999999999999", "", 999_999_000, 1_000_000_000),
        ],
    )
    def test_how_long_to_wait(self, value: str, date: str, least: int, most: int) -> None:
        headers = [f"Retry-After: {value}", *([f"Date: {date}"] if date else [])]
        card = card_of(rejected(FAILURE, 429, *headers))
        (clock,) = card.find("wait-clock")
        seconds = int(clock.attributes["data-seconds"] or "")
        assert least <= seconds <= most
        assert clock.words == (f"Retry after {seconds} s." if most else "You can retry now.")
        assert card.facts["Retry-After"] == value

    @pytest.mark.parametrize(("ago", "least", "most"), [(100, 10, 20), (86_400, 0, 0)])
    def test_the_wait_continues_on_the_server(self, ago: int, least: int, most: int) -> None:
        started = timezone.now() - timedelta(seconds=ago)
        run = rejected("", 503, "Retry-After: 120", state="failed", started_at=started)
        (clock,) = card_of(run).find("wait-clock")
        assert least <= int(clock.attributes["data-seconds"] or "") <= most

    def test_a_wait_that_cannot_be_parsed_is_shown_as_received(self) -> None:
        card = card_of(rejected("", 429, "Retry-After: after lunch"))
        assert not card.find("wait-clock")
        assert card.facts["Retry-After"] == "after lunch"

    def test_of_a_status_that_is_about_something_else(self) -> None:
        card = card_of(rejected("no", 404, "Retry-After: 5", state="failed"))
        assert not card.find("wait-clock")
        assert "Retry-After" not in card.facts


def test_a_failure_without_an_error_status_can_be_sent_again() -> None:
    run = rejected(FAILURE, 200, agent=an_agent())
    (again,) = ending(run).find("button")
    assert again.attributes["hx-post"] == f"/runs/{run.pk}/repetition/"
