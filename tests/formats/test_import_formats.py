"""Formats that a collection can be imported from, and what is none of them."""

from __future__ import annotations

import pytest

from playground.collections.fixture import FixtureError
from playground.formats.import_formats import parse_import


@pytest.mark.parametrize("text", ["curl https://a.test/ask -d x", "$ curl.exe https://a.test"])
def test_a_curl_command_is_told_where_it_goes(text: str) -> None:
    with pytest.raises(FixtureError) as refused:
        parse_import(text)
    assert "Paste it into the URL field of the workbench" in str(refused.value)
