from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from playground.protocols.a2a import exchange as module
from playground.protocols.a2a import messages
from playground.protocols.a2a.messages import VERSIONS, OutgoingMessage
from playground.protocols.events import (
    Completed,
    Content,
    Elicitation,
    Event,
    Failure,
    Log,
    Message,
    Note,
    Outcome,
    Progress,
    Result,
    Started,
    Status,
    Text,
    Unknown,
)
from playground.protocols.frames import FrameKind
from playground.protocols.problems import Problem, Stage
from tests.protocols.a2a.conversation import AGENT, CARD_03, CARD_10, Talk, begun, capture
from tests.support.playbook import CAPTURES, SSE

WELL_KNOWN = "/.well-known/agent-card.json"


def task(state: str, **more: Any) -> dict[str, Any]:
    return {"id": "t", "contextId": "c", "status": {"state": state}, **more}


def status(state: str, text: str = "", **more: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"state": state}
    if text:
        found["message"] = {"role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": found, **more}}


def chunk(*parts: Any, append: bool = False, name: str = "a1", **more: Any) -> dict[str, Any]:
    artifact = {"artifactId": name, "parts": list(parts)}
    return {"artifactUpdate": {"taskId": "t", "artifact": artifact, "append": append, **more}}


def grown(talk: Talk) -> list[tuple[str, bool]]:
    """The pieces of the texts that grow."""
    return [(event.value, event.delta) for event in talk.of(Content)]


class TestCalls:
    def test_the_card_first_then_the_message(self) -> None:
        talk = Talk(skill="ask").call()
        assert (talk.calls[0].method, talk.calls[0].url) == (
            "GET", f"http://agent.example.com{WELL_KNOWN}",
        )  # fmt: skip
        talk.answer(CARD_10).call()
        call = talk.calls[1]
        assert (call.method, call.url, call.streaming) == ("POST", AGENT, False)
        assert dict(call.headers)["A2A-Version"] == "1.0"
        assert talk.sent["method"] == "SendMessage"
        assert talk.sent["params"]["metadata"] == {"skill": "ask"}
        talk.result({"message": {"role": "ROLE_AGENT", "parts": [{"text": "hi"}]}})
        assert talk.is_over
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)
        assert (talk.exchange.handshake, talk.exchange.session_context) == (None, None)

    def test_the_older_version_streams_and_has_no_header(self) -> None:
        talk = begun(CARD_03)
        assert "A2A-Version" not in dict(talk.calls[1].headers)
        assert talk.sent["method"] == "message/stream"
        assert talk.calls[1].streaming

    def test_the_next_call_is_the_same_until_it_is_made(self) -> None:
        talk = Talk()
        assert talk.exchange.next_call() == talk.exchange.next_call()

    @pytest.mark.parametrize(
        ("agent", "agreed", "along"),
        [(AGENT, AGENT, True), (AGENT, "http://other.example.com/a2a", False)],
    )
    def test_headers_go_to_the_agreed_origin_only(
        self, agent: str, agreed: str, along: bool
    ) -> None:
        headers = (("Authorization", "Bearer s"),)
        talk = Talk(agent_url=agent, url=agreed, headers=headers).call()
        assert (headers[0] in talk.calls[0].headers) is along
        card = {**CARD_03, "url": agreed}
        talk.answer(card)
        # The place below the agent's path may have a card that names the agent.
        while talk.calls[-1].method == "GET":
            talk.call()
            if talk.calls[-1].method == "GET":
                talk.answer({}, 404)
        assert talk.calls[-1].url == agreed
        assert headers[0] in talk.calls[-1].headers

    def test_an_answer_goes_on_with_its_task(self) -> None:
        resume = {"kind": "a2a", "taskId": "t", "contextId": "c", "answer": "two"}
        message = begun(resume=resume).sent["params"]["message"]
        assert (message["taskId"], message["parts"]) == ("t", [{"text": "two"}])


class TestCards:
    def test_a_card_below_the_path_after_none_at_the_origin(self) -> None:
        talk = Talk().call().answer(b"<html>", 404).call()
        assert talk.calls[1].url == AGENT + WELL_KNOWN
        talk.answer(CARD_10).call()
        assert talk.calls[2].method == "POST"

    def test_two_agents_at_one_origin(self) -> None:
        other = {**CARD_03, "name": "Other", "url": "http://agent.example.com/other"}
        talk = Talk().call().answer(other).call()
        assert talk.calls[1].url == AGENT + WELL_KNOWN
        talk.answer(CARD_10).call()
        assert talk.a2a.card
        assert talk.a2a.card.name == "Cook"
        assert talk.calls[2].url == AGENT

    def test_a_card_that_names_another_address_is_refused_unless_that_was_agreed_to(self) -> None:
        moved = {**CARD_03, "url": "http://evil.example.com/"}
        talk = Talk().call().answer(moved).call().answer({}, 404)
        problem = talk.problem
        assert (problem.state, problem.stage) == ("refused", "policy")
        assert "http://evil.example.com/" in problem.cause
        assert AGENT in problem.cause
        assert talk.is_over
        assert len(talk.calls) == 2

    @pytest.mark.parametrize(
        ("body", "code", "extra", "came"),
        [
            (b"<!doctype html><title>x</title>", 200, "", "is an HTML page, not JSON"),
            (b"[1, 2]", 200, "", "is JSON, but not an agent card"),
            (b"\xff\xfe", 200, "", "is text, not JSON"),
            (b"[" * 200, 200, "", "is JSON that is nested too deeply"),
            (b"", 404, "", "returned HTTP 404"),
            (b"", 302, "Location: http://b.example/\r\n", "redirects to http://b.example/"),
            (b"", 302, "", "redirects to an unspecified URL"),
        ],
    )
    def test_what_is_no_card(self, body: bytes, code: int, extra: str, came: str) -> None:
        talk = Talk(agent_url="http://agent.example.com")
        for _ in range(2):
            talk.call().answer(body, code, extra=extra)
        problem = talk.problem
        assert (problem.state, problem.cause) == ("failed", "No agent card was found.")
        assert problem.detail.count(came) == 2
        assert talk.is_over

    def test_a_card_behind_a_door(self) -> None:
        talk = Talk(agent_url="http://agent.example.com")
        talk.call().answer({}, 401).call().answer({}, 401)
        assert "authentication" in talk.problem.fix

    @pytest.mark.parametrize("end", [[], [FrameKind.BODY], [FrameKind.BODY, FrameKind.END]])
    def test_a_card_below_the_path_after_one_without_end(self, end: list[FrameKind]) -> None:
        """Nobody waits for the end of it, and what still comes of it changes nothing."""
        talk = Talk().call()
        talk.head().body(b"{" + b" " * 600_000)
        assert not talk.a2a.has_enough
        talk.body(b" " * 600_000)
        assert talk.a2a.has_enough
        for kind in end:
            talk.frame(kind, b" " * 600_000 if kind is FrameKind.BODY else b"")
        remarks = [{"remark": "It exceeds the limit of 1,000,000 bytes for agent cards."}]
        assert [note.data for note in talk.of(Note)] == remarks
        assert talk.exchange.problem is None
        talk.call()
        assert talk.calls[1].url == AGENT + WELL_KNOWN
        assert not talk.a2a.has_enough
        talk.answer(CARD_10).call()
        assert talk.calls[2].method == "POST"

    def test_cards_without_end_are_none(self) -> None:
        talk = Talk(agent_url="http://agent.example.com")
        for _ in range(2):
            talk.call().head().body(b" " * 1_200_000)
        assert talk.problem.cause == "No agent card was found."
        assert talk.problem.detail.count("exceeds the limit of 1,000,000 bytes") == 2
        assert talk.is_over

    def test_a_card_as_a_stream_of_events_is_none(self) -> None:
        talk = Talk(agent_url="http://agent.example.com").call().head(200, SSE)
        talk.stream([b"data: {}\n\n", b"data: "]).end()
        assert talk.of(Note)[0].data == {"remark": "It is text, not JSON."}  # type: ignore[arg-type]

    def test_an_address_that_can_have_no_card(self) -> None:
        talk = Talk(agent_url="kitchen")
        assert "not an http or https URL" in talk.problem.cause
        assert talk.is_over

    def test_a_card_with_nothing_that_is_spoken(self) -> None:
        talk = Talk().call().answer({**CARD_03, "preferredTransport": "GRPC"})
        assert "only unsupported interfaces: GRPC 0.3.0" in talk.problem.cause

    @pytest.mark.parametrize(("skill", "count"), [("ask", 0), ("Ask", 0), ("", 0), ("dance", 1)])
    def test_a_skill_that_the_card_does_not_have_is_a_warning(self, skill: str, count: int) -> None:
        talk = Talk(skill=skill).call().answer(CARD_10)
        warnings = talk.of(Log)
        assert len(warnings) == count
        if warnings:
            assert warnings[0].data == "The agent card has no skill “dance”; it has “ask”."
        assert not talk.is_over

    def test_many_skills_are_counted(self) -> None:
        card = {**CARD_10, "skills": [{"id": f"s{n}"} for n in range(12)]}
        (warning,) = Talk(skill="x").call().answer(card).of(Log)
        assert warning.data.endswith("“s9” and 2 more.")
        none = Talk(skill="x").call().answer({**CARD_10, "skills": []})
        assert none.of(Log)[0].data == "The agent card has no skill “x”."


class TestCaptures:
    @pytest.mark.parametrize("version", ["v03", "v1"])
    def test_a_message(self, version: str) -> None:
        head, body = capture(f"{version}_send_message")
        talk = begun(CARD_03 if version == "v03" else CARD_10)
        talk.frame(FrameKind.HEAD, head.replace(b"\n", b"\r\n")).body(body).end()
        assert [event.text for event in talk.of(Text)] == ["You said: hello — crème 🥚"]
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)
        assert talk.is_over

    @pytest.mark.parametrize("version", ["v03", "v1"])
    def test_a_task_that_is_streamed(self, version: str) -> None:
        _, body = capture(f"{version}_stream_task")
        talk = begun(CARD_03 if version == "v03" else CARD_10)
        talk.head(200, SSE).stream([body.replace(b"\n", b"\r\n")]).end()
        kinds = [type(event) for event in talk.events if not isinstance(event, Note)]
        words = [] if version == "v03" else [Text]
        pieces = [Message, Content, Content, Started, Result, Completed, Status]
        assert kinds == [Progress, Progress, *pieces, *words, Completed]
        assert [event.message for event in talk.of(Progress)][1] == "Searching..."
        assert grown(talk) == [("first chunk ", True), ("second chunk", True)]
        assert talk.of(Result)[0].item["name"] == "Crème 🥚"
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)
        assert talk.is_over


class TestTasks:
    def test_a_task_is_followed_to_its_end(self) -> None:
        talk = begun().result({"task": task("TASK_STATE_SUBMITTED")})
        call = talk.exchange.next_call()
        assert call
        assert call.delay == module.FIRST_DELAY
        talk.call()
        assert talk.sent == {"jsonrpc": "2.0", "id": 2, "method": "GetTask", "params": {"id": "t"}}
        talk.result(task("TASK_STATE_WORKING")).call()
        assert talk.calls[-1].delay > module.FIRST_DELAY
        artifact = {"artifactId": "a", "parts": [{"text": "done"}]}
        talk.result(task("TASK_STATE_COMPLETED", artifacts=[artifact]))
        assert talk.is_over
        assert [type(event) for event in talk.events[-2:]] == [Text, Completed]
        assert len(talk.of(Progress)) == 2
        assert talk.exchange.outcome is Outcome.ANSWER

    def test_a_stream_that_ends_before_its_task_is_followed_too(self) -> None:
        talk = begun(CARD_03).results(status("working"))
        talk.call()
        assert talk.sent["method"] == "tasks/get"
        talk.result({"kind": "task", **task("completed")})
        assert talk.is_over

    def test_a_stream_that_broke_is_not(self) -> None:
        talk = begun(CARD_03).head(200, SSE)
        talk.stream([b'data: {"id": 1, "result": {"kind": "task", "id": "t",'
                     b' "status": {"state": "working"}}}\n\n'])  # fmt: skip
        talk.frame(FrameKind.ERROR, b"{}")
        assert talk.exchange.next_call() is None

    def test_a_task_that_never_ends_is_given_up(self) -> None:
        talk = begun().result({"task": task("working")})
        for _ in range(module.MAX_POLLS):
            talk.call().result(task("working"))
        assert talk.exchange.next_call() is None
        assert (talk.problem.state, talk.problem.stage) == ("truncated", "limit")
        assert talk.calls[-1].delay == module.MAX_DELAY
        assert len(talk.of(Progress)) == 1

    @pytest.mark.parametrize(
        ("state", "code"),
        [
            ("failed", "TASK_FAILED"),
            ("TASK_STATE_REJECTED", "TASK_REJECTED"),
            ("canceled", "TASK_CANCELED"),
            ("cancelled", "TASK_CANCELED"),
        ],
    )
    def test_a_task_that_fails(self, state: str, code: str) -> None:
        talk = begun().result({"task": task(state)})
        (failure,) = talk.of(Failure)
        assert (failure.code, bool(failure.message)) == (code, True)
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.FAILURE, None)
        assert talk.is_over
        said = begun().results(status(state, "No eggs."))
        assert said.of(Failure)[0].message == "No eggs."

    @pytest.mark.parametrize("state", ["dreaming", "TASK_STATE_UNSPECIFIED", None, 7])
    def test_a_state_that_nobody_knows(self, state: Any) -> None:
        talk = begun().result({"task": task(state)})
        assert [type(event) for event in talk.of(Unknown)] == [Unknown]
        assert "state" in talk.of(Unknown)[0].reason or "says" in talk.of(Unknown)[0].reason
        assert talk.is_over

    def test_what_is_said_about_another_task_is_told_apart(self) -> None:
        other = status("completed")
        other["statusUpdate"]["taskId"] = "x"
        talk = begun(CARD_03).results({"task": task("working")}, other)
        assert "the task of this run is t" in talk.of(Unknown)[0].reason
        assert not talk.is_over

    def test_the_last_words_of_a_task_that_made_nothing(self) -> None:
        history = [
            {"role": "ROLE_USER", "parts": [{"text": "eggs"}]},
            {"role": "ROLE_AGENT", "parts": [{"text": "Here you are."}]},
            {"role": "ROLE_USER", "parts": [{"text": "thanks"}]}, 7,
        ]  # fmt: skip
        talk = begun().result({"task": task("completed", history=history)})
        assert [event.text for event in talk.of(Text)] == ["Here you are."]
        assert begun().result({"task": task("completed")}).of(Text) == []

    def test_data_in_a_working_state_is_shown(self) -> None:
        message = {"parts": [{"text": "a"}, {"data": {"n": 1}}]}
        talk = begun().result(
            {"task": {**task("working"), "status": {"state": "working", "message": message}}}
        )
        assert [type(event) for event in talk.of(Progress, Result)] == [Progress, Result]


class TestArtifacts:
    def test_what_is_shown_is_not_shown_again(self) -> None:
        talk = begun(CARD_03).results(
            chunk({"text": "one "}), chunk({"text": "two"}, append=True),
            {"task": task("working", artifacts=[
                {"artifactId": "a1",
                 "parts": [{"text": "one "}, {"text": "two"}, {"data": [1]}]}])},
            {"task": task("completed", artifacts=[
                {"artifactId": "a1", "parts": [{"text": "one two three"}, {"data": [1]}]}])},
        )  # fmt: skip
        assert grown(talk) == [("one ", True), ("two", True), (" three", True)]
        assert len(talk.of(Message)) == 1
        assert [event.status for event in talk.of(Status)] == ["completed"]
        assert [event.item for event in talk.of(Result)] == [[1]]

    def test_an_artifact_that_is_replaced_is_shown_anew(self) -> None:
        talk = begun(CARD_03).results(chunk({"text": "one"}), chunk({"text": "other"}))
        assert grown(talk) == [("one", True), ("other", False)]

    def test_a_piece_is_the_artifact_s_own(self) -> None:
        talk = begun(CARD_03).results(
            chunk({"text": "a"}), chunk({"text": "b"}, name="a2"), chunk({"text": "c"}, append=True)
        )
        one, two = talk.of(Message)
        assert [(event.message_ref, event.msg_id) for event in talk.of(Content)] == [
            ((one.seq, 0), "a1"), ((two.seq, 0), "a2"), ((one.seq, 0), "a1"),
        ]  # fmt: skip

    def test_several_in_one_frame_each_have_their_place(self) -> None:
        each = {"jsonrpc": "2.0", "id": 1}
        results = [chunk({"text": "a"}), chunk({"text": "b"}, name="a2")]
        talk = begun(CARD_03).answer([{**each, "result": one} for one in results])
        frame = [event for event in talk.events if event.seq == talk.of(Message)[0].seq]
        for content in talk.of(Content):
            assert isinstance(frame[content.message_ref[1]], Message)
            assert frame[content.message_ref[1]].id == content.msg_id

    def test_one_that_comes_whole_is_text(self) -> None:
        talk = begun(CARD_03).results(chunk({"text": "one"}, lastChunk=True), status("completed"))
        assert [event.text for event in talk.of(Text)] == ["one"]
        assert talk.of(Message) == talk.of(Status) == []
        # What is appended to it all the same stands below it.
        late = begun(CARD_03).results(
            chunk({"text": "one"}, lastChunk=True), chunk({"text": "two"}, append=True)
        )
        assert [(event.text, event.delta) for event in late.of(Text)] == [
            ("one", False), ("two", True),
        ]  # fmt: skip

    def test_a_task_that_fails_leaves_nothing_open(self) -> None:
        talk = begun(CARD_03).results(chunk({"text": "one"}), status("failed"))
        assert [(event.id, event.status) for event in talk.of(Status)] == [("a1", "failed")]

    def test_a_whole_one_that_has_changed_is_shown_anew(self) -> None:
        def made(text: str) -> Any:
            return [{"artifactId": "a", "parts": [{"text": text}]}]

        talk = begun().result({"task": task("working", artifacts=made("one"))}).call()
        talk.result(task("working", artifacts=made("one two"))).call()
        talk.result(task("completed", artifacts=made("three")))
        assert [(event.text, event.delta) for event in talk.of(Text)] == [
            ("one", False), (" two", True), ("three", False),
        ]  # fmt: skip

    def test_a_piece_of_an_artifact_of_which_nothing_had_come(self) -> None:
        talk = begun(CARD_03).results(chunk({"text": "two"}, append=True))
        assert grown(talk) == [("two", True)]
        assert any("that was never started" in str(event.data) for event in talk.of(Note))

    @pytest.mark.parametrize("artifact", [None, 7, [], "x"])
    def test_what_is_no_artifact(self, artifact: Any) -> None:
        talk = begun(CARD_03).results({"artifactUpdate": {"taskId": "t", "artifact": artifact}})
        assert "The artifact is not an object." in [event.reason for event in talk.of(Unknown)]
        whole = begun().result({"task": task("completed", artifacts=[artifact])})
        assert "The artifact is not an object." in [event.reason for event in whole.of(Unknown)]

    def test_more_artifacts_than_are_told_apart(self) -> None:
        many = [{"artifactId": str(n), "parts": [{"text": "x"}]} for n in range(1_000)]
        talk = begun().result({"task": task("working", artifacts=many)}).call()
        late = {"artifactId": "late", "parts": [{"text": "late"}]}
        talk.result(task("working", artifacts=[late])).call().result(
            task("completed", artifacts=[late])
        )
        assert [event.text for event in talk.of(Text)][-2:] == ["late", "late"]


class TestArtifactsThatAreNotSent:
    """Some agents write artifacts to their store only; `tasks/get` brings them."""

    ARTIFACT: Mapping[str, Any] = {"artifactId": "a", "parts": [{"text": "done"}]}

    @pytest.mark.parametrize("text", ["", "Finished."])
    def test_are_asked_for_once_after_a_stream(self, text: str) -> None:
        talk = begun(CARD_03).results({"task": task("submitted")}, status("completed", text)).call()
        assert (talk.sent["method"], talk.sent["params"]) == ("tasks/get", {"id": "t"})
        assert talk.calls[-1].delay == 0
        talk.result({"kind": "task", **task("completed", artifacts=[self.ARTIFACT])})
        assert [event.text for event in talk.of(Text)] == [text, "done"][not text :]
        assert talk.is_over
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)

    def test_are_asked_for_once_after_a_document(self) -> None:
        talk = begun().result({"task": task("TASK_STATE_COMPLETED")}).call()
        assert talk.sent["method"] == "GetTask"
        talk.result(task("TASK_STATE_COMPLETED"))
        assert talk.is_over
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)

    @pytest.mark.parametrize(
        "results",
        [
            [chunk({"text": "one"}, lastChunk=True), status("completed")],
            [{"task": task("completed", artifacts=[ARTIFACT])}],
            [{"task": task("completed", history=[{"role": "agent", "parts": [{"text": "x"}]}])}],
            [status("failed")],
            [status("input-required")],
        ],
    )
    def test_nothing_is_asked_for_where_something_came(self, results: list[Any]) -> None:
        assert begun(CARD_03).results(*results).is_over

    def test_a_task_that_was_read_is_not_read_again(self) -> None:
        talk = begun().result({"task": task("working")}).call().result(task("completed"))
        assert talk.is_over

    def test_without_its_id_nothing_can_be_asked_for(self) -> None:
        assert begun(CARD_03).results({"statusUpdate": {"status": {"state": "completed"}}}).is_over

    def test_an_agent_that_does_not_respond_has_still_completed_its_task(self) -> None:
        talk = begun(CARD_03).results({"task": task("working")}, status("completed")).call()
        problem = Problem("failed", Stage.BODY, "No data for 60 s.", "")
        talk.frame(FrameKind.ERROR, problem.to_bytes())
        assert talk.exchange.tolerates_error
        assert "No data for 60 s." in talk.of(Log)[-1].data
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"jsonrpc": "2.0", "id": 2, "error": {"code": -32001, "message": "Not found"}}, 200),
            (b"<html>", 404),
        ],
    )
    def test_an_agent_that_forgets_its_tasks_has_still_completed_them(
        self, body: Any, code: int
    ) -> None:
        talk = begun(CARD_03).results({"task": task("working")}, status("completed"))
        talk.call().answer(body, code)
        assert "Reading the artifacts failed" in talk.of(Log)[-1].data
        assert talk.of(Failure) == []
        assert talk.is_over
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)


class TestSubmitted:
    """A response that only says that the agent has accepted the task."""

    BARE: Mapping[str, Any] = {"task_id": "t", "status": "submitted", "message": "Accepted."}

    @pytest.mark.parametrize(
        "body",
        [
            BARE,
            {"jsonrpc": "2.0", "id": 1, "result": BARE},
            {"jsonrpc": "2.0", "id": 1, "result": {"id": "t", "status": "TASK_STATE_SUBMITTED"}},
            {"jsonrpc": "2.0", "id": 1, "result": {"task": task("submitted")}},
        ],
    )
    def test_is_a_task_to_follow(self, body: Any) -> None:
        talk = begun().answer(body)
        assert talk.exchange.problem is None
        assert talk.of(Failure, Unknown) == []
        talk.call()
        assert talk.sent["params"] == {"id": "t"}
        talk.result(task("completed", artifacts=[{"parts": [{"text": "done"}]}]))
        assert talk.exchange.outcome is Outcome.ANSWER

    @pytest.mark.parametrize(
        "body",
        [{"status": "submitted"}, {"jsonrpc": "2.0", "id": "1", "status": "submitted"}],
    )
    def test_is_a_note_where_it_has_no_id(self, body: Any) -> None:
        talk = begun().answer(body)
        assert [event.text for event in talk.of(Text)] == [
            "The agent accepted the task. (no task id)"
        ]
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.NONE, None)
        assert talk.is_over

    @pytest.mark.parametrize("status_", ["ok", "completed", 7, None])
    def test_another_status_is_none(self, status_: Any) -> None:
        assert begun().answer({"task_id": "t", "status": status_}).exchange.problem


class TestPush:
    """Agents that send results to a webhook, which the playground does not have."""

    CARD: Mapping[str, Any] = {**CARD_10, "capabilities": {"pushNotifications": True}}

    def test_a_card_that_offers_nothing_else_is_told_apart(self) -> None:
        talk = begun(self.CARD).result({"task": task("working")})
        (hint,) = talk.of(Log)
        assert hint.data.startswith("The agent card offers push notifications and no streaming.")
        # It may answer tasks/get all the same.
        talk.call().result(task("working")).call()
        talk.result(task("completed", artifacts=[{"parts": [{"text": "done"}]}]))
        assert len(talk.of(Log)) == 1
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.ANSWER, None)

    @pytest.mark.parametrize(
        "result",
        [
            {"task": {**task("working"), "metadata": {"pushNotificationConfig": {}}}},
            {"task": {**task("working"), "pushNotification": True}},
            status("working", "The result comes by push notification."),
            status("working", "I will call your webhook."),
            {"task_id": "t", "status": "submitted", "message": "Result follows by webhook."},
        ],
    )
    def test_so_is_a_reply_that_says_so(self, result: Any) -> None:
        (hint,) = begun().result(result).of(Log)
        assert hint.data.startswith("The agent says that it sends push notifications.")

    @pytest.mark.parametrize(
        ("capabilities", "result"),
        [
            ({"pushNotifications": True, "streaming": True}, {"task": task("working")}),
            ({"pushNotifications": "yes"}, {"task": task("working")}),
            ({"pushNotifications": True}, {"message": {"parts": [{"text": "hi"}]}}),
            ({}, status("working", "Pushing on.")),
        ],
    )
    def test_others_are_not(self, capabilities: Any, result: Any) -> None:
        talk = begun({**CARD_10, "capabilities": capabilities}).results(result)
        assert talk.of(Log) == []

    def test_a_task_that_cannot_be_read(self) -> None:
        talk = begun(self.CARD).result({"task": task("working")}).call()
        error = {"code": -32601, "message": "Method not found"}
        talk.answer({"jsonrpc": "2.0", "id": 2, "error": error})
        assert talk.is_over
        problem = talk.problem
        assert problem.state == "truncated"
        assert "push notifications" in problem.cause
        assert "tasks/get" in problem.fix

    def test_a_task_that_never_ends(self) -> None:
        talk = begun(self.CARD).result({"task": task("working")})
        for _ in range(module.MAX_POLLS):
            talk.call().result(task("working"))
        assert talk.is_over
        assert "only be sent to a webhook" in talk.problem.cause


class TestQuestions:
    def test_a_question_in_words(self) -> None:
        talk = begun().results(status("TASK_STATE_INPUT_REQUIRED", "How many?", final=True))
        (asked,) = talk.of(Elicitation)
        assert (asked.text, [each.id for each in asked.questions]) == ("How many?", ["answer"])
        assert asked.resume == {"kind": "a2a", "taskId": "t", "contextId": "c", "as": "text"}
        assert talk.exchange.outcome is Outcome.ELICITATION
        assert talk.is_over

    def test_a_form_of_nlweb(self) -> None:
        options = ["a", "b"]
        form = {"elicitation": {"text": "Diet?", "questions": [
            {"id": "diet", "text": "?", "type": "single_select", "options": options}]}}  # fmt: skip
        message = {"parts": [{"data": form}]}
        body = {"taskId": "t", "status": {"state": "input-required", "message": message}}
        (asked,) = begun().result({"kind": "status-update", **body}).of(Elicitation)
        assert (asked.text, asked.questions[0].options) == ("Diet?", ("a", "b"))
        assert asked.resume["as"] == "data"

    def test_data_that_are_no_form_leave_the_question_in_words(self) -> None:
        message = {"parts": [{"data": {"elicitation": {"questions": []}}}, {"text": "How?"}]}
        body = {"taskId": "t", "status": {"state": "input-required", "message": message}}
        (asked,) = begun().result({"kind": "status-update", **body}).of(Elicitation)
        assert (asked.text, asked.resume["as"]) == ("How?", "text")

    def test_authorisation_is_explained(self) -> None:
        (asked,) = begun().result({"task": task("TASK_STATE_AUTH_REQUIRED")}).of(Elicitation)
        assert "Do not enter passwords" in asked.text


class TestErrors:
    def test_an_agent_that_refuses_to_read_its_task_is_not_asked_again(self) -> None:
        talk = begun().result({"task": task("working")}).call()
        talk.answer({"jsonrpc": "2.0", "id": 2, "error": {"code": -32001, "message": "None"}})
        assert [event.code for event in talk.of(Failure)] == ["-32001"]
        assert talk.is_over
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.FAILURE, None)

    def test_an_error_of_json_rpc(self) -> None:
        error = {"code": -32009, "message": "Unsupported", "data": [{"reason": "X"}]}
        talk = begun().answer({"jsonrpc": "2.0", "id": 1, "error": error})
        assert talk.of(Failure) == [
            Failure(8, "-32009", "Unsupported", [{"reason": "X"}], error),
        ]  # fmt: skip
        assert (talk.exchange.outcome, talk.exchange.problem) == (Outcome.FAILURE, None)
        assert talk.is_over

    def test_an_error_without_a_code(self) -> None:
        talk = begun().answer({"id": 1, "error": "no"})
        assert [(event.code, event.message) for event in talk.of(Failure)] == [
            ("JSON-RPC error", "no")
        ]

    def test_an_error_to_a_stream_request_as_a_document(self) -> None:
        talk = begun(CARD_03).answer(
            {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "m"}}
        )
        assert talk.of(Failure)[0].code == "-32601"

    @pytest.mark.parametrize(
        ("status_", "body", "cause"),
        [
            (200, b"<html>", "is an HTML page, not JSON"),
            (200, b'{"a": 1}', "is JSON, but not an A2A response"),
            (401, b"", "Authentication required (HTTP 401)."),
            (200, b"7", "is JSON, but not an A2A response"),
        ],
    )
    def test_a_reply_that_is_none(self, status_: int, body: bytes, cause: str) -> None:
        talk = begun().answer(body, status_)
        assert cause in talk.problem.cause
        assert talk.is_over

    @pytest.mark.parametrize(
        ("envelope", "remark"),
        [
            ({"jsonrpc": "2.0", "id": 9}, "The response id differs from the request id."),
            ({"jsonrpc": "2.0"}, "The response has no id"),
            ({"id": 1}, 'The message has no "jsonrpc"'),
            (
                {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}},
                "both a result and an error",
            ),
        ],
    )
    def test_odd_envelopes_are_read_and_noted(self, envelope: Any, remark: str) -> None:
        result = {"message": {"role": "ROLE_AGENT", "parts": [{"text": "hi"}]}}
        talk = begun().answer({**envelope, "result": result})
        assert [event.text for event in talk.of(Text)] == ["hi"]
        assert any(remark in str(event.data) for event in talk.of(Note))

    def test_a_batch_is_read(self) -> None:
        each = {"jsonrpc": "2.0", "id": 1, "result": {"message": {"parts": [{"text": "x"}]}}}
        assert len(begun().answer([each, each]).of(Text)) == 2

    @pytest.mark.parametrize("result", [None, 7, {}, {"kind": "poem"}, {"id": "t"}])
    def test_results_that_are_neither_message_nor_task(self, result: Any) -> None:
        assert [type(each) for each in begun().result(result).of(Unknown)] == [Unknown]

    @pytest.mark.parametrize(
        ("part", "kind"),
        [
            ({"text": ""}, None),
            ("words", Unknown),
            ({"kind": "poem"}, Unknown),
            ({"file": {"uri": "https://x/", "name": "n"}}, Result),
            ({"url": "https://x/", "mediaType": "image/png"}, Result),
            ({"raw": "AAAA", "filename": "f"}, Result),
            ({"data": {"promise": {"token": "p"}, "_meta": {}}}, Result),
        ],
    )
    def test_parts_of_every_kind(self, part: Any, kind: type[Event] | None) -> None:
        talk = begun().result({"message": {"parts": [part]}})
        found = [type(event) for event in talk.events if not isinstance(event, Note)]
        assert found == ([kind] if kind else [])

    def test_a_stream_message_that_is_no_json(self) -> None:
        talk = begun(CARD_03).head(200, SSE).stream([b"data: {\n\n", b"event: ping\n\n"]).end()
        assert "not JSON" in talk.of(Unknown)[0].reason
        assert Note(0, "ping") in talk.unnumbered()

    def test_a_reply_that_is_nested_too_deep(self) -> None:
        talk = begun(max_depth=20).answer(b"[" * 30)
        assert talk.problem.limit == "max_depth"


OLD, NEW = VERSIONS["0.3"], VERSIONS["1.0"]


def sent(version: Any, message: Any, **options: Any) -> Any:
    outgoing = OutgoingMessage(AGENT, AGENT, message, "m", **options)
    return messages.send_message(outgoing, version)["params"]["message"]


@pytest.mark.parametrize(
    ("name", "version", "text"),
    [
        ("v03_send_message", OLD, "hello"),
        ("v03_stream_task", OLD, "a task"),
        ("v1_send_message", NEW, "hello"),
        ("v1_stream_task", NEW, "a task"),
    ],
)
def test_what_real_clients_send(name: str, version: Any, text: str) -> None:
    request = (CAPTURES / "a2a" / f"{name}.req.txt").read_text()
    recorded = json.loads(request[request.index('{"jsonrpc"') :])
    own_id = recorded["params"]["message"]["messageId"]
    outgoing = OutgoingMessage(AGENT, AGENT, text, own_id)
    assert messages.send_message(outgoing, version, streaming="stream" in name) == recorded


@pytest.mark.parametrize(
    ("message", "old", "new"),
    [
        ("eggs", [{"kind": "text", "text": "eggs"}], [{"text": "eggs"}]),
        ({"text": "eggs"}, [{"kind": "text", "text": "eggs"}], [{"text": "eggs"}]),
        (
            {"dish": "eggs"},
            [{"kind": "data", "data": {"dish": "eggs"}}],
            [{"data": {"dish": "eggs"}, "mediaType": "application/json"}],
        ),
        (
            [1],
            [{"kind": "data", "data": {"value": [1]}}],
            [{"data": [1], "mediaType": "application/json"}],
        ),
        (
            {"role": "user", "parts": [{"type": "text", "text": "eggs"}, "salt", 7]},
            [{"kind": "text", "text": "eggs"}, {"kind": "text", "text": "salt"}, 7],
            [{"text": "eggs"}, {"text": "salt"}, 7],
        ),
        (
            {"parts": [{"kind": "data", "data": {"n": 1}, "metadata": {"a": 1}}]},
            [{"kind": "data", "data": {"n": 1}, "metadata": {"a": 1}}],
            [{"data": {"n": 1}, "mediaType": "application/json", "metadata": {"a": 1}}],
        ),
        ({"parts": [{"url": "http://x/"}]}, [{"url": "http://x/"}], [{"url": "http://x/"}]),
        (None, [], []),
    ],
)
def test_a_message_in_the_words_of_each_version(message: Any, old: Any, new: Any) -> None:
    assert sent(OLD, message) == {
        "kind": "message", "messageId": "m", "role": "user", "parts": old,
    }  # fmt: skip
    assert sent(NEW, message) == {"messageId": "m", "role": "ROLE_USER", "parts": new}


def test_what_a_message_has_besides_its_parts_is_kept() -> None:
    message = {"messageId": "own", "contextId": "c", "role": "agent", "kind": "x", "parts": []}
    assert sent(NEW, message) == {
        "messageId": "own", "contextId": "c", "role": "ROLE_USER", "parts": [],
    }  # fmt: skip


def test_an_answer_belongs_to_its_task() -> None:
    resume = {"taskId": "t", "contextId": "c", "answer": "yes"}
    assert sent(NEW, "eggs", resume=resume) == {
        "messageId": "m", "role": "ROLE_USER", "parts": [{"text": "yes"}],
        "taskId": "t", "contextId": "c",
    }  # fmt: skip
    assert "contextId" not in sent(NEW, "eggs", resume={"taskId": "t", "answer": {"a": 1}})
