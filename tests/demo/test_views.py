"""The agent over HTTP, against the specification: sections of 0.55, except where 0.54 is named."""

from __future__ import annotations

from typing import Any

import pytest

from tests.demo.conftest import Ask, check

VERSIONS = ("0.54", "0.55")


class TestSection4Answer:
    @pytest.mark.parametrize("version", VERSIONS)
    async def test_conversational_search(self, ask: Ask, version: str) -> None:
        reply = await ask("breakfast with eggs", version=version)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "application/json"
        check(version, "answer", reply.document)
        assert reply.meta["version"] == version
        assert reply.meta["response_type"] == "answer"
        assert reply.meta["response_format"] == "conversational_search"
        for item in reply.document["results"]:
            check(version, "item", item)
            assert item["grounding"]["source_urls"] == [item["url"]]
            assert item["grounding"]["citations"][0]["text"].rstrip(".") in item["description"]
            assert 0 < item["grounding"]["rating"]["ratingValue"] <= 5

    @pytest.mark.parametrize("version", VERSIONS)
    async def test_chatgpt_app(self, ask: Ask, version: str) -> None:
        reply = await ask("lunch with avocado", version=version, response_format="chatgpt_app")
        check(version, "answer", reply.document)
        assert "results" not in reply.document
        content, data = reply.document["content"], reply.document["structuredData"]
        assert all(part["type"] == "text" for part in content)
        assert [f"{n}. **{item['name']}**" for n, item in enumerate(data, 1)] == [
            part["text"].partition(":")[0] for part in content[1:]
        ]
        assert reply.meta["openai/outputTemplate"]
        assert reply.meta["openai/widgetAccessible"] is True

    async def test_chatgpt_app_is_never_streamed(self, ask: Ask) -> None:
        reply = await ask("soup", response_format="chatgpt_app", streaming=True)
        assert reply.document["structuredData"]

    async def test_the_best_format_is_chosen(self, ask: Ask) -> None:
        reply = await ask("soup", response_format="csv, chatgpt_app, conversational_search")
        assert reply.meta["response_format"] == "chatgpt_app"

    async def test_ignored_filters_are_named(self, ask: Ask) -> None:
        reply = await ask("lunch", {"colour": "red", "diet": None})
        assert reply.meta["ignored_filters"] == ["colour"]

    async def test_pictures_come_from_the_same_origin(self, ask: Ask) -> None:
        reply = await ask("soup")
        for item in reply.document["results"]:
            assert item["image"].startswith("http://testserver/static/demo/")


class TestSection332Mode:
    @pytest.mark.parametrize("mode", ["summarize", "list, summarize", "summarize,list"])
    async def test_summary_is_an_item_in_055(self, ask: Ask, mode: str) -> None:
        reply = await ask("chocolate dessert", mode=mode)
        summary, *others = reply.document["results"]
        assert summary["@type"] == "SearchSummary"
        assert others[0]["name"] in summary["text"]
        assert "summary" not in reply.meta

    async def test_summary_is_metadata_in_054(self, ask: Ask) -> None:
        reply = await ask("chocolate dessert", version="0.54", mode="summarize")
        assert reply.names[0] in reply.meta["summary"]
        assert all(item["@type"] != "SearchSummary" for item in reply.document["results"])

    async def test_list_has_no_summary(self, ask: Ask) -> None:
        reply = await ask("chocolate dessert", mode="list")
        assert all(item["@type"] != "SearchSummary" for item in reply.document["results"])

    async def test_the_same_request_gets_the_same_summary(self, ask: Ask) -> None:
        first, second = [await ask("soup", mode="summarize") for _ in range(2)]
        assert first.document["results"] == second.document["results"]

    async def test_a_summary_for_an_app_is_content(self, ask: Ask) -> None:
        reply = await ask("soup", mode="summarize", response_format="chatgpt_app")
        assert "The quickest is" in reply.document["content"][0]["text"]

    async def test_detailed_is_for_054_only(self, ask: Ask) -> None:
        assert (await ask("homemade pasta", mode="detailed")).code == "UNSUPPORTED_MODE"
        reply = await ask("homemade pasta", version="0.54", mode="detailed")
        kinds = [item["@type"] for item in reply.document["results"]]
        assert kinds == ["Recipe", *["HowToSection"] * (len(kinds) - 2), "HowToTip"]

    async def test_what_has_no_steps_cannot_be_taught(self, ask: Ask) -> None:
        reply = await ask("sushi", {"itemType": "Movie"}, version="0.54", mode="detailed")
        assert reply.names == ["Jiro Dreams of Sushi"]


class TestSection6Streaming:
    @pytest.mark.parametrize("version", VERSIONS)
    async def test_events_in_order(self, ask: Ask, version: str) -> None:
        reply = await ask("breakfast with eggs", version=version, streaming=True)
        assert reply.status == 200
        assert reply.headers["Content-Type"] == "text/event-stream"
        assert reply.headers["Cache-Control"] == "no-cache"
        names = [name for name, _ in reply.events]
        assert names == ["start", *["result"] * (len(names) - 2), "complete"]
        for name, data in reply.events:
            check(version, f"event-{name}", data)
        start, complete = reply.data_of("start")[0]["_meta"], reply.data_of("complete")[0]["_meta"]
        assert start == {"response_type": "answer", "version": version, "streaming": True}
        assert complete["session_context"]["conversation_id"].startswith("conv_")
        assert complete["total_items"] == len(names) - 2
        assert [d["index"] for d in reply.data_of("result")] == list(range(len(names) - 2))

    async def test_a_stream_has_what_the_document_has(self, ask: Ask) -> None:
        whole = await ask("soup", mode="list, summarize")
        stream = await ask("soup", mode="list, summarize", streaming=True)
        assert [d["item"] for d in stream.data_of("result")] == whole.document["results"]

    async def test_the_summary_of_054_comes_with_the_last_event(self, ask: Ask) -> None:
        reply = await ask("soup", version="0.54", mode="summarize", streaming=True)
        assert reply.data_of("complete")[0]["_meta"]["summary"]

    async def test_tutorial_of_054_section_5(self, ask: Ask) -> None:
        reply = await ask(
            "a detailed tutorial on making homemade pasta",
            version="0.54", mode="detailed", streaming=True,
        )  # fmt: skip
        for name, data in reply.events:
            check("0.54", f"event-{name}", data)
        names = [name for name, _ in reply.events]
        assert names[:5] == ["start", "result", "content", "result", "content"]
        assert names[-3:] == ["result", "complete", "end"]
        content = reply.data_of("content")
        assert content[0]["type"] == "text"
        assert [part["step"] for part in content[1:]] == list(range(1, len(content)))
        assert reply.data_of("end") == [{"message": "Tutorial complete"}]

    @pytest.mark.parametrize(
        ("accept", "prefer", "stream"),
        [
            ("text/event-stream", {}, True),
            ("application/json", {}, False),
            ("application/json, text/event-stream", {}, False),
            ("*/*", {}, False),
            ("application/json", {"streaming": True}, True),
            ("text/event-stream", {"streaming": False}, False),
            ("text/event-stream", {"streaming": None}, True),
        ],
    )
    async def test_accept_decides_where_prefer_is_silent(
        self, post: Ask, accept: str, prefer: dict[str, Any], stream: bool
    ) -> None:
        request = {"query": {"text": "soup"}, "prefer": prefer}
        reply = await post("ask?pace=0", request, accept=accept)
        assert bool(reply.events) is stream

    async def test_a_stream_is_not_compressed(self, ask: Ask, post: Ask) -> None:
        request = {"query": {"text": "soup"}, "prefer": {"streaming": True}}
        reply = await post("ask?pace=0", request, **{"accept-encoding": "gzip, deflate, br"})
        assert "Content-Encoding" not in reply.headers
        assert reply.events


class TestSection34Meta:
    @pytest.mark.parametrize(
        ("meta", "version"),
        [
            ({}, "0.55"),
            ({"version": "0.54"}, "0.54"),
            ({"api_version": "0.54"}, "0.54"),
            ({"version": None, "api_version": "0.54"}, "0.54"),
        ],
    )
    async def test_version(self, post: Ask, meta: dict[str, Any], version: str) -> None:
        reply = await post("ask", {"query": {"text": "soup"}, "meta": meta})
        assert reply.meta["version"] == version

    async def test_session_context_is_returned(self, post: Ask) -> None:
        session = {"conversation_id": "conv_1", "state_token": "x", "deep": {"a": [1, None]}}
        turned = {**session, "turn": 1, "last_topic": "soup"}
        request = {"query": {"text": "soup"}, "meta": {"session_context": session}}
        for extra in ({}, {"prefer": {"streaming": True}}):
            reply = await post("ask?pace=0", {**request, **extra})
            meta = reply.data_of("complete")[0]["_meta"] if reply.events else reply.meta
            assert meta["session_context"] == turned

    async def test_each_turn_is_counted(self, post: Ask) -> None:
        meta: dict[str, Any] = {}
        for turn, text in enumerate(["soup", "salad", "x" * 200], 1):
            reply = await post("ask?pace=0", {"query": {"text": f"{text} eggs"}, "meta": meta})
            session = reply.meta["session_context"]
            assert (session["turn"], session["last_topic"]) == (turn, f"{text} eggs"[:80])
            meta = {"session_context": session}

    @pytest.mark.parametrize("turn", ["x", -1, 10**9, 1.5, None, [1]])
    async def test_an_odd_count_begins_again(self, post: Ask, turn: object) -> None:
        meta = {"session_context": {"turn": turn}}
        reply = await post("ask", {"query": {"text": "soup"}, "meta": meta})
        assert reply.meta["session_context"]["turn"] == 1

    async def test_a_conversation_gets_an_id(self, post: Ask) -> None:
        request = {"query": {"text": "soup"}, "meta": {"session_context": {"state": 1}}}
        session = (await post("ask", request)).meta["session_context"]
        assert session["state"] == 1
        assert session["conversation_id"].startswith("conv_")

    async def test_a_failure_keeps_the_session(self, post: Ask) -> None:
        meta = {"session_context": {"conversation_id": "conv_1"}}
        reply = await post("ask", {"query": {"text": "zzz"}, "meta": meta})
        assert reply.code == "NO_RESULTS"
        assert reply.meta["session_context"] == meta["session_context"]
