"""Scenarios that refuse a request."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

from tests.demo.scenarios.client import ask, post


class TestRefusals:
    async def test_members(self) -> None:
        reply = await ask("members")
        assert (reply.status, reply.code) == (401, "UNAUTHORIZED")
        assert reply.headers["WWW-Authenticate"].startswith("Bearer ")
        request = {"query": {"text": "soup"}, "prefer": {"streaming": False}}
        reply = await post("members/ask", request, authorization="Bearer demo-token")
        assert len(reply.document["results"]) == 2

    async def test_a_date_to_wait_for(self) -> None:
        reply = await ask("rate-limited-date")
        assert (reply.status, reply.code) == (429, "RATE_LIMITED")
        assert parsedate_to_datetime(reply.headers["Retry-After"]).tzinfo

    async def test_details(self) -> None:
        reply = await ask("failure-details")
        assert (reply.status, reply.code) == (400, "INVALID_QUERY")
        assert reply.document["error"]["details"]["parameter"] == "max_cooking_time"

    async def test_not_nlweb(self) -> None:
        reply = await ask("foreign-error")
        assert reply.status == 500
        assert not {"_meta", "error"} & set(reply.document)
        reply = await ask("empty-error")
        assert (reply.status, reply.body) == (503, b"")
