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


S = Started(0, META)
ITEMS = [{"@type": "Recipe"}, "words", None, ["list"], 7]
TEXTS = [{"type": "text", "text": "a"}, {"Type": "text", "Text": "b"}, "c"]
PROMISE = {"token": "p", "estimated_time": 30, "message": "Wait", "progress": 0.5}
ERROR = {"code": "INVALID_PARAMETER", "message": "m", "details": {"parameter": "p"}}
SORRY = {"_meta": {"response_type": "Failure"}, "message": "Sorry"}
SUMMARY = {**META, "summary": "Found 3."}
ASKED_ONLY = [{"id": "a", "text": "A?"}]
STRAY = ["x", 7, [META], [], True, ""]


def stray(meta: Any) -> Unknown:
    return Unknown(0, "_meta", meta, "The metadata is not a JSON object.")


#: Whole responses, their events before `Completed`, and the outcome.
DOCUMENTS: list[tuple[Any, list[Event], Outcome]] = [
    # Section 4
    ({"_meta": META}, [S], Outcome.ANSWER),
    ({"_meta": META, "meta": {"version": "x"}}, [S], Outcome.ANSWER),
    # 0.54: "meta or _meta".
    ({"meta": META, "results": []}, [S], Outcome.ANSWER),
    # 0.54, section 4.1.2
    ({"response_type": "promise", "promise": "p"},
     [Started(0, {"response_type": "promise"}), Promise(0, "p", raw="p")], Outcome.PROMISE),
    ({"_meta": {"version": "1"}, "response_type": "failure", "error": "x"},
     [Started(0, {"version": "1", "response_type": "failure"}),
      Failure(0, "", "x", {"response_type": "failure"}, "x")], Outcome.FAILURE),
    *(({"_meta": {"response_type": name}}, [Started(0, {"response_type": name})], Outcome.ANSWER)
      for name in ("answer", "Answer", "ANSWER", " answer ")),
    *(({"_meta": {"response_type": name}}, [Started(0, {"response_type": name})], Outcome.NONE)
      for name in ("none", "", "other", None, 7, ["answer"], {})),
    ({"_meta": None, "results": [1]}, [Result(0, 1, 0)], Outcome.ANSWER),
    *(({"_meta": meta, "results": [1]}, [Result(0, 1, 0), stray(meta)], Outcome.ANSWER)
      for meta in STRAY),
    # 0.54 HTTP examples, section 2
    ({"_meta": SUMMARY, "results": []},
     [Started(0, SUMMARY), Text(0, "Found 3.", kind="summary", raw="Found 3.")], Outcome.ANSWER),
    # Section 4.1.1
    *(({"_meta": META, name: ITEMS},
       [S, *(Result(0, item, place) for place, item in enumerate(ITEMS))], Outcome.ANSWER)
      for name in ("results", "structuredData", "structured_data")),
    *(({"results": value}, [Result(0, value, 0)], Outcome.ANSWER)
      for value in ({"@type": "Recipe"}, "words", 7, False)),
    ({"_meta": META, "results": None}, [S], Outcome.ANSWER),
    ({"content": TEXTS}, [Text(0, text, raw=raw) for text, raw in zip("abc", TEXTS, strict=True)],
     Outcome.ANSWER),
    *(({"content": value}, [Text(0, "a", raw=value)], Outcome.ANSWER)
      for value in ("a", {"type": "text", "text": "a"})),
    *(({"content": [part]}, [Unknown(0, "content", part, "This content part has no text.")],
       Outcome.NONE)
      for part in (7, None, [], {}, {"text": 7}, {"type": "image", "url": "u"})),
    # Section 4.1.2
    ({"promise": PROMISE}, [Promise(0, "p", 30.0, "Wait", 0.5, PROMISE)], Outcome.PROMISE),
    *(({"promise": raw}, [Promise(0, token, raw=raw)], Outcome.PROMISE)
      for raw, token in (
          ("p", "p"), (7, "7"), ([], ""), ({}, ""), ({"token": 7}, "7"),
          ({"token": None, "id": "p"}, "p"))),
    *(({"promise": {"estimated_time": value, "progress": value}},
       [Promise(0, "", number, "", number, {"estimated_time": value, "progress": value})],
       Outcome.PROMISE)
      for value, number in (
          (1, 1.0), ("0.5", 0.5), (True, None), ("soon", None), ([], None), (10**400, None),
          ("nan", None), ("inf", None), (None, None))),
    # Section 4.1.3; 0.54 HTTP examples, section 3
    *(({"elicitation": value}, [Elicitation(0, "Which sauce?", (), value)], Outcome.ELICITATION)
      for value in ("Which sauce?", {"text": "Which sauce?"})),
    ({"elicitation": ASKED_ONLY},
     [Elicitation(0, "", (Question("a", "A?", "free_text"),), ASKED_ONLY)], Outcome.ELICITATION),
    # Section 4.1.4
    ({"_meta": {"response_type": "failure"}, "error": ERROR},
     [Started(0, {"response_type": "failure"}),
      Failure(0, "INVALID_PARAMETER", "m", {"parameter": "p"}, ERROR)], Outcome.FAILURE),
    *(({"error": error}, [Failure(0, code, message, None, error)], Outcome.FAILURE)
      for error, code, message in (
          ("boom", "", "boom"), ({"code": 42}, "42", ""), ({"message": ["m"]}, "", "m"),
          ({}, "", ""), ([], "", ""), (7, "", "7"))),
    ({"_meta": META, "results": [1], "error": None}, [S, Result(0, 1, 0)], Outcome.ANSWER),
    (SORRY, [Started(0, SORRY["_meta"]), Failure(0, "", "Sorry", None, SORRY)], Outcome.FAILURE),
    ({"_meta": {"response_type": "failure"}, "content": "Sorry", "error": "x"},
     [Started(0, {"response_type": "failure"}), Text(0, "Sorry", raw="Sorry"),
      Failure(0, "", "x", raw="x")], Outcome.FAILURE),
    ({"error": "partial", "results": [1]},
     [Failure(0, "", "partial", raw="partial"), Result(0, 1, 0)], Outcome.ANSWER),
    ({"_meta": META, "error": "x"}, [S, Failure(0, "", "x", raw="x")], Outcome.FAILURE),
]  # fmt: skip


@pytest.mark.parametrize("version", ["0.54", "0.55"])
@pytest.mark.parametrize(("payload", "expected", "outcome"), DOCUMENTS, ids=range(len(DOCUMENTS)))
def test_documents(payload: Any, expected: list[Event], outcome: Outcome, version: str) -> None:
    events, reader = document(payload, version)
    meta = expected[0].meta if isinstance(expected[0], Started) else {}
    assert events == [*expected, Completed(0, meta)]
    assert reader.outcome is outcome


@pytest.mark.parametrize("payload", [None, 7, "x", [], [{"results": []}], {}, {"detail": "x"}])
def test_foreign_documents_are_one_unknown(payload: Any) -> None:
    events, reader = document(payload)
    assert [unknown(event) for event in events] == [("document", payload)]
    assert reader.outcome is Outcome.NONE


class TestMetadata:
    """Section 4."""

    @pytest.mark.parametrize("meta", STRAY)
    def test_that_is_no_object_is_shown_as_what_it_is(self, meta: Any) -> None:
        streamed, _ = stream(
            ("start", {"_meta": meta}),
            ("result", {"_meta": meta, "index": 0, "item": 1}),
            (None, {"_meta": meta, "results": [1]}),
            ("complete", {"_meta": meta}),
        )
        beginning, first, second, end = Started(0, {}), Result(0, 1, 0), Result(0, 1), Completed(0)
        assert streamed == [each for one in (beginning, first, second, end)
                            for each in (one, stray(meta))]  # fmt: skip

    @pytest.mark.parametrize("name", [None, "made-up"])
    def test_that_is_no_object_and_stands_alone_is_shown_once(self, name: str | None) -> None:
        assert unknown(one(name, {"_meta": [META]}))[1] == {"_meta": [META]}
        (event,) = document({"_meta": [META]})[0]
        assert unknown(event)[1] == {"_meta": [META]}

    def test_the_same_summary_is_said_once(self) -> None:
        events, _ = stream(("start", {"_meta": SUMMARY}), ("complete", {"_meta": SUMMARY}))
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


def option_rows(options: Any, *read: str) -> tuple[Any, tuple[Question, ...]]:
    kind = "single_select" if read else "free_text"
    return [{"id": "q", "text": "Q?", "options": options}], (Question("q", "Q?", kind, read),)


#: Questions of an elicitation (section 4.1.3), and what is read of them.
QUESTIONS: list[tuple[Any, tuple[Question, ...]]] = [
    *(([{"id": "q", "text": "Q?", "type": kind, "options": ["a", "b"], "default": "a"}],
       (Question("q", "Q?", kind, ("a", "b"), "a"),))
      for kind in (
          "single_select", "multi_select", "free_text", "number", "boolean", "text", "date")),
    option_rows(["a", 1, True, None, []], "a", "1", "True"),
    option_rows([{"label": "A", "value": "a"}, {"value": "b"}, {"x": 1}], "A", "b"),
    option_rows({"a": "A", "b": "B"}, "A", "B"),
    option_rows("only", "only"),
    option_rows(None),
    ({"a": {"text": "A?"}, "b": "B?"},
     (Question("a", "A?", "free_text"), Question("b", "B?", "free_text"))),
    *((value, ()) for value in (None, [], [None], {})),
]  # fmt: skip


def questions(value: Any) -> tuple[Question, ...]:
    event = document({"elicitation": {"text": "t", "questions": value}})[0][0]
    assert isinstance(event, Elicitation)
    assert event.text == "t"
    return event.questions


@pytest.mark.parametrize(("value", "expected"), QUESTIONS)
def test_questions(value: Any, expected: tuple[Question, ...]) -> None:
    assert questions(value) == expected


class TestIdsOfQuestions:
    def test_missing_ones_are_made_up(self) -> None:
        given = [{"text": "A?"}, {"id": "question_2"}, "C?", {"id": 7}, {"id": ""}, 5]
        names = [question.id for question in questions(given)]
        assert names == ["question_1", "question_2", "question_3", "7", "question_5", "question_6"]

    def test_made_up_ones_are_free(self) -> None:
        names = [question.id for question in questions([{"id": "question_2"}, {}, {}])]
        assert len(set(names)) == 3

    def test_many_names_in_the_way_are_passed_once(self) -> None:
        """Some hundred kilobytes; passed again for each question, they would take minutes."""
        count = 20_000
        given = [{"id": f"question_{count + n}"} for n in range(1, count + 1)] + [{}] * count
        names = [question.id for question in questions(given)]
        assert names[count:] == [f"question_{2 * count + n}" for n in range(1, count + 1)]


STEP = {"type": "instruction", "step": 1, "text": "Knead."}
BYE = {"message": "Bye"}
WHICH = {"text": "Which?"}
OLD_SUMMARY = {"message_type": "summary", "content": "s"}
OLD_ANSWER = {"message_type": "nlws", "answer": "a", "items": [{"name": "n"}]}
OLD_QUESTION = {"message_type": "ask_user", "content": "Which?"}
NO_OBJECT = "The data is JSON, but not an object."

#: Messages of a stream by their names, and their events.
MESSAGES: list[tuple[str | None, Any, list[Event]]] = [
    # Section 6.1; `content` and `end`: 0.54 HTTP examples, section 5
    ("start", {"_meta": META}, [S]),
    ("start", META, [S]),
    ("start", "", [Started(0, {})]),
    *(("result", {"index": index, "item": {"a": 1}}, [Result(0, {"a": 1}, read)])
      for index, read in (
          (0, 0), (7, 7), (-1, -1), ("3", 3), (2.0, 2), (2.5, None), (True, None), (None, None),
          ("x", None), ([], None))),
    *(("result", {"item": item, **index}, [Result(0, item, *index.values())])
      for item in (None, "x", [1], 7) for index in ({"index": 0}, {})),
    # Without the item's wrapping.
    ("result", {"@type": "Recipe"}, [Result(0, {"@type": "Recipe"})]),
    ("result", {"index": 3, "a": 1}, [Result(0, {"index": 3, "a": 1}, 3)]),
    ("result", {"_meta": {}, "a": 1}, [Result(0, {"a": 1})]),
    ("result", '"x"', [Result(0, "x")]),
    ("result", "null", [Result(0, None)]),
    ("result", [1, 2], [Result(0, 1), Result(0, 2)]),
    ("result", {"results": [1, 2]}, [Result(0, 1), Result(0, 2)]),
    *((None, {"results": value}, [Result(0, value)])
      for value in ({"@type": "Recipe"}, "words", 7, False)),
    (None, {"results": None}, [Note(0, "empty", {"results": None})]),
    ("content", STEP, [Text(0, "Knead.", kind="instruction", raw=STEP)]),
    ("content", '"words"', [Text(0, "words", raw="words")]),
    ("content", {"content": ["words"]}, [Text(0, "words", raw="words")]),
    ("content", {"text": "a", "delta": True},
     [Text(0, "a", delta=True, raw={"text": "a", "delta": True})]),
    ("complete", {"_meta": META}, [Completed(0, META)]),
    ("complete", {"total": 3}, [Completed(0, {"total": 3})]),
    ("complete", "", [Completed(0, {})]),
    ("end", BYE, [Text(0, "Bye", kind="message", raw=BYE), Note(0, "end", BYE)]),
    ("end", "", [Note(0, "end")]),
    *((name, {"elicitation": WHICH}, [Elicitation(0, "Which?", (), WHICH)])
      for name in ("elicitation", None, "message")),
    # Members as events of their own.
    ("elicitation", WHICH, [Elicitation(0, "Which?", (), WHICH)]),
    ("promise", {"token": "p"}, [Promise(0, "p", raw={"token": "p"})]),
    ("heartbeat", {"n": 1}, [Unknown(0, "heartbeat", {"n": 1},
                                     "NLWeb 0.55 does not define an event with this name.")]),
    *((name, payload, [Unknown(0, name or "message", payload, NO_OBJECT)])
      for name in ("start", "complete", None) for payload in ([], 7, True)),
    *((name, data, [Unknown(0, name or "message", "", "The message has no data.")])
      for name in ("result", "content", "error", "other", None) for data in ("", " ", "\n")),
    # The public ask agent.
    (None, {"index": 1, "item": {"a": 1}}, [Result(0, {"a": 1}, 1)]),
    (None, {"status": "ok"}, [Unknown(0, "message", {"status": "ok"},
                                      "The message has no members of an NLWeb response.")]),
    # The older public server: `message_type` says what a message is.
    *((None, {"message_type": "result_batch", member: [{"name": "a"}, "b"]},
       [Result(0, {"name": "a"}), Result(0, "b")])
      for member in ("results", "content", "items")),
    (None, {"message_type": "result_batch"}, []),
    (None, OLD_SUMMARY, [Text(0, "s", kind="summary", raw=OLD_SUMMARY)]),
    (None, OLD_ANSWER, [Text(0, "a", kind="nlws", raw=OLD_ANSWER), Result(0, {"name": "n"})]),
    (None, OLD_QUESTION, [Elicitation(0, "Which?", (), OLD_QUESTION)]),
    (None, {"message_type": "complete"}, [Completed(0, {"message_type": "complete"})]),
    *((None, {"message_type": name, "content": "x"},
       [Note(0, name, {"message_type": name, "content": "x"})])
      for name in ("asking_sites", "decontextualized_query", "retrieval_count")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "payload", "expected"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages(name: str | None, payload: Any, expected: list[Event]) -> None:
    assert stream((name, payload))[0] == expected


def test_results_out_of_order_keep_their_places() -> None:
    events, _ = stream(*(("result", {"index": i, "item": i}) for i in (2, 0, 1)))
    assert events == [Result(0, 2, 2), Result(0, 0, 0), Result(0, 1, 1)]


OLD_ERROR = {"message_type": "error"}


@pytest.mark.parametrize(
    ("names", "payload", "expected"),
    [
        *(
            (("error", "failure"), payload, expected)
            for payload, expected in (
                ({"error": {"code": "C", "message": "m"}}, ("C", "m")),
                ({"_meta": {"response_type": "failure"}, "error": {"code": "C"}}, ("C", "")),
                ({"code": "C", "message": "m"}, ("C", "m")),
                ({"error": "m"}, ("", "m")),
                ({"error": None, "message": "m"}, ("", "m")),
                ('"m"', ("", "m")),
                ({}, ("", "")),
            )
        ),
        ([None], {**OLD_ERROR, "message": "m"}, ("", "m")),
        ([None], {**OLD_ERROR, "content": "m", "code": "C"}, ("C", "m")),
        ([None], {**OLD_ERROR, "error": "m"}, ("", "m")),
        ([None], {**OLD_ERROR, "error": {"code": "C", "message": "m"}}, ("C", "m")),
        ([None], OLD_ERROR, ("", "")),
    ],
)
def test_errors(names: list[str | None], payload: Any, expected: tuple[str, str]) -> None:
    for name in names:
        event = one(name, payload)
        assert isinstance(event, Failure)
        assert (event.code, event.message) == expected


@pytest.mark.parametrize("name", ["start", "result", "end", "other", None])
@pytest.mark.parametrize("data", ["[DONE]", "{", "nul", "\ufffd", "{}{}", "1.e", "[" * 100_000])
def test_data_that_is_not_json(name: str | None, data: str) -> None:
    assert unknown(one(name, data)) == (name or "message", data)


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
            ([(None, OLD_QUESTION)], Outcome.ELICITATION),
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
