"""A2A agents made with a2a-sdk 0.3, and with pydantic-ai and fasta2a."""

from __future__ import annotations

import pytest

from tests.qa.peers import serving
from tests.qa.peers.conftest import Actions, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def message(origin: str, text: str) -> dict[str, str]:
    return {"name": "cook", "protocol": "A2A", "agent_url": origin, "skill": "cook",
            "message": text}  # fmt: skip


@pytest.mark.parametrize("form", [(), ("streaming",)])
@pytest.mark.parametrize(
    ("text", "outcome", "shown"),
    [
        ("hello", "answer", "Hello from the kitchen."),
        ("soup", "answer", "Soup is served."),
        ("nothing", "answer", ""),
        ("burn", "failure", "It burnt."),
    ],
)
async def test_a2a_sdk_0_3(
    actions: Actions, form: tuple[str, ...], text: str, outcome: str, shown: str
) -> None:
    with serving("a2a_v03", *form) as origin:
        run = await actions.run(message(origin, text))
    assert (run.state, run.outcome) == ("completed", outcome)
    assert shown in await text_of(run)


async def test_fasta2a(actions: Actions) -> None:
    """A task is only submitted by the reply: it has to be asked for until it is completed."""
    with serving("fasta2a") as origin:
        run = await actions.run(message(origin, "soup"))
    assert (run.state, run.outcome) == ("completed", "answer")
    assert "Soup is served." in await text_of(run)
