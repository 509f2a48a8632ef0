"""An Agent API server made with agentscope-runtime."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.qa.peers import serving
from tests.support.commands import Result, run_command

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with serving("agentscope") as origin:
        yield f"{origin}/process"


def send(url: str, text: str) -> Result:
    return run_command("send", url, "--protocol", "agent-api", "--text", text, "--output", "jsonl")


def test_text(url: str) -> None:
    done = send(url, "soup")
    end = done.json_lines[-1]
    assert (end["state"], end["outcome"]) == ("completed", "answer"), done.stdout
    assert "Soup is served." in done.stdout


def test_a_failure(url: str) -> None:
    done = send(url, "burn")
    end = done.json_lines[-1]
    assert (end["state"], end["outcome"]) == ("completed", "failure"), done.stdout
    assert "It burnt." in done.stdout
