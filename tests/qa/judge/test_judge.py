"""The sets of mutants are what they say, and the rules find no less in them than they did."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from tests.qa.judge import from_specification
from tests.qa.judge.measurement import Rates, explained, judge, rates
from tests.qa.judge.mutants import Mutant
from tests.qa.judge.sets import SETS
from tests.support.playground_server import ROOT

# What the rules reached, by set and protocol: deviations found, and conforming replies blamed.
# When the rules get better, raise them to what `make judge` prints.
REACHED: dict[tuple[str, str], tuple[int, int]] = {
    ("From the schemas", "nlweb 0.54 http"): (833, 0),
    ("From the schemas", "nlweb 0.55 http"): (1145, 0),
    ("From the schemas", "agent-api 1 http"): (529, 0),
    ("From the schemas", "chat-completions 1 http"): (107, 0),
    ("From the text of the specifications", "nlweb 0.54 http"): (1179, 0),
    ("From the text of the specifications", "nlweb 0.54 mcp"): (817, 0),
    ("From the text of the specifications", "nlweb 0.55 http"): (2039, 0),
    ("From the text of the specifications", "nlweb 0.55 mcp"): (1567, 0),
    ("From the text of the specifications", "agent-api 1 http"): (1447, 0),
}


def _by_protocol() -> dict[tuple[str, str], list[Mutant]]:
    found: dict[tuple[str, str], list[Mutant]] = {}
    for heading, mutants in SETS.items():
        for mutant in mutants():
            protocol = f"{mutant.protocol} {mutant.version} {mutant.binding}"
            found.setdefault((heading, protocol), []).append(mutant)
    return found


MUTANTS = _by_protocol()


@pytest.mark.parametrize("key", REACHED, ids=" ".join)
def test_the_rules_find_no_less_than_they_did(key: tuple[str, str]) -> None:
    reached: Rates = rates(judge(mutant) for mutant in MUTANTS[key])[key[1]]
    found, blamed = REACHED[key]

    assert reached.deviations.right >= found
    assert reached.conforming.total - reached.conforming.right <= blamed


def test_every_protocol_has_its_rates() -> None:
    assert set(MUTANTS) == set(REACHED)


@pytest.mark.parametrize("key", MUTANTS, ids=" ".join)
def test_the_sets_are_consistent(key: tuple[str, str]) -> None:
    names = Counter(mutant.name for mutant in MUTANTS[key])

    assert [name for name, count in names.items() if count > 1] == []
    for mutant in MUTANTS[key]:
        assert mutant.sentence, mutant.name
        assert mutant.level or not mutant.pointers, mutant.name


@pytest.mark.parametrize("key", MUTANTS, ids=" ".join)
def test_a_deviation_is_none_of_the_conforming_replies(key: tuple[str, str]) -> None:
    def told(mutant: Mutant) -> tuple[str, ...]:
        request = json.dumps(mutant.request, sort_keys=True, default=str)
        return mutant.operation, request, repr(mutant.response)

    conforming = {told(mutant) for mutant in MUTANTS[key] if not mutant.level}
    deviating = [mutant for mutant in MUTANTS[key] if mutant.level]

    assert [mutant.name for mutant in deviating if told(mutant) in conforming] == []


def test_conforming_replies_are_json_or_a_stream_of_it() -> None:
    for mutant in from_specification.mutants():
        if mutant.level or mutant.response.status in (401, 429):
            continue
        if mutant.response.body.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{"):
            json.loads(mutant.response.body)
        else:
            assert b"data:" in mutant.response.body, mutant.name


def _reads(folder: str, package: str) -> list[str]:
    """Return the modules of a folder that import something of a package."""
    imports = re.compile(rf"^\s*(?:from|import) {re.escape(package)}\b", re.MULTILINE)
    return [path.name for path in (ROOT / folder).rglob("*.py") if imports.search(path.read_text())]


def test_the_sets_and_the_tables_of_the_rules_do_not_read_each_other() -> None:
    """Each would repeat the mistakes of the other."""
    assert _reads("tests/qa/judge", "tests.conformance") == []
    assert _reads("tests/conformance", "tests.qa") == []
    assert _reads("tests/qa/judge", "tests.qa.judge")


def test_a_miss_tells_the_sentence_what_was_expected_and_what_was_found() -> None:
    mutant = next(each for each in from_specification.mutants() if "token is missing" in each.name)

    lines = list(explained(judge(mutant)))

    assert lines[0] == mutant.name
    assert mutant.sentence in lines[1]
    assert lines[2].strip() == "expected: must at /promise/token"
    assert "must promise-token at /promise/token" in lines[3]


def test_a_finding_of_a_stricter_level_is_no_right_verdict() -> None:
    mutants = {each.name: each for each in from_specification.mutants()}
    missing = judge(mutants["0.55 http promise: /promise/token is missing"])
    lenient = Mutant(**{**vars(missing.mutant), "level": "should"})

    assert missing.right
    assert not judge(lenient).right
