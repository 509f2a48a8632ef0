"""`serve`: port, and the preparation of the database and the assets."""

from __future__ import annotations

import io
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.management import CommandError, call_command

from playground import startup
from playground.models import ActionServer, Agent
from playground.startup import load_samples
from tests.support.playground_server import PlaygroundServer


def test_a_port_that_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError) as error:
            call_command("serve", port=port, stdout=io.StringIO())
    assert str(error.value) == (
        f"Cannot listen on 127.0.0.1, port {port} (Address already in use)."
        f" Use another port: make run PORT={port + 1}"
    )


@pytest.mark.parametrize(
    ("host", "port"), [("127.0.0.1", 70_000), ("127.0.0.1", -1), ("no-such-host.invalid", 0)]
)
def test_where_nobody_can_listen(host: str, port: int) -> None:
    with pytest.raises(CommandError, match="Cannot listen on") as error:
        call_command("serve", host=host, port=port, stdout=io.StringIO())
    assert "None" not in str(error.value)


@pytest.mark.process
def test_a_second_start_finds_everything_in_place(tmp_path: Path) -> None:
    server = PlaygroundServer(tmp_path, template=False)
    with server:
        manifest = tmp_path / "static" / "staticfiles.json"
        first = manifest.stat()
        page = httpx.get(server.url).text
        keys = [(tmp_path / name).read_text() for name in ("secret-key", "encryption-key")]
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


@pytest.mark.django_db
class TestSamples:
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
        ]

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
