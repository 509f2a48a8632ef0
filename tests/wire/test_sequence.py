"""Sequence diagram of a conversation: its turns, lanes and messages as Mermaid, tab and SVG."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Agent, Run, RunKind
from playground.protocols.frames import Frame, FrameKind
from playground.protocols.mcp import elicitation
from playground.protocols.problems import Problem, Stage
from tests.demo.conftest import Clock, clock, corpus, whole_corpus
from tests.support.action_runs import action, offering
from tests.support.demo_conversations import BEGIN, CONVERSATIONS
from tests.support.elicitations import turn
from tests.support.markup import Element, read
from tests.support.run_page import replied, result_of, streamed
from tests.support.stored_runs import CALL, END, HEAD, OPEN, PIECES, Recording, event, result
from tests.views.conftest import run

__all__ = ["clock", "corpus", "run", "whole_corpus"]

pytestmark = pytest.mark.django_db

#: The expected texts. To write them anew, delete them and run this test twice.
EXPECTED = Path(__file__).parent / "diagrams"
#: What a text consists of, by the lexer of Mermaid 11: no line breaks, and these only as codes.
TEXT = r"(?:[^#;%<>&$ﬂ¶\r\n]|#\d+;)+"
KEY = r"(?:user|playground|server\d+)"
LINE = re.compile(
    rf"sequenceDiagram"
    rf"|    (?:actor|participant) {KEY} as {TEXT}(?:<br/>{TEXT})?"
    rf"|    rect rgba\(128, 128, 160, 0\.12\)"
    rf"|    end"
    rf"|    Note over {KEY},{KEY}: {TEXT}"
    rf"|    {KEY}(?:->>|-->>|-x|--x){KEY}: {TEXT}"
)
#: Most child runs of a turn, and most lanes, before the one of all other servers.
MAX_CHILDREN, MAX_LANES = 12, 8


def unescape(text: str) -> str:
    """Return what Mermaid shows of an escaped text."""
    return re.sub(r"#(\d+);", lambda found: chr(int(found[1])), text)


def diagram(run: Run, query: str = "") -> str:
    """Return the file, whose lines are checked by their grammar, and whose blocks are closed."""
    response = Client().get(f"/runs/{run.pk}/sequence.mmd{query}")
    assert response.status_code == 200
    text = response.content.decode()
    assert text.endswith("\n")
    found = text[:-1].split("\n")
    assert found[0] == "sequenceDiagram"
    for line in found:
        assert LINE.fullmatch(line), line
        assert len(unescape(line)) < 400
    blocks = [line.split()[0] for line in found if line.split()[0] in ("rect", "end")]
    assert blocks == ["rect", "end"] * (len(blocks) // 2)
    return text


def messages(run: Run) -> list[str]:
    """Return the messages and notes of the last turn, with the agent on the right."""
    last = diagram(run).rpartition("    rect ")[2].split("\n")[2:-2]
    found = []
    for line in map(unescape, last):
        text = line.strip()
        note = re.fullmatch(r"Note over \w+,\w+: (.*)", text)
        text = f"note {note[1]}" if note else text
        text = re.sub(r"^playground-->>user: ", "user ← ", text)
        text = re.sub(r"^user->>playground: ", "user → ", text)
        text = re.sub(r"^playground->>\w+: ", "→ ", text)
        text = re.sub(r"^\w+--(x|>>)playground: ", lambda m: "← ! " if m[1] == "x" else "← ", text)
        found.append(re.sub(r" \(\d[\d. a-z]*\)$", "", text))
    return found


@pytest.mark.django_db(transaction=True, reset_sequences=True)
@pytest.mark.usefixtures("corpus")
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_conversations_with_the_demo(name: str, clock: Clock) -> None:
    """The texts have keys of rows."""
    text = diagram(CONVERSATIONS[name](clock))
    path = EXPECTED / f"{name}.mmd"
    if not path.exists():
        path.write_text(text)
        pytest.fail(f"{path.name} did not exist and was written.")
    assert text == path.read_text()


COMMENT = Frame(0, 50, FrameKind.COMMENT, b": here\n\n")
TEXT_EVENT = 'event: content\ndata: {"type": "text", "text": "Hello"}'
FAILURE = 'event: error\ndata: {"error": {"code": "TIMEOUT", "message": "Too late"}}'
COMPLETE = 'event: complete\ndata: {"_meta": {"response_type": "answer"}}'
CUT = Frame(0, 50, FrameKind.TAIL, b'event: result\ndata: {"item": "half')
META = {"_meta": {"response_type": "answer"}}
SENT = ["user → Send: eggs", "→ POST /ask: eggs"]
STREAM = [*SENT, "← 200 OK, event stream"]


def broken(cause: str) -> Frame:
    return Frame(0, 50, FrameKind.ERROR, Problem("failed", Stage.CONNECT, cause, "").to_bytes())


def document(value: Any, status: int = 200) -> Run:
    body = value if isinstance(value, bytes) else json.dumps(value)
    return replied(body, status, "Content-Type: application/json")


STREAMS: dict[str, tuple[list[Frame | str], list[str]]] = {
    "results": ([result(0), result(1), result(2), COMPLETE],
                [*STREAM, "← 3 result events: 0.0 ms", "← completed"]),
    "one result": ([result(0)], [*STREAM, "← result: Recipe · Dish 0"]),
    "heartbeats": ([COMMENT, COMMENT], [*STREAM, "← 2 comments: 0.0 ms"]),
    "a failure between results": (
        [result(0), FAILURE, result(1), COMPLETE],
        [*STREAM, "← result: Recipe · Dish 0", "← failure: TIMEOUT · Too late",
         "← result: Recipe · Dish 1", "← completed"],
    ),
    "an incomplete event": (
        [result(0), CUT],
        [*STREAM, "← result: Recipe · Dish 0",
         "← ! unknown: result · The stream ended in the middle of this event."],
    ),
    "a connection that breaks": (
        [result(0), broken("Connection reset.")],
        [*STREAM, "← result: Recipe · Dish 0", "← ! error: Connection reset."],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMS)
def test_streams(name: str) -> None:
    frames, expected = STREAMS[name]
    assert messages(streamed(*frames))[:-1] == expected


@pytest.mark.parametrize(
    ("value", "status", "line"),
    [
        ({**META, "results": [{"name": "A"}, {"name": "B"}]}, 200, "200 OK: 2 result events"),
        ({"_meta": {"response_type": "elicitation"},
          "elicitation": {"text": "For whom?", "questions": []}}, 200,
         "200 OK: elicitation: For whom?"),
        ({"_meta": {"response_type": "promise"}, "promise": {"token": "t", "message": "Later"}},
         202, "202 Accepted: promise: Later"),
        (b"<html>", 502, "502 Bad Gateway: unknown: application/json · The response is an HTML "
                         "page, not JSON."),
        (b"", 200, "200 OK"),
    ],
    ids=["results", "elicitation", "promise", "html", "nothing"],
)  # fmt: skip
def test_documents(value: Any, status: int, line: str) -> None:
    assert messages(document(value, status))[:3] == [*SENT, f"← {line}"]


def test_kinds_that_alternate_are_one_message() -> None:
    found = messages(streamed(*[result_of("a"), TEXT_EVENT] * 400, FAILURE, TEXT_EVENT, COMPLETE))
    assert len(found) < 20
    (rest,) = (line for line in found if re.match(r"← \d+ more events: ", line))
    assert re.search(r": (\d+) result events, \1 text events", rest)
    assert "← failure: TIMEOUT · Too late" in found
    assert found[-2] == "← completed"


@given(
    st.lists(
        st.sampled_from([*map(event, PIECES), COMMENT, CALL, HEAD, OPEN, CUT, END, broken("No."),
                         Frame(0, 0, FrameKind.BODY, b"{}")]),
        max_size=100,
    ),
    st.sampled_from([10, 2_500_000]),
)  # fmt: skip
def test_any_frames_are_few_messages(frames: list[Frame], every_us: int) -> None:
    recording = Recording()
    timed = [Frame(0, n * every_us, each.kind, each.data) for n, each in enumerate(frames)]
    if timed:
        recording.add(*timed)
    assert len(messages(recording.end())) < 50


class TestTurns:
    def test_the_newest_are_shown_and_others_by_window(self) -> None:
        run = turn(None, text="1")
        while run.text != "25":
            run = turn(None, run, text=str(int(run.text) + 1))
        for query, first, last in (("", 16, 25), ("?until=15", 6, 15), ("?until=5", 1, 10),
                                   (f"?until={10**8}", 16, 25)):  # fmt: skip
            numbers = re.findall(r": Turn (\d+): \1\n", diagram(run, query))
            assert numbers == [str(n) for n in range(first, last + 1)], query

    def test_of_many_only_those_of_the_window_are_read(self) -> None:
        run = turn(None)
        for _ in range(49):
            run = turn(None, run)
        url = f"/runs/{run.pk}/sequence.mmd"
        with CaptureQueriesContext(connection) as first:
            Client().get(url)
        with CaptureQueriesContext(connection) as again:
            Client().get(url)
        # The second time their frames are in memory.
        assert len(again) + 10 == len(first) <= 18


def test_an_agent_has_one_lane_and_a_second_one_another() -> None:
    agent = Agent.objects.create(name="Recipes", url="http://agent.example/ask")
    one = turn(agent, text="1")
    other = turn(None, one, agent_name="Other", url="http://other.example")
    third = turn(None, other)
    agent.delete()
    for number in range(MAX_CHILDREN):
        action(third, url=f"http://user:secret@shop{number}.example/cart?key=secret")
    found = re.findall(r" (?:actor|participant) \w+ as ([^\n]*)", diagram(third))
    names = [unescape(each.partition("<br/>")[0]) for each in found]
    assert names[:5] == ["User", "Playground", "Recipes", "Other", "shop0.example/cart"]
    assert (names[-1], len(names)) == ("Other servers", MAX_LANES + 1)
    assert "secret" not in diagram(third)


class TestChildRuns:
    def test_more_actions_than_are_shown(self) -> None:
        run = offering()
        for _ in range(53):
            action(run, started_at=run.created_at + timedelta(seconds=1))
        found = messages(run)
        (left_out,) = (line for line in found if line.startswith("note"))
        hidden = re.fullmatch(r"note (\d+) earlier polls and actions are not shown", left_out)
        assert hidden
        assert sum(line.startswith("user → Run action") for line in found) == 53 - int(hidden[1])

    def test_actions_of_actions(self) -> None:
        run = offering()
        inner = action(action(action(run)))
        assert messages(run).count("user → Run action: add") == 3
        # The page of a child run shows its turn.
        assert diagram(inner) == diagram(run)

    def test_a_poll_that_failed(self) -> None:
        run = offering(started_at=BEGIN)
        problem = {"cause": "No route.", "stage": "connect"}
        fields = {"kind": RunKind.POLL, "state": "failed", "problem": problem}
        action(run, started_at=BEGIN + timedelta(minutes=5), **fields)
        found = messages(run)
        assert found[-1] == "user ← Connection failed: No route."
        assert "note 5 min later" in found

    def test_an_answer_to_a_server_in_mid_call(self) -> None:
        run = offering(started_at=BEGIN)
        fields = {"kind": RunKind.CLIENT_RESPONSE, "answers": {"diet": "vegan"}}
        action(run, started_at=BEGIN, **fields)
        assert "user → Answer: diet: vegan" in messages(run)
        Run.objects.filter(kind=RunKind.CLIENT_RESPONSE).update(answers=None)
        assert not any("Answer" in line for line in messages(run))


class TestStates:
    @pytest.mark.parametrize(
        ("state", "problem", "last"),
        [
            ("cancelled", None, "Cancelled"),
            ("interrupted", None, "Interrupted"),
            ("truncated", None, "Truncated"),
            ("failed", {"cause": "No route.", "stage": "connect"}, "Connection failed: No route."),
            ("refused", {"cause": "A private address.", "stage": "policy"},
             "Not allowed: A private address."),
        ],
    )  # fmt: skip
    def test_ends(self, state: str, problem: Any, last: str) -> None:
        recording = Recording(problem=problem)
        recording.add(CALL)
        found = messages(recording.end(state))
        assert found[-1] == f"user ← {last}"
        assert ("user → Stop" in found) == (state == "cancelled")

    def test_a_run_in_progress_grows(self) -> None:
        assert messages(Recording(state="queued").run) == [SENT[0], "note Queued"]
        recording = Recording(state="streaming")
        recording.add(CALL, OPEN, HEAD)
        assert messages(recording.run)[-1] == "note Waiting for the first event"
        recording.add(result(0), result(1))
        assert messages(recording.run)[-2:] == ["← 2 result events: 0.0 ms", "note Streaming"]
        recording.add(result(2), END)
        assert "← 3 result events: 0.0 ms" in messages(recording.end())

    def test_recordings_and_collection_runs(self) -> None:
        found = messages(offering(source="recording"))
        assert found[:2] == ["note Recording: nothing was sent", "user → Request: eggs"]
        assert messages(offering(source="collection"))[0] == "user → Collection run: eggs"

    def test_an_unknown_protocol(self) -> None:
        run = streamed(result_of({"name": "Soup"}))
        Run.objects.filter(pk=run.pk).update(protocol="gone", version="9")
        found = messages(run)
        assert found[:-1] == [
            "user → Send: eggs", "→ POST /ask: eggs", "← 200 OK, event stream",
            "← result: untyped · Soup",
        ]  # fmt: skip
        assert found[-1].startswith("user ← Completed")
        # It was read as NLWeb, which it does not claim to be.
        assert "scripted<br/>9 over HTTP" in diagram(run)
        assert "NLWeb" not in diagram(run)

    def test_a_question_that_was_declined(self) -> None:
        asked = turn(None)
        resume = {"inputResponses": {"x": {"action": elicitation.DECLINE}}}
        run = turn(None, asked, kind=RunKind.ANSWER, resume=resume)
        assert messages(run)[0] == "user → Answer: Decline"


#: A text, and how it is written.
TEXTS = [
    ("plain: text, 5 min", "plain: text, 5 min"),
    ("a;b #1", "a#59;b #35;1"),
    ("%%{init: {}}%%", "#37;#37;{init: {}}#37;#37;"),
    ("<br/>&amp;", "#60;br/#62;#38;amp#59;"),
    ("$$x$$", "#36;#36;x#36;#36;"),
    ("wrap: x", "wrap#58; x"),
    (":NoWrap:x", ":NoWrap#58;x"),
    ("end", "end"),
    (" two\r\n\r\nlines\t ", "two lines"),
    ("a\x1b[31mb\x85c\u2028d", "a [31mb c d"),
    ("\u202eevil\u202c \u2066x\u2069\u200f", "evil x"),
    ("שלום 👩\u200d🍳", "שלום 👩\u200d🍳"),
    ("x" * 500, f"{'x' * 79}…"),
]


@pytest.mark.parametrize(("text", "written"), TEXTS)
def test_texts_are_lines_that_no_part_of_leaves_its_place(text: str, written: str) -> None:
    run = streamed(agent_name=text[:80] if len(text) < 80 else text[:200])
    found = re.search(r"participant server1 as (.*)<br/>", diagram(run))
    assert found
    assert found[1] == written or len(text) >= 80


_PIECES = [*"ab ;#%<>{}[]()\"'`$:,@|\\/-+ﬂ°¶ß\n\t", "end", "wrap:", "%%", "->>", "Note over"]
_texts = st.text(
    st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=80
) | st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


@given(_texts, _texts)
def test_any_text_is_one_line(text: str, other: str) -> None:
    question = json.dumps({"text": other, "questions": []})
    run = streamed(f"event: elicitation\ndata: {question}", text=text, agent_name=text[:80])
    assert len(diagram(run).split("\n")) == 13


def test_a_flood_is_read_once() -> None:
    recording = Recording()
    recording.add(CALL, OPEN, HEAD)
    for start in range(0, 10_000, 5_000):
        recording.add(*[result(number) for number in range(start, start + 5_000)])
    run = recording.end()
    assert "← 10,000 result events: 0.0 ms" in messages(run)
    run.frame_batches.all().delete()
    assert "← 10,000 result events: 0.0 ms" in messages(run)


# The tab, and the SVG file

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "</title><script>alert(1)</script>\x00 \u202e&amp; {{ 7 }}" + "x" * 400


def hostile_run() -> Run:
    recording = Recording(text=HOSTILE.replace("\x00", ""), agent_name="<b>&" * 10)
    data = event('event: elicitation\ndata: {"text": "<img src=x>\\u0000", "questions": []}')
    recording.add(CALL, OPEN, HEAD, data)
    return recording.end("truncated")


def tab(client: Client, run: Run, **query: str) -> Element:
    response = client.get(f"/runs/{run.pk}/sequence/", query)
    assert response.status_code == 200
    return read(response.content.decode())


def links(markup: Element) -> list[dict[str, str | None]]:
    return [each.attributes for each in markup.find("a") if "data-target-run" in each.attributes]


def test_the_tab_is_loaded_by_itself(client: Client, run: Run) -> None:
    page = client.get(run.get_absolute_url()).content.decode()
    assert f'<refreshed-part data-url="/runs/{run.pk}/sequence/"' in page
    assert "sequence-plot" not in page


def test_every_message_is_in_the_diagram_and_in_the_list(client: Client, run: Run) -> None:
    markup = tab(client, run)
    found = links(markup)
    drawn = [each for each in found if "sequence-message" in str(each["class"])]
    listed = [each for each in found if each not in drawn]
    keys = ("href", "data-target-run", "data-target-frame", "data-explain")
    assert [[each.get(key) for key in keys] for each in drawn] == [
        [each.get(key) for key in keys] for each in listed
    ]
    for name in (
        "Playground to scripted: POST /ask: eggs, at 0.0 ms",
        "scripted to Playground: 200 OK, event stream, at 0.0 ms",
    ):
        assert name in markup.text
    assert drawn[2]["href"] == f"{run.get_absolute_url()}#frame-3"
    assert drawn[0]["data-explain"] == "nlweb/0.55/ask-request#/query/text"
    assert drawn[1]["data-explain"] == "playground/1/frames#/call"


def test_the_chosen_turn_is_marked(client: Client) -> None:
    first = turn(None, text="one")
    second = turn(None, first, text="two")
    for chosen, label in ((first, "Turn 1: one"), (second, "Turn 2: two")):
        found = tab(client, chosen)
        assert f"{label} (shown)" in found.text
        assert found.text.count("shown") == 2
        assert [each.attributes.get("aria-current") for each in found.find("a")].count("true") == 1


def test_a_long_conversation_has_windows(client: Client) -> None:
    run = turn(None)
    for _ in range(14):
        run = turn(None, run)
    found = tab(client, run)
    assert "Turns 6–15 of 15" in found.text
    assert "5 earlier turns" in found.words
    [button] = found.find("button")
    assert button.attributes["data-until"] == "5"
    found = tab(client, run, until="5")
    assert "Turns 1–10 of 15" in found.text
    assert "5 later turns" in found.words
    hrefs = [each.attributes.get("href") or "" for each in found.find("a")]
    assert f"/runs/{run.pk}/sequence.svg?until=5" in hrefs
    assert f"/runs/{run.pk}/sequence.mmd?until=5" in hrefs


def test_a_narrow_drawing(client: Client, run: Run) -> None:
    def width(markup: Element) -> int:
        return int(markup.find("svg")[0].attributes["width"] or 0)

    assert width(tab(client, run, compact="1")) < 360 < width(tab(client, run))


def test_an_svg_file_needs_nothing_else(client: Client) -> None:
    run = offering()
    action(run)
    response = client.get(f"/runs/{run.pk}/sequence.svg")
    assert response["Content-Type"] == "image/svg+xml"
    assert response["Content-Disposition"] == f'attachment; filename="sequence-{run.pk}.svg"'
    assert "sandbox" in response["Content-Security-Policy"]
    text = response.content.decode()
    root = ET.fromstring(text)
    assert root.tag == f"{SVG}svg"
    assert {each.tag for each in root.iter()} == {
        f"{SVG}{name}" for name in ("svg", "title", "style", "rect", "g", "line", "text", "path")
    }
    assert not re.search(r"href|url\(|@import|class=\"sequence", text)


def test_hostile_texts_stay_texts(client: Client) -> None:
    run = hostile_run()
    found = tab(client, run)
    assert not {each.tag for each in found.elements} & {"script", "img", "b"}
    assert not [each for each in found.elements if {"style", "onclick"} & {*each.attributes}]
    assert "\u202e" not in found.text
    root = ET.fromstring(client.get(f"/runs/{run.pk}/sequence.svg").content)
    assert not [each for each in root.iter() if each.tag.endswith(("script", "img"))]
    shown = "".join(root.itertext())
    assert "<script>alert(1)</script>" in shown
    assert "<img src=x>" in shown


def test_a_mermaid_file(client: Client, run: Run) -> None:
    response = client.get(f"/runs/{run.pk}/sequence.mmd")
    assert response["Content-Disposition"] == f'attachment; filename="sequence-{run.pk}.mmd"'
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.startswith(b"sequenceDiagram\n    actor user as User\n")


def test_without_a_response(client: Client) -> None:
    run = Recording(state="queued").run
    assert "Queued" in tab(client, run).text
    assert ET.fromstring(client.get(f"/runs/{run.pk}/sequence.svg").content) is not None
