"""Whatever an agent offers and a server answers: a plan, a call as planned, and events."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from playground.protocols import registry
from playground.protocols.actions import UNSET, ServerInfo, actions_of, plan
from playground.protocols.exchange import Target
from tests.support.json_values import TEXTS, objects, values

NAMES = [
    *["actions", "name", "description", "@type", "protocol", "params", "headers", "Host", "X-A"],
    *["method", "endpoint", "server", "tool", "arguments", "agent_url", "skill", "message"],
]
WORDS = [
    *["HTTP", "MCP", "A2A", "GET", "POST", "delete", "/cart", "?a=1", "http://a.example.com/x"],
    *["https://b.example.com:8443/y?z=1#w", "javascript:1", "//[", "http://a@b/", "http:x"],
]
ITEMS = values(NAMES, WORDS) | objects(NAMES, WORDS)
ACTIONS = st.fixed_dictionaries(
    {},
    optional={
        "name": values(NAMES, WORDS),
        "protocol": st.sampled_from(["HTTP", "MCP", "A2A", "http", ""]),
        "method": st.sampled_from(["GET", "post", "PUT", "HEAD", "x y", 5]) | TEXTS,
        "endpoint": st.sampled_from(WORDS) | TEXTS,
        "params": values(NAMES, WORDS),
        "headers": values(NAMES, WORDS) | st.dictionaries(TEXTS, TEXTS, max_size=3),
        "message": values(["parts", *NAMES]),
    },
)
AGENTS = st.sampled_from(["http://agent.example.com", "https://[::1]:8000/demo/ask?x=1"]) | TEXTS
PEERS = st.builds(
    ServerInfo, st.sampled_from(["", *WORDS]), st.none() | values(["url", "skills", *NAMES], WORDS)
)
HEADERS = st.lists(st.tuples(st.sampled_from(["X-A", "x-b", "Cookie", "accept"]), TEXTS))


@given(ITEMS)
def test_any_item_has_actions_that_can_be_pointed_at(item: Any) -> None:
    for action in actions_of(item):
        value = item
        for part in action.pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            value = value[int(key)] if isinstance(value, list) else value[key]
        assert value is action.raw
        assert action.name
        assert all(problem.endswith(".") for problem in action.problems)


@given(
    ITEMS | ACTIONS.map(lambda raw: {"actions": [raw]}),
    AGENTS,
    st.just(UNSET) | values(NAMES, WORDS),
    HEADERS,
    PEERS,
)
def test_any_action_is_planned_and_sent_as_planned(
    item: Any, agent: str, params: Any, headers: list[tuple[str, str]], server_info: ServerInfo
) -> None:
    for action in actions_of(item):
        made = plan(action, agent, params=params, headers=headers, server_info=server_info)
        stored = json.loads(json.dumps(made.request, allow_nan=False))
        assert stored == made.request
        assert all(refusal.endswith(".") for refusal in made.errors)
        assert isinstance(made.origin, str)
        if made.sendable:
            assert not made.errors
            target = Target(made.url, registry.ACTION, headers=tuple(headers))
            call = registry.exchange(target, stored).next_call()
            assert call is not None
            # Over MCP and A2A others come before it.
            assert made.protocol != "HTTP" or (
                call.method, call.url, call.headers, call.body,
            ) == (made.method, made.url, made.headers, made.body)  # fmt: skip


@given(ITEMS | objects(["protocol", "method", "url", "headers", "body"], WORDS), AGENTS)
def test_any_document_is_sent_or_refused(request: Any, url: str) -> None:
    target, message, call = Target(url, registry.ACTION), ".", None
    try:
        call = registry.exchange(target, request).next_call()
    except ValueError as error:
        message = str(error)
    assert message.endswith(".")
    assert call is None or call.url == request["url"]
