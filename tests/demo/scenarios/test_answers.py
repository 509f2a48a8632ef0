"""Scenarios about answers."""

from __future__ import annotations

import pytest

from tests.demo.scenarios.client import ask, items


class TestAnswers:
    @pytest.mark.parametrize(("slug", "place"), [("first", 0), ("middle", 2), ("last", 4)])
    async def test_the_summary(self, slug: str, place: int) -> None:
        whole = await items(f"summary-{slug}")
        assert [item["@type"] for item in whole].index("SearchSummary") == place
        stream = await ask(f"summary-{slug}", "?every=0", prefer={"streaming": True})
        assert [data["item"] for data in stream.data_of("result")] == whole

    async def test_odd_results(self) -> None:
        assert isinstance(await items("results-object"), dict)
        assert await items("results-null") is None
        assert (await items("results-strings"))[0] == "Soup"
        assert isinstance((await ask("meta-list")).document["_meta"], list)
