"""The collections that ship: they hold what they say they hold, and the demo agent meets them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from junitparser import Failure, JUnitXml

from playground.collections import files, recordings
from playground.collections.fixture import Fixture, fixture_text
from playground.collections.fixture_parser import parse_fixture
from playground.demo.guides import GROUPS
from playground.models import Agent, SavedRequest
from playground.server.startup import load_samples
from tests.demo.scenarios import collection
from tests.support.commands import run_command
from tests.support.playground_server import PlaygroundServer

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "tests" / "examples"
SLUGS = ("misbehaving", "specification-examples", "tour")
LESSONS = tuple(name.removesuffix(".json") for name in files.LESSON_FILES)


def text_of(slug: str) -> str:
    return (ROOT / "fixtures" / f"{slug}.json").read_text("utf-8")


def shipped(slug: str) -> Fixture:
    return parse_fixture(text_of(slug))


def requests(slug: str) -> list[Mapping[str, Any]]:
    return list(shipped(slug).requests.values())


@pytest.mark.parametrize("slug", [*SLUGS, *LESSONS])
def test_each_file_is_as_an_export_would_write_it(slug: str) -> None:
    assert fixture_text(shipped(slug)) == text_of(slug)


@pytest.mark.parametrize("slug", [*SLUGS, *LESSONS])
def test_each_file_goes_to_agents_that_ship(slug: str) -> None:
    known = {each["fields"]["slug"] for each in json.loads(text_of("agents"))}
    assert {request["agent"] for request in requests(slug)} <= known


@pytest.mark.parametrize("slug", SLUGS)
class TestEachFile:
    def test_expects_something_of_every_request(self, slug: str) -> None:
        assert all(request["expectations"] for request in requests(slug))

    def test_holds_replies_that_can_be_opened(self, slug: str) -> None:
        replies = [request["reply"] for request in requests(slug) if request["reply"]]
        assert bool(replies) == (slug == "specification-examples")
        assert not any(recordings.validate_recording(reply) for reply in replies)


def documents(kind: str) -> list[Any]:
    """The specifications' own files of a kind, as they would stand in a request or a reply."""
    found = []
    for path in sorted(EXAMPLES.glob(f"*/{kind}-*.json")):
        document = json.loads(path.read_text("utf-8"))
        arguments = document.get("params", {}).get("arguments", document)
        found.append(pytest.param(arguments, id=f"{path.parent.name}-{path.stem}"))
    return found


def holds(whole: Any, part: Any) -> bool:
    """Whether every member of `part` stands in `whole`, which may have others beside them."""
    return whole == part or (
        isinstance(whole, dict)
        and isinstance(part, dict)
        and all(name in whole and holds(whole[name], value) for name, value in part.items())
    )


@pytest.fixture(scope="module")
def kept() -> list[Mapping[str, Any]]:
    return requests("specification-examples")


@pytest.fixture(scope="module")
def bytes_of_replies(kept: list[Mapping[str, Any]]) -> list[str]:
    return [
        "".join(
            frame.get("text", "")
            for frame in each["reply"]["frames"]
            if frame["kind"] in {"body", "event"}
        )
        for each in kept
        if each["reply"]
    ]


class TestEveryExample:
    """Whatever the specifications show is there, word for word."""

    @pytest.mark.parametrize("document", [*documents("ask"), *documents("await")])
    def test_request(self, kept: list[Mapping[str, Any]], document: Any) -> None:
        assert any(holds(each["document"], document) for each in kept)

    @pytest.mark.parametrize("document", documents("section"))
    def test_part_of_a_request(self, kept: list[Mapping[str, Any]], document: Any) -> None:
        assert any(holds(each["document"], document) for each in kept)

    @pytest.mark.parametrize("document", documents("response"))
    def test_reply(self, bytes_of_replies: list[str], document: Any) -> None:
        read = [json.loads(text) for text in bytes_of_replies if text.startswith("{")]
        assert document in read

    @pytest.mark.parametrize("document", documents("actions"))
    def test_action(self, bytes_of_replies: list[str], document: Any) -> None:
        read = [json.loads(text) for text in bytes_of_replies if text.startswith("{")]
        items = [item for reply in read for item in reply.get("results", [])]
        assert any(holds(item, document) for item in items)

    @pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/*.sse")), ids=lambda path: path.stem)
    def test_stream(self, bytes_of_replies: list[str], path: Path) -> None:
        blocks = [text.split() for text in bytes_of_replies]
        assert path.read_text("utf-8").split() in blocks

    @pytest.mark.parametrize(
        "path",
        sorted(EXAMPLES.glob("*/tool-*.json")),
        ids=lambda path: f"{path.parent.name}-{path.stem}",
    )
    def test_tool(self, path: Path) -> None:
        folders = shipped("specification-examples").folders.values()
        assert any(path.read_text("utf-8").strip() in each["description"] for each in folders)


def test_the_tour_has_every_example_of_the_demo() -> None:
    documents = [request["document"] for request in requests("tour")]
    for group in GROUPS:
        for example in group.examples:
            assert example.request in documents


def test_the_collection_of_scenarios_is_generated_from_their_table() -> None:
    assert text_of("misbehaving") == collection.text(), "Run `make examples`."


@pytest.fixture
def samples(playground: PlaygroundServer, transactional_db: None) -> str:
    """What ships, in the test's own database; agents and scenarios do not take their time.

    Gives the address of their server.
    """
    load_samples(playground.url)
    for agent in Agent.objects.all():
        path = "/ask" if agent.url.endswith("/demo") else ""
        Agent.objects.filter(pk=agent.pk).update(url=f"{agent.url}{path}?pace=0.05")
    for saved in SavedRequest.objects.filter(address__startswith="/demo/scenarios/"):
        path, _, query = saved.address.partition("?")
        knobs = {**dict(parse_qsl(query)), "every": "0.02"}
        if "for" in knobs:
            knobs["for"] = "0.3"
        SavedRequest.objects.filter(pk=saved.pk).update(address=f"{path}?{urlencode(knobs)}")
    return playground.url


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("samples")
@pytest.mark.parametrize("slug", SLUGS)
def test_the_demo_agent_meets_all_of_it(slug: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run_command("run_collection", slug, "--reporter", f"json={report}")
    told = json.loads(report.read_text("utf-8"))
    unmet = [step["name"] for step in told["steps"] if step["verdict"] != "met"]
    assert not unmet
    assert done.returncode == 0
    assert told["totals"]["steps"] == len(requests(slug))


def test_against_a_broken_agent_the_report_says_which(samples: str, tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    broken = f"{samples}/demo/scenarios/server-error/ask"
    done = run_command(
        "run_collection", "tour", "--folder", "Search", "--agent", broken,
        "--reporter", f"junit={report}",
    )  # fmt: skip
    assert done.returncode == 1
    cases = [case for suite in JUnitXml.fromfile(str(report)) for case in suite]
    assert cases
    assert all(isinstance(case.result[0], Failure) for case in cases)
    assert "INTERNAL_ERROR" in report.read_text() or "failure" in report.read_text()


def test_every_collection_in_the_repository_is_known_as_shipped() -> None:
    assert files.shipped_slugs() == frozenset(SLUGS + LESSONS)
