"""The lenient reader: replies of every version and dialect, well-formed and not."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import example, given

from playground.protocols.events import (
    Completed,
    Elicitation,
    Event,
    Failure,
    Note,
    Outcome,
    Promise,
    Question,
    Result,
    Started,
    Text,
    Unknown,
)
from playground.protocols.json_pointer import resolve
from playground.protocols.nlweb.reader import NLWebReader
from tests.support.nlweb_values import EVENT_NAMES, OBJECTS, VALUES

META = {"response_type": "answer", "version": "0.55"}


def document(payload: Any, version: str = "0.55") -> tuple[list[Event], NLWebReader]:
    reader = NLWebReader(version)
    return reader.document(0, payload), reader


def stream(*messages: tuple[str | None, Any]) -> tuple[list[Event], NLWebReader]:
    """Messages as (name, payload); a payload that is a string stands for itself."""
    reader, events = NLWebReader("0.55"), []
    for name, payload in messages:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        events += reader.message(0, name, data)
    return events, reader


def one(name: str | None, payload: Any) -> Event:
    (event,) = stream((name, payload))[0]
    return event


def unknown(event: Event) -> tuple[str, Any]:
    assert isinstance(event, Unknown)
    assert event.reason.endswith(".")
    return event.name, event.data


class TestMetadata:
    """Section 4."""

    def test_is_where_a_reply_begins_and_ends(self) -> None:
        assert document({"_meta": META})[0] == [Started(0, META), Completed(0, META)]

    def test_may_be_called_meta(self) -> None:
        """0.54: "meta or _meta"."""
        events, reader = document({"meta": META, "results": []}, "0.54")
        assert events[0] == Started(0, META)
        assert reader.outcome is Outcome.ANSWER

    def test_underscore_wins(self) -> None:
        assert document({"_meta": META, "meta": {"version": "x"}})[0][0] == Started(0, META)

    def test_response_type_may_stand_at_the_top(self) -> None:
        """0.54, section 4.1.2."""
        events, reader = document({"response_type": "promise", "promise": {"token": "p"}})
        assert events[0] == Started(0, {"response_type": "promise"})
        assert reader.outcome is Outcome.PROMISE

    def test_response_type_at_the_top_beside_metadata(self) -> None:
        events, _ = document({"_meta": {"version": "1"}, "response_type": "failure", "error": "x"})
        assert events[0] == Started(0, {"version": "1", "response_type": "failure"})

    @pytest.mark.parametrize("name", ["answer", "Answer", "ANSWER", " answer "])
    def test_response_type_in_any_capitalisation(self, name: str) -> None:
        assert document({"_meta": {"response_type": name}})[1].outcome is Outcome.ANSWER

    @pytest.mark.parametrize("name", ["none", "", "other", None, 7, ["answer"], {}])
    def test_response_type_that_is_none(self, name: Any) -> None:
        assert document({"_meta": {"response_type": name}})[1].outcome is Outcome.NONE

    def test_that_is_null_is_none(self) -> None:
        assert document({"_meta": None, "results": [1]})[0] == [Result(0, 1, 0), Completed(0, {})]

    @pytest.mark.parametrize("meta", ["x", 7, [META], [], True, ""])
    def test_that_is_no_object_is_shown_as_what_it_is(self, meta: Any) -> None:
        reason = "The metadata is not a JSON object."
        stray = Unknown(0, "_meta", meta, reason)
        events, reader = document({"_meta": meta, "results": [1]})
        assert events == [Result(0, 1, 0), stray, Completed(0, {})]
        assert reader.outcome is Outcome.ANSWER
        streamed, _ = stream(
            ("start", {"_meta": meta}),
            ("result", {"_meta": meta, "index": 0, "item": 1}),
            (None, {"_meta": meta, "results": [1]}),
            ("complete", {"_meta": meta}),
        )
        assert streamed == [
            Started(0, {}), stray, Result(0, 1, 0), stray, Result(0, 1), stray,
            Completed(0, {}), stray,
        ]  # fmt: skip

    @pytest.mark.parametrize("name", [None, "made-up"])
    def test_that_is_no_object_and_stands_alone_is_shown_once(self, name: str | None) -> None:
        assert unknown(one(name, {"_meta": [META]}))[1] == {"_meta": [META]}
        (event,) = document({"_meta": [META]})[0]
        assert unknown(event)[1] == {"_meta": [META]}

    def test_summary_is_text(self) -> None:
        """0.54 HTTP examples, section 2."""
        meta = {**META, "summary": "Found 3."}
        events, _ = document({"_meta": meta, "results": []})
        assert events[1] == Text(0, "Found 3.", kind="summary", raw="Found 3.")

    def test_the_same_summary_is_said_once(self) -> None:
        meta = {"_meta": {**META, "summary": "Found 3."}}
        events, _ = stream(("start", meta), ("complete", meta))
        assert [type(event) for event in events] == [Started, Text, Completed]

    @pytest.mark.parametrize("name", [None, "start", "complete", "result", "error", "end", "other"])
    def test_the_latest_session_context_counts(self, name: str | None) -> None:
        first = ("start", {"_meta": {"session_context": {"id": 1}}})
        reader = stream(first, (name, {"_meta": {"session_context": {"id": 2}}}))[1]
        assert reader.session_context == {"id": 2}

    def test_no_session_context_takes_none_away(self) -> None:
        first = ("start", {"_meta": {"session_context": {"id": 1}}})
        for later in ({}, {"session_context": None}, {"session_context": "x"}):
            assert stream(first, ("complete", {"_meta": later}))[1].session_context == {"id": 1}
        assert stream((None, {"results": []}))[1].session_context is None


class TestAnswer:
    """Section 4.1.1."""

    ITEMS = ({"@type": "Recipe"}, "words", None, ["list"], 7)

    @pytest.mark.parametrize("name", ["results", "structuredData", "structured_data"])
    def test_items_of_any_type_are_results(self, name: str) -> None:
        events, reader = document({"_meta": META, name: list(self.ITEMS)})
        assert events[1:-1] == [Result(0, item, place) for place, item in enumerate(self.ITEMS)]
        assert reader.outcome is Outcome.ANSWER

    @pytest.mark.parametrize("value", [{"@type": "Recipe"}, "words", 7, False])
    def test_one_item_without_its_list(self, value: Any) -> None:
        assert document({"results": value})[0][0] == Result(0, value, 0)
        assert one(None, {"results": value}) == Result(0, value)

    def test_null_is_no_result(self) -> None:
        assert document({"_meta": META, "results": None})[0] == [
            Started(0, META),
            Completed(0, META),
        ]
        assert one(None, {"results": None}) == Note(0, "empty", {"results": None})

    def test_content_is_text(self) -> None:
        parts = [{"type": "text", "text": "a"}, {"Type": "text", "Text": "b"}, "c"]
        events, reader = document({"content": parts})
        assert events[:-1] == [
            Text(0, "a", raw=parts[0]),
            Text(0, "b", raw=parts[1]),
            Text(0, "c", raw="c"),
        ]
        assert reader.outcome is Outcome.ANSWER

    @pytest.mark.parametrize("value", ["a", {"type": "text", "text": "a"}])
    def test_content_without_its_list(self, value: Any) -> None:
        assert document({"content": value})[0][0] == Text(0, "a", raw=value)

    @pytest.mark.parametrize("part", [7, None, [], {}, {"text": 7}, {"type": "image", "url": "u"}])
    def test_content_without_text(self, part: Any) -> None:
        assert unknown(document({"content": [part]})[0][0]) == ("content", part)


class TestPromise:
    """Section 4.1.2."""

    def test_in_full(self) -> None:
        raw = {"token": "p", "estimated_time": 30, "message": "Wait", "progress": 0.5}
        events, reader = document({"promise": raw})
        assert events[0] == Promise(0, "p", 30.0, "Wait", 0.5, raw)
        assert reader.outcome is Outcome.PROMISE

    @pytest.mark.parametrize(
        ("raw", "expected"),
        [
            ("p", Promise(0, "p", raw="p")),
            (7, Promise(0, "7", raw=7)),
            ([], Promise(0, "", raw=[])),
            ({}, Promise(0, "", raw={})),
            ({"token": 7}, Promise(0, "7", raw={"token": 7})),
            ({"token": None, "id": "p"}, Promise(0, "p", raw={"token": None, "id": "p"})),
        ],
    )
    def test_malformed(self, raw: Any, expected: Promise) -> None:
        assert document({"promise": raw})[0][0] == expected

    @pytest.mark.parametrize(
        ("value", "number"),
        [
            *[(1, 1.0), ("0.5", 0.5), (True, None), ("soon", None), ([], None)],
            *[(10**400, None), ("nan", None), ("inf", None), (None, None)],
        ],
    )
    def test_numbers(self, value: Any, number: float | None) -> None:
        event = document({"promise": {"estimated_time": value, "progress": value}})[0][0]
        assert isinstance(event, Promise)
        assert (event.estimated_time, event.progress) == (number, number)


class TestElicitation:
    """Section 4.1.3."""

    @staticmethod
    def questions(value: Any) -> tuple[Question, ...]:
        event = document({"elicitation": {"text": "t", "questions": value}})[0][0]
        assert isinstance(event, Elicitation)
        assert event.text == "t"
        return event.questions

    @pytest.mark.parametrize(
        "kind", ["single_select", "multi_select", "free_text", "number", "boolean", "text", "date"]
    )
    def test_every_type_of_question(self, kind: str) -> None:
        raw = {"id": "q", "text": "Q?", "type": kind, "options": ["a", "b"], "default": "a"}
        assert self.questions([raw]) == (Question("q", "Q?", kind, ("a", "b"), "a"),)

    @pytest.mark.parametrize("value", ["Which sauce?", {"text": "Which sauce?"}])
    def test_text_only(self, value: Any) -> None:
        """0.54 HTTP examples, section 3."""
        events, reader = document({"elicitation": value})
        assert events[0] == Elicitation(0, "Which sauce?", (), value)
        assert reader.outcome is Outcome.ELICITATION

    def test_questions_only(self) -> None:
        event = document({"elicitation": [{"id": "a", "text": "A?"}]})[0][0]
        assert event == Elicitation(
            0, "", (Question("a", "A?", "free_text"),), [{"id": "a", "text": "A?"}]
        )

    @pytest.mark.parametrize(
        ("options", "read"),
        [
            (["a", 1, True, None, []], ("a", "1", "True")),
            ([{"label": "A", "value": "a"}, {"value": "b"}, {"x": 1}], ("A", "b")),
            ({"a": "A", "b": "B"}, ("A", "B")),
            ("only", ("only",)),
            (None, ()),
        ],
    )
    def test_options(self, options: Any, read: tuple[str, ...]) -> None:
        (question,) = self.questions([{"id": "q", "text": "Q?", "options": options}])
        assert question.options == read
        assert question.type == ("single_select" if read else "free_text")

    def test_missing_ids_are_made_up(self) -> None:
        given = [{"text": "A?"}, {"id": "question_2"}, "C?", {"id": 7}, {"id": ""}, 5]
        names = [question.id for question in self.questions(given)]
        assert names == ["question_1", "question_2", "question_3", "7", "question_5", "question_6"]

    def test_made_up_ids_are_free(self) -> None:
        names = [question.id for question in self.questions([{"id": "question_2"}, {}, {}])]
        assert len(set(names)) == 3

    def test_many_names_in_the_way_are_passed_once(self) -> None:
        """Some hundred kilobytes; passed again for each question, they would take minutes."""
        count = 20_000
        given = [{"id": f"question_{count + n}"} for n in range(1, count + 1)] + [{}] * count
        names = [question.id for question in self.questions(given)]
        assert names[count:] == [f"question_{2 * count + n}" for n in range(1, count + 1)]

    def test_questions_by_id(self) -> None:
        assert self.questions({"a": {"text": "A?"}, "b": "B?"}) == (
            Question("a", "A?", "free_text"),
            Question("b", "B?", "free_text"),
        )

    @pytest.mark.parametrize("value", [None, [], [None], {}])
    def test_no_questions(self, value: Any) -> None:
        assert self.questions(value) == ()


class TestFailure:
    """Section 4.1.4."""

    def test_in_full(self) -> None:
        error = {"code": "INVALID_PARAMETER", "message": "m", "details": {"parameter": "p"}}
        events, reader = document({"_meta": {"response_type": "failure"}, "error": error})
        assert events[1] == Failure(0, "INVALID_PARAMETER", "m", {"parameter": "p"}, error)
        assert reader.outcome is Outcome.FAILURE

    @pytest.mark.parametrize(
        ("error", "code", "message"),
        [
            ("boom", "", "boom"),
            ({"code": 42}, "42", ""),
            ({"message": ["m"]}, "", "m"),
            ({}, "", ""),
            ([], "", ""),
            (7, "", "7"),
        ],
    )
    def test_malformed(self, error: Any, code: str, message: str) -> None:
        assert document({"error": error})[0][0] == Failure(0, code, message, None, error)

    def test_null_is_no_failure(self) -> None:
        events, reader = document({"_meta": META, "results": [1], "error": None})
        assert [type(event) for event in events] == [Started, Result, Completed]
        assert reader.outcome is Outcome.ANSWER

    def test_that_is_only_announced(self) -> None:
        payload = {"_meta": {"response_type": "Failure"}, "message": "Sorry"}
        events, reader = document(payload)
        assert events[1] == Failure(0, "", "Sorry", None, payload)
        assert reader.outcome is Outcome.FAILURE

    def test_announced_beside_words(self) -> None:
        payload = {"_meta": {"response_type": "failure"}, "content": "Sorry", "error": "x"}
        assert document(payload)[1].outcome is Outcome.FAILURE

    def test_with_results_all_the_same(self) -> None:
        assert document({"error": "partial", "results": [1]})[1].outcome is Outcome.ANSWER

    def test_that_calls_itself_an_answer(self) -> None:
        assert document({"_meta": META, "error": "x"})[1].outcome is Outcome.FAILURE


class TestForeignDocuments:
    @pytest.mark.parametrize("payload", [None, 7, "x", [], [{"results": []}], {}, {"detail": "x"}])
    def test_are_one_unknown(self, payload: Any) -> None:
        events, reader = document(payload)
        assert [unknown(event) for event in events] == [("document", payload)]
        assert reader.outcome is Outcome.NONE


class TestStreamEvents:
    """Section 6.1; `content` and `end`: 0.54 HTTP examples, section 5."""

    def test_start(self) -> None:
        assert one("start", {"_meta": META}) == Started(0, META)
        assert one("start", META) == Started(0, META)
        assert one("start", "") == Started(0, {})

    @pytest.mark.parametrize(
        ("index", "read"),
        [
            *[(0, 0), (7, 7), (-1, -1), ("3", 3), (2.0, 2), (2.5, None)],
            *[(True, None), (None, None), ("x", None), ([], None)],
        ],
    )
    def test_result(self, index: Any, read: int | None) -> None:
        assert one("result", {"index": index, "item": {"a": 1}}) == Result(0, {"a": 1}, read)

    def test_results_out_of_order_keep_their_places(self) -> None:
        events, _ = stream(*(("result", {"index": i, "item": i}) for i in (2, 0, 1)))
        assert events == [Result(0, 2, 2), Result(0, 0, 0), Result(0, 1, 1)]

    @pytest.mark.parametrize("item", [None, "x", [1], 7])
    def test_result_of_any_type(self, item: Any) -> None:
        assert one("result", {"index": 0, "item": item}) == Result(0, item, 0)
        assert one("result", {"item": item}) == Result(0, item)

    def test_result_without_wrapping(self) -> None:
        assert one("result", {"@type": "Recipe"}) == Result(0, {"@type": "Recipe"})
        assert one("result", {"index": 3, "a": 1}) == Result(0, {"index": 3, "a": 1}, 3)
        assert one("result", {"_meta": {}, "a": 1}) == Result(0, {"a": 1})
        assert one("result", '"x"') == Result(0, "x")
        assert one("result", "null") == Result(0, None)
        assert stream(("result", [1, 2]))[0] == [Result(0, 1), Result(0, 2)]
        assert stream(("result", {"results": [1, 2]}))[0] == [Result(0, 1), Result(0, 2)]

    def test_content(self) -> None:
        raw = {"type": "instruction", "step": 1, "text": "Knead."}
        assert one("content", raw) == Text(0, "Knead.", kind="instruction", raw=raw)
        assert one("content", '"words"') == Text(0, "words", raw="words")
        assert one("content", {"content": ["words"]}) == Text(0, "words", raw="words")
        assert one("content", {"text": "a", "delta": True}) == Text(
            0, "a", delta=True, raw={"text": "a", "delta": True}
        )

    @pytest.mark.parametrize(
        ("payload", "expected"),
        [
            ({"error": {"code": "C", "message": "m"}}, ("C", "m")),
            ({"_meta": {"response_type": "failure"}, "error": {"code": "C"}}, ("C", "")),
            ({"code": "C", "message": "m"}, ("C", "m")),
            ({"error": "m"}, ("", "m")),
            ({"error": None, "message": "m"}, ("", "m")),
            ('"m"', ("", "m")),
            ({}, ("", "")),
        ],
    )
    @pytest.mark.parametrize("name", ["error", "failure"])
    def test_error(self, name: str, payload: Any, expected: tuple[str, str]) -> None:
        event = one(name, payload)
        assert isinstance(event, Failure)
        assert (event.code, event.message) == expected

    def test_complete(self) -> None:
        assert one("complete", {"_meta": META}) == Completed(0, META)
        assert one("complete", {"total": 3}) == Completed(0, {"total": 3})
        assert one("complete", "") == Completed(0, {})

    def test_end(self) -> None:
        said = {"message": "Bye"}
        text = Text(0, "Bye", kind="message", raw=said)
        assert stream(("end", said))[0] == [text, Note(0, "end", said)]
        assert one("end", "") == Note(0, "end")

    @pytest.mark.parametrize("name", ["elicitation", None, "message"])
    def test_elicitation(self, name: str | None) -> None:
        raw = {"text": "Which?"}
        assert one(name, {"elicitation": raw}) == Elicitation(0, "Which?", (), raw)

    def test_members_as_events_of_their_own(self) -> None:
        assert one("elicitation", {"text": "Which?"}) == Elicitation(
            0, "Which?", (), {"text": "Which?"}
        )
        assert one("promise", {"token": "p"}) == Promise(0, "p", raw={"token": "p"})

    def test_a_name_that_nobody_defined(self) -> None:
        event = one("heartbeat", {"n": 1})
        assert unknown(event) == ("heartbeat", {"n": 1})
        assert isinstance(event, Unknown)
        assert "NLWeb 0.55" in event.reason

    @pytest.mark.parametrize("name", ["start", "complete", None])
    @pytest.mark.parametrize("payload", [[], 7, True])
    def test_json_that_is_no_object(self, name: str | None, payload: Any) -> None:
        assert unknown(one(name, payload)) == (name or "message", payload)

    @pytest.mark.parametrize("name", ["start", "result", "end", "other", None])
    @pytest.mark.parametrize("data", ["[DONE]", "{", "nul", "\ufffd", "{}{}", "1.e"])
    def test_data_that_is_not_json(self, name: str | None, data: str) -> None:
        assert unknown(one(name, data)) == (name or "message", data)

    @pytest.mark.parametrize("name", ["result", "content", "error", "other", None])
    @pytest.mark.parametrize("data", ["", " ", "\n"])
    def test_no_data(self, name: str | None, data: str) -> None:
        assert unknown(one(name, data)) == (name or "message", "")

    def test_nesting_beyond_the_interpreters_limit(self) -> None:
        assert unknown(one(None, "[" * 100_000))[0] == "message"


class TestUnnamedEvents:
    """The public ask agent: members say what a message is, in any mixture."""

    @pytest.mark.parametrize(
        ("kinds", "more", "expected", "outcome"),
        [
            (["Answer"], {"results": [1, 2]}, [Started, Result, Result], Outcome.ANSWER),
            (["Answer"], None, [Started], Outcome.ANSWER),
            (["Elicitation"], {"elicitation": "?"}, [Started, Elicitation], Outcome.ELICITATION),
            (["Promise"], {"promise": {"token": "p"}}, [Started, Promise], Outcome.PROMISE),
            (["Failure"], {"error": "m"}, [Started, Failure], Outcome.FAILURE),
            (["Answer", "Failure"], {"error": "m"}, [Started, Note, Failure], Outcome.FAILURE),
        ],
    )
    def test_its_usual_streams_have_no_end(
        self, kinds: list[str], more: Any, expected: list[type[Event]], outcome: Outcome
    ) -> None:
        messages = [
            *({"_meta": {"response_type": kind}} for kind in kinds),
            *([more] if more else []),
        ]
        events, reader = stream(*((None, message) for message in messages))
        reader.end()
        assert [type(event) for event in events] == expected
        assert reader.outcome is outcome

    def test_everything_at_once(self) -> None:
        events, _ = stream(
            (
                None,
                {
                    "promise": {"token": "p"},
                    "elicitation": "Which?",
                    "error": "x",
                    "structuredData": [2],
                    "results": [1],
                    "content": ["words"],
                    "item": 0,
                    "index": 5,
                    "_meta": {**META, "summary": "s"},
                },
            )
        )
        kinds = [Started, Text, Result, Text, Failure, Result, Result, Elicitation, Promise]
        assert [type(event) for event in events] == kinds
        assert events[2] == Result(0, 0, 5)

    def test_a_second_meta_block_is_a_note(self) -> None:
        later = {"_meta": {"session_context": {"id": 1}}}
        assert stream((None, {"_meta": META}), (None, later))[0][1] == Note(0, "_meta", later)

    @pytest.mark.parametrize(
        ("name", "payload"),
        [
            (None, {"results": [{"a": 1}]}),
            (None, {"content": "words"}),
            ("result", {"index": 0, "item": {"a": 1}}),
        ],
    )
    def test_a_format_beside_content_is_a_note(self, name: str | None, payload: Any) -> None:
        meta = {**META, "openai/outputTemplate": "ui://widget"}
        found = stream((None, {"_meta": META}), (name, {**payload, "_meta": meta}))[0]
        assert found[1] == Note(0, "_meta", {"_meta": meta})
        plain = stream((None, {"_meta": META}), (name, {**payload, "_meta": META}))[0]
        assert [type(event) for event in plain] == [
            type(event) for event in found if type(event) is not Note
        ]

    def test_wrapped_items(self) -> None:
        assert one(None, {"index": 1, "item": {"a": 1}}) == Result(0, {"a": 1}, 1)

    def test_nothing_known(self) -> None:
        assert unknown(one(None, {"status": "ok"})) == ("message", {"status": "ok"})


class TestTypedEvents:
    """The older public server: `message_type` says what a message is."""

    def test_results(self) -> None:
        for member in ("results", "content", "items"):
            payload = {"message_type": "result_batch", member: [{"name": "a"}, "b"]}
            assert stream((None, payload))[0] == [Result(0, {"name": "a"}), Result(0, "b")]
        assert stream((None, {"message_type": "result_batch"}))[0] == []

    def test_texts(self) -> None:
        summary = {"message_type": "summary", "content": "s"}
        assert one(None, summary) == Text(0, "s", kind="summary", raw=summary)
        answer = {"message_type": "nlws", "answer": "a", "items": [{"name": "n"}]}
        assert stream((None, answer))[0] == [
            Text(0, "a", kind="nlws", raw=answer),
            Result(0, {"name": "n"}),
        ]

    def test_question(self) -> None:
        payload = {"message_type": "ask_user", "content": "Which?"}
        events, reader = stream((None, payload))
        assert events == [Elicitation(0, "Which?", (), payload)]
        assert reader.outcome is Outcome.ELICITATION

    @pytest.mark.parametrize(
        ("members", "expected"),
        [
            ({"message": "m"}, ("", "m")),
            ({"content": "m", "code": "C"}, ("C", "m")),
            ({"error": "m"}, ("", "m")),
            ({"error": {"code": "C", "message": "m"}}, ("C", "m")),
            ({}, ("", "")),
        ],
    )
    def test_error(self, members: Any, expected: tuple[str, str]) -> None:
        event = one(None, {"message_type": "error", **members})
        assert isinstance(event, Failure)
        assert (event.code, event.message) == expected

    def test_complete(self) -> None:
        payload = {"message_type": "complete"}
        assert one(None, payload) == Completed(0, payload)

    @pytest.mark.parametrize("name", ["asking_sites", "decontextualized_query", "retrieval_count"])
    def test_everything_else_is_a_note(self, name: str) -> None:
        payload = {"message_type": name, "content": "x"}
        assert one(None, payload) == Note(0, name, payload)


START, COMPLETE = ("start", {"_meta": META}), ("complete", {"_meta": META})
RESULT, ERROR = ("result", {"item": 1}), ("error", {"error": {"code": "X"}})
WORDS, ASKED = ("content", {"text": "a"}), (None, {"elicitation": "Which?"})
PROMISED = (None, {"promise": {"token": "p"}})
DONE = ("complete", {})
FAILED = ("complete", {"_meta": {"response_type": "failure"}})


class TestOutcome:
    @pytest.mark.parametrize(
        ("messages", "outcome"),
        [
            ([], Outcome.NONE),
            ([START], Outcome.NONE),
            ([START, COMPLETE], Outcome.ANSWER),
            ([START, DONE], Outcome.ANSWER),
            ([DONE], Outcome.NONE),
            ([("end", {})], Outcome.NONE),
            ([RESULT], Outcome.ANSWER),
            ([WORDS], Outcome.ANSWER),
            ([START, ASKED, COMPLETE], Outcome.ELICITATION),
            ([START, ASKED, WORDS], Outcome.ELICITATION),
            ([START, PROMISED], Outcome.PROMISE),
            ([PROMISED, RESULT], Outcome.ANSWER),
            ([START, ERROR], Outcome.FAILURE),
            ([START, ERROR, DONE], Outcome.FAILURE),
            ([START, ERROR, COMPLETE], Outcome.ANSWER),
            ([START, ERROR, RESULT], Outcome.ANSWER),
            ([START, RESULT, ERROR], Outcome.FAILURE),
            ([START, RESULT, ERROR, RESULT, DONE], Outcome.ANSWER),
            ([START, RESULT, FAILED], Outcome.FAILURE),
            ([(None, {"_meta": META}), (None, {"results": []})], Outcome.ANSWER),
            ([(None, {"results": []})], Outcome.ANSWER),
            ([("other", {"results": [1]})], Outcome.NONE),
        ],
    )
    def test_of_a_stream(self, messages: Any, outcome: Outcome) -> None:
        assert stream(*messages)[1].outcome is outcome

    def test_a_clean_end_adds_nothing(self) -> None:
        reader = NLWebReader("0.55")
        reader.end()
        assert reader.outcome is Outcome.NONE


@given(EVENT_NAMES, OBJECTS)
@example("content", {"results": None})
def test_no_message_vanishes(name: str | None, payload: dict[str, Any]) -> None:
    # An empty batch of the older server's dialect is the one message that says nothing.
    payload = {key: value for key, value in payload.items() if key != "message_type"}
    assert stream((name, payload))[0] or payload.get("content") == []


def assert_located(payload: Any, events: Iterable[Event]) -> None:
    for event in events:
        if event.pointer is not None:
            value = event.item if isinstance(event, Result) else getattr(event, "raw", None)
            found = resolve(payload, event.pointer)
            if isinstance(event, Result) and not event.pointer and isinstance(found, dict):
                found = {name: each for name, each in found.items() if name != "_meta"}
            assert repr(found) == repr(value)


@given(EVENT_NAMES, VALUES)
def test_a_pointer_leads_to_the_item_or_raw(name: str | None, payload: Any) -> None:
    assert_located(payload, NLWebReader("0.55").document(0, payload))
    assert_located(payload, NLWebReader("0.55").payload(0, name, payload))


@pytest.mark.parametrize(
    ("payload", "pointers"),
    [
        ({"results": [{}, 1]}, ["/results/0", "/results/1"]),
        ({"structuredData": {}}, ["/structuredData"]),
        ({"content": ["a", {"text": "b"}]}, ["/content/0", "/content/1"]),
        ({"elicitation": "?"}, ["/elicitation"]),
        ({"promise": {"token": "t"}}, ["/promise"]),
        ({"error": "no", "message": "why"}, ["/error"]),
        # They are not in the document as the items that they are read as.
        ([{"@type": "Recipe", "url": "/1"}], []),
        ([{"message_type": "result_batch", "results": [{}]}], []),
        ({"nlws": {"items": [{}]}}, []),
    ],
)
def test_the_parts_of_a_document_have_pointers(payload: Any, pointers: list[str]) -> None:
    found = [event.pointer for event in document(payload)[0]]
    assert [each for each in found if each is not None] == pointers


@pytest.mark.parametrize(
    ("name", "payload", "pointers"),
    [
        ("result", {"index": 0, "item": {}}, ["/item"]),
        ("result", {"@type": "Recipe"}, [""]),
        ("result", {"@type": "Recipe", "_meta": META}, [""]),
        ("result", [{}, {}], ["/0", "/1"]),
        ("content", {"text": "a"}, [""]),
        ("error", {"code": "INVALID"}, [""]),
        ("promise", {"token": "t"}, [""]),
        (None, {"message_type": "result_batch", "items": [{}]}, ["/items/0"]),
    ],
)
def test_the_parts_of_a_message_have_pointers(
    name: str | None, payload: Any, pointers: list[str]
) -> None:
    assert [event.pointer for event in stream((name, payload))[0]] == pointers
