"""What readers of a share are sent: all of a run, and nothing that only its owner may do or see."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from playground.models import Agent, PolledPromise, PollingStatus, Run, RunKind, Share
from playground.protocols import sse
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.problems import Problem, Stage
from tests.support.action_runs import action, offering
from tests.support.elicitations import elicitation_run, turn
from tests.support.markup import one_line, read
from tests.support.messages import a_call, an_output, message, piece, recording, response
from tests.support.replay import CAPTURES
from tests.support.run_page import Viewer, shared
from tests.support.stored_runs import CALL, END, HEAD, OPEN, PIECES, Recording, event, result

pytestmark = pytest.mark.django_db

#: What only the page of an owner has.
OWNERS = re.compile(
    r"hx-(?:get|post|put|patch|delete|include)|<(?:form|input|textarea|select|button)\b|csrf|"
    r"<(?:answer-form|raw-json)\b|data-(?:action|again|command)\b|/(?:runs|agents|history)/"
)
#: The only buttons on the page of a share: all metrics, and the toggle of the theme beside <main>.
_METRICS = re.compile(r'<button type="button" class="stats-more" [^>]*>Details</button>')
_PROTOCOLS = {
    "ask_agent": {},
    "nlweb": {},
    "mcp": {"binding": "mcp"},
    "agentscope": {"protocol": "agent-api", "version": "1"},
    "a2a": {
        "protocol": "action",
        "binding": "a2a",
        "request": {
            "action": "plan",
            "protocol": "A2A",
            "url": "http://agent.example/a2a",
            "agent_url": "http://agent.example/a2a",
            "message_id": "1",
            "skill": "plan",
            "message": {},
        },
    },
}
RESPONSES = sorted(path for path in CAPTURES.glob("*/*.txt") if not path.name.endswith(".req.txt"))


def messages(run: Run) -> str:
    """Return all messages to a reader of the run as it is now."""
    return Viewer(run, after=0, readonly=True).follow()


def frames_of(path: Path) -> list[Frame]:
    """Return the frames of a captured response."""
    head, _, body = path.read_bytes().partition(b"\r\n\r\n")
    frames = [CALL, OPEN, Frame(0, 20, FrameKind.HEAD, head + b"\r\n\r\n")]
    if b"event-stream" not in head.lower():
        return [*frames, Frame(0, 60, FrameKind.BODY, body), END]
    splitter = sse.Splitter()
    blocks = [block for block in splitter.feed(body) if not block.is_comment]
    return [*frames, *(Frame(0, 50, FrameKind.EVENT, block.data) for block in blocks), END]


def followed(made: Recording, frames: list[Frame], state: str = "completed") -> str:
    """Return all messages to a reader who has followed the run frame by frame."""
    viewer = Viewer(made.run, after=0, readonly=True)
    sent = ""
    for frame in frames:
        made.add(frame)
        sent += viewer.follow()
    made.end(state)
    return sent + viewer.follow()


def assert_for_readers(run: Run, sent: str) -> None:
    """Assert that messages and the page of a share have nothing of the owner."""
    assert not OWNERS.search(sent)
    share = Share.objects.create(run=run)
    assert share.token not in sent
    read(sent)
    url = share.get_absolute_url()
    page = one_line(Client().get(url))
    main = page[page.index("<main") : page.index("</main>")]
    assert not OWNERS.search(_METRICS.sub("", main))
    read(main + "</main>")
    part = one_line(Client().get(f"{url}?part=details"))
    assert not OWNERS.search(part)


def an_agent(**fields: Any) -> Agent:
    return Agent.objects.create(name="Cook", url="http://agent.example/ask", **fields)


class TestNothingOfTheOwner:
    def test_which_the_owner_is_sent(self) -> None:
        run = elicitation_run(an_agent())
        found = {match[0] for match in OWNERS.finditer(Viewer(run, after=0).follow())}
        assert {"hx-post", "<form", "<button", "/runs/"} <= found

    @pytest.mark.parametrize("path", RESPONSES, ids=lambda path: f"{path.parent.name}-{path.stem}")
    def test_in_captures(self, path: Path) -> None:
        made = Recording(**_PROTOCOLS[path.parent.name], agent=an_agent())
        assert_for_readers(made.run, followed(made, frames_of(path)))

    @pytest.mark.parametrize(
        "state", ["completed", "truncated", "failed", "refused", "cancelled", "interrupted"]
    )
    def test_in_all_events_however_they_end(self, state: str) -> None:
        made = Recording(agent=an_agent())
        sent = followed(made, [CALL, OPEN, HEAD, *map(event, PIECES), END], state)
        assert "All of it" in sent
        assert_for_readers(made.run, sent)

    def test_in_questions_and_their_answers(self) -> None:
        agent = an_agent()
        run = elicitation_run(agent)
        turn(agent, run, kind=RunKind.ANSWER, parent_entry_seq=4, parent_entry_part=0)
        sent = messages(run)
        assert "Which sauce?" in sent
        assert_for_readers(run, sent)

    def test_in_a_question_during_the_call(self) -> None:
        made = Recording(agent=an_agent(), binding="mcp")
        question = event(
            'data: {"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create",'
            ' "params": {"message": "For whom?", "requestedSchema": {"properties": {}}}}'
        )
        call = Frame(0, 0, FrameKind.CALL, b"POST /mcp HTTP/1.1\r\n\r\n"
                     b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}')  # fmt: skip
        sent = followed(made, [call, OPEN, HEAD, question], "cancelled")
        assert "For whom?" in sent
        assert_for_readers(made.run, sent)

    @pytest.mark.parametrize("kind", ["function_call", "mcp_approval_request"])
    def test_in_tool_calls(self, kind: str) -> None:
        made = recording(agent=an_agent(protocol="agent-api"))
        frames = [CALL, OPEN, HEAD, response("created"), *a_call(kind=kind), *a_call("m3", "c3")]
        frames += [*an_output("m4", "c3"), message("m2"), piece("m2", "Wait"), END]
        sent = followed(made, frames)
        assert "look_up" in sent
        assert_for_readers(made.run, sent)

    def test_in_a_text_beyond_the_limit(self) -> None:
        made = recording()
        pieces = [piece("m1", "a" * 19_990), piece("m1", "b" * 20)]
        sent = followed(made, [CALL, OPEN, HEAD, message("m1"), *pieces])
        assert "The first 20,000 of 20,010 characters" in " ".join(sent.split())
        assert_for_readers(made.run, sent)

    def test_in_a_promise_and_its_answer(self) -> None:
        made = Recording(agent=an_agent())
        promise = event('event: promise\ndata: {"token": "t", "estimated_time": 60}')
        viewer = Viewer(made.run, after=0, readonly=True)
        made.add(CALL, OPEN, HEAD, promise, END)
        made.end()
        sent = viewer.follow()
        polled = PolledPromise.objects.create(
            run=made.run, entry_seq=4, token="t", polling_seconds=60, status="polling",
            updates=[{"at": 1.0, "progress": 0.4, "message": "Chopping", "estimated_time": None}],
        )  # fmt: skip
        poll = Recording(agent=made.run.agent)
        child = {"parent": made.run, "kind": RunKind.POLL}
        Run.objects.filter(pk=poll.run.pk).update(**child, parent_entry_seq=4, parent_entry_part=0)
        update = viewer.follow()
        assert "Chopping" in update
        assert 'id="children-entry-4-0"' in update
        poll.add(CALL, OPEN, HEAD, result(7), END)
        poll.end()
        polled.status, polled.final_run = PollingStatus.FULFILLED, poll.run
        polled.save()
        last = viewer.follow()
        assert "Dish 7" in last
        assert "data-settled" in last
        assert_for_readers(made.run, sent + update + last)

    def test_in_actions_and_their_responses(self) -> None:
        run = offering()
        viewer = Viewer(run, after=0, readonly=True)
        sent = viewer.follow()
        assert 'id="children-entry-4-0"' in sent
        child = action(run, url="http://shop.example/cart?key=canary&dish=soup")
        action(child)
        update = viewer.follow()
        assert "Soup" in update
        assert "http://shop.example/cart?" in update
        assert "canary" not in update
        assert_for_readers(run, sent + update)

    @pytest.mark.parametrize("status", [301, 401, 404, 500])
    def test_in_errors(self, status: int) -> None:
        made = Recording(agent=an_agent())
        head = f"HTTP/1.1 {status} No\r\nLocation: http://other.example/\r\n\r\n".encode()
        frames = [CALL, OPEN, Frame(0, 20, FrameKind.HEAD, head), END]
        sent = followed(made, frames)
        assert_for_readers(made.run, sent)


class TestEnding:
    def test_a_problem_is_announced(self) -> None:
        made = Recording(state="failed")
        problem = Problem("failed", Stage.CONNECT, "Connection refused", "Start it.")
        Run.objects.filter(pk=made.run.pk).update(problem=problem.to_json())
        sent = messages(made.run)
        assert "innerHTML:#run-ending" in sent
        assert "Connection refused" in sent
        assert "Start it." not in sent

    def test_a_response_without_results(self) -> None:
        made = Recording()
        sent = followed(made, [CALL, OPEN, HEAD, END])
        assert "No results." in sent

    @pytest.mark.parametrize("count", [60, 61])
    def test_more_results_are_on_another_page(self, count: int) -> None:
        made = Recording()
        sent = followed(made, [CALL, OPEN, HEAD, *map(result, range(count)), END])
        assert len(re.findall(r'<article class="card"', sent)) == 60
        assert ('href="?results=60#share-results"' in sent) == (count == 61)


@pytest.mark.parametrize("seen", range(1, 10))
def test_page_and_messages_together_are_the_page_at_the_end(seen: int) -> None:
    frames = [CALL, OPEN, HEAD, *map(result, range(3)), event(PIECES[7]), result(3), END]
    made = Recording()
    made.add(*frames[:seen])
    viewer = Viewer(made.run, readonly=True)
    if frames[seen:]:
        made.add(*frames[seen:])
    made.end()
    viewer.follow()
    after = shared(made.run)
    assert not after.find("run-cursor")
    for name in ("cards", "summaries"):
        found, wanted = viewer.page.by_id(name), after.by_id(name)
        assert found
        assert wanted
        assert found.plain()[2] == wanted.plain()[2]  # type: ignore[index]


def test_children_have_the_place_that_is_replaced() -> None:
    """In the same element on the page and in the message."""
    run = offering(state="streaming")
    Run.objects.filter(pk=run.pk).update(state="streaming")
    viewer = Viewer(run, readonly=True)
    child = action(run)
    viewer.follow()
    place = viewer.page.by_id("children-entry-4-0")
    assert place
    assert "Soup" in place.words
    assert child.text in place.words
