"""Answers in other clothes: what is shown of them, and how they are named."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases import FILES, Answer, ask, mcp_server
from tests.support.commands import run_command
from tests.support.servers import CLOSE, LAST_CHUNK, RESET, STREAM_HEAD, chunk, head, reply, serving

AGENT_API = ("--protocol", "agent-api")
#: The streaming sequence as the Agent API's text prints it, with ids.
OBJECTS: list[dict[str, Any]] = [
    {"status": "created", "id": "response_1", "object": "response"},
    {"status": "created", "id": "msg_1", "object": "message", "type": "assistant"},
    {
        "status": "in_progress", "type": "text", "index": 0, "delta": True, "text": "Hello",
        "object": "content",
    },
    {
        "status": "in_progress", "type": "text", "index": 0, "delta": True, "text": ", world",
        "object": "content",
    },
    {
        "status": "completed", "type": "text", "index": 0, "delta": False, "text": "Hello, world",
        "object": "content",
    },
    {"status": "completed", "id": "msg_1", "object": "message"},
    {"status": "completed", "id": "response_1", "object": "response"},
]  # fmt: skip
LINES = [json.dumps(each).encode() + b"\n" for each in OBJECTS]
META = {"response_type": "answer", "version": "0.55"}


def case(name: str, *arguments: str) -> Answer:
    return ask((FILES / f"{name}.http").read_bytes(), CLOSE, arguments=arguments)


def texts(answer: Answer) -> list[tuple[str, str]]:
    return [(line["kind"], line["text"]) for line in answer.of("text")]


def at_least(answer: Answer, *levels: str) -> set[str]:
    return {rule for rule, level in answer.findings.items() if level in levels}


# --- JSON lines, and objects glued into one event ---------------------------------------------


@pytest.mark.parametrize(
    "media_type",
    ["application/x-ndjson", "text/event-stream", "application/json", "text/plain", "x/jsonl"],
)
def test_json_lines_of_the_agent_api_are_read_and_named_as_information(media_type: str) -> None:
    found = ask(reply(b"".join(LINES), media_type), arguments=AGENT_API)
    assert found.ending == ("completed", "answer", 0)
    assert "Hello, world" in found.page
    assert [line["value"] for line in found.of("content")] == ["Hello", ", world"]
    assert found.findings["agent-api.data-json"] == "info"
    assert at_least(found, "must") == set() == at_least(found, "should") & {
        "agent-api.content-type", "agent-api.stream-honoured", "agent-api.stream-closed"
    }  # fmt: skip
    (finding,) = (f for f in found.end["findings"] if f["rule"] == "agent-api.data-json")
    assert "JSON lines" in finding["message"]


@pytest.mark.parametrize("size", [1, 7, 80, 500])
def test_json_lines_in_pieces_of_any_size(size: int) -> None:
    body = b"".join(LINES)
    pieces = [chunk(body[at : at + size]) for at in range(0, len(body), size)]
    start = head(content_type="application/x-ndjson", transfer_encoding="chunked")
    found = ask(start, *pieces, LAST_CHUNK, arguments=AGENT_API)
    assert found.ending == ("completed", "answer", 0)
    # A line is an event, received when it was sent.
    assert len({line["seq"] for line in found.lines if "seq" in line}) >= len(LINES)


def test_json_lines_are_read_as_far_as_they_were_received() -> None:
    body = b"".join(LINES[:4]) + LINES[4][:30]
    start = head(content_type="application/x-ndjson", transfer_encoding="chunked")
    for end, state in ((RESET, "truncated"), (LAST_CHUNK, "truncated")):
        found = ask(start, chunk(body), end, arguments=AGENT_API)
        assert (found.ending[0], found.ending[2]) == (state, 3)
        assert "Hello, world" in found.page
        assert "agent-api.data-json" not in at_least(found, "must")


def test_ndjson_of_a_legacy_server_is_read_and_named() -> None:
    found = case("11-ndjson")
    assert found.ending == ("completed", "answer", 0)
    assert [line["item"]["name"] for line in found.of("result")] == ["One"]
    assert "One" in found.page
    assert "No results" not in found.page
    assert found.findings["reply-object"] == "must"
    assert "stream-events-named" not in found.findings
    (named,) = (f for f in found.end["findings"] if f["rule"] == "reply-object")
    assert "NDJSON" in named["message"]


@pytest.mark.parametrize(
    "body", [b'{"a": 1}\n', b'{\n "a": {}\n}\n', b'{"a": "x\\n{}"}', b"{}\n\n"]
)
def test_a_document_is_not_taken_for_json_lines(body: bytes) -> None:
    for media_type in ("application/json", "text/event-stream", "application/x-ndjson"):
        found = ask(reply(body, media_type))
        assert found.of("error")[0]["cause"].endswith("is JSON, but not an NLWeb response.")


@pytest.mark.parametrize(
    ("name", "unfinished"),
    [("05-agent-api-glued", False), ("06-agent-api-glued-open-end", True)],
)
def test_objects_in_one_event_are_read_and_a_must_finding(name: str, unfinished: bool) -> None:
    found = case(name, *AGENT_API)
    assert found.ending == ("completed", "answer", 0)
    assert "Hello" in found.page
    assert at_least(found, "must") == {"agent-api.data-json"}
    messages = {f["rule"]: f["message"] for f in found.end["findings"] if f["verdict"] == "fail"}
    assert "JSON objects" in messages["agent-api.data-json"]
    assert "not JSON" not in " ".join(messages.values())
    assert ("agent-api.stream-closed" in found.findings) is unfinished
    if unfinished:
        assert "End it with a blank line." in messages["agent-api.stream-closed"]
    assert "agent-api.object-present" not in found.findings


def test_the_objects_of_an_event_that_was_cut_off() -> None:
    data = b"".join(b"data: " + line for line in LINES)[:-40]
    for end in (LAST_CHUNK, RESET):
        found = ask(STREAM_HEAD, chunk(data), end, arguments=AGENT_API)
        assert (found.ending[0], found.ending[2]) == ("truncated", 3)
        assert "Hello, world" in found.page


def test_messages_of_one_event_keep_their_names() -> None:
    glued = (
        b'event: start\ndata: {"_meta": %b}\n'
        b'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "One"}}\n'
        b'event: content\ndata: {"type": "text", "text": "Between"}\n'
        b'event: complete\ndata: {"_meta": %b}\n\n'
    ) % ((json.dumps(META | {"streaming": True}).encode(),) * 2)
    found = ask(reply(glued, "text/event-stream"))
    kinds = [line["type"] for line in found.lines[:-1]]
    assert kinds == ["started", "result", "text", "completed"]
    assert at_least(found, "must") == {"stream-data-json"}


def test_a_message_of_the_agent_api_is_shown_whichever_object_of_the_event_it_is() -> None:
    """Its pieces find it, also after something that cannot be read."""
    lines = [LINES[0], b'{"hello": 1}\n', *LINES[1:]]
    glued = b"".join(b"data: " + line for line in lines) + b"\n"
    found = ask(reply(glued, "text/event-stream"), arguments=AGENT_API)
    assert found.ending == ("completed", "answer", 0)
    assert "Hello, world" in found.page


@pytest.mark.parametrize("arguments", [AGENT_API, ()])
def test_json_without_a_data_field_is_shown_and_found(arguments: tuple[str, ...]) -> None:
    error = b'{"code": "workflow_error", "message": "The oven is cold."}\n\n'
    first = LINES[0] if arguments else json.dumps({"_meta": META}).encode() + b"\n"
    found = ask(reply(b"data: " + first + b"\n" + error, "text/event-stream"), arguments=arguments)
    assert "The oven is cold." in found.page
    assert "data-json" in " ".join(at_least(found, "must"))


def test_audio_has_one_finding() -> None:
    audio = {
        "object": "content", "type": "audio", "index": 0, "msg_id": "msg_1", "delta": False,
        "status": "completed", "data": "UklGRg==", "format": "wav",
    }  # fmt: skip
    objects = [*OBJECTS[:2], audio, OBJECTS[-2] | {"type": "assistant"}, OBJECTS[-1]]
    stream = b"".join(b"data: " + json.dumps(each).encode() + b"\n\n" for each in objects)
    found = ask(reply(stream, "text/event-stream"), arguments=AGENT_API)
    about = [f for f in found.end["findings"] if f["verdict"] == "fail" and f["seq"] == 6]
    assert [f["rule"] for f in about] == ["agent-api.content-type-known"]


# --- other protocols --------------------------------------------------------------------------

FOREIGN = {
    "AgentScope 2.0": (FILES / "07-agentscope2-chat.http").read_bytes(),
    "AG-UI": reply(b'data: {"type": "RUN_STARTED", "runId": "1"}\n\n', "text/event-stream"),
    "Chat Completions": reply(b'{"object": "chat.completion", "choices": []}'),
}


@pytest.mark.parametrize("arguments", [AGENT_API, ()])
@pytest.mark.parametrize("name", FOREIGN)
def test_another_protocol_is_named(name: str, arguments: tuple[str, ...]) -> None:
    found = ask(FOREIGN[name], CLOSE, arguments=arguments)
    assert found.ending == ("failed", "none", 3)
    (problem,) = found.of("error")
    assert name in problem["cause"]
    advice = f"protocol to {name}" if name == "Chat Completions" else "does not support"
    assert advice in problem["fix"]
    assert name in found.page


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("07-agentscope2-chat", "AgentScope 2.0’s chat protocol"),
        ("10-wordpress", "wpnlweb"),
        ("11-ndjson", "JSON lines (NDJSON)"),
    ],
)
def test_the_doctor_names_them(name: str, words: str) -> None:
    script = ((FILES / f"{name}.http").read_bytes(), CLOSE)
    with serving(answer=lambda request: script) as server:
        done = run_command("doctor", server.url)
    assert words in done.stdout


# --- texts, metadata and members of the agent's own ---------------------------------------------


def test_the_texts_of_a_whole_reply_are_shown() -> None:
    found = case("08-nlwebnet")
    assert found.ending == ("completed", "answer", 0)
    expected = [("summary", "Two things were found"), ("generated_response", "You could take One.")]
    assert texts(found) == expected
    assert all(text in found.page for _, text in expected)


@pytest.mark.parametrize("name", [None, "message", "result", "start", "complete", "end"])
def test_a_text_of_any_message_is_shown(name: str | None) -> None:
    data: dict[str, Any] = {
        "_meta": META,
        "summary": "Two were found",
        "index": 0,
        "item": {"x": 1},
    }
    if name in ("start", "complete", "end"):
        del data["index"], data["item"]
    event = f"event: {name}\n" if name else ""
    found = ask(reply(f"{event}data: {json.dumps(data)}\n\n".encode(), "text/event-stream"))
    assert ("summary", "Two were found") in texts(found)
    assert "Two were found" in found.page


def test_the_end_message_is_shown_with_what_it_has() -> None:
    end = {"message": "Tutorial complete", "credits": {"cook": "Ada"}, "_meta": {"steps": 4}}
    stream = f"event: start\ndata: {json.dumps({'_meta': META})}\n\n"
    stream += 'event: error\ndata: {"error": {"code": "TIMEOUT"}}\n\n'
    stream += f"event: end\ndata: {json.dumps(end)}\n\n"
    found = ask(reply(stream.encode(), "text/event-stream"), arguments=("--version", "0.54"))
    assert texts(found) == [("message", "Tutorial complete")]
    for shown in ("Tutorial complete", "Ada", "steps"):
        assert shown in found.page
    assert found.ending == ("completed", "failure", 1)


@pytest.mark.parametrize("streamed", [False, True])
def test_members_of_the_metadata_are_shown(streamed: bool) -> None:
    meta = META | {"request_id": 145, "note": "Cached\x1b[31m"}
    body = json.dumps({"_meta": meta, "results": [{"@type": "Recipe", "name": "One"}]})
    found = (
        ask(reply(f"data: {body}\n\n".encode(), "text/event-stream"))
        if streamed
        else ask(reply(body.encode()))
    )
    assert found.of("started")[0]["meta"] == meta
    assert "Metadata" in found.page
    assert "request_id 145" in found.page
    with serving(reply(body.encode()), LAST_CHUNK) as server:
        text = run_command("send", server.url, "--text", "x").stdout
    assert "meta" in text
    assert "request_id" in text
    assert "\x1b" not in text


OWN = {
    "texts": ({"article": "A long text"}, ["article", "A long text"]),
    "an object": ({"chart": {"kind": "bar", "bars": [1, 2]}}, ["chart", "bar"]),
    "an array": ({"rows": [[1, "Soup"], [2, "Stew"]]}, ["rows", "Soup"]),
    "script": ({"<b>x</b>": "<script>alert(1)</script>"}, ["<script>alert(1)</script>"]),
}


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("members", OWN)
def test_a_format_of_the_agents_own_is_shown(members: str, streamed: bool) -> None:
    own, shown = OWN[members]
    body = json.dumps({"_meta": META | {"response_format": "x-own"}, **own})
    framed = reply(f"data: {body}\n\n".encode(), "text/event-stream")
    found = ask(framed if streamed else reply(body.encode()))
    assert found.ending == ("completed", "answer", 0)
    assert all(text in found.page for text in [*shown, "x-own"])
    assert "No results" not in found.page


def test_no_results_is_said_where_there_is_nothing() -> None:
    found = ask(reply(json.dumps({"_meta": META, "results": [], "query_id": "7"}).encode()))
    assert "No results" in found.page


ITEMS = [{"@type": "Article", "name": "About &amp; Us", "url": "https://ex.test/about/"}]
SCHEMA_ORG = {
    "SearchResultsPage": {"@type": "SearchResultsPage", "totalResults": 1, "items": ITEMS},
    "page": {"@type": "WebPage", "mainEntity": {"@type": "ItemList", "itemListElement": ITEMS}},
    "ItemList": {
        "@context": "https://schema.org", "@type": "ItemList",
        "itemListElement": [{"@type": "ListItem", "position": 1, "item": ITEMS[0]}],
    },
    "graph": {"@context": "https://schema.org", "@graph": ITEMS},
    "list": ITEMS,
}  # fmt: skip


@pytest.mark.parametrize("form", SCHEMA_ORG)
def test_the_items_of_a_form_of_schema_org_are_results(form: str) -> None:
    found = ask(reply(json.dumps(SCHEMA_ORG[form]).encode()))
    assert found.ending == ("completed", "answer", 0)
    assert [line["item"] for line in found.of("result")] == ITEMS
    assert "About & Us" in found.page
    (note,) = found.of("unknown")
    assert f"schema.org {'WebPage' if form == 'page' else form}" in note["data"]["remark"]
    assert "not an NLWeb response" in note["data"]["remark"]
    assert at_least(found, "must")


@pytest.mark.parametrize(
    "body", ["[]", "[1]", '{"items": "x"}', '{"items": [{"a": 1}]}', '{"a": 1}']
)
def test_other_json_is_no_answer(body: str) -> None:
    assert ask(reply(body.encode())).ending == ("failed", "none", 3)


def test_names_and_values_of_json_ld_are_text() -> None:
    page = case("12-jsonld-shapes").page
    for shown in (
        "Mac & Cheese – Mom’s <b>best</b>", "Melt & stir", "Value name", "Array name, Zweiter Name",
        "Double encoded", "BrandBr", "Rating8.1", "<script>alert(1)",
    ):  # fmt: skip
        assert shown in page
    assert '{"@' not in page
    assert "&amp;" not in page


# --- bad input --------------------------------------------------------------------------------


def test_a_line_of_1_6_mb_over_mcp() -> None:
    result = json.loads((FILES / "mcp-results.json").read_text())["bigline"]

    def called(number: Any) -> Any:
        text = json.dumps({"jsonrpc": "2.0", "id": number, "result": result})
        line = text.replace("REPEAT", "A" * 1_600_000)
        return (reply(f"data: {line}\n\n".encode(), "text/event-stream"), CLOSE)

    found = ask(answer=mcp_server(called), arguments=("--binding", "mcp"))
    assert found.ending == ("completed", "answer", 0)
    assert "One" in found.page
    assert "image/png, 1.1 MB" in found.page


@pytest.mark.parametrize(
    "body",
    [
        b"".join(LINES) * 2_000,
        b"".join(b"data: " + line for line in LINES) * 1_500 + b"\n",
        b"data: {}\n" * 120_000 + b"\n",
        b"{" * 10_000 + b"\n" + LINES[0] * 10,
        b'{"a": "' + b"\\u001b[31m\\r\\n<script>" * 20_000 + b'"}\n' + b"".join(LINES),
    ],
    ids=["lines", "glued", "too many", "deep", "hostile"],
)
def test_many_objects_or_large_ones(body: bytes) -> None:
    found = ask(reply(body, "text/event-stream"), arguments=AGENT_API)
    assert found.ending[0] in ("completed", "failed", "refused")
    assert "\x1b" not in json.dumps(found.lines, ensure_ascii=False)


def test_10_000_members_of_the_agents_own() -> None:
    members = {f"m{number}": "<b>x</b>\x1b[2J\r\n" for number in range(10_000)}
    found = ask(reply(json.dumps({"_meta": META, **members}).encode()))
    assert found.ending == ("completed", "answer", 0)
    assert len(found.of("text")) == 10_000
