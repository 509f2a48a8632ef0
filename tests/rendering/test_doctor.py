"""Reports of the connection doctor."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string

from playground.models import Agent
from playground.models.detection import proposed_changes
from playground.rendering.doctor import report_for, steps_of, summary_of, text_of
from tests.support.markup import read

URL = "http://agent.example/api"
EVIL = "<script>alert(1)</script>"


def step(name: str, status: str, *calls: str, cause: str = "Because.", fix: str = "") -> Any:
    return {
        "name": name, "label": name.upper(), "status": status, "cause": cause, "fix": fix,
        "calls": list(calls),
    }  # fmt: skip


CALL = {
    "line": "POST /ask", "status": 404, "waited_ms": 3.2, "sent": "POST /ask", "received": "404",
    "error": "",
}  # fmt: skip
FOUND = {
    "protocol": "nlweb", "version": "0.54", "binding": "mcp", "generation": "2025-06-18",
    "dialect": "", "label": "NLWeb 0.54 over MCP 2025-06-18", "url": "http://agent.example/mcp",
}  # fmt: skip


CAUSE = {
    "headline": "Authentication required (HTTP 401): Bearer.", "fix": "Add a token.",
    "remedy": "authenticate", "scheme": "bearer", "url": "", "facts": [["Scheme", "Bearer"]],
}  # fmt: skip


def report(**changed: Any) -> dict[str, Any]:
    return {
        "url": URL, "state": "done", "at": "2026-11-21T10:00:00+00:00", "found": FOUND,
        "also": ["Agent API at http://agent.example/process"],
        "steps": [
            step("http", "passed", "ask"),
            step("ask", "failed", "ask", fix="Mend it."),
            step("card", "skipped", "card"),
        ],
        "calls": {"ask": CALL, "card": {**CALL, "status": 0, "received": "", "error": "It broke."}},
        **changed,
    }  # fmt: skip


def agent(kept: Any = None, **fields: Any) -> Agent:
    detected = {"report": kept or report()}
    return Agent(**{"name": "A", "slug": "a", "url": URL, "detected": detected, **fields})


class TestReport:
    def test_a_call_stands_under_the_last_step_that_it_says_something_of(self) -> None:
        steps = steps_of(report())
        assert [[call.line for call in each.calls] for each in steps] == [
            [], ["POST /ask"], ["POST /ask"],
        ]  # fmt: skip
        assert [each.calls[0].outcome for each in steps[1:]] == ["HTTP 404", "no response"]
        assert steps[2].calls[0].received == "It broke."

    def test_what_is_said_of_it(self) -> None:
        found = report_for(agent())
        assert found
        assert found.headline == f"Found: {FOUND['label']}"
        assert found.summary == summary_of(report()) == "1 passed, 1 failed, 1 skipped"
        changes = [(each.label, each.before, each.after) for each in found.changes]
        assert changes == [
            ("URL", URL, "http://agent.example/mcp"),
            ("Binding", "HTTP", "MCP"),
            ("Version", "0.55", "0.54"),
        ]

    def test_why_nothing_was_detected(self) -> None:
        found = report_for(agent(report(found=None, cause=CAUSE)))
        assert found
        assert (found.headline, found.fix) == (CAUSE["headline"], CAUSE["fix"])
        assert found.facts == [("Scheme", "Bearer")]

    def test_skipped_steps_are_folded(self) -> None:
        found = report_for(agent())
        assert found
        assert [row.label for row in found.steps] == ["HTTP", "ASK"]
        assert [row.label for row in found.skipped] == ["CARD"]
        examined = agent()
        context = {"agent": examined, "report": found, "subject": examined}
        text = read(render_to_string("agents/doctor_report.html", context)).text
        assert text.index("1 step skipped") > text.index("ASK")

    def test_as_text(self) -> None:
        assert text_of(report()).splitlines() == [
            f"Connection of {URL}",
            "Diagnosed 2026-11-21T10:00:00+00:00: 1 passed, 1 failed, 1 skipped",
            "Found: NLWeb 0.54 over MCP 2025-06-18 at http://agent.example/mcp",
            "Also: Agent API at http://agent.example/process",
            "",
            "passed   HTTP: Because.",
            "FAILED   ASK: Because.",
            "         Fix: Mend it.",
            "skipped  CARD: Because.",
        ]
        assert "No protocol detected. First failure: ASK" in text_of(report(found=None))
        denied = report(found=None, cause=CAUSE)
        assert text_of(denied).splitlines()[2:4] == [CAUSE["headline"], f"Fix: {CAUSE['fix']}"]

    @pytest.mark.parametrize(
        "detected", [None, {}, [], {"report": None}, {"report": {"state": "running", "at": "x"}}]
    )
    def test_of_an_agent_that_has_none(self, detected: Any) -> None:
        assert report_for(agent(detected=detected)) is None

    def test_for_another_address_than_the_agent_has_now(self) -> None:
        assert report_for(agent(report(url="http://agent.example/old"))) is None

    def test_whatever_an_agent_says_does_nothing(self) -> None:
        evil = report(
            steps=[step("ask", "failed", "ask", cause=EVIL, fix=EVIL)],
            calls={"ask": {**CALL, "line": EVIL, "sent": EVIL, "received": EVIL}},
            found={**FOUND, "label": EVIL},
            also=[EVIL],
        )
        examined = agent(evil)
        context = {"agent": examined, "report": report_for(examined), "is_running": False}
        context |= {"subject": examined, "doctor_url": "/", "report_url": "/"}
        html = render_to_string("agents/doctor_report.html", context)
        assert EVIL not in html
        assert "<script" not in html
        assert EVIL in read(html).text


class TestProposal:
    def test_nothing_where_nothing_differs(self) -> None:
        same = {**FOUND, "binding": "http", "version": "0.55", "url": URL}
        assert proposed_changes(agent(report(found=same))) == {}
        assert proposed_changes(agent(report(found=None))) == {}

    @pytest.mark.parametrize(
        ("given", "found", "differs"),
        [
            ("http://a.example/api/ask", "http://a.example/api", False),
            ("http://a.example/api/", "http://a.example/api", False),
            ("http://a.example/api?lang=de", "http://a.example/api", False),
            ("http://a.example/api", "http://a.example/nlweb", True),
            ("http://a.example/api", "http://b.example/api", False),
            ("http://a.example/api", "https://a.example/api", False),
            ("http://a.example/api", None, False),
        ],
    )
    def test_the_address_stays_at_its_origin(self, given: str, found: Any, differs: bool) -> None:
        kept = report(url=given, found={**FOUND, "url": found})
        assert ("url" in proposed_changes(agent(kept, url=given))) is differs

    def test_a_version_that_was_not_told_is_left_alone(self) -> None:
        kept = report(found={**FOUND, "version": "", "url": URL})
        assert proposed_changes(agent(kept, version="0.54")) == {"binding": "mcp"}

    def test_another_protocol_has_versions_of_its_own(self) -> None:
        kept = report(found={**FOUND, "protocol": "agent-api", "version": "", "binding": "http"})
        assert proposed_changes(agent(kept))["version"] == "1"

    def test_what_no_agent_can_be_set_to(self) -> None:
        assert proposed_changes(agent(report(found={**FOUND, "protocol": ""}))) == {}
