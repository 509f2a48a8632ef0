"""The Conformance tab, its count, its download, and the reference of rules."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from playground.conformance import Level, ruleset
from playground.conformance.examples import examples_of
from playground.models import Agent, Conversation, PolledPromise, Run, RunKind
from playground.protocols.frames import Frame, FrameKind
from playground.stored_runs import conformance_report
from tests.support import run_page
from tests.support.markup import Element, read
from tests.support.run_page import replied
from tests.support.stored_runs import CALL, END, HEAD, OPEN, Recording, event, recorded

GOOD = [
    'event: start\ndata: {"_meta": {"response_type": "answer", "version": "0.55", '
    '"streaming": true}}',
    'event: result\ndata: {"index": 0, "item": {"@type": "Recipe", "name": "Soup"}}',
    'event: complete\ndata: {"_meta": {"response_type": "answer", "version": "0.55", '
    '"streaming": true}}',
]
BAD = ['data: {"_meta": {"response_type": "Answer"}}', 'data: {"results": ["<b>soup</b>"]}']


def streamed(*lines: str, state: str = "completed", **fields: Any) -> Run:
    request = {"query": {"text": "eggs"}, "prefer": {"streaming": True}}
    run = run_page.streamed(*lines, state=state)
    Run.objects.filter(pk=run.pk).update(request=request, **fields)
    return run


def spoken(protocol: str, binding: str, version: str, data: str) -> Run:
    """A run of another protocol or binding, with one event."""
    recording = Recording(protocol=protocol, binding=binding, version=version)
    asked = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask"}}'
    call = Frame(0, 0, FrameKind.CALL, CALL.data.replace(b"{}", asked))
    recording.add(call, OPEN, HEAD, event(f"data: {data}"), END)
    return recording.end()


def part(run: Run, path: str = "", **query: str) -> Element:
    return run_page.part(run, f"conformance/{path}", **query)


def rule_links(markup: Element) -> list[str]:
    """The addresses of rules that a page links to."""
    links = (str(link.attributes.get("href", "")) for link in markup.find("a"))
    return [href for href in links if re.fullmatch(r"/rules/[a-z-]+/[a-z.0-9-]+/", href)]


def verdicts(markup: Element) -> dict[str, str | None]:
    """The verdict of each rule that the report lists."""
    ids = [href.split("/")[3] for href in rule_links(markup)]
    rows = [
        row.attributes["data-verdict"]
        for row in markup.find("li")
        if "data-verdict" in row.attributes
    ]
    return dict(zip(ids, rows, strict=True))


def report_of(run: Run) -> list[tuple[str, str, dict[str, str]]]:
    """Return the levels of a report: name, counts, and verdicts of the rules in their order."""
    return [
        (level.select(class_="level-word")[0].words, level.select("span", class_="quiet")[0].words,
         {rule.find("code")[0].words: str(rule.attributes["data-verdict"])
          for rule in level.select("li", class_="rule")})
        for level in part(run).select("section", class_="level")
    ]  # fmt: skip


class TestReport:
    def test_rules_stand_by_level_and_what_asks_for_attention_first(self) -> None:
        markup = part(streamed(*BAD))
        found = verdicts(markup)
        assert set(found) == {rule.id for rule in ruleset("nlweb").rules}
        assert found["response-type-lowercase"] == found["item-object"] == "fail"
        assert found["promise-token"] == "not_applicable"
        order = ["fail", "incomplete", "pass", "not_applicable"]
        shown = {"fail": "failed", "incomplete": "inconclusive", "pass": "passed"}
        levels = report_of(streamed(*BAD))
        assert [name for name, _, _ in levels] == ["Must", "Should", "Info"]
        for _, tally, rules in levels:
            places = [order.index(verdict) for verdict in rules.values()]
            assert places == sorted(places)
            counts = [f"{list(rules.values()).count(v)} {word}" for v, word in shown.items()]
            assert tally == ", ".join(each for each in counts if each[0] != "0")

    def test_counts_a_rule_once_however_often_it_is_broken(self) -> None:
        bad = 'data: {"results": ["<b>soup</b>"]}'
        markup = part(streamed(BAD[0], bad, bad))
        (rule,) = (r for r in markup.select("li", class_="rule") if "item-object" in r.words)
        spots = [spot.words for spot in rule.select(class_="spot-place")]
        assert [spot[:7] for spot in spots] == ["frame 5", "frame 6"]
        counts = {
            each.attributes["data-verdict"]: int(each.select(class_="count")[0].words)
            for each in markup.select("label", class_="verdict-choice")
        }
        found = list(verdicts(markup).values())
        assert counts == {verdict: found.count(str(verdict)) for verdict in counts}
        sentence = markup.select(class_="report-sentence")[0].words
        failed = {name: list(rules.values()).count("fail")
                  for name, _, rules in report_of(streamed(BAD[0], bad, bad))}  # fmt: skip
        by_level = ", ".join(f"{n} {name.lower()}" for name, n in failed.items() if n)
        assert sentence.startswith(f"{counts['fail']} failed ({by_level}), ")

    def test_copies_all_that_asks_for_attention(self) -> None:
        text = part(streamed(*BAD)).by_id("report-text")
        assert text
        assert text.text.startswith("Checked against NLWeb 0.55: ")
        lines = text.text.splitlines()
        at = next(n for n, line in enumerate(lines) if line.endswith("[item-object]"))
        assert lines[at].startswith("Failed (must, section ")
        assert lines[at + 1].startswith("  frame 5 /results/0: ")
        assert "Passed" not in text.text

    def test_sections_are_called_by_number_or_name(self) -> None:
        sources = {
            link.find("code")[0].words: link.words.removesuffix(link.find("code")[0].words).strip()
            for link in part(streamed(*BAD), version="0.54").find("a")
            if link.find("code")
        }
        assert sources["item-type-string"] == "section 4.1.1"
        assert sources["stream-start-first"] == "HTTP examples 5"

    def test_findings_lead_to_their_frames(self) -> None:
        buttons = part(streamed(*BAD)).find("button")
        links = {(b.attributes["data-in"], b.attributes["data-frame"]) for b in buttons}
        assert {("events", "4"), ("wire", "4"), ("events", "5"), ("wire", "5")} <= links

    def test_of_a_whole_reply_findings_lead_to_its_bytes(self) -> None:
        run = replied('{"_meta": [], "results": [{"@type": "A"}]}', 200,
                      "Content-Type: application/json")  # fmt: skip
        buttons = part(run).find("button")
        frames = {(b.attributes["data-in"], b.attributes["data-frame"]) for b in buttons}
        assert {("events", "4"), ("wire", "4")} <= frames
        assert not {("events", "5"), ("wire", "5")} & frames

    def test_what_an_agent_sent_stays_text(self, client: Client) -> None:
        run = streamed('event: <img src=x onerror=alert(1)>\ndata: {"<script>": 1}', *BAD)
        html = client.get(f"/runs/{run.pk}/conformance/").text
        assert "<script" not in html
        assert "<img" not in html

    def test_can_be_judged_as_the_other_version(self) -> None:
        run = streamed(*BAD)
        as_sent, other = part(run), part(run, version="0.54")
        assert "Checked against NLWeb 0.55" in as_sent.text
        assert "sent as" not in as_sent.text
        assert "Checked against NLWeb 0.54" in other.text
        assert "sent as 0.55" in other.text
        assert verdicts(as_sent)["error-event"] == "not_applicable"
        chosen = [i.attributes["value"] for i in other.find("input") if "checked" in i.attributes
                  and i.attributes["type"] == "radio"]  # fmt: skip
        assert chosen == ["0.54"]

    @pytest.mark.parametrize("version", ["0.99", "", "x" * 5000, "<b>", "0.55 "])
    def test_an_unknown_version_is_the_one_it_was_sent_as(self, version: str) -> None:
        assert "Checked against NLWeb 0.55" in part(streamed(*GOOD), version=version).text

    def test_shows_first_what_asks_for_attention(self) -> None:
        boxes = [i.attributes for i in part(streamed(*BAD)).find("input")
                 if i.attributes["type"] == "checkbox"]  # fmt: skip
        assert {b["value"]: "checked" in b for b in boxes} == {
            "fail": True, "incomplete": True, "pass": False, "not_applicable": False,
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("lines", "state", "worst", "is_clear"),
        [
            (GOOD, "completed", "pass", True),
            (GOOD[:2], "interrupted", "incomplete", False),
            (BAD, "completed", "fail", False),
        ],
        ids=["passed", "interrupted", "failed"],
    )
    def test_says_so_when_every_rule_passed(
        self, lines: list[str], state: str, worst: str, is_clear: bool
    ) -> None:
        markup = part(streamed(*lines, state=state))
        found = verdicts(markup).values()
        assert next(each for each in ("fail", "incomplete", "pass") if each in found) == worst
        assert ("All applicable rules passed" in markup.text) is is_clear

    @pytest.mark.parametrize("path", ["", "count/"])
    def test_waits_for_the_end(self, path: str) -> None:
        recording = Recording()
        recording.add(CALL, OPEN, HEAD, *(event(line) for line in BAD))
        markup = part(recording.run, path)
        assert not markup.find("li")
        assert ("when the run has ended" in markup.text) is (path == "")

    @pytest.mark.parametrize("path", ["", "count/"])
    def test_an_action_is_not_judged(self, path: str) -> None:
        run = streamed(*BAD, protocol="action", version="", kind=RunKind.ACTION)
        assert not part(run, path).find("li")
        assert part(run, path).find("span") == []

    def test_a_run_of_the_agent_api(self) -> None:
        run = spoken("agent-api", "http", "1", '{"object": "message", "id": "m"}')
        markup = part(run)
        assert "Checked against Agent API" in markup.text
        assert set(verdicts(markup)) == {rule.id for rule in ruleset("agent-api").rules}
        assert verdicts(markup)["agent-api.response-first"] == "fail"
        # There is one version, so there is nothing to choose.
        assert [i for i in markup.find("input") if i.attributes["type"] == "radio"] == []
        assert part(run, "count/").find("span")[0].attributes["data-level"] == "must"

    def test_a_run_over_mcp(self) -> None:
        reply = '{"jsonrpc": "2.0", "id": 1, "result": {"_meta": {"response_type": "Answer"}}}'
        markup = part(spoken("nlweb", "mcp", "0.55", reply))
        assert "Checked against NLWeb 0.55 over MCP" in markup.text
        found = verdicts(markup)
        assert set(found) == {rule.id for rule in ruleset("nlweb", "mcp").rules}
        assert found["mcp.result-content"] == found["response-type-lowercase"] == "fail"
        assert "/result/_meta/response_type" in markup.text
        assert ("events", "4") in {
            (b.attributes["data-in"], b.attributes["data-frame"]) for b in markup.find("button")
        }
        as_other = part(spoken("nlweb", "mcp", "0.55", reply), version="0.54")
        assert "Checked against NLWeb 0.54 over MCP" in as_other.text

    def test_a_dialect_that_no_rule_is_for(self) -> None:
        run = streamed(*BAD, version="legacy")
        markup = part(run)
        assert not markup.find("li")
        assert "Legacy NLWeb has no specification" in markup.text
        assert part(run, "count/").find("span") == []
        # It can be judged all the same.
        values = [i.attributes["value"] for i in markup.find("input")]
        assert values == ["0.54", "0.55"]
        assert "sent as legacy" in part(run, version="0.54").text


class TestConversation:
    """Facts of earlier responses, for a poll and for an await request that the user wrote."""

    PROMISED = (
        '{"_meta": {"response_type": "promise", "version": "0.55"}, '
        '"promise": {"token": "t", "progress": 0.2}}'
    )

    def asked_after(self, status: str, *, by_hand: bool = False, token: str = "t") -> Run:
        conversation = Conversation.objects.create()
        turn = streamed(*GOOD, conversation=conversation, session_context={"id": "c"})
        promise = PolledPromise.objects.create(
            run=turn, entry_seq=5, token="t", polling_seconds=60, status=status
        )
        PolledPromise.objects.update(
            ended_at=promise.started_at, updates=[{"at": 0.0, "progress": 0.9}]
        )
        body = Frame(0, 30, FrameKind.BODY, self.PROMISED.encode())
        run = recorded([[CALL, OPEN, HEAD, body, END]])
        Run.objects.filter(pk=run.pk).update(
            kind=RunKind.ASK if by_hand else RunKind.POLL,
            parent=turn,
            conversation=conversation,
            request={"promise_token": token, "action": "checkin"},
            started_at=promise.started_at + timedelta(seconds=60),
        )
        return Run.objects.get(pk=run.pk)

    @pytest.mark.parametrize("by_hand", [False, True])
    @pytest.mark.parametrize("status", ["fulfilled", "cancelled"])
    def test_a_promise_is_kept(self, status: str, by_hand: bool) -> None:
        found = verdicts(part(self.asked_after(status, by_hand=by_hand)))
        assert found["promise-kept"] == "fail"
        assert found["promise-progress-monotone"] == "fail"
        # The request has no session context, and the first response has one.
        assert found["session-context-echoed"] == "fail"

    def test_a_promise_that_is_still_pending(self) -> None:
        found = verdicts(part(self.asked_after("polling")))
        assert found["promise-kept"] == "not_applicable"
        assert found["promise-progress-monotone"] == "fail"

    def test_another_promise(self) -> None:
        run = self.asked_after("fulfilled", by_hand=True, token="u")
        assert verdicts(part(run))["promise-kept"] == "not_applicable"

    def test_expectations_know_the_same(self) -> None:
        report = conformance_report(self.asked_after("fulfilled"))
        assert "promise-kept" in report.failing(Level.MUST)


class TestCount:
    @pytest.mark.parametrize(
        ("lines", "state", "level", "says"),
        [
            (BAD, "completed", "must", "MUST violation"),
            (GOOD, "completed", "pass", "passed"),
            (GOOD[:2], "truncated", "must", "MUST violation"),
            (GOOD[:2], "interrupted", "incomplete", "inconclusive"),
        ],
    )
    def test_says_the_worst(self, lines: list[str], state: str, level: str, says: str) -> None:
        markup = part(streamed(*lines, state=state), "count/")
        badge, *_ = markup.find("span")
        assert badge.attributes["data-level"] == level
        assert says in markup.words

    def test_counts_rules(self, client: Client) -> None:
        run = streamed(*BAD)
        report = json.loads(client.get(f"/runs/{run.pk}/conformance.json").content)
        assert part(run, "count/").words == f"{report['counts']['must']} MUST violations"


class TestDownload:
    def test_has_the_whole_report(self, client: Client) -> None:
        run = streamed(*BAD)
        response = client.get(f"/runs/{run.pk}/conformance.json", {"version": "0.54"})
        assert response["Content-Type"] == "application/json"
        name = f"conformance-{run.pk}-0.54.json"
        assert response["Content-Disposition"] == f'attachment; filename="{name}"'
        found = json.loads(response.content)
        assert (found["run"], found["version"], found["sent_as"]) == (str(run.pk), "0.54", "0.55")
        assert {each["rule"] for each in found["findings"]} == {
            rule.id for rule in ruleset("nlweb").rules
        }
        assert set(found["findings"][0]) == {
            "rule", "level", "section", "pointer", "message", "verdict", "seq",
        }  # fmt: skip


class TestKept:
    def test_a_run_is_judged_once(self, client: Client) -> None:
        run = streamed(*BAD)
        before = [part(run, path).words for path in ("", "count/")]
        run.frame_batches.all().delete()
        assert [part(run, path).words for path in ("", "count/")] == before
        report = client.get(f"/runs/{run.pk}/conformance.json").json()
        assert "item-object" in {f["rule"] for f in report["findings"] if f["verdict"] == "fail"}
        # Other rules and another end are judged anew.
        assert verdicts(part(run, version="0.54"))["item-object"] == "not_applicable"
        Run.objects.filter(pk=run.pk).update(state="truncated")
        assert verdicts(part(run))["item-object"] == "not_applicable"


class TestReference:
    def test_has_every_rule_once(self, client: Client) -> None:
        markup = read(client.get("/rules/"))
        rows = [row.attributes["id"] for row in markup.find("tr") if "id" in row.attributes]
        every = [
            *ruleset("nlweb").rules,
            *ruleset("nlweb", "mcp").groups[1].rules,
            *ruleset("agent-api").groups[0].rules,
            *ruleset("chat-completions").groups[0].rules,
        ]
        assert rows == [rule.id for rule in every]
        text = " ".join(markup.text.split())
        for rule in every:
            assert " ".join(rule.title.split()) in text
            for demand in rule.requirements.values():
                assert demand.section in text
        assert "not in this version" in text

    def test_each_rule_links_to_its_page(self, client: Client) -> None:
        rules = read(client.get("/rules/"))
        links = rule_links(rules)
        assert len(links) == len([row for row in rules.find("tr") if "id" in row.attributes])
        report = part(streamed(*BAD))
        assert len(rule_links(report)) == len(ruleset("nlweb").rules)
        assert set(rule_links(report)) <= set(links)

    def test_leads_to_each_group(self, client: Client) -> None:
        markup = read(client.get("/rules/"))
        ids = {
            str(element.attributes["id"])
            for element in markup.find("section")
            if "id" in element.attributes
        }
        links = [str(link.attributes["href"]) for link in markup.find("a")]
        groups = [link.removeprefix("#") for link in links if link.startswith("#rules-")]
        protocols = ["nlweb", "json", "mcp", "agent-api", "chat-completions"]
        assert groups == [f"rules-{name}" for name in protocols]
        assert set(groups) <= ids


def rule_page(path: str) -> Element:
    response = Client().get(f"/rules/{path}/")
    assert response.status_code == 200
    return read(response)


def violating(path: str) -> Element:
    (found,) = rule_page(path).select("section", data_example="violating")
    return found


class TestRule:
    @pytest.mark.slow
    @pytest.mark.parametrize("group", ["nlweb", "json", "mcp", "agent-api"])
    def test_every_rule_has_a_page(self, client: Client, group: str) -> None:
        """With every finding of its examples once, and every byte of them."""
        links = rule_links(read(client.get("/rules/")))
        for url in [link for link in links if link.startswith(f"/rules/{group}/")]:
            markup = read(client.get(url))
            assert len(markup.find("h1")) == 1
            ids = [each.attributes["id"] for each in markup if "id" in each.attributes]
            assert {"requirements", "conforming", "violating"} <= set(ids)
            assert len(ids) == len(set(ids))
            assert set(rule_links(markup)) <= set(links)
            examples = examples_of(url.split("/")[3])
            assert examples
            for page, stored in zip(
                markup.select("section", class_="rule-example"),
                (examples.conforming, examples.violating), strict=True,
            ):  # fmt: skip
                notes = [e.find("p")[0].words for e in page.select("div", class_="found-note")]
                assert sorted(notes) == sorted(
                    " ".join(f"Finding: {each.message}".split()) for each in stored.findings
                )
                for block in page.select("section", class_="wire-block"):
                    for seq in block.select("span", class_="event-seq"):
                        (frame,) = (f for f in stored.frames if str(f.seq) == seq.words)
                        shown = "".join(each.text for each in block.find("pre"))
                        assert (
                            "".join(shown.split())
                            == "".join(frame.data.decode(errors="replace").split())
                            or frame.kind is FrameKind.ERROR
                        )

    def test_has_texts_requirements_and_both_responses(self) -> None:
        text = rule_page("nlweb/item-type-string").words
        for expected in (
            "The @type of a result is a string.",
            "JSON-LD also allows an array of types; NLWeb defines one string.",
            "NLWeb 0.54 Must section 4.1.1",
            "NLWeb 0.55 Must section 4.1.1",
            "Conforming response",
            "Violating response",
            "HTTP/1.1 200 OK",
            "@type is an array; expected a string with a single type.",
            "/results/0/@type",
        ):
            assert expected in text

    @pytest.mark.parametrize(
        ("path", "words"),
        [
            ("mode-list-honoured", ["POST /ask", '"mode": "list"']),
            ("await-reply", ["POST /await"]),
            (
                "promise-progress-monotone",
                ["Earlier responses for the same promise reported progress 0.1, 0.5."],
            ),
        ],
    )
    def test_the_request_and_earlier_responses(self, path: str, words: list[str]) -> None:
        text = violating(f"nlweb/{path}").words
        assert [each for each in words if each not in text] == []

    def test_what_is_allowed_is_no_violation(self) -> None:
        text = rule_page("nlweb/version-asked").words
        assert "Response with this finding" in text
        assert "violat" not in text.lower()

    @pytest.mark.parametrize(
        ("path", "requirements"),
        [
            ("nlweb/stream-start-first",
             ["NLWeb 0.54 Should HTTP examples 5", "NLWeb 0.55 Must section 6.1"]),
            ("nlweb/error-event",
             ["NLWeb 0.54 not in this version", "NLWeb 0.55 Must section 6.1"]),
            ("mcp/mcp.log", ["NLWeb 0.54 over MCP", "NLWeb 0.55 over MCP"]),
            ("json/json-utf8", ["NLWeb 0.54", "NLWeb 0.55", "Agent API", "Chat Completions"]),
        ],
    )  # fmt: skip
    def test_requirements_of_each_version(self, path: str, requirements: list[str]) -> None:
        rows = rule_page(path).select(class_="rule-requirements")[0].find("li")
        for row, expected in zip(rows, requirements, strict=True):
            assert row.words.startswith(expected)

    def test_the_id_of_a_rule_is_a_link_and_other_code_is_not(self) -> None:
        for path, links in (
            (
                "nlweb/version-present",
                ["/rules/nlweb/version-asked/", "/rules/nlweb/version-in-failure/"],
            ),
            ("nlweb/http-method", []),
        ):
            (text,) = rule_page(path).select("div", class_="rule-text")
            assert text.find("code")
            assert [each.attributes["href"] for each in text.find("a")] == links

    @pytest.mark.parametrize(
        ("path", "marked"),
        [
            ("nlweb/version-present", ['"version": 0.55']),
            # Indents are not marked, and of a long value the first line is.
            ("nlweb/item-type-string", ['"@type": [', '"Recipe",', '"Thing"', "]"]),
            ("mcp/mcp.tool-ask", ['"tools": [']),
            ("agent-api/agent-api.delta-sum", ['"text": "Hello you"']),
            ("nlweb/http-content-type", []),
        ],
    )
    def test_findings_are_marked_where_they_are(self, path: str, marked: list[str]) -> None:
        found = violating(path)
        assert [each.text for each in found.find("mark")] == marked
        assert found.select("div", class_="found-note")

    def test_a_missing_member_is_marked_at_its_object(self) -> None:
        found = violating("agent-api/agent-api.message-members")
        assert {each.text for each in found.find("mark")} == {"{"}
        notes = found.select("div", class_="found-note")
        assert all("missing" in note.words for note in notes)

    def test_the_frames_of_a_finding(self) -> None:
        for path, kinds, found in (
            ("nlweb/item-type-string", ["head", "body"], ["body"]),
            ("nlweb/http-content-type", None, ["head"]),
        ):
            blocks = violating(path).select("section", class_="wire-block")
            shown = [
                b.attributes["data-kind"] for b in blocks if b.attributes["data-kind"] != "call"
            ]
            assert kinds is None or shown == kinds
            assert [b.attributes["data-kind"] for b in blocks if b.find("mark")
                    or "data-found" in b.attributes] == found  # fmt: skip

    def test_many_frames_are_cut_short(self) -> None:
        found = violating("mcp/mcp.tools-whole")
        assert "frames are not shown." in found.words
        assert len(found.select("section", class_="wire-block")) < 12

    def test_each_leads_to_the_next(self) -> None:
        ids = [rule.id for rule in ruleset("nlweb").groups[0].rules]
        for path, links in ((ids[0], [("next", ids[1])]), (ids[-1], [("prev", ids[-2])])):
            found = [e.attributes for e in rule_page(f"nlweb/{path}").select("a", rel=None)
                     if e.attributes["rel"] in {"prev", "next"}]  # fmt: skip
            assert [(e["rel"], str(e["href"]).split("/")[3]) for e in found] == links

    def test_a_checkout_before_the_examples_are_generated(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("playground.conformance.examples._examples", dict)
        found = rule_page("nlweb/version-asked")
        assert "run make examples" in found.words
        assert not found.select("section", class_="rule-example")

    @pytest.mark.parametrize("path", ["nlweb/nope/", "nope/item-type/", "mcp/item-type/", "nlweb/"])
    def test_there_is_no_other(self, client: Client, path: str) -> None:
        assert client.get(f"/rules/{path}").status_code == 404


def test_the_tab_asks_for_its_count_and_its_report(client: Client) -> None:
    run = streamed(*GOOD)
    Agent.objects.create(name="A", url="http://a.example")
    markup = read(client.get(f"/runs/{run.pk}/"))
    urls = [element.attributes["data-url"] for element in markup.find("final-part")]
    assert urls == [f"/runs/{run.pk}/conformance/count/", f"/runs/{run.pk}/conformance/"]
