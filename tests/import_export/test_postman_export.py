"""Export of collections as Postman Collections."""

from __future__ import annotations

import json

import pytest

from playground.collections.fixture import fixture_of
from playground.import_export.postman import SCHEMA, to_postman
from playground.models import SavedRequest
from tests.support import example_collections


@pytest.mark.django_db
def test_a_collection_goes_out_as_postman_knows_it() -> None:
    kept = example_collections.example()
    SavedRequest.objects.filter(slug="leek").update(
        binding="mcp", auth={"type": "bearer", "secret": "token"}, version="0.55"
    )
    whole = json.loads(to_postman(fixture_of(kept)))
    assert whole["info"]["schema"] == SCHEMA
    assert (whole["info"]["name"], whole["info"]["description"]) == (
        "Soups",
        "What we ask *often*.",
    )
    assert [each["name"] for each in whole["item"]] == ["First", "Hot", "Cold"]
    assert {"key": "trace", "value": ""} in whole["variable"]
    first, leek = whole["item"][0]["request"], whole["item"][1]["item"][1]["request"]
    assert (first["method"], first["url"]) == ("POST", {"raw": "http://127.0.0.1:8000/demo/ask"})
    assert json.loads(first["body"]["raw"])["query"] == {"text": "soup: First"}
    assert {"key": "X-Trace", "value": "{{trace}}"} in first["header"]
    assert first["description"] == "About First."
    assert "auth" not in first
    assert json.loads(leek["body"]["raw"])["params"]["name"] == "ask"
    assert leek["auth"]["bearer"] == [{"key": "token", "value": "{{token}}", "type": "string"}]
