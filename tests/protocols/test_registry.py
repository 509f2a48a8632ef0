from __future__ import annotations

from typing import Any

import pytest

from playground.protocols import registry
from playground.protocols.exchange import Target

REQUEST = {"query": {"text": "eggs"}}
URL = "http://a.example.com/mcp"


class TestRegistry:
    def test_an_unknown_protocol(self) -> None:
        message = f"Unknown protocol 'smtp'. Supported: {', '.join(registry.PROTOCOLS)}."
        unknown = Target("http://a.example.com", protocol="smtp")
        for attempt in (
            lambda: registry.exchange(unknown, REQUEST),
            lambda: registry.validate_request(unknown, REQUEST),
            lambda: registry.of("smtp"),
        ):
            with pytest.raises(ValueError) as raised:
                attempt()
            assert str(raised.value) == message

    @pytest.mark.parametrize("protocol", ["smtp", registry.ACTION])
    def test_documents_of_other_protocols_are_not_read(self, protocol: str) -> None:
        meta = {"request_id": "a", "session_context": {}}
        document = {"query": {"text": "x"}, "meta": meta, "context": {"@type": "Own"}}
        row, previous = registry.spec(protocol), ["eggs"]
        assert row.session_context(document, {"b": 1}) is None
        assert row.with_request_id(document, "b") == document
        assert row.omitted_previous(document, previous) == ""
        assert row.mask is None
        default = registry.spec(registry.DEFAULT)
        assert default.session_context(document, {"b": 1}) == {"b": 1}
        assert default.with_request_id(document, "b") != document
        assert default.omitted_previous(document, previous)

    def test_an_unknown_binding(self) -> None:
        with pytest.raises(ValueError, match="Unknown binding 'pigeon'"):
            registry.exchange(Target("http://a.example.com", binding="pigeon"), REQUEST)

    def test_an_unknown_version(self) -> None:
        for attempt in (registry.exchange, registry.validate_request):
            with pytest.raises(ValueError, match=r"Unknown NLWeb version '9'"):
                attempt(Target("http://a.example.com", version="9"), REQUEST)

    @pytest.mark.parametrize(
        ("binding", "opening", "opens"),
        [
            ("http", None, False),
            ("mcp", None, True),
            ("mcp", {"url": URL, "generation": "discover", "version": "2026-07-28"}, False),
        ],
    )
    def test_the_first_call_and_the_one_that_carries_the_request(
        self, binding: str, opening: dict[str, Any] | None, opens: bool
    ) -> None:
        agent = Target(URL, binding=binding, handshake=opening)
        first, call = registry.first_calls(agent, REQUEST)
        assert first is not None
        assert call is not None
        assert (first != call) is opens
        assert b"eggs" in call.body
        assert (b"eggs" not in first.body) is opens
        assert registry.exchange(agent, REQUEST).next_call() == first
        assert registry.preview(agent, REQUEST) == call
