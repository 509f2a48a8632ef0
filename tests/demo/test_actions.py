"""Actions of results (section 5)."""

from __future__ import annotations

import pytest

from playground.demo.actions import DemoUrls, actions_of
from playground.demo.corpus import Corpus
from tests.demo.conftest import check

pytestmark = pytest.mark.django_db(transaction=True)
LINKS = DemoUrls("http://s/", "http://s/cookbook/", "http://s/cart/", "http://s/a2a")


def test_every_entry_offers_something(whole_corpus: Corpus) -> None:
    for entry in whole_corpus.entries:
        actions = actions_of(entry, LINKS)
        for action in actions:
            check("0.55", "action", action)
            check("0.54", "action", action)
        assert len({action["name"] for action in actions}) == len(actions) > 0


def test_every_protocol_and_method_is_there(whole_corpus: Corpus) -> None:
    actions = [action for entry in whole_corpus.entries for action in actions_of(entry, LINKS)]
    assert {action["protocol"] for action in actions} == {"HTTP", "MCP", "A2A"}
    assert {a["method"] for a in actions if "method" in a} == {"GET", "POST", "DELETE"}
    assert any("headers" in action for action in actions)
