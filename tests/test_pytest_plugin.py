"""The pytest plugin: the requests of a collection as tests of another project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from playground import pytest_plugin
from tests.support.playground_server import ROOT, PlaygroundServer

pytest_plugins = ["pytester"]

#: Plugins of this project that the tests within tests do not need.
WITHOUT = ("-p", "no:django", "-p", "no:asyncio", "-p", "no:cacheprovider")


def entry(model: str, **fields: Any) -> dict[str, Any]:
    return {"model": f"playground.{model}", "fields": fields}


def request(slug: str, name: str, folder: str = "") -> dict[str, Any]:
    place = {"folder": ["mine", folder]} if folder else {}
    return entry("savedrequest", collection=["mine"], slug=slug, name=name, **place)


COLLECTION = [
    entry("collection", slug="mine", name="Mine"),
    entry("folder", collection=["mine"], slug="search", name="Search"),
    request("first", "The first"),
    request("soup", "Soup", "search"),
    request("again", "Soup", "search"),
]


def step(name: str, folder: str = "", verdict: str = "met", **values: Any) -> dict[str, Any]:
    """A step of the JSON report."""
    empty = {"reason": "", "problem": "", "took_ms": 1.5, "checks": []}
    return {"name": name, "folder": folder, "verdict": verdict, **empty, **values}


class Commands:
    """What the plugin runs: the command line, and the steps or the error that it reports."""

    def __init__(self) -> None:
        self.lines: list[list[str]] = []
        self.environments: list[dict[str, str]] = []
        self.steps: list[dict[str, Any]] | None = [
            step("The first"),
            step("Soup", "Search"),
            step("Soup", "Search"),
        ]
        self.error = ""

    def __call__(self, line: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        self.lines.append(line)
        self.environments.append(options["env"])
        report = next(each for each in line if each.startswith("--reporter=json="))
        if self.steps is not None:
            Path(report.removeprefix("--reporter=json=")).write_text(
                json.dumps({"steps": self.steps})
            )
        return subprocess.CompletedProcess(line, 0, stderr=self.error)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> Commands:
    commands = Commands()
    monkeypatch.setattr(pytest_plugin.subprocess, "run", commands)
    return commands


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A project with a collection and a test of its own."""
    pytester.path.joinpath("mine.json").write_text(json.dumps(COLLECTION))
    pytester.makepyfile(test_own="def test_own(): pass")
    return pytester


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    # This module has imported the plugin.
    options = ("-p", "playground.pytest_plugin", "-W", "ignore::pytest.PytestAssertRewriteWarning")
    return project.runpytest_inprocess(*WITHOUT, *options, *arguments)


class TestItems:
    def test_each_request_is_a_test(self, project: pytest.Pytester, commands: Commands) -> None:
        result = run(project, "--playground-collection", "mine.json", "-v")
        result.assert_outcomes(passed=3)
        result.stdout.fnmatch_lines(["*first PASSED*", "*search/soup PASSED*", "*again PASSED*"])
        assert len(commands.lines) == 1

    def test_only_selected_requests_are_sent(
        self, project: pytest.Pytester, commands: Commands
    ) -> None:
        run(project, "--playground-collection=mine.json", "-k", "soup").assert_outcomes(
            passed=1, deselected=2
        )
        sent = [each for each in commands.lines[0] if each.startswith("--request=")]
        assert sent == ["--request=soup"]

    def test_the_command(
        self, project: pytest.Pytester, commands: Commands, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "theirs")
        options = ["--playground-agent=http://a.example", "--playground-environment=staging"]
        run(project, "--playground-collection=mine.json", *options)
        line = commands.lines[0]
        assert line[:4] == [sys.executable, "-m", "playground", "run_collection"]
        assert line[4] == str(project.path / "mine.json")
        assert line[-2:] == ["--agent=http://a.example", "--environment=staging"]
        assert commands.environments[0]["DJANGO_SETTINGS_MODULE"] == "playground.settings"

    def test_own_tests_run_if_they_are_named(
        self, project: pytest.Pytester, commands: Commands
    ) -> None:
        result = run(project, "--playground-collection=mine.json", "test_own.py")
        result.assert_outcomes(passed=4)

    def test_nothing_runs_without_the_option(
        self, project: pytest.Pytester, commands: Commands
    ) -> None:
        run(project).assert_outcomes(passed=1)
        assert commands.lines == []


class TestResults:
    def test_texts_of_agents_are_neither_commands_nor_escape_sequences(
        self, project: pytest.Pytester, commands: Commands
    ) -> None:
        hostile = "a\n::error::x\n ##[group]y \x1b[2J"
        check = {"expectation": "b", "met": False, "wanted": hostile, "actual": hostile}
        commands.steps = [step("The first", verdict="unmet", problem=hostile, checks=[check])]
        output = str(run(project, "--playground-collection", "mine.json").stdout)
        assert ": :error::x" in output
        assert not [line for line in output.splitlines() if line.lstrip().startswith("::")]
        assert "##[" not in output
        assert "\x1b[2J" not in output

    def test_what_is_not_met_fails_with_the_reasons(
        self, project: pytest.Pytester, commands: Commands
    ) -> None:
        check = {"expectation": "results ≥ 1", "met": False, "wanted": "1", "actual": "0"}
        passed = {"expectation": "status", "met": True, "wanted": "200", "actual": "200"}
        commands.steps = [
            step("The first", verdict="unsent", reason="The variable {{x}} has no value."),
            step("Soup", "Search", "unmet", problem="Refused.", checks=[check, passed]),
            step("Soup", "Search", "skipped", reason="Stopped on the first failure."),
        ]
        result = run(project, "--playground-collection=mine.json", "-rs")
        result.assert_outcomes(failed=2, skipped=1)
        text = result.stdout.str()
        for part in (
            "The variable {{x}} has no value.",
            "Refused.\nresults ≥ 1: expected 1, actual 0\n",
            "_ Search / Soup _",
            "Stopped on the first failure.",
        ):
            assert part in text
        assert "expected 200" not in text
        assert "Traceback" not in text

    def test_a_collection_that_could_not_be_run(
        self, project: pytest.Pytester, commands: Commands
    ) -> None:
        commands.steps, commands.error = None, "CommandError: Unknown agent"
        result = run(project, "--playground-collection=mine.json")
        result.assert_outcomes(failed=3)
        assert "CommandError: Unknown agent" in result.stdout.str()
        assert len(commands.lines) == 1

    @pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"model": "playground.savedrequest"}]'])
    def test_a_file_that_is_no_collection(
        self, project: pytest.Pytester, commands: Commands, text: str
    ) -> None:
        project.path.joinpath("mine.json").write_text(text)
        result = run(project, "--playground-collection=mine.json")
        if text == "{}":
            assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
        else:
            result.assert_outcomes(errors=1)
            assert "mine.json is not a collection" in result.stdout.str()
        assert commands.lines == []

    def test_a_file_that_is_missing(self, project: pytest.Pytester, commands: Commands) -> None:
        assert run(project, "--playground-collection=none.json").ret == pytest.ExitCode.USAGE_ERROR


@pytest.mark.process
@pytest.mark.slow
def test_against_the_demo_agent(tmp_path: Path) -> None:
    with PlaygroundServer(tmp_path / "data") as server:
        options = ["--playground-agent", f"{server.url}/demo", "-k", "one-by-one"]
        options += ["--playground-collection", str(ROOT / "fixtures" / "tour.json")]
        options += ["-c", os.devnull, "--rootdir", str(tmp_path), "-p", "playground.pytest_plugin"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *WITHOUT, *options],
            env={**server.environment, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
