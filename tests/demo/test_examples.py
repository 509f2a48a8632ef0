"""The examples of the demo page, sent."""

from __future__ import annotations

import pytest

from playground.demo.examples import GROUPS, Example
from tests.demo.conftest import Ask, check


class TestExamples:
    """What the demo's page tells people to try."""

    @pytest.mark.parametrize(
        "example", [e for group in GROUPS for e in group.examples], ids=lambda e: e.title
    )
    @pytest.mark.django_db(transaction=True)
    async def test_every_example_does_what_it_says(self, post: Ask, example: Example) -> None:
        version = example.request.get("meta", {}).get("version", "0.55")
        check(version, "ask-request", example.request)
        reply = await post("ask?pace=0", example.request)
        if reply.events:
            kind, count = example.answer, len(reply.data_of("result"))
        else:
            document = reply.document
            kind = document["_meta"]["response_type"]
            count = len(document.get("results", document.get("structuredData", [])))
        assert kind == example.answer
        assert (count > 0) == (kind == "answer")
