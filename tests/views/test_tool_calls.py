"""Tool calls of a client: shown, answered, approved or refused; several with one request."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from playground.models import Agent, Conversation, Run, RunKind
from playground.protocols.frames import Frame
from tests.support.messages import (
    a_call,
    an_output,
    data,
    ended,
    message,
    piece,
    recording,
    response,
)
from tests.support.run_page import html_of
from tests.support.stored_runs import CALL, HEAD, OPEN

PLACE = {"seq": "5", "part": "0"}
SESSION = {"session_id": "s1", "response_id": "response_1"}
ASKED = {"id": "a1", "name": "cart_add", "arguments": '{"items": ["salt"]}'}
#: Where the entries of three calls are, in their order, and a form with their answers.
FIRST, SECOND, APPROVAL = "5-0", "8-0", "11-0"
JOINT: dict[str, str] = {
    f"{FIRST}-output": "42",
    f"{FIRST}-format": "text",
    f"{SECOND}-output": "",
    f"{SECOND}-format": "text",
    f"{APPROVAL}-reason": "",
    f"{APPROVAL}-decision": "refuse",
}


def approval(name: str) -> tuple[Frame, ...]:
    kind = "mcp_approval_request"
    return message(name, kind), data(name, ASKED), message(name, kind, "completed")


APPROVE = approval("m1")


@pytest.fixture
def agent(db: None) -> Agent:
    return Agent.objects.create(
        name="Talker", url="http://agent.example/process", protocol="agent-api", version="1"
    )


def reply(agent: Agent | None, *frames: Frame, **fields: Any) -> Run:
    """A run that ended with these frames, the first turn of a conversation."""
    own: dict[str, Any] = {"agent": agent, "agent_name": "Talker", "session_context": SESSION}
    own["conversation"] = Conversation.objects.create()
    return ended(response("created", session_id="s1"), *frames, **{**own, **fields})


def calling(agent: Agent | None, **fields: Any) -> Run:
    return reply(agent, *a_call(), **fields)


def answered(agent: Agent, run: Run, seq: int, answers: dict[str, str]) -> None:
    about = {"kind": RunKind.ANSWER, "parent": run, "parent_entry_seq": seq, "answers": answers}
    reply(agent, **about, parent_entry_part=0, conversation=run.conversation)


def leaving_three(agent: Agent | None, **fields: Any) -> Run:
    """A reply with two calls of the same function, and a request for approval."""
    return reply(agent, *a_call(), *a_call("m2", "c2"), *approval("m3"), **fields)


def form_of(shown: str, place: str) -> str:
    """The HTML of one form."""
    return shown.split(f'data-place="{place}"', 1)[1].split("</answer-form>", 1)[0]


def approving(agent: Agent | None) -> Run:
    return reply(agent, *APPROVE)


#: Frames of a response, words of its page, and words that are not there.
FORMS: dict[str, tuple[tuple[Frame, ...], list[str], list[str]]] = {
    "function call": (
        tuple(a_call()), ["Answer the call", 'name="5-0-output"', "Waiting for output"], []),
    "approval": (APPROVE, ['value="approve"', 'value="refuse"'], []),
    # What the agent calls itself, and what has its output.
    **{kind: (tuple(a_call(kind=kind)), [], ["Answer the call"])
       for kind in ("plugin_call", "mcp_call", "component_call")},
    "answered": ((*a_call(), *an_output()), [], ["Answer the call"]),
    "one of two answered": (
        (*a_call(), *a_call("m2", "c2"), *an_output("m3")), ["Answer the call"],
        ["calls</button>"]),
}  # fmt: skip


class TestForm:
    @pytest.mark.parametrize("name", FORMS)
    def test_is_shown_for_what_the_client_has_to_answer(self, agent: Agent, name: str) -> None:
        frames, words, absent = FORMS[name]
        shown = html_of(reply(agent, *frames))
        assert [each for each in words if each not in shown] == []
        assert [each for each in absent if each in shown] == []

    def test_an_answered_call_no_longer_waits(self, agent: Agent) -> None:
        run = calling(agent)
        answered(agent, run, 5, {"look_up": "42"})
        shown = html_of(run)
        assert "Waiting for output" not in shown
        assert ">Answered</span>" in shown
        assert "Answer again" in shown

    def test_none_is_asked_for_by_a_reply_that_did_not_come_whole(
        self, client: Client, agent: Agent
    ) -> None:
        """As long as the reply goes on, its output may come."""
        made = recording(agent=agent)
        made.add(CALL, OPEN, HEAD, *a_call())
        run = calling(agent)
        Run.objects.filter(pk=run.pk).update(state="cancelled")
        for each in (made.run, run):
            assert "Answer the call" not in html_of(each)
        assert client.post(f"/runs/{run.pk}/calls/", PLACE).status_code == 404

    def test_a_deleted_agent_cannot_be_answered(self) -> None:
        shown = html_of(calling(None))
        assert "can no longer be answered" in shown
        assert "Answer the call" not in shown

    def test_each_button_says_how_many_it_answers(self, agent: Agent) -> None:
        shown = html_of(leaving_three(agent))
        for place in (FIRST, SECOND, APPROVAL):
            assert "Answer 3 calls" in form_of(shown, place)
        assert 'type="radio" name="11-0-decision"' in form_of(shown, APPROVAL)

    @pytest.mark.parametrize(
        ("answers", "again"),
        [
            ({"look_up": "1", "look_up (2)": "2", "cart_add": "ok"}, {FIRST, SECOND, APPROVAL}),
            ({"look_up (2)": "2"}, {SECOND}),
        ],
        ids=["all", "alone"],
    )
    def test_every_call_that_was_answered_shows_it(
        self, agent: Agent, answers: dict[str, str], again: set[str]
    ) -> None:
        run = leaving_three(agent)
        answered(agent, run, 8, answers)
        shown = html_of(run)
        for place in (FIRST, SECOND, APPROVAL):
            assert ("Answer again" in form_of(shown, place)) == (place in again)
            assert ("unanswered" in form_of(shown, place)) == (place not in again)


class TestAnswering:
    def post(self, client: Client, run: Run, **fields: str) -> Any:
        return client.post(
            f"/runs/{run.pk}/calls/", filled(**fields), headers={"HX-Request": "true"}
        )

    def test_the_output_goes_with_the_session(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = calling(agent)
        response = self.post(client, run, output="42 °C", format="text")
        assert response.status_code == 200
        ((sent, _),) = started
        assert sent.request == {
            "input": [
                {
                    "role": "user",
                    "type": "function_call_output",
                    "content": [{"type": "data", "data": {"call_id": "c1", "output": "42 °C"}}],
                }
            ],
            "stream": True,
            **SESSION,
        }
        assert (sent.kind, sent.parent_entry, sent.parent_id) == (RunKind.ANSWER, (5, 0), run.pk)
        assert sent.answers == {"look_up": "42 °C"}
        assert sent.conversation_id == run.conversation_id

    def test_json_is_checked_first(self, client: Client, agent: Agent, started: list[Any]) -> None:
        run = calling(agent)
        response = self.post(client, run, output="{oops", format="json")
        assert response.status_code == 422
        assert "Line 1, column 2" in response.text
        assert "{oops" in response.text
        assert started == []
        self.post(client, run, output='{"a": 1}', format="json")
        (part,) = started[0][0].request["input"][0]["content"]
        assert part["data"]["output"] == '{"a": 1}'

    @pytest.mark.parametrize(("decision", "approve"), [("approve", True), ("refuse", False)])
    def test_an_approval(
        self,
        client: Client,
        agent: Agent,
        started: list[Any],
        decision: str,
        approve: bool,
    ) -> None:
        run = approving(agent)
        self.post(client, run, decision=decision, reason=" too much ")
        ((sent, _),) = started
        (said,) = sent.request["input"]
        assert said["type"] == "mcp_approval_response"
        assert said["content"][0]["data"] == {
            "approval_request_id": "a1",
            "approve": approve,
            "reason": "too much",
        }
        word = "approved" if approve else "denied"
        assert sent.answers == {"cart_add": f"{word}: too much"}

    def test_an_approval_without_a_decision_is_none(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = approving(agent)
        response = self.post(client, run)
        assert response.status_code == 422
        assert started == []

    def test_only_a_call_can_be_answered(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = calling(agent)
        for place in ({"seq": "4"}, {"seq": "99"}, {"seq": "x"}, {"part": "7"}):
            response = self.post(client, run, output="1", **place)
            assert response.status_code == 404
        assert started == []

    def test_a_run_of_somebody_else_is_not_found(
        self, client: Client, started: list[Any], django_user_model: Any
    ) -> None:
        other = django_user_model.objects.create(username="other")
        run = calling(None, owner=other)
        assert (self.post(client, run, output="1")).status_code == 404


@pytest.mark.database
class TestAnsweringTogether:
    """One request answers every open call, whichever form was submitted."""

    def post(self, client: Client, run: Run, place: str, form: Any) -> Any:
        seq, _, part = place.partition("-")
        sent = {"seq": seq, "part": part, **form}
        return client.post(f"/runs/{run.pk}/calls/", sent, headers={"HX-Request": "true"})

    @pytest.mark.parametrize("place", [FIRST, SECOND, APPROVAL])
    def test_one_request_has_them_all_in_their_order(
        self, client: Client, agent: Agent, started: list[Any], place: str
    ) -> None:
        run = leaving_three(agent)
        assert (self.post(client, run, place, JOINT)).status_code == 200
        ((sent, _),) = started
        assert [part["data"] for said in sent.request["input"] for part in said["content"]] == [
            {"call_id": "c1", "output": "42"},
            {"call_id": "c2", "output": ""},
            {"approval_request_id": "a1", "approve": False},
        ]
        assert {name: sent.request[name] for name in SESSION} == SESSION
        assert (sent.kind, sent.parent_id) == (RunKind.ANSWER, run.pk)
        assert f"{sent.parent_entry_seq}-{sent.parent_entry_part}" == place
        assert sent.answers == {"look_up": "42", "look_up (2)": "", "cart_add": "denied"}

    @pytest.mark.parametrize(
        ("wrong", "place", "sentence"),
        [
            ({f"{SECOND}-output": "{oops", f"{SECOND}-format": "json"}, SECOND, "Line 1, column 2"),
            ({f"{APPROVAL}-decision": ""}, APPROVAL, "Approve or deny"),
        ],
    )
    def test_refused_at_the_form_that_lacks_something(
        self,
        client: Client,
        agent: Agent,
        started: list[Any],
        wrong: dict[str, str],
        place: str,
        sentence: str,
    ) -> None:
        run = leaving_three(agent)
        response = self.post(client, run, FIRST, {**JOINT, **wrong})
        assert response.status_code == 422
        target = f'[data-calls="{run.pk}"][data-place="{place}"]'
        assert response.headers["HX-Retarget"] == target
        shown = response.text
        assert sentence in form_of(shown, place)
        assert shown.count("question-error") == 1
        assert "42</textarea>" in form_of(shown, FIRST)
        assert shown.count("hx-swap-oob") == 2
        assert started == []

    def test_a_form_that_is_not_on_the_page_is_named(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = leaving_three(agent)
        form = {name: value for name, value in JOINT.items() if not name.startswith(SECOND)}
        response = self.post(client, run, FIRST, form)
        assert response.status_code == 422
        shown = response.text
        assert "Unanswered calls are not loaded yet: look_up (2)." in form_of(shown, FIRST)
        assert f'data-place="{SECOND}"' not in shown
        assert started == []

    def test_what_the_run_did_not_ask_is_not_sent(
        self, client: Client, agent: Agent, started: list[Any]
    ) -> None:
        run = leaving_three(agent)
        self.post(client, run, FIRST, {**JOINT, "4-0-output": "?", "99-0-output": "?"})
        assert len(started[0][0].request["input"]) == 3


@pytest.mark.parametrize(
    ("make", "form", "words", "absent"),
    [
        (calling, {"5-0-output": "42", "5-0-format": "text"}, ["function_call_output", "s1"], ""),
        (calling, {"5-0-output": "{", "5-0-format": "json"}, ["Line 1"], "function_call_output"),
        (leaving_three, JOINT, ["c1", "c2", "a1", "mcp_approval_response"], ""),
        (leaving_three, {**JOINT, f"{APPROVAL}-decision": ""}, ["cart_add: Approve or deny"],
         "function_call_output"),
    ],
    ids=["one", "an error", "together", "one is missing"],
)  # fmt: skip
def test_the_answer_is_previewed(
    client: Client, agent: Agent, make: Any, form: dict[str, str], words: list[str], absent: str
) -> None:
    url = f"/runs/{make(agent).pk}/calls/preview/"
    shown = client.post(url, {**PLACE, **form}).text
    places = [shown.index(each) for each in words]
    assert places[:3] == sorted(places[:3])
    assert not absent or absent not in shown


def test_only_what_is_there_can_be_fetched(client: Client, agent: Agent) -> None:
    base = f"/runs/{calling(agent).pk}/messages"
    for path in ("5/0/parts/9/", "1/0/parts/0/", "99/0/parts/0/", "1/0/", "99/0/"):
        assert client.get(f"{base}/{path}").status_code == 404, path
    assert client.get(f"{base}/5/0/").status_code == 200


def test_messages_of_somebody_else_are_not_found(
    client: Client, agent: Agent, django_user_model: Any
) -> None:
    other = django_user_model.objects.create(username="other")
    text = [message("m1"), piece("m1", "confidential")]
    mine, theirs = reply(agent, *text), reply(agent, *text, owner=other)
    for path in ("messages/5/0/", "messages/5/0/parts/0/"):
        assert "confidential" in client.get(f"/runs/{mine.pk}/{path}").text
        assert client.get(f"/runs/{theirs.pk}/{path}").status_code == 404


class TestComposer:
    def test_each_protocol_has_its_own(self, client: Client, agent: Agent) -> None:
        Agent.objects.create(name="Recipes", url="http://agent.example/api")
        for slug, protocol, words in (
            ("talker", "agent-api", '"input"'),
            ("recipes", "nlweb", '"query"'),
        ):
            shown = client.get(f"/?agent={slug}&text=eggs").text
            assert f'data-protocol="{protocol}" ' in shown
            assert words.replace('"', "&quot;") in shown

    def test_a_run_brings_its_own_back(self, agent: Agent) -> None:
        shown = html_of(calling(agent))
        assert 'data-protocol="agent-api" ' in shown
        assert "Includes the session." in shown

    def test_what_follows_has_the_session(self, client: Client, agent: Agent) -> None:
        shown = client.get(f"/runs/{calling(agent).pk}/next/").text
        assert "&quot;session_id&quot;: &quot;s1&quot;" in shown


def filled(place: str = "5-0", **fields: str) -> dict[str, str]:
    """A form as its page sends it."""
    named = {name if name in PLACE else f"{place}-{name}": value for name, value in fields.items()}
    return {**PLACE, **named}
