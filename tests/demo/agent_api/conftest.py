"""The shipped corpus for every test of the Agent API."""

from __future__ import annotations

import pytest

from playground.demo.corpus import Corpus


@pytest.fixture(autouse=True)
def shipped_corpus(corpus: Corpus) -> Corpus:
    return corpus
