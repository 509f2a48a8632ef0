"""JSON-RPC messages: built, read leniently, and their codes explained."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import jsonrpc
from playground.protocols.jsonrpc import Deviation, MessageKind
from tests.support.json_values import objects, values

NAMES = ("jsonrpc", "id", "method", "params", "result", "error", "code", "message", "data")
OK = {"jsonrpc": "2.0"}


def test_messages_are_built_with_their_members_in_order() -> None:
    assert list(jsonrpc.request(1, "m", {"a": 1})) == ["jsonrpc", "id", "method", "params"]
    assert jsonrpc.request("x", "m") == {**OK, "id": "x", "method": "m"}
    assert jsonrpc.notification("m") == {**OK, "method": "m"}


@pytest.mark.parametrize(
    ("payload", "kind", "problems"),
    [
        ({**OK, "id": 1, "method": "m"}, MessageKind.REQUEST, []),
        ({**OK, "id": "1", "method": "m", "params": []}, MessageKind.REQUEST, []),
        ({**OK, "method": "m"}, MessageKind.NOTIFICATION, []),
        ({**OK, "id": 1, "result": {}}, MessageKind.RESULT, []),
        ({**OK, "id": 1, "result": None}, MessageKind.RESULT, []),
        ({**OK, "id": None, "error": {"code": -32700, "message": "?"}}, MessageKind.ERROR, []),
        ({"id": 1, "result": 1}, MessageKind.RESULT, [Deviation.NO_VERSION]),
        ({"jsonrpc": "1.0", "id": 1, "result": 1}, MessageKind.RESULT, [Deviation.OTHER_VERSION]),
        ({**OK, "result": 1}, MessageKind.RESULT, [Deviation.NO_ID]),
        ({**OK, "id": True, "result": 1}, MessageKind.RESULT, [Deviation.ODD_ID]),
        ({**OK, "id": {}, "method": "m"}, MessageKind.REQUEST, [Deviation.ODD_ID]),
        ({**OK, "id": 1, "method": 5}, MessageKind.OTHER, [Deviation.ODD_METHOD]),
        ({**OK, "method": "m", "params": "x"}, MessageKind.NOTIFICATION, [Deviation.ODD_PARAMS]),
        (
            {**OK, "id": 1, "method": "m", "result": 1},
            MessageKind.RESULT,
            [Deviation.METHOD_IN_RESPONSE],
        ),
        (
            {**OK, "id": 1, "result": 1, "error": {"code": 1, "message": ""}},
            MessageKind.RESULT,
            [Deviation.RESULT_AND_ERROR],
        ),
        (
            {**OK, "id": 1, "result": None, "error": {"code": 1, "message": ""}},
            MessageKind.ERROR,
            [Deviation.RESULT_AND_ERROR],
        ),
        ({**OK, "id": 1, "error": None}, MessageKind.ERROR, [Deviation.ODD_ERROR]),
        ({**OK, "id": 1, "error": "broken"}, MessageKind.ERROR, [Deviation.ODD_ERROR]),
        ({**OK, "id": 1, "error": {"message": "x"}}, MessageKind.ERROR, [Deviation.ODD_ERROR]),
        ({**OK, "id": 1, "error": {"code": "E"}}, MessageKind.ERROR, [Deviation.ODD_CODE]),
        ({**OK, "id": 1, "error": {"code": -1}}, MessageKind.ERROR, [Deviation.ODD_ERROR]),
        ({**OK, "id": 1}, MessageKind.OTHER, [Deviation.NOTHING]),
        ({}, MessageKind.OTHER, [Deviation.NO_VERSION, Deviation.NOTHING]),
        ([], MessageKind.OTHER, [Deviation.NOT_AN_OBJECT]),
        (None, MessageKind.OTHER, [Deviation.NOT_AN_OBJECT]),
    ],
)
def test_whatever_comes_is_read_and_its_deviations_are_named(
    payload: Any, kind: MessageKind, problems: list[Deviation]
) -> None:
    message = jsonrpc.read(payload)
    assert (message.kind, list(message.problems)) == (kind, problems)
    assert message.raw == payload


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        ({"code": -32602, "message": "Invalid params"}, -32602, "Invalid params"),
        ({"code": -32602.0, "message": "x"}, -32602, "x"),
        ({"code": True, "message": 5}, None, "5"),
        ("no luck", None, "no luck"),
        (["no luck"], None, "no luck"),
    ],
)
def test_errors_are_read_as_far_as_they_can_be(error: Any, code: int | None, said: str) -> None:
    read = jsonrpc.read({**OK, "id": 1, "error": error}).error
    assert read is not None
    assert (read.code, read.message, read.raw) == (code, said, error)


def test_arrays_are_read_one_by_one_up_to_a_limit() -> None:
    one = {**OK, "id": 1, "result": {}}
    assert [m.problems for m in jsonrpc.read_all([one, 5])] == [
        (Deviation.BATCH,),
        (Deviation.NOT_AN_OBJECT, Deviation.BATCH),
    ]
    assert jsonrpc.read_all([])[0].problems == (Deviation.EMPTY_BATCH,)
    many = jsonrpc.read_all([one] * (jsonrpc.MAX_BATCH + 5))
    assert len(many) == jsonrpc.MAX_BATCH
    assert Deviation.LONG_BATCH in many[0].problems


def test_a_response_answers_the_request_with_its_very_id() -> None:
    answer = jsonrpc.read({**OK, "id": 1, "result": {}})
    assert answer.is_response_to(1)
    assert not answer.is_response_to("1")
    assert not answer.is_response_to(True)
    assert not jsonrpc.read({**OK, "id": 1, "method": "m"}).is_response_to(1)


@pytest.mark.parametrize("code", sorted(jsonrpc.EXPLAINED))
def test_every_known_code_is_explained(code: int) -> None:
    explained = jsonrpc.explain_code(code)
    assert explained is not None
    assert explained.meaning.endswith(".")
    assert explained.advice.endswith(".")


def test_codes_of_a_server_are_explained_as_such_and_others_are_not() -> None:
    assert jsonrpc.explain_code(-32099) == jsonrpc.explain_code(-32050)
    assert jsonrpc.explain_code(404) is None


@pytest.mark.parametrize(
    ("text", "code"),
    [("-32601", -32601), (" 404 ", 404), ("", None), ("-", None), ("E5", None), ("٣", None),
     ("9" * 20, None)],
)  # fmt: skip
def test_a_code_is_read_from_text(text: str, code: int | None) -> None:
    assert jsonrpc.code_of(text) == code


@given(values(NAMES, ("2.0", "ping")) | st.lists(objects(NAMES, ("2.0",)), max_size=4))
def test_nothing_that_is_read_raises(payload: Any) -> None:
    for message in jsonrpc.read_all(payload):
        assert message.kind in MessageKind
        assert (message.error is None) <= (message.kind is not MessageKind.ERROR)
