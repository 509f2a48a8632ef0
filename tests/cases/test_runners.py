"""Texts of agents that CI runners would take for commands, in everything that is printed."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.cli.dialogue import Dialogue
from playground.cli.output import MessagePrinter
from playground.collection_runs.reports import (
    FORMATS,
    CheckResult,
    CollectionRunReport,
    StepResult,
)
from playground.models import Collection
from playground.protocols import events as ev
from tests.support.collections import saved
from tests.support.commands import run_command
from tests.support.servers import chunk, head, reply, serving

#: Commands as runners find them: GitHub trims a line, and its older form may be anywhere in it.
COMMANDS = [
    "::error::x", "::set-output name=a::b", "::add-mask::a", "::stop-commands::x",
    " \t::warning::x", "\u00a0::error::x", "\u3000\r::error::x", "##[error]x", "a ##[group]x",
    "##vso[task.complete]x", "a ##vso[task.setvariable variable=a]b",
    "##teamcity[buildStop comment='x']", "####[section]x",
]  # fmt: skip


def commands(output: str) -> list[str]:
    """The lines that a runner would obey."""
    lines = re.split(r"\r\n|\r|\n", output)
    return [
        line
        for line in lines
        if line.lstrip().startswith("::") or re.search(r"##(vso|teamcity)?\[", line)
    ]


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)


def send(document: Any, *arguments: str) -> Any:
    with serving(reply(json.dumps(document).encode())) as server:
        return run_command("send", server.url, "--text", "x", *arguments)


def answer(text: str) -> dict[str, Any]:
    item = {"@type": text, "name": text, "description": text, "url": text}
    results = [item, {"@type": "Thing", "description": f"a\n{text}"}, text]
    return {"_meta": {"version": "0.55", "response_type": "answer", "a": text}, "results": results}


@pytest.mark.parametrize("text", COMMANDS)
def test_send(text: str) -> None:
    for document in (
        answer(text),
        {
            "_meta": {"version": "0.55", "response_type": "failure"},
            "error": {"code": text, "message": f"{text}\n{text}"},
        },
        {text: text},
    ):
        for output in ("text", "jsonl"):
            done = send(document, "--output", output)
            assert not commands(done.stdout + done.stderr)
    lines = send(answer(text), "--output", "jsonl").json_lines
    (first,) = [line["item"] for line in lines if line["type"] == "result" and line["index"] == 0]
    assert first["name"] == text


@pytest.mark.parametrize(
    "pieces",
    [
        [":", ":error::x"],
        ["a\n", "::", "error::x"],
        ["#", "#[", "x]"],
        ["a\n  ", "::x"],
        ["##v", "so[x]"],
        ["::", "x"],
        ["##"] * 40 + ["[x]"],
    ],
)
def test_pieces_of_a_text(pieces: list[str]) -> None:
    message = {"object": "message", "id": "m", "type": "message", "role": "assistant"}
    content = {"object": "content", "type": "text", "msg_id": "m", "index": 0, "delta": True}
    documents = [message, *({**content, "text": piece} for piece in ["x\n", *pieces])]
    events = b"".join(b"data: %b\n\n" % json.dumps(each).encode() for each in documents)
    stream = head(content_type="text/event-stream", transfer_encoding="chunked") + chunk(events)
    with serving(stream + chunk(b"")) as server:
        done = run_command("send", server.url, "--text", "x", "--protocol", "agent-api")
    assert "x\n" in done.stdout
    assert not commands(done.stdout + done.stderr)


@given(st.lists(st.text(st.sampled_from(":#[vso] \n\tx\u00a0"), max_size=6), max_size=12))
def test_any_pieces(pieces: list[str]) -> None:
    printer = MessagePrinter()
    message = ev.Message(1, "m", "message")
    printer.listen([message])
    texts = [ev.Content(2, "m", 0, True, "text", piece, "in_progress", (1, 0)) for piece in pieces]
    printed = "".join(printer.pieces(texts)) + "".join(printer.end())
    assert not commands(printed)
    # Only spaces were added.
    assert printed.replace(" ", "").startswith(
        ("message" + "".join(pieces)).replace(" ", "").replace("\t", "\t")
    )


def report(text: str) -> CollectionRunReport:
    check = CheckResult({"type": text}, False, text, f"a\n{text}", text)
    steps = [
        StepResult(number=1, iteration=1, folder=text, name=text, verdict="unmet", checks=[check],
                   problem=f"{text}\n{text}", status=200),
        StepResult(number=2, iteration=1, folder="", name="a", verdict="unsent", checks=[],
                   reason=f"\n{text}"),
    ]  # fmt: skip
    return CollectionRunReport(text, steps, state="stopped", environment=text)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("text", COMMANDS)
def test_reports(kind: str, text: str) -> None:
    render, _, _ = FORMATS[kind]
    printed = render(report(text))
    assert not commands(printed)
    # JSON and XML say the same as before.
    if kind == "json":
        assert json.loads(printed)["name"] == text
    if kind == "junit" and "\r" not in text:
        assert ET.fromstring(printed).get("name") == text


@pytest.mark.parametrize("kind", ["text", "junit", "json", "html"])
def test_run_collection(kind: str, tmp_path: Any) -> None:
    text = "::error::x ##[error]"
    collection = Collection.objects.create(name=text, slug="a")
    expectation = {"type": "json", "path": "$.results[0].name", "equals": "b"}
    with serving(*([reply(json.dumps(answer(f"{text}\n{text}")).encode())])) as server:
        saved(collection, text, address=server.url, expectations=[expectation])
        file = tmp_path / "report"
        done = run_command(
            "run_collection", "a", "--reporter", kind, "--reporter", f"{kind}={file}"
        )
    assert "x ##" in done.stdout
    assert not commands(done.stdout + done.stderr + file.read_text())


class TestGitHub:
    @pytest.fixture(autouse=True)
    def actions(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")

    def fence(self, output: str) -> str:
        """The token between which commands are ignored; everything is printed between."""
        lines = output.splitlines()
        first = re.fullmatch(r"::stop-commands::(\w{32})", lines[0])
        assert first
        assert lines[-1] == f"::{first[1]}::"
        assert len(commands(output)) == 2
        return first[1]

    def test_send(self) -> None:
        tokens = {self.fence(send(answer("::error::x")).stdout) for _ in range(2)}
        assert len(tokens) == 2

    def test_it_ends_with_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Dialogue, "findings", lambda _: print("half a line", end="") or 1 / 0)
        out: list[str] = []
        monkeypatch.setattr("builtins.print", lambda *a, **k: out.append("".join(map(str, a))))
        with pytest.raises(ZeroDivisionError):
            send(answer("x"))
        assert out[0].startswith("::stop-commands::")
        assert out[-1] == f"\n::{out[0].rpartition('::')[2]}::"

    def test_run_collection(self) -> None:
        collection = Collection.objects.create(name="a", slug="a")
        with serving(reply(b"{}")) as server:
            saved(collection, "b", address=server.url)
            self.fence(run_command("run_collection", "a").stdout)
            # A report for a program has no lines before it.
            assert json.loads(run_command("run_collection", "a", "--reporter", "json").stdout)

    def test_json_lines(self) -> None:
        assert not commands(send(answer("::error::x"), "--output", "jsonl").stdout)
