"""Threads: pages of entries from stored frames, and child runs below entries."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Run, RunKind
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from playground.stored_runs import read_events
from tests.support.action_runs import action, offering
from tests.support.markup import Element
from tests.support.run_page import Viewer, entries, ids_of, part
from tests.support.stored_runs import (
    CALL,
    END,
    HEAD,
    OPEN,
    PIECES,
    Recording,
    batches,
    event,
    recorded,
    result,
)

pytestmark = pytest.mark.django_db

#: Most actions below an entry, and levels of actions of responses.
MAX_ACTIONS, DEPTH = 10, 3


def called(method: str, value: Any) -> list[Frame]:
    """Return the frames of a call with a JSON response."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n"
    sent = f"{method} /a2a HTTP/1.1\r\nHost: cook.example\r\n\r\n".encode()
    return [
        Frame(0, 60, FrameKind.CALL, sent),
        OPEN,
        Frame(0, 70, FrameKind.HEAD, head),
        Frame(0, 80, FrameKind.BODY, json.dumps(value).encode()),
        END,
    ]


def under(run: Run) -> Element:
    """Return what is below the entry of `offering`."""
    found = part(run).by_id("children-entry-4-0")
    assert found
    return found


def child_of(run: Run, **fields: Any) -> Recording:
    own = {"parent": run, "kind": RunKind.ACTION, "parent_entry_seq": 4, "parent_entry_part": 0}
    return Recording(**{**own, "heartbeat_at": timezone.now(), **fields})


def is_followed(run: Run) -> bool:
    return bool(part(run, "").select(ws_connect=None))


class TestStopped:
    @pytest.mark.parametrize("events", [0, 2])
    @pytest.mark.parametrize(("binding", "goes_on"), [("http", False), ("mcp", True)])
    def test_says_what_came_and_that_a_server_may_work_on(
        self, events: int, binding: str, goes_on: bool
    ) -> None:
        run = offering()
        child = child_of(run, binding=binding)
        child.add(CALL, OPEN, HEAD)
        child.end("cancelled")
        Run.objects.filter(pk=child.run.pk).update(events=events)
        assert ("Nothing received." in under(run).words) == (events == 0)
        for shown in (under(run), part(child.run).by_id("run-ending")):
            assert shown
            assert ("The server may still continue" in shown.words) == goes_on


@pytest.mark.parametrize(
    ("item", "is_data"),
    [
        ({"saved": True}, True), ([1], True), ("ok", True), (None, True), ({"@type": ""}, True),
        ({"@type": "ItemList", "name": "Cart"}, False), ({"name": "Soup"}, False),
    ],
)  # fmt: skip
def test_a_response_is_json_unless_it_says_what_it_is(item: Any, is_data: bool) -> None:
    run = offering()
    request = {"action": "add", "protocol": "HTTP", "method": "GET", "url": "http://a.example/"}
    child = child_of(run, protocol="action", request={**request, "headers": []}, url=request["url"])
    child.add(*called("GET", item))
    child.end()
    (card,) = entries(part(child.run))
    assert (card.attributes["class"] == "data") is is_data


class TestActions:
    def test_stand_under_their_card_the_newest_open(self) -> None:
        run = offering()
        runs = [action(run) for _ in range(3)]
        shown = under(run).select(data_run=None)
        assert [(e.tag, e.attributes["data-run"]) for e in shown] == [
            ("details", str(runs[0].pk)), ("details", str(runs[1].pk)),
            ("section", str(runs[2].pk)),
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("request_", "is_same"),
        [
            ({}, True),
            ({"url": "http://shop.example/cart?q=2"}, True),
            ({"body": {"q": 1}}, True),
            ({"url": "http://shop.example/b"}, False),
            ({"method": "GET"}, False),
            ({"action": "other"}, False),
        ],
    )
    def test_one_puts_away_those_of_the_same_action(
        self, request_: dict[str, Any], is_same: bool
    ) -> None:
        run = offering()
        first = action(run)
        action(run, request={**first.request, **request_})
        assert bool(under(run).find("details")) is is_same

    def test_each_says_which_it_is(self) -> None:
        run = offering()
        for name in ("save_recipe", ""):
            action(run, request={"action": name, "method": "GET"}, text=name)
        shown = under(run).select("section", data_run=None)
        assert [each.attributes["aria-label"] for each in shown] == ["Save recipe", "Action"]

    def test_only_the_latest_are_shown(self) -> None:
        run = offering()
        for _ in range(MAX_ACTIONS + 2):
            action(run)
        assert len(under(run).select(class_="child--action")) == MAX_ACTIONS

    def test_a_problem_is_said_with_what_to_do(self) -> None:
        run = offering()
        problem = {"stage": "connect", "state": "failed", "cause": "Nobody listens.",
                   "fix": "Start it.", "detail": "", "limit": None}  # fmt: skip
        action(run, state="failed", problem=problem, outcome="none")
        (card,) = under(run).select(class_="error-card")
        assert card.words.startswith("Nobody listens. Start it.")

    def test_one_that_goes_on_can_be_stopped(self) -> None:
        run = offering()
        fields = {"ended_us": None, "heartbeat_at": timezone.now()}
        child = action(run, state="streaming", **fields)
        (stop,) = under(run).select("button", class_="btn-stop")
        assert stop.attributes["hx-post"] == f"/runs/{child.pk}/cancellation/"
        assert is_followed(run)

    def test_a_task_that_is_worked_on_says_so(self) -> None:
        run = offering()
        url = "http://cook.example/a2a"
        request = {"action": "serve", "protocol": "A2A", "agent_url": url, "url": url,
                   "skill": "serve", "message": "soup", "message_id": "m"}  # fmt: skip
        child = child_of(run, request=request, protocol="action", binding="a2a", url=url)
        card = {"name": "Cook", "url": url, "protocolVersion": "0.3.0", "capabilities": {}}
        child.add(*called("GET", card))
        assert "working" not in under(run).words
        status: dict[str, Any] = {"state": "working"}
        task = {"kind": "task", "id": "t", "contextId": "c", "status": status}
        child.add(*called("POST", {"jsonrpc": "2.0", "id": 1, "result": task}))
        assert "The agent is working on the task." in under(run).words
        status["message"] = {"parts": [{"kind": "text", "text": "Setting <b>it</b>"}]}
        child.add(*called("POST", {"jsonrpc": "2.0", "id": 2, "result": task}))
        assert "Setting <b>it</b>" in under(run).words
        assert "The agent is working on the task." not in under(run).words
        child.end("cancelled")
        assert "Setting" not in under(run).words

    def test_an_empty_response_is_done(self) -> None:
        run = offering()
        request = {"action": "add", "protocol": "HTTP", "method": "DELETE",
                   "url": "http://shop.example/cart", "headers": []}  # fmt: skip
        child_of(run, protocol="action", request=request, url=request["url"]).end()
        assert "Done. The response is empty." in under(run).words


class TestNested:
    def test_actions_of_a_response_stand_under_its_card(self) -> None:
        run = offering()
        child = action(run)
        inner = action(child)
        place = under(run).select(class_="children")[0]
        assert f"children-r{child.pk.hex[:12]}-entry-4-0" == place.attributes["id"]
        assert place.by_id(f"child-{inner.pk}")

    def test_their_buttons_name_the_page(self) -> None:
        run = offering()
        child = action(run)
        url = f"/runs/{child.pk}/actions/4/0/0/"
        assert under(run).select("button", hx_get=f"{url}?page={run.pk}")
        # On its own page there is no other.
        assert part(child).select("button", hx_get=url)

    def test_end_at_a_depth(self) -> None:
        run = offering()
        chain = [run]
        for _ in range(DEPTH + 2):
            chain.append(action(chain[-1]))
        shown = under(run)
        assert [bool(shown.by_id(f"child-{child.pk}")) for child in chain[1:]] == [
            *[True] * (DEPTH + 1), False,
        ]  # fmt: skip

    def test_what_happens_below_is_news_to_the_page(self) -> None:
        run = offering()
        inner = action(action(run), state="streaming", heartbeat_at=timezone.now())
        viewer = Viewer(run)
        viewer.follow()
        assert is_followed(run)
        Run.objects.filter(pk=inner.pk).update(state="completed")
        viewer.follow()
        (shown,) = viewer.page.select(data_run=str(inner.pk))
        assert shown.select(class_="state")[0].attributes["data-state"] == "completed"
        assert not is_followed(run)

    def test_everybody_above_hears_of_it(self) -> None:
        run = offering(kind="ask")
        child = action(run)
        inner = action(child)
        inner.parent.parent  # noqa: B018 - at hand, as after `select_related`
        assert inner.viewer_groups == (inner.group, child.group, run.group)
        inner.refresh_from_db()
        assert Run.objects.get(pk=inner.pk).viewer_groups == (inner.group, child.group)


@given(batches(), st.integers(0, 40))
def test_a_page_is_a_part_of_the_whole(parts: list[list[Frame]], offset: int) -> None:
    run = recorded(parts)
    cards = part(run).by_id("cards")
    assert cards
    whole = [each.plain() for each in cards.children if not isinstance(each, str)]
    page = [each.plain() for each in part(run, "results/", offset=offset).children
            if not isinstance(each, str)]  # fmt: skip
    assert page == whole[offset:]


@given(batches(), st.integers(0, 40))
def test_readings_are_the_same_from_any_frame(parts: list[list[Frame]], after: int) -> None:
    run = recorded(parts)
    assert list(read_events(run, after)) == list(read_events(run))[after:]


@given(batches())
def test_the_stored_counts_are_those_of_the_page(parts: list[list[Frame]]) -> None:
    run = recorded(parts)
    page = part(run)
    above = page.by_id("summaries")
    assert above
    stored = run.frame_batches.values_list("entries", "pinned")
    assert sum(count for _, count in stored) == len(above.find("article")) + len(
        [each for each in above.children if not isinstance(each, str) and each.tag != "article"]
    )
    assert sum(sum(counts) for counts in stored) == len(entries(page))


def test_a_later_page_of_a_flood_reads_little(django_assert_max_num_queries: Any) -> None:
    flood = [[result(n) for n in range(start, start + 50)] for start in range(0, 1000, 50)]
    run = recorded([[CALL, OPEN, HEAD], *flood, [END]])
    with django_assert_max_num_queries(12):
        page = Client().get(f"/runs/{run.pk}/results/?offset=900").text
    assert [f'id="entry-{n + 4}-0"' in page for n in (899, 900, 959, 960)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_metadata_that_opens_an_answer_is_never_passed_over() -> None:
    """Only the first metadata is an event: others would change the numbers of later parts."""
    piece = PIECES[2]
    run = recorded([[CALL, OPEN, HEAD], [event(piece)], [event(piece)], [event(piece)], [END]])
    assert [each.attributes["id"] for each in entries(part(run))] == [
        "entry-4-1", "entry-5-0", "entry-6-0",
    ]  # fmt: skip
    assert [each.attributes["id"] for each in part(run, "results/", offset=2).find("article")] == [
        "entry-6-0"
    ]


def test_summaries_stand_above_and_are_in_no_page() -> None:
    run = recorded([[CALL, OPEN, HEAD], [event(PIECES[7])], [result(0)], [END]])
    assert [each.attributes["id"] for each in part(run, "results/").find("article")] == [
        "entry-5-0"
    ]
    assert "entry-4-0" in ids_of(part(run))


JSON_HEAD = Frame(0, 20, FrameKind.HEAD, HEAD.data.replace(b"text/event-stream", b"a/json"))
#: The first and the last part of a JSON document with two results.
BEGINNING, REST = b'{"results": [{"name": "a"}, {"name": "b", "text": "', b'x"}]}'


def test_a_viewer_gets_a_large_body_when_it_is_complete() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD)
    viewer = Viewer(recording.run, after=0)
    for piece in (BEGINNING, *[b"x" * 64 * 1024] * 24, REST):
        recording.add(Frame(0, 50, FrameKind.BODY, piece))
        assert "<article" not in viewer.follow()
    recording.add(END)
    run = recording.end()
    viewer.follow()
    found = [each.attributes["id"] for each in viewer.cards.find("article")]
    assert found == [f"entry-{run.frames}-0", f"entry-{run.frames}-1"]


def test_a_body_that_was_cut_off_by_a_limit_has_no_entries() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, JSON_HEAD, Frame(0, 50, FrameKind.BODY, BEGINNING))
    problem = Problem("refused", Stage.LIMIT, "Too long.", "", "", "max_bytes")
    recording.add(Frame(0, 90, FrameKind.ERROR, problem.to_bytes()))
    assert entries(part(recording.end("refused"))) == []
