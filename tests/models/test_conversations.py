"""Session context and previous queries from turn to turn."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from playground.models import Conversation, PolledPromise, Run
from playground.models.conversations import (
    MAX_TURNS,
    branch_queries,
    branch_through,
    branch_to,
    turn_of,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]


class ConversationBuilder:
    """A conversation that grows turn by turn."""

    def __init__(self) -> None:
        self.conversation = Conversation.objects.create()
        self._count = 0

    def add(
        self,
        text: str = "",
        parent: Run | None = None,
        kind: str = "ask",
        sent: Any = None,
        returned: Any = None,
        **fields: Any,
    ) -> Run:
        meta = {} if sent is None else {"meta": {"session_context": sent}}
        run = Run.objects.create(
            conversation=self.conversation, parent=parent, kind=kind, agent_name="scripted",
            protocol="nlweb", binding="http", version="0.55",
            request={"query": {"text": text}, **meta}, session_context=returned, **fields,
        )  # fmt: skip
        self._count += 1
        moment = timezone.now() + timedelta(seconds=self._count)
        Run.objects.filter(pk=run.pk).update(created_at=moment)
        return run


@pytest.fixture
def builder() -> ConversationBuilder:
    return ConversationBuilder()


def next_contexts(run: Run) -> list[tuple[Any, str]]:
    return [(turn.next_session_context, turn.session_mode) for turn in branch_to(run)]


def test_the_turns_of_a_branch(builder: ConversationBuilder) -> None:
    first = builder.add("eggs")
    second = builder.add("without nuts", first)
    other = builder.add("without milk", first)
    third = builder.add("", second, kind="answer")
    assert [turn.run for turn in branch_to(third)] == [first, second, third]
    assert [turn.number for turn in branch_to(third)] == [1, 2, 3]
    assert [list(turn.siblings) for turn in branch_to(third)] == [
        [first.pk], [second.pk, other.pk], [third.pk],
    ]  # fmt: skip
    assert branch_queries(branch_to(third)) == ["eggs", "without nuts"]
    assert branch_queries(branch_to(other)) == ["eggs", "without milk"]


def test_a_branch_goes_on_after_a_turn(builder: ConversationBuilder) -> None:
    first = builder.add("eggs")
    second = builder.add("without nuts", first)
    check = builder.add(parent=second, kind="check")
    third = builder.add("vegan", check, kind="answer")
    builder.add("without milk", first)
    newest = builder.add("with salt", third)
    for run in (second, third, newest, check):
        assert [turn.run for turn in branch_through(run)] == [first, second, third, newest]
    # Where it forks, the newest turn is followed.
    assert [turn.query for turn in branch_through(first)] == ["eggs", "without milk"]


def test_checks_and_actions_belong_to_their_turn(builder: ConversationBuilder) -> None:
    turn = builder.add("a week of meals")
    check = builder.add(parent=turn, kind="check")
    action = builder.add(parent=check, kind="action")
    assert turn_of(action) == turn
    assert [each.run for each in branch_to(action)] == [turn]
    # An answer to what a promise turned out to ask follows on the turn of that promise.
    answer = builder.add("vegan", parent=check, kind="answer")
    assert [each.run for each in branch_to(answer)] == [turn, answer]


ECHOES: list[tuple[str, list[dict[str, Any]], list[tuple[Any, str]]]] = [
    ("nothing came", [{}, {}], [(None, "nothing"), (None, "nothing")]),
    ("the latest counts", [{"returned": {"n": 1}}, {"returned": {"n": 2}}],
     [({"n": 1}, "latest"), ({"n": 2}, "latest")]),
    ("an older one holds on", [{"returned": {"n": 1}}, {}], [({"n": 1}, "latest")] * 2),
    ("what was sent holds on", [{"sent": {"own": 1}}], [({"own": 1}, "latest")]),
    ("edited", [
        {"returned": {"n": 1}, "session_override": {"mode": "edited", "value": {"n": 9}}}, {},
    ],
     [({"n": 9}, "edited"), ({"n": 9}, "edited")]),
    ("edited, then newer", [
        {"returned": {"n": 1}, "session_override": {"mode": "edited", "value": {"n": 9}}},
        {"returned": {"n": 2}},
    ], [({"n": 9}, "edited"), ({"n": 2}, "latest")]),
    ("cleared", [
        {"returned": {"n": 1}, "session_override": {"mode": "edited", "value": None}}, {},
    ],
     [(None, "edited"), (None, "nothing")]),
    ("off stays off", [
        {"returned": {"n": 1}, "session_override": {"mode": "off"}}, {"returned": {"n": 2}},
    ],
     [(None, "off"), (None, "off")]),
    ("on again", [
        {"returned": {"n": 1}, "session_override": {"mode": "off"}},
        {"returned": {"n": 2}, "session_override": {"mode": "latest"}},
        {"returned": {"n": 3}},
    ], [(None, "off"), ({"n": 2}, "latest"), ({"n": 3}, "latest")]),
    ("nonsense is nothing", [{"returned": [1], "session_override": "off"}], [(None, "nothing")]),
]  # fmt: skip


@pytest.mark.parametrize(("turns", "expected"), [row[1:] for row in ECHOES],
                         ids=[row[0] for row in ECHOES])  # fmt: skip
def test_what_a_request_that_follows_carries(
    builder: ConversationBuilder, turns: list[dict[str, Any]], expected: list[tuple[Any, str]]
) -> None:
    run = None
    for turn in turns:
        run = builder.add("x", run, **turn)
    assert run
    assert next_contexts(run) == expected


def test_a_check_brings_the_latest_session_context(builder: ConversationBuilder) -> None:
    turn = builder.add("a week of meals", returned={"n": 1})
    builder.add(parent=turn, kind="check", returned={"n": 2})
    builder.add(parent=turn, kind="check")
    builder.add(parent=turn, kind="action", returned={"n": 9})
    (found,) = branch_to(turn)
    assert (found.returned_session_context, found.next_session_context) == ({"n": 2}, {"n": 2})


def test_a_run_from_before_there_were_conversations() -> None:
    run = Run.objects.create(agent_name="old", request={"query": "nonsense"})
    (turn,) = branch_to(run)
    assert (turn.run, turn.query, turn.siblings) == (run, "", [run.pk])


def test_a_long_conversation_costs_no_more(builder: ConversationBuilder) -> None:
    run = builder.add("second", builder.add("first"))
    with CaptureQueriesContext(connection) as few:
        branch_to(run)
    for number in range(MAX_TURNS + 5):
        run = builder.add(f"turn {number}", run)
    with CaptureQueriesContext(connection) as many:
        turns = branch_to(run)
    assert len(many) <= len(few)
    assert len(turns) == MAX_TURNS
    assert turns[-1].run == run


def test_what_became_of_promises_is_read_with_the_turns(builder: ConversationBuilder) -> None:
    run = None
    for number in range(5):
        run = builder.add(f"plan {number}", run, state="completed", outcome="promise")
        PolledPromise.objects.create(
            run=run, entry_seq=1, token="t", status="fulfilled", polling_seconds=60
        )
    assert run
    turns = branch_to(run)
    with CaptureQueriesContext(connection) as asked:
        assert [turn.run.polled_promise.status for turn in turns[:-1]] == ["fulfilled"] * 4
    assert len(asked) == 0
