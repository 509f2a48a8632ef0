"""Conversations with the demo: one of each kind that a sequence diagram shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from playground.models import Conversation, PolledPromise, PollingStatus, Run, RunKind
from tests.demo.conftest import Clock
from tests.support.demo_runs import ORIGIN, demo_run

ASK = "ask?pace=0"
SURPRISE = "surprise me, but ask first"


def ask(text: str, *, streaming: bool = True, **query: Any) -> dict[str, Any]:
    """Return a request of NLWeb."""
    prefer = {"streaming": streaming}
    return {"query": {"text": text, **query}, "prefer": prefer, "meta": {"version": "0.55"}}


def stream(_: Clock) -> Run:
    return demo_run(ASK, ask("breakfast with eggs"), conversation=Conversation.objects.create())


def failure(_: Clock) -> Run:
    return demo_run(ASK, ask("breakfast that fails"))


def answered_elicitation(_: Clock) -> Run:
    conversation = Conversation.objects.create()
    asked = demo_run(ASK, ask(SURPRISE, streaming=False), conversation=conversation)
    answers = {"dietary_restrictions": ["vegan"], "cooking_time": "20-40 minutes"}
    request = ask(SURPRISE, **answers)
    request["meta"]["session_context"] = asked.session_context
    return demo_run(
        ASK,
        request,
        after=20,
        conversation=conversation,
        parent=asked,
        kind=RunKind.ANSWER,
        answers=answers,
    )


def promise(clock: Clock, polls: int = 5) -> Run:
    """Return a turn whose promise was fulfilled with the last one of some polls."""
    turn = demo_run(ASK.replace("0", "1"), ask("make a weekly meal plan", streaming=False))
    [token] = [row.token for row in _tasks()]
    request = {"promise_token": token, "action": "checkin", "meta": {"version": "0.55"}}
    final = turn
    for number in range(polls):
        clock.now += 10 / polls
        final = demo_run(
            ASK, request, after=3 * (number + 1), parent=turn, kind=RunKind.POLL, **_AT_END
        )
    PolledPromise.objects.create(
        run=turn,
        entry_seq=5,
        token=token,
        status=PollingStatus.FULFILLED,
        polls=polls,
        polling_seconds=60,
        final_run=final,
        ended_at=final.started_at + timedelta(seconds=1),
    )
    return turn


_AT_END = {"parent_entry_seq": 5, "parent_entry_part": 0}


def _tasks() -> Any:
    from playground.demo.models import PromisedTask

    return PromisedTask.objects.all()


def action(turn: Run, binding: str, request: dict[str, Any], **fields: Any) -> Run:
    """Return the run of an action of a turn."""
    path = request["url"].removeprefix(f"{ORIGIN}/demo/")
    own = {"parent": turn, "protocol": "action", "kind": RunKind.ACTION, "binding": binding}
    entry = {"parent_entry_seq": 5, "parent_entry_part": 0, "text": request["action"]}
    return demo_run(path, request, **own, **entry, **fields)


def actions(_: Clock) -> Run:
    turn = demo_run(ASK, ask("leek soup", streaming=False))
    cookbook, mcp, a2a = (f"{ORIGIN}/demo/{path}" for path in ("cookbook/", "mcp", "a2a"))
    http = {"action": "save_recipe", "protocol": "HTTP", "method": "POST", "url": cookbook}
    action(turn, "http", {**http, "headers": [], "body": {"name": "Soup"}}, after=1)
    tool = {"action": "cart_add", "protocol": "MCP", "server": "demo-mcp", "url": mcp}
    arguments = {"tool": "cart_add", "arguments": {"items": ["leek"]}}
    action(turn, "mcp", {**tool, **arguments}, after=2)
    skill = {"action": "plan_shopping", "protocol": "A2A", "agent_url": a2a, "url": a2a}
    message = {"message": "Plan the shopping", "message_id": "m", "skill": "plan_shopping"}
    action(turn, "a2a", {**skill, **message}, after=3)
    return turn


def mcp_session(_: Clock) -> Run:
    conversation = Conversation.objects.create()
    return demo_run("mcp/older?pace=0", ask("soup"), binding="mcp", conversation=conversation)


CONVERSATIONS: dict[str, Callable[[Clock], Run]] = {
    "stream": stream,
    "failure": failure,
    "elicitation": answered_elicitation,
    "promise": promise,
    "actions": actions,
    "mcp-session": mcp_session,
}
