"""`run_collection -`: a collection on standard input."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.test_run_collection import answer, fixture, run, texts
from tests.support.servers import free_port, serving

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_is_run(tmp_path: Path) -> None:
    with serving(answer()) as server:
        file = fixture(tmp_path, {"address": server.url, "text": "{{city}}"})
        done = run("-", "--var", "city=Oslo", stdin=Path(file).read_text())
        assert texts(server.requests) == ["Oslo"]
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("text", ["", "{"])
def test_what_is_no_collection(text: str) -> None:
    done = run("-", stdin=text)
    assert done.returncode == 2
    assert "-: " in done.stderr
    assert "Traceback" not in done.stderr


def test_it_says_why_nothing_answered(tmp_path: Path) -> None:
    port = free_port()
    file = fixture(tmp_path, {"address": "http://127.0.0.1:9"})
    address = f"http://127.0.0.1:{port}"
    done = run("-", "--agent", address, stdin=Path(file).read_text())
    assert done.returncode == 3
    assert f"Nothing listens on 127.0.0.1:{port}" in done.stdout
