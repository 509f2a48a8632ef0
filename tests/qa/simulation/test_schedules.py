"""Schedules of the simulated world: the same ones each time, as many as take half a minute.

`python -m tests.qa.simulation` plays others. One that fails is played again, with its log, by
`SIMULATION_SEED=… SIMULATION_SCHEDULES=1 pytest tests/qa/simulation`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator

import pytest

from tests.qa.simulation import races
from tests.qa.simulation.checks import play

#: Schedules of one test, so that tests run in parallel.
BLOCK = 50
_FIRST = int(os.environ.get("SIMULATION_SEED", "0"))
_COUNT = int(os.environ.get("SIMULATION_SCHEDULES", "400"))
#: A race that is planted.
_RACE = os.environ.get("SIMULATION_RACE")


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Log nothing: most schedules have faults, and thousands of lines would say so."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.django_db
@pytest.mark.parametrize("first", range(_FIRST, _FIRST + _COUNT, BLOCK))
def test_schedules(first: int) -> None:
    if _RACE:
        races.plant(_RACE)
    for seed in range(first, min(first + BLOCK, _FIRST + _COUNT)):
        wrong, log = play(seed)
        if wrong:
            pytest.fail("\n".join([*log, f"Seed {seed}:", *wrong]), pytrace=False)
