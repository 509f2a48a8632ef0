"""Words of the kitchen that the demo knows, from `vocabulary.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

_WORDS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
#: Words of a query that name nothing to look for.
STOP_WORDS = frozenset(word for line in _WORDS["stop_words"] for word in line.split())
#: Synonyms of search terms, which score less.
SYNONYMS: Mapping[str, Sequence[str]] = _WORDS["synonyms"]
#: Words that set the order of results, with the value to order by.
ORDERS = {word: value for value, words in _WORDS["orders"].items() for word in words}
#: Words that name a schema.org type.
TYPES = {word: kind for kind, words in _WORDS["types"].items() for word in words}
#: Groups of ingredients, by the name of the group.
GROUPS: Mapping[str, Sequence[str]] = _WORDS["groups"]
#: Shelves of a shop, with words for what is on them; the first that fits counts.
SHELVES: Mapping[str, Sequence[str]] = _WORDS["shelves"]
