"""The table of statuses, arrow by arrow."""

from __future__ import annotations

import pytest

from playground.protocols.agent_api.constants import EXTRA_STATUSES, FINAL_STATUSES, STATUSES
from playground.protocols.agent_api.transitions import TRANSITIONS, is_allowed

OBJECTS = ("response", "message", "content")
ALL = {*STATUSES, *EXTRA_STATUSES}


def test_the_table_knows_every_status() -> None:
    assert set(TRANSITIONS) == set(OBJECTS)
    for table in TRANSITIONS.values():
        assert set(table) == ALL | {None}
        for following in table.values():
            assert following <= ALL


@pytest.mark.parametrize("name", OBJECTS)
class TestForAll:
    def test_an_end_stays_an_end(self, name: str) -> None:
        for before in FINAL_STATUSES:
            assert [after for after in ALL if is_allowed(name, before, after)] == [before]

    def test_work_begins_once(self, name: str) -> None:
        assert is_allowed(name, "created", "in_progress")
        assert not is_allowed(name, "created", "created")
        assert not is_allowed(name, "in_progress", "created")
        assert not is_allowed(name, "in_progress", "queued")

    def test_every_piece_is_more_work(self, name: str) -> None:
        assert is_allowed(name, "in_progress", "in_progress")

    def test_work_that_has_begun_is_not_rejected(self, name: str) -> None:
        assert is_allowed(name, "created", "rejected")
        assert not is_allowed(name, "in_progress", "rejected")

    def test_work_can_fail_at_any_time(self, name: str) -> None:
        for before in ("created", "queued", "in_progress", "unknown"):
            assert is_allowed(name, before, "failed")
            assert is_allowed(name, before, "canceled")

    def test_what_got_lost_can_be_anything(self, name: str) -> None:
        assert all(is_allowed(name, "unknown", after) for after in ALL)


@pytest.mark.parametrize(
    ("name", "first", "allowed"),
    [
        ("response", "created", True),
        ("response", "queued", True),
        ("response", "in_progress", False),
        # A reply that does not stream.
        ("response", "completed", True),
        ("response", "failed", True),
        # As running agents open messages, and every stream its contents.
        ("message", "in_progress", True),
        ("message", "completed", True),
        ("content", "in_progress", True),
        ("content", "completed", True),
        ("content", "queued", False),
        ("content", "rejected", False),
    ],
)
def test_how_each_may_begin(name: str, first: str, allowed: bool) -> None:
    assert is_allowed(name, None, first) is allowed


def test_what_the_table_does_not_know_is_not_wrong() -> None:
    assert is_allowed("response", "dreaming", "created")
    assert is_allowed("response", "completed", "dreaming")
    assert is_allowed("thing", "completed", "created")
