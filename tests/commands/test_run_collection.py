"""`run_collection`: exit codes, reporters, values, order, and signals."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from junitparser import JUnitXml

from playground.management.commands.run_collection import WAITING_FOR_LIMIT, StepPrinter
from playground.models import CollectionRun, Environment
from tests.support.commands import Result, run_command
from tests.support.playground_server import ROOT, PlaygroundServer
from tests.support.servers import HOLD, STREAM_HEAD, closing, free_port, reply, serve, serving

OK = [{"type": "status", "equals": 200}]
NOT_FOUND = [{"type": "status", "equals": 404}]


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> PlaygroundServer:
    """Return a playground without a server, for commands in processes of their own."""
    found = PlaygroundServer(tmp_path_factory.mktemp("collections"))
    found.prepare(samples=False)
    return found


def fixture(tmp_path: Path, *requests: dict[str, Any], folders: Sequence[str] = ()) -> str:
    """Write a file with a collection; each request is given by its differences from the default."""
    key = ["kept"]
    items: list[Any] = [
        {"model": "playground.collection", "fields": {"name": "Kept", "slug": "kept"}}
    ]
    for position, name in enumerate(folders):
        fields = {"collection": key, "name": name, "slug": name.lower(), "position": position}
        items.append({"model": "playground.folder", "fields": fields})
    for number, request in enumerate(requests, 1):
        fields = {
            "collection": key, "name": f"Request {number}", "slug": f"request-{number}",
            "position": number, "protocol": "nlweb", "binding": "http", "version": "0.55",
            "document": {"query": {"text": request.pop("text", f"{number}")}},
            **request,
        }  # fmt: skip
        items.append({"model": "playground.savedrequest", "fields": fields})
    file = tmp_path / "kept.json"
    file.write_text(json.dumps(items), "utf-8")
    return str(file)


def run(*arguments: str, stdin: str = "") -> Result:
    return run_command("run_collection", *arguments, stdin=stdin)


def answer(name: str = "Soup") -> bytes:
    results = [{"name": name, "url": "https://a.example"}]
    return closing(reply(json.dumps({"results": results}).encode()))


def texts(requests: Sequence[bytes]) -> list[str]:
    return [json.loads(each.partition(b"\r\n\r\n")[2])["query"]["text"] for each in requests]


@pytest.mark.django_db(transaction=True)
class TestExitCodes:
    def test_all_met(self, tmp_path: Path) -> None:
        with serving(answer()) as server:
            file = fixture(
                tmp_path,
                {"address": server.url, "expectations": OK},
                {"address": server.url, "expectations": OK, "folder": ["kept", "a"]},
                folders=["A"],
            )
            done = run(file)
            assert texts(server.requests) == ["1", "2"]
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert lines[0].startswith("✓ Request 1 (")
        assert lines[1].startswith("✓ A / Request 2 (")
        told = "All passed: 2 of 2 requests done, 2 passed; 2 of 2 expectations passed; "
        assert lines[-1].startswith(told)
        # No progress bar without a terminal.
        assert done.stderr == ""

    def test_not_all_met(self, tmp_path: Path) -> None:
        with serving(answer()) as server:
            file = fixture(
                tmp_path,
                {"address": server.url, "expectations": NOT_FOUND},
                {"address": server.url},
                {"address": f"http://127.0.0.1:{free_port()}"},
            )
            done = run(file)
        assert done.returncode == 1
        assert "✗ Request 1 failed" in done.stdout
        assert "✗ the HTTP status is 404; actual: 200" in done.stdout

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["nobody"], "Unknown collection “nobody”. Saved collections:"),
            (["nowhere/x.json"], "No such file"),
            (["{file}", "--data", "nowhere.csv"], "No such file"),
            (["{file}", "--data", "{bad}"], "Line 3: 1 values for 2 columns"),
            (["{bad}"], "Invalid JSON"),
            (["{file}", "--environment", "nobody"], "Unknown environment “nobody”"),
            (["{file}", "--agent", "nobody"], "Unknown agent “nobody”"),
            (["{file}", "--var", "x"], "--var expects NAME=VALUE"),
            (["{file}", "--folder", "nobody"], "No requests in folder “nobody”"),
            (["{file}", "--request", "nobody"], "No request “nobody”"),
            (["{file}", "--iterations", "0"], "0 is not an integer from 1 to"),
            (["{file}", "--iterations", "99999"], "The limit is 20,000"),
            (["{file}", "--parallel", "51"], "51 is not an integer from 1 to 50"),
            (["{file}", "--reporter", "pdf"], "--reporter must be one of text, junit, json, html"),
            (["{file}", "--reporter", "json", "--reporter", "junit"], "Only one of"),
            (["{file}", "--reporter", "json=/nowhere/at/all.json"], "not writable"),
        ],
        ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else "",
    )
    def test_usage(self, tmp_path: Path, arguments: list[str], told: str) -> None:
        file = fixture(tmp_path, {"address": "http://127.0.0.1:9"})
        bad = tmp_path / "bad.csv"
        bad.write_text("a,b\n1,2\n3\n")
        names = {"file": file, "bad": str(bad)}
        given = [each.format(**names) for each in arguments]
        if arguments == ["{bad}"]:
            given = [str(bad.rename(tmp_path / "bad.json"))]
        done = run(*given)
        assert done.returncode == 2, done.stdout + done.stderr
        assert told in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize("address", ["", "http://127.0.0.1:{port}", "http://{{host}}/"])
    def test_it_could_not_be_run(self, tmp_path: Path, address: str) -> None:
        file = fixture(tmp_path, {"address": address.replace("{port}", str(free_port()))})
        assert run(file).returncode == 3

    def test_an_agent_that_is_not_saved_here(self, tmp_path: Path) -> None:
        done = run(fixture(tmp_path, {"agent": "elsewhere"}))
        assert done.returncode == 3
        assert "Unknown agent “elsewhere”. Add it, or choose another one." in done.stdout

    def test_a_failure_that_was_expected(self, tmp_path: Path) -> None:
        wanted = [{"type": "state", "equals": "failed"}]
        address = f"http://127.0.0.1:{free_port()}"
        file = fixture(tmp_path, {"address": address, "expectations": wanted})
        assert run(file).returncode == 0


@pytest.mark.django_db(transaction=True)
class TestValues:
    def test_captures_rows_and_variables(self, tmp_path: Path) -> None:
        rows = tmp_path / "rows.csv"
        rows.write_text("city,day\nOslo,Monday\nLima,Tuesday\n")
        with serving(answer("Soup & more")) as server:
            at = {"address": server.url}
            file = fixture(
                tmp_path,
                {**at, "text": "{{city}} {{day}}", "captures": {"dish": "$.results[0].name"}},
                {**at, "text": "{{dish}} in {{city}}"},
            )
            done = run(file, "--data", str(rows), "--var", "city=Rome", "--var", "day=Sunday")
            assert texts(server.requests) == [
                "Oslo Monday", "Soup & more in Oslo", "Lima Tuesday", "Soup & more in Lima",
            ]  # fmt: skip
            assert done.returncode == 0
            assert "Request 1 [2] (" in done.stdout

            server.requests.clear()
            again = ["--var", "city=Rome", "--var", "day=Sunday", "--request", "Request 1"]
            done = run(file, *again, "--iterations", "2")
            assert texts(server.requests) == ["Rome Sunday", "Rome Sunday"]

    def test_variables_are_json_where_they_can_be(self, tmp_path: Path) -> None:
        """As those of `send`."""
        with serving(answer()) as server:
            document = {"query": {"text": "{{a}}", "num_results": "{{n}}"}}
            file = fixture(tmp_path, {"address": server.url, "document": document})
            done = run(file, "--var", "n=3", "--var", "a=b=c")
            sent = json.loads(server.requests[0].partition(b"\r\n\r\n")[2])
        assert done.returncode == 0, done.stdout
        assert sent["query"] == {"text": "b=c", "num_results": 3}

    def test_an_address_stands_in_for_the_agents(self, tmp_path: Path) -> None:
        with serving(answer()) as server:
            file = fixture(tmp_path, {"agent": "nobody"}, {"address": "http://127.0.0.1:9"})
            done = run(file, "--agent", server.url, "--reporter", "json")
            assert len(server.requests) == 2
        assert done.returncode == 0
        document = json.loads(done.stdout)
        assert document["options"]["agent"] == server.url

    def test_bail_and_parallel(self, tmp_path: Path) -> None:
        with serving(answer()) as server:
            at = {"address": server.url}
            file = fixture(tmp_path, {**at, "expectations": NOT_FOUND}, at, at)
            done = run(file, "--bail")
            assert len(server.requests) == 1
            assert (done.returncode, done.stdout.count("skipped")) == (1, 1)
            server.requests.clear()
            done = run(file, "--parallel", "4", "--iterations", "4")
            assert len(server.requests) == 12
        assert "12 of 12 requests done, 8 passed, 4 failed" in done.stdout


@pytest.mark.django_db(transaction=True)
class TestReporters:
    def test_each_into_its_own_file(self, tmp_path: Path) -> None:
        with serving(answer("\x1b[2J<b>")) as server:
            wanted = [{"type": "json", "path": "$.results[0].name", "equals": "Soup"}]
            file = fixture(tmp_path, {"address": server.url, "expectations": wanted})
            files = {name: tmp_path / f"report.{name}" for name in ("junit", "json", "html")}
            told = [f"--reporter={name}={path}" for name, path in files.items()]
            done = run(file, *told)
        assert done.returncode == 1
        assert "✗ Request 1 failed" in done.stdout  # The text goes to the terminal.
        assert "\x1b" not in done.stdout
        report = JUnitXml.fromfile(str(files["junit"]))
        assert (report.tests, report.failures) == (1, 1)
        assert json.loads(files["json"].read_text())["totals"]["unmet"] == 1
        page = files["html"].read_text("utf-8")
        assert "Request 1" in page
        assert "<b>" not in page.replace("<b dir", "")

    @pytest.mark.parametrize("name", ["junit", "html", "json"])
    def test_one_on_the_standard_output(self, tmp_path: Path, name: str) -> None:
        with serving(answer("\x1b[2J\u202e")) as server:
            wanted = [{"type": "json", "path": "$.results[0].name", "equals": "Soup"}]
            file = fixture(tmp_path, {"address": server.url, "expectations": wanted})
            done = run(file, "--reporter", name)
        assert done.stdout[0] in "<{"
        assert not {"\x1b", "\u202e"} & set(done.stdout)

    def test_no_secret_is_told(self, tmp_path: Path) -> None:
        secret = "canary-7d1f0b2c99"
        with serving(answer(secret)) as server:
            keys = Environment.objects.create(name="Keys")
            keys.variables.create(
                name="key", kind="secret", secret=secret, allowed_origins=[server.url]
            )
            wanted = [{"type": "json", "path": "$.results[0].name", "equals": "Tea"}]
            file = fixture(
                tmp_path,
                {"address": server.url, "expectations": wanted, "headers": [["X-K", "{{key}}"]]},
            )
            for name in ("text", "junit", "json", "html"):
                done = run(file, "--environment", "keys", "--reporter", name)
                assert done.returncode == 1, done.stderr
                assert secret not in done.stdout + done.stderr
            assert secret.encode() in server.requests[0]


@pytest.mark.django_db(transaction=True)
class TestTroubles:
    """Internal errors have an exit code of their own."""

    def test_a_report_that_cannot_be_written_keeps_back_no_other(self, tmp_path: Path) -> None:
        page = tmp_path / "report.html"
        with serving(answer()) as server:
            file = fixture(tmp_path, {"address": server.url, "expectations": OK})
            done = run(file, "--reporter", "junit=/dev/full", "--reporter", f"html={page}")
        assert (done.returncode, done.stderr) == (3, "/dev/full: No space left on device\n")
        assert "All passed: 1 of 1" in done.stdout
        assert "Request 1" in page.read_text("utf-8")


@pytest.mark.process
class TestTroublesOfAProcess:
    @pytest.mark.parametrize("reporter", ["text", "json"])
    async def test_an_output_that_is_full(
        self, command: PlaygroundServer, tmp_path: Path, reporter: str
    ) -> None:
        async with serve(answer()) as server:
            at = {"address": server.url, "expectations": OK}
            file = fixture(tmp_path, at, dict(at), dict(at))
            with Path("/dev/full").open("w") as full:
                process = _start(command, file, "--reporter", reporter, stdout=full)
                _, err = await asyncio.to_thread(process.communicate, timeout=60)
            assert len(server.requests) == 3
        assert process.returncode == 3, err
        assert err == "standard output: No space left on device\n"


@pytest.mark.process
class TestStopping:
    @pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
    async def test_a_signal_ends_it_cleanly(
        self, command: PlaygroundServer, tmp_path: Path, how: signal.Signals
    ) -> None:
        junit = tmp_path / "report.xml"
        async with serve(STREAM_HEAD, HOLD) as server:
            file = fixture(tmp_path, {"address": server.url}, {"address": server.url})
            # If the tests themselves run under nohup, so would the command.
            reset = partial(signal.signal, how, signal.SIG_DFL)
            process = _start(command, file, "--reporter", f"junit={junit}", preexec_fn=reset)
            await asyncio.wait_for(server.asked.wait(), 60)
            process.send_signal(how)
            out, err = await asyncio.to_thread(process.communicate, timeout=60)
            await asyncio.wait_for(server.gone.wait(), 10)
        assert process.returncode == 3, err
        assert "Traceback" not in err
        told = "Stopped: 0 of 2 requests done, 0 passed, 1 stopped, 1 skipped;"
        assert out.splitlines()[-1].startswith(told)
        assert JUnitXml.fromfile(str(junit)).skipped == 2

    async def test_a_bar_on_a_terminal_only(
        self, command: PlaygroundServer, tmp_path: Path
    ) -> None:
        terminal, there = pty.openpty()
        async with serve(answer()) as server:
            file = fixture(tmp_path, {"address": server.url}, {"address": server.url})
            process = _start(command, file, stderr=there)
            out, _ = await asyncio.to_thread(process.communicate, timeout=60)
        os.close(there)
        shown = os.read(terminal, 10_000).decode()
        os.close(terminal)
        assert process.returncode == 0
        assert "1 of 2 requests done, 1 passed" in shown
        assert "2 of 2 requests done, 2 passed" in shown
        assert "\x1b" not in out


def _start(command: PlaygroundServer, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen(
        [sys.executable, "manage.py", "run_collection", *arguments],
        cwd=ROOT, env=command.environment, text=True, **options,
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_a_collection_of_the_database_is_told_by_its_page(tmp_path: Path) -> None:
    with serving(answer()) as server:
        file = fixture(tmp_path, {"address": server.url})
        call_command("loaddata", file, verbosity=0)
        assert run("kept").returncode == 0
    assert CollectionRun.objects.filter(collection__slug="kept", state="completed").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_collection_on_the_standard_input(tmp_path: Path) -> None:
    with serving(answer()) as server:
        file = fixture(tmp_path, {"address": server.url, "text": "{{city}}"})
        done = run("-", "--var", "city=Oslo", stdin=Path(file).read_text())
        assert texts(server.requests) == ["Oslo"]
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("text", ["", "{"])
def test_a_standard_input_that_is_no_collection(text: str) -> None:
    done = run("-", stdin=text)
    assert done.returncode == 2
    assert "-: " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.django_db(transaction=True)
def test_it_says_why_nothing_answered(tmp_path: Path) -> None:
    port = free_port()
    file = fixture(tmp_path, {"address": "http://127.0.0.1:9"})
    address = f"http://127.0.0.1:{port}"
    done = run("-", "--agent", address, stdin=Path(file).read_text())
    assert done.returncode == 3
    assert f"Nothing listens on 127.0.0.1:{port}" in done.stdout


def test_that_there_is_no_room_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    printer = StepPrinter(2, lines=True, numbered=False)
    printer.wait()
    printer.wait()
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", WAITING_FOR_LIMIT + "\n")
