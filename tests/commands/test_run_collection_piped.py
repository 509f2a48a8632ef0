"""`manage.py run_collection -`: the collection comes by the standard input."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_run_collection import answer, fixture, run, texts
from tests.playground_server import PlaygroundServer
from tests.servers import free_port, serve


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> PlaygroundServer:
    found = PlaygroundServer(tmp_path_factory.mktemp("piped"))
    found.manage("migrate", "-v", "0")
    return found


async def test_it_is_run(command: PlaygroundServer, tmp_path: Path) -> None:
    async with serve(answer()) as server:
        file = fixture(tmp_path, {"address": server.url, "text": "{{city}}"})
        done = await run(command, "-", "--var", "city=Oslo", input=Path(file).read_text())
        assert texts(server.requests) == ["Oslo"]
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", ["", "{"])
async def test_what_is_no_collection(command: PlaygroundServer, text: str) -> None:
    done = await run(command, "-", input=text)
    assert done.returncode == 2
    assert "-: " in done.stderr
    assert "Traceback" not in done.stderr


async def test_it_says_why_nothing_answered(command: PlaygroundServer, tmp_path: Path) -> None:
    port = free_port()
    file = fixture(tmp_path, {"address": "http://127.0.0.1:9"})
    address = f"http://127.0.0.1:{port}"
    done = await run(command, "-", "--agent", address, input=Path(file).read_text())
    assert done.returncode == 3
    assert f"127.0.0.1:{port} refused the connection" in done.stdout
