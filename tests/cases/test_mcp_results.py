"""Results of MCP tools as SDKs make them: texts beside structured content, lists, wrappers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases import FILES
from tests.cases.test_errors import send_mcp

ANSWERED = ("completed", "answer", 0)
META = {"response_type": "answer", "version": "0.55"}
ONE = {"@type": "Recipe", "name": "One", "url": "https://ex.test/1", "description": "d"}
TWO = {"@type": "Recipe", "name": "Two", "url": "https://ex.test/2", "description": "d"}
REPLY = {"_meta": META, "results": [ONE, TWO]}
PROSE = "Two recipes were found."
WRAPPED = {"fastmcp": {"wrap_result": True}}
#: Rules that compare the parts of a result; none may blame what an SDK does.
WRAPPER_RULES = {
    "mcp.nlweb-reply", "mcp.reply-shape", "mcp.result-content", "mcp.content-parts",
    "mcp.structured-object", "mcp.structured-agrees",
}  # fmt: skip


def text(value: Any) -> dict[str, str]:
    return {"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}


@pytest.mark.parametrize(
    ("result", "texts"),
    [
        ({"structuredContent": REPLY, "content": [text(PROSE)]}, [PROSE]),
        ({"structuredContent": REPLY, "content": [text(REPLY)]}, []),
        ({"structuredContent": REPLY, "content": [text(json.dumps(REPLY, indent=4))]}, []),
        ({"structuredContent": REPLY, "content": [text(REPLY), text(PROSE)]}, [PROSE]),
        ({"structuredContent": REPLY, "content": [text(ONE), text(TWO), text(" ")]}, []),
        ({"structuredContent": REPLY, "content": [text([ONE, TWO])]}, []),
        ({"structuredContent": {**REPLY, "content": [text("Own.")]}, "content": [text(PROSE)]},
         [PROSE, "Own."]),
        ({"structuredContent": {"result": REPLY}, "content": [text(PROSE)]}, [PROSE]),
        ({"structuredContent": {"result": REPLY}, "content": [text(REPLY)], "_meta": WRAPPED}, []),
        ({"structuredContent": {"result": json.dumps(REPLY)}, "content": [text(REPLY)]}, []),
        ({"content": [text(PROSE), text(REPLY)]}, [PROSE]),
        ({"content": [text(REPLY), text(PROSE), text("Enjoy!")]}, [PROSE, "Enjoy!"]),
        ({**REPLY, "content": [text(PROSE)]}, [PROSE]),
        ({**REPLY, "content": [text(PROSE), text([ONE, TWO])]}, [PROSE]),
        ({"structuredContent": {"result": [ONE, TWO]}, "content": [text([ONE, TWO])],
          "_meta": WRAPPED}, []),
        ({"structuredContent": {"result": [ONE, TWO]}, "content": [text(ONE), text(TWO)]}, []),
        ({"structuredContent": {"result": [ONE, TWO]}, "content": [text(PROSE)]}, [PROSE]),
        ({"structuredContent": [ONE, TWO], "content": [text(PROSE)]}, [PROSE]),
        ({"content": [text(ONE), text(TWO)]}, []),
        ({"content": [text(PROSE), text(ONE), text(TWO)]}, [PROSE]),
        ({"content": [text([ONE, TWO])]}, []),
        ({"content": [text(PROSE), text(json.dumps({"message_type": "a"}) + json.dumps(REPLY))]},
         [PROSE]),
        ({"content": [text(f"{json.dumps(ONE)}\n{json.dumps(TWO)}")]}, []),
    ],
)  # fmt: skip
def test_each_result_and_each_text_is_shown_once(result: Any, texts: list[str]) -> None:
    found = send_mcp(result=result)
    assert found.ending == ANSWERED
    assert [line["item"] for line in found.of("result")] == [ONE, TWO]
    assert [line["text"] for line in found.of("text")] == texts
    for each in ("One", "Two", *texts):
        assert each in found.page


def test_objects_of_any_kind_in_texts_of_their_own_are_results() -> None:
    found = send_mcp(result={"content": [text({"title": "One"}), text({"title": "Two"})]})
    assert [line["item"] for line in found.of("result")] == [{"title": "One"}, {"title": "Two"}]
    # One alone may be anything.
    found = send_mcp(result={"content": [text({"title": "One"})]})
    assert (found.ending, found.of("result")) == (ANSWERED, [])
    assert [line["text"] for line in found.of("text")] == ['{"title": "One"}']


@pytest.mark.parametrize("key", ["perresult", "wrapped"])
def test_a_list_of_the_cases(key: str) -> None:
    found = send_mcp(result=json.loads((FILES / "mcp-results.json").read_text())[key])
    assert found.ending == ANSWERED
    names = [line["item"]["name"] for line in found.of("result")]
    assert names == ["One", "Two"][: len(names)]
    assert found.of("text") == []
    assert not WRAPPER_RULES & {*found.findings}
    # A response has metadata (0.55, section 4), wrapped or not.
    assert found.findings["meta-present"] == "must"


@pytest.mark.parametrize(
    ("result", "blamed"),
    [
        ({"structuredContent": {"result": json.dumps(REPLY)}, "content": [text(REPLY)]}, set()),
        ({"structuredContent": [ONE, TWO], "content": []},
         {"mcp.structured-object", "mcp.reply-shape"}),
        ({"content": [text("\ufeff" + json.dumps(REPLY))]}, set()),
        ({"content": [json.dumps(REPLY)]}, {"mcp.content-parts"}),
        ({"content": text(REPLY)}, {"mcp.result-content"}),
        ({"content": json.dumps(REPLY)}, {"mcp.result-content"}),
    ],
)  # fmt: skip
def test_only_what_is_wrong_is_found(result: Any, blamed: set[str]) -> None:
    found = send_mcp(result=result)
    assert found.ending == ANSWERED
    assert [line["item"] for line in found.of("result")] == [ONE, TWO]
    assert WRAPPER_RULES & {*found.findings} == blamed


def test_the_finding_about_an_item_points_to_the_item() -> None:
    bad = {"name": "Untyped", "@type": 5}
    for result, pointer in (
        ({"content": [text(ONE), text(bad)]}, "/result/content/1/text#/@type"),
        ({"content": [text([ONE, bad])]}, "/result/content/0/text#/1/@type"),
        ({"structuredContent": {"result": [ONE, bad]}, "content": [text([ONE, bad])]},
         "/result/structuredContent/result/1/@type"),
    ):  # fmt: skip
        found = send_mcp(result=result)
        pointers = [f["pointer"] for f in found.end["findings"] if f["verdict"] == "fail"]
        assert pointer in pointers


def test_a_failure_and_its_text_are_one_failure() -> None:
    error = {"code": "E7", "message": "Cold kitchen"}
    failure = {"_meta": {"response_type": "failure"}, "error": error}
    found = send_mcp(
        result={"isError": True, "structuredContent": failure, "content": [text("Cold kitchen")]}
    )
    assert found.ending == ("completed", "failure", 1)
    assert (len(found.of("failure")), found.of("text")) == (1, [])
    beside = send_mcp(result={"structuredContent": failure, "content": [text("Try the garden.")]})
    assert beside.ending == ("completed", "failure", 1)
    assert "Try the garden." in beside.page


def test_a_text_beside_questions_does_not_answer_them() -> None:
    asks = {"elicitation": {"text": "Which?", "questions": [{"id": "a", "text": "A?"}]}}
    found = send_mcp(result={"structuredContent": asks, "content": [text("Please choose.")]})
    assert found.ending == ("completed", "elicitation", 0)
    assert "Please choose." in found.page


def test_many_texts_hostile_ones_among_them() -> None:
    hostile = "<script>alert(1)</script>\x1b[31m"
    items = [{"@type": "Recipe", "name": f"R{number}"} for number in range(2_000)]
    found = send_mcp(result={"content": [text(hostile), *map(text, items)]})
    assert len(found.of("result")) == 2_000
    assert [line["text"] for line in found.of("text")] == [hostile]
    assert "<script>alert(1)</script>" in found.page  # As text: the markup was parsed.
