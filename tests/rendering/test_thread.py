"""Child runs below the entries of a thread."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.template.loader import get_template
from django.utils import timezone

from playground.models import PolledPromise, PollingStatus, Run, RunKind
from playground.protocols.frames import Frame, FrameKind
from playground.rendering.entry_runs import anchor_of
from playground.rendering.live import RunUpdates
from playground.rendering.thread import DEPTH, MAX_ACTIONS, Thread, render_entries
from playground.rendering.thread_reader import ThreadReader
from tests.support.action_runs import PLACE, action, offering
from tests.support.markup import read
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, event, recorded

pytestmark = pytest.mark.django_db


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


def under(run: Run, page: Run | None = None) -> str:
    return Thread(page or run).render_children(PLACE)


class TestStopped:
    @pytest.mark.parametrize("events", [0, 2])
    def test_nothing_had_come_is_said_only_where_it_is_so(self, events: int) -> None:
        run = offering()
        child = recorded([[CALL, OPEN, HEAD]], "cancelled")
        action(run)
        Run.objects.filter(pk=child.pk).update(
            parent=run, kind=RunKind.ACTION, parent_entry_seq=4, parent_entry_part=0, events=events
        )
        text = " ".join(read(under(run)).text.split())
        assert ("Nothing received." in text) == (events == 0)

    @pytest.mark.parametrize(("binding", "is_shown"), [("http", False), ("mcp", True)])
    def test_a_server_may_work_on(self, binding: str, is_shown: bool) -> None:
        run = offering()
        child = recorded([[CALL, OPEN, HEAD]], "cancelled")
        Run.objects.filter(pk=child.pk).update(
            parent=run,
            kind=RunKind.ACTION,
            parent_entry_seq=4,
            parent_entry_part=0,
            binding=binding,
        )
        assert ("The server may still continue" in under(run)) == is_shown
        child.refresh_from_db()
        ending = get_template("runs/ending.html").render({"run": child})
        assert ("The server may still continue" in ending) == is_shown


class TestCards:
    def test_only_those_with_actions_have_buttons_and_room_for_what_comes(self) -> None:
        plain, offered = offering({"name": "Soup"}), offering()
        html = [
            render_entries(ThreadReader(run).page(0, 9), Thread(run))[0] for run in (plain, offered)
        ]
        ids = [[e.attributes.get("id") for e in read(text).elements] for text in html]
        assert "children-entry-4-0" not in ids[0]
        assert {"children-entry-4-0", "action-panel-entry-4-0", "entry-4-0-action-0"} <= set(ids[1])

    def test_a_reply_is_json_unless_it_says_what_it_is(self) -> None:
        data, thing = {"saved": True}, {"@type": "ItemList", "name": "Cart"}
        for item, tag in ((data, "pre"), (thing, "h3")):
            run = offering(item)
            entries = ThreadReader(run).page(0, 9)
            run.protocol = "action"
            (html,) = render_entries(entries, Thread(run))
            assert read(html).find(tag), item


class TestActions:
    def test_stand_under_their_card_the_newest_open(self) -> None:
        run = offering()
        runs = [action(run) for _ in range(3)]
        markup = read(under(run))
        assert [e.attributes["data-run"] for e in markup.find("details")] == [
            str(child.pk) for child in runs[:2]
        ]
        assert [e.attributes["data-run"] for e in markup.find("section")
                if "data-run" in e.attributes] == [str(runs[2].pk)]  # fmt: skip

    def test_each_says_which_it_is(self) -> None:
        run = offering()
        for name in ("save_recipe", ""):
            action(run, request={"action": name, "method": "GET"}, text=name)
        markup = read(under(run))
        assert "Save recipe" in markup.text
        assert [e.attributes["aria-label"] for e in markup.find("section")
                if "data-run" in e.attributes] == ["Save recipe", "Action"]  # fmt: skip

    def test_another_action_puts_none_away(self) -> None:
        run = offering()
        action(run)
        action(run, request={"action": "other", "method": "GET", "url": "http://a.example"})
        assert not read(under(run)).find("details")

    def test_only_the_latest_are_shown(self) -> None:
        run = offering()
        for _ in range(MAX_ACTIONS + 2):
            action(run)
        assert under(run).count('class="child ') == MAX_ACTIONS

    def test_a_problem_is_said_with_what_to_do(self) -> None:
        run = offering()
        problem = {"stage": "connect", "state": "failed", "cause": "Nobody listens.",
                   "fix": "Start it.", "detail": "", "limit": None}  # fmt: skip
        action(run, state="failed", problem=problem, outcome="none")
        text = read(under(run)).text
        assert "Nobody listens." in text
        assert "Start it." in text

    def test_one_that_goes_on_can_be_stopped(self) -> None:
        run = offering()
        child = action(run, state="streaming", ended_us=None)
        assert f"/runs/{child.pk}/cancellation/" in under(run)
        assert not Thread(run).is_settled

    def test_a_task_that_is_worked_on_says_so(self) -> None:
        run = offering()
        url = "http://cook.example/a2a"
        request = {"action": "serve", "protocol": "A2A", "agent_url": url, "url": url,
                   "skill": "serve", "message": "soup", "message_id": "m"}  # fmt: skip
        child = Recording(parent=run, kind="action", parent_entry_seq=4, parent_entry_part=0,
                          request=request, protocol="action", binding="a2a", url=url)  # fmt: skip
        card = {"name": "Cook", "url": url, "protocolVersion": "0.3.0", "capabilities": {}}
        child.add(*called("GET", card))
        assert "working" not in under(run)
        status: dict[str, Any] = {"state": "working"}
        task = {"kind": "task", "id": "t", "contextId": "c", "status": status}
        child.add(*called("POST", {"jsonrpc": "2.0", "id": 1, "result": task}))
        assert "The agent is working on the task." in under(run)
        status["message"] = {"parts": [{"kind": "text", "text": "Setting <b>it</b>"}]}
        child.add(*called("POST", {"jsonrpc": "2.0", "id": 2, "result": task}))
        assert "Setting &lt;b&gt;it&lt;/b&gt;" in under(run)
        assert "The agent is working on the task." not in under(run)
        child.end("cancelled")
        assert "Setting" not in under(run)

    def test_an_empty_reply_is_done(self) -> None:
        run = offering()
        request = {"action": "add", "protocol": "HTTP", "method": "DELETE",
                   "url": "http://shop.example/cart", "headers": []}  # fmt: skip
        child = Recording(parent=run, kind="action", parent_entry_seq=4, parent_entry_part=0,
                          protocol="action", request=request, url=request["url"])  # fmt: skip
        child.end()
        assert "The response is empty" in read(under(run)).text


class TestNested:
    def test_actions_of_a_reply_stand_under_its_card(self) -> None:
        run = offering()
        child = action(run)
        inner = action(child)
        ids = {e.attributes.get("id") for e in read(under(run)).elements}
        assert f"children-{anchor_of(child, PLACE, run)}" in ids
        assert f"child-{inner.pk}" in ids

    def test_their_buttons_name_the_page(self) -> None:
        run = offering()
        child = action(run)
        html = under(run)
        assert f"/runs/{child.pk}/actions/4/0/0/?page={run.pk}" in html
        # On its own page there is no other.
        (own,) = render_entries(ThreadReader(child).page(0, 9), Thread(child))
        assert "?page=" not in own

    def test_ends_at_a_depth(self) -> None:
        run = offering()
        chain = [run]
        for _ in range(DEPTH + 2):
            chain.append(action(chain[-1]))
        html = under(run)
        assert [f"child-{child.pk}" in html for child in chain[1:]] == [True] * (DEPTH + 1) + [
            False
        ]

    def test_what_happens_below_is_news_to_the_page(self) -> None:
        run = offering()
        inner = action(action(run), state="streaming")
        before = Thread(run)
        assert not before.is_settled
        Run.objects.filter(pk=inner.pk).update(state="completed")
        after = Thread(run)
        assert after.is_settled
        assert before.stamps()[PLACE] != after.stamps()[PLACE]

    def test_everybody_above_hears_of_it(self) -> None:
        run = offering(kind="ask")
        child = action(run)
        inner = action(child)
        inner.parent.parent  # noqa: B018 - at hand, as after `select_related`
        assert inner.viewer_groups == (inner.group, child.group, run.group)
        inner.refresh_from_db()
        assert Run.objects.get(pk=inner.pk).viewer_groups == (inner.group, child.group)


class TestPromise:
    @pytest.fixture
    def run(self) -> Run:
        data = {"token": "t", "message": "<b>Soon</b>", "progress": 0.5}
        promise = {"_meta": {"response_type": "promise", "version": "0.55"}, "promise": data}
        found = recorded([[CALL, OPEN, HEAD, event(f"data: {json.dumps(promise)}"), END]])
        (entry,) = ThreadReader(found).page(0, 9)
        promise = PolledPromise(
            run=found, entry_seq=entry.seq, entry_part=entry.part, token="t", polling_seconds=60
        )
        promise.updates = [{"at": 0, "progress": 0.5, "message": "<b>Soon</b>",
                            "estimated_time": 9}]  # fmt: skip
        promise.save()
        return found

    def page(self, run: Run) -> str:
        (html,) = render_entries(ThreadReader(run).page(0, 9), Thread(run))
        return html

    def test_is_shown_as_it_is(self, run: Run) -> None:
        html = self.page(run)
        markup = read(html)
        assert "<b>" not in html
        assert markup.find("progress")[-1].attributes["value"] == "50"
        for word in ("Polling", "Check now", "Cancel the task", "Stop polling"):
            assert word in markup.text
        assert not Thread(run).is_settled

    def test_what_became_of_it_waits_for_its_card(self, run: Run) -> None:
        """It is stored after the run was read, and before its child runs are."""
        promise = PolledPromise.objects.get()
        view = RunUpdates(run.pk, 0)
        Run.objects.update(frames=promise.entry_seq - 1, state="streaming")
        early = view.advance()
        assert early is not None
        assert "children-entry" not in early.html
        Run.objects.update(frames=run.frames, state="completed")
        late = view.advance()
        assert late is not None
        name = f'id="children-entry-{promise.entry_seq}-{promise.entry_part}"'
        card, own = late.html.index(name), late.html.rindex(name)
        assert card < own
        assert "hx-swap-oob" in late.html[own : own + 120]

    def test_nothing_can_be_done_about_what_is_settled(self, run: Run) -> None:
        PolledPromise.objects.update(
            status=PollingStatus.FAILED, ended_at=timezone.now(), status_message="So."
        )
        text = read(self.page(run)).text
        assert "So." in text
        assert "Check now" not in text
        assert Thread(run).is_settled

    def test_a_claim_and_a_cancellation_are_under_way(self, run: Run) -> None:
        until = timezone.now() + timedelta(seconds=9)
        PolledPromise.objects.update(status="paused", leased_until=until)
        assert not Thread(run).is_settled
        PolledPromise.objects.update(leased_until=None, cancel_requested=True)
        assert not Thread(run).is_settled
        PolledPromise.objects.update(cancel_requested=False)
        assert Thread(run).is_settled

    def test_its_answer_has_its_own_cards_and_actions(self, run: Run) -> None:
        promise = PolledPromise.objects.get()
        place = {"parent_entry_seq": promise.entry_seq, "parent_entry_part": promise.entry_part}
        answer = action(run, kind=RunKind.POLL, **place)
        PolledPromise.objects.update(
            status="fulfilled", final_run=answer, polls=1, ended_at=timezone.now()
        )
        inner = action(answer)
        html = self.page(run)
        assert "Answer" in read(html).text
        assert f"/runs/{answer.pk}/actions/4/0/0/?page={run.pk}" in html
        assert f"child-{inner.pk}" in html

    def test_a_cancelled_task_shows_no_failure(self, run: Run) -> None:
        answer = action(run, kind=RunKind.CANCEL)
        PolledPromise.objects.update(status="cancelled", final_run=answer, ended_at=timezone.now())
        assert "Soup" not in read(self.page(run)).text
