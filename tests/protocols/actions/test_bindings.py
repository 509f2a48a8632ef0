from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground.models import Run
from playground.protocols import registry
from playground.protocols.a2a import messages
from playground.protocols.a2a.card import read_card
from playground.protocols.actions.bindings import BINDINGS, plan
from playground.protocols.actions.extract import actions_of
from playground.protocols.actions.plans import UNSET, ActionPlan, ServerInfo
from playground.protocols.exchange import Target
from playground.protocols.http import USER_AGENT
from playground.protocols.origins import MAX_URL
from tests.protocols.a2a.conversation import AGENT as COOK
from tests.protocols.a2a.conversation import CARD_03, CARD_10, Talk
from tests.support.json_values import TEXTS, objects, values
from tests.support.playbook import EXAMPLES

AGENT = "http://agent.example.com/demo"
DEFAULTS = (
    ("Accept", "application/json, text/event-stream;q=0.9, */*;q=0.5"),
    ("User-Agent", USER_AGENT),
)
JSON = ("Content-Type", "application/json")
MCP = {"name": "n", "description": "d", "protocol": "MCP", "server": "s", "tool": "t"}
A2A = {"name": "n", "description": "d", "protocol": "A2A", "agent_url": COOK, "skill": "s"}


def planned(raw: Any, agent_url: str = AGENT, **options: Any) -> ActionPlan:
    (action,) = actions_of({"actions": [raw]})
    return plan(action, agent_url, **options)


def http(**attributes: Any) -> dict[str, Any]:
    base = {"name": "do", "description": "Do it", "protocol": "HTTP", "method": "POST"}
    made = {**base, "endpoint": "https://api.example.com/do", **attributes}
    return {name: value for name, value in made.items() if value is not None}


def example(name: str) -> ActionPlan:
    (action,) = actions_of(json.loads((EXAMPLES / f"{name}.json").read_text()))
    return plan(action, AGENT)


class TestTheExamplesOfTheSpecifications:
    def test_http(self) -> None:
        items = ["4 large eggs", "1/2 cup diced bell peppers", "1/4 cup chopped spinach"]
        assert example("nlweb-0.55/actions-5-http") == ActionPlan(
            protocol="HTTP",
            method="POST",
            url="https://api.recipes.example.com/cart/add",
            headers=(JSON, *DEFAULTS),
            params={"items": items},
            body=b'{"items": ["4 large eggs", "1/2 cup diced bell peppers",'
            b' "1/4 cup chopped spinach"]}',
            request={
                "action": "add_ingredients",
                "protocol": "HTTP",
                "method": "POST",
                "url": "https://api.recipes.example.com/cart/add",
                "headers": [],
                "body": {"items": items},
            },
            params_in="body",
            sendable=True,
        )

    def test_http_of_0_54_with_a_text_for_parameters(self) -> None:
        made = example("nlweb-0.54/actions-7")
        assert (made.method, made.url) == ("POST", "https://api.recipes.example.com/cart/add")
        assert made.body == b'"ingredients specific to the recipe"'
        assert made.sendable

    def test_mcp(self) -> None:
        body = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "cart_add",
                "arguments": {"items": ["4 large eggs", "1/2 cup diced bell peppers"]},
            },
        }
        made = example("nlweb-0.55/actions-5-mcp")
        assert json.loads(made.body) == body
        assert made.request == {
            "action": "add_to_cart",
            "protocol": "MCP",
            "server": "grocery-store-mcp",
            "url": "",
            "tool": "cart_add",
            "arguments": {"items": ["4 large eggs", "1/2 cup diced bell peppers"]},
        }
        assert (made.url, made.origin, made.missing) == ("", "", "address")
        assert (made.sendable, made.errors) == (False, ())


class TestParameters:
    @pytest.mark.parametrize("method", ["GET", "delete", "Head"])
    def test_methods_without_a_body_have_them_in_the_query_string(self, method: str) -> None:
        params = {
            "q": "eggs & ham", "n": 5, "half": 0.5, "raw": True, "none": None,
            "tag": ["a", 1, False, None, {"x": "é"}], "filter": {"max": [1, 2]}, "": "blank",
        }  # fmt: skip
        made = planned(http(method=method, endpoint="https://a.example.com/x?old=1#top",
                            params=params))  # fmt: skip
        assert made.method == method.upper()
        assert made.params_in == "query"
        assert (made.body, "body" in made.request) == (b"", False)
        assert made.headers == DEFAULTS
        assert made.url.startswith("https://a.example.com/x?old=1&q=eggs+%26+ham&n=5&half=0.5&")
        assert parse_qsl(urlsplit(made.url).query, keep_blank_values=True)[4:] == [
            ("raw", "true"), ("tag", "a"), ("tag", "1"), ("tag", "false"), ("tag", '{"x": "é"}'),
            ("filter", '{"max": [1, 2]}'), ("", "blank"),
        ]  # fmt: skip

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "OPTIONS", "PURGE"])
    @pytest.mark.parametrize("params", [{"a": [1]}, {}, [], "text", 0, False])
    def test_other_methods_have_them_as_their_body(self, method: str, params: Any) -> None:
        made = planned(http(method=method, params=params))
        assert (made.params_in, made.params) == ("body", params)
        assert json.loads(made.body) == made.request["body"] == params
        assert made.headers == (JSON, *DEFAULTS)

    @pytest.mark.parametrize("method", ["POST", "GET"])
    def test_none_are_none(self, method: str) -> None:
        made = planned(http(method=method))
        assert (made.params, made.params_in, made.body) == (None, "", b"")
        assert made.headers == DEFAULTS
        assert made.url == "https://api.example.com/do"

    def test_edited_ones_take_the_place_of_the_agents(self) -> None:
        raw = http(params={"a": 1})
        assert planned(raw, params={"b": 2}).body == b'{"b": 2}'
        assert planned(raw, params=None).body == b""
        assert planned(raw).body == b'{"a": 1}'


ANOTHER, ELSEWHERE = "https://b.example.com/do", "http://agent.example.com"

#: Attributes of an action, the URL of its agent, and the URL and method that are called; what of
#: them the agent did not give.
CALLED: list[tuple[dict[str, Any], str, str, str, set[str]]] = [
    *(({"method": method, "params": params}, AGENT, "https://api.example.com/do", expected,
       {"method"})
      for method in (None, "", "  ", 5, ["GET"])
      for params, expected in (({"a": 1}, "POST"), ("text", "POST"), ({}, "GET"), (None, "GET"))),
    # A relative endpoint is meant from where the agent was asked.
    *(({"endpoint": endpoint}, agent, url, "POST", {"url"})
      for endpoint, agent, url in (
          ("/cart", AGENT, f"{ELSEWHERE}/cart"),
          ("cart", AGENT, f"{AGENT}/cart"),
          ("cart", f"{AGENT}/ask", f"{AGENT}/cart"),
          ("../cart?x=1", f"{AGENT}/", f"{ELSEWHERE}/cart?x=1"),
          ("?x=1", AGENT, f"{AGENT}/ask?x=1"),
          ("//other.example.com/cart", AGENT, "http://other.example.com/cart"))),
    ({"endpoint": f"{ANOTHER}#top"}, AGENT, ANOTHER, "POST", set()),
    # 0.54 section 4.1.1: an action details its URL, which replaces a missing endpoint.
    ({"endpoint": None, "url": ANOTHER}, ELSEWHERE, ANOTHER, "POST", set()),
    ({"endpoint": None, "url": "do"}, ELSEWHERE, f"{ELSEWHERE}/do", "POST", {"url"}),
    ({"endpoint": "/cart", "url": ANOTHER}, ELSEWHERE, f"{ELSEWHERE}/cart", "POST", {"url"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("attributes", "agent", "url", "method", "inferred"), CALLED, ids=range(len(CALLED))
)
def test_what_is_called(
    attributes: dict[str, Any], agent: str, url: str, method: str, inferred: set[str]
) -> None:
    made = planned(http(**attributes), agent)
    assert (made.url, made.method, made.inferred) == (url, method, inferred)
    assert (made.errors, made.sendable) == ((), True)


class TestEndpoints:
    @pytest.mark.parametrize(
        ("endpoint", "origin"),
        [
            ("https://api.example.com:8443/x", "https://api.example.com:8443"),
            (" http://127.0.0.1/x ", "http://127.0.0.1"),
            ("HTTP://[::1]:80/x", "http://[::1]"),
        ],
    )
    def test_an_absolute_one_is_taken_as_it_is(self, endpoint: str, origin: str) -> None:
        made = planned(http(endpoint=endpoint))
        assert (made.origin, made.inferred, made.errors) == (origin, frozenset(), ())

    @pytest.mark.parametrize(
        ("endpoint", "refusal"),
        [
            (None, "The action has no endpoint."),
            ("  ", "The endpoint of the action is empty."),
            (["http://a.example.com"], "The endpoint of the action is not a string."),
            ("javascript:alert(1)", "must be an http or https URL, not javascript:."),
            ("file:///etc/passwd", "must be an http or https URL, not file:."),
            ("localhost:8000/x", "must be an http or https URL, not localhost:."),
            ("http:cart", "The endpoint has no valid host."),
            ("http://", "The endpoint has no valid host."),
            ("http://a.example.com:0/", "The endpoint has no valid host."),
            ("http://a.example.com:x/", "The endpoint is not a valid URL."),
            ("http://a.example.com:99999/", "The endpoint is not a valid URL."),
            ("http://[::1/", "The endpoint is not a valid URL."),
            ("//[::1/", "The endpoint is not a valid URL."),
            ("http://ada:key@a.example.com/", "must not contain a user name or password."),
            ("http://a.example.com\\@b.example.com/", "a space, a backslash or a control"),
            ("http://a.example.com/a b", "a space, a backslash or a control"),
            ("java\nscript:alert(1)", "a space, a backslash or a control"),
            ("http://a.example.com/\ud800", "a space, a backslash or a control"),
        ],
    )
    def test_others_are_refused(self, endpoint: Any, refusal: str) -> None:
        made = planned(http(endpoint=endpoint, method="GET", params={"a": 1}))
        assert len(made.errors) == 1
        assert refusal in made.errors[0]
        assert not made.sendable
        assert made.url == (endpoint.strip() if isinstance(endpoint, str) else "")
        assert isinstance(made.origin, str)

    @pytest.mark.parametrize("agent", ["", "http://[::1", "ftp://agent.example.com"])
    def test_an_agent_whose_address_cannot_be_built_upon(self, agent: str) -> None:
        assert not planned(http(endpoint="/cart"), agent).sendable

    def test_one_that_is_longer_than_a_run_can_keep_is_refused(self) -> None:
        """However it got so long; a database that counts would refuse the run."""
        assert Run._meta.get_field("url").max_length == MAX_URL
        host = "https://api.example.com/"
        long = "x" * (MAX_URL - len(host))
        assert planned(http(endpoint=host + long)).sendable
        refusal = ("The URL is longer than 2,000 characters.",)
        assert planned(http(endpoint=host + long + "x")).errors == refusal
        assert planned(http(endpoint=long), "http://agent.example.com/demo").errors == refusal
        assert planned(http(endpoint=host, method="GET", params={"q": long})).errors == refusal
        assert planned(http(endpoint=host, params={"q": long})).sendable


class TestHeaders:
    def test_those_of_the_action_and_of_the_user(self) -> None:
        raw = http(
            params={},
            headers={"X-Kitchen": " main ", "accept": "text/plain", "X-Api-Key": "theirs"},
        )
        made = planned(raw, headers=[("x-kitchen", "mine"), ("Authorization", "Bearer t")])
        assert made.headers == (
            JSON,
            DEFAULTS[1],
            ("accept", "text/plain"),
            ("X-Api-Key", "theirs"),
            ("x-kitchen", "mine"),
            ("Authorization", "Bearer t"),
        )
        # What the user adds may be secret, so it is no part of what is stored.
        assert made.request["headers"] == [
            ["X-Kitchen", "main"],
            ["accept", "text/plain"],
            ["X-Api-Key", "theirs"],
        ]
        assert made.credentials == ("X-Api-Key",)

    def test_the_users_are_refused_alike(self) -> None:
        made = planned(http(), headers=[("Cookie", "a")])
        assert made.errors == ("Cookie is set by the playground and can’t be overridden.",)


class TestOtherProtocols:
    def test_what_is_no_object_cannot_be_sent(self) -> None:
        made = planned("cook")
        assert (made.method, made.url, made.origin, made.sendable) == ("", "", "", False)
        assert made.errors == ("The action is not an object and can’t be sent.",)

    def test_edited_arguments_of_mcp(self) -> None:
        assert json.loads(planned(MCP).body)["params"] == {"name": "t", "arguments": {}}
        made = planned(MCP, params={"a": 1}, headers=[("Accept", "x")])
        assert json.loads(made.body)["params"] == {"name": "t", "arguments": {"a": 1}}
        assert ("Accept", "x") in made.headers
        assert [name for name, _ in made.headers].count("Accept") == 1

    @pytest.mark.parametrize(
        ("server", "given", "url"),
        [
            ("s", "https://tools.example.com/mcp", "https://tools.example.com/mcp"),
            ("https://named.example.com/mcp", "", "https://named.example.com/mcp"),
            ("https://named.example.com/mcp", "http://b.example.com/", "http://b.example.com/"),
        ],
    )
    def test_mcp_goes_where_the_user_says(self, server: str, given: str, url: str) -> None:
        made = planned({**MCP, "server": server}, server_info=ServerInfo(given))
        assert (made.url, made.request["url"]) == (url, url)
        assert (made.sendable, made.missing, made.errors) == (True, "", ())

    @pytest.mark.parametrize("version", ["", "2025-06-18"])
    def test_mcp_speaks_the_version_that_is_set(self, version: str) -> None:
        """The agent cannot set it."""
        given = ServerInfo("https://tools.example.com/mcp", mcp_version=version)
        made = planned({**MCP, "mcp_version": "2026-07-28"}, server_info=given)
        assert made.request.get("mcp_version", "") == version

    def test_a2a_needs_the_card(self) -> None:
        made = planned(A2A)
        assert (made.url, made.origin, made.body, made.missing) == ("", "", b"", "card")
        assert (made.sendable, made.errors) == (False, ())

    @pytest.mark.parametrize("card", [CARD_03, CARD_10], ids=["0.3", "1.0"])
    @pytest.mark.parametrize(
        ("message", "told"),
        [(None, "d"), ("hello", "hello"), ({"a": 1}, {"a": 1}), ({"parts": []}, {"parts": []})],
    )
    def test_a2a(self, message: Any, told: Any, card: Any) -> None:
        made = planned(
            {**A2A, "message": message}, server_info=ServerInfo(description=card, message_id="m")
        )
        assert made.request == {
            "action": "n", "protocol": "A2A", "agent_url": COOK, "url": COOK, "skill": "s",
            "message": told, "message_id": "m",
        }  # fmt: skip
        assert (made.params, made.url) == (message, COOK)
        assert (made.sendable, made.errors, made.missing) == (True, (), "")
        version = read_card(card).version
        assert version
        outgoing = messages.OutgoingMessage(COOK, COOK, told, "m", "s")
        sent = messages.send_message(outgoing, version, streaming=card is CARD_03)
        assert json.loads(made.body) == sent

    def test_a_card_that_leads_elsewhere_is_planned_with_its_address(self) -> None:
        card = {**CARD_03, "url": "https://other.example.com/"}
        made = planned(A2A, server_info=ServerInfo(description=card))
        assert (made.url, made.origin) == (
            "https://other.example.com/",
            "https://other.example.com",
        )

    def test_a_name_before_the_host_is_no_part_of_the_origin(self) -> None:
        url = "https://chef.example.com@evil.example.com/"
        assert planned(http(endpoint=url)).origin == "https://evil.example.com"
        made = planned(A2A, server_info=ServerInfo(description={**CARD_03, "url": url}))
        assert (made.origin, made.sendable) == ("https://evil.example.com", False)

    def test_each_protocol_has_a_binding_of_its_own(self) -> None:
        assert [binding.name for binding in BINDINGS.values()] == ["http", "mcp", "a2a"]


SET = "is set by the playground and can’t be overridden."
NO_OBJECT = "Parameters in a query string must be a JSON object."
WITHOUT = {"name": "n", "description": "d", "server": 5, "skill": " "}


#: Actions, and why they cannot be sent.
REFUSED: list[tuple[dict[str, Any], list[str]]] = [
    (http(protocol="gRPC"), ["Unsupported action protocol. Supported: HTTP, MCP, A2A."]),
    *((http(method="GET", params=params), [NO_OBJECT]) for params in ("text", [1], 5, False)),
    (http(method="GET /x"), ["“GET /X” is not a valid HTTP method."]),
    (http(method="GET\r\nHost: x"), ["“GET\r\nHOST: X” is not a valid HTTP method."]),
    *((http(method=method), [f"{method.upper()} applies to the connection and is not allowed for "
                             "actions."]) for method in ("connect", "TRACE")),
    (http(headers={"Host": "x", "cookie": "y"}), [f"Host {SET}", f"cookie {SET}"]),
    (http(headers={"Transfer-Encoding": "chunked"}), [f"Transfer-Encoding {SET}"]),
    (http(headers={"X": 5}), ["The value of header X is not a string."]),
    (http(headers={"X": "a\nb"}), ["The value of X contains a control character."]),
    (http(headers={"X Y": "a"}), ["“X Y” is not a valid header name."]),
    (http(headers=[["X", "a"]]), ["The headers of the action are not an object."]),
    ({**MCP, "arguments": [1]}, ["Tool arguments must be a JSON object."]),
    ({**WITHOUT, "protocol": "MCP"}, ["The action has no server.", "The action has no tool."]),
    ({**WITHOUT, "protocol": "A2A"}, ["The action has no agent_url.", "The action has no skill."]),
    ({**A2A, "agent_url": "ftp://x/"}, ["The endpoint must be an http or https URL, not ftp:."]),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "refusals"), REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_sent(raw: Any, refusals: list[str]) -> None:
    made = planned(raw)
    assert (made.errors, made.sendable) == (tuple(refusals), False)
    assert made.protocol != "HTTP" or made.headers in (DEFAULTS, (JSON, *DEFAULTS))


@pytest.mark.parametrize(
    ("raw", "server_info", "refusal"),
    [
        (MCP, ServerInfo("ftp://a.example.com/"), "must be an http or https URL, not ftp:"),
        (MCP, ServerInfo("http://me:secret@a.example.com/"), "a user name or password"),
        (A2A, ServerInfo(description={**CARD_03, "url": "file:///etc/passwd"}), "not file:"),
        (
            A2A,
            ServerInfo(description={**CARD_03, "preferredTransport": "GRPC"}),
            "only unsupported",
        ),
        (A2A, ServerInfo(description={"skills": []}), "has no URL"),
    ],
)
def test_servers_that_cannot_be_called(raw: Any, server_info: ServerInfo, refusal: str) -> None:
    made = planned(raw, server_info=server_info)
    assert refusal in " ".join(made.errors)
    assert not made.sendable


class TestSending:
    @pytest.mark.parametrize("headers", [(), (("X-Mine", "1"), ("accept", "x"))])
    @pytest.mark.parametrize(
        "raw",
        [
            http(params={"é": ["\U0001f95a"]}, headers={"X-Theirs": "2", "Accept": "y"}),
            http(method="GET", params={"é": [1, 2]}, endpoint="/x"),
            http(method="DELETE"),
        ],
    )
    def test_what_is_sent_is_what_was_planned(self, raw: Any, headers: Any) -> None:
        made = planned(raw, headers=headers)
        target = Target(made.url, registry.ACTION, version="", headers=headers)
        stored = json.loads(json.dumps(made.request))
        exchange = registry.exchange(target, stored)
        call = exchange.next_call()
        assert call is not None
        assert (call.method, call.url, call.headers, call.body) == (
            made.method, made.url, made.headers, made.body,
        )  # fmt: skip
        assert call.origin == made.origin
        assert exchange.next_call() is None

    @pytest.mark.parametrize(
        ("raw", "server_info", "first"),
        [
            (MCP, ServerInfo("https://tools.example.com/mcp"), ("POST", "https://tools.example.com/mcp")),
            (
                A2A,
                ServerInfo(description=CARD_10),
                ("GET", "http://agent.example.com/.well-known/agent-card.json"),
            ),
        ],
    )  # fmt: skip
    def test_other_calls_are_made_before_that_of_mcp_and_a2a(
        self, raw: Any, server_info: ServerInfo, first: tuple[str, str]
    ) -> None:
        made = planned(raw, server_info=server_info)
        call = registry.exchange(Target(made.url, registry.ACTION), made.request).next_call()
        assert call is not None
        assert (call.method, call.url) == first

    @pytest.mark.parametrize(
        ("raw", "server_info", "changes"),
        [
            *((http(), None, changes) for changes in (
                {"protocol": "MCP"}, {"protocol": "x"}, {"protocol": 5}, {"method": 5},
                {"method": "CONNECT"}, {"method": "a b"}, {"headers": None}, {"headers": [["a"]]},
                {"headers": [["a", 5]]}, {"headers": ["ab"]}, {"headers": [["Host", "x"]]},
                {"url": None}, {"url": "file:///x"}, {"url": "/x"},
                {"url": "http://api.example.com/do"}, {"url": "https://other.example.com/do"},
            )),
            *((MCP, ServerInfo("https://t.example.com/mcp"), changes) for changes in (
                {"tool": None}, {"arguments": []}, {"url": 5}, {"url": "file:///x"},
                {"url": "https://other.example.com/"},
            )),
            *((A2A, ServerInfo(description=CARD_10), changes) for changes in (
                {"skill": None}, {"agent_url": 5}, {"agent_url": "x"}, {"url": "file:///x"},
                {"url": "https://other.example.com/"}, {"message_id": None}, {"message": UNSET},
            )),
        ],
    )  # fmt: skip
    def test_a_document_that_is_no_such_request_is_refused(
        self, raw: Any, server_info: ServerInfo | None, changes: dict[str, Any]
    ) -> None:
        made = planned(raw, server_info=server_info)
        target = Target(made.url, registry.ACTION)
        assert registry.exchange(target, made.request)
        request = {**made.request, **changes}
        with pytest.raises(ValueError, match=r"\.$"):
            registry.exchange(target, {n: v for n, v in request.items() if v is not UNSET})

    def test_an_answer_is_a_message_of_its_own(self) -> None:
        made = planned(A2A, server_info=ServerInfo(description=CARD_10, message_id="m"))
        resume = {"kind": "a2a", "taskId": "t", "contextId": "", "messageId": "n", "answer": "yes"}
        talk = Talk()
        talk.exchange = registry.exchange(
            Target(made.url, registry.ACTION, resume=resume), made.request
        )
        talk.call().answer(CARD_10).call()
        message = talk.sent["params"]["message"]
        assert (message["messageId"], message["taskId"]) == ("n", "t")
        assert message["parts"] == [{"text": "yes"}]

    def test_nothing_else_of_an_action_is_known_to_the_registry(self) -> None:
        target = Target("http://a.example.com", registry.ACTION)
        assert registry.validate_request(target, {"any": "thing"}) == []
        assert registry.spec(registry.ACTION).mask is None


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


@pytest.mark.parametrize("protocol", [None, "gRPC", ["HTTP"], {}])
def test_an_unsupported_protocol_is_not_sent(protocol: Any) -> None:
    with pytest.raises(ValueError, match="unsupported protocol"):
        registry.exchange(Target(ANOTHER, registry.ACTION), {"protocol": protocol, "url": ANOTHER})


@given(ITEMS | objects(["protocol", "method", "url", "headers", "body"], WORDS), AGENTS)
def test_any_document_is_sent_or_refused(request: Any, url: str) -> None:
    target, message, call = Target(url, registry.ACTION), ".", None
    try:
        call = registry.exchange(target, request).next_call()
    except ValueError as error:
        message = str(error)
    assert message.endswith(".")
    assert call is None or call.url == request["url"]
