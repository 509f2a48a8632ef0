from __future__ import annotations

from typing import Any

import pytest

from playground.protocols import registry
from playground.protocols.actions.extract import MAX_ACTIONS, MAX_TEXT, Action, actions_of
from playground.protocols.events import Event, Failure, Note, Outcome, Result, Text, Unknown
from playground.protocols.exchange import Target
from playground.protocols.frames import FrameKind
from tests.support.playbook import SSE, Playbook, event

REQUEST = {
    "action": "do", "protocol": "HTTP", "method": "POST", "url": "http://a.example.com/do",
    "headers": [],
}  # fmt: skip


def play(**options: Any) -> Playbook:
    target = Target("http://a.example.com/do", registry.ACTION)
    return Playbook(exchange=registry.exchange(target, REQUEST, **options))


def reply(status: int, body: bytes, media_type: str = "application/json") -> Playbook:
    return play().head(status, media_type).body(*([body] if body else [])).end()


def test_nothing_has_been_answered_before_anything_came() -> None:
    assert play().exchange.outcome is Outcome.NONE
    assert play().head(200).exchange.outcome is Outcome.NONE


HTML = "<b>Grüße</b> {"

#: Responses of one body, and what is read of it: an answer, if it is known.
BODIES: list[tuple[int, bytes, str, Event]] = [
    # JSON is a result, whatever it is labelled as.
    *((201, body, media_type, Result(3, item))
      for media_type in ("application/json", "text/plain")
      for body, item in (
          (b'{"ok": true}', {"ok": True}),
          (b"[1, 2]", [1, 2]),
          (b'\xef\xbb\xbf"done"', "done"),
          (b"null", None),
          (b'{"_meta": {}, "results": []}', {"_meta": {}, "results": []}))),
    # Anything else is text and no problem.
    *((200, HTML.encode(), media_type, Text(3, HTML, kind=kind, raw=HTML))
      for media_type, kind in (
          ("text/html; charset=utf-8", "text/html"), ("TEXT/CSV", "text/csv"), ("", "text"),
          ("summary", "text"), ("application/json", "application/json"))),
    *((200, body, media_type, Unknown(3, name, None, f"The response body is {reason}."))
      for body, media_type, name, reason in (
          (b"\x89PNG\r\n\xff", "image/png", "image/png", "7 bytes of binary data"),
          (b"\xff", "", "body", "1 bytes of binary data"))),
    (204, b"", "application/json", Note(2, "empty", {"status": 204})),
    (200, b" \r\n", "application/json", Note(3, "empty", {"status": 200})),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "media_type", "expected"), BODIES)
def test_bodies(status: int, body: bytes, media_type: str, expected: Event) -> None:
    played = reply(status, body, media_type)
    assert played.events == [expected]
    assert played.exchange.problem is None
    if not isinstance(expected, Unknown):
        assert played.exchange.outcome is Outcome.ANSWER
    assert (played.exchange.problem, played.exchange.session_context) == (None, None)


def test_a_body_in_pieces_is_one() -> None:
    assert play().head().body(b'{"a"', b": 1}").end().events == [Result(4, {"a": 1})]


#: Blocks of a stream, and what is read of them.
STREAMS: list[tuple[list[bytes], list[Event]]] = [
    ([], [Note(0, "empty", {"status": 200})]),
    ([b": beat\n\n"], []),
    # A comment at its end.
    ([b": bye"], []),
    (
        [
            event({"a": 1}), event("hello", "progress"), b"event: ping\n\n", b"id: 1\n\n",
            event("[DONE]"), b"data: the en", b"d\n",
        ],
        [
            Result(0, {"a": 1}), Text(0, "hello", raw="hello"), Note(0, "ping"),
            Text(0, "[DONE]", raw="[DONE]"), Text(0, "the end", raw="the end"),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("chunks", "expected"), STREAMS)
def test_streams(chunks: list[bytes], expected: list[Event]) -> None:
    played = play().head(200, SSE).stream(chunks).end()
    assert played.unnumbered() == expected
    assert (played.exchange.outcome, played.exchange.problem) == (Outcome.ANSWER, None)


@pytest.mark.parametrize("status", [301, 303, 307])
@pytest.mark.parametrize("body", [b"", b"moved"])
def test_a_redirect_is_shown_and_not_followed(status: int, body: bytes) -> None:
    played = play().head(status, "text/plain", "Location: http://b.example.com/\r\n")
    played.body(*([body] if body else [])).end()
    note = Note(1, "redirect", {"status": status, "location": "http://b.example.com/"})
    assert played.events[0] == note
    assert len(played.events) == 1 + bool(body)
    assert played.exchange.outcome is Outcome.NONE
    assert played.exchange.next_call() is not None
    assert played.exchange.next_call() is None


NOT_FOUND = "The server returned HTTP 404 (Not Found)."

#: Error statuses with a body, and the message; whether its JSON is the details.
FAILURES: list[tuple[int, bytes, str, bool]] = [
    *((404, payload, message, True)
      for payload, message in (
          (b'{"message": "No eggs left."}', "No eggs left."),
          (b'{"detail": "No such cart"}', "No such cart"),
          (b'{"error": "gone"}', "gone"),
          (b'{"error": {"code": 5, "message": "Bad cart"}}', "Bad cart"),
          (b'"no"', "no"),
          (b'{"error": true}', NOT_FOUND), (b'{"message": " "}', NOT_FOUND), (b"[]", NOT_FOUND),
          (b'{"title": "Bad", "status": 404, "detail": "No eggs left."}', "No eggs left."),
          (b'{"detail": [{"loc": ["body", "n"], "msg": "No.", "type": "x"}]}', "body.n: No."))),
    (500, b"", "The server returned HTTP 500 (Internal Server Error).", False),
    (599, b"", "The server returned HTTP 599.", False),
    (502, b"<html>", "The server returned HTTP 502 (Bad Gateway). "
                     "The response body is an HTML page, not JSON.", False),
    (403, b"no", "no", False),
    (403, b"\xff", "The server returned HTTP 403 (Forbidden). "
                   "The response body is text, not JSON, and not valid UTF-8.", False),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body", "message", "has_details"), FAILURES)
def test_failures(status: int, body: bytes, message: str, has_details: bool) -> None:
    played = reply(status, body, "text/html")
    (failure,) = played.events
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message) == (f"HTTP {status}", message)
    assert (failure.details is not None) == has_details
    if has_details:
        assert failure.raw == failure.details
    assert (played.exchange.outcome, played.exchange.problem) == (Outcome.FAILURE, None)


def test_failures_of_a_stream() -> None:
    """An event, and a status."""
    named = play().head(200, SSE).stream([event("The cart is closed.", "error")]).end()
    assert [each.message for each in named.of(Failure)] == ["The cart is closed."]
    late = play().head(429, SSE).stream([event({"wait": 5})]).end()
    assert [type(found) for found in late.events] == [Result, Failure]
    assert named.exchange.outcome is late.exchange.outcome is Outcome.FAILURE


@pytest.mark.parametrize(
    ("status", "body", "kinds", "outcome"),
    [
        (200, b'{"a": 1}', [Result], Outcome.ANSWER),
        (200, b'{"a": ', [], Outcome.NONE),
        (503, b'{"a": ', [Failure], Outcome.FAILURE),
        (503, b'{"error": "x"}', [Failure], Outcome.FAILURE),
    ],
)
def test_a_transfer_that_broke(status: int, body: bytes, kinds: list[Any], outcome: Any) -> None:
    played = play().head(status).body(body).frame(FrameKind.ERROR, b"{}")
    assert [type(found) for found in played.events] == kinds
    assert played.exchange.outcome is outcome


@pytest.mark.parametrize("status", [200, 500])
def test_json_that_is_nested_too_deep_is_refused(status: int) -> None:
    for played in (
        play(max_depth=3).head(status).body(b"[[[[]]]]").end(),
        play(max_depth=3).head(status, SSE).stream([event("[[[[]]]]")]).end(),
    ):
        assert type(played.events[0]) is Unknown
        assert len(played.events) == 1 + (status == 500)
        assert played.problem.limit == "max_depth"
        assert played.exchange.outcome is (Outcome.FAILURE if status == 500 else Outcome.NONE)


CALL = {
    "name": "cook", "description": "Cook it", "protocol": "HTTP", "method": "GET",
    "endpoint": "/cook",
}  # fmt: skip


def only(**changes: Any) -> Action:
    """The action of an item whose one action has these attributes; None takes one away."""
    raw = {name: value for name, value in {**CALL, **changes}.items() if value is not None}
    (action,) = actions_of({"actions": [raw]})
    return action


def test_an_action_as_the_specification_has_it() -> None:
    assert only() == Action("/actions/0", "cook", "Cook it", "HTTP", CALL)


@pytest.mark.parametrize(
    ("item", "pointers"),
    [
        ({"actions": CALL}, ["/actions"]),
        ({"actions": [CALL, CALL]}, ["/actions/0", "/actions/1"]),
        ([{"actions": CALL}], ["/0/actions"]),
        ({"a/b": {"c~d": [1, {"actions": [CALL]}]}}, ["/a~1b/c~0d/1/actions/0"]),
        (
            {"first": {"actions": CALL}, "actions": [CALL], "x": [{"actions": [CALL]}]},
            ["/actions/0", "/first/actions", "/x/0/actions/0"],
        ),
        ({"actions": [{**CALL, "params": {"actions": [CALL]}}]}, ["/actions/0"]),
        ({"actions": None}, []),
        ({"actions": []}, []),
        ({"name": "Soup"}, []),
        ("actions", []),
        (None, []),
    ],
)
def test_actions_are_found_at_any_depth(item: Any, pointers: list[str]) -> None:
    assert [action.pointer for action in actions_of(item)] == pointers


def test_nesting_has_no_limit_and_the_number_has() -> None:
    item: Any = {"actions": [CALL] * 70}
    for _ in range(5000):
        item = {"inner": [item]}
    found = actions_of(item)
    assert len(found) == MAX_ACTIONS
    assert found[-1].pointer == "/inner/0" * 5000 + "/actions/49"


@pytest.mark.parametrize("raw", ["cook", 5, True, ["cook"]])
def test_what_is_no_object_is_shown_as_what_it_is(raw: Any) -> None:
    (action,) = actions_of({"actions": [raw]})
    assert (action.raw, action.name, action.protocol) == (raw, "action", "")
    assert action.problems == ("The action is not an object.",)


def test_a_missing_protocol_is_http() -> None:
    action = only(protocol=None)
    assert (action.protocol, action.inferred) == ("HTTP", {"protocol"})
    assert action.problems == ("The action has no protocol.",)


@pytest.mark.parametrize(
    ("kind", "name"),
    [("BuyAction", "BuyAction"), (["A", "B"], "A"), (5, "action"), ([], "action"), ([5], "action")],
)
def test_a_missing_name_is_that_of_the_type(kind: Any, name: str) -> None:
    action = only(**{"name": " ", "@type": kind})
    assert (action.name, action.inferred) == (name, {"name"})
    assert action.problems == ("The action’s name is empty.",)


def test_a_protocol_is_known_in_any_capitalisation() -> None:
    assert only(protocol=" http ").protocol == "HTTP"


@pytest.mark.parametrize("protocol", ["gRPC", "g" * 1000])
def test_another_protocol_is_a_problem(protocol: str) -> None:
    action = only(protocol=protocol)
    assert action.protocol == protocol
    (problem,) = action.problems
    assert problem.startswith("“g")
    assert len(problem) < 150


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"description": None}, ["The action has no description."]),
        ({"endpoint": None, "url": "/cook"}, ["The action has no endpoint; its url is used."]),
        ({"protocol": "MCP", "url": "http://a.example/mcp", "tool": "t"},
         ["The action has no server; its url is used."]),
        ({"method": None, "endpoint": None},
         ["The action has no method.", "The action has no endpoint."]),
        ({"method": 5}, ["The action’s method is not a string."]),
        ({"params": "some"}, ["The action’s params are not an object."]),
        ({"headers": [["a", "b"]]}, ["The action’s headers are not an object."]),
        ({"protocol": "MCP"}, ["The action has no server.", "The action has no tool."]),
        ({"protocol": "MCP", "server": "s", "tool": "t", "arguments": []},
         ["The action’s arguments are not an object."]),
        ({"protocol": "A2A"}, ["The action has no agent_url.", "The action has no skill."]),
        ({"protocol": "A2A", "agent_url": "u", "skill": "s", "message": {}}, []),
    ],
)  # fmt: skip
def test_what_is_missing_or_of_another_type(changes: dict[str, Any], problems: list[str]) -> None:
    assert only(**changes).problems == tuple(problems)


def test_long_names_are_cut() -> None:
    action = only(name="n" * 10**6, description="d" * 10**6)
    assert (len(action.name), len(action.description)) == (MAX_TEXT, MAX_TEXT)
