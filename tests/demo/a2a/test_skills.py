"""The plans that the skills make of requests."""

from __future__ import annotations

import pytest

from playground.demo.a2a import skills
from playground.demo.a2a.skills import InputRequired, TaskRejected
from playground.demo.a2a.tasks import TaskWork
from playground.demo.corpus import Corpus

pytestmark = pytest.mark.django_db(transaction=True)


class TestSkills:
    @pytest.mark.parametrize(
        ("text", "skill"),
        [
            ("tomato soup", "ask"), ("plan the shopping", "plan_shopping"),
            ("groceries for soup", "plan_shopping"), ("book something", "reserve_table"),
            ("A table for two", "reserve_table"), ("tables", "ask"),
        ],
    )  # fmt: skip
    def test_words_choose(self, text: str, skill: str) -> None:
        assert skills.choose("", text) == skill

    @pytest.mark.parametrize(
        ("query", "time"),
        [
            ("at 19:30", "19:30"), ("at 7 pm", "19:00"), ("7:30 pm", "19:30"), ("12 am", "00:00"),
            ("at 12:15 pm", "12:15"), ("at noon", "12:00"), ("8 o'clock", "08:00"), ("at 7", None),
            ("for 2", None), ("at 25:00", None), ("at 10:75", None), ("7 pmx", None),
        ],
    )  # fmt: skip
    def test_times(self, whole_corpus: Corpus, query: str, time: str | None) -> None:
        plan = skills.plan("reserve_table", whole_corpus, f"A table {query}")
        if time is None:
            assert isinstance(plan, InputRequired)
        else:
            assert isinstance(plan, TaskWork)
            assert plan.final_message.endswith(f"is reserved for {time}.")

    @pytest.mark.parametrize(
        ("party", "guests"),
        [("for two", 2), ("for twelve", 12), ("for 3 people", 3), ("for 7 pm", 2), ("", 2)],
    )
    def test_guests(self, whole_corpus: Corpus, party: str, guests: int) -> None:
        plan = skills.plan("reserve_table", whole_corpus, f"A table {party} at 20:00")
        assert isinstance(plan, TaskWork)
        assert plan.pieces[1][0]["data"]["partySize"] == guests

    def test_too_many_guests(self, whole_corpus: Corpus) -> None:
        plan = skills.plan("reserve_table", whole_corpus, "A table for 13 at 20:00")
        assert isinstance(plan, TaskRejected)
