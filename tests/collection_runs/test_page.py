"""Messages to the page of a collection run, rendered twice, see `compare_with_django`."""

from __future__ import annotations

from typing import Any

import pytest

from playground.collection_runs.page import SHOW_ALL, SHOW_BAD, CollectionRunUpdates, StepPage
from playground.models import Collection, CollectionRun, Run
from tests.support.compiled_templates import compare_with_django
from tests.support.markup import Element, read

pytestmark = pytest.mark.django_db

EVIL = "\"'><script>alert(1)</script>{{ 1 }}"
VERDICTS = ("met", "unmet", "unsent", "skipped", "running", "waiting")


@pytest.fixture(autouse=True)
def compiled_names(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return compare_with_django(monkeypatch)


def stored(**fields: Any) -> CollectionRun:
    run = CollectionRun.objects.create(name=EVIL, planned=1_234, **fields)
    sent = Run.objects.create(
        agent_name=EVIL, url="https://a.example", state="failed", problem={"cause": EVIL}
    )
    checks = [{"met": met, "wanted": EVIL, "actual": EVIL} for met in (True, False, None)]
    for number, verdict in enumerate(VERDICTS, 1):
        run.steps.create(
            number=number, iteration=2, folder=EVIL, name=EVIL, verdict=verdict, reason=EVIL,
            run=sent if number < 3 else None, checks=checks if number < 3 else [],
        )  # fmt: skip
    return run


def messages(run: CollectionRun, show: str) -> list[Element]:
    """Return the first message, that of a further step, and that of the end."""
    updates = CollectionRunUpdates(run.pk, StepPage(show, 1), {1: "running", 2: "running"})
    found = [updates.advance()]
    run.steps.filter(number=5).update(verdict="unmet")
    found.append(updates.advance())
    CollectionRun.objects.filter(pk=run.pk).update(state="completed")
    found.append(updates.advance())
    assert updates.advance() is None
    return [read(each.html) for each in found if each]


@pytest.mark.parametrize("show", [SHOW_ALL, SHOW_BAD])
@pytest.mark.parametrize("iterations", [1, 3])
def test_texts_are_text_in_each_message(
    show: str, iterations: int, compiled_names: list[str]
) -> None:
    collection = Collection.objects.create(name=EVIL)
    run = stored(collection=collection, options={"iterations": iterations})
    first, further, last = messages(run, show)
    for message in (first, further, last):
        assert not list(message.find("script"))
    assert EVIL in first.text
    ids = [row.attributes.get("id") for row in further.find("li")]
    assert list(filter(None, ids)) == ["step-5"]
    assert "Run again…" in last.text
    assert set(compiled_names) == {"collection_runs/page.html#message"}
