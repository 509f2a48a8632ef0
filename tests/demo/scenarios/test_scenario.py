"""Every scenario, byte for byte: headers, preferences, parameters of the URL."""

from __future__ import annotations

import asyncio

import pytest
from django.test import AsyncClient

from playground.demo.scenarios import SCENARIOS
from playground.demo.scenarios.scenario import SCRIPTS
from tests.demo.scenarios.wire import calling, play
from tests.support.playground_server import PlaygroundServer

#: Scenarios that never end by themselves.
FOREVER = {slug for slug, scenario in SCENARIOS.items() if scenario.is_endless}


class TestEveryScenario:
    @pytest.mark.parametrize("slug", [slug for slug in SCENARIOS if slug not in FOREVER])
    async def test_is_data_and_whole_unless_it_is_to_break(
        self, playground: PlaygroundServer, slug: str
    ) -> None:
        raw = await play(playground, slug, "?every=0.01&n=20")
        assert raw.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in raw.headers["content-security-policy"]
        assert "default-src 'none'" in raw.headers["content-security-policy"]
        assert ("html" in raw.headers["content-type"]) == (slug == "html-error")
        assert raw.whole == (slug not in {"dirty-close", "reset"})
        # The dishes of the table are filled in.
        assert b'"dish"' not in raw.body

    @pytest.mark.parametrize("slug", sorted(FOREVER))
    async def test_what_has_no_end_can_be_given_one(
        self, playground: PlaygroundServer, slug: str
    ) -> None:
        async with calling(playground, f"/demo/scenarios/{slug}/ask?every=0.01&for=0.2") as reader:
            data = await asyncio.wait_for(reader.read(-1), 20)
        assert bool(data) == (slug != "silent")
        assert not data.endswith(b"0\r\n\r\n")

    @pytest.mark.parametrize("slug", SCENARIOS)
    def test_is_described(self, slug: str) -> None:
        scenario = SCENARIOS[slug]
        assert scenario.slug == slug
        assert scenario.title
        assert scenario.description.endswith(".")
        assert scenario.demonstrates.endswith(".")
        assert scenario.state in {"completed", "truncated", "failed", "refused"}
        assert scenario.outcome in {"answer", "elicitation", "promise", "failure", "none"}

    @pytest.mark.parametrize("slug", SCENARIOS)
    def test_sends_something_in_one_way(self, slug: str) -> None:
        scenario = SCENARIOS[slug]
        whole = scenario.document is not None or scenario.body is not None
        answers = bool(scenario.items or scenario.events)
        ways = [slug in SCRIPTS, answers, whole, scenario.elicitation, scenario.promise]
        # With a token, one is the answer and one the refusal.
        assert sum(map(bool, ways)) == (2 if scenario.token else 1)
        assert scenario.hang_up in {"", "close", "reset"}

    def test_scripts_have_a_row(self) -> None:
        assert set(SCRIPTS) <= set(SCENARIOS)

    @pytest.mark.parametrize("query", ["n=x", "n=-1", "n=100001", "every=61", "every=nan", "for=x"])
    async def test_impossible_knobs(self, query: str) -> None:
        reply = await AsyncClient().post(
            f"/demo/scenarios/slow/ask?{query}", "{}", content_type="application/json"
        )
        assert reply.status_code == 400
        assert reply.json()["error"]["code"] == "INVALID_QUERY"
