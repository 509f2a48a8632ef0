from __future__ import annotations

import pytest

from playground.demo.corpus import Corpus
from tests.demo.conftest import Clock, clock, corpus, whole_corpus

__all__ = ["Clock", "Corpus", "clock", "corpus", "whole_corpus"]


@pytest.fixture(autouse=True)
def shipped_corpus(corpus: Corpus) -> Corpus:
    return corpus
