"""`serve`: port, and the preparation of the database and the assets."""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import re
import signal
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import httpx
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from playground.management.commands import serve
from playground.models import ActionServer, Agent
from playground.server import migrations, startup
from playground.server.startup import load_samples
from tests.demo.scenarios.wire import play
from tests.models.test_liveness_processes import Page
from tests.support.playground_server import PlaygroundServer

SERVERS = ["daphne", "uvicorn"]


@pytest.mark.parametrize("server", SERVERS)
def test_a_port_that_is_taken(server: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError) as error:
            call_command("serve", port=port, server=server, stdout=io.StringIO())
    assert str(error.value) == (
        f"Cannot listen on 127.0.0.1, port {port} (Address already in use)."
        f" Use another port: make run PORT={port + 1}"
    )


@pytest.mark.django_db
@pytest.mark.parametrize("is_listening", [True, False])
def test_another_process_at_the_previous_address(
    monkeypatch: pytest.MonkeyPatch, settings: Any, is_listening: bool
) -> None:
    settings.HOSTED = True  # It loads no collections.
    monkeypatch.setattr(serve, "_import_server", lambda name: Mock())
    for name in ("migrate", "collect_static"):
        monkeypatch.setattr(serve, name, Mock())
    shown = io.StringIO()
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        load_samples(f"http://127.0.0.1:{port}")
        if is_listening:
            other.listen()
        call_command("serve", port=0, stdout=shown)
    told = (
        f"Another process listens on http://127.0.0.1:{port}. If it is a playground with the same"
    )
    assert (told in shown.getvalue()) is is_listening


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("no-such-host.invalid", 0)]
)
def test_where_nobody_can_listen(host: str, port: int) -> None:
    with pytest.raises(CommandError, match="Cannot listen on") as error:
        call_command("serve", host=host, port=port, stdout=io.StringIO())
    assert "None" not in str(error.value)


def test_a_server_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "playground.server.uvicorn", raising=False)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(CommandError) as error:
        call_command("serve", server="uvicorn", port=0, stdout=io.StringIO())
    assert str(error.value) == (
        "--server uvicorn needs the package uvicorn of the extra “uvicorn”."
        " Install it with: make setup"
    )


@pytest.fixture(scope="module", params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PlaygroundServer]:
    """A playground under each of the servers."""
    data = tmp_path_factory.mktemp(request.param)
    with PlaygroundServer(data, options=("--server", request.param)) as running:
        yield running


def follow(server: PlaygroundServer, run: str, **options: Any) -> ClientConnection:
    """The websocket of a run, from its first frame."""
    address = f"{server.url.replace('http', 'ws', 1)}/ws{run}"
    return connect(address, origin=server.url, max_size=None, **options)  # type: ignore[arg-type]


def received_until_closed(viewer: ClientConnection) -> list[Any]:
    """Receive until the connection is closed, cleanly or not."""
    messages = []
    with contextlib.suppress(ConnectionClosed):
        while True:
            messages.append(viewer.recv(timeout=20))
    return messages


def raw_head(server: PlaygroundServer, request: str) -> list[str]:
    """Send a request as it is written, with a Host unless it names one; return the head."""
    host = f"127.0.0.1:{server.port}"
    if "Host:" not in request:
        request += f"Host: {host}\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(f"{request}\r\n".encode())
        received = b""
        while b"\r\n\r\n" not in received and (piece := connection.recv(4096)):
            received += piece
    return received.partition(b"\r\n\r\n")[0].decode().splitlines()


@pytest.mark.process
class TestBothServers:
    def test_pages(self, server: PlaygroundServer) -> None:
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "elsewhere.example"}
        reply = httpx.get(f"{server.url}/", headers=headers)
        assert reply.status_code == 200
        assert reply.headers.get("Server") != "uvicorn"
        assert "elsewhere.example" not in reply.text

    def test_no_header_names_the_server(self, server: PlaygroundServer) -> None:
        upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        upgrade += "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        run = Page(server).ask("named", "/demo", "soup")
        answers = {
            "GET / HTTP/1.1\r\n": 200,
            "GET /nowhere/ HTTP/1.1\r\n": 404,
            "GET / HTTP/1.1\r\nHost: evil.example\r\n": 400,
            "nonsense\r\n": 400,
            f"GET /ws/nowhere/ HTTP/1.1\r\n{upgrade}": 403,
            f"GET /ws{run} HTTP/1.1\r\nOrigin: {server.url}\r\n{upgrade}": 101,
        }
        for request, status in answers.items():
            head = raw_head(server, request)
            assert head[0].split()[1] == str(status), head
            names = {line.partition(":")[0].lower() for line in head[1:]}
            assert not names & {"server", "x-powered-by", "via"}, head

    def test_static_files_are_cached(self, server: PlaygroundServer) -> None:
        page = httpx.get(f"{server.url}/")
        assert page.headers["Cache-Control"] == "private, no-cache"
        path = re.findall(r'"(/static/[^"]+\.css)"', page.text)[0]
        response = httpx.get(server.url + path)
        assert response.headers["Cache-Control"] == "max-age=315360000, public, immutable"
        missing = httpx.get(f"{server.url}/static/missing.css")
        assert (missing.status_code, missing.headers["Cache-Control"]) == (
            404,
            "private, no-cache",
        )

    def test_a_run_is_followed_to_its_end(self, server: PlaygroundServer) -> None:
        run = Page(server).ask("paced", "/demo/scenarios/slow?every=0.02&n=5", "soup")
        with follow(server, run, compression="deflate") as viewer:
            assert not viewer.protocol.extensions  # It costs more than it saves.
            messages = received_until_closed(viewer)
        assert "data-final" in messages[-1]
        assert viewer.protocol.close_code == 1000

    def test_a_message_that_is_too_large(self, server: PlaygroundServer) -> None:
        run = Page(server).ask("large", "/demo/scenarios/endless?every=0.05", "soup")
        with follow(server, run) as viewer:
            viewer.send("x" * (2**20 + 1))
            assert "data-final" not in "".join(received_until_closed(viewer))

    async def test_connections_that_break(self, server: PlaygroundServer) -> None:
        for slug, is_reset in (("reset", "daphne" in server._options), ("dirty-close", False)):
            reply = await play(server, slug, "?every=0.05")
            assert (reply.reset, reply.whole) == (is_reset, False)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_stops_it(self, server: PlaygroundServer, number: signal.Signals) -> None:
        page = Page(server)
        run = page.ask(number.name.lower(), "/demo/scenarios/endless?every=0.01", "soup")
        server.log.clear()
        with follow(server, run) as viewer, ThreadPoolExecutor(1) as executor:
            assert viewer.recv(timeout=20)
            received = executor.submit(received_until_closed, viewer)
            assert server.stop(number) == 0
            assert "data-final" in received.result()[-1]
        assert viewer.protocol.close_code == 1000
        told = [line.partition("graceful_stop: ")[2] for line in server.log]
        begun, ended = filter(None, told)
        # Other tests have left some more.
        assert re.fullmatch(
            rf"{number.name}: waiting up to 1 s for \d+ runs?; a second signal stops at once\n",
            begun,
        )
        assert re.fullmatch(r"Stopped: \d+ runs? ended, [1-9]\d* interrupted\n", ended)
        server.log.clear()
        server.start()
        assert server.log[0] == f"NLWeb Playground is running at {server.url}/\n"
        assert page.badge(run) == "interrupted"


@pytest.fixture
def usual_umask() -> Iterator[None]:
    previous = os.umask(0o022)
    yield
    os.umask(previous)


def assert_private(directory: Path, *names: str) -> None:
    """Assert that all files of a directory are their owner's alone, these among them."""
    files = [path for path in directory.iterdir() if path.is_file()]
    assert {path.name for path in files} >= {"playground.sqlite3", "encryption-key", *names}
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in files}
    assert found == {path.name: 0o600 for path in files}


@pytest.mark.process
@pytest.mark.usefixtures("usual_umask")
def test_the_first_command_in_a_directory_and_two_starts(tmp_path: Path) -> None:
    """Others can read the directory, and none of the files that are made in it."""
    tmp_path.chmod(0o755)
    server = PlaygroundServer(tmp_path, template=False)
    done = server.manage("run_collection", "kept")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "CommandError: Unknown collection “kept”. Saved collections: none."
    )
    assert_private(tmp_path)
    (tmp_path / "playground.sqlite3").chmod(0o644)
    with server:
        manifest = tmp_path / "static" / "staticfiles.json"
        first = manifest.stat()
        page = httpx.get(server.url).text
        assert_private(tmp_path, "playground.sqlite3-wal", "secret-key")
        keys = [(tmp_path / name).read_text() for name in ("secret-key", "encryption-key")]
    log = "".join(server.log)
    assert "playground.sqlite3 was accessible to other users (mode 0644)" in log
    assert "W002" not in log
    with server:
        again = manifest.stat()
        assert (again.st_mtime_ns, again.st_ino) == (first.st_mtime_ns, first.st_ino)
        assert httpx.get(server.url).text.count("<option") == page.count("<option")
        assert keys == [(tmp_path / n).read_text() for n in ("secret-key", "encryption-key")]
        assert server.log[-2:][0].strip() == f"NLWeb Playground is running at {server.url}/"


def test_files_are_collected_when_they_have_changed(tmp_path: Path, settings: Any) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.css").write_text("a {}")
    settings.STATICFILES_DIRS = [source]
    settings.STATIC_ROOT = tmp_path / "root"
    from django.contrib.staticfiles.finders import get_finder

    get_finder.cache_clear()
    try:
        assert startup.collect_static()
        assert (tmp_path / "root" / "a.css").exists()
        assert not startup.collect_static()
        (source / "a.css").rename(source / "b.css")
        assert startup.collect_static()
        assert not (tmp_path / "root" / "a.css").exists()
        assert (tmp_path / "root" / "b.css").exists()
    finally:
        get_finder.cache_clear()


class TestBrowser:
    @pytest.fixture
    def opened(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The addresses that the start of a server opens, without its background tasks."""
        opened: list[str] = []
        monkeypatch.setattr(serve.process, "start_background_tasks", lambda: None)
        monkeypatch.setattr(serve, "on_stop_signal", lambda _: None)
        monkeypatch.setattr(serve.webbrowser, "open", opened.append)
        monkeypatch.setattr(sys, "platform", "linux")
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
            monkeypatch.delenv(name, raising=False)
        return opened

    async def start(self, address: str) -> None:
        before = asyncio.all_tasks()
        serve._start_background_tasks(address, lambda: None)
        await asyncio.gather(*asyncio.all_tasks() - before)

    @pytest.mark.parametrize("display", ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"])
    async def test_opens_the_page(
        self, opened: list[str], monkeypatch: pytest.MonkeyPatch, display: str
    ) -> None:
        monkeypatch.setenv(display, "x")
        await self.start("http://127.0.0.1:8000")
        assert opened == ["http://127.0.0.1:8000/"]

    async def test_not_unless_it_was_requested(
        self, opened: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("DISPLAY", ":0")
        await self.start("")
        assert opened == []

    async def test_not_one_of_the_terminal(self, opened: list[str]) -> None:
        await self.start("http://127.0.0.1:8000")
        assert opened == []


@pytest.mark.django_db
class TestMigrations:
    @pytest.mark.parametrize("app", ["playground", "demo"])
    @pytest.mark.parametrize("command", ["serve", "export_collection"])
    def test_a_database_of_a_newer_version_is_not_changed(
        self, monkeypatch: pytest.MonkeyPatch, command: str, app: str
    ) -> None:
        MigrationRecorder(connection).record_applied(app, "0099_future")
        monkeypatch.setattr(migrations, "call_command", pytest.fail)
        argument = "--port=0" if command == "serve" else "tour"
        with pytest.raises(CommandError, match="migrated by a newer version") as error:
            call_command(command, argument, stdout=io.StringIO())
        assert error.value.returncode == migrations.NEWER_DATABASE
        assert "\n" not in str(error.value)
        assert not Agent.objects.exists()

    @pytest.mark.parametrize("command", [migrations.migrate, migrations.migrate_if_needed])
    def test_a_database_between_replaced_migrations_is_not_changed(
        self, monkeypatch: pytest.MonkeyPatch, command: Callable[[], None]
    ) -> None:
        recorder = MigrationRecorder(connection)
        for name in ("0007_squashed_0017_stored_bytes", "0016_lessons", "0017_stored_bytes"):
            recorder.record_unapplied("playground", name)
        monkeypatch.setattr(migrations, "call_command", pytest.fail)
        with pytest.raises(CommandError, match="a part of the migrations") as error:
            command()
        assert error.value.returncode == migrations.NOT_MIGRATED

    def test_migrations_of_other_packages_are_theirs(self) -> None:
        MigrationRecorder(connection).record_applied("auth", "0099_future")
        migrations.migrate_if_needed()

    def test_a_command_applies_what_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls: list[str] = []
        monkeypatch.setattr(migrations, "call_command", lambda name, **_: calls.append(name))
        migrations.migrate_if_needed()
        assert calls == []
        MigrationRecorder(connection).record_unapplied("playground", "0022_storage")
        with contextlib.suppress(CommandError):  # There is no such collection.
            call_command("export_collection", "none", stdout=io.StringIO())
        assert calls == ["migrate"]

    def test_a_command_does_not_migrate_postgresql(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection, "vendor", "postgresql")
        monkeypatch.setattr(migrations, "call_command", pytest.fail)
        migrations.migrate_if_needed()
        MigrationRecorder(connection).record_unapplied("playground", "0022_storage")
        with pytest.raises(CommandError, match=r"not migrated\. Run: manage.py migrate$") as error:
            call_command("export_collection", "tour", stdout=io.StringIO())
        assert error.value.returncode == migrations.NOT_MIGRATED


@pytest.mark.django_db
class TestSamples:
    @pytest.fixture(autouse=True)
    def hosted(self, settings: Any) -> None:
        """Load no collections."""
        settings.HOSTED = True

    def test_the_demo_agent_follows_the_address(self) -> None:
        load_samples("http://127.0.0.1:8000/")
        agent = Agent.objects.all()[0]
        assert (agent.slug, agent.url) == ("demo", "http://127.0.0.1:8000/demo")
        Agent.objects.update(name="Renamed")
        load_samples("http://127.0.0.1:8123")
        agent = Agent.objects.all()[0]
        assert (agent.name, agent.url) == ("Renamed", "http://127.0.0.1:8123/demo")

    def test_so_do_the_demo_over_mcp_and_the_agent_api(self) -> None:
        load_samples("http://127.0.0.1:8000/")
        Agent.objects.filter(slug="demo-agent-api").delete()
        Agent.objects.update(name="Renamed")
        load_samples("http://127.0.0.1:8123")
        found = Agent.objects.values_list("slug", "name", "url", "protocol", "binding", "version")
        origin = "http://127.0.0.1:8123/demo"
        assert list(found) == [
            ("demo", "Renamed", origin, "nlweb", "http", "0.55"),
            ("demo-mcp", "Renamed", f"{origin}/mcp", "nlweb", "mcp", "0.55"),
            ("demo-agent-api", "Demo Agent API", f"{origin}/agent-api", "agent-api", "http", "1"),
            (
                "demo-chat-completions", "Renamed", f"{origin}/v1/chat/completions",
                "chat-completions", "http", "1",
            ),
        ]  # fmt: skip

    def test_actions_know_the_server_of_the_demo(self) -> None:
        load_samples("http://127.0.0.1:8000/")
        load_samples("http://127.0.0.1:8123")
        server = ActionServer.objects.get()
        assert (server.owner, server.protocol, server.identifier) == (None, "mcp", "demo-mcp")
        assert server.url == "http://127.0.0.1:8123/demo/mcp"

    def test_other_agents_stay_as_they_are(self) -> None:
        Agent.objects.create(name="Mine", url="http://127.0.0.1:8000/demo")
        load_samples("http://127.0.0.1:9999")
        assert Agent.objects.get(slug="mine").url == "http://127.0.0.1:8000/demo"

    def test_without_the_demo_there_are_none(self, settings: Any) -> None:
        settings.DEMO_ENABLED = False
        load_samples("http://127.0.0.1:8000")
        assert not Agent.objects.exists()
